"""A process of the daemon that was taken over: whatever it says to the
others, the daemon ends with a clear line, within a bounded time, and nobody
crashes.  regress/tools/hostile.py stands in for the real one."""

import json
import os
import pathlib
import re
import shutil
import struct
import time

import pytest

import sbx

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
HOSTILE = TOP / "regress/tools/hostile.py"


def message_types():
    """Names and numbers of the messages, from the header."""
    text = (TOP / "common/msg.h").read_text()
    body = re.search(r"enum msg_type \{(.*?)\n\};", text, re.S)[1]
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    types, number = {}, 0
    for item in filter(None, (part.strip() for part in body.split(","))):
        name, _, value = item.partition("=")
        number = int(value) if value else number + 1
        types[name.strip()] = number
    return types


TYPES = message_types()

# What may come over each edge; all else is a breach.
FROM_FRONTEND = {"MSG_READY", "MSG_CONF_DONE", "MSG_CTL_SHOW",
                 "MSG_CTL_CONFIG", "MSG_CTL_RELOAD", "MSG_CTL_VERBOSE",
                 "MSG_CTL_STOP"}
FROM_WORKER = {"MSG_READY", "MSG_CONF_DONE"}


class Taken(sbx.Daemon):
    """A daemon in a tree of its own, with one process replaced."""

    def __init__(self, role, send, *, where="parent", when="start",
                 then="read", **kwargs):
        super().__init__(**kwargs)
        self.tree = self.dir / "tree"
        (self.tree / "sbin").mkdir(parents=True)
        libexec = self.tree / "libexec/sbxd"
        libexec.mkdir(parents=True)
        shutil.copy2(sbx.SBXD, self.tree / "sbin")
        for name in sbx.CHILDREN:
            shutil.copy2(HOSTILE if name == role else
                         sbx.BUILD / "libexec/sbxd" / name, libexec / name)
        os.chmod(libexec / role, 0o755)
        (libexec / "plan").write_text(json.dumps({
            "role": role, "types": TYPES, "when": when, "where": where,
            "then": then, "send": send}))

    def command(self):
        return [str(self.tree / "sbin/sbxd"), "-d", "-f", str(self.conf)]

    def all_pids(self):
        """Every process whose program is in the tree, or runs from it."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                exe = os.readlink(f"/proc/{pid}/exe")
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    cmdline = f.read().decode(errors="replace")
            except OSError:
                continue
            if str(self.tree) in exe + cmdline:
                found.append(int(pid))
        return found


@pytest.fixture
def taken():
    made = []

    def make(*args, **kwargs):
        daemon = Taken(*args, **kwargs)
        made.append(daemon)
        return daemon

    yield make
    for daemon in made:
        daemon.cleanup()
        assert daemon.all_pids() == []


def ends(daemon, limit=5.0, status=1):
    """It ends, by itself, cleanly; the lines that say why."""
    start = time.monotonic()
    daemon.launch()
    assert daemon.wait() == status, daemon.log_text()
    assert time.monotonic() - start < limit * (3 if sbx.SAN else 1)
    assert sbx.wait_for(lambda: not daemon.all_pids(), 2)
    assert not daemon.socket.exists()
    text = daemon.log_text()
    for crash in ("signal 6", "signal 11", "signal 7", "signal 31",
                  "Sanitizer"):
        assert crash not in text, text
    assert len(daemon.log()) == len(text.splitlines())
    return [entry for entry in daemon.log()
            if entry["level"] in ("warning", "error")]


def one_reason(daemon, process, text, **kwargs):
    """One line of the one who was lied to; the parent may add whom it
    lost, and that the liar did not go."""
    lines = ends(daemon, **kwargs)
    reasons = [e for e in lines
               if not re.match(r"lost (spawner|reporter|frontend) "
                               r"\(pid \d+\): exited with status 1; ending$",
                               e["message"]) and
               "does not end: killing it" not in e["message"]]
    assert len(reasons) == 1, lines
    assert reasons[0]["process"] == process
    assert re.search(text, reasons[0]["message"]), reasons[0]["message"]


def u32(*numbers):
    return struct.pack(f"={len(numbers)}I", *numbers).hex()


# The harness itself: one that behaves is accepted.

def test_behaves(taken):
    daemon = taken("frontend", []).start()
    assert daemon.logged("ready")
    assert daemon.stop() == 143


# To the parent.

@pytest.mark.parametrize("number", sorted(
    {0, 9999, 2**31, 2**32 - 1} |
    {n for name, n in TYPES.items() if name not in FROM_FRONTEND}))
def test_types_to_parent(taken, number):
    one_reason(taken("frontend", [[str(number), ""]]), "parent",
               f"frontend: message type {number} is not for this edge; "
               "ending")


@pytest.mark.parametrize("role", ["spawner", "reporter"])
@pytest.mark.parametrize("name", sorted(FROM_FRONTEND - FROM_WORKER))
def test_rights_of_the_frontend(taken, role, name):
    """The others cannot ask for what the frontend may ask for."""
    payload = u32(7) if name == "MSG_CTL_VERBOSE" else ""
    one_reason(taken(role, [[name, payload]]), "parent",
               f"{role}: message type {TYPES[name]} is not for this edge")


@pytest.mark.parametrize("message,text", [
    (["MSG_CTL_SHOW", "00"], "CTL_SHOW has 1 bytes, not 0 to 0"),
    (["MSG_CTL_SHOW", "", {"len": 1}], "CTL_SHOW says 1 bytes and brings 0"),
    (["MSG_CTL_SHOW", "", {"len": 2**32 - 1}], "says 4294967295 bytes"),
    (["MSG_CTL_SHOW", "00" * 5000], "message too long"),
    (["MSG_CTL_SHOW", "00" * 60000], "message too long"),
    (["MSG_CTL_VERBOSE", "00" * 3], "CTL_VERBOSE has 3 bytes, not 4 to 4"),
    (["MSG_CTL_VERBOSE", "00" * 5], "CTL_VERBOSE has 5 bytes"),
    (["MSG_CTL_VERBOSE", "00" * 4, {"len": 0}], "says 0 bytes"),
    (["MSG_CTL_VERBOSE", u32(8)], "no such log level"),
    (["MSG_CTL_VERBOSE", u32(2**32 - 1)], "no such log level"),
    (["MSG_CTL_VERBOSE", u32(2)], "no such log level"),
    (["MSG_READY", "00" * 13], "READY has 13 bytes"),
    (["MSG_READY", "00" * 200], "READY has 200 bytes"),
    (["MSG_CTL_SHOW", "", {"nfds": 1}], "says 1 descriptors and brings 0"),
    (["MSG_CTL_SHOW", "", {"nfds": 2**32 - 1}], "says 4294967295 descr"),
    (["MSG_CTL_SHOW", "", {"fds": 1}], "brings 1, not 0"),
    (["MSG_CTL_SHOW", "", {"fds": 1, "nfds": 0}], "brings 1, not 0"),
    (["MSG_CTL_SHOW", "", {"fds": 8}], "brings 8, not 0"),
    (["MSG_CTL_SHOW", "", {"fds": 9}], "lost descriptors on the way"),
    (["MSG_CTL_SHOW", "", {"fds": 250}], "lost descriptors on the way"),
    (["0", "00" * 15, {"raw": 1}], "message of 15 bytes has no header"),
    (["0", "ff", {"raw": 1}], "message of 1 bytes has no header"),
], ids=range(22))
def test_shape_to_parent(taken, message, text):
    one_reason(taken("frontend", [message]), "parent", text)


def ready(chroot=0, landlock=0, nopaths=0, promises=b"stdio", length=None):
    length = len(promises) if length is None else length
    return (struct.pack("=IIIH", chroot, landlock, nopaths, length) +
            promises).hex()


@pytest.mark.parametrize("payload", [
    ready(chroot=2), ready(landlock=2**32 - 1), ready(nopaths=2**31),
    ready(length=4), ready(length=6), ready(length=65535),
    ready(promises=b"a\0b"), ready(promises=b"x" * 128),
], ids=range(8))
def test_bad_ready(taken, payload):
    one_reason(taken("frontend", [["MSG_READY", payload]], when="ready"),
               "parent", "READY makes no sense|READY has")


@pytest.mark.parametrize("send", [
    [["MSG_READY", ready()]],				# a second one
    [["MSG_READY", ready(), {"times": 50}]],
    [["MSG_CONF_DONE", ""]],				# nobody asked
    [["MSG_CTL_RELOAD", ""], ["MSG_CONF_DONE", "", {"times": 2}]],
    [["MSG_CTL_RELOAD", "", {"times": 500}],
     ["MSG_CONF_DONE", "", {"times": 500}]],
])
def test_order_to_parent(taken, send):
    lines = ends(taken("frontend", send))
    reasons = [e["message"] for e in lines if "makes no sense" in
               e["message"]]
    assert len(reasons) == 1, lines


def test_conf_done_before_ready(taken):
    one_reason(taken("frontend", [["MSG_CONF_DONE", ""]], when="ready"),
               "parent", "CONF_DONE makes no sense")


def test_questions_before_start(taken):
    """They are answered or refused, and harm nothing."""
    daemon = taken("frontend", [["MSG_CTL_SHOW", ""], ["MSG_CTL_CONFIG", ""],
                                ["MSG_CTL_RELOAD", ""],
                                ["MSG_READY", ready()]], when="ready")
    daemon.start()
    assert not daemon.logged("reloaded|reload failed")
    assert daemon.stop() == 143


def test_stop_many_times(taken):
    daemon = taken("frontend", [["MSG_CTL_STOP", "", {"times": 1000}]])
    assert ends(daemon, status=0) == []
    assert daemon.logged("asked by sbxctl", count=True) == 1


@pytest.mark.parametrize("name", ["MSG_CTL_SHOW", "MSG_CTL_CONFIG"])
def test_million_to_parent(taken, name):
    """Asks and asks and does not read what it is told."""
    daemon = taken("frontend", [[name, "", {"times": 1000000}]], then="wait")
    one_reason(daemon, "parent", "frontend does not read its messages",
               limit=10.0)


def test_flood_of_levels(taken):
    """It goes on to the siblings, who read."""
    daemon = taken("frontend", [["MSG_CTL_VERBOSE", u32(6),
                                 {"times": 20000}], ["9999", ""]],
                   then="wait")
    one_reason(daemon, "parent", "not for this edge|does not read",
               limit=10.0)


def test_empty_packets(taken):
    """One reads like the end."""
    daemon = taken("frontend", [["0", "", {"raw": 1, "times": 100}]])
    one_reason(daemon, "parent", "it closed its channel and still runs")


def test_empty_packet_with_descriptors(taken):
    daemon = taken("frontend", [["0", "", {"raw": 1, "fds": 8}]])
    one_reason(daemon, "parent", "it closed its channel and still runs")


# To the siblings.

workers = pytest.mark.parametrize("where", ["spawner", "reporter"])
MAGIC = re.search(r"MSG_HELLO_MAGIC\s+(0x[0-9a-f]+)",
                  (TOP / "common/msg.h").read_text())[1]
HELLO = u32(int(MAGIC, 16))


@workers
@pytest.mark.parametrize("number", [0, 1, TYPES["MSG_PEER"],
                                    TYPES["MSG_STOP"],
                                    TYPES["MSG_CONF_VALUES"],
                                    TYPES["MSG_CALLBACK"],
                                    TYPES["MSG_WORKSPACE"], 2**32 - 1])
def test_types_to_sibling(taken, where, number):
    one_reason(taken("frontend", [[str(number), ""]], where=where), where,
               f"frontend: message type {number} is not for this edge")


@workers
@pytest.mark.parametrize("message,text", [
    (["MSG_HELLO", ""], "HELLO has 0 bytes, not 4 to 4"),
    (["MSG_HELLO", HELLO + "00"], "HELLO has 5 bytes"),
    (["MSG_HELLO", HELLO, {"len": 2**32 - 1}], "says 4294967295 bytes"),
    (["MSG_HELLO", u32(1)], r"message \d+ \(4 bytes\) makes no sense"),
    (["MSG_HELLO", HELLO, {"fds": 1}], "brings 1, not 0"),
    (["MSG_HELLO", HELLO, {"fds": 250}], "lost descriptors"),
    (["MSG_HELLO", "00" * 60000], "message too long"),
    (["MSG_HELLO", HELLO, {"times": 2}], "makes no sense"),
    (["MSG_HELLO", HELLO, {"times": 1000000}], "makes no sense"),
], ids=range(9))
def test_shape_to_sibling(taken, where, message, text):
    one_reason(taken("frontend", [message], where=where), where, text)


@workers
def test_sibling_before_start(taken, where):
    """Not even looked at before everybody is confined."""
    daemon = taken("frontend", [["9999", ""]], where=where, when="ready",
                   then="exit")
    (entry,) = ends(daemon)
    assert entry["process"] == "parent"
    assert re.match(r"lost frontend \(pid \d+\): exited with status 3",
                    entry["message"])


@workers
def test_sibling_closed(taken, where):
    """It closes all channels: the parent's word, not the sibling's."""
    daemon = taken("frontend", [], where=where, then="close")
    one_reason(daemon, "parent", "it closed its channel and still runs")


@pytest.mark.parametrize("role", ["spawner", "reporter"])
@pytest.mark.parametrize("message,text", [
    (["MSG_HELLO", u32(1)], "makes no sense"),
    (["MSG_HELLO", HELLO, {"times": 2}], "makes no sense"),
    (["MSG_HELLO", HELLO, {"fds": 1}], "brings 1, not 0"),
    (["MSG_LISTEN", "00" * 12], "is not for this edge"),
    (["MSG_START", ""], "is not for this edge"),
    (["MSG_AUTH", "00" * 36], "is not for this edge"),
    (["2000", ""], "is not for this edge"),
], ids=range(7))
def test_worker_to_frontend(taken, role, message, text):
    """The other way round: nobody gives the frontend a token or a socket
    but the parent."""
    one_reason(taken(role, [message], where="frontend"), "frontend",
               f"{role}: .*{text}")


# One that does not even start.

@pytest.mark.parametrize("role", sbx.CHILDREN)
@pytest.mark.parametrize("when", ["boot", "ready", "start"])
@pytest.mark.parametrize("then,text", [
    ("exit", "exited with status 3"),
    ("kill", "killed by signal 15"),
    ("close", "it closed its channel and still runs"),
])
def test_goes(taken, role, when, then, text):
    lines = ends(taken(role, [], when=when, then=then))
    assert lines[0]["event_type"] == "process_lost"
    assert re.match(rf"lost {role} \(pid \d+\): {text}.*; ending$",
                    lines[0]["message"])
    assert all("killing it" in e["message"] for e in lines[1:])


@pytest.mark.parametrize("role", sbx.CHILDREN)
def test_program_missing(taken, role):
    daemon = taken(role, [])
    (daemon.tree / "libexec/sbxd" / role).unlink()
    lines = ends(daemon)
    assert "No such file or directory" in lines[0]["message"]
    assert f"lost {role} " in lines[1]["message"]


def test_stays_silent(taken):
    """Stopped by hand, in place of the twenty seconds it would have."""
    daemon = taken("frontend", [], when="ready")
    daemon.launch()
    assert sbx.wait_for(lambda: daemon.logged("starting"))
    assert not sbx.wait_for(lambda: daemon.logged("ready"), 0.5)
    assert daemon.stop() == 143
    assert sbx.wait_for(lambda: not daemon.all_pids(), 2)
