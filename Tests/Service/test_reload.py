"""`tactus reload`: the file as it is now, taken whole or not at all, while the robot drives."""
import json
import os
import re
import struct
import time
from pathlib import Path

import pytest

from daemon import PROGRAM, ROOT, Daemon, let_others_in
from live import Live


def wait_for(condition, seconds=60):
    limit = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < limit, "it did not come to that"
        time.sleep(0.02)
    return found


@pytest.fixture
def daemon(tmp_path):
    with Daemon(tmp_path) as daemon:
        yield daemon


def change(daemon, old, new):
    text = daemon.config.read_text()
    assert old in text
    daemon.config.write_text(text.replace(old, new, 1))


def reload(daemon):
    return daemon.command("reload", "--port", daemon.port, environment={"TACTUS_TOKEN": daemon.admin})


def limit(daemon):
    return daemon.get("/api/robot").json()["settings"]["speedLimitPercent"]


def test_a_lower_limit_cuts_what_drives_and_a_higher_one_waits_until_it_stands(daemon):
    change(daemon, "  command_timeout: 1.0\n", "  command_timeout: 1.0\n  speed_limit: 80\n")
    assert reload(daemon).returncode == 0 and limit(daemon) == 80
    with Live(daemon) as live:
        def driving(percent):
            live.drive(90, 90)
            return daemon.get("/api/robot").json()["speedsPercent"]["left"] == percent

        wait_for(lambda: driving(80))
        change(daemon, "speed_limit: 80", "speed_limit: 30")
        assert "30.0" in reload(daemon).stdout
        wait_for(lambda: driving(30))
        change(daemon, "speed_limit: 30", "speed_limit: 100")
        # The driver goes on while the file is read.
        told = None
        assert driving(30)
        told = reload(daemon).stdout
        # It may have stood meanwhile: silence stops it after a second.
        if "wider limits of robot" in told:
            live.drive(0, 0)
        wait_for(lambda: limit(daemon) == 100)
        wait_for(lambda: driving(90))


def test_the_pump_a_shorter_run_at_once_and_a_longer_one_when_it_is_off(tmp_path):
    with Daemon(tmp_path, more="pump:\n  backend: sim\n  run_limit_min: 20\n") as daemon:
        pump = lambda: daemon.get("/api/pump").json()
        wait_for(lambda: pump()["state"] == "off")
        assert daemon.post("/api/pump/on", {"speedPercent": 50}).status_code == 200
        left = wait_for(lambda: pump()["state"] == "on" and pump()["leftS"])
        assert 1100 < left <= 1200
        change(daemon, "run_limit_min: 20", "run_limit_min: 10\n  on_overheat: keep")
        told = reload(daemon).stdout
        assert "pump.run_limit_min: 20 → 10" in told and "pump.on_overheat: stop → keep" in told
        wait_for(lambda: pump()["leftS"] <= 600)
        change(daemon, "run_limit_min: 10", "run_limit_min: 60")
        reload(daemon)
        assert pump()["leftS"] <= 600 and pump()["state"] == "on"
        daemon.post("/api/pump/off")
        wait_for(lambda: pump()["leftS"] > 3000)


def test_the_legs_a_shorter_deadman_cuts_at_once_and_a_longer_one_waits_for_disarm(daemon):
    leg = lambda: daemon.get("/api/leg").json()["legs"][0]
    assert daemon.post("/api/leg/0/arm").status_code == 200
    assert daemon.post("/api/leg/0/set", {"pulseUs": 1600}).status_code == 200
    change(daemon, "deadman_ms: 10000", "deadman_ms: 5000")
    assert "leg.deadman_ms: 10000 → 5000\n" == reload(daemon).stdout
    change(daemon, "deadman_ms: 5000", "deadman_ms: 9000")
    assert "wider limits of leg" in reload(daemon).stdout
    time.sleep(0.2)
    change(daemon, "deadman_ms: 9000", "deadman_ms: 100")
    assert "leg.deadman_ms: 9000 → 100" in reload(daemon).stdout
    # Its last command is older than that: no need to wait for anything.
    wait_for(lambda: leg()["state"] == "fault")


@pytest.mark.real_time
def test_a_shorter_deadman_cuts_before_the_longer_one_would(daemon):
    began = time.monotonic()
    test_the_legs_a_shorter_deadman_cuts_at_once_and_a_longer_one_waits_for_disarm(daemon)
    # The one that it was armed with, and that of the first change.
    assert time.monotonic() - began < 5


def test_the_sprinkler_what_rain_means(daemon):
    assert daemon.post("/api/rain-delay", {"hours": 1}).status_code == 200
    assert "rain delay" in daemon.post("/api/zone/1/on", {"minutes": 1}).json()["warning"]
    change(daemon, "  legacy_routes: true\n", "  legacy_routes: true\n  manual_in_rain: deny\n  rain_delay_hours: 48\n")
    assert reload(daemon).stdout == "sprinkler.manual_in_rain: warn → deny\nsprinkler.rain_delay_hours: 24 → 48\n"
    assert daemon.post("/api/zone/1/on", {"minutes": 1}).status_code == 423
    controller = daemon.get("/api/sprinkler/settings").json()
    assert controller["manualInRain"] == "deny" and controller["rainDelayHours"] == 48, controller
    # What runs goes on; a reload again has nothing to say.
    assert daemon.get("/api/status").json()["activeZoneId"] == 1
    assert reload(daemon).stdout == "nothing has changed\n"


def test_the_sprinkler_a_tighter_flow_limit_at_once_and_a_wider_one_when_all_is_closed(tmp_path):
    with Daemon(tmp_path) as daemon:
        daemon.stop()
        change(daemon, "  legacy_routes: true\n", "  legacy_routes: true\n  flow: {pin: 7, no_flow_l_per_min: 20, settle_s: 3600}\n")
        daemon.start()
        state = lambda: daemon.get("/api/sprinkler").json()
        # Simulated, 10 l/min flow through an open valve: too little for this limit.
        assert daemon.post("/api/zone/1/on", {"minutes": 60}).status_code == 200
        change(daemon, "no_flow_l_per_min: 20, settle_s: 3600", "settle_s: 3600")
        told = reload(daemon).stdout
        assert "sprinkler.flow.no_flow_l_per_min: 20.0 → nothing" in told and "wider limits of sprinkler" in told, told
        # Back, and tighter: the wider one is forgotten, and the measurement ends.
        change(daemon, "settle_s: 3600", "no_flow_l_per_min: 20, settle_s: 1")
        told = reload(daemon).stdout
        assert "sprinkler.flow.settle_s: 3600 → 1" in told and "wider limits" not in told, told
        wait_for(lambda: state()["state"] == "fault")
        assert daemon.get("/api/status").json()["activeZoneId"] is None
        # All is closed.
        change(daemon, "no_flow_l_per_min: 20, settle_s: 1", "settle_s: 3600")
        told = reload(daemon).stdout
        assert "sprinkler.flow.settle_s: 1 → 3600" in told and "wider limits" not in told, told
        change(daemon, "pin: 7", "pin: 7, pulses_per_litre: 400")
        assert "sprinkler.flow.pulses_per_litre: expected 450" in reload(daemon).stderr


def test_the_plants_what_a_link_may_ask_for(daemon):
    plant = daemon.post("/api/plants", {"name": "Basil", "sensors": ["0x36"]}).json()["plant"]["id"]
    watering = lambda: daemon.get(f"/api/plants/{plant}").json()["plant"]["watering"]
    before = watering()
    change(daemon, "seconds: 30}", "seconds: 20, max_per_day: 1}")
    told = reload(daemon).stdout
    assert told == "plants.watering[0].seconds: 30 → 20\nplants.watering[0].max_per_day: 2 → 1\n"
    # The plants' desk takes it at its next beat.
    wait_for(lambda: watering() != before)
    change(daemon, "zone: 2, seconds: 20", "zone: 3, seconds: 20")
    assert "plants.watering[0].zone: expected 2 until the next start, got 3" in reload(daemon).stderr


def size(jpeg):
    """Width and height, of the frame's header: SOF0 or, of a progressive picture, SOF2."""
    at = 2
    while jpeg[at + 1] not in (0xC0, 0xC2):
        at += 2 + struct.unpack(">H", jpeg[at + 2:at + 4])[0]
    return struct.unpack(">HH", jpeg[at + 5:at + 9])[::-1]


@pytest.mark.skipif(
    not (Path(PROGRAM).parent / "tactus-video").exists(), reason="this build has no tactus-video: no trait Video")
def test_the_video_another_picture_from_another_process_and_a_longer_recording_from_the_same(tmp_path):
    let_others_in(tmp_path)
    camera = "camera: {source: test, resolution: [320, 240], bitrate: 500000}\nvideo:\n  record_limit_mb: 5\n"
    with Daemon(tmp_path, more=camera) as daemon:
        video = lambda: daemon.get("/api/video").json()
        snapshot = lambda: daemon.get("/api/video/snapshot.jpg").content
        process = wait_for(lambda: video()["process"]["id"] and video()["process"]["starts"], seconds=30)
        assert size(snapshot()) == (320, 240)
        change(daemon, "record_limit_mb: 5", "record_limit_mb: 6")
        assert reload(daemon).stdout == "video.record_limit_mb: 5 → 6\n"
        assert video()["process"]["starts"] == process
        change(daemon, "[320, 240], bitrate: 500000", "[160, 120], rotation: 90, bitrate: 400000")
        told = reload(daemon).stdout
        assert "camera.resolution" in told and "camera.bitrate: 500000 → 400000" in told, told
        wait_for(lambda: video()["process"]["id"] and video()["process"]["starts"] == process + 1, seconds=30)
        assert (video()["picture"]["width"], video()["picture"]["bitsPerSecond"]) == (120, 400000), video()
        assert size(snapshot()) == (120, 160)
        assert "the video process ended" not in daemon.log
        assert reload(daemon).stdout == "nothing has changed\n"


def test_what_only_a_start_can_take_is_named_with_its_place_and_nothing_is_taken(daemon):
    change(daemon, "acceleration: 0", "acceleration: 10")
    change(daemon, "output_enable: GPIO22", "output_enable: GPIO23")
    refused = reload(daemon)
    assert refused.returncode == 1
    assert re.search(r"tactus\.yaml:\d+:\d+: leg\.output_enable: expected GPIO22 until the next start, got GPIO23", refused.stderr)
    assert "motors.acceleration" not in refused.stderr
    assert daemon.get("/api/robot").json()["settings"]["acceleration"] == 0


def test_a_wrong_file_changes_nothing_and_every_error_has_its_place(daemon):
    change(daemon, "acceleration: 0", "acceleration: 101\n  sped_limit: 3")
    refused = reload(daemon)
    assert refused.returncode == 1
    assert "motors.acceleration: expected a number 0…100, got 101" in refused.stderr
    assert "motors.sped_limit: expected a known key (speed_limit?)" in refused.stderr


def test_a_file_without_a_system_is_refused_and_a_restart_is_not_said_to_take_it(daemon):
    daemon.config.write_text("# nothing\n")
    refused = reload(daemon)
    assert refused.returncode == 1 and "Nothing was changed; a restart would fail" in refused.stderr, refused.stderr
    assert "takes all of it" not in refused.stderr and limit(daemon) == 100


def test_a_named_pipe_in_the_files_place_is_refused_at_once_and_holds_up_nobody(daemon):
    text = daemon.config.read_text()
    daemon.config.unlink()
    os.mkfifo(daemon.config)
    # More than there are threads for a disk: each would keep one until somebody opened the pipe's other end.
    for _ in range(6):
        answer = daemon.post("/api/reload", token=daemon.admin)
        assert answer.status_code == 422 and "is not a file but a named pipe" in answer.json()["message"]
    daemon.config.unlink()
    daemon.config.write_text(text)
    assert daemon.request("PUT", "/api/seasonal", json={"percent": 80}).status_code == 200
    assert reload(daemon).returncode == 0


def test_the_log_level_and_a_section_that_goes(daemon):
    change(daemon, "level: INFO", "level: DEBUG")
    assert "logging.level: info → debug" in reload(daemon).stdout
    assert daemon.get("/api/log-level").json()["level"] == "debug"
    assert reload(daemon).stdout == "nothing has changed\n"
    change(daemon, "leg:\n  # A shared test machine may pause.\n  deadman_ms: 10000\n  output_enable: GPIO22\n  battery:\n    sensor: ads1115\n", "")
    assert "leg: the program runs with this section, which the file no longer has" in reload(daemon).stderr


def test_no_secret_is_shown(daemon):
    change(daemon, "service:\n", "service:\n  jwt_key: 0123456789abcdef0123456789abcdef\n")
    refused = reload(daemon)
    assert "service.jwt_key: expected nothing until the next start, got a (hidden) value" in refused.stderr
    assert "0123456789abcdef" not in refused.stderr + daemon.log


def test_who_may(daemon):
    control = daemon.create_token("control")
    assert daemon.post("/api/reload", token=control).status_code == 403
    assert daemon.post("/api/reload", token=None).status_code == 401


def unit_reload(daemon, folder):
    """What `systemctl reload tactus` runs: the unit's own line, as the service's account, with no token of anybody's."""
    unit = (ROOT / "config/tactus.service").read_text()
    [line] = re.findall(r"^ExecReload=(.+)$", unit, re.MULTILINE)
    name, *arguments = line.split()
    assert name == "tactus"
    return daemon.command(*arguments, environment={"RUNTIME_DIRECTORY": str(folder), "TACTUS_TOKEN": ""})


def test_the_units_reload_takes_the_file_or_fails_with_its_errors(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    with Daemon(tmp_path, environment={"RUNTIME_DIRECTORY": str(folder)}) as daemon:
        access = folder / "safe-state-door"
        wait_for(access.exists)
        assert access.stat().st_mode & 0o777 == 0o600
        change(daemon, "  command_timeout: 1.0\n", "  command_timeout: 1.0\n  speed_limit: 40\n")
        taken = unit_reload(daemon, folder)
        assert taken.returncode == 0 and "motors.speed_limit: 100.0 → 40.0" in taken.stdout, taken.stderr
        assert limit(daemon) == 40
        change(daemon, "speed_limit: 40", "speed_limit: 400")
        wrong = unit_reload(daemon, folder)
        assert wrong.returncode == 1 and re.search(r"tactus.yaml:\d+:\d+: motors.speed_limit: expected a number 0…100, got 400", wrong.stderr)
        # Another port in the file is no way to miss the daemon that runs.
        change(daemon, "speed_limit: 400", "speed_limit: 40")
        change(daemon, f"http_port: {daemon.port}", "http_port: 1")
        restart = unit_reload(daemon, folder)
        assert restart.returncode == 1 and f"network.http_port: expected {daemon.port} until the next start, got 1" in restart.stderr
        assert limit(daemon) == 40
        # It opens nothing to others, and is in no line of the log.
        token = json.loads(access.read_text())["token"]
        assert token not in daemon.log and daemon.get("/api/robot", token=token[:-1] + "x").status_code == 401
    assert not access.exists()
    gone = unit_reload(daemon, folder)
    assert gone.returncode == 1 and "way in" in gone.stderr


def test_an_access_file_of_an_earlier_start_opens_nothing(tmp_path):
    folder = tmp_path / "run"
    folder.mkdir()
    with Daemon(tmp_path, environment={"RUNTIME_DIRECTORY": str(folder)}) as daemon:
        wait_for((folder / "safe-state-door").exists)
        old = json.loads((folder / "safe-state-door").read_text())["token"]
        daemon.stop()
        daemon.start()
        wait_for((folder / "safe-state-door").exists)
        assert daemon.get("/api/robot", token=old).status_code == 401
        assert unit_reload(daemon, folder).returncode == 0


def test_what_may_change_is_listed_with_its_value_and_range(own_daemon):
    daemon = own_daemon(more="mqtt: {broker: 127.0.0.1, port: 1}\n")
    document = daemon.get("/api/settings").json()
    assert document["file"] == str(daemon.config)
    settings = {setting["key"]: setting for setting in document["settings"]}
    speed = settings["motors.speed_limit"]
    assert (speed["value"], speed["isGiven"], speed["standard"]) == ("100.0", False, "100.0") and speed["expected"] == "a number 0…100"
    assert settings["plants.watering[0].seconds"]["value"] == "30" and settings["logging.level"]["isGiven"]
    # Wiring is none of them, nor is a section that the file has not.
    assert not {"motors.backend", "network.http_port", "mqtt.port"} & set(settings) and not [key for key in settings if key.startswith(("pump.", "notify"))]
    change(daemon, "  command_timeout: 1.0\n", "  command_timeout: 1.0\n  speed_limit: 40\n")
    # The file is not what is in effect.
    assert {one["key"]: one for one in daemon.get("/api/settings").json()["settings"]}["motors.speed_limit"]["value"] == "100.0"
    assert daemon.post("/api/reload").status_code == 200
    speed = {one["key"]: one for one in daemon.get("/api/settings").json()["settings"]}["motors.speed_limit"]
    assert (speed["value"], speed["isGiven"]) == ("40.0", True)
    assert daemon.get("/api/settings", token=daemon.create_token("control")).status_code == 403


def test_a_value_from_the_environment_is_not_listed(tmp_path):
    with Daemon(tmp_path, environment={"LIMIT": "37"}) as daemon:
        change(daemon, "  command_timeout: 1.0\n", "  command_timeout: 1.0\n  speed_limit: ${LIMIT}\n")
        assert daemon.post("/api/reload").status_code == 200 and limit(daemon) == 37
        speed = {one["key"]: one for one in daemon.get("/api/settings").json()["settings"]}["motors.speed_limit"]
        assert speed["isGiven"] and speed["value"] == "a (hidden) value"
