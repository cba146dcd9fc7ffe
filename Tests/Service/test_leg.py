"""`tactus leg` against a daemon's door: the terminal's script mode, as a user's script calls it."""
import pytest


def operate(daemon, *arguments, **environment):
    return daemon.command("leg", f"ws://127.0.0.1:{daemon.port}", *arguments, environment=environment)


@pytest.mark.protocol
def test_leg_over_the_door_arms_moves_and_disarms(own_daemon):
    daemon = own_daemon()
    # For longer, if the time passed while the program or the daemon was kept waiting.
    for time in ("500ms", "5s", "20s"):
        done = operate(daemon, "--arm", "--set", "1700", "--for", time, TACTUS_TOKEN=daemon.admin)
        servo = daemon.get("/api/sim/leg").json()["legs"][0]
        if done.returncode == 0 and servo["pulses"] >= 20 and abs(servo["positionDegrees"] - 18) < 1:
            break
    assert done.returncode == 0, done.stderr + done.stdout
    leg = daemon.get("/api/leg").json()["legs"][0]
    assert leg["state"] == "disarmed" and leg["counters"]["malformed"] == 0
    # A pulse every 20 ms for half a second, and where they sent it: 18 degrees for 200 µs off the middle.
    assert servo["pulses"] >= 20 and servo["pulseUs"] is None
    assert abs(servo["positionDegrees"] - 18) < 1, servo


def test_leg_that_does_not_obey_is_status_1(own_daemon):
    daemon = own_daemon()
    assert daemon.post("/api/e-stop").status_code == 200
    done = operate(daemon, "--arm", "--set", "1700", "--for", "300ms", TACTUS_TOKEN=daemon.admin)
    assert done.returncode == 1 and done.stderr, done.stdout
    assert daemon.get("/api/leg").json()["legs"][0]["state"] == "emergencyStopped"


def test_leg_without_a_token_is_refused_in_words(own_daemon):
    daemon = own_daemon()
    done = operate(daemon, "--arm", "--for", "300ms", TACTUS_TOKEN="")
    assert done.returncode != 0 and done.stderr, done.stdout
    assert daemon.get("/api/leg").json()["legs"][0]["counters"]["accepted"] == 0
