"""Limits of connections: who gives way to whom, and ten thousand at once."""

import contextlib
import os
import re
import resource
import socket
import time

import pytest
import requests

import sbx

SOON = 15
MANY = 10000
GET = b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n"
NO = b"GET /no HTTP/1.1\r\nHost: x\r\n\r\n"
HALF = b"GET /health HTTP/1.1\r\nHost: x\r\nX: "


def http(*settings):
    """A block of the configuration."""
    return "http {\n" + "".join(f"\t{s}\n" for s in settings) + "}\n"


def connect(server, source="127.0.0.1"):
    return socket.create_connection(("127.0.0.1", server.port), timeout=SOON,
                                    source_address=(source, 0))


def ask(s, data=GET):
    """One request on an open connection; the status, None at EOF."""
    try:
        s.sendall(data)
        with s.makefile("rb") as f:
            reply = sbx.read_reply(f)
    except ConnectionError:
        return None
    return reply and reply.status


def is_open(s):
    """Whether the server has not closed; nothing may be pending."""
    s.setblocking(False)
    try:
        return s.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionError:
        return False
    finally:
        s.setblocking(True)
        s.settimeout(SOON)


def metrics(daemon, session=requests):
    reply = session.get(daemon.url("/metrics"), headers=daemon.auth(),
                        timeout=SOON)
    assert reply.status_code == 200
    return {name: int(value) for name, value in
            re.findall(r"^sbxd_http_(\w+) (\d+)$", reply.text, re.M)}


def close_all(socks):
    for s in socks:
        s.close()


# -- who gives way -------------------------------------------------------

def test_per_address(daemon_factory):
    """The oldest of the same address goes, whatever others have."""
    daemon = daemon_factory(http("connections per address 4")).start()
    with contextlib.ExitStack() as stack:
        others = [stack.enter_context(connect(daemon, "127.0.0.2"))
                  for _ in range(3)]
        mine = [stack.enter_context(connect(daemon)) for _ in range(4)]
        assert all(ask(s) == 200 for s in others + mine)
        mine.append(stack.enter_context(connect(daemon)))
        assert ask(mine[4]) == 200
        assert [is_open(s) for s in mine] == [False] + [True] * 4
        # The one that has just been used is not the oldest.
        assert ask(mine[1]) == 200
        mine.append(stack.enter_context(connect(daemon)))
        assert ask(mine[5]) == 200
        assert [is_open(s) for s in mine] == \
            [False, True, False, True, True, True]
        assert all(is_open(s) for s in others)


def test_total(daemon_factory):
    """The idle go before those that have begun, the oldest first."""
    daemon = daemon_factory(http("connections 4")).start()
    with contextlib.ExitStack() as stack:
        half = stack.enter_context(connect(daemon, "127.0.0.2"))
        half.sendall(HALF)
        socks = [stack.enter_context(connect(daemon, f"127.0.0.{i + 3}"))
                 for i in range(3)]
        assert all(ask(s) == 200 for s in socks)
        for i in range(3):
            new = stack.enter_context(connect(daemon, f"127.0.1.{i + 1}"))
            new.sendall(HALF)
            assert sbx.wait_for(lambda: not is_open(socks[i]), SOON)
            assert [is_open(s) for s in socks] == \
                [False] * (i + 1) + [True] * (2 - i)
        assert is_open(half)
        new = stack.enter_context(connect(daemon))
        assert ask(new) == 200
        assert not is_open(half)
        with requests.Session() as session:
            session.get(daemon.url("/health"), timeout=SOON)
            counts = metrics(daemon, session)
    assert counts["connections"] == 4
    assert counts["connections_refused_total"] == 0
    assert counts["connections_evicted_total"] == 5


@pytest.mark.parametrize("limit", ["http.connections=3",
                                   "http.connections per address=3"])
def test_all_busy(limit):
    """Only then is the new one refused; then there is room again."""
    head = (b"POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n"
            b"Expect: 100-continue\r\n\r\n")
    with sbx.Echod(limit) as echod, contextlib.ExitStack() as stack:
        busy = [stack.enter_context(connect(echod)) for _ in range(3)]
        for s in busy:
            assert ask(s, head) == 100
            s.sendall(b"a")
        for data in (b"", b"", NO, NO * 1000):
            with connect(echod) as s, s.makefile("rb") as f:
                with contextlib.suppress(ConnectionError):
                    s.sendall(data)
                reply = sbx.read_reply(f)
                assert reply.status == 503
                assert reply.headers["connection"] == "close"
                assert reply.headers["retry-after"] == "1"
                assert reply.body == b"Too many connections\n"
                with contextlib.suppress(ConnectionError):
                    assert f.read() == b""
        assert all(is_open(s) for s in busy)
        # One is served, is idle now, and gives way.
        assert ask(busy[1], b"b") == 200
        with connect(echod) as s:
            assert ask(s, NO) == 404
            assert not is_open(busy[1])
        assert ask(busy[0], b"b") == 200
        assert ask(busy[2], b"b") == 200


def test_busy_handlers():
    """A request that a handler has is never thrown out."""
    later = b"GET /later HTTP/1.1\r\nHost: x\r\n\r\n"
    with sbx.Echod("http.connections=2") as echod:
        with connect(echod) as a, connect(echod) as b:
            for s in (a, b):
                s.sendall(later)
            time.sleep(0.25)
            for _ in range(3):
                with connect(echod) as s:
                    s.recv(1)
            for s in (a, b):
                with s.makefile("rb") as f:
                    assert sbx.read_reply(f).status == 200


def test_lingering_give_way():
    """Who has been refused and does not leave is in nobody's way."""
    with sbx.Echod("http.connections=3") as echod, \
            contextlib.ExitStack() as stack:
        for i in range(9):
            s = stack.enter_context(connect(echod))
            s.sendall(b"POST /no HTTP/1.1\r\nHost: x\r\n"
                      b"Content-Length: 100\r\n\r\n")
            with s.makefile("rb") as f:
                assert sbx.read_reply(f).status == 404, i
        with connect(echod) as s:
            assert ask(s, NO) == 404


def test_who_does_not_read_gives_way():
    """Replies that nobody takes do not keep others out."""
    large = b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n"
    with sbx.Echod("http.connections=3") as echod, \
            contextlib.ExitStack() as stack:
        for _ in range(6):
            s = stack.enter_context(connect(echod))
            s.sendall(large)
            assert s.recv(8) == b"HTTP/1.1"
        with connect(echod) as s:
            assert ask(s, NO) == 404


def test_reload_limits(daemon_factory):
    """A lower limit holds from the next connection on, a higher one too."""
    daemon = daemon_factory().start()
    with contextlib.ExitStack() as stack:
        socks = [stack.enter_context(connect(daemon)) for _ in range(20)]
        assert all(ask(s) == 200 for s in socks)
        daemon.write_config(http("connections 5"))
        daemon.ctl("reload")
        assert all(is_open(s) for s in socks)
        socks.append(stack.enter_context(connect(daemon)))
        assert ask(socks[-1]) == 200
        assert [is_open(s) for s in socks] == [False] * 16 + [True] * 5
        daemon.write_config(http("connections per address 2"))
        daemon.ctl("reload")
        socks.append(stack.enter_context(connect(daemon)))
        assert ask(socks[-1]) == 200
        assert [is_open(s) for s in socks] == [False] * 20 + [True] * 2
        daemon.write_config("")
        daemon.ctl("reload")
        socks = [stack.enter_context(connect(daemon)) for _ in range(20)]
        assert all(ask(s) == 200 for s in socks)
        assert all(is_open(s) for s in socks)


def test_churn():
    """Connections come and go in every state; the lists stay whole."""
    kinds = (b"", HALF, NO, b"X\n", b"GET /later HTTP/1.1\r\nHost: x\r\n\r\n",
             b"POST /open HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nab",
             b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n", NO * 50)
    with sbx.Echod("http.connections=40", "http.connections per address=25",
                   "http.header timeout=1s", "http.body timeout=1s",
                   "http.idle timeout=1s", "http.write timeout=1s") as echod:
        fds = f"/proc/{echod.proc.pid}/fd"
        before = len(os.listdir(fds))
        held = []
        end = time.monotonic() + 4
        i = 0
        while time.monotonic() < end:
            s = connect(echod, f"127.0.0.{1 + i % 3}")
            with contextlib.suppress(ConnectionError):
                s.sendall(kinds[i * 7 % 8])
            held.append(s)
            if len(held) > 60:
                held.pop(i * 13 % 60).close()
            i += 1
        assert echod.proc.poll() is None
        close_all(held)
        assert sbx.wait_for(lambda: len(os.listdir(fds)) == before, SOON)
        with connect(echod) as s:
            assert ask(s, NO) == 404
        print(f"{i} connections")


# -- ten thousand --------------------------------------------------------

@pytest.fixture
def descriptors():
    """As many descriptors as this machine allows, or the test is off."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2 * MANY:
        pytest.skip(f"needs {2 * MANY} open files, the limit is {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def rss(daemon):
    return int(sbx.status(daemon.pids["frontend"])["VmRSS"].split()[0]) << 10


class Prober:
    """/health on connections of their own; the longest wait for it."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.worst = 0.0

    def __call__(self):
        start = time.monotonic()
        with connect(self.daemon, "127.0.9.9") as s:
            assert ask(s) == 200
        self.worst = max(self.worst, time.monotonic() - start)


def crowd(daemon, n, data, probe):
    """n connections from ten addresses, each sending the data."""
    socks = []
    for i in range(n):
        s = connect(daemon, f"127.0.0.{1 + i % 10}")
        socks.append(s)
        if data:
            with contextlib.suppress(ConnectionError):
                s.sendall(data)
        if i % 500 == 0:
            probe()
    probe()
    return socks


def back_down(daemon, peak):
    """What a crowd needed is given back, but for what libevent keeps for
    each descriptor and the pages on which that lies."""
    if peak > (20 << 20) and not sbx.SAN:
        limit = peak - peak // 10
        assert sbx.wait_for(lambda: rss(daemon) < limit, SOON, 0.1)
    return rss(daemon)


HEADS = {"idle": b"", "half a head": HALF + b"x" * 4000}


@pytest.mark.parametrize("kind", HEADS)
def test_many_by_default(daemon_factory, descriptors, kind):
    """Most are turned away, /health is answered all the time."""
    daemon = daemon_factory().start()
    before, fds = rss(daemon), daemon.fds("frontend")
    probe = Prober(daemon)
    probe()
    socks = crowd(daemon, MANY, HEADS[kind], probe)
    assert sbx.wait_for(lambda: daemon.fds("frontend") <= fds + 4096)
    peak = rss(daemon)
    with requests.Session() as session:
        counts = metrics(daemon, session)
    assert counts["connections"] == 4096
    assert counts["connections_refused_total"] == 0
    assert counts["connections_evicted_total"] >= MANY - 4096
    open_ones = sum(is_open(s) for s in socks)
    assert 4000 < open_ones <= 4096
    close_all(socks)
    assert sbx.wait_for(lambda: daemon.fds("frontend") == fds, SOON)
    probe()
    after = back_down(daemon, peak)
    print(f"{kind}: {before >> 10} KB, {peak >> 10} KB with 4096, "
          f"{after >> 10} KB after; "
          f"/health at most {probe.worst * 1000:.0f} ms")
    if not sbx.SAN:
        assert peak - before < (40 << 20)
    assert probe.worst < 5


@pytest.mark.parametrize("kind", HEADS)
def test_many_held(daemon_factory, descriptors, kind):
    """All are kept, and leave nothing when they go."""
    daemon = daemon_factory(http("connections 12000",
                                 "connections per address 12000",
                                 "header timeout 5m")).start()
    before, fds = rss(daemon), daemon.fds("frontend")
    probe = Prober(daemon)
    probe()
    socks = crowd(daemon, MANY, HEADS[kind], probe)
    assert sbx.wait_for(lambda: daemon.fds("frontend") == fds + MANY)
    peak = rss(daemon)
    assert all(is_open(s) for s in socks)
    # They are alive: some of them go on.
    for s in socks[::100]:
        assert ask(s, b"\r\n\r\n" if HEADS[kind] else GET) == 200
    # So is everything else.
    daemon.ctl("show")
    probe()
    close_all(socks)
    assert sbx.wait_for(lambda: daemon.fds("frontend") == fds, SOON)
    probe()
    after = back_down(daemon, peak)
    print(f"{kind}: {before >> 10} KB, {peak >> 10} KB with {MANY}, "
          f"{after >> 10} KB after; "
          f"/health at most {probe.worst * 1000:.0f} ms")
    if not sbx.SAN:
        assert peak - before < (100 << 20)
    assert probe.worst < 5


def test_memory_does_not_creep(daemon_factory, descriptors):
    """The second crowd needs no more than the first."""
    daemon = daemon_factory().start()
    probe = Prober(daemon)
    fds = daemon.fds("frontend")
    sizes = []
    for _ in range(3):
        socks = crowd(daemon, 3000, HEADS["half a head"], probe)
        close_all(socks)
        assert sbx.wait_for(lambda: daemon.fds("frontend") == fds, SOON)
        sizes.append(rss(daemon))
    if not sbx.SAN:
        assert max(sizes) - sizes[0] < (8 << 20), sizes
