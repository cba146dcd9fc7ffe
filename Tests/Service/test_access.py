"""Who comes in, who does not, and what they are told."""
import base64
import hashlib
import hmac
import json
import subprocess
import time

import pytest

from daemon import own_environment
from wire import Wire, WireSocket, request

LOOK, MOVE = ("GET", "/api/robot"), ("POST", "/api/robot/stop")


def outcome(daemon, route, token, **options):
    response = daemon.request(*route, token=token, **options)
    return response.status_code, None if response.status_code < 400 else response.json()["code"]


def test_no_token_401(daemon):
    response = daemon.get("/api/robot", token=None)
    assert response.status_code == 401 and response.json()["code"] == "TOKEN_MISSING"
    assert response.headers["WWW-Authenticate"].startswith("Bearer")


def test_the_command_that_a_refusal_names_makes_a_token_that_works(own_daemon, tmp_path):
    """`own_daemon`'s file names a token file: a shell, in another folder and with another home, would not find it."""
    daemon = own_daemon()
    for token in (None, "wrong"):
        command = daemon.get("/api/robot", token=token).json()["message"].split("`")[1]
        made = subprocess.run(
            command, shell=True, cwd="/", env=own_environment(tmp_path), capture_output=True, text=True, timeout=120)
        assert made.returncode == 0, (command, made.stderr)
        assert daemon.get("/api/robot", token=made.stdout.strip()).status_code == 200, command
        # What to try next, in the terminal where it was started.
        assert command in daemon.log, command
        # The next one has the same name.
        tokens = json.loads(daemon.command("token", "list", daemon.config, "--json").stdout)["tokens"]
        assert daemon.command("token", "revoke", tokens[-1]["id"], "--config", daemon.config).returncode == 0


@pytest.mark.parametrize("route", [
    ("GET", "/api/status"), ("GET", "/api/runtime"), ("GET", "/api/robot"), ("GET", "/metrics"), ("GET", "/api/logs"),
    ("GET", "/api/sim/bus"), ("POST", "/api/robot/drive"), ("POST", "/api/robot/e-stop"), ("POST", "/api/e-stop"), ("GET", "/api/log-level"), ("POST", "/api/robot/reset"),
    ("POST", "/api/sim/fault"),
])
def test_every_door_asks_for_a_token(daemon, route):
    assert outcome(daemon, route, None)[0] == 401


@pytest.mark.parametrize("path", ["/api/health", "/api/openapi.json"])
def test_open_to_anyone(daemon, path):
    assert daemon.get(path, token=None).status_code == 200


def test_scopes(daemon, tokens):
    level = ("POST", "/api/sim/fault")
    assert outcome(daemon, LOOK, tokens["read"])[0] == 200
    assert outcome(daemon, MOVE, tokens["read"]) == (403, "SCOPE_DENIED")
    assert outcome(daemon, MOVE, tokens["control"])[0] == 200
    assert outcome(daemon, level, tokens["control"], json={}) == (403, "SCOPE_DENIED")
    assert outcome(daemon, level, tokens["admin"], json={})[0] in (400, 422)


def test_expired_token(own_daemon):
    daemon = own_daemon()
    token = daemon.create_token("read", "short", "--expires", "1s")
    limit = time.monotonic() + 60
    while (told := outcome(daemon, LOOK, token)) == (200, None) and time.monotonic() < limit:
        time.sleep(0.1)
    assert told == (401, "TOKEN_EXPIRED")


def test_a_token_in_the_query_is_not_looked_at(daemon, tokens):
    for name in ("token", "access_token", "bearer"):
        assert daemon.get(f"/api/robot?{name}={tokens['admin']}", token=None).status_code in (400, 401)


def test_malformed_authorization_401(own_daemon):
    daemon = own_daemon()
    for header in ("Bearer", "Bearer ", "Basic YTpi", "bearer  x y", "Bearer \xff"):
        with Wire(daemon.address) as wire:
            wire.send(request("GET", "/api/robot", daemon.port, headers=["Authorization: " + header]))
            assert wire.answer().status in (400, 401), header


def test_two_tokens_are_one_too_many(daemon):
    with Wire(daemon.address) as wire:
        twice = [f"Authorization: Bearer {daemon.admin}"] * 2
        wire.send(request("GET", "/api/robot", daemon.port, headers=twice))
        assert wire.answer().status == 400


def jwt(key, algorithm="HS256", **claims):
    def part(value):
        return base64.urlsafe_b64encode(value).rstrip(b"=")

    text = part(json.dumps({"alg": algorithm, "typ": "JWT"}).encode()) + b"." + part(json.dumps(claims).encode())
    return (text + b"." + part(hmac.digest(key.encode(), text, hashlib.sha256))).decode()


def test_json_web_tokens(own_daemon):
    key = "k" * 32
    daemon = own_daemon(jwt_key=key)
    claims = {"sub": "phone", "scope": "control", "exp": int(time.time()) + 60}
    good = jwt(key, **claims)
    assert outcome(daemon, MOVE, good)[0] == 200
    assert outcome(daemon, LOOK, jwt(key, **{**claims, "exp": int(time.time()) - 3600})) == (401, "TOKEN_EXPIRED")
    for forged in (
        jwt("x" * 32, **claims), jwt("", **claims), jwt(key, algorithm="none", **claims), good.rpartition(".")[0] + ".",
        good.rpartition(".")[0], jwt(key, **{**claims, "exp": "never"}), jwt(key, sub="phone", scope="control"),
    ):
        assert outcome(daemon, MOVE, forged)[0] in (401, 429), forged


@pytest.mark.parametrize("days,is_taken", [(365, True), (367, False), (36_525, False), (None, False)])
def test_a_jwt_lasts_a_year_at_most(own_daemon, days, is_taken):
    key = "k" * 32
    daemon = own_daemon(jwt_key=key)
    end = 1e308 if days is None else time.time() + days * 86_400
    response = daemon.request(*LOOK, token=jwt(key, sub="phone", scope="control", exp=end))
    assert response.status_code == (200 if is_taken else 401), response.text
    assert is_taken or "366 days" in response.json()["message"]


def test_a_short_jwt_key_is_refused(daemon, tmp_path):
    config = tmp_path / "short.yaml"
    config.write_text(daemon.config.read_text() + "  jwt_key: short\n")
    checked = daemon.command("check", config)
    assert checked.returncode == 78 and "jwt_key" in checked.stdout + checked.stderr


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1.evil.example", "http://127.0.0.1:1"])
def test_a_page_elsewhere_is_refused(daemon, origin):
    response = daemon.post("/api/robot/stop", headers={"Origin": origin})
    assert (response.status_code, response.json()["code"]) == (403, "ORIGIN_DENIED")
    assert "Access-Control-Allow-Origin" not in response.headers
    with WireSocket(daemon, headers=[f"Origin: {origin}"]) as socket:
        assert socket.upgrade.status == 403


def test_our_own_page_is_not(daemon):
    assert daemon.post("/api/robot/stop", headers={"Origin": daemon.url}).status_code == 200


def test_an_allowed_origin_is_told_so(own_daemon):
    origin = "http://console.example:8080"
    daemon = own_daemon(allowed_origins=[origin])
    response = daemon.post("/api/robot/stop", headers={"Origin": origin})
    assert response.status_code == 200 and response.headers["Access-Control-Allow-Origin"] == origin
    asked = daemon.request("OPTIONS", "/api/robot/stop", token=None, headers={
        "Origin": origin, "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type"})
    assert asked.status_code in (200, 204)
    assert "authorization" in asked.headers["Access-Control-Allow-Headers"].lower()


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "", "a b"])
def test_host_rebinding_400(daemon, host):
    with Wire(daemon.address) as wire:
        wire.send(f"GET /api/robot HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {daemon.admin}\r\n\r\n".encode())
        answer = wire.answer()
        assert answer.status == 400
        assert json.loads(answer.body)["code"] == "HOST_DENIED"


@pytest.mark.parametrize("host", ["localhost.", "LOCALHOST."])
def test_a_name_with_its_root_dot_is_the_name(daemon, host):
    with Wire(daemon.address) as wire:
        wire.send(f"GET /api/robot HTTP/1.1\r\nHost: {host}:{daemon.port}\r\nAuthorization: Bearer {daemon.admin}\r\n\r\n".encode())
        assert wire.answer().status == 200


def test_what_a_whole_url_names_is_the_host(daemon):
    with Wire(daemon.address) as wire:
        for host, status in [("evil.example", 400), (f"127.0.0.1:{daemon.port}", 200)]:
            wire.send((f"POST http://{host}/api/robot/stop HTTP/1.1\r\nHost: 127.0.0.1:{daemon.port}\r\nContent-Length: 0\r\n"
                       f"Authorization: Bearer {daemon.admin}\r\n\r\n").encode())
            answer = wire.answer()
            assert answer.status == status
            assert status == 200 or json.loads(answer.body)["code"] == "HOST_DENIED"


def test_no_host_400(daemon):
    with Wire(daemon.address) as wire:
        wire.send(f"GET /api/robot HTTP/1.1\r\nAuthorization: Bearer {daemon.admin}\r\n\r\n".encode())
        assert wire.answer().status == 400


def test_life_of_a_token_beside_the_running_daemon(own_daemon):
    """Created, seen in the list, rotated with a grace period, revoked; the daemon is not restarted."""
    daemon = own_daemon()
    first = daemon.create_token("control", "phone")
    assert outcome(daemon, MOVE, first)[0] == 200
    listed = json.loads(daemon.command("token", "list", "--json", "--config", daemon.config).stdout)
    assert first not in json.dumps(listed)
    identifier = next(token["id"] for token in listed["tokens"] if token["name"] == "phone")
    rotated = daemon.command("token", "rotate", identifier, "--config", daemon.config)
    assert rotated.returncode == 0, rotated.stderr
    second = rotated.stdout.strip()
    assert second != first
    assert outcome(daemon, MOVE, second)[0] == 200
    assert outcome(daemon, MOVE, first)[0] == 200, "the grace period"
    assert daemon.command("token", "rotate", identifier, "--grace", "0", "--config", daemon.config).returncode == 0
    assert outcome(daemon, MOVE, second) == (401, "TOKEN_EXPIRED"), "no grace"
    revoked = daemon.command("token", "revoke", identifier, "--config", daemon.config)
    assert revoked.returncode == 0, revoked.stderr
    assert outcome(daemon, MOVE, first) == (401, "TOKEN_INVALID")
    assert first.encode() not in daemon.tokens.read_bytes() and second.encode() not in daemon.tokens.read_bytes()
    assert daemon.tokens.stat().st_mode & 0o777 == 0o600


def test_no_secret_in_the_log(own_daemon):
    daemon = own_daemon()
    for token in (daemon.admin, daemon.create_token("control", "phone")):
        assert outcome(daemon, MOVE, token)[0] == 200
        daemon.get(f"/api/robot?token={token}", token="wrong" * 8)
        assert token not in daemon.log


def test_failed_attempts_are_limited_and_good_tokens_are_not(own_daemon):
    daemon = own_daemon()
    told = [daemon.get("/api/robot", token="wrong" * 8) for _ in range(30)]
    assert {response.status_code for response in told} == {401, 429}
    assert told[-1].status_code == 429 and told[-1].json()["code"] == "TOO_MANY_ATTEMPTS"
    assert int(told[-1].headers["Retry-After"]) > 0
    # Whoever guesses on this machine must not keep anyone from the emergency stop.
    assert outcome(daemon, MOVE, daemon.admin)[0] == 200


def test_auth_none_is_for_loopback_only(own_daemon, tmp_path):
    daemon = own_daemon(auth="none")
    assert outcome(daemon, MOVE, None)[0] == 200
    assert outcome(daemon, LOOK, "wrong" * 8)[0] == 401
    text = daemon.config.read_text().replace("127.0.0.1", "0.0.0.0")
    (tmp_path / "open.yaml").write_text(text)
    checked = daemon.command("check", tmp_path / "open.yaml")
    assert checked.returncode == 78 and "auth" in checked.stdout + checked.stderr


def test_a_name_that_a_valid_token_has_is_refused_until_that_is_revoked(own_daemon):
    daemon = own_daemon()
    daemon.create_token("control", "phone")
    again = daemon.command("token", "create", "--config", daemon.config, "--name", "phone")
    assert again.returncode == 1 and again.stdout == "" and "expected a new name, got phone" in again.stderr
    tokens = json.loads(daemon.command("token", "list", daemon.config, "--json").stdout)["tokens"]
    assert [token["name"] for token in tokens] == ["phone"]
    assert daemon.command("token", "revoke", tokens[0]["id"], "--config", daemon.config).returncode == 0
    daemon.create_token("control", "phone")
