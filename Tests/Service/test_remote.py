"""`tactus remote`: the log, its level and the keys that may change, of a daemon that is elsewhere."""
import json
import os
import pty
import select
import subprocess
import time

import pytest

from daemon import PROGRAM, Daemon


@pytest.fixture
def daemon(tmp_path):
    with Daemon(tmp_path) as daemon:
        yield daemon


def remote(daemon, *words, token=None):
    return daemon.command("remote", *words, environment={"TACTUS_TOKEN": daemon.admin if token is None else token})


def at(daemon):
    return ["--host", daemon.url]


def speed_limit(daemon):
    return daemon.get("/api/robot").json()["settings"]["speedLimitPercent"]


def setting(daemon, key):
    return {one["key"]: one for one in daemon.get("/api/settings").json()["settings"]}[key]


def test_status_and_logs_are_those_of_the_daemon_at_the_address(daemon):
    status = remote(daemon, "status", daemon.url)
    assert status.returncode == 0 and "robot" in status.stdout, status.stderr
    logs = remote(daemon, "logs", daemon.url, "-n", "200", "--level", "info")
    assert logs.returncode == 0 and "serving http" in logs.stdout, logs.stderr


def test_the_log_level_is_shown_and_changed_and_nonsense_refused_in_the_daemons_words(daemon):
    assert remote(daemon, "level", *at(daemon)).stdout == "info\n"
    assert remote(daemon, "level", "debug", *at(daemon)).stdout == "debug\n"
    assert daemon.get("/api/log-level").json()["level"] == "debug"
    wrong = remote(daemon, "level", "loud", *at(daemon))
    assert wrong.returncode == 1 and "level: expected one of trace, debug" in wrong.stderr
    reader = remote(daemon, "level", "info", *at(daemon), token=daemon.create_token("read"))
    assert reader.returncode == 1 and "scope admin" in reader.stderr
    assert daemon.get("/api/log-level").json()["level"] == "debug"


def test_get_shows_value_range_and_sentence_of_all_of_a_section_and_of_one(daemon):
    one = remote(daemon, "get", "motors.speed_limit", *at(daemon))
    told = setting(daemon, "motors.speed_limit")
    assert one.returncode == 0
    assert one.stdout.splitlines()[0] == f"motors.speed_limit: {told['value']} (unless set)"
    assert told["expected"] in one.stdout and told["meaning"].split(" ")[0] in one.stdout
    section = [json.loads(line)["key"] for line in remote(daemon, "get", "leg", "--json", *at(daemon)).stdout.splitlines()]
    assert section and all(key.startswith("leg.") for key in section)
    everything = [json.loads(line) for line in remote(daemon, "get", "--json", *at(daemon)).stdout.splitlines()]
    assert everything == daemon.get("/api/settings").json()["settings"]
    none = remote(daemon, "get", "motors.sped_limit", *at(daemon))
    assert none.returncode == 1 and "such as motors.speed_limit, got 'motors.sped_limit'" in none.stderr


def test_set_shows_the_difference_and_takes_it_until_the_next_reload(daemon):
    before = daemon.config.read_text()
    done = remote(daemon, "set", "motors.speed_limit", "40", "--yes", *at(daemon))
    assert done.returncode == 0 and done.stdout.startswith("motors.speed_limit: 100.0 → 40.0\n"), done.stderr
    assert speed_limit(daemon) == 40
    assert setting(daemon, "motors.speed_limit")["isSet"] and not setting(daemon, "logging.level")["isSet"]
    assert "(set until the next reload or start)" in remote(daemon, "get", "motors.speed_limit", *at(daemon)).stdout
    done = [json.loads(line) for line in daemon.log.splitlines() if '"action":"settings"' in line]
    assert [line["value"] for line in done] == ["preview: motors.speed_limit=40.0", "motors.speed_limit=40.0"]
    assert {line["tokenId"] for line in done} == {"env"}
    # Another beside it; the first stays.
    assert remote(daemon, "set", "logging.level", "DEBUG", "--yes", *at(daemon)).returncode == 0
    assert speed_limit(daemon) == 40 and daemon.get("/api/log-level").json()["level"] == "debug"
    assert remote(daemon, "set", "motors.speed_limit", "40", *at(daemon)).stdout == "nothing has changed\n"
    assert daemon.config.read_text() == before
    reloaded = daemon.command("reload", daemon.url, environment={"TACTUS_TOKEN": daemon.admin})
    assert "motors.speed_limit: 40.0 → 100.0" in reloaded.stdout and "logging.level: debug → info" in reloaded.stdout
    assert speed_limit(daemon) == 100 and not setting(daemon, "motors.speed_limit")["isSet"]


def test_a_value_of_the_environment_is_not_in_the_difference(tmp_path):
    with Daemon(tmp_path, environment={"LIMIT": "37"}) as daemon:
        text = daemon.config.read_text()
        daemon.config.write_text(text.replace("command_timeout: 1.0\n", "command_timeout: 1.0\n  speed_limit: ${LIMIT}\n"))
        assert daemon.post("/api/reload").status_code == 200 and speed_limit(daemon) == 37
        asked = remote(daemon, "set", "motors.speed_limit", "40", *at(daemon))
        assert "(hidden) value" in asked.stdout and "→ 40.0" in asked.stdout and "37" not in asked.stdout


def test_without_a_terminal_and_yes_nothing_changes(daemon):
    asked = remote(daemon, "set", "motors.speed_limit", "40", *at(daemon))
    assert asked.returncode == 1 and "motors.speed_limit: 100.0 → 40.0" in asked.stdout
    assert "to change without asking give --yes" in asked.stderr and "nothing was changed" in asked.stderr
    assert speed_limit(daemon) == 100


@pytest.mark.parametrize("answer, limit", [("y", 40), ("n", 100), ("", 100)])
def test_at_a_terminal_it_asks(daemon, answer, limit):
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [PROGRAM, "remote", "set", "motors.speed_limit", "40", *at(daemon)], stdin=theirs, stdout=theirs, stderr=theirs,
        env=daemon.own_environment(TACTUS_TOKEN=daemon.admin))
    os.close(theirs)
    seen, end = "", time.monotonic() + 60
    while "[y/N]" not in seen:
        assert time.monotonic() < end, seen
        if select.select([ours], [], [], 0.2)[0]:
            seen += os.read(ours, 4096).decode()
    assert "motors.speed_limit: 100.0 → 40.0" in seen and speed_limit(daemon) == 100
    os.write(ours, answer.encode() + b"\n")
    assert process.wait(60) == (0 if answer == "y" else 1)
    os.close(ours)
    assert speed_limit(daemon) == limit


@pytest.mark.parametrize("key, value, words", [
    ("motors.speed_limit", "400", "motors.speed_limit: expected"),
    ("motors.speed_limit", "fast", "motors.speed_limit: expected"),
    ("motors.sped_limit", "40", "such as motors.speed_limit, got 'motors.sped_limit'"),
    ("network.http_port", "9000", "got 'network.http_port', which only a start changes"),
    ("motors.speed_limit", "${HOME}", "expected a value without ${"),
    ("plants.watering[7].seconds", "30", "got 'plants.watering[7].seconds', which it has not"),
])
def test_what_the_daemon_refuses_is_said_in_its_words_and_nothing_changes(daemon, key, value, words):
    before = daemon.get("/api/settings").json()
    refused = remote(daemon, "set", key, value, "--yes", *at(daemon))
    assert refused.returncode == 1 and words in refused.stderr, refused.stderr
    assert daemon.get("/api/settings").json() == before


@pytest.mark.parametrize("value, status", [(40, 200), (40.5, 200), ("40", 200), (400, 422), (True, 422), (None, 422)])
def test_a_value_of_the_api_may_be_a_number_of_json(daemon, value, status):
    wish = {"key": "motors.speed_limit", "value": value, "preview": True}
    answer = daemon.request("PUT", "/api/settings", json=wish)
    assert answer.status_code == status, answer.text


def test_a_text_which_may_name_a_file_or_a_program_is_changed_in_the_file(own_daemon):
    daemon = own_daemon(more="camera: {source: test}\n")
    before = daemon.get("/api/settings").json()
    refused = remote(daemon, "set", "camera.pipeline", "filesrc location=/etc/passwd", "--yes", *at(daemon))
    assert refused.returncode == 1 and "which is changed in the file" in refused.stderr, refused.stderr
    assert daemon.get("/api/settings").json() == before


def test_a_token_that_is_not_valid_is_said_by_status_too(daemon):
    status = remote(daemon, "status", daemon.url, token="0" * 64)
    assert status.returncode == 1 and "the token is not valid here; on the daemon's machine" in status.stderr, status.stderr


def test_a_file_that_has_changed_is_to_be_reloaded_first(daemon):
    text = daemon.config.read_text()
    daemon.config.write_text(text.replace("command_timeout: 1.0", "command_timeout: 0.9"))
    refused = remote(daemon, "set", "motors.speed_limit", "40", "--yes", *at(daemon))
    assert refused.returncode == 1 and "reload it first. Nothing was changed" in refused.stderr
    assert "motors.command_timeout" in refused.stderr and speed_limit(daemon) == 100
    assert daemon.command("reload", daemon.url, environment={"TACTUS_TOKEN": daemon.admin}).returncode == 0
    assert remote(daemon, "set", "motors.speed_limit", "40", "--yes", *at(daemon)).returncode == 0
    assert speed_limit(daemon) == 40


def test_without_a_token_of_scope_admin_neither_get_nor_set(daemon):
    token = daemon.create_token("control")
    for words in (["get"], ["set", "motors.speed_limit", "40", "--yes"]):
        refused = remote(daemon, *words, *at(daemon), token=token)
        assert refused.returncode == 1 and "scope admin" in refused.stderr
    nobody = remote(daemon, "get", *at(daemon), token="")
    assert nobody.returncode == 1 and "TACTUS_TOKEN" in nobody.stderr
    assert speed_limit(daemon) == 100
