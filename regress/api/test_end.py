"""How sbxd ends: by order, and when one of its processes is lost."""

import os
import pathlib
import resource
import signal
import socket
import subprocess
import time

import pytest
import requests

import sbx

PROCESSES = ("parent", *sbx.CHILDREN)


def troubles(daemon):
    return [entry for entry in daemon.log()
            if entry["level"] in ("warning", "error")]


def listening(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


def lose(daemon, name, sig):
    """Kills one of them; the time until all are gone."""
    start = time.monotonic()
    os.kill(daemon.pids[name], sig)
    assert daemon.gone(10), daemon.log_text()
    return time.monotonic() - start


@pytest.mark.parametrize("name", PROCESSES)
def test_lost(daemon_factory, name):
    daemon = daemon_factory("log level debug\n").start()
    assert lose(daemon, name, signal.SIGKILL) <= 1.0
    assert daemon.wait() == (-signal.SIGKILL if name == "parent" else 1)
    (entry,) = troubles(daemon)
    if name == "parent":
        assert entry["process"] == "frontend"
        assert entry["message"].startswith("lost parent: ")
    else:
        assert entry["process"] == "parent"
        assert entry["event_type"] == "process_lost"
        assert entry["message"] == (
            f"lost {name} (pid {daemon.pids[name]}): killed by signal 9 "
            "(Killed); ending")
        assert not daemon.socket.exists()
    assert not listening(daemon.port)


@pytest.mark.parametrize("name", sbx.CHILDREN)
def test_lost_while_another_hangs(daemon_factory, name):
    """A stopped process cannot go by itself and is killed."""
    daemon = daemon_factory().start()
    for other in sbx.CHILDREN:
        if other != name:
            os.kill(daemon.pids[other], signal.SIGSTOP)
    lose(daemon, name, signal.SIGKILL)
    assert daemon.wait() == 1
    assert daemon.logged(f"lost {name} ")
    assert daemon.logged("does not end: killing it", count=True) == 2


def test_lost_during_requests(daemon_factory):
    """Clients get an end, not silence."""
    daemon = daemon_factory().start()
    with daemon.connect() as s:
        s.sendall(b"POST /execute HTTP/1.1\r\n")
        assert lose(daemon, "spawner", signal.SIGKILL) <= 1.0
        s.settimeout(5)
        try:
            while s.recv(4096):
                pass
        except ConnectionResetError:
            pass


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT,
                                 signal.SIGQUIT])
def test_signal(daemon_factory, sig):
    daemon = daemon_factory()
    http = daemon.dir / "http.sock"
    daemon.write_config(f'listen on socket "{http}"\n')
    daemon.start()
    assert http.exists() and daemon.socket.exists()
    assert daemon.stop(sig) == 143
    assert daemon.gone()
    assert not http.exists() and not daemon.socket.exists()
    assert not listening(daemon.port)
    assert troubles(daemon) == []
    (entry,) = [e for e in daemon.log()
                if e["event_type"] == "signal_received"]
    assert entry["message"] == signal.strsignal(sig)
    assert daemon.log()[-1]["message"] == "stopped"


def test_interrupt_of_all(daemon_factory):
    """^C at a terminal goes to every process at once."""
    daemon = daemon_factory().start()
    os.killpg(daemon.proc.pid, signal.SIGINT)
    assert daemon.wait() == 143
    assert daemon.gone() and troubles(daemon) == []


@pytest.mark.parametrize("name", sbx.CHILDREN)
def test_children_obey_their_parent_only(daemon_factory, name):
    daemon = daemon_factory().start()
    for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT,
                signal.SIGHUP, signal.SIGPIPE):
        os.kill(daemon.pids[name], sig)
    daemon.ctl("show")
    assert requests.get(daemon.url("/health"), timeout=10).ok
    assert all(sbx.alive(pid) for pid in daemon.pids.values())


def test_sbxctl_stop(daemon_factory):
    daemon = daemon_factory().start()
    daemon.ctl("stop")
    assert daemon.wait() == 0
    assert daemon.gone()
    assert not daemon.socket.exists() and troubles(daemon) == []
    assert daemon.logged("asked by sbxctl", count=True) == 1
    done = daemon.ctl("stop", check=False)
    assert done.returncode == 1
    assert "no sbxd is listening there" in done.stderr


def test_stop_with_connections(daemon_factory):
    daemon = daemon_factory().start()
    sockets = [daemon.connect() for _ in range(50)]
    for s in sockets[:25]:
        s.sendall(b"GET /health HT")
    start = time.monotonic()
    assert daemon.stop() == 143
    assert time.monotonic() - start < 5
    for s in sockets:
        s.close()


def test_stop_with_hanging_children(daemon_factory):
    daemon = daemon_factory().start()
    for name in sbx.CHILDREN:
        os.kill(daemon.pids[name], signal.SIGSTOP)
    start = time.monotonic()
    assert daemon.stop() == 143
    assert time.monotonic() - start < 10
    assert daemon.gone()
    assert len(troubles(daemon)) == 3
    assert not daemon.socket.exists()


def test_socket_of_a_successor(daemon_factory):
    """What another daemon has put in our place since is not ours."""
    first = daemon_factory().start()
    first.socket.unlink()
    second = daemon_factory()
    second.base = second.base.replace(str(second.socket), str(first.socket))
    second.write_config()
    second.socket = first.socket
    second.start()
    assert first.stop() == 143
    second.ctl("show")


def test_again_and_again(daemon_factory):
    """The twentieth start finds nothing of the ones before."""
    daemon = daemon_factory()
    for i in range(20):
        daemon.log_path.unlink(missing_ok=True)
        daemon.start()
        assert requests.get(daemon.url("/health"), timeout=10).ok
        sig = (signal.SIGTERM, signal.SIGINT)[i % 2]
        assert daemon.stop(sig) == 143
        assert daemon.gone()
        daemon.log_file.close()
        daemon.out_file.close()
        assert troubles(daemon) == []
        assert not daemon.logged("stale")
        names = {p.name for p in daemon.dir.iterdir()}
        assert names <= {"ctl", "empty", "log", "out", "sbxd.conf", "spool",
                         "workspace"}
        for name in ("ctl", "spool", "workspace"):
            assert os.listdir(daemon.dir / name) == []


class Roomy(sbx.Daemon):
    """Started where a core file would fit, by somebody who wants one."""

    def launch(self):
        def roomy():
            _, hard = resource.getrlimit(resource.RLIMIT_CORE)
            resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
            self._become()
        self.cores = self.dir / "cores"
        self.cores.mkdir()
        os.chmod(self.cores, 0o777)
        self.log_file = open(self.log_path, "ab")
        self.out_file = open(self.out_path, "ab")
        self.proc = subprocess.Popen(
            self.command(), stdin=subprocess.DEVNULL, stdout=self.out_file,
            stderr=self.log_file, env={}, cwd=self.cores, preexec_fn=roomy,
            start_new_session=True)


@pytest.mark.parametrize("name", PROCESSES)
@pytest.mark.parametrize("sig", [signal.SIGSEGV, signal.SIGABRT])
def test_crash(name, sig):
    """As from a bug: no core file, and the daemon ends."""
    before = set(pathlib.Path("/").glob("core*"))
    daemon = Roomy(uid=sbx.nobody() if sbx.ROOT else None)
    try:
        daemon.start()
        lose(daemon, name, sig)
        assert daemon.wait() != 0
        (entry,) = troubles(daemon)
        assert f"lost {name}" in entry["message"]
        if not sbx.SAN and name != "parent":
            assert f"signal {sig.value}" in entry["message"]
        assert os.listdir(daemon.cores) == []
        assert set(pathlib.Path("/").glob("core*")) == before
    finally:
        daemon.cleanup()


def test_stopped_child_does_not_outlive_the_parent(daemon_factory):
    """One that cannot see the parent's end would keep the port."""
    daemon = daemon_factory().start()
    for name in sbx.CHILDREN:
        os.kill(daemon.pids[name], signal.SIGSTOP)
    os.kill(daemon.pids["parent"], signal.SIGKILL)
    assert daemon.gone(5)


def test_job_control(daemon_factory):
    """A shell that stops all and brings them back ends nothing."""
    daemon = daemon_factory().start()
    for sig in (signal.SIGSTOP, signal.SIGCONT):
        for pid in daemon.pids.values():
            os.kill(pid, sig)
    time.sleep(3)
    assert daemon.proc.poll() is None
    assert daemon.stop() == 143
