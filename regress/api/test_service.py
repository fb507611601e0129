"""Under a service manager, and in the background."""

import os
import re
import signal
import socket
import subprocess
import sys

import pytest

import sbx


def test_notify(daemon_factory, tmp_path):
    """READY, RELOADING and STOPPING reach the service manager."""
    path = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.bind(str(path))
        s.settimeout(10)
        daemon = daemon_factory(env={"NOTIFY_SOCKET": str(path)}).start()
        assert s.recv(100) == b"READY=1"
        daemon.ctl("reload")
        assert s.recv(100) == b"RELOADING=1"
        assert s.recv(100) == b"READY=1"
        daemon.write_config("nonsense\n")
        daemon.ctl("reload", check=False)
        assert s.recv(100) == b"RELOADING=1"
        assert s.recv(100) == b"READY=1"
        assert daemon.stop() == 143
        assert s.recv(100) == b"STOPPING=1"


def test_notify_abstract(daemon_factory):
    name = f"sbxd-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.bind("\0" + name)
        s.settimeout(10)
        daemon_factory(env={"NOTIFY_SOCKET": "@" + name}).start()
        assert s.recv(100) == b"READY=1"


def test_no_token_into_the_journal(daemon_factory):
    """A generated token would be kept there for all to read."""
    daemon = daemon_factory(token=None, env={"JOURNAL_STREAM": "8:1"})
    daemon.launch()
    assert daemon.wait() == 1
    assert "no token is configured" in daemon.log_text()
    assert daemon.out() == ""
    assert not daemon.socket.exists()


# Run in a mount namespace of its own, where /dev is ours to arrange.
BACKGROUND = r"""
import os, pathlib, signal, socket, subprocess, sys, time
sbxd, conf = sys.argv[1:]
os.system("mount -t tmpfs -o mode=755 none /dev")
for name, minor in (("null", 3), ("zero", 5), ("urandom", 9)):
    os.mknod("/dev/" + name, 0o666 | 0o020000, os.makedev(1, minor))
    os.chmod("/dev/" + name, 0o666)
log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
log.bind("/dev/log")
log.settimeout(10)
started = subprocess.run([sbxd, "-f", conf], stdin=subprocess.DEVNULL,
                         capture_output=True, text=True, timeout=30)
lines = []
try:
    while not lines or "ready" not in lines[-1]:
        lines.append(log.recv(5000).decode())
    pid = int(lines[0].split("[")[1].split("]")[0])
    with open(f"/proc/{pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    print("session leader", fields[3] == str(pid), "tty", fields[4])
    os.kill(pid, signal.SIGTERM)
    while "stopped" not in lines[-1]:
        lines.append(log.recv(5000).decode())
    for _ in range(500):
        if not pathlib.Path(f"/proc/{pid}").exists():
            break
        time.sleep(0.01)
finally:
    print("exit", started.returncode, started.stdout + started.stderr)
    print("\n".join(lines))
"""


def no_mounts():
    return subprocess.run(["unshare", "-m", "true"],
                          capture_output=True).returncode != 0


@pytest.mark.skipif(not sbx.ROOT or no_mounts(),
                    reason="needs root and a mount namespace")
def test_background(daemon_factory):
    """Without -d: a daemon, its log in the system log."""
    daemon = daemon_factory()
    done = subprocess.run(
        ["unshare", "-m", sys.executable, "-c", BACKGROUND, str(sbx.SBXD),
         str(daemon.conf)], capture_output=True, text=True, timeout=60)
    assert "exit 0 \n" in done.stdout, done.stdout + done.stderr
    assert "session leader True tty 0" in done.stdout
    lines = [x for x in done.stdout.splitlines() if x.startswith("<")]
    assert re.fullmatch(r"<30>sbxd\[\d+\]: parent: sbxd \S+ starting",
                        lines[0])
    assert any(x.endswith("parent: ready") for x in lines)
    assert not daemon.socket.exists()


@pytest.mark.skipif(os.path.exists("/dev/log"), reason="there is a /dev/log")
def test_background_without_system_log(daemon_factory):
    daemon = daemon_factory()
    done = subprocess.run([str(sbx.SBXD), "-f", str(daemon.conf)],
                          capture_output=True, text=True, timeout=30)
    assert done.returncode == 1
    assert "no system log to write to; -d stays in the foreground" in \
        done.stderr
    assert not daemon.socket.exists()


def test_restart_loop(daemon_factory):
    """A supervisor that restarts at once finds the port and socket free."""
    daemon = daemon_factory()
    for sig in (signal.SIGTERM, signal.SIGKILL, signal.SIGTERM,
                signal.SIGKILL, signal.SIGINT):
        start = len(daemon.log()) if daemon.log_path.exists() else 0
        daemon.launch()
        ok = sbx.wait_for(lambda: any(
            e["message"] == "ready" for e in daemon.log()[start:]), 20)
        assert ok, daemon.log_text()
        daemon.find_pids()
        with daemon.connect() as s:
            s.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            assert s.recv(100).startswith(b"HTTP/1.1 200")
        daemon.proc.send_signal(sig)
        daemon.wait()
        assert daemon.gone(2)
        daemon.log_file.close()
        daemon.out_file.close()
