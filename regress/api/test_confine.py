"""Each process has what its work needs and no more: from /proc, from what
`sbxctl show` says, and by making it try."""

import ctypes
import json
import os
import pathlib
import platform
import re
import struct
import subprocess

import pytest

import sbx
from conftest import needs_root

PROCESSES = ("parent", *sbx.CHILDREN)
PARENT_CAPS = 1 << 0 | 1 << 5 | 1 << 10		# chown, kill, bind
EACCES = -13

# System calls by number, for the one architecture that inject knows.
OPEN, SOCKET, CONNECT, SOCKETPAIR, FORK, EXECVE, PTRACE, SETUID, MOUNT = \
    2, 41, 42, 53, 57, 59, 101, 105, 165
O_DIRECTORY = 0o200000
AF_UNIX, AF_INET, SOCK_DGRAM = 1, 2, 2

needs_inject = pytest.mark.skipif(
    platform.machine() != "x86_64" or not sbx.ROOT,
    reason="inject needs root and an x86_64")


def inject(daemon, name, *args, uid=None, suspend=False):
    """What becomes of one system call of that process."""
    def become():
        if uid is not None:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
    done = subprocess.run(
        [str(sbx.INJECT), *(["-s"] if suspend else []),
         str(daemon.pids[name]), *map(str, args)],
        capture_output=True, text=True, timeout=30, preexec_fn=become)
    if suspend and "ptrace" in done.stderr:
        pytest.skip("this kernel does not suspend a filter")
    return done.stdout.strip() or done.stderr.strip()


def show(daemon, uid=None):
    answer = json.loads(daemon.ctl("-j", "show", uid=uid).stdout)
    return {entry["name"]: entry for entry in answer["processes"]}


def troubles(daemon):
    return [entry for entry in daemon.log()
            if entry["level"] in ("warning", "error")]


def links(pid):
    return {int(fd): os.readlink(f"/proc/{pid}/fd/{fd}")
            for fd in os.listdir(f"/proc/{pid}/fd")}


def kernel_abi():
    """Landlock's version, by landlock_create_ruleset(NULL, 0, VERSION)."""
    abi = ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1)
    return max(abi, 0)


ABI = kernel_abi()
needs_landlock = pytest.mark.skipif(ABI == 0,
                                    reason="this kernel has no Landlock")


# From /proc.

@needs_root
def test_users(daemon):
    seen = set()
    for name in sbx.CHILDREN:
        status = sbx.status(daemon.pids[name])
        uids, gids = status["Uid"].split(), status["Gid"].split()
        assert len(set(uids)) == 1 and len(set(gids)) == 1
        assert uids[0] != "0" and gids[0] != "0"
        assert status["Groups"].strip() == ""
        seen.add(uids[0])
    assert len(seen) == len(sbx.CHILDREN)


@pytest.mark.parametrize("name", PROCESSES)
def test_status(daemon, name):
    status = sbx.status(daemon.pids[name])
    assert status["Seccomp"] == "2"
    assert status["NoNewPrivs"] == "1"
    want = PARENT_CAPS if name == "parent" and sbx.ROOT else 0
    assert int(status["CapPrm"], 16) == want
    assert int(status["CapEff"], 16) == want
    assert int(status["CapInh"], 16) == 0
    assert int(status["CapAmb"], 16) == 0
    if sbx.ROOT:
        assert int(status["CapBnd"], 16) == 0
    assert int(status["Threads"]) == 1


@needs_root
def test_roots(daemon):
    for name in ("frontend", "spawner"):
        for link in ("root", "cwd"):
            path = os.readlink(f"/proc/{daemon.pids[name]}/{link}")
            assert path == f"{daemon.dir}/empty"
    assert os.listdir(daemon.dir / "empty") == []
    info = os.stat(daemon.dir / "empty")
    assert (info.st_uid, info.st_mode & 0o222) == (0, 0)


@needs_root
@pytest.mark.parametrize("name", PROCESSES)
def test_descriptors(daemon, name):
    fds = links(daemon.pids[name])
    assert fds.pop(0) == "/dev/null"
    assert fds.pop(1) == (str(daemon.out_path) if name == "parent" else
                          "/dev/null")
    assert fds.pop(2) == str(daemon.log_path)
    rest = [link for link in fds.values()
            if not re.fullmatch(r"socket:.*|pipe:.*|/memfd:.*|"
                                r"anon_inode:\[(eventpoll|eventfd|timerfd)\]",
                                link)]
    assert rest == {"spawner": [f"{daemon.dir}/workspace"],
                    "reporter": [f"{daemon.dir}/spool"]}.get(name, [])


@needs_root
def test_descriptors_are_own(daemon):
    """Nobody shares a socket with another, so nobody can read for it."""
    seen = {}
    for name, pid in daemon.pids.items():
        for link in links(pid).values():
            if link.startswith("socket:"):
                assert seen.setdefault(link, name) == name, link


@pytest.mark.parametrize("name", PROCESSES)
def test_no_dump(daemon, name):
    pid = daemon.pids[name]
    limits = pathlib.Path(f"/proc/{pid}/limits").read_text()
    assert re.search(r"Max core file size +1 +1 ", limits)
    if sbx.ROOT:
        # Of a process that can be dumped it would be the process's own.
        assert os.stat(f"/proc/{pid}/mem").st_uid == 0
    else:
        with pytest.raises(PermissionError):
            open(f"/proc/{pid}/mem", "rb")


@needs_inject
@pytest.mark.parametrize("name", sbx.CHILDREN)
def test_no_ptrace_by_its_user(daemon, name):
    uid = int(sbx.status(daemon.pids[name])["Uid"].split()[0])
    assert "not permitted" in inject(daemon, name, FORK, uid=uid)


@pytest.mark.parametrize("name", PROCESSES)
def test_show_agrees(daemon, name):
    said, pid = show(daemon)[name], daemon.pids[name]
    status = sbx.status(pid)
    assert said["pid"] == pid
    assert said["uid"] == int(status["Uid"].split()[0])
    assert said["seccomp"] == int(status["Seccomp"])
    assert said["no_new_privs"] is (status["NoNewPrivs"] == "1")
    assert int(said["capabilities"], 16) == \
        int(status["CapEff"], 16) | int(status["CapPrm"], 16)
    rss = int(status["VmRSS"].split()[0]) * 1024
    assert abs(said["memory_bytes"] - rss) < rss / 2
    assert said["chroot"] is (
        os.readlink(f"/proc/{pid}/root") != "/" if sbx.ROOT else False)
    if name != "parent":
        assert said["promises"].startswith("stdio")
        assert said["landlock_abi"] == ABI
        assert said["no_paths"] is (name != "reporter" and ABI > 0)


def test_show_text(daemon):
    lines = daemon.ctl("show").stdout.splitlines()
    for name in PROCESSES:
        (line,) = [x for x in lines if x.startswith(name + " ")]
        assert str(daemon.pids[name]) in line and " nnp " in line
        assert "seccomp(stdio" in line


# The libraries.

def libraries(name):
    program = sbx.SBXD if name == "parent" else \
        sbx.BUILD / "libexec/sbxd" / name
    return subprocess.run(["ldd", str(program)], capture_output=True,
                          text=True, timeout=30, check=True).stdout


@pytest.mark.parametrize("name,never", [
    ("parent", "curl json-c"), ("frontend", "curl"),
    ("spawner", "curl json-c"), ("reporter", "json-c"),
])
def test_libraries(daemon, name, never):
    linked = libraries(name)
    assert "libc.so" in linked
    mapped = linked
    if sbx.ROOT:
        with open(f"/proc/{daemon.pids[name]}/maps") as f:
            mapped = f.read()
    assert "libc.so" in mapped
    for library in never.split():
        assert f"lib{library}" not in linked
        assert f"lib{library}" not in mapped
    # The test would see one.
    assert "libcurl" in libraries("reporter")
    assert "libjson-c" in libraries("frontend")


# A call that was not promised.

@needs_inject
@pytest.mark.parametrize("name,call", [
    ("parent", (EXECVE, "@/bin/true", 0, 0)), ("parent", (FORK,)),
    ("parent", (SETUID, 0)), ("parent", (OPEN, "@/tmp/x", 0o101, 0o600)),
    ("frontend", (SOCKET, AF_INET, 1, 0)), ("frontend", (PTRACE, 0, 0, 0, 0)),
    ("frontend", (SOCKETPAIR, AF_UNIX, SOCK_DGRAM, 0, 0)),
    ("frontend", (EXECVE, "@/bin/true", 0, 0)),
    ("spawner", (FORK,)), ("spawner", (MOUNT, 0, 0, 0, 0, 0)),
    ("spawner", (SOCKET, AF_UNIX, 1, 0)),
    ("reporter", (EXECVE, "@/bin/true", 0, 0)), ("reporter", (FORK,)),
    ("reporter", (SETUID, 0)),
])
def test_forbidden_call(daemon_factory, name, call):
    daemon = daemon_factory().start()
    assert inject(daemon, name, *call) == "killed 31"
    assert daemon.wait() != 0
    assert daemon.gone()
    (entry,) = troubles(daemon)
    if name == "parent":
        assert entry["process"] == "frontend"
        assert "lost parent" in entry["message"]
    else:
        assert entry["process"] == "parent"
        assert f"lost {name} (pid {daemon.pids[name]}): killed by signal " \
            "31" in entry["message"]
        assert "outside its promises" in entry["message"]


@needs_inject
@pytest.mark.skipif(sbx.SAN, reason="a sanitizer maps as it likes")
@pytest.mark.parametrize("name", PROCESSES)
def test_executable_memory(daemon_factory, name):
    """No process can make code out of data."""
    daemon = daemon_factory().start()
    # mmap(NULL, 4096, RWX, PRIVATE | ANONYMOUS, -1, 0)
    assert inject(daemon, name, 9, 0, 4096, 7, 0x22, -1, 0) == "killed 31"
    assert daemon.wait() != 0


# Behind the filter there is another wall.

@needs_inject
@needs_landlock
@pytest.mark.parametrize("name", sbx.CHILDREN)
def test_root_closed(daemon_factory, name):
    daemon = daemon_factory().start()
    assert inject(daemon, name, OPEN, "@/", O_DIRECTORY, suspend=True) == \
        f"returned {EACCES}"


@needs_inject
@needs_landlock
@pytest.mark.parametrize("path,readable", [
    ("/etc/resolv.conf", True), ("/etc/passwd", False),
    ("/etc/shadow", False), ("/proc/self/environ", False),
    ("/tmp", False), ("{}/sbxd.conf", False), ("{}/workspace", False),
    ("{}/spool", True),
])
def test_reporter_paths(daemon_factory, path, readable):
    daemon = daemon_factory().start()
    path = path.format(daemon.dir)
    if not os.path.exists(path):
        pytest.skip(f"there is no {path}")
    result = inject(daemon, "reporter", OPEN, "@" + path, 0, suspend=True)
    number = int(result.removeprefix("returned "))
    assert number >= 0 if readable else number == EACCES


def tcp_listener(daemon):
    """The number of the frontend's descriptor that clients come in by."""
    port = f":{daemon.port:04X} "
    with open("/proc/net/tcp") as f:
        (inode,) = [line.split()[9] for line in f
                    if port in line and line.split()[3] == "0A"]
    for fd, link in links(daemon.pids["frontend"]).items():
        if link == f"socket:[{inode}]":
            return fd
    raise AssertionError("no such descriptor")


def poke(pid, data):
    """Puts data at the low end of a stack, and says where."""
    with open(f"/proc/{pid}/maps") as f:
        (line,) = [line for line in f if "[stack]" in line]
    address = int(line.split("-")[0], 16)
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as f:
        f.seek(address)
        f.write(data)
    return address


@needs_inject
@pytest.mark.skipif(ABI < 4, reason="this kernel's Landlock, if it has one, "
                    "knows no network")
def test_frontend_connects_nowhere(daemon_factory):
    daemon = daemon_factory().start()
    sin = struct.pack("=H", AF_INET) + struct.pack(
        "!H4s8x", daemon.port, bytes([127, 0, 0, 1]))
    address = poke(daemon.pids["frontend"], sin)
    assert inject(daemon, "frontend", CONNECT, tcp_listener(daemon), address,
                  len(sin), suspend=True) == f"returned {EACCES}"


# An ordinary user's daemon.

@pytest.fixture(scope="module")
def user_daemon():
    with sbx.Daemon(uid=sbx.nobody() if sbx.ROOT else None) as d:
        yield d
        assert d.proc.poll() is None, d.log_text()


def test_user(user_daemon):
    daemon = user_daemon
    uid = daemon.uid if sbx.ROOT else os.getuid()
    assert daemon.logged("not chrooted", count=True) == 1
    said = show(daemon, uid=daemon.uid)
    for name, pid in daemon.pids.items():
        status = sbx.status(pid)
        assert status["Uid"].split() == [str(uid)] * 4
        assert status["Seccomp"] == "2" and status["NoNewPrivs"] == "1"
        for kind in ("CapPrm", "CapEff", "CapInh", "CapAmb"):
            assert int(status[kind], 16) == 0
        assert said[name]["uid"] == uid and said[name]["chroot"] is False
        assert os.stat(f"/proc/{pid}/mem").st_uid == 0
    assert said["frontend"]["no_paths"] is (ABI > 0)
    assert said["spawner"]["no_paths"] is (ABI > 0)


@needs_inject
@pytest.mark.parametrize("name", PROCESSES)
def test_user_no_ptrace(user_daemon, name):
    """They share a user, but none can reach into another."""
    assert "not permitted" in inject(user_daemon, name, FORK,
                                     uid=user_daemon.uid)


@needs_inject
@pytest.mark.parametrize("name,call,suspend,result", [
    ("frontend", (OPEN, "@/etc/passwd", 0), True, f"returned {EACCES}"),
    ("spawner", (OPEN, "@/etc/passwd", 0), True, f"returned {EACCES}"),
    ("reporter", (OPEN, "@/etc/passwd", 0), True, f"returned {EACCES}"),
    ("frontend", (SOCKET, AF_INET, 1, 0), False, "killed 31"),
    ("frontend", (SOCKETPAIR, AF_UNIX, SOCK_DGRAM, 0, 0), False, "killed 31"),
    ("spawner", (FORK,), False, "killed 31"),
    ("reporter", (FORK,), False, "killed 31"),
])
def test_user_confined(daemon_factory, name, call, suspend, result):
    if suspend and ABI == 0:
        pytest.skip("this kernel has no Landlock")
    daemon = daemon_factory(uid=sbx.nobody()).start()
    assert inject(daemon, name, *call, suspend=suspend) == result
    assert daemon.wait() == 1


def test_workers_started_by_hand():
    """They are of no use to anybody but their parent."""
    for name in sbx.CHILDREN:
        done = subprocess.run([str(sbx.BUILD / "libexec/sbxd" / name)],
                              capture_output=True, text=True, timeout=30,
                              stdin=subprocess.DEVNULL)
        assert done.returncode == 1
        assert done.stderr == f"{name}: a part of sbxd(8), which starts it\n"
