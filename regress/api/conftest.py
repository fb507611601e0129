"""Fixtures.  Whatever a test does, its daemons end and leave nothing."""

import os

import pytest

import sbx

needs_root = pytest.mark.skipif(not sbx.ROOT, reason="needs root")


@pytest.fixture
def daemon_factory():
    """Makes daemons that are cleaned up after the test."""
    made = []

    def make(*args, **kwargs):
        daemon = sbx.Daemon(*args, **kwargs)
        made.append(daemon)
        return daemon

    yield make
    for daemon in made:
        daemon.cleanup()


@pytest.fixture(scope="module")
def daemon():
    """One daemon for all tests of a file that do not change it."""
    with sbx.Daemon() as d:
        yield d
        assert d.proc.poll() is None, d.log_text()


@pytest.fixture(scope="module")
def echod():
    with sbx.Echod() as server:
        yield server
        assert server.proc.poll() is None


@pytest.fixture(autouse=True)
def nothing_left():
    """No test leaves a process of the daemon behind."""
    yield
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat") as f:
                parent = f.read().rsplit(")", 1)[1].split()[1]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if parent != "1":
            continue
        try:
            exe = os.readlink(f"/proc/{pid}/exe")
        except OSError:
            continue
        assert not exe.startswith(str(sbx.BUILD)), f"{exe} ({pid}) was left"
