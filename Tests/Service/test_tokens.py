"""The tokens over the API: made, seen, handed over by a ticket, revoked."""
import json
import time

import pytest
from websockets.exceptions import ConnectionClosed

from live import Live

PAGE = "http://pi.local:8000/"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    from daemon import Daemon
    with Daemon(tmp_path_factory.mktemp("tokens")) as daemon:
        yield daemon


def make(daemon, name, token="", **wish):
    return daemon.post("/api/tokens", {"name": name, **wish}, token=token)


def revoke(daemon, token_or_name, **options):
    return daemon.request("DELETE", f"/api/tokens/{token_or_name}", **options)


def actions(daemon):
    """What the log says of the tokens' actions."""
    lines = daemon.get("/api/logs?limit=1000").json()["lines"]
    return [line for line in lines if line.get("msg") == "action" and line.get("system") == "tokens"]


def test_only_an_admin_makes_sees_and_revokes(served):
    mine = make(served, "scopes", scope="control").json()
    for token, expected in ((None, (401, "TOKEN_MISSING")), (mine["token"], (403, "SCOPE_DENIED"))):
        for answer in (
            served.get("/api/tokens", token=token), make(served, "other", token=token),
            revoke(served, mine["client"]["id"], token=token),
        ):
            assert (answer.status_code, answer.json()["code"]) == expected
    assert served.get("/api/robot", token=mine["token"]).status_code == 200


def test_what_is_made_here_is_seen_in_the_terminal_and_what_is_revoked_there_is_seen_here(served):
    made = make(served, "both ways", scope="read", validSeconds=3600).json()
    listed = json.loads(served.command("token", "list", "--json", served.config).stdout)["tokens"]
    assert [token["scope"] for token in listed if token["id"] == made["client"]["id"]] == ["read"]
    assert served.get("/api/robot", token=made["token"]).status_code == 200
    seen = {token["id"]: token for token in served.get("/api/tokens").json()["tokens"]}[made["client"]["id"]]
    assert seen["seenAddress"] == "127.0.0.1" and seen["seenISO"] and seen["state"] == "valid"
    assert served.command("token", "revoke", made["client"]["id"], "--config", served.config).returncode == 0
    seen = {token["id"]: token for token in served.get("/api/tokens").json()["tokens"]}[made["client"]["id"]]
    assert seen["state"] == "revoked"
    assert served.tokens.stat().st_mode & 0o777 == 0o600


def test_a_revoked_client_is_out_at_once_and_what_it_drives_stops(own_daemon):
    daemon = own_daemon()
    made = make(daemon, "lost phone").json()
    with Live(daemon, token=made["token"]) as live:
        daemon.until_robot(lambda robot: robot["state"] == "driving", again=lambda: live.drive_taken(20, 20, echo=1))
        assert revoke(daemon, "lost phone").status_code == 200
        assert daemon.get("/api/robot", token=made["token"]).status_code == 401
        with pytest.raises(ConnectionClosed) as closed:
            end = time.monotonic() + 60
            while time.monotonic() < end:
                live.drive(20, 20)
                list(live.events(0.05))
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (4001, "TOKEN_INVALID")
    assert daemon.get("/api/robot").json()["state"] != "driving"


def test_a_ticket_is_exchanged_once_by_a_client_that_has_no_token(served):
    made = make(served, "Anna's phone", scope="control", page=PAGE).json()
    assert made["ticket"]["address"].startswith(PAGE + "#/ticket/") and made["ticket"]["seconds"] == 300
    ticket = made["ticket"]["address"].rpartition("/")[2]
    for body, expected in (({"ticket": "A" * 300}, 413), ({"ticket": "A" * 65}, 422), ({}, 422), (None, 400)):
        assert served.post("/api/ticket", body, token=None).status_code == expected, "nobody needs much room for a ticket"
    wrong = served.post("/api/ticket", {"ticket": ticket[:-1] + ("A" if ticket[-1] != "A" else "B")}, token=None)
    assert (wrong.status_code, wrong.json()["code"]) == (404, "TICKET_INVALID")
    first = served.post("/api/ticket", {"ticket": ticket}, token=None)
    assert first.json() == {"ok": True, "token": made["token"], "name": "Anna's phone", "scope": "control"}
    assert first.headers["Cache-Control"] == "no-store"
    assert served.post("/api/ticket", {"ticket": ticket}, token=None).status_code == 404
    assert served.get("/api/robot", token=first.json()["token"]).status_code == 200


def test_the_log_says_who_did_it_and_no_secret(served):
    admin = make(served, "Ben's laptop", scope="admin").json()
    made = make(served, "Carla", token=admin["token"], page=PAGE).json()
    ticket = made["ticket"]["address"].rpartition("/")[2]
    assert served.post("/api/ticket", {"ticket": ticket}, token=None).status_code == 200
    assert revoke(served, "Carla", token=admin["token"]).status_code == 200
    own = [line for line in actions(served) if line.get("name") == "Carla"]
    assert [(line["action"], line["by"], line["result"]) for line in own] == [
        ("create", "Ben's laptop", "ok"), ("ticket", "no token", "ok"), ("revoke", "Ben's laptop", "ok")]
    assert own[0]["tokenId"] == admin["client"]["id"] and own[0]["value"] == made["client"]["id"] + " control"
    for secret in (made["token"].split("_", 2)[2], ticket, admin["token"].split("_", 2)[2]):
        assert secret not in served.log and secret not in served.get("/api/tokens").text
        assert secret not in served.tokens.read_text()


def test_the_last_admin_of_the_file_is_not_revoked_by_accident(own_daemon):
    daemon = own_daemon()
    last = make(daemon, "last", scope="admin").json()
    refused = revoke(daemon, last["client"]["id"], token=last["token"])
    assert (refused.status_code, refused.json()["code"]) == (409, "LAST_ADMIN")
    assert daemon.get("/api/tokens", token=last["token"]).status_code == 200
    # Itself, when it is meant.
    assert revoke(daemon, last["client"]["id"] + "?lastAdmin=true", token=last["token"]).json()["client"]["isOwn"] is True
    assert daemon.get("/api/tokens", token=last["token"]).status_code == 401
