"""TactusClient, the apps' library, against a running daemon: client-probe is an app without a screen."""
import contextlib
import http.server
import os
import queue
import re
import socket
import subprocess
import threading
import time

import pytest

from daemon import PROBES, Daemon

PROBE = PROBES / "client-probe"
LIMIT_SECONDS = 180


def run(daemon, scenario, *arguments, address=None, token=None):
    """A scenario's lines, without the last, which says that it is done. What a loop that was kept waiting did not do is STALE: then it is played
    once more, from its start."""
    for _ in range(5):
        found = play(daemon, scenario, *arguments, address=address, token=token)
        if found.returncode == 0 or "STALE" not in found.stdout + found.stderr:
            break
    assert found.returncode == 0, found.stdout + found.stderr + daemon.log[-2000:]
    lines = found.stdout.splitlines()
    assert lines[-1] == "done"
    return lines[:-1]


def play(daemon, scenario, *arguments, address, token):
    return subprocess.run(
        [PROBE, scenario, address or f"{daemon.host}:{daemon.port}", *arguments], capture_output=True, text=True,
        timeout=LIMIT_SECONDS, env=daemon.own_environment(CLIENT_TOKEN=token or daemon.admin))


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """A daemon with every system, and a leg that must be fed within five seconds: the client, which feeds it more often, may be kept waiting. So
    may it while it holds a stick."""
    daemon = Daemon(tmp_path_factory.mktemp("client"), more="pump: {backend: sim}\nvideo: {}\n", command_timeout=5.0)
    daemon.config.write_text(daemon.config.read_text().replace("deadman_ms: 10000", "deadman_ms: 5000"))
    with daemon:
        yield daemon


@pytest.mark.protocol
def test_its_types_are_those_of_the_daemons_own_description(everything):
    lines = run(everything, "shapes")
    assert "compared: Sprinkler" in lines and "compared: PlantChange" in lines


@pytest.mark.protocol
@pytest.mark.parametrize("scenario, last", [
    ("drive", "it is reset"), ("leg", "disarmed"), ("water", "everything is closed"), ("schedule", "it is gone"),
    ("pump", "it is off"), ("plant", "it is gone"), ("everything", "everything is reset")])
def test_what_an_app_does(everything, scenario, last):
    lines = run(everything, scenario)
    assert lines[0] == "seen: connected by WebSocket" and lines[-1] == "seen: " + last


def test_an_error_has_the_daemons_code_message_and_field(everything):
    assert run(everything, "refused")[-1] == "422 VALIDATION minutes: minutes: expected minutes, 0.02…1440, got 9999"


def test_a_token_that_may_only_look_looks(everything):
    lines = run(everything, "look", token=everything.create_token("read"))
    assert "scope read" in lines and lines[-1] == "SCOPE_DENIED"
    assert lines[-2] == "expected a token of scope control, got one of scope read"


def test_a_token_that_is_none_is_told_and_not_tried_again(everything):
    assert run(everything, "watch", token="0" * 64) == ["refused: TOKEN_INVALID"]


def test_an_app_logs_in_by_the_link_of_a_ticket_which_is_good_once(everything):
    page = f"http://{everything.host}:{everything.port}/"
    made = everything.post("/api/tokens", {"name": "app", "scope": "read", "page": page}).json()
    # Its own token is none: what it is let in by is the ticket's.
    lines = run(everything, "ticket", made["ticket"]["address"], token="0" * 64)
    assert lines == ["the token app of scope read", "seen: connected by WebSocket", "scope read", "TICKET_INVALID"]
    assert made["token"] not in "".join(lines)


@contextlib.contextmanager
def proxy_without_websocket(daemon):
    """A port that passes on what is no upgrade, and closes what is one: as some networks do."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(client):
        with client:
            head = b""
            while b"\r\n\r\n" not in head:
                more = client.recv(65536)
                if not more:
                    return
                head += more
            if b"upgrade: websocket" in head.lower():
                return
            with socket.create_connection(daemon.address) as upstream:
                upstream.sendall(head)
                back = threading.Thread(target=copy, args=(upstream, client))
                back.start()
                copy(client, upstream)
                back.join()

    def copy(source, target):
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)

    def accept():
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    with listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.protocol
@pytest.mark.parametrize("scenario, last", [("drive", "it is reset"), ("pump", "it is off")])
def test_where_websockets_are_blocked_the_same_by_polling(tmp_path, scenario, last):
    daemon = Daemon(tmp_path, more="pump: {backend: sim}\n", command_timeout=5.0)
    with daemon, proxy_without_websocket(daemon) as address:
        lines = run(daemon, scenario, "polling", address=address)
    assert lines[0] == "seen: connected by polling" and lines[-1] == "seen: " + last


@contextlib.contextmanager
def door_that_swallows(daemon):
    """Answers looks, on connections that are kept; closes the connection of every command instead of an answer, after it was read. Yields its address
    and what it has swallowed."""
    swallowed = []

    class Door(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            if "upgrade" in self.headers.get("Connection", "").lower():
                self.close_connection = True
                return
            answer = daemon.get(self.path)
            self.send_response(answer.status_code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

        def do_POST(self):
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            swallowed.append(self.path)
            self.close_connection = True

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Door)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_port}", swallowed
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.protocol
def test_a_start_that_is_not_answered_is_never_sent_twice_and_a_stop_is(everything):
    with door_that_swallows(everything) as (address, swallowed):
        lines = run(everything, "swallowed", "polling", address=address)
    assert lines[-2:] == ["water: not reached", "close: not reached"]
    assert swallowed.count("/api/zone/1/on") == 1
    assert swallowed.count("/api/zone/1/off") >= 4
    assert set(swallowed) == {"/api/zone/1/on", "/api/zone/1/off"}


class Watch:
    """A client that says how its connection is."""

    def __init__(self, daemon, lines):
        self.process = subprocess.Popen(
            [PROBE, "watch", f"127.0.0.1:{daemon.port}", str(lines)], stdout=subprocess.PIPE, text=True,
            env=daemon.own_environment(CLIENT_TOKEN=daemon.admin))
        self.lines = queue.Queue()
        threading.Thread(target=lambda: [self.lines.put(line.strip()) for line in self.process.stdout], daemon=True).start()

    def next(self):
        return self.lines.get(timeout=LIMIT_SECONDS)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


@pytest.mark.protocol
def test_the_daemon_is_killed_and_comes_back(own_daemon):
    daemon = own_daemon()
    with Watch(daemon, 1000) as watch:
        assert watch.next() == "live by socket, robot stopped"
        daemon.process.kill()
        daemon.process.wait()
        # It shows what it last heard, and says so again for each attempt that failed for another reason.
        assert watch.next() == "lost, robot stopped"
        daemon.start()
        while (line := watch.next()) == "lost, robot stopped":
            pass
        assert line in ("live by socket, robot stopped", "live by polling, robot stopped")


def test_a_client_that_dies_while_it_drives_leaves_a_robot_that_stands(own_daemon):
    daemon = own_daemon()
    process = subprocess.Popen(
        [PROBE, "hold", f"127.0.0.1:{daemon.port}"], stdout=subprocess.PIPE, text=True,
        env=daemon.own_environment(CLIENT_TOKEN=daemon.admin))
    for line in process.stdout:
        if line.strip() == "seen: it drives":
            break
    assert daemon.get("/api/robot").json()["state"] == "driving"
    process.kill()
    process.wait()
    limit = time.monotonic() + LIMIT_SECONDS
    while daemon.get("/api/robot").json()["state"] != "stopped":
        assert time.monotonic() < limit
        time.sleep(0.02)


CHIME = """\
network: {{http_port: {port}}}
chime: {{}}
runtime: {{lock_memory: false, chime: {{scheduling: normal}}}}
service: {{token_file: {folder}/tokens.json, bonjour: false}}
"""


BELLS = """\
network: {{http_port: {port}}}
bells: [{{name: left}}, {{name: right}}]
runtime: {{lock_memory: false, bell: {{scheduling: normal}}}}
service: {{token_file: {folder}/tokens.json, bonjour: false}}
"""


class DeclaredDaemon(Daemon):
    """`declared-probe run --simulate`: a daemon of a package's own, with systems that no client knows."""

    def __init__(self, folder, config):
        super().__init__(folder)
        self.program = PROBES / "declared-probe"
        self.config.write_text(config.format(port=self.port, folder=folder))


@pytest.mark.protocol
def test_a_system_that_it_does_not_know_has_a_model_made_from_its_description(tmp_path):
    with DeclaredDaemon(tmp_path, CHIME) as daemon:
        lines = run(daemon, "declared", "chime", "strike")
    assert "Chime: A chime." in lines and "strokes = 0 " in lines and "seen: strike has changed something" in lines
    assert "invalid: nothing: strike has no such parameter" in lines and lines[-1] == "stopped"


@pytest.mark.protocol
def test_one_of_several_is_reached_and_an_item_of_its_list(tmp_path):
    with DeclaredDaemon(tmp_path, BELLS) as daemon:
        lines = run(daemon, "declared", "bell/left", "1/strike")
        left, right = (daemon.get(f"/api/bell/{name}").json() for name in ("left", "right"))
    assert "Bell left: A bell with hammers." in lines and lines[-1] == "stopped"
    assert (left["strokes"], left["hammer"]) == (1, 1) and right["strokes"] == 0


@pytest.mark.protocol
def test_the_terminal_example_shows_live_state_and_waters_a_zone(everything):
    program = os.environ.get("CLIENT_TERMINAL")
    if not program:
        pytest.skip("scripts/client has not built Examples/client-terminal: CLIENT_TERMINAL says where it lies")
    found = subprocess.run(
        [program, f"127.0.0.1:{everything.port}", "water", "3", "0.05"], capture_output=True, text=True,
        timeout=LIMIT_SECONDS, env=everything.own_environment(TACTUS_TOKEN=everything.admin))
    assert found.returncode == 0, found.stdout + found.stderr
    lines = found.stdout.splitlines()
    assert lines[-1] == "watered" and any(re.match(r"  3 .*open, [123] s left", line) for line in lines), lines
    assert any(line.startswith("robot: ") for line in lines) and any(line.startswith("pump: ") for line in lines)
