"""HTTP as it should not be spoken, and what must still hold."""
import json
import re
import socket
import subprocess

import pytest

from wire import LIMIT_SECONDS, Wire, request

ERROR_KEYS = {"ok", "code", "message", "field"}


def check_error(answer, status, code=None):
    assert answer is not None, "hung up without an answer"
    assert answer.status == status, (answer.status, answer.body)
    body = json.loads(answer.body)
    assert body["ok"] is False and set(body) <= ERROR_KEYS and body["code"].isupper() and body["message"]
    if code:
        assert body["code"] == code, body
    return body


def ask(daemon, *arguments, **options):
    options.setdefault("token", daemon.admin)
    with Wire(daemon.address) as wire:
        wire.send(request(arguments[0], arguments[1], daemon.port, **options))
        return wire.answer(head_only=arguments[0] == "HEAD")


def test_keep_alive_ten_requests_on_one_connection(daemon):
    with Wire(daemon.address) as wire:
        for _ in range(10):
            wire.send(request("GET", "/api/status", daemon.port, token=daemon.admin))
            answer = wire.answer()
            assert answer.status == 200 and json.loads(answer.body)["ok"] is True


def test_pipelined_requests_are_answered_in_order(daemon):
    paths = ["/api/status", "/api/nowhere", "/api/robot", "/api/health", "/api/runtime"]
    with Wire(daemon.address) as wire:
        wire.send(b"".join(request("GET", path, daemon.port, token=daemon.admin) for path in paths))
        assert [wire.answer().status for _ in paths] == [200, 404, 200, 200, 200]


def test_connection_close_is_obeyed(daemon):
    with Wire(daemon.address) as wire:
        wire.send(request("GET", "/api/status", daemon.port, token=daemon.admin, headers=["Connection: close"]))
        assert wire.answer().status == 200
        assert wire.is_closed()


@pytest.mark.protocol
def test_http_1_0_is_answered_and_closed(daemon):
    with Wire(daemon.address) as wire:
        wire.send(f"GET /api/health HTTP/1.0\r\nHost: 127.0.0.1:{daemon.port}\r\n\r\n".encode())
        assert wire.answer().status == 200
        assert wire.is_closed()


def old_answer(daemon, path, fields=""):
    """The head of an answer to HTTP/1.0 in lower case, and whether there is an end of what follows within some seconds."""
    with socket.create_connection(daemon.address, LIMIT_SECONDS) as connection:
        connection.sendall(
            f"GET {path} HTTP/1.0\r\nHost: 127.0.0.1:{daemon.port}\r\nAuthorization: Bearer {daemon.admin}\r\n{fields}\r\n".encode())
        stream = connection.makefile("rb")
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            assert (line := stream.readline()), f"{path}: hung up within {head}"
            head += line
        body = stream.read(4_000) if b"length" not in head.lower() else b""
        return head.decode().lower(), body


def test_nothing_is_chunked_to_http_1_0_whatever_the_route(own_daemon):
    """RFC 9112, 6.1. A body without a length ends with its connection."""
    daemon = own_daemon(more="camera: {source: test, resolution: [320, 240]}\npump:\n")
    paths = [path for path, operations in daemon.get("/api/openapi.json").json()["paths"].items() if "get" in operations]
    values = {"id": "1", "zoneId": "1", "name": "i2c-1"}
    streamed = []
    for path in paths:
        if path == "/ws":
            continue
        filled = re.sub(r"{(\w+)}", lambda found: values.get(found[1], "1"), path)
        for fields in ["", "Connection: keep-alive\r\n"]:
            head, body = old_answer(daemon, filled, fields)
            assert "transfer-encoding" not in head, (path, head)
            if "content-length" not in head and " 204 " not in head:
                assert "connection: close" in head and "keep-alive" not in head, (path, head)
                assert not re.match(rb"[0-9a-f]+\r\n", body) and body, (path, body[:40])
                streamed.append(path)
    assert {"/api/video/stream.mjpeg", "/api/video/stream.mp4"} <= set(streamed), streamed
    # Lists of the store, too.
    assert any(path.endswith(".csv") or "log" in path for path in streamed), streamed


@pytest.mark.parametrize("path", ["/api/status", "/api/health", "/metrics", "/api/openapi.json"])
def test_head_has_the_length_and_no_body(daemon, path):
    with Wire(daemon.address) as wire:
        wire.send(request("HEAD", path, daemon.port, token=daemon.admin))
        head = wire.answer(head_only=True)
        assert head.status == 200 and int(head.headers["content-length"]) > 0
        # What follows on the connection is the next answer, not a body.
        wire.send(request("GET", path, daemon.port, token=daemon.admin))
        body = wire.answer()
        assert body.status == 200 and len(body.body) == int(body.headers["content-length"])


def test_unknown_route_404(daemon):
    check_error(ask(daemon, "GET", "/api/nowhere"), 404, "NOT_FOUND")


def test_wrong_method_405_with_allow(daemon):
    answer = ask(daemon, "DELETE", "/api/status")
    check_error(answer, 405)
    assert "GET" in answer.headers["allow"]
    answer = ask(daemon, "GET", "/api/robot/drive")
    check_error(answer, 405)
    assert "POST" in answer.headers["allow"]


@pytest.mark.parametrize("method", ["TRACE", "CONNECT", "BREW", "PROPFIND"])
def test_strange_methods_are_refused(daemon, method):
    answer = ask(daemon, method, "/api/status")
    assert answer is None or answer.status in (400, 404, 405, 501)


@pytest.mark.parametrize("path", [
    "/../../etc/passwd", "/api/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc%2fpasswd",
    "/api/sim/bus/..%2f..%2fetc%2fpasswd", "/api/sim/bus/%00", "//etc/passwd", "/api/status/../../../etc/shadow",
    "/\\..\\..\\etc\\passwd", "/api/sim/bus/....//etc", "/api/%c0%ae%c0%ae/etc/passwd",
])
def test_path_traversal_finds_nothing(daemon, path):
    answer = ask(daemon, "GET", path)
    assert answer is not None and answer.status in (400, 404), (answer.status, answer.body)
    assert b"root:" not in answer.body


@pytest.mark.parametrize("body,content_type", [
    (b"{", "application/json"), (b'{"left":}', "application/json"), (b'{"left":1,}', "application/json"),
    (b'{"left": NaN, "right": 0}', "application/json"), (b"\xff\xfe", "application/json"),
    (b"[" * 5000, "application/json"),
])
def test_bad_json_400_with_its_position(daemon, body, content_type):
    answer = ask(daemon, "POST", "/api/robot/drive", headers=[f"Content-Type: {content_type}"], body=body)
    message = check_error(answer, 400)["message"]
    assert any(character.isdigit() for character in message), message


@pytest.mark.parametrize("body,field", [
    ({"left": "fast", "right": 0}, "left"), ({"left": 0, "right": None}, "right"), ({"left": 0}, "right"),
    ({"left": 101, "right": 0}, "left"), ({"left": 0, "right": -1e9}, "right"),
])
def test_bad_values_422_with_the_field(daemon, body, field):
    answer = ask(
        daemon, "POST", "/api/robot/drive", headers=["Content-Type: application/json"], body=json.dumps(body).encode())
    assert check_error(answer, 422, "VALIDATION")["field"] == field


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_wrong_content_type_415(daemon, content_type):
    answer = ask(
        daemon, "POST", "/api/robot/drive", headers=[f"Content-Type: {content_type}"], body=b'{"left":0,"right":0}')
    check_error(answer, 415)


def test_two_megabytes_413(daemon):
    body = b'{"left":0,"right":0,"x":"' + b"a" * 2_000_000 + b'"}'
    with Wire(daemon.address) as wire:
        try:
            wire.send(request(
                "POST", "/api/robot/drive", daemon.port, token=daemon.admin,
                headers=["Content-Type: application/json"], body=body))
        except ConnectionError:
            pass  # The answer may come, and the connection go, before all of it is sent.
        check_error(wire.answer(), 413)


@pytest.mark.parametrize("length", [1 << 63, (1 << 64) - 1])
def test_a_length_that_no_integer_holds_is_refused_at_once(daemon, length):
    with Wire(daemon.address) as wire:
        wire.send(request("POST", "/api/robot/drive", daemon.port, token=daemon.admin, headers=[
            "Content-Type: application/json", f"Content-Length: {length}"]))
        check_error(wire.answer(), 413, "TOO_LARGE")
        assert wire.is_closed()


def test_two_megabytes_in_chunks_413(daemon):
    chunk = b"10000\r\n" + b"a" * 65536 + b"\r\n"
    with Wire(daemon.address) as wire:
        try:
            wire.send(request(
                "POST", "/api/robot/drive", daemon.port, token=daemon.admin,
                headers=["Content-Type: application/json", "Transfer-Encoding: chunked"]))
            for _ in range(32):
                wire.send(chunk)
            wire.send(b"0\r\n\r\n")
        except ConnectionError:
            pass
        check_error(wire.answer(), 413)


def test_two_megabytes_from_curl(daemon):
    result = subprocess.run(
        ["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "-m", "60", "-X", "POST", "--data-binary", "@-",
         "-H", f"Authorization: Bearer {daemon.admin}", "-H", "Content-Type: application/json",
         daemon.url + "/api/robot/drive"], input=b"a" * 2_000_000, capture_output=True)
    assert result.stdout == b"413", result


@pytest.mark.parametrize("data", [
    b"GARBAGE\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"GET / FTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    b"GET / HTTP/1.1\r\nHost: a\r\nbad header\r\n\r\n", b"GET / HTTP/1.1\r\nHost : a\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET /\x00 HTTP/1.1\r\nHost: a\r\n\r\n",
], ids=range(11))
def test_malformed_requests_400_or_hung_up(daemon, data):
    with Wire(daemon.address) as wire:
        wire.send(data)
        answer = wire.answer()
        assert answer is None or 400 <= answer.status < 500 or answer.status == 505, answer
        assert wire.is_closed()
    assert daemon.get("/api/status").status_code == 200


def test_content_length_and_chunked_together_are_refused(daemon):
    """A proxy and we could disagree about where the request ends."""
    smuggled = request("POST", "/api/robot/e-stop", daemon.port, token=daemon.admin)
    with Wire(daemon.address) as wire:
        wire.send(
            b"POST /api/robot/drive HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n"
            b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" % (daemon.port, daemon.admin.encode())
            + smuggled)
        answer = wire.answer()
        assert answer is None or answer.status == 400
        assert wire.is_closed()
    assert daemon.get("/api/robot").json()["state"] != "emergencyStopped"


def test_a_huge_header_431(daemon):
    with Wire(daemon.address) as wire:
        try:
            wire.send(request("GET", "/api/status", daemon.port, token=daemon.admin, headers=["X: " + "a" * 200_000]))
        except ConnectionError:
            pass
        answer = wire.answer()
        assert answer is None or answer.status in (400, 431), answer
        assert wire.is_closed()


def test_a_flood_of_headers_431(daemon):
    with Wire(daemon.address) as wire:
        wire.send(f"GET /api/status HTTP/1.1\r\nHost: 127.0.0.1:{daemon.port}\r\n".encode())
        try:
            for index in range(100_000):
                wire.send(f"X-{index}: a\r\n".encode())
        except ConnectionError:
            pass
        answer = wire.answer()
        assert answer is None or answer.status in (400, 431), answer
        assert wire.is_closed()
    assert daemon.get("/api/status").status_code == 200


def test_a_long_url_is_refused(daemon):
    with Wire(daemon.address) as wire:
        try:
            wire.send(request("GET", "/api/status?" + "a" * 200_000, daemon.port, token=daemon.admin))
        except ConnectionError:
            pass
        answer = wire.answer()
        assert answer is None or answer.status in (400, 414, 431), answer


def test_expect_continue_from_curl(daemon):
    result = subprocess.run(
        ["curl", "-sS", "-m", "60", "-H", "Expect: 100-continue", "-H", f"Authorization: Bearer {daemon.admin}",
         "-H", "Content-Type: application/json", "-d", '{"left":0,"right":0}', "-w", "\n%{http_code}",
         daemon.url + "/api/robot/drive"], capture_output=True, text=True)
    assert result.stdout.splitlines()[-1] in ("200", "409"), result


def test_a_connection_that_says_nothing_is_closed(daemon):
    """Half a head and then silence: no connection may be held open for ever."""
    with Wire(daemon.address, limit=120) as wire:
        wire.send(b"GET /api/status HTTP/1.1\r\nHost: ")
        assert wire.is_closed()
