"""GET /health, the routes, the order of checks, tokens, request ids."""

import json
import re

import pytest
import requests

import sbx


def test_health(daemon):
    reply = requests.get(daemon.url("/health"), timeout=10)
    assert reply.status_code == 200
    assert reply.headers["Content-Type"] == "application/json"
    assert reply.text.endswith("}\n") and reply.text.count("\n") == 1
    body = reply.json()
    assert list(body) == ["status", "version", "uptime_seconds",
                          "active_executions"]
    assert body["status"] == "ok"
    assert body["uptime_seconds"] >= 0
    assert body["active_executions"] == 0
    assert " " not in reply.text


def test_health_alias(daemon):
    reply = requests.get(daemon.url("/koyeb-sandbox/health"), timeout=10)
    assert reply.status_code == 200
    for path in ("/koyeb-sandbox", "/koyeb-sandbox/", "/koyeb-sandboxhealth",
                 "/koyeb-sandbox/koyeb-sandbox/health"):
        assert requests.get(daemon.url(path), timeout=10).status_code == 404


def test_health_head(daemon):
    get = requests.get(daemon.url("/health"), timeout=10)
    head = requests.head(daemon.url("/health"), timeout=10)
    assert head.status_code == 200 and head.text == ""
    assert abs(int(head.headers["Content-Length"]) - len(get.content)) < 3


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH",
                                    "OPTIONS", "TRACE", "FROB"])
@pytest.mark.parametrize("body", [None, b"{}", b"x" * 100000])
def test_wrong_method(daemon, method, body):
    reply = requests.request(method, daemon.url("/health"), data=body,
                             timeout=10)
    assert reply.status_code == 405
    assert reply.text == "Method not allowed\n"
    assert reply.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert reply.headers["Allow"] == "GET, HEAD"


def test_unknown_path(daemon):
    for path in ("/", "/nothing", "/health/", "/healthz", "//health",
                 "/Health", "/health%00"):
        reply = requests.Session().get(daemon.url(path), timeout=10)
        assert reply.status_code == 404, path
        assert reply.text == "Not found\n"


@pytest.mark.parametrize("path", ["/execute", "/executions/exec_1", "/call",
                                  "/call/1/sync"])
def test_unknown_path_object(daemon, path):
    """Below these a client expects the error object."""
    reply = requests.get(daemon.url(path), timeout=10,
                         headers={"X-Request-ID": "my.id-1"})
    assert reply.status_code == 404
    assert reply.headers["Content-Type"] == "application/json"
    body = reply.json()
    assert list(body) == ["error_code", "description", "error_detail",
                          "solution", "request_id"]
    assert body["error_code"] == "Executor.NotFound"
    assert body["request_id"] == "my.id-1"
    assert reply.headers["X-Request-ID"] == "my.id-1"


def test_body_where_none_is_taken(daemon):
    reply = requests.get(daemon.url("/health"), data=b"x", timeout=10)
    assert reply.status_code == 413
    assert reply.text == "Request body too large\n"
    reply = requests.get(daemon.url("/health"), data=iter([b"x"]), timeout=10)
    assert reply.status_code == 413


# Order of checks: path, token, method, size.
def test_order_of_checks(daemon):
    big = b"x" * 100000
    post = requests.post
    assert post(daemon.url("/no"), data=big, timeout=10).status_code == 404
    assert post(daemon.url("/metrics"), data=big,
                timeout=10).status_code == 401
    reply = post(daemon.url("/metrics"), data=big, timeout=10,
                 headers=daemon.auth())
    assert reply.status_code == 405
    reply = requests.get(daemon.url("/metrics"), data=big, timeout=10,
                         headers=daemon.auth())
    assert reply.status_code == 413


TOKEN = "test-token-0123456789"


@pytest.mark.parametrize("value", [
    None, "", "Bearer", "Bearer ", "Bearer  " + TOKEN, "bearer " + TOKEN,
    "BEARER " + TOKEN, "Basic " + TOKEN, TOKEN, "Bearer " + TOKEN[:-1],
    "Bearer " + TOKEN + "x", "Bearer " + TOKEN.upper(),
    "Bearer\t" + TOKEN, "Bearer " + "x" * 8000, "Bearer " + TOKEN + ", x",
])
def test_bad_token(daemon, value):
    headers = {} if value is None else {"Authorization": value}
    reply = requests.get(daemon.url("/metrics"), headers=headers, timeout=10)
    assert reply.status_code == 401
    assert reply.text == "Unauthorized\n"
    assert reply.headers["Content-Type"] == "text/plain; charset=utf-8"


def test_token_elsewhere(daemon):
    line = f"Authorization: Bearer {TOKEN}\r\n"
    for head in (f"GET /metrics?token={TOKEN} HTTP/1.1\r\nHost: x\r\n",
                 f"GET /metrics HTTP/1.1\r\nHost: x\r\n{line}{line}",
                 f"GET /metrics HTTP/1.1\r\nHost: x\r\n"
                 f"Authorization: Bearer {TOKEN} \r\n",
                 f"GET /metrics HTTP/1.1\r\nHost: x\r\n"
                 f"Authorization: Bearer {TOKEN}\t\r\n",
                 f"GET /metrics HTTP/1.1\r\nHost: x\r\n{line}"
                 "Authorization: Bearer no\r\n"):
        replies = sbx.raw(daemon, (head + "Connection: close\r\n\r\n")
                          .encode())
        assert [r.status for r in replies] == [401]
    assert TOKEN not in daemon.log_text()


def test_good_token(daemon):
    reply = requests.get(daemon.url("/metrics"), headers=daemon.auth(),
                         timeout=10)
    assert reply.status_code == 200
    names = re.findall(r"^(sbxd_\w+)", reply.text, re.M)
    assert "sbxd_http_requests_total" in names
    for line in reply.text.splitlines():
        assert re.fullmatch(r"# (HELP|TYPE) \S+ .*|"
                            r"[a-z_]+(\{[a-z]+=\"[^\"]*\"\})? \d+", line), line


@pytest.mark.parametrize("sent,kept", [
    ("a", True), ("A-z.0_9", True), ("x" * 64, True), ("x" * 65, False),
    ("a b", False), ("a/b", False), ("\u00e4", False), ("%41", False),
    ("a\x1b[31m", False),
])
def test_request_id(daemon, sent, kept):
    head = (b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
            b"X-Request-ID: " + sent.encode() + b"\r\n\r\n")
    (reply,) = sbx.raw(daemon, head)
    if "\x1b" in sent:
        assert reply.status == 400
        return
    assert reply.status == 200
    got = reply.headers["x-request-id"]
    assert (got == sent) is kept
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,64}", got)


def test_request_ids_differ(daemon):
    with requests.Session() as session:
        ids = {session.get(daemon.url("/health"), timeout=10)
               .headers["X-Request-ID"] for _ in range(100)}
    assert len(ids) == 100


def test_log_line_carries_request_id(daemon_factory):
    daemon = daemon_factory("log level debug\n").start()
    requests.get(daemon.url("/nothing\x1b[31m%0a"), timeout=10,
                 headers={"X-Request-ID": "find-me"})
    entry = sbx.wait_for(lambda: [e for e in daemon.log()
                                  if e.get("request_id") == "find-me"])
    assert len(entry) == 1
    assert entry[0]["event_type"] == "request"
    assert entry[0]["process"] == "frontend"
    assert json.dumps(entry)
    assert "\x1b" not in daemon.log_text()


def test_auth_none(daemon_factory):
    port = sbx.free_port()
    daemon = daemon_factory(
        listen=f"listen on 127.0.0.1 port {port} auth none\n")
    daemon.port = port
    daemon.start()
    assert requests.get(daemon.url("/metrics"), timeout=10).status_code == 200


def test_ipv6_and_unix(daemon_factory):
    port = sbx.free_port()
    daemon = daemon_factory()
    path = daemon.dir / "http.sock"
    daemon.write_config(f"listen on ::1 port {port}\n"
                        f'listen on socket "{path}" mode 0666\n')
    daemon.start()
    reply = requests.get(f"http://[::1]:{port}/health", timeout=10)
    assert reply.status_code == 200
    done = sbx.subprocess.run(
        ["curl", "-s", "--unix-socket", str(path), "http://x/health"],
        capture_output=True, text=True, timeout=20)
    assert json.loads(done.stdout)["status"] == "ok"
    done = sbx.subprocess.run(
        ["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}",
         "--unix-socket", str(path), "http://x/metrics"],
        capture_output=True, text=True, timeout=20)
    assert done.stdout == "401"
    assert daemon.stop() == 143
    assert not path.exists()


def test_proxy_accepts_and_closes(daemon):
    with sbx.socket.create_connection(("127.0.0.1", daemon.proxy_port),
                                      timeout=10) as s:
        assert s.recv(1) == b""
