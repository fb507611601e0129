"""JSON bodies through POST /object: what comes back is what was sent, or a
400 with the error object; in bounded memory either way."""

import json

import pytest
import requests

import sbx

SOON = 60
KEYS = ["error_code", "description", "error_detail", "solution", "request_id"]


def send(server, body):
    if isinstance(body, str):
        body = body.encode()
    return requests.post(server.url("/object"), data=body, timeout=SOON)


def refused(server, body, detail=None):
    reply = send(server, body)
    assert reply.status_code == 400, reply.text[:200]
    assert reply.headers["Content-Type"] == "application/json"
    error = reply.json()
    assert list(error) == KEYS
    assert error["error_code"] == "Executor.ValidationError"
    assert error["request_id"] == reply.headers["X-Request-ID"]
    assert error["error_detail"]
    if detail is not None:
        assert error["error_detail"] == detail


def same(server, body, printed=None):
    """Accepted and printed alike."""
    reply = send(server, body)
    assert reply.status_code == 200, reply.text[:200]
    assert reply.text == (body if printed is None else printed)


def peak(server):
    return int(sbx.status(server.proc.pid)["VmHWM"].split()[0]) << 10


@pytest.fixture
def roomy():
    """A fresh one, to see what one request costs."""
    with sbx.Echod("execute.body size=128M") as server:
        yield server
        assert server.proc.poll() is None


@pytest.mark.parametrize("body", [
    '{}', '{"a":1}', '{"a":"b","c":[1,2.50,true,false,null,{}]}',
    '{"a":{"a":{"a":[[],[[]]]}}}', '{"":""}', '{"a":-0.0}',
    '{"a":9007199254740993}', f'{{"a":{2**63}}}', f'{{"a":{2**64 - 1}}}',
    f'{{"a":{-2**63}}}', '{"a":1e308}', '{"a":1E-400}',
    '{"a":0.1000000000000000055511151231257827021181583404541015625}',
    '{"a":"\u00e4\u20ac\U0001f600\u007f"}', '{"a":"x\\u0000y"}',
    '{"a":"\\"\\\\\\b\\f\\n\\r\\t"}', '{"constructor":1,"__proto__":{}}',
])
def test_exact(echod, body):
    same(echod, body)


@pytest.mark.parametrize("body,printed", [
    (' \t\r\n{ "a" : [ 1 , 2 ] } \n', '{"a":[1,2]}'),
    ('{"a":-0}', '{"a":0}'),
    ('{"\\u0061":"\\u00e4\\ud83d\\ude00"}', '{"a":"\u00e4\U0001f600"}'),
    ('{"a":"\\/"}', '{"a":"\\/"}'),
])
def test_same_meaning(echod, body, printed):
    reply = send(echod, body)
    assert reply.status_code == 200
    assert reply.text == printed
    assert json.loads(reply.text) == json.loads(body)


@pytest.mark.parametrize("body", [
    b"", b" ", b"\n\n", b"\0", b"{", b"}", b"{}}", b"{} x", b"{}\0", b"{}{}",
    b'{"a"}', b'{"a":}', b'{"a":1,}', b'{"a":1 "b":2}', b'{"a":1;"b":2}',
    b'{,}', b'{a:1}', b"{'a':1}", b"{\"a\":'b'}", b'{"a":b}', b'{1:2}',
    b'// c\n{}', b'{/* c */}', b'{} # c', b"{\"a\":[1,]}", b"{\"a\":[,]}",
    b'\xef\xbb\xbf{}', b'\xff\xfe{\0}\0', b'{"a":1', b'{"a":"b', b'{"a":tru',
])
def test_no_json(echod, body):
    refused(echod, body)


@pytest.mark.parametrize("body", [
    b"[]", b"null", b"true", b"1", b'"a"', b"[{}]", b"[[[[]]]]", b"1.5"])
def test_no_object(echod, body):
    refused(echod, body, "not an object")


@pytest.mark.parametrize("number", [
    "NaN", "nan", "Infinity", "-Infinity", "inf", "01", "-01", "00", "+1",
    ".5", "-.5", "1.", "1.e1", "1e", "1e+", "0x10", "1_0", "--1", "1e1.5",
    "\u0661", "1,5", "0b1", "1f", "-"])
def test_no_number(echod, number):
    refused(echod, '{"a":%s}' % number)


@pytest.mark.parametrize("number", [
    "1e999999", "-1e999999", "1e309", "9e308", "1" + "0" * 309 + ".0",
    str(2**64), str(-2**63 - 1), "9" * 1000, "1e" + "9" * 100])
def test_number_out_of_range(echod, number):
    """Not the nearest one that fits, not infinity."""
    refused(echod, '{"a":%s}' % number, "number out of range")


def test_long_numbers(echod):
    refused(echod, '{"a":%s}' % ("9" * 1000000), "number too long")
    refused(echod, '{"a":0.%s}' % ("1" * 1000000), "number too long")


@pytest.mark.parametrize("text", [
    b"\\ud800", b"\\udc00", b"\\ud800\\ud800", b"\\ud800x", b"\\ud800\\n",
    b"\\udc00\\ud800", b"\\ud800\\u0041", b"\\ud800\\ue000", b"\\u",
    b"\\u12", b"\\u12g4",
    b"\\x41", b"\\'", b"\\0", b"\\", b"\n", b"\t", b"\0", b"\x1f",
    b"\x80", b"\xc0\x80", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80",
    b"\xff", b"\xe2\x82", b"\xf8\x88\x80\x80\x80"])
def test_bad_strings(echod, text):
    """As a value and as a key."""
    refused(echod, b'{"a":"' + text + b'"}')
    refused(echod, b'{"' + text + b'":1}')


def test_nul_in_a_key(echod):
    """It would end the key: "cmd\\0x" must not become "cmd"."""
    refused(echod, '{"cmd\\u0000x":1}', "NUL in a key")
    refused(echod, '{"\\u0000":1}', "NUL in a key")
    refused(echod, '{"a":[{"cmd\\u0000":1}]}', "NUL in a key")


@pytest.mark.parametrize("body", [
    '{"a":1,"a":1}', '{"a":1,"b":2,"a":3}', '{"a":1,"\\u0061":2}',
    '{"\\u00e4":1,"\u00e4":2}', '{"":1,"":2}', '{"x":{"a":1,"a":2}}',
    '{"x":[[{"a":1,"b":{},"a":2}]]}', '{"a":{"a":1},"a":{"b":1}}',
    '{"\\ud83d\\ude00":1,"\U0001f600":1}',
])
def test_duplicate_keys(echod, body):
    refused(echod, body, "a key is given twice")


def test_like_keys(echod):
    """In different objects, or not quite alike."""
    same(echod, '{"a":{"a":[{"a":1},{"a":1}]},"A":1,"a ":1,"\u0430":1}')


def nested(depth, object_every=2):
    opening, closing = "", ""
    for i in range(depth):
        if i % object_every == 0:
            opening, closing = opening + '{"a":', "}" + closing
        else:
            opening, closing = opening + "[", "]" + closing
    return opening + "1" + closing


def test_depth(echod):
    for every in (1, 2, 63):
        same(echod, nested(64, every))
        refused(echod, nested(65, every), "nested too deeply")
    refused(echod, '{"a":' + "[" * 100000 + "]" * 100000 + "}",
            "nested too deeply")
    refused(echod, '{"a":' * 100000 + "1" + "}" * 100000, "nested too deeply")
    refused(echod, '{"a":' + "[" * 1000000, "nested too deeply")


def test_body_size(echod):
    """The limit is the route's: 8M unless configured."""
    body = '{"a":"%s"}' % ("x" * ((8 << 20) - 8))
    assert len(body) == 8 << 20
    same(echod, body)
    reply = send(echod, body.replace("x", "xx", 1))
    assert reply.status_code == 413
    assert reply.json()["error_code"] == "Executor.PayloadTooLarge"


def test_long_string(roomy):
    body = '{"a":"%s"}' % ("x" * (60 << 20))
    same(roomy, body)
    if not sbx.SAN:
        assert peak(roomy) < (600 << 20)


def test_many_keys(roomy):
    body = "{" + ",".join(f'"{i}":{i}' for i in range(1000000)) + "}"
    same(roomy, body)
    refused(roomy, body[:-1] + ',"999999":0}', "a key is given twice")
    if not sbx.SAN:
        assert peak(roomy) < (600 << 20)


@pytest.mark.parametrize("unit", ["{},", "[],", "0,", '"",', '{"a":{}},',
                                  "[0],", "1.5,"])
def test_large_trees(roomy, unit):
    """A hundred megabytes of little things: refused, not built."""
    refused(roomy, '{"a":[' + unit * ((100 << 20) // len(unit)) + "0]}",
            "too many values")
    if not sbx.SAN:
        assert peak(roomy) < (300 << 20)


def test_trees_within_limits(roomy):
    body = '{"a":[' + "{}," * 200000 + "0]}"
    same(roomy, body)
    body = '{"a":[' + "0," * 1000000 + "0]}"
    same(roomy, body)
    if not sbx.SAN:
        assert peak(roomy) < (500 << 20)
