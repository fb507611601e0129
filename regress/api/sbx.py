"""A private sbxd for a test: free ports, its own directories, its own
socket, and nothing of it left afterwards."""

import atexit
import contextlib
import json
import os
import pathlib
import pwd
import random
import re
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time

MADE = pathlib.Path(os.environ.get("SBXD_BUILD", "build")).resolve()


def reachable(build):
    """The programs where every user can run them: a copy if the tree is in
    somebody's home."""
    if all(p.stat().st_mode & 0o001 for p in (build, *build.parents)):
        return build
    copy = pathlib.Path(tempfile.mkdtemp(prefix="sbxd-build-"))
    atexit.register(shutil.rmtree, copy, ignore_errors=True)
    copy.chmod(0o755)
    for part in ("sbin", "libexec", "tools"):
        shutil.copytree(build / part, copy / part)
    return copy


BUILD = reachable(MADE)
SBXD = BUILD / "sbin" / "sbxd"
SBXCTL = BUILD / "sbin" / "sbxctl"
ECHOD = BUILD / "tools" / "echod"
INJECT = BUILD / "tools" / "inject"
CHILDREN = ("frontend", "spawner", "reporter")
ROOT = os.geteuid() == 0
SAN = os.environ.get("SBXD_SAN") == "1"

START_TIMEOUT = 20
STOP_TIMEOUT = 15


_ports = set()


def free_port():
    """Never the same twice, and below those that the kernel gives to
    clients, one of which could have it a moment later."""
    while True:
        port = random.randrange(12000, 32000)
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in _ports:
            _ports.add(port)
            return port


def wait_for(condition, timeout=10.0, step=0.01):
    """The first true value of condition(), or its last one."""
    end = time.monotonic() + timeout
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(step)


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def status(pid):
    """/proc/pid/status as a dictionary."""
    with open(f"/proc/{pid}/status") as f:
        return dict(line.rstrip("\n").split(":\t", 1) for line in f
                    if ":\t" in line)


class Daemon:
    """sbxd in the foreground.  config is added to what keeps it private;
    `uid` starts it as that user instead of the test's own."""

    def __init__(self, config="", *, listen=None, token="test-token-0123456789",
                 uid=None, args=(), env=None, private=True, proxy=True):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="sbxd-test-"))
        self.uid = uid
        self.token = token
        self.port = free_port()
        self.proxy_port = free_port()
        self.args = list(args)
        self.env = dict(env or {})
        self.proc = None
        self.pids = {}
        self.socket = self.dir / "ctl" / "sbxd.sock"
        self.conf = self.dir / "sbxd.conf"
        self.log_path = self.dir / "log"
        self.out_path = self.dir / "out"
        (self.dir / "workspace").mkdir()
        if listen is None:
            listen = f"listen on 127.0.0.1 port {self.port}\n"
        base = listen
        if private:
            base += (f'control socket "{self.socket}"\n'
                     f'chroot "{self.dir}/empty"\n'
                     f'spool "{self.dir}/spool"\n'
                     f'workspace "{self.dir}/workspace"\n')
        if proxy:
            base += f"proxy on 127.0.0.1 port {self.proxy_port}\n"
        if token is not None:
            base += f'token "{token}"\n'
        self.base = base
        os.chmod(self.dir, 0o755)
        self.write_config(config)
        if uid is not None:
            for path in (self.dir, self.dir / "workspace", self.conf):
                os.chown(path, uid, uid)

    def write_config(self, config=""):
        """Replaces the file, as an editor would; no reload."""
        new = self.conf.with_suffix(".new")
        new.write_text(self.base + config)
        os.chmod(new, 0o600)
        if self.uid is not None:
            os.chown(new, self.uid, self.uid)
        new.rename(self.conf)

    def _become(self):
        if self.uid is not None:
            os.setgroups([])
            os.setresgid(self.uid, self.uid, self.uid)
            os.setresuid(self.uid, self.uid, self.uid)

    def command(self):
        return [str(SBXD), "-d", "-f", str(self.conf), *self.args]

    def launch(self):
        """Starts it without waiting for anything."""
        self.log_file = open(self.log_path, "ab")
        self.out_file = open(self.out_path, "ab")
        env = {"PATH": "/usr/bin:/bin", **self.env}
        self.proc = subprocess.Popen(
            self.command(), stdin=subprocess.DEVNULL, stdout=self.out_file,
            stderr=self.log_file, env=env, cwd="/", start_new_session=True,
            preexec_fn=self._become if self.uid is not None else None)
        return self

    def start(self):
        self.launch()
        ok = wait_for(lambda: self.logged("ready") or
                      self.proc.poll() is not None, START_TIMEOUT)
        if not ok or self.proc.poll() is not None:
            text = self.log_text() + self.out()
            code = self.proc.poll()
            self.cleanup()
            raise AssertionError(f"sbxd did not start ({code}):\n{text}")
        self.find_pids()
        return self

    def find_pids(self):
        self.pids = {"parent": self.proc.pid}
        children = pathlib.Path(
            f"/proc/{self.proc.pid}/task/{self.proc.pid}/children")
        for pid in children.read_text().split():
            name = pathlib.Path(f"/proc/{pid}/comm").read_text().strip()
            self.pids[name] = int(pid)

    def log_text(self):
        return self.log_path.read_text(errors="replace")

    def out(self):
        return self.out_path.read_text(errors="replace")

    def log(self):
        """Each line as an object; a line that is none fails the test."""
        return [json.loads(line) for line in self.log_text().splitlines()
                if line.startswith("{")]

    def logged(self, pattern, count=False):
        hits = [entry for entry in self.log()
                if re.search(pattern, entry["message"])]
        return len(hits) if count else bool(hits)

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def auth(self):
        return {"Authorization": f"Bearer {self.token}"}

    def connect(self):
        s = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return s

    def ctl(self, *args, check=True, uid=None):
        def become():
            if uid is not None:
                os.setgroups([])
                os.setresgid(uid, uid, uid)
                os.setresuid(uid, uid, uid)
        done = subprocess.run(
            [str(SBXCTL), "-s", str(self.socket), *args], text=True,
            capture_output=True, timeout=60, preexec_fn=become)
        if check:
            assert done.returncode == 0, done.stderr + done.stdout
        return done

    def rss(self):
        """Resident bytes of all processes together."""
        total = 0
        for pid in self.pids.values():
            total += int(status(pid)["VmRSS"].split()[0]) * 1024
        return total

    def fds(self, name):
        return len(os.listdir(f"/proc/{self.pids[name]}/fd"))

    def wait(self, timeout=STOP_TIMEOUT):
        return self.proc.wait(timeout)

    def stop(self, sig=signal.SIGTERM):
        """Ends it and returns its exit status."""
        if self.proc is None:
            return None
        if self.proc.poll() is None:
            self.proc.send_signal(sig)
        return self.wait()

    def gone(self, timeout=1.0):
        """True when no process of it is left."""
        return wait_for(lambda: self.proc.poll() is not None and
                        not any(alive(p) for n, p in self.pids.items()
                                if n != "parent"), timeout)

    def cleanup(self):
        try:
            if self.proc is not None and self.proc.poll() is None:
                self.proc.terminate()
                try:
                    self.proc.wait(STOP_TIMEOUT)
                except subprocess.TimeoutExpired:
                    self.proc.kill()
                    self.proc.wait()
            # Children of a parent that was killed end by themselves.
            wait_for(lambda: not any(alive(p) for p in self.pids.values()), 5)
            for pid in self.pids.values():
                if alive(pid) and pid != getattr(self.proc, "pid", None):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
        finally:
            if self.proc is not None:
                self.log_file.close()
                self.out_file.close()
            shutil.rmtree(self.dir, ignore_errors=True)

    def __enter__(self):
        return self.start()

    def __exit__(self, *exc):
        self.cleanup()


class Echod:
    """The HTTP server alone, with routes that take bodies."""

    def __init__(self, *settings):
        self.token = secrets.token_hex(16)
        self.proc = subprocess.Popen([str(ECHOD), self.token, *settings],
                                     stdout=subprocess.PIPE, text=True)
        self.port = int(self.proc.stdout.readline())

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def auth(self):
        return {"Authorization": f"Bearer {self.token}"}

    def connect(self):
        s = socket.create_connection(("127.0.0.1", self.port), timeout=10)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return s

    def rss(self):
        return int(status(self.proc.pid)["VmRSS"].split()[0]) * 1024

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        self.proc.terminate()
        self.proc.wait(10)
        self.proc.stdout.close()


class Reply:
    """One HTTP reply read from a socket."""

    def __init__(self, status_code, headers, body):
        self.status = status_code
        self.headers = headers
        self.body = body


def read_reply(f, method="GET"):
    """Reads one reply from a binary file; None at EOF."""
    line = f.readline()
    if not line:
        return None
    assert line.endswith(b"\r\n"), line
    code = int(line.split()[1])
    headers = {}
    while (line := f.readline()) not in (b"\r\n", b""):
        name, value = line.decode().rstrip("\r\n").split(": ", 1)
        headers[name.lower()] = value
    if code == 100:
        return Reply(code, headers, b"")
    length = int(headers["content-length"])
    body = b"" if method == "HEAD" else f.read(length)
    return Reply(code, headers, body)


def raw(server, data, method="GET", shut=False):
    """Sends bytes, returns the replies until the server closes."""
    with server.connect() as s:
        with contextlib.suppress(ConnectionError):
            s.sendall(data)
            if shut:
                s.shutdown(socket.SHUT_WR)
        replies = []
        with s.makefile("rb") as f:
            with contextlib.suppress(ConnectionError):
                while (reply := read_reply(f, method)) is not None:
                    replies.append(reply)
        return replies


def nobody():
    return pwd.getpwnam("nobody").pw_uid
