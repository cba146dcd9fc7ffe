"""What the robot's boards have beside their motors, with a real process: camera mount, lights, buzzer, line sensor, height and balance."""
import json
import time

from daemon import Daemon


def with_board(folder, board, more=""):
    daemon = Daemon(folder)
    daemon.config.write_text(daemon.config.read_text().replace("backend: yb-pcb-car", f"backend: {board}\n  {more}".rstrip()))
    return daemon


def until_world(daemon, condition, limit=60):
    """What the simulated board was told, once it is so."""
    end = time.monotonic() + limit
    while not condition(world := daemon.get("/api/sim/robot").json()):
        assert time.monotonic() < end, world
        time.sleep(0.02)
    return world


def test_a_raspbot_looks_lights_up_and_beeps_at_every_door_and_says_what_it_can(tmp_path):
    # Which checks the exit status: 1 if an output, the buzzer among them, is not known to be off.
    with with_board(tmp_path, "raspbot-v2", "line_sensor: true") as daemon:
        robot = daemon.get("/api/robot").json()
        assert robot["board"] == "raspbot-v2" and robot["can"] == ["pan-tilt", "lights", "buzzer", "line", "distance"]
        assert robot["panTilt"]["panDegrees"] is None and robot["panTilt"]["tiltMaxDegrees"] == 100
        assert set(robot["lights"]) == {"unknown"} and len(robot["lights"]) == 14
        daemon.until_robot(lambda robot: robot["line"] == {"x1": True, "x2": True, "x3": True, "x4": True})

        assert daemon.post("/api/robot/look", {"pan": 30, "tilt": 80}).status_code == 200
        until_world(daemon, lambda world: (world["panDegrees"], world["tiltDegrees"]) == (30, 80))
        called = daemon.command("call", "--port", daemon.port, "robot", "look", "pan=120", environment={"TACTUS_TOKEN": daemon.admin})
        assert called.returncode == 0, called.stderr
        until_world(daemon, lambda world: (world["panDegrees"], world["tiltDegrees"]) == (120, 80))
        daemon.until_robot(lambda robot: robot["panTilt"]["panDegrees"] == robot["panTilt"]["panTargetDegrees"] == 120)

        assert daemon.post("/api/robot/lights", {"red": 255, "green": 128}).status_code == 200
        assert daemon.post("/api/robot/lights", {"blue": 7, "light": 13}).status_code == 200
        lights = until_world(daemon, lambda world: world["lights"][13] == [0, 0, 7])["lights"]
        assert lights[:13] == [[255, 128, 0]] * 13
        daemon.until_robot(lambda robot: robot["lights"] == ["#ff8000"] * 13 + ["#000007"])

        assert daemon.post("/api/robot/beep", {"seconds": 0.5}).status_code == 200
        until_world(daemon, lambda world: world["buzzing"])
        until_world(daemon, lambda world: not world["buzzing"])
        assert daemon.post("/api/robot/beep").status_code == 200, "without a body for 0.3 s"
        metrics = daemon.get("/metrics").text
        assert "tactus_robot_pan_tilt_pan_degrees 120" in metrics and "tactus_robot_line_x1 1" in metrics
        # What is wrong names what it is, what was expected and what came.
        beyond = daemon.post("/api/robot/look", {"tilt": 101}).json()
        assert beyond["code"] == "BEYOND_LIMITS" and "pan 0…180, tilt 0…100 degrees" in beyond["message"], beyond
        for body, field in (({}, "pan"), ({"pan": 181}, "pan"), ({"pan": 1.5}, "pan"), ({"tilt": "up"}, "tilt")):
            refused = daemon.post("/api/robot/look", body)
            assert refused.status_code == 422 and refused.json()["field"] == field, refused.text
        for word, body in (("lights", {"red": 256}), ("lights", {"light": 14}), ("beep", {"seconds": 5.1}), ("beep", {"seconds": 0})):
            refused = daemon.post(f"/api/robot/{word}", body)
            assert refused.status_code == 422 and refused.json()["field"] == next(iter(body)), refused.text
        for word, body, code in (("height", {"heightMm": 90}, "NO_HEIGHT"), ("balance", {"on": True}, "NO_BALANCE")):
            refused = daemon.post(f"/api/robot/{word}", body).json()
            assert refused["code"] == code and "it is a raspbot-v2, which has: pan-tilt, lights" in refused["message"], refused
        # A long beep is not longer than the program.
        assert daemon.post("/api/robot/beep", {"seconds": 5}).status_code == 200
        until_world(daemon, lambda world: world["buzzing"])


def test_an_emergency_stop_ends_the_turn_of_the_mount_where_it_is(tmp_path):
    with with_board(tmp_path, "yb-pcb-car", "pan_tilt_deg_per_s: 30") as daemon:
        daemon.post("/api/robot/look", {"pan": 0})
        until_world(daemon, lambda world: world["panDegrees"] == 0)
        daemon.post("/api/robot/look", {"pan": 180})
        until_world(daemon, lambda world: world["panDegrees"] > 5)
        assert daemon.post("/api/robot/e-stop").status_code == 200
        angle = daemon.get("/api/sim/robot").json()["panDegrees"]
        refused = daemon.post("/api/robot/look", {"pan": 10})
        assert refused.json()["code"] == "EMERGENCY_STOPPED" and "reset" in refused.json()["message"], refused.text
        time.sleep(0.5)
        assert daemon.get("/api/sim/robot").json()["panDegrees"] == angle < 180
        daemon.reset()
        time.sleep(0.5)
        assert daemon.get("/api/sim/robot").json()["panDegrees"] == angle
        assert daemon.get("/api/robot").json()["can"] == ["pan-tilt"]
        assert json.loads(daemon.post("/api/robot/beep").text)["code"] == "NO_BUZZER"


def test_a_rider_changes_its_height_and_its_balance(tmp_path):
    with with_board(tmp_path, "xgo-rider") as daemon:
        robot = daemon.get("/api/robot").json()
        assert robot["can"] == ["battery", "attitude", "height", "balance"] and robot["panTilt"] is None
        assert (robot["heightMm"], robot["balancing"], robot["lights"]) == (None, None, [])
        assert daemon.post("/api/robot/height", {"heightMm": 100}).status_code == 200
        assert daemon.post("/api/robot/balance", {"on": False}).status_code == 200
        world = until_world(daemon, lambda world: world["balancing"] is False and world["heightMm"] is not None)
        assert abs(world["heightMm"] - 100) < 0.3
        daemon.until_robot(lambda robot: (robot["heightMm"], robot["balancing"]) == (100, False))
        refused = daemon.post("/api/robot/height", {"heightMm": 121})
        assert refused.status_code == 422 and refused.json()["field"] == "heightMm", refused.text
        assert daemon.post("/api/robot/look", {"pan": 90}).json()["code"] == "NO_PAN_TILT"
