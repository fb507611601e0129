"""HTTP as bytes: framing, limits of a head, bodies, pipelining, deadlines.

Malformed requests are followed by a well-formed one, which must never be
answered: there is one reply, it says that the connection closes, and it
does, without a reset.
"""

import contextlib
import os
import re
import socket
import struct
import threading
import time

import pytest
import requests

import sbx

TOKEN = "test-token-0123456789"
NEXT = b"GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
SOON = 15       # seconds: far more than anything here should take


@pytest.fixture(params=["daemon", "echod"])
def server(request):
    """Both servers, each with a path that answers POST somehow."""
    return request.getfixturevalue(request.param)


def check(reply):
    """What holds for every reply."""
    kind = reply.headers["content-type"].split(";")[0]
    assert kind in ("text/plain", "application/json",
                    "application/octet-stream")
    assert b"<html" not in reply.body.lower()
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,64}",
                        reply.headers["x-request-id"])
    assert reply.headers["date"].endswith(" GMT")
    assert "transfer-encoding" not in reply.headers
    assert reply.headers.get("connection") in (None, "close", "keep-alive")
    return reply


def read_all(s, methods=()):
    """Every reply until the server closes; a reset is an error."""
    replies = []
    methods = iter(methods)
    with s.makefile("rb") as f:
        while (reply := sbx.read_reply(f, next(methods, "GET"))) is not None:
            replies.append(reply if reply.status == 100 else check(reply))
    return replies


def sender(s, data, errors):
    try:
        s.sendall(data)
    except OSError as e:
        errors.append(e)


def talk(server, data, methods=(), shut=False):
    """Sends while it reads; the replies until the server closes."""
    errors = []
    with server.connect() as s:
        s.settimeout(SOON)
        if len(data) < 4096:
            s.sendall(data)
        else:
            thread = threading.Thread(target=sender, args=(s, data, errors))
            thread.start()
        if shut:
            if len(data) >= 4096:
                thread.join()
            s.shutdown(socket.SHUT_WR)
        replies = read_all(s, methods)
        if len(data) >= 4096:
            thread.join()
        assert not errors
    return replies


def refused(server, data, *statuses):
    replies = talk(server, data)
    assert [r.status for r in replies] in [[s] for s in statuses]
    assert replies[0].headers["connection"] == "close"
    return replies[0]


def one(server, data, method="GET"):
    """One reply to a request after which the connection stays open."""
    with server.connect() as s, s.makefile("rb") as f:
        s.sendall(data)
        reply = check(sbx.read_reply(f, method))
        assert reply.headers.get("connection") != "close"
        # It is still there: the next request is answered too.
        s.sendall(b"GET /next HTTP/1.1\r\nHost: x\r\n\r\n")
        assert sbx.read_reply(f).status == 404
        return reply


def http(*settings):
    """A block of the configuration."""
    return "http {\n" + "".join(f"\t{s}\n" for s in settings) + "}\n"


def fds(server):
    pid = server.proc.pid if isinstance(server, sbx.Echod) else \
        server.pids["frontend"]
    return len(os.listdir(f"/proc/{pid}/fd"))


def reset(s):
    """Closes so that the other side sees a reset."""
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    s.close()


def closed(s, timeout=SOON):
    """True when the server has closed; what it sent before is dropped."""
    s.settimeout(timeout)
    try:
        while s.recv(65536):
            pass
    except ConnectionError:
        pass
    except TimeoutError:
        return False
    return True


# -- heads ---------------------------------------------------------------

def post(*lines, body=b"0\r\n\r\n", version="1.1"):
    """A POST with these header lines and a body of either kind."""
    head = f"POST /open HTTP/{version}\r\nHost: x\r\n".encode()
    for line in lines:
        head += (line if isinstance(line, bytes) else line.encode()) + b"\r\n"
    return head + b"\r\n" + body


CHUNKED = "Transfer-Encoding: chunked"

AMBIGUOUS = {
    "length and coding": post("Content-Length: 5", CHUNKED),
    "coding and length": post(CHUNKED, "Content-Length: 5"),
    "coding and length 0": post(CHUNKED, "Content-Length: 0"),
    "equal lengths": post("Content-Length: 5", "Content-Length: 5"),
    "different lengths": post("Content-Length: 5", "content-length: 6"),
    "length +5": post("Content-Length: +5"),
    "length 0x10": post("Content-Length: 0x10"),
    "length -1": post("Content-Length: -1"),
    "length empty": post("Content-Length:"),
    "length blank": post("Content-Length:  \t"),
    "length 5 5": post("Content-Length: 5 5"),
    "length 5,5": post("Content-Length: 5,5"),
    "length 5;": post("Content-Length: 5;"),
    "length quoted": post('Content-Length: "5"'),
    "length 2^63": post(f"Content-Length: {2**63}"),
    "length 2^64": post(f"Content-Length: {2**64}"),
    "length 2^64+5": post(f"Content-Length: {2**64 + 5}"),
    "length 30 digits": post("Content-Length: " + "1" * 30),
    "chunked, identity": post("Transfer-Encoding: chunked, identity"),
    "identity": post("Transfer-Encoding: identity"),
    "gzip, chunked": post("Transfer-Encoding: gzip, chunked"),
    "chunked, chunked": post("Transfer-Encoding: chunked, chunked"),
    "two codings": post(CHUNKED, CHUNKED),
    "xchunked": post("Transfer-Encoding: xchunked"),
    "chunked VT": post(b"Transfer-Encoding: \x0bchunked"),
    "coding empty": post("Transfer-Encoding:"),
    "coding in 1.0": post(CHUNKED, version="1.0"),
    "coding in 1.0 kept": post(CHUNKED, "Connection: keep-alive",
                               version="1.0"),
    "fold": post("A: b", " c"),
    "fold tab": post("A: b", "\tc"),
    "folded length": post("Content-Length:", " 5"),
    "fold first": b"GET / HTTP/1.1\r\n Host: x\r\n\r\n",
    "space before colon": post("Content-Length : 5"),
    "tab before colon": post("Transfer-Encoding\t: chunked"),
    "empty name": post(": x"),
    "no colon": post("Content-Length"),
    "blank in name": post("Content Length: 5"),
    "slash in name": post("Content/Length: 5"),
    "8 bit in name": post(b"Content-Length\xa0: 5"),
    "no host": b"GET / HTTP/1.1\r\n\r\n",
    "two hosts": b"GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
    "two hosts 1.0": b"GET / HTTP/1.0\r\nHost: x\r\nhost: y\r\n\r\n",
    "bare LF": b"GET / HTTP/1.1\nHost: x\n\n",
    "bare LF in head": b"GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n",
    "bare LF at the end": b"GET / HTTP/1.1\r\nHost: x\r\n\n",
    "bare CR": b"GET / HTTP/1.1\rHost: x\r\r",
    "bare CR in value": post(b"A: b\rContent-Length: 5"),
    "CR CR LF": b"GET / HTTP/1.1\r\nHost: x\r\r\n\r\n",
    "three empty lines": b"\r\n\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "empty line LF": b"\nGET / HTTP/1.1\r\nHost: x\r\n\r\n",
}

LINES = {
    "two blanks": (b"GET  / HTTP/1.1", 400),
    "two blanks later": (b"GET /  HTTP/1.1", 400),
    "tabs": (b"GET\t/\tHTTP/1.1", 400),
    "blank at the end": (b"GET / HTTP/1.1 ", 400),
    "blank first": (b" GET / HTTP/1.1", 400),
    "absolute": (b"GET http://x/health HTTP/1.1", 400),
    "authority": (b"CONNECT x:80 HTTP/1.1", 400),
    "asterisk": (b"OPTIONS * HTTP/1.1", 400),
    "no slash": (b"GET health HTTP/1.1", 400),
    "fragment": (b"GET /health#a HTTP/1.1", 400),
    "8 bit": (b"GET /\xc3\xa4 HTTP/1.1", 400),
    "HTTP/0.9": (b"GET /health", 400),
    "HTTP/0.9 named": (b"GET /health HTTP/0.9", 505),
    "HTTP/2.0": (b"GET /health HTTP/2.0", 505),
    "HTTP/3.0": (b"GET /health HTTP/3.0", 505),
    "HTTP/1.1x": (b"GET /health HTTP/1.1x", 400),
    "HTTP/1.10": (b"GET /health HTTP/1.10", 400),
    "HTTP/01.1": (b"GET /health HTTP/01.1", 400),
    "HTTP/1": (b"GET /health HTTP/1", 400),
    "http/1.1": (b"GET /health http/1.1", 400),
    "ICY": (b"GET /health ICY/1.1", 400),
    "long method": (b"G" * 17 + b" /health HTTP/1.1", 400),
    "bad method": (b"G{T /health HTTP/1.1", 400),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01", 400),
    "SSH": (b"SSH-2.0-OpenSSH_9.2", 400),
    "h2 preface": (b"PRI * HTTP/2.0\r\n\r\nSM", 400),
}


@pytest.mark.parametrize("name", AMBIGUOUS)
def test_ambiguous(server, name):
    reply = refused(server, AMBIGUOUS[name] + NEXT, 400)
    assert reply.body.startswith(b"Bad request: ")
    assert reply.body.endswith(b"\n")


@pytest.mark.parametrize("name", LINES)
def test_request_line(server, name):
    line, status = LINES[name]
    refused(server, line + b"\r\nHost: x\r\n\r\n" + NEXT, status)


@pytest.mark.parametrize("where", [
    b"GET /a%cb HTTP/1.1\r\nHost: x\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nA%cb: c\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nA: b%cc\r\n",
], ids=["target", "name", "value"])
def test_controls(echod, where):
    for c in [*range(0x20), 0x7f]:
        if c == 9 and b"A: " in where:
            continue            # a tab in a value is allowed
        refused(echod, where % bytes([c]) + b"\r\n" + NEXT, 400)


def test_controls_daemon(daemon):
    for c in b"\0\x01\x1b\x7f":
        c = bytes([c])
        refused(daemon, b"GET /health" + c + b" HTTP/1.1\r\n\r\n" + NEXT, 400)
    assert daemon.proc.poll() is None


def test_accepted_oddities(daemon):
    """Unusual, but with one meaning only."""
    for head in (b"GET /health HTTP/1.2\r\nHost: x\r\n\r\n",
                 b"GET /health?a=b?c&d=%00 HTTP/1.1\r\nHost:\r\n\r\n",
                 b"GET /health HTTP/1.1\r\nhOST:x\r\nA:\r\nB: \t\r\n\r\n",
                 b"GET /health HTTP/1.1\r\nHost: x\r\nA: \t\xe4\xff\r\n\r\n",
                 b"GET /health HTTP/1.1\r\nHost: x\r\n"
                 b"Content-Length: 0\r\n\r\n",
                 b"\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n",
                 b"\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n"):
        assert one(daemon, head).status == 200


def test_upgrade(daemon):
    """h2c is not spoken: the request is answered as it stands."""
    reply = one(daemon, b"GET /health HTTP/1.1\r\nHost: x\r\n"
                b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                b"HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n")
    assert reply.status == 200
    assert "upgrade" not in reply.headers
    refused(daemon, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 400)


def sized_head(size):
    """A good head of so many bytes."""
    head = b"GET /health HTTP/1.1\r\nHost: x\r\nA: \r\n\r\n"
    return head.replace(b"A: ", b"A: " + b"x" * (size - len(head)))


def counted_head(n):
    return (b"GET /health HTTP/1.1\r\nHost: x\r\n" +
            b"".join(b"A: %d\r\n" % i for i in range(n - 1)) + b"\r\n")


def test_header_size(daemon):
    assert one(daemon, sized_head(16384)).status == 200
    refused(daemon, sized_head(16385) + NEXT, 431)
    refused(daemon, sized_head(1 << 20) + NEXT, 431)
    refused(daemon, b"GET /" + b"x" * (1 << 20), 431)
    refused(daemon, b"X" * (1 << 20), 431)


def test_header_count(daemon):
    assert one(daemon, counted_head(100)).status == 200
    reply = refused(daemon, counted_head(101) + NEXT, 431)
    assert reply.body == b"Request header too large: too many header fields\n"
    refused(daemon, counted_head(10000) + NEXT, 431)


def test_header_limits_configured(daemon_factory):
    daemon = daemon_factory(http("header size 1M", "header count 256"))
    daemon.start()
    reply = one(daemon, sized_head(1 << 20))
    assert reply.status == 200
    refused(daemon, sized_head((1 << 20) + 1), 431)
    assert one(daemon, counted_head(256)).status == 200
    refused(daemon, counted_head(257), 431)
    refused(daemon, counted_head(10000), 431)
    # A reload changes them for connections that are open.
    with daemon.connect() as s, s.makefile("rb") as f:
        s.sendall(counted_head(200))
        assert sbx.read_reply(f).status == 200
        daemon.write_config(http("header size 1K", "header count 8"))
        daemon.ctl("reload")
        s.sendall(counted_head(8))
        assert sbx.read_reply(f).status == 200
        s.sendall(counted_head(9))
        assert sbx.read_reply(f).status == 431
        assert closed(s)


def test_every_split(echod):
    """Where a request is cut into two writes makes no difference."""
    data = (b"\r\nPOST /open?q HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
            b"\r\nabc" b"POST /open HTTP/1.1\r\nHost: x\r\n" +
            CHUNKED.encode() + b"\r\n\r\n2;e\r\nde\r\n1\r\nf\r\n0\r\nT: u\r\n"
            b"\r\nGET /no HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    for i in range(len(data) + 1):
        with echod.connect() as s:
            s.sendall(data[:i])
            time.sleep(0.001)
            with contextlib.suppress(OSError):
                s.sendall(data[i:])
            assert [(r.status, r.body) for r in read_all(s)] == \
                [(200, b"abc"), (200, b"def"), (404, b"Not found\n")], i


def test_every_split_refused(daemon):
    data = b"GET /health HTTP/1.1\r\nHost: x\r\nContent-Length: 1 1\r\n\r\n"
    for i in range(len(data) + 1):
        with daemon.connect() as s:
            s.sendall(data[:i])
            time.sleep(0.001)
            s.sendall(data[i:])
            assert [r.status for r in read_all(s)] == [400], i


# -- bodies --------------------------------------------------------------

def chunked(body, path="/open"):
    return (f"POST {path} HTTP/1.1\r\nHost: x\r\n{CHUNKED}\r\n\r\n".encode() +
            body)


CHUNKS_OK = {
    "none": (b"0\r\n\r\n", b""),
    "many zeros": (b"000000000000000\r\n\r\n", b""),
    "two": (b"2\r\nab\r\n0003\r\ncde\r\n0\r\n\r\n", b"abcde"),
    "hex": (b"A\r\n0123456789\r\nb\r\n0123456789a\r\n0\r\n\r\n",
            b"01234567890123456789a"),
    "extension": (b"2;a;b=c;d=\"e\"\r\nab\r\n0;x\r\n\r\n", b"ab"),
    "line ends": (b"4\r\n\r\n\r\n\r\n0\r\n\r\n", b"\r\n\r\n"),
    "trailer": (b"1\r\na\r\n0\r\nA: b\r\nC: d\r\n\r\n", b"a"),
    "forbidden trailer": (b"1\r\na\r\n0\r\nContent-Length: 500\r\n"
                          b"Transfer-Encoding: x\r\nHost: y\r\n\r\n", b"a"),
    "long trailer": (b"0\r\nA: " + b"x" * 4000 + b"\r\n\r\n", b""),
}

CHUNKS_BAD = {
    "empty size": b"\r\n\r\n",
    "blank size": b" \r\n\r\n",
    "blank before": b" 1\r\na\r\n0\r\n\r\n",
    "blank behind": b"1 \r\na\r\n0\r\n\r\n",
    "negative": b"-1\r\na\r\n0\r\n\r\n",
    "plus": b"+1\r\na\r\n0\r\n\r\n",
    "0x": b"0x1\r\na\r\n0\r\n\r\n",
    "no hex": b"g\r\n",
    "underscore": b"1_0\r\n",
    "bare LF": b"1\na\r\n0\r\n\r\n",
    "bare LF behind data": b"1\r\na\n0\r\n\r\n",
    "bare CR": b"1\ra\r\n0\r\n\r\n",
    "no CRLF": b"1\r\na0\r\n\r\n",
    "no CR": b"1\r\naX\n0\r\n\r\n",
    "no LF": b"1\r\na\rX0\r\n\r\n",
    "too long": b"1\r\nab\r\n0\r\n\r\n",
    "too short": b"3\r\na\r\n0\r\n\r\n",
    "extension 1M": b"1;" + b"x" * (1 << 20) + b"\r\na\r\n0\r\n\r\n",
    "extension control": b"1;\0\r\na\r\n0\r\n\r\n",
    "extension LF": b"1;a\nb\r\na\r\n0\r\n\r\n",
    "overflow 64": b"10000000000000001\r\na\r\n0\r\n\r\n",
    "overflow": b"ffffffffffffffff1\r\na\r\n0\r\n\r\n",
    "2^63": b"8000000000000000\r\na\r\n",
    "16 digits": b"0000000000000001\r\na\r\n0\r\n\r\n",
    "many zeros": b"0" * 1000 + b"1\r\na\r\n0\r\n\r\n",
    "trailer 5K": b"0\r\nA: " + b"x" * 5000 + b"\r\n\r\n",
    "trailer 1M": b"0\r\n" + b"A: b\r\n" * 170000 + b"\r\n",
    "trailer LF": b"0\r\nA: b\n\r\n",
    "trailer control": b"0\r\nA: \x08\r\n\r\n",
    "end LF": b"0\r\n\n",
}


@pytest.mark.parametrize("name", CHUNKS_OK)
def test_chunks(echod, name):
    data, body = CHUNKS_OK[name]
    reply = one(echod, chunked(data))
    assert (reply.status, reply.body) == (200, body)


@pytest.mark.parametrize("name", CHUNKS_BAD)
def test_bad_chunks(echod, name):
    refused(echod, chunked(CHUNKS_BAD[name]) + NEXT, 400, 413)


def test_bad_chunks_object(echod):
    """The route's kind of error, not only the text kind."""
    reply = refused(echod, chunked(b"x\r\n", "/object") + NEXT, 400)
    assert reply.headers["content-type"] == "application/json"
    assert b'"error_code":"Executor.ValidationError"' in reply.body


def test_bodies(echod):
    """Sizes around every buffer, all bytes, both framings."""
    for size in (0, 1, 16383, 16384, 16385, 65535, 65536, 65537, 3000000):
        body = bytes(i * 7 & 0xff for i in range(256)) * (size // 256 + 1)
        body = body[:size]
        reply = requests.post(echod.url("/open"), data=body, timeout=SOON)
        assert reply.status_code == 200 and reply.content == body
        pieces = [body[i:i + 9999] for i in range(0, size, 9999)]
        reply = requests.post(echod.url("/open"), data=iter(pieces),
                              timeout=SOON)
        assert reply.status_code == 200 and reply.content == body


def test_tiny_chunks(echod):
    body = os.urandom(20000)
    data = b"".join(b"1\r\n%c\r\n" % c for c in body) + b"0\r\n\r\n"
    assert one(echod, chunked(data)).body == body


@pytest.mark.parametrize("length", [10**9, 10**18 - 1])
def test_too_large(server, length):
    data = (f"POST /open HTTP/1.1\r\nHost: x\r\n"
            f"Content-Length: {length}\r\n\r\n").encode()
    refused(server, data + NEXT, 413 if isinstance(server, sbx.Echod) else 404)


def test_body_limit():
    with sbx.Echod("run.body size=1K", "execute.body size=1K") as echod:
        ok, big = b"x" * 1024, b"x" * 1025
        assert one(echod, post("Content-Length: 1024", body=ok)).body == ok
        assert one(echod, chunked(b"400\r\n" + ok + b"\r\n0\r\n\r\n")).body \
            == ok
        reply = refused(echod, post("Content-Length: 1025", body=big) + NEXT,
                        413)
        assert reply.body == b"Request body too large\n"
        refused(echod, chunked(b"401\r\n" + big + b"\r\n0\r\n\r\n") + NEXT,
                413)
        refused(echod, chunked(b"400\r\n" + ok + b"\r\n1\r\nx\r\n0\r\n\r\n") +
                NEXT, 413)
        # Refused by its size line, before the data.
        with echod.connect() as s:
            s.sendall(chunked(b"401"))
            assert [r.status for r in read_all(s)] == [413]


def refused_under_way(server, head, body, status):
    """The client sends on and on: it gets the reply and no reset."""
    (reply,) = talk(server, head + body)
    assert reply.status == status
    assert reply.headers["connection"] == "close"


def test_refused_under_way(daemon):
    size = 50 << 20
    body = bytes(size)
    with sbx.Echod("run.body size=1M") as echod:
        refused_under_way(echod, f"POST /open HTTP/1.1\r\nHost: x\r\n"
                          f"Content-Length: {size}\r\n\r\n".encode(), body,
                          413)
        refused_under_way(echod, chunked(b"%x\r\n" % size), body, 413)
        pieces = (b"8000\r\n" + bytes(0x8000) + b"\r\n") * (size >> 15)
        refused_under_way(echod, chunked(pieces), b"", 413)
        assert sbx.wait_for(lambda: echod.rss() < (200 << 20)) or sbx.SAN
    for path, status in (("/no", 404), ("/metrics", 401), ("/health", 405)):
        refused_under_way(daemon, f"POST {path} HTTP/1.1\r\nHost: x\r\n"
                          f"Content-Length: {size}\r\n\r\n".encode(), body,
                          status)
    refused_under_way(daemon, b"POST /health HTTP/1.1\r\nHost : x\r\n\r\n",
                      body, 400)


def test_bytes_that_come_alone():
    """A byte of a body costs about a byte, however it comes."""
    with sbx.Echod() as echod, echod.connect() as s:
        s.sendall(b"POST /open HTTP/1.1\r\nHost: x\r\n"
                  b"Content-Length: 1000000\r\n\r\n")
        before = echod.rss()
        end = time.monotonic() + 3
        n = 0
        while time.monotonic() < end and n < 60000:
            s.send(b"x")
            n += 1
        if not sbx.SAN:
            assert echod.rss() - before < (4 << 20)


# -- Expect --------------------------------------------------------------

EXPECT = "Expect: 100-continue"


def test_continue(echod):
    for lines, body in ((["Content-Length: 5"], b"hello"),
                        ([CHUNKED], b"5\r\nhello\r\n0\r\n\r\n")):
        with echod.connect() as s, s.makefile("rb") as f:
            s.sendall(post("expect: 100-CONTINUE", *lines, body=b""))
            assert sbx.read_reply(f).status == 100
            s.sendall(body)
            reply = check(sbx.read_reply(f))
            assert (reply.status, reply.body) == (200, b"hello")


def test_continue_not_needed(echod):
    """No interim reply when the body, or a part of it, is there."""
    for body in (b"hello", b"he"):
        with echod.connect() as s, s.makefile("rb") as f:
            s.sendall(post(EXPECT, "Content-Length: 5", body=body))
            time.sleep(0.05)
            s.sendall(b"hello"[len(body):])
            assert sbx.read_reply(f).status == 200
    assert one(echod, post(EXPECT, "Content-Length: 0", body=b"")).status == \
        200
    (reply,) = talk(echod, post(EXPECT, "Content-Length: 2", body=b"ab",
                                version="1.0"))
    assert reply.status == 200


def test_continue_http10(echod):
    """A 1.0 client does not know interim replies."""
    with echod.connect() as s, s.makefile("rb") as f:
        s.sendall(post(EXPECT, "Content-Length: 2", body=b"", version="1.0"))
        time.sleep(0.1)
        s.sendall(b"ab")
        assert sbx.read_reply(f).status == 200


@pytest.mark.parametrize("path,length,status", [
    ("/no", 5, 404), ("/echo", 5, 401), ("/later", 5, 405),
    ("/open", 1 << 30, 413), ("/open", 2**63, 400)])
def test_continue_refused(echod, path, length, status):
    """The final reply comes before the body is sent."""
    refused(echod, f"POST {path} HTTP/1.1\r\nHost: x\r\n{EXPECT}\r\n"
            f"Content-Length: {length}\r\n\r\n".encode(), status)


def test_unknown_expectation(echod):
    for value in ("x", "", "100-continue, x", "200-ok"):
        reply = refused(echod, post(f"Expect: {value}", "Content-Length: 5",
                                    body=b"hello"), 417)
        assert reply.body == b"Expectation failed\n"
    refused(echod, post(EXPECT, EXPECT, "Content-Length: 5", body=b""), 417)
    assert one(echod, post("Expect: x", body=b"")).status == 417


# -- connections ---------------------------------------------------------

def test_http10(daemon):
    (reply,) = talk(daemon, b"GET /health HTTP/1.0\r\n\r\n" + NEXT)
    assert reply.status == 200 and reply.headers["connection"] == "close"
    data = b"GET /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
    replies = talk(daemon, data * 2 + b"GET /no HTTP/1.0\r\n\r\n" + NEXT)
    assert [r.status for r in replies] == [200, 200, 404]
    assert [r.headers["connection"] for r in replies] == \
        ["keep-alive", "keep-alive", "close"]


CLOSE = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize("more", [1, 30000])
def test_request_after_close(daemon, more):
    """Not answered, and its bytes do not cost the reply that was due."""
    for _ in range(5):
        (reply,) = talk(daemon, CLOSE + NEXT * more)
        assert reply.status == 200
        assert reply.headers["connection"] == "close"


def test_request_long_after_close(daemon):
    """A late sender does not lose the reply either."""
    with daemon.connect() as s:
        s.sendall(CLOSE)
        time.sleep(0.05)
        s.sendall(NEXT * 10)
        time.sleep(0.05)
        assert [r.status for r in read_all(s)] == [200]


def numbered(n, path="/health"):
    return b"".join(f"GET {path} HTTP/1.1\r\nHost: x\r\nX-Request-ID: {i}\r\n"
                    f"\r\n".encode() for i in range(n))


def in_order(replies, n):
    assert [r.headers["x-request-id"] for r in replies] == \
        [str(i) for i in range(n)]


def test_pipeline(daemon):
    replies = talk(daemon, numbered(1000) + CLOSE + NEXT)
    assert {r.status for r in replies} == {200}
    in_order(replies[:-1], 1000)
    assert len(replies) == 1001


def test_pipeline_half_close(daemon):
    replies = talk(daemon, numbered(1000), shut=True)
    assert {r.status for r in replies} == {200}
    in_order(replies, 1000)


def test_pipeline_head(daemon):
    """A reply to HEAD has no body that the next could hide in."""
    data = b"".join(b"%s /health HTTP/1.1\r\nHost: x\r\n\r\n" % m
                    for m in [b"GET", b"HEAD"] * 50)
    replies = talk(daemon, data, methods=["GET", "HEAD"] * 50, shut=True)
    assert [r.status for r in replies] == [200] * 100


def test_pipeline_mixed(echod):
    data, expected = b"", []
    for i in range(1000):
        body = b"%d," % i * (i % 50)
        kind = i % 4
        if kind == 0:
            data += post(f"Content-Length: {len(body)}",
                         f"X-Request-ID: {i}", body=body)
        elif kind == 1:
            piece = b"%x\r\n%s\r\n" % (len(body), body) if body else b""
            data += post(CHUNKED, f"X-Request-ID: {i}",
                         body=piece + b"0\r\n\r\n")
        elif kind == 2:
            data += numbered(1, "/no").replace(b"ID: 0", b"ID: %d" % i)
            body = b"Not found\n"
        else:
            data += (b"\r\nGET /open HTTP/1.1\r\nHost: x\r\n"
                     b"X-Request-ID: %d\r\n\r\n" % i)
            body = b"Method not allowed\n"
        expected.append(([200, 200, 404, 405][kind], body))
    replies = talk(echod, data, shut=True)
    in_order(replies, 1000)
    assert [(r.status, r.body) for r in replies] == expected


def test_pipeline_later(echod):
    """Requests wait for an answer that comes later, and for their turn."""
    replies = talk(echod, numbered(3, "/later") + numbered(1, "/no"),
                   shut=True)
    assert [r.status for r in replies] == [200, 200, 200, 404]
    assert [r.headers["x-request-id"] for r in replies] == \
        ["0", "1", "2", "0"]


def test_pipeline_unread(daemon):
    """A client that only sends is stopped; nothing is lost."""
    data = numbered(200000)
    before = daemon.rss()
    with daemon.connect() as s:
        s.settimeout(0.5)
        view, sent = memoryview(data), 0
        with contextlib.suppress(TimeoutError):
            while sent < len(data):
                sent += s.send(view[sent:sent + 65536])
        assert sent < len(data)
        assert daemon.rss() - before < (4 << 20) or sbx.SAN
        # Others are served meanwhile.
        assert requests.get(daemon.url("/health"),
                            timeout=SOON).status_code == 200
        whole = data[:sent].rindex(b"\r\n\r\n") + 4
        rest = data[sent:data.index(b"\r\n\r\n", sent) + 4]
        s.settimeout(SOON)
        errors = []
        thread = threading.Thread(target=sender, args=(s, rest, errors))
        thread.start()
        expected = data[:whole].count(b"GET") + 1
        with s.makefile("rb") as f:
            for i in range(expected):
                reply = sbx.read_reply(f)
                assert reply.status == 200
                assert reply.headers["x-request-id"] == str(i)
        thread.join()
        assert not errors


def test_pipeline_is_fair(daemon):
    """Busy pipelines do not keep others waiting."""
    stop = threading.Event()
    data = b"GET / HTTP/1.1\r\nHost:\r\n\r\n" * 2000
    socks = [daemon.connect() for _ in range(50)]

    def flood():
        for s in socks:
            s.setblocking(False)
        while not stop.is_set():
            for s in socks:
                with contextlib.suppress(BlockingIOError):
                    s.send(data)
                with contextlib.suppress(BlockingIOError):
                    s.recv(1 << 20)

    thread = threading.Thread(target=flood)
    thread.start()
    try:
        for _ in range(10):
            assert requests.get(daemon.url("/health"),
                                timeout=SOON).status_code == 200
    finally:
        stop.set()
        thread.join()
        for s in socks:
            s.close()


# -- tokens --------------------------------------------------------------

def test_token_tricks(daemon):
    head = b"GET /metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer "
    token = TOKEN.encode()
    refused(daemon, head + b"x" * (1 << 20) + b"\r\n\r\n", 431)
    refused(daemon, head + token + b"\0\r\n\r\n", 400)
    refused(daemon, head + b"\0" + token + b"\r\n\r\n", 400)
    refused(daemon, head + b"\r\n " + token + b"\r\n\r\n", 400)
    bodies = set()
    for value in (token[:-1], token[1:], token + b"x", token + b"\xe4", b"",
                  token + b" " + token, b"\x80", token.swapcase(),
                  token + b" ", token + b" \t"):
        reply = one(daemon, head + value + b"\r\n\r\n")
        assert reply.status == 401
        assert reply.headers["www-authenticate"] == "Bearer"
        bodies.add(reply.body)
    assert bodies == {b"Unauthorized\n"}


def test_token_failures_in_log(daemon_factory):
    """Many failures are a few lines, and none of them has the token."""
    daemon = daemon_factory().start()
    start = time.monotonic()
    for value in (TOKEN[:-1], TOKEN + "x"):
        data = (f"GET /metrics HTTP/1.1\r\nHost: x\r\n"
                f"Authorization: Bearer {value}\r\n\r\n").encode() * 2000
        replies = talk(daemon, data, shut=True)
        assert [r.status for r in replies] == [401] * 2000
    spent = time.monotonic() - start
    text = daemon.log_text()
    assert 1 <= daemon.logged("without a valid token", count=True) <= \
        spent + 2
    assert TOKEN[:-1] not in text
    for pid in daemon.pids.values():
        for name in ("environ", "cmdline"):
            with open(f"/proc/{pid}/{name}", "rb") as f:
                assert TOKEN.encode() not in f.read()


# -- deadlines -----------------------------------------------------------

@pytest.fixture(scope="module")
def hurried():
    """A server that waits for nothing."""
    with sbx.Echod("http.header timeout=1s", "http.body timeout=1s",
                   "http.idle timeout=1s", "http.write timeout=1s") as server:
        yield server
        assert server.proc.poll() is None


def drip(s, data, pause=0.05, limit=SOON):
    """A byte at a time until the server answers or closes."""
    s.setblocking(False)
    end = time.monotonic() + limit
    for byte in data:
        assert time.monotonic() < end, "the server waits for ever"
        try:
            s.send(bytes([byte]))
        except ConnectionError:
            break
        time.sleep(pause)
        with contextlib.suppress(BlockingIOError):
            s.recv(1, socket.MSG_PEEK)
            break
    s.setblocking(True)
    s.settimeout(SOON)


def test_slow_head(hurried):
    with hurried.connect() as s:
        drip(s, b"GET /" + b"x" * 10000)
        replies = read_all(s)
    assert [r.status for r in replies] == [408]
    assert replies[0].headers["connection"] == "close"


def test_slow_head_daemon(daemon_factory):
    daemon = daemon_factory(http("header timeout 1s")).start()
    with daemon.connect() as silent, daemon.connect() as slow:
        drip(slow, b"GET /" + b"x" * 10000)
        assert [r.status for r in read_all(slow)] == [408]
        silent.settimeout(SOON)
        assert silent.recv(1) == b""


def test_slow_second_head(hurried):
    """The time of a head begins with its first byte, each time anew."""
    with hurried.connect() as s, s.makefile("rb") as f:
        for _ in range(3):
            time.sleep(0.4)
            s.sendall(numbered(1, "/no"))
            assert sbx.read_reply(f).status == 404
        drip(s, b"GET /" + b"x" * 10000)
        assert sbx.read_reply(f).status == 408
        assert closed(s)


def test_slow_body(hurried):
    for head in (post("Content-Length: 10000", body=b""), chunked(b"2710\r\n"),
                 chunked(b"1;")):
        with hurried.connect() as s:
            s.sendall(head)
            drip(s, b"x" * 10000)
            assert [r.status for r in read_all(s)] == [408]


def test_slow_chunks(hurried):
    """Framing is not data: it does not buy time."""
    with hurried.connect() as s:
        s.sendall(chunked(b""))
        drip(s, b"1\r\na\r\n" * 2000, pause=0.01)
        assert [r.status for r in read_all(s)] == [408]


def test_silent_body(hurried):
    with hurried.connect() as s:
        s.settimeout(SOON)
        s.sendall(post("Content-Length: 5", body=b"hell"))
        assert [r.status for r in read_all(s)] == [408]


def test_steady_body():
    """Slow, but with enough in each window: it may take its time."""
    with sbx.Echod("http.body timeout=2s") as echod, echod.connect() as s:
        s.settimeout(SOON)
        s.sendall(post("Content-Length: 200000", "Connection: close",
                       body=b""))
        for _ in range(10):
            s.sendall(b"x" * 20000)
            time.sleep(0.3)
        (reply,) = read_all(s)
        assert reply.status == 200 and len(reply.body) == 200000


def test_silent_connections(hurried):
    """No reply to nothing: closed, and in the order in which they came."""
    before = fds(hurried)
    first, second = hurried.connect(), hurried.connect()
    with first, second:
        for s in (first, second):
            s.settimeout(SOON)
            assert s.recv(1) == b""
    assert sbx.wait_for(lambda: fds(hurried) == before)


def test_idle(hurried):
    with hurried.connect() as s, s.makefile("rb") as f:
        s.sendall(numbered(1, "/no"))
        assert sbx.read_reply(f).status == 404
        assert f.read() == b""


def test_reader_that_does_not_read(hurried):
    before = fds(hurried)
    with hurried.connect() as s:
        s.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n" * 3)
        assert sbx.wait_for(lambda: fds(hurried) == before + 1)
        assert sbx.wait_for(lambda: fds(hurried) == before, SOON)


def test_reader_that_trickles(hurried):
    """A few bytes now and then do not hold a reply for ever."""
    before = fds(hurried)
    with socket.socket() as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        s.connect(("127.0.0.1", hurried.port))
        s.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        assert sbx.wait_for(lambda: fds(hurried) == before + 1)
        end = time.monotonic() + SOON
        while fds(hurried) != before and time.monotonic() < end:
            s.recv(64)
            time.sleep(0.02)
        assert fds(hurried) == before


def test_steady_reader():
    """A slow one that goes on reading gets all of it."""
    with sbx.Echod("http.write timeout=2s") as echod, echod.connect() as s:
        s.settimeout(SOON)
        s.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                  b"\r\n")
        total = 0
        while data := s.recv(400000):
            total += len(data)
            time.sleep(0.05)
        assert total > 16 << 20


def test_linger_ends(hurried):
    """A refused client that goes on sending is not listened to for ever."""
    before = fds(hurried)
    with hurried.connect() as s:
        s.sendall(b"X\n")
        assert sbx.read_reply(s.makefile("rb")).status == 400
        end = time.monotonic() + SOON
        with contextlib.suppress(ConnectionError):
            while time.monotonic() < end:
                s.send(b"x")
                time.sleep(0.05)
        assert sbx.wait_for(lambda: fds(hurried) == before, SOON)


def test_half_close(server):
    (reply,) = talk(server, b"GET /no HTTP/1.1\r\nHost: x\r\n\r\n", shut=True)
    assert reply.status == 404
    for data in (b"", b"\r\n", b"GET", b"GET /no HTTP/1.1\r\nHost: x\r\n\r"):
        assert talk(server, data, shut=True) == []


def test_half_close_body(echod):
    """A body that was cut is not a body."""
    for data in (post("Content-Length: 5", body=b"hell"), chunked(b""),
                 chunked(b"5\r\nhello"), chunked(b"5\r\nhello\r\n0\r\n")):
        assert talk(echod, data, shut=True) == []
    (reply,) = talk(echod, b"GET /later HTTP/1.1\r\nHost: x\r\n\r\n",
                    shut=True)
    assert reply.body == b"later\n"


@pytest.mark.parametrize("leave", [socket.socket.close, reset])
def test_leave_before_the_answer(echod, leave):
    """The handler answers a client that is gone; nothing comes of it."""
    before = fds(echod)
    get = b"GET /later HTTP/1.1\r\nHost: x\r\n\r\n"
    large = b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n"
    for data in (get, get * 3, get + b"x" * 100000, get + b"GET /half",
                 large + get, get + large + get):
        for pause in (0, 0.05):
            s = echod.connect()
            s.sendall(data)
            time.sleep(pause)
            leave(s)
    assert sbx.wait_for(lambda: fds(echod) == before)
    # Also if its answer is due when it has long been gone.
    time.sleep(0.3)
    assert one(echod, numbered(1, "/later")).body == b"later\n"


def test_leave_anywhere(echod):
    """Gone after any number of bytes, politely or not."""
    before = fds(echod)
    data = (post(EXPECT, "Content-Length: 3", body=b"abc") +
            chunked(b"3\r\nabc\r\n0\r\n\r\n") + b"X\n\n" + NEXT)
    for leave in (socket.socket.close, reset):
        for i in range(0, len(data), 3):
            s = echod.connect()
            s.sendall(data[:i])
            leave(s)
    assert sbx.wait_for(lambda: fds(echod) == before)


# -- reload --------------------------------------------------------------

def test_reload_shortens_waits(daemon_factory):
    """An old connection with a long wait does not shield newer ones."""
    daemon = daemon_factory(http("idle timeout 1h", "header timeout 1h"))
    daemon.start()
    socks = []
    for data in (b"", b"GET /", numbered(1)):
        s = daemon.connect()
        s.sendall(data)
        if data.endswith(b"\r\n\r\n"):
            assert sbx.read_reply(s.makefile("rb")).status == 200
        socks.append(s)
    daemon.write_config(http("idle timeout 1s", "header timeout 1s"))
    daemon.ctl("reload")
    socks.append(daemon.connect())
    for s in socks:
        assert closed(s)
        s.close()


def test_reload_wants_token(daemon_factory):
    """An open connection does not keep a freedom that is taken away."""
    port = sbx.free_port()
    daemon = daemon_factory(
        listen=f"listen on 127.0.0.1 port {port} auth none\n")
    daemon.port = port
    daemon.start()
    data = numbered(1, "/metrics")
    with daemon.connect() as s, s.makefile("rb") as f:
        s.sendall(data)
        assert sbx.read_reply(f).status == 200
        daemon.base = daemon.base.replace(" auth none", "")
        daemon.write_config()
        daemon.ctl("reload")
        s.sendall(data)
        assert sbx.read_reply(f).status == 401
        s.sendall(data.replace(b"\r\n\r\n", b"\r\nAuthorization: Bearer " +
                               TOKEN.encode() + b"\r\n\r\n"))
        assert sbx.read_reply(f).status == 200
