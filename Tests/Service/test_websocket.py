"""The WebSocket as RFC 6455 wants it spoken, as it must not be, and by too many."""
import json
import resource
import socket
import time

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from live import Live
from wire import BINARY, CLOSE, PING, PONG, TEXT, Wire, WireSocket, frame, request

IDLE_CONNECTIONS = 1000


def check_numbers(numbers):
    """Changes and states are counted; telemetry, which a client may miss, repeats the number of the last of them."""
    assert numbers == sorted(numbers)
    assert sorted(set(numbers)) == list(range(numbers[0], numbers[-1] + 1)), "something was missed"
    assert len(set(numbers)) >= 3


def numbers(live):
    """Of as many events as 25, and of at least three changes and states."""
    found = []
    while len(found) < 25 or len(set(found)) < 3:
        found.append(live.next()["seq"])
    return found


@pytest.mark.protocol
def test_hello_then_a_whole_snapshot(daemon):
    with Live(daemon) as live:
        hello = live.next()
        assert hello["type"] == "hello" and {"type", "system", "seq", "monotonicNs"} <= set(hello)
        state = live.next()
        assert (state["type"], state["system"]) == ("state", "robot")
        assert state["state"] == daemon.get("/api/robot").json()["state"]


def test_again_after_a_reconnect(daemon):
    with Live(daemon) as live:
        first = live.next()
    with Live(daemon) as live:
        again = live.next()
        assert again["type"] == "hello" and again["seq"] >= first["seq"]
        assert live.next()["type"] == "state"


def test_states_come_without_asking(daemon):
    with Live(daemon) as live:
        live.next(), live.next()
        times = [live.wait_for(lambda event: event["type"] == "robot")["monotonicNs"] for _ in range(3)]
    assert times == sorted(times) and len(set(times)) == 3


@pytest.mark.real_time
def test_one_state_a_second_without_asking(daemon):
    with Live(daemon) as live:
        live.next(), live.next()
        times = [event["monotonicNs"] for event in live.events(4.5) if event["type"] == "robot"]
    assert 3 <= len(times) <= 6
    for earlier, later in zip(times, times[1:]):
        assert 0.8 < (later - earlier) / 1e9 < 1.2


@pytest.mark.real_time
def test_telemetry_at_ten_hertz_by_its_own_clock(daemon):
    with Live(daemon) as live:
        live.say(type="subscribe", id=7, systems=["robot"], rateHz=10)
        live.wait_for(lambda event: event.get("id") == 7)
        first = live.wait_for(lambda event: event["type"] == "robot")["monotonicNs"]
        count = 0
        for event in live.events(6):
            if event["type"] != "robot":
                continue
            if event["monotonicNs"] > first + 2_000_000_000:
                break
            count += 1
    assert 18 <= count <= 22, count


def test_sequence_numbers_have_no_gap_for_who_hears_all(daemon):
    with Live(daemon) as live:
        live.say(type="subscribe", id=1)
        live.wait_for(lambda event: event.get("id") == 1)
        check_numbers(numbers(live))


@pytest.mark.real_time
def test_all_telemetry_comes_to_who_hears_all(daemon):
    with Live(daemon) as live:
        live.say(type="subscribe", id=1)
        live.wait_for(lambda event: event.get("id") == 1)
        found = [event["seq"] for event in live.events(3.5)]
    assert len(found) >= 25
    check_numbers(found)


def test_unsubscribed_is_told_that_it_is_and_hears_on(daemon):
    with Live(daemon) as live:
        live.say(type="subscribe", id=1)
        live.say(type="unsubscribe", id=2)
        live.wait_for(lambda event: event.get("id") == 2)
        live.wait_for(lambda event: event["type"] == "robot")


@pytest.mark.real_time
def test_unsubscribed_hears_once_a_second(daemon):
    with Live(daemon) as live:
        live.say(type="subscribe", id=1)
        live.say(type="unsubscribe", id=2)
        live.wait_for(lambda event: event.get("id") == 2)
        count = sum(event["type"] == "robot" for event in live.events(3))
    assert 2 <= count <= 4


@pytest.mark.parametrize("message,code", [
    ("not json", "BAD_JSON"), ("[]", None), ("{}", "VALIDATION"), ('{"type":"dance"}', None),
    ('{"type":"subscribe","rateHz":0}', "VALIDATION"), ('{"type":"subscribe","rateHz":1000}', "VALIDATION"),
    ('{"type":"subscribe","systems":["toaster"]}', None), ('{"type":"subscribe","systems":7}', "VALIDATION"),
])
def test_what_it_does_not_understand_is_told_and_forgiven(daemon, message, code):
    with Live(daemon) as live:
        live.socket.send(message)
        error = live.wait_for(lambda event: event["type"] == "error")
        assert code in (None, error["code"]) and error["message"]
        live.say(type="ping", id=3)
        live.wait_for(lambda event: event.get("id") == 3)


@pytest.mark.parametrize("systems", [["robto"], ["robot", "robto"], [], "robot", [7]])
def test_a_stop_of_what_nobody_knows_stops_everything_and_says_so(own_daemon, systems):
    daemon = own_daemon()
    with Live(daemon) as live:
        live.say(type="reset", id=1, systems=systems)
        live.wait_for(lambda event: event["type"] == "error")
        live.say(type="e-stop", id=2, systems=systems)
        answer = live.wait_for(lambda event: event.get("id") == 2)
        assert answer["type"] == "ack" and answer["message"].endswith(": everything was stopped")
        assert "robot" in answer["systems"]
    assert daemon.get("/api/robot").json()["state"] == "emergencyStopped"


def test_the_token_may_come_as_a_subprotocol_and_is_not_echoed(daemon):
    with Live(daemon, by_subprotocol=True) as live:
        assert live.socket.subprotocol == "events.v1"
        assert live.next()["type"] == "hello"


def test_no_token_and_no_upgrade(daemon):
    with WireSocket(daemon, token="x") as wire:
        assert wire.upgrade.status == 401
    with Wire(daemon.address) as wire:
        wire.send(request("GET", "/ws", daemon.port, token=daemon.admin))
        assert wire.answer().status == 426
    with Wire(daemon.address) as wire:
        wire.send(request("GET", f"/ws?token={daemon.admin}", daemon.port, headers=[
            "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="]))
        assert wire.answer().status == 401


@pytest.mark.parametrize("data,code", [
    (frame(TEXT, b"{}", masked=False), 1002), (frame(TEXT, b"{}", rsv=4), 1002), (frame(TEXT, b"{}", rsv=1), 1002),
    (frame(3, b""), 1002), (frame(11, b""), 1002), (frame(0, b"x"), 1002), (frame(PING, b"x", fin=False), 1002),
    (frame(PING, b"x" * 126), 1002), (frame(TEXT, b"\xff\xfe"), 1007), (frame(TEXT, b"\xed\xa0\x80"), 1007),
    (frame(TEXT, b"a" * 200_000), 1009), (frame(TEXT, b"", claimed=1 << 40), 1009),
    (frame(TEXT, b"", claimed=(1 << 63) + 1), 1009), (b"\x81\xfe\x00\x02\0\0\0\0{}", 1002),
    (b"\x82\xff" + (65535).to_bytes(8, "big") + bytes(4), 1002),
    (frame(TEXT, b"a" * 60_000, fin=False) + frame(0, b"a" * 60_000), 1009),
    (frame(TEXT, b"a", fin=False) + frame(TEXT, b"b"), 1002), (frame(CLOSE, b"\x03"), 1002),
    (frame(CLOSE, b"\x03\xec"), 1002), (frame(CLOSE, b"\x03\xe8\xff"), 1007),
], ids=[
    "unmasked", "rsv1", "rsv3", "opcode 3", "opcode 11", "continues nothing", "fragmented ping", "long ping", "not UTF-8",
    "surrogate", "200 kB", "claims 1 TB", "claims 2^63", "2 bytes said in two", "65,535 bytes said in eight",
    "fragments too long", "message in a message", "close of one byte",
    "close 1004", "close reason not UTF-8"])
def test_malformed_frames_close_with_the_code(daemon, data, code):
    with WireSocket(daemon) as wire:
        assert wire.upgrade.status == 101
        try:
            wire.send(data)
        except ConnectionError:
            pass
        assert wire.close_code() == code
    assert daemon.get("/api/status").status_code == 200


def test_a_binary_frame_that_is_nobodys_is_told(daemon):
    with Live(daemon) as live:
        for data in (b"", b"garbage", b"\x00" * 2000, b'{"left":1e999}'):
            live.socket.send(data)
            assert live.wait_for(lambda event: event["type"] == "error")["code"]


def test_ping_is_answered_with_its_payload(daemon):
    with WireSocket(daemon) as wire:
        wire.send(frame(PING, b"are you there"))
        while (received := wire.frame())[0] != PONG:
            pass
        assert received[1] == b"are you there"


def test_close_is_answered_and_the_connection_ends(daemon):
    with WireSocket(daemon) as wire:
        wire.send(frame(CLOSE, b"\x03\xe8"))
        assert wire.close_code() == 1000
        assert wire.is_closed()


def test_fragments_with_a_ping_between_are_one_message(daemon):
    with WireSocket(daemon) as wire:
        wire.send(frame(TEXT, b'{"type":"pi', fin=False) + frame(PING, b"x") + frame(0, b'ng","id":9}'))
        while True:
            opcode, payload = wire.frame()
            if opcode == TEXT and json.loads(payload).get("id") == 9:
                return


def test_half_open_the_client_is_gone_without_a_word(daemon):
    """Its machine lost power: no FIN. Others do not notice."""
    gone = [WireSocket(daemon) for _ in range(20)]
    for wire in gone:
        wire.send(frame(TEXT, b'{"type":"subscribe"}')[:-1])
        # No more reading; closed without a close frame, and at once.
        wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    with Live(daemon) as live:
        live.next()
        for wire in gone:
            wire.socket.close()
        live.wait_for(lambda event: event["type"] == "robot")
    assert daemon.get("/api/status").status_code == 200


def test_a_slow_reader_is_dropped_and_told_why_and_others_hear_everything(own_daemon):
    daemon = own_daemon()
    with Live(daemon) as other, WireSocket(daemon) as slow:
        other.say(type="subscribe", id=1)
        other.wait_for(lambda event: event.get("id") == 1)
        # Each of these is answered; no answer is read until the daemon has had enough, and then at once, since it hangs up a
        # second later.
        question = frame(TEXT, json.dumps({"type": "ping", "id": "x" * 200}).encode())
        slow.socket.settimeout(0.2)
        end = time.monotonic() + 120
        while "too slow" not in daemon.log:
            assert time.monotonic() < end, "never dropped"
            try:
                slow.send(question * 20)
            except TimeoutError:
                pass
        slow.socket.settimeout(60)
        code, reason = slow.close_reason()
        assert code == 1008 and "too slow" in reason
        check_numbers(numbers(other))


def beside_idle_ones(own_daemon):
    """How long each of fifty requests takes beside a thousand connections that say nothing."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < IDLE_CONNECTIONS + 200:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, IDLE_CONNECTIONS + 1000), hard))
    daemon = own_daemon()
    idle = []
    try:
        for _ in range(IDLE_CONNECTIONS):
            idle.append(socket.create_connection(daemon.address, timeout=60))
        times = []
        for _ in range(50):
            response = daemon.get("/api/status")
            assert response.status_code == 200
            times.append(response.elapsed.total_seconds())
        with Live(daemon) as live:
            assert live.next()["type"] == "hello"
            daemon.until_robot(lambda robot: robot["state"] == "driving", again=lambda: live.drive(20, 20))
    finally:
        for one in idle:
            one.close()
    return times


def test_a_thousand_idle_connections_and_one_that_works(own_daemon):
    beside_idle_ones(own_daemon)


@pytest.mark.real_time
def test_beside_a_thousand_idle_connections_one_is_answered_within_a_quarter_of_a_second(own_daemon):
    assert sorted(beside_idle_ones(own_daemon))[45] < 0.25


def test_an_expired_token_ends_its_socket(own_daemon):
    daemon = own_daemon()
    token = daemon.create_token("read", "short", "--expires", "2s")
    with Live(daemon, token=token) as live:
        with pytest.raises(ConnectionClosed) as closed:
            for _ in live.events(60):
                pass
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (4001, "TOKEN_EXPIRED")
    with pytest.raises(InvalidStatus):
        Live(daemon, token=token)


def test_a_revoked_token_ends_its_socket_and_what_it_drives(own_daemon):
    daemon = own_daemon()
    token = daemon.create_token("control", "lost phone")
    with Live(daemon, token=token) as live:
        daemon.until_robot(lambda robot: robot["state"] == "driving", again=lambda: live.drive_taken(20, 20, echo=1))
        identifier = token.split("_")[1]
        assert daemon.command("token", "revoke", identifier, "--config", daemon.config).returncode == 0
        with pytest.raises(ConnectionClosed) as closed:
            end = time.monotonic() + 60
            while time.monotonic() < end:
                live.drive(20, 20)
                list(live.events(0.05))
        assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (4001, "TOKEN_INVALID")
    assert daemon.get("/api/robot").json()["state"] != "driving"
