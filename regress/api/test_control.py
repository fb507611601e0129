"""The control socket: who may use it, and what hostile clients get."""

import array
import contextlib
import grp
import json
import os
import resource
import signal
import socket
import stat
import struct
import subprocess
import sys

import pytest
import requests

import sbx
from conftest import needs_root

# The language of the socket, as in common/ctl.h.
VERSION = 1
SHOW, SHOW_CONFIG, LOG, RELOAD, STOP = range(1000, 1005)
SUMMARY, PROCESS, TEXT, OK, FAIL = range(2000, 2005)
CLIENTS = 32

GROUP = "games"		# a group that every system has


def connect(daemon, kind=socket.SOCK_SEQPACKET):
    s = socket.socket(socket.AF_UNIX, kind)
    s.settimeout(10)
    s.connect(str(daemon.socket))
    return s


def packet(kind, payload=b"", *, length=None, ident=VERSION, fds=0):
    """A message, whose header can lie."""
    length = len(payload) if length is None else length
    return struct.pack("=IIII", kind, length, ident, fds) + payload


def answers(s):
    """The types of what comes until the end, and the text of a FAIL."""
    types, text = [], ""
    with contextlib.suppress(ConnectionError, socket.timeout):
        while data := s.recv(65536):
            types.append(struct.unpack_from("=I", data)[0])
            if types[-1] == FAIL:
                text = data[22:].decode()
            if types[-1] in (OK, FAIL):
                break
    return types, text


def ask(daemon, data):
    with connect(daemon) as s:
        s.send(data)
        return answers(s)


def descriptors(daemon, name):
    """How many; only root can look."""
    return daemon.fds(name) if sbx.ROOT else 0


def processes(daemon):
    return json.loads(daemon.ctl("-j", "show").stdout)["processes"]


def unharmed(daemon):
    assert requests.get(daemon.url("/health"), timeout=10).status_code == 200
    said = {entry["name"]: entry["pid"] for entry in processes(daemon)}
    assert said == daemon.pids
    assert daemon.proc.poll() is None


@pytest.fixture(autouse=True)
def checked(request):
    """After each hostile client of the shared daemon."""
    yield
    if "daemon" in request.fixturenames:
        unharmed(request.getfixturevalue("daemon"))


def run_as(daemon, *words, uid, gid, groups=()):
    def become():
        os.setgroups(list(groups))
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
    return subprocess.run(
        [str(sbx.SBXCTL), "-s", str(daemon.socket), *words], text=True,
        capture_output=True, timeout=60, preexec_fn=become)


# Who may.

def test_mode(daemon):
    info, above = daemon.socket.stat(), daemon.socket.parent.stat()
    assert stat.S_ISSOCK(info.st_mode)
    assert info.st_mode & 0o777 == 0o600
    assert info.st_uid == above.st_uid == os.geteuid()
    assert above.st_mode & 0o022 == 0


@needs_root
@pytest.mark.parametrize("words", ["show", "show config", "reload", "stop",
                                   "log brief"])
def test_stranger(daemon, words):
    done = run_as(daemon, *words.split(), uid=sbx.nobody(), gid=65534)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == (f"sbxctl: {daemon.socket}: only root may "
                           "(Permission denied)\n")


@needs_root
def test_stranger_who_gets_through(daemon_factory):
    """Were the file's mode ever wrong, the kernel's word counts."""
    daemon = daemon_factory().start()
    os.chmod(daemon.socket, 0o666)
    for words in ("show", "show config", "reload", "stop", "log brief"):
        done = run_as(daemon, *words.split(), uid=sbx.nobody(), gid=65534)
        assert done.returncode == 1 and done.stdout == ""
        assert done.stderr == (
            "sbxctl: permission denied: only root, the owner of sbxd and "
            "its control group may ask\n")
    # Nor has a group that was not configured any right.
    done = run_as(daemon, "show", uid=sbx.nobody(), gid=0, groups=[0])
    assert done.returncode == 1
    unharmed(daemon)


@needs_root
@pytest.mark.parametrize("primary", [True, False])
def test_group(daemon_factory, primary):
    daemon = daemon_factory()
    daemon.base = daemon.base.replace(
        f'"{daemon.socket}"\n', f'"{daemon.socket}" group "{GROUP}"\n')
    daemon.write_config()
    daemon.start()
    gid = grp.getgrnam(GROUP).gr_gid
    info, above = daemon.socket.stat(), daemon.socket.parent.stat()
    assert (info.st_gid, info.st_mode & 0o777) == (gid, 0o660)
    assert (above.st_gid, above.st_mode & 0o777) == (gid, 0o750)

    who = dict(uid=sbx.nobody(), gid=gid if primary else 65534,
               groups=[] if primary else [4, gid])
    assert run_as(daemon, "show", **who).stdout.startswith("version")
    assert "listen on" in run_as(daemon, "show", "config", **who).stdout
    for words in ("reload", "stop", "log brief", "log verbose"):
        done = run_as(daemon, *words.split(), **who)
        assert done.returncode == 1 and done.stdout == ""
        assert done.stderr == ("sbxctl: permission denied: the control "
                               "group may only look\n")
    done = run_as(daemon, "show", uid=sbx.nobody(), gid=65534)
    assert done.returncode == 1
    assert "only root" in done.stderr
    unharmed(daemon)
    assert not daemon.logged("reloaded")


@needs_root
def test_owner(daemon_factory):
    """An ordinary user's daemon obeys that user, and root."""
    daemon = daemon_factory(uid=sbx.nobody()).start()
    daemon.ctl("show", uid=sbx.nobody())
    daemon.ctl("reload", uid=sbx.nobody())
    daemon.ctl("reload")
    done = run_as(daemon, "stop", uid=1, gid=1)
    assert done.returncode == 1 and "user nobody" in done.stderr
    daemon.ctl("stop", uid=sbx.nobody())
    assert daemon.wait() == 0


def test_wrong_kind_of_socket(daemon):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with pytest.raises(OSError) as error:
            connect(daemon, kind)
        assert error.value.errno == 91		# EPROTOTYPE


# What it is for.

def test_show(daemon):
    assert ask(daemon, packet(SHOW)) == \
        ([SUMMARY, PROCESS, PROCESS, PROCESS, PROCESS, OK], "")
    answer = json.loads(daemon.ctl("-j", "show").stdout)
    assert answer["log_level"] == "info"
    assert answer["requests"] >= 0 and answer["uptime_seconds"] >= 0


def test_show_counts(daemon):
    before = json.loads(daemon.ctl("-j", "show").stdout)["requests"]
    for _ in range(5):
        requests.get(daemon.url("/health"), timeout=10)
    after = json.loads(daemon.ctl("-j", "show").stdout)["requests"]
    assert after == before + 5


def test_show_config(daemon):
    text = daemon.ctl("show", "config").stdout
    assert f"listen on 127.0.0.1 port {daemon.port}\n" in text
    assert daemon.token not in text
    assert json.loads(daemon.ctl("-j", "show", "config").stdout) == \
        {"config": text}
    done = subprocess.run([str(sbx.SBXD), "-n", "-f", "-"], input=text,
                          capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("words,same", [
    ("sh", "show"), ("s", None), ("sho sum", "show"), ("sh c",
                                                       "show config"),
    ("l", None), ("l x", None), ("log", None), ("re now", None), ("x", None),
    ("show config more", None),
])
def test_words(daemon, words, same):
    done = daemon.ctl(*words.split(), check=False)
    if same is None:
        assert done.returncode == 1 and done.stdout == ""
        assert done.stderr.startswith("sbxctl: ")
        assert done.stderr.count("\n") == 1
        assert "expected" in done.stderr or "could be" in done.stderr or \
            "too many" in done.stderr
        answer = daemon.ctl("-j", *words.split(), check=False)
        assert json.loads(answer.stdout)["ok"] is False
        assert answer.returncode == 1
    else:
        assert done.returncode == 0
        assert done.stdout.split()[0] == \
            daemon.ctl(*same.split()).stdout.split()[0]


def test_json_of_all(daemon_factory):
    daemon = daemon_factory().start()
    for words in ("log verbose", "log brief", "reload", "stop"):
        answer = daemon.ctl("-j", *words.split())
        assert json.loads(answer.stdout) == {"ok": True}
        assert answer.stderr == ""
    assert daemon.wait() == 0


def debug_lines(daemon):
    """Who tells details of the frontend's end, with the parent held so
    that it does not end the others before they can."""
    os.kill(daemon.pids["parent"], signal.SIGSTOP)
    os.kill(daemon.pids["frontend"], signal.SIGKILL)

    def tellers():
        return {e["process"] for e in daemon.log() if e["level"] == "debug"}
    sbx.wait_for(lambda: tellers() >= {"spawner", "reporter"}, 1.0)
    told = tellers()
    os.kill(daemon.pids["parent"], signal.SIGCONT)
    assert daemon.wait() == 1
    return told


def test_log_level(daemon_factory):
    daemon = daemon_factory().start()
    daemon.ctl("log", "verbose")
    assert json.loads(daemon.ctl("-j", "show").stdout)["log_level"] == "debug"
    requests.get(daemon.url("/health"), timeout=10)
    assert sbx.wait_for(lambda: [e for e in daemon.log()
                                 if e["level"] == "debug"])
    assert debug_lines(daemon) >= {"frontend", "spawner", "reporter"}

    daemon = daemon_factory("log level debug\n").start()
    daemon.ctl("log", "brief")
    assert json.loads(daemon.ctl("-j", "show").stdout)["log_level"] == "info"
    requests.get(daemon.url("/health"), timeout=10)
    assert debug_lines(daemon) == set()


# Hostile clients.

def test_wrong_version(daemon):
    for version in (0, 2, 2**32 - 1):
        types, text = ask(daemon, packet(SHOW, ident=version))
        assert types == [FAIL]
        assert f"not {version}" in text


def test_unknown_type(daemon):
    for kind in (0, 1, 16, SHOW - 1, STOP + 1, SUMMARY, OK, 2**32 - 1):
        types, text = ask(daemon, packet(kind))
        assert types == [FAIL]
        assert text == f"message type {kind} is not for this edge"


@pytest.mark.parametrize("data", [
    packet(SHOW, b"x"), packet(SHOW, length=1), packet(SHOW, length=2**32 - 1),
    packet(SHOW, b"x" * 4080), packet(LOG), packet(LOG, b"\0" * 3),
    packet(LOG, b"\0" * 5), packet(LOG, b"\0" * 4, length=0),
    packet(LOG, b"\0" * 4, length=3), packet(LOG, b"\0" * 4, length=5),
    packet(LOG, b"\0" * 4, length=2**32 - 1), packet(STOP, b"x"),
    packet(RELOAD, b"/etc/passwd"), packet(SHOW, fds=1),
    packet(SHOW, fds=2**32 - 1), packet(SHOW)[:15], b"x",
    packet(SHOW, b"x" * 5000), packet(SHOW, b"x" * 65000),
    b"\xff" * 65536,
], ids=range(20))
def test_wrong_length(daemon, data):
    types, text = ask(daemon, data)
    assert types == [FAIL] and len(text) > 5
    assert "\x1b" not in text


def test_log_level_out_of_range(daemon):
    for level in (0, 2, 8, 2**31, 2**32 - 1):
        types, text = ask(daemon, packet(LOG, struct.pack("=I", level)))
        assert (types, text) == ([FAIL], "no such log level")


def test_empty_packet(daemon):
    assert ask(daemon, b"") == ([], "")


def send_with_fds(s, data, count):
    fds = array.array("i", [s.fileno()] * count)
    s.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])


@pytest.mark.parametrize("data", [packet(SHOW), packet(SHOW, fds=1), b"",
                                  packet(0), b"x" * 9000],
                         ids=["show", "lie", "empty", "unknown", "long"])
@pytest.mark.parametrize("count", [1, 8, 9, 250])
def test_descriptors(daemon, data, count):
    """What nobody asked for is closed again."""
    assert sbx.wait_for(lambda: connections(daemon) == 0)
    before = descriptors(daemon, "frontend")
    for _ in range(5):
        with connect(daemon) as s:
            send_with_fds(s, data, count)
            types, _ = answers(s)
            assert types == ([] if data == b"" else [FAIL])
    assert sbx.wait_for(lambda: descriptors(daemon, "frontend") <= before)


def connections(daemon):
    """Control clients that the kernel knows of, but for this question."""
    with open("/proc/net/unix") as f:
        lines = [line for line in f if str(daemon.socket) in line]
    return sum(1 for line in lines if line.split()[5] == "03")


def test_silent_crowd(daemon):
    """Nobody is kept out by those who were there first."""
    assert sbx.wait_for(lambda: connections(daemon) == 0)
    before = descriptors(daemon, "frontend")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = min(1000, hard - 200)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, count + 200), hard))
    crowd = []
    try:
        for _ in range(count):
            crowd.append(connect(daemon))
        unharmed(daemon)
        assert descriptors(daemon, "frontend") <= before + CLIENTS + 2
        # The first had to go and was told why.
        assert answers(crowd[0]) == (
            [FAIL], "too many control clients: this one waited longest")
    finally:
        for s in crowd:
            s.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert sbx.wait_for(lambda: descriptors(daemon, "frontend") <= before)


@needs_root
def test_crowd_of_the_group(daemon_factory):
    """Those who may only look cannot push out who is in charge."""
    daemon = daemon_factory()
    daemon.base = daemon.base.replace(
        f'"{daemon.socket}"\n', f'"{daemon.socket}" group "{GROUP}"\n')
    daemon.write_config()
    daemon.start()
    with connect(daemon) as boss:
        script = (
            "import os, socket, sys\n"
            f"os.setgroups([{grp.getgrnam(GROUP).gr_gid}])\n"
            "os.setresgid(65534, 65534, 65534)\n"
            "os.setresuid(65534, 65534, 65534)\n"
            "crowd = []\n"
            "for _ in range(200):\n"
            "    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
            "    s.connect(sys.argv[1])\n"
            "    crowd.append(s)\n"
            "print(len(crowd), flush=True)\n"
            "sys.stdin.read()\n")
        with subprocess.Popen(
                [sys.executable, "-c", script, str(daemon.socket)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE) as crowd:
            assert crowd.stdout.readline() == b"200\n"
            unharmed(daemon)
            boss.send(packet(SHOW))
            assert answers(boss)[0][-1] == OK


def test_flood_without_reading(daemon):
    with connect(daemon) as s:
        s.setblocking(False)
        sent = 0
        with contextlib.suppress(ConnectionError):
            while sent < 100000:
                try:
                    s.send(packet(SHOW))
                    sent += 1
                except BlockingIOError:
                    break
        unharmed(daemon)


def test_asks_and_does_not_read(daemon):
    """One after the other, each answered, none read: cut off."""
    before = daemon.rss()
    with connect(daemon) as s:
        with contextlib.suppress(ConnectionError):
            for _ in range(3000):
                s.send(packet(SHOW_CONFIG))
                daemon_breathes(daemon)
    # A sanitizer keeps what was freed.
    assert sbx.SAN or daemon.rss() < before + 8 * 1024 * 1024


def daemon_breathes(daemon):
    """Time for an answer, without a clock."""
    with connect(daemon) as s:
        s.send(packet(0))
        answers(s)


def test_leaves_at_once(daemon):
    before = descriptors(daemon, "frontend")
    for i in range(300):
        with connect(daemon) as s:
            s.send(packet((SHOW, SHOW_CONFIG)[i % 2]))
    unharmed(daemon)
    assert sbx.wait_for(lambda: descriptors(daemon, "frontend") <= before)


def test_two_at_once(daemon):
    """Refused or, if the first was answered by then, answered."""
    for _ in range(20):
        with connect(daemon) as s:
            s.send(packet(SHOW))
            with contextlib.suppress(ConnectionError):
                s.send(packet(SHOW))
            types, text = answers(s)
            assert types[-1] == OK or text == "one request at a time"


def test_many_requests_of_one_client(daemon):
    with connect(daemon) as s:
        for _ in range(200):
            s.send(packet(SHOW))
            assert answers(s)[0][-1] == OK


def test_reload_and_leave(daemon_factory):
    """The answer finds nobody, and nobody else gets it."""
    daemon = daemon_factory().start()
    for _ in range(20):
        with connect(daemon) as s:
            s.send(packet(RELOAD))
        with connect(daemon) as s:
            s.send(packet(SHOW))
            assert answers(s)[0] == [SUMMARY, *[PROCESS] * 4, OK]
    unharmed(daemon)


@needs_root
def test_credentials_of_another(daemon_factory):
    """Who is meant is who connected, whatever a message claims."""
    daemon = daemon_factory().start()
    os.chmod(daemon.socket, 0o666)
    script = (
        "import os, socket, struct, sys\n"
        "os.setresgid(65534, 65534, 65534)\n"
        "os.setresuid(65534, 65534, 65534)\n"
        "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
        "s.connect(sys.argv[1])\n"
        "for uid in (65534, 0):\n"
        "    try:\n"
        "        s.sendmsg([struct.pack('=IIII', 1004, 0, 1, 0)],\n"
        "                  [(socket.SOL_SOCKET, socket.SCM_CREDENTIALS,\n"
        "                    struct.pack('=iII', os.getpid(), uid, uid))])\n"
        "    except (PermissionError, ConnectionError):\n"
        "        pass\n"
        "print('sent')\n")
    done = subprocess.run(
        [sys.executable, "-c", script, str(daemon.socket)],
        capture_output=True, text=True, timeout=30)
    assert done.stdout == "sent\n", done.stderr
    unharmed(daemon)


def test_through_a_link(daemon):
    """sbxctl follows one; the daemon's own file is not changed by it."""
    link = daemon.dir / "link"
    link.symlink_to(daemon.socket)
    try:
        done = subprocess.run([str(sbx.SBXCTL), "-s", str(link), "show"],
                              capture_output=True, timeout=30)
        assert done.returncode == 0
    finally:
        link.unlink()


@pytest.mark.parametrize("path", ["/nonexistent/sock", "/etc/passwd",
                                  "x" * 200, "/", ""])
def test_no_daemon_there(path):
    done = subprocess.run([str(sbx.SBXCTL), "-s", path, "show"], text=True,
                          capture_output=True, timeout=30)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("sbxctl: ")
    assert done.stderr.count("\n") == 1


def test_log_is_one_line_each(daemon_factory):
    daemon = daemon_factory().start()
    for data in (b"\n\x1b[31m%n%s", packet(RELOAD, b"\n{}\x1b" * 100)):
        ask(daemon, data)
    daemon.stop()
    assert len(daemon.log()) == len(daemon.log_text().splitlines())
    assert "\x1b" not in daemon.log_text()
