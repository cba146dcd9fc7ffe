"""What a stranger's device has without asking: one folder, declared once, in a package of its own."""
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import broker
from broker import Broker, eventually
from generated_client import GeneratedClient
from live import Live

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parents[2] / "Examples/fan-daemon"


def wait_for(condition, seconds=60):
    limit = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < limit, "it did not come to that"
        time.sleep(0.05)
    return found


def off(daemon):
    assert daemon.post("/api/sim/fault", {"fault": "clear"}).status_code == 200
    daemon.post("/api/fan/off")
    daemon.post("/api/fan/reset")
    wait_for(lambda: daemon.state["state"] == "off")


def test_state_and_commands(fan):
    off(fan)
    assert fan.post("/api/fan/set", {"targetCelsius": 30}).json()["state"] == "running"
    state = wait_for(lambda: (now := fan.state)["speedRpm"] > 1500 and now)
    assert state["targetCelsius"] == 30 and 60 <= state["dutyPercent"] <= 80 and 30 < state["temperatureCelsius"] < 46
    wrong = fan.post("/api/fan/set", {"targetCelsius": 90})
    assert wrong.status_code == 422 and wrong.json()["field"] == "targetCelsius" and "20…80" in wrong.json()["message"]
    assert fan.post("/api/fan/set", {"targetCelsius": 30, "speed": 1}).status_code == 422
    assert fan.post("/api/fan/off").json()["state"] == "off"
    assert fan.get("/api/robot").status_code == 404
    assert fan.get("/api/status").json()["systems"]["fan"]["state"] == "off"
    assert fan.get("/api/health").json()["systems"] == {"fan": "off"}


def test_a_held_rotor_stops_it_and_everybody_hears_why(fan):
    off(fan)
    with Live(fan) as live:
        fan.post("/api/fan/set", {"targetCelsius": 30})
        wait_for(lambda: fan.state["speedRpm"] > 500)
        held = fan.post("/api/sim/fault", {"system": "fan", "fault": "stall"})
        assert held.json()["named"] == [{"system": "fan", "fault": "stall"}]
        told = next(event for event in live.events(60) if event["type"] == "fan.notice")
        assert told["notice"] == "stalled" and told["trouble"] and "reset" in told["message"]
    assert fan.state["state"] == "stalled" and fan.state["dutyPercent"] == 0
    refused = fan.post("/api/fan/set", {"targetCelsius": 30})
    assert refused.status_code == 409 and refused.json()["code"] == "STALLED" and "reset" in refused.json()["message"]
    fan.wait_for_line("does not turn")
    unknown = fan.post("/api/sim/fault", {"system": "fan", "fault": "fire"})
    assert unknown.status_code == 422 and "stall" in unknown.json()["message"]
    off(fan)


def test_emergency_stop_of_everything_is_latched(fan):
    off(fan)
    fan.post("/api/fan/set", {"targetCelsius": 30})
    assert fan.post("/api/e-stop").json()["systems"] == ["fan"]
    assert fan.state["state"] == "emergencyStopped" and fan.state["dutyPercent"] == 0
    assert fan.post("/api/fan/set", {"targetCelsius": 30}).json()["code"] == "EMERGENCY_STOPPED"
    assert fan.post("/api/reset").status_code == 200
    assert fan.post("/api/reset").status_code == 200
    assert fan.post("/api/fan/reset").json()["code"] == "NOTHING_TO_RESET"


def test_an_emergency_stop_that_the_loop_has_latched_by_itself_outlives_a_kill_and_so_does_its_reset(own_fan, tmp_path):
    note = tmp_path / "run/safe-state-stops"
    note.parent.mkdir()
    fan = own_fan(RUNTIME_DIRECTORY=str(note.parent))
    fan.post("/api/fan/set", {"targetCelsius": 30})
    # Nobody asks for a stop: the loop's safe state is one, and it tells no notice.
    assert fan.post("/api/sim/fault", {"fault": "lane-stall", "lane": "fan", "ms": 600}).status_code == 200
    wait_for(lambda: fan.state["state"] == "emergencyStopped")
    for state in ("emergencyStopped", "off"):
        if state == "off":
            assert fan.post("/api/fan/reset").json()["state"] == "off"
        wait_for(lambda: ("fan" in note.read_text()) == (state == "emergencyStopped"))
        fan.process.kill()
        fan.process.wait()
        fan.start()
        assert fan.state["state"] == state, fan.state


def test_call_top_and_doctor(fan):
    off(fan)
    token = {"TACTUS_TOKEN": fan.admin}
    listed = fan.command("call", "--port", fan.port, environment=token).stdout
    assert "fan set targetCelsius=" in listed and "robot" not in listed
    faults = "\n".join(line for line in listed.splitlines() if line.strip().startswith("sim fault "))
    assert "stall" in faults and "lane-stall" in faults and "dry-run" not in faults and "sensor" not in faults
    done = fan.command("call", "--port", fan.port, "fan", "set", "targetCelsius=40", environment=token)
    assert done.returncode == 0 and json.loads(done.stdout)["state"] == "running"
    top = fan.command("top", "--port", fan.port, "--once", environment=token)
    assert top.returncode == 0 and "fan.simulated" in top.stdout, top.stderr
    doctor = fan.command("doctor", "--config", fan.config)
    assert "fan.tachometer" in doctor.stdout and "fan.i2c_bus" in doctor.stdout
    helped = fan.command("--help").stdout
    assert "fan-daemon" in helped and "pump" not in helped and "tactus" not in helped
    off(fan)


def test_check_reference_and_schema(fan, tmp_path):
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("fan:\n  pwm: pwm0\n  gian: 20\n  least_percent: 90\n  most_percent: 80\nmotors: {}\n")
    checked = fan.command("check", wrong)
    assert checked.returncode == 78
    assert f"{wrong}:2:8: fan.pwm: expected a PWM output" in checked.stderr
    assert "fan.gian: expected a known key (gain?)" in checked.stderr
    assert f"{wrong}:6:1: motors: expected a known key" in checked.stderr
    both = tmp_path / "both.yaml"
    both.write_text("fan:\n  tachometer: GPIO2\n")
    claimed = fan.command("check", both)
    assert "fan.tachometer: expected a free GPIO line, got GPIO2, which I2C bus 1 needs" in claimed.stderr
    right = fan.command("check", EXAMPLE / "fan.yaml")
    assert right.returncode == 0 and "no safe state" not in right.stdout and "PWM output" in right.stdout, right.stderr
    reference = fan.command("check", "--reference").stdout
    assert "  gain: 10.0\n" in reference and "speed_limit" not in reference
    schema = json.loads(fan.command("schema").stdout)
    assert schema["properties"]["fan"]["properties"]["gain"]


def test_reload_takes_rules_and_refuses_wiring(own_fan):
    fan = own_fan()
    token = {"TACTUS_TOKEN": fan.admin}

    def reload():
        return fan.command("reload", "--port", fan.port, environment=token)

    fan.post("/api/fan/set", {"targetCelsius": 20})
    wait_for(lambda: fan.state["dutyPercent"] == 80)
    fan.configure(most=50)
    assert "fan.most_percent: 80.0 → 50.0" in reload().stdout
    wait_for(lambda: fan.state["dutyPercent"] == 50)
    fan.configure(most=90, gain=20)
    wider = reload().stdout
    assert "fan.gain: 10.0 → 20.0" in wider and "wider limits of fan" in wider
    assert fan.state["dutyPercent"] == 50
    fan.post("/api/fan/off")
    fan.post("/api/fan/set", {"targetCelsius": 20})
    wait_for(lambda: fan.state["dutyPercent"] == 90)
    fan.configure(most=60, pwm="/sys/class/pwm/pwmchip0/pwm1")
    refused = reload()
    assert refused.returncode == 1 and "fan.pwm: expected /sys/class/pwm/pwmchip0/pwm0 until the next start" in refused.stderr
    assert fan.state["dutyPercent"] == 90
    put = fan.request("PUT", "/api/fan/settings", json={"mostPercent": 40})
    assert put.json()["changed"] == [{"key": "fan.most_percent", "from": "90.0", "to": "40.0"}]
    wait_for(lambda: fan.state["dutyPercent"] == 40)
    wrong = fan.request("PUT", "/api/fan/settings", json={"mostPercent": 15})
    assert wrong.status_code == 409 and wrong.json()["code"] == "CONTRADICTION" and wrong.json()["field"] == "mostPercent"
    control = fan.create_token("control")
    assert fan.request("PUT", "/api/fan/settings", token=control, json={"gain": 1}).status_code == 403


def test_metrics(fan):
    off(fan)
    text = fan.get("/metrics").text
    assert 'tactus_fan_state{state="off"} 1\n' in text and "tactus_fan_duty_ratio 0\n" in text
    assert "tactus_fan_failures_total 0\n" in text and "tactus_robot" not in text
    assert "tactus_fan_dropped_notices_total 0\n" in text and "tactus_fan_dropped_answers_total 0\n" in text
    if promtool := os.environ.get("PROMTOOL"):
        done = subprocess.run([promtool, "check", "metrics"], input=text, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_a_row_of_the_dashboard(fan):
    board = json.loads(fan.command("dashboard").stdout)
    assert board["title"] == "fan-daemon" and [p["title"] for p in board["panels"] if p["type"] == "row"] == ["Fan", "Loops", "Daemon"]
    known = fan.get("/metrics").text
    asked = [target["expr"] for panel in board["panels"][1:7] for target in panel["targets"]]
    names = {name for expression in asked for name in re.findall(r"tactus_fan_[a-z_]+", expression)}
    # What is unknown has no sample: there is no target while the fan is off.
    assert names >= {"tactus_fan_state", "tactus_fan_duty_ratio"}
    assert {name for name in names if name not in known} <= {"tactus_fan_target_celsius"}


def test_what_the_page_and_others_are_told_of_it(fan):
    [system] = fan.get("/api/systems").json()["systems"]
    assert [field["name"] for field in system["fields"]][:2] == ["state", "targetCelsius"]
    assert system["commands"][0]["parameters"][0]["maximum"] == 80
    assert {setting["name"]: setting["mayChange"] for setting in system["settings"]}["mostPercent"]
    page = fan.request("GET", "/", token=None).text
    assert fan.request("GET", "/" + re.search(r'page-3-[0-9a-f]{12}\.js', page)[0], token=None).status_code == 200
    assert "<title>Fan-daemon</title>" in page and "<h1>Fan-daemon</h1>" in page and ">fan-daemon token create" in page
    assert "actus" not in re.sub(r"<!--.*?-->", "", page)


def test_the_scenario(fan):
    played = fan.command("sim", EXAMPLE / "scenarios/stall.yaml")
    assert played.returncode == 0 and "every expectation was met" in played.stdout, played.stdout + played.stderr
    assert fan.command("sim", EXAMPLE / "scenarios/stall.yaml").stdout == played.stdout


@broker.needed
def test_mqtt_and_home_assistant(own_fan, tmp_path):
    mosquitto = Broker(tmp_path)
    mosquitto.start()
    try:
        fan = own_fan(f"mqtt: {{device: box, port: {mosquitto.port}, commands: true}}\n")
        # All of it: a look in the middle of the announcement has a part.
        kept = eventually(lambda: "tactus/box/fan/state" in (found := mosquitto.retained("#")) and found.keys() == mosquitto.retained("#").keys() and found)
        assert json.loads(kept["tactus/box/fan/state"])["state"] == "off"
        known = {topic: json.loads(text) for topic, text in kept.items() if topic.startswith("homeassistant/")}
        number = next(text for topic, text in known.items() if topic.split("/")[1] == "number")
        assert number["min"] == "20" and number["max"] == "80" and number["unit_of_measurement"] == "°C"
        temperature = next(text for text in known.values() if text["unique_id"].endswith("fan-temperatureCelsius"))
        assert temperature["device_class"] == "temperature" and temperature["state_class"] == "measurement"
        mosquitto.publish(number["command_topic"], number["command_template"].replace("{{ value }}", "33"))
        wait_for(lambda: fan.state["targetCelsius"] == 33)
        button = next(text for topic, text in known.items() if topic.split("/")[1] == "button" and text["unique_id"].endswith("-off"))
        mosquitto.publish(button["command_topic"], button["payload_press"])
        wait_for(lambda: fan.state["state"] == "off")
    finally:
        mosquitto.stop()


@broker.needed
@pytest.mark.real_time
def test_at_rest_its_state_is_told_once_a_minute_at_most(own_fan, tmp_path):
    mosquitto = Broker(tmp_path)
    mosquitto.start()
    try:
        own_fan(f"mqtt: {{device: box, port: {mosquitto.port}}}\n")
        eventually(lambda: "tactus/box/fan/state" in mosquitto.retained("#"))
        heard = subprocess.run(
            ["mosquitto_sub", "-p", str(mosquitto.port), "-v", "-R", "-W", "16", "-t", "#"], capture_output=True, text=True)
        assert len(heard.stdout.splitlines()) <= 1, heard.stdout
    finally:
        mosquitto.stop()


def test_a_client_that_is_generated_from_its_document(fan, tmp_path):
    off(fan)
    client = GeneratedClient(fan, tmp_path, "fan_of_this_test")
    state = client.call("fan.get_fan")
    assert state.ok is True and state.state == "off" and state.duty_percent == 0
    assert client.call("fan.fan_set", body={"targetCelsius": 30}).verdict == "accepted"
    assert client.call("fan.fan_off").state == "off"
    assert client.call("daemon.get_status").systems.to_dict()["fan"]["state"] == "off"
    assert client.call("fan.put_fan_settings", body={"gain": 10}).ok is True
    off(fan)


def test_the_server_does_what_its_document_says(own_fan, tmp_path):
    fan = own_fan()
    result = subprocess.run(
        [Path(sys.executable).parent / "schemathesis", "--config-file", HERE.parent / "schemathesis.toml", "run",
         fan.url + "/api/openapi.json", "--header", f"Authorization: Bearer {fan.admin}", "--phases",
         "examples,coverage,fuzzing", "--max-examples", "15", "--seed", "20261123", "--request-timeout", "60",
         "--continue-on-failure", "--no-color"],
        cwd=tmp_path, capture_output=True, text=True, timeout=900)
    fan.post("/api/sim/fault", {"fault": "clear"})
    assert result.returncode == 0, (result.stdout + result.stderr).replace(fan.admin, "TOKEN")
