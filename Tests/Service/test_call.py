"""`tactus call` against a daemon, as a shell uses it."""
import contextlib
import json
import os
import pty
import re
import socket
import subprocess
import threading
import time

import pytest

from daemon import PROGRAM, START_LIMIT_SECONDS, WAIT_LIMIT_SECONDS, free_port, own_environment


def call(daemon, *words, token="", **options):
    """`token`: nothing for the admin's, None for none."""
    environment = {"TACTUS_TOKEN": "" if token is None else token or daemon.admin}
    return daemon.command("call", "--port", daemon.port, *words, environment=environment, **options)


def done(daemon, *words):
    # What a loop that was kept waiting did not do is STALE, and may be asked for once more.
    limit = time.monotonic() + WAIT_LIMIT_SECONDS
    while "STALE" in (result := call(daemon, *words)).stderr and time.monotonic() < limit:
        pass
    assert result.returncode == 0 and result.stderr == "", result.stderr
    return json.loads(result.stdout)


@pytest.mark.protocol
@pytest.mark.drives
def test_drives_looks_and_stops(daemon):
    assert done(daemon, "robot", "drive", "left=30", "right=-30")["ok"] is True
    assert done(daemon, "robot")["ok"] is True
    assert done(daemon, "robot", "stop")["ok"] is True
    assert [bus["kind"] for bus in done(daemon, "sim", "bus")["buses"]]


def test_the_answer_in_one_line_is_the_same(daemon):
    wide, narrow = call(daemon, "zones"), call(daemon, "zones", "--json")
    assert len(wide.stdout.splitlines()) > 10 and len(narrow.stdout.splitlines()) == 1
    assert json.loads(wide.stdout) == json.loads(narrow.stdout) == daemon.get("/api/zones").json()


def at_a_terminal(daemon, *words):
    """What a person sees, whose standard output is a terminal."""
    ours, theirs = pty.openpty()
    try:
        result = subprocess.run(
            [PROGRAM, "call", "--port", str(daemon.port), *words], stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE,
            timeout=START_LIMIT_SECONDS, env=own_environment(daemon.folder, TACTUS_TOKEN=daemon.admin))
        assert result.returncode == 0, result.stderr
        return os.read(ours, 1 << 16).decode().replace("\r\n", "\n")
    finally:
        os.close(theirs)
        os.close(ours)


def test_a_person_reads_words_and_a_program_json(own_daemon):
    daemon = own_daemon()
    assert daemon.request("PUT", "/api/zones", json={"zones": [{"id": 2, "name": "Roses"}]}).status_code == 200
    assert re.fullmatch(r"Roses is on, (5 min|4 min 5\d s) left\n", at_a_terminal(daemon, "zone/roses", "on", "minutes=5"))
    assert at_a_terminal(daemon, "zone/Roses", "off") == "Roses is off\n"
    assert "\n  2 Roses is off\n" in at_a_terminal(daemon, "zones")
    assert at_a_terminal(daemon, "robot").startswith("robot: ")
    assert at_a_terminal(daemon, "e-stop") == "e-stop: done, systems robot, leg, sprinkler, plants\n"
    assert json.loads(at_a_terminal(daemon, "zones", "--json")) == daemon.get("/api/zones").json()


def test_names_stand_for_numbers(own_daemon):
    daemon = own_daemon()
    assert daemon.request("PUT", "/api/zones", json={"zones": [{"id": 1, "name": "Lawn"}, {"id": 2, "name": "Roses"}, {"id": 3, "name": "Roses"}]}).status_code == 200
    assert done(daemon, "zone/Lawn", "on", "minutes=1")["zoneId"] == 1
    assert done(daemon, "plants", "name=Basil", 'sensors:=["0x36"]')["ok"] is True
    assert done(daemon, "plants/basil", "watered")["ok"] is True
    assert done(daemon, "log", "zone=Lawn")["ok"] is True
    two = call(daemon, "zone/Roses", "on")
    assert two.returncode == 64 and two.stderr == "zone: expected a number, since 2 are called Roses (2, 3), got the name\n"
    none = call(daemon, "zone/Lawm", "on")
    assert none.returncode == 64 and none.stderr.startswith("zone: expected a number or one of Lawn (1), Roses (2), "), none.stderr
    without = call(daemon, "zone/Lawn", "on", token=None)
    assert without.returncode == 1 and "asks for a token" in without.stderr


def test_values_of_every_type(own_daemon):
    daemon = own_daemon()
    assert done(daemon, "zone/1", "on", "minutes=1", "mode=set")["ok"] is True
    assert done(daemon, "zone/1", "off")["ok"] is True
    assert done(daemon, "leg/0", "arm")["ok"] is True
    assert done(daemon, "plants", "name=12", 'sensors:=["0x36"]', "dryPercent=25.5")["ok"] is True
    assert done(daemon, "run-once", 'zones:=[{"zoneId": 2, "minutes": 1}]')["ok"] is True
    assert done(daemon, "stop")["ok"] is True
    assert done(daemon, "log", "limit=1")["ok"] is True
    assert done(daemon, "--method", "put", "seasonal", "percent=80")["ok"] is True
    assert done(daemon, "seasonal")["percent"] == 80
    assert done(daemon, "rain-delay", "hours=1")["ok"] is True
    assert done(daemon, "--method", "delete", "rain-delay")["ok"] is True


def test_emergency_stop_and_reset_of_everything(own_daemon):
    daemon = own_daemon()
    assert done(daemon, "e-stop")["systems"] == ["robot", "leg", "sprinkler", "plants"]
    refused = call(daemon, "zone/1", "on")
    assert refused.returncode == 1 and refused.stdout == "" and "STOPPED)" in refused.stderr, refused.stderr
    assert done(daemon, "reset")["ok"] is True


@pytest.mark.parametrize("words", [["estop"], ["E_STOP"], ["e stop"], ["robt", "e-stop"], ["e-stop", "now"]])
def test_an_emergency_stop_in_another_spelling_and_of_no_system_stops_everything(own_daemon, words):
    daemon = own_daemon()
    result = call(daemon, *words)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["systems"] == ["robot", "leg", "sprinkler", "plants"]
    assert daemon.get("/api/robot").json()["emergencyStopped"] is True
    assert ("everything is stopped instead" in result.stderr) == (words[0] == "robt")


def test_an_emergency_stop_is_not_refused_for_a_value_with_it(own_daemon):
    daemon = own_daemon()
    one = call(daemon, "robot", "e-stop", "reason=fire")
    assert one.returncode == 0, one.stderr
    assert one.stderr == "robot e-stop: expected no words or values with it, got reason=fire: it was sent without\n"
    assert daemon.get("/api/robot").json()["emergencyStopped"] is True
    assert call(daemon, "zone/1", "on", "minutes=1").returncode == 0
    dashed = call(daemon, "robot", "e-stop", "--force")
    assert dashed.returncode == 0, dashed.stderr
    assert dashed.stderr == "robot e-stop: expected no other options, got --force: it is sent without\n"
    every = call(daemon, "e-stop", "reason=x", "reason=x", ":={")
    assert every.returncode == 0, every.stderr
    assert every.stderr == "e-stop: expected no words or values with it, got reason=x reason=x :={: it was sent without\n"
    assert json.loads(every.stdout)["systems"] == ["robot", "leg", "sprinkler", "plants"]


def test_an_emergency_stop_that_an_output_does_not_confirm_says_so(own_daemon):
    daemon = own_daemon(more="pump: {}\n")
    assert daemon.post("/api/sim/fault", {"fault": "gone", "bus": "pump-serial"}).status_code == 200
    result = call(daemon, "e-stop")
    assert result.returncode == 1 and "pump" in json.loads(result.stdout)["systems"], result.stderr
    assert "E-STOP is NOT CONFIRMED: pump took it, but" in result.stderr and "power switch" in result.stderr, result.stderr
    # Of a system that has confirmed it is done.
    assert done(daemon, "robot", "e-stop")["ok"] is True


def test_an_emergency_stop_that_is_refused_or_not_answered_says_what_still_stops(daemon):
    refused = call(daemon, "e-stop", token="nothing-secret")
    assert refused.returncode == 1 and refused.stderr.startswith("E-STOP is NOT CONFIRMED: "), refused.stderr
    assert "does not accept this token" in refused.stderr and "power switch" in refused.stderr
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        result = daemon.command("call", "--port", silent.getsockname()[1], "e-stop")
    assert result.returncode == 1 and result.stderr.count("E-STOP is NOT CONFIRMED: ") == 2, result.stderr
    assert "does not answer, and it is sent again" in result.stderr and "it may still be done later" in result.stderr


@pytest.mark.parametrize("answer, said", [
    (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "answers, but not as tactus does"),
    (b"SSH-2.0-OpenSSH\r\n", "its answer is no whole HTTP answer"),
])
def test_an_emergency_stop_that_something_else_answers_is_none(daemon, answer, said):
    with socket.create_server(("127.0.0.1", 0)) as other:
        def serve():
            with contextlib.suppress(OSError):
                client, _ = other.accept()
                with client:
                    client.recv(1 << 16)
                    client.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        result = daemon.command("call", "--port", other.getsockname()[1], "e-stop")
        thread.join(WAIT_LIMIT_SECONDS)
    assert result.returncode == 1 and result.stdout == "", result.stdout
    assert result.stderr.startswith("E-STOP is NOT CONFIRMED: ") and said in result.stderr, result.stderr


def test_a_bare_stop_says_whose_it_is_and_what_stops_everything(daemon):
    assert at_a_terminal(daemon, "stop").endswith("(sprinkler alone; tactus call e-stop stops everything)\n")


def test_a_reset_waits_until_a_stick_that_was_held_counts_as_at_rest(own_daemon):
    daemon = own_daemon(command_timeout=4.0)
    assert done(daemon, "robot", "drive", "left=30", "right=30")["ok"] is True
    assert done(daemon, "e-stop")["ok"] is True
    assert done(daemon, "reset")["ok"] is True
    assert daemon.get("/api/robot").json()["emergencyStopped"] is False


def test_a_reset_that_stays_refused_says_why(own_daemon):
    refused = call(own_daemon(), "robot", "reset")
    assert refused.returncode == 1 and "(NOTHING_TO_RESET)" in refused.stderr, refused.stderr


def test_the_list_is_what_this_daemon_has(daemon):
    result = call(daemon, token=None)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    groups = [line for line in lines if not line.startswith(" ")]
    assert {"daemon", "robot", "leg", "sprinkler", "plants", "simulation"} <= set(groups)
    # Neither runs here.
    assert "pump" not in groups and "video" not in groups
    assert any(line.startswith("  robot drive left=NUMBER(-100…100 %) right=NUMBER(-100…100 %)") for line in lines)
    document = daemon.get("/api/openapi.json", token=None).json()
    assert not [path for path in document["paths"] if path.startswith(("/api/pump", "/api/video"))]
    # A backup is a file; a command that takes one of several forms has a line each.
    posts = [path for path, item in document["paths"].items() if "post" in item and "application/vnd.sqlite3" not in json.dumps(item["post"])]
    commands = {re.split(r" \[?:?[a-zA-Z]*:?=|  #", line)[0] for line in lines if line.startswith(" ")}
    assert len(commands) == len(posts)
    faults = [line for line in lines if line.startswith("  sim fault")]
    assert any(line.startswith("  sim fault fault=nak bus=i2c-1|") for line in faults), faults
    assert any(" [bus=" in line for line in faults if "fault=clear" in line)


@pytest.mark.parametrize("words, said", [
    (["robot", "drive", "lefd=1"], "robot drive: expected a value that it has (left?), got lefd"),
    (["robot", "drive", "left=fast"], "left: expected a number -100…100, got fast"),
    (["robot", "drive", "left=500", "right=0"], "left: expected a number -100…100, got 500"),
    (["robot", "drive", "left=5"], "robot drive: expected right=NUMBER(-100…100 %), got none"),
    (["zone/1", "on", "minutes=abc"], "minutes: expected a number 0.02…1440, got abc"),
    (["zone/1", "on", "minutes=2000"], "minutes: expected a number 0.02…1440, got 2000"),
    (["zone/1", "on", "mode=extent", "minutes=1"], "mode: expected one of set, extend (extend?), got extent"),
    (["zone/65", "on"], "expected an integer 1…64, got 65"),
    (["sim", "fault", "fault=nak", "address=22"], "sim fault: expected bus=i2c-1|"),
    (["sim", "fault", "fault=nak", "address=22", "bus=i2c-2"], "(i2c-1?), got i2c-2"),
    (["sim", "fault", "fault=nka", "address=22", "bus=i2c-1"], "(nak?), got nka"),
    (["robot", "driv"], "expected a command that this daemon has (robot drive?), got robot driv"),
    (["zone/1", "on", "5"], "zone 1 on: expected NAME=VALUE (litres=5 or minutes=5 or seconds=5), got 5"),
    (["pump", "on"], "expected a command that this daemon has ("),
    (["left=1"], "expected a command before its values"),
    (["--json"], "Expected a command with --json and --method."),
])
def test_bad_usage_is_64_and_sends_nothing(daemon, words, said):
    result = call(daemon, *words)
    assert result.returncode == 64 and result.stdout == "" and said in result.stderr, result.stderr


def test_what_the_server_refuses_is_told_with_code_and_field(daemon):
    """What only the daemon knows; and a whole body, which is its alone to check."""
    result = call(daemon, "robot", "drive", ':={"left": 500, "right": 0}')
    assert result.returncode == 1 and result.stdout == ""
    assert result.stderr == "robot drive: left: expected a number -100…100, got 500 (VALIDATION, field left)\n"
    unknown = call(daemon, "zone/9", "on")
    assert unknown.returncode == 1 and "zone/9" in unknown.stderr.replace("zone 9", "zone/9"), unknown.stderr


def test_a_fault_without_its_bus_is_told_which_buses_there_are(daemon):
    answer = daemon.post("/api/sim/fault", {"fault": "nak", "address": 22})
    assert answer.status_code == 422 and answer.json()["field"] == "bus"
    assert re.search(r"expected one of i2c-1, .*, got nothing", answer.json()["message"]), answer.text


def test_tokens_come_from_the_environment_or_a_file(daemon, tokens, tmp_path):
    without = call(daemon, "robot", token=None)
    assert without.returncode == 1 and "asks for a token: set TACTUS_TOKEN or give --token-file FILE" in without.stderr
    wrong = call(daemon, "robot", token="nothing-secret")
    assert wrong.returncode == 1 and "does not accept this token" in wrong.stderr and "nothing-secret" not in wrong.stderr
    assert call(daemon, "robot", token=tokens["read"]).returncode == 0
    narrow = call(daemon, "robot", "stop", token=tokens["read"])
    assert narrow.returncode == 1 and "does not allow this" in narrow.stderr
    file = tmp_path / "token"
    file.write_text(tokens["control"] + "\n")
    assert call(daemon, "robot", "stop", "--token-file", file, token=None).returncode == 0


def test_nobody_there_says_how_to_start_one(daemon):
    for words in [["robot"], ["e-stop"], []]:
        result = daemon.command("call", "--port", free_port(), *words)
        assert result.returncode == 1 and result.stdout == ""
        assert "Connection refused" in result.stderr and "tactus run --config FILE" in result.stderr and "--host" in result.stderr
