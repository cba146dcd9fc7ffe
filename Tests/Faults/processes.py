"""Faults that a program cannot be asked to have: its process is killed, stopped, starved or hung, and the hardware is watched.

Each function takes a new Bench and returns, for each system, the milliseconds from the fault until its output was off for good
(`None`: it is still on), and notes beside them. An assertion that does not hold is the cell's failure.
"""
import json
import os
import resource
import signal
import subprocess
import time

from bench import BROKEN, SYSTEMS, until
from hardware import Outputs, safe_since

# Put into its safe state or, on a serial line, sent it.
GONE = "the daemon is gone: every actuator was "
# Its heartbeats have lapsed, or the loops that they tell of do not advance: whichever the guard sees first.
LAPSED = ": every actuator was "
OFF_LIMIT_SECONDS = 120
# How long an output is watched that nobody is left to turn off.
WATCHED_SECONDS = 2
OPTIONS = {
    # What missed releases lead to is a part of how a stop ends. As many as a stop of STOPPED_SECONDS certainly misses, and more than a machine
    # that is busy; 30 of ten a second is the sprinkler's usual number.
    "stopped": {"lanes": {"robot": 20, "leg": 20, "sprinkler": 30}},
    # Longer than the 200 ms that are usual: a machine may be busy between an arm, a set and the look that sees the pulse.
    "silent": {"deadman_ms": 5_000},
    # Nothing may go off while these look, though the stick's thread comes late.
    "without_descriptors": {"command_timeout": 10.0},
    "second_daemon": {"command_timeout": 10.0},
}
STOPPED_SECONDS = 2.5
# On a machine that may be busy, where nothing is measured: what waits for the daemon or for this process waits for seconds more, so that it acts on
# what is done here and on no pause. The guard finds a daemon that stands still after five seconds.
PATIENT = {"timeout": 5.0, "command_timeout": 10.0}
PATIENT_OPTIONS = {
    **dict.fromkeys(
        ("killed", "both_killed", "tick_hangs", "guard_killed", "guard_hangs", "crash_loop", "without_descriptors", "without_memory", "second_daemon"),
        PATIENT),
    # Longer than PATIENT_STOPPED_SECONDS for the sprinkler, whose cell says nothing of them: 100 of ten a second.
    "stopped": {**PATIENT, "lanes": {"robot": 300, "leg": 300, "sprinkler": 1000}},
    # Both end what is tried here, and what they end has to be on before.
    "silent": {**PATIENT, "command_timeout": 5.0, "deadman_ms": 5_000},
}
PATIENT_STOPPED_SECONDS = 15


def killed(bench):
    bench.start()
    bench.turn_on()
    at = bench.kill()
    times = bench.safe_after(at, OFF_LIMIT_SECONDS)
    bench.line(GONE)
    bench.let_go()
    bench.until_guard_is_gone()
    return times, {}


def stopped(bench):
    """SIGSTOP, then SIGCONT. Which outputs are on again by themselves, while the stick is held, is noted."""
    bench.start()
    bench.turn_on()
    at = bench.signal((bench.process.pid, signal.SIGSTOP))
    times = bench.safe_after(at, OFF_LIMIT_SECONDS)
    bench.line(LAPSED)
    seconds = STOPPED_SECONDS if bench.is_timed else PATIENT_STOPPED_SECONDS
    time.sleep(max(0, seconds - (time.monotonic_ns() - at) / 1e9))
    written, ons = bench.hardware.count, bench.pump.ons
    bench.signal((bench.process.pid, signal.SIGCONT))
    bench.line("the daemon's heartbeat is back")
    bench.until_every_loop_has_had_its_turn()
    again = on_since(bench, written)
    if bench.pump.ons > ons:
        again.add("pump")
    return times, {"again": sorted(again)}


def on_since(bench, written):
    """What was on after the write with that number."""
    outputs, found = Outputs(), set()
    for number, write in enumerate(bench.hardware.writes()):
        outputs.take(write)
        if number >= written:
            found |= {name for name, is_on in outputs.state.items() if is_on}
    return found


def silent(bench):
    """The stick sends nothing any more, nor does anybody to the leg; the daemon is well. From the last datagram, and the last command."""
    bench.start()
    bench.turn_on()
    commanded = time.monotonic_ns()
    bench.ask("/api/leg/0/set", {"pulseUs": 1500})
    bench.let_go()
    limit = time.monotonic() + OFF_LIMIT_SECONDS
    while (states := bench.states())["robot"] or states["leg"]:
        assert time.monotonic() < limit, states
        time.sleep(0.01)
    offs = safe_since(bench.hardware)
    return {"robot": (offs["robot"] - bench.last_sent) / 1e6, "leg": (offs["leg"] - commanded) / 1e6, "sprinkler": None, "pump": None}, {}


def both_killed(bench):
    """Guard and daemon at once: nobody is left to write. Then what systemd's stop hook does, from the plan left behind.

    Stopped first, so that the daemon has no time to start another guard, which it does within a millisecond."""
    bench.start()
    bench.turn_on()
    daemon = bench.process.pid
    bench.signal((daemon, signal.SIGSTOP), (bench.guard, signal.SIGKILL), (daemon, signal.SIGKILL))
    bench.process.wait()
    bench.driving.clear()
    time.sleep(WATCHED_SECONDS)
    states = bench.states()
    # As somebody left it who was editing it.
    bench.config.write_text("motors: {\n")
    began = time.monotonic_ns()
    hook = bench.run("guard", "--once")
    assert hook.returncode == 0, hook.stderr
    return bench.safe_after(began, OFF_LIMIT_SECONDS), {"on": sorted(name for name, is_on in states.items() if is_on)}


def tick_hangs(bench):
    """A write to the bus does not come back: the ticks of the motors' and the legs' lanes hang in the kernel, the other lanes run."""
    bench.start()
    bench.turn_on()
    at = time.monotonic_ns()
    bench.hardware.hang(bench.process.pid)
    until(lambda: bench.hardware.hangs, "a tick hangs")
    times = bench.safe_after(at, OFF_LIMIT_SECONDS)
    bench.line(LAPSED)
    return times, {}


def guard_killed(bench):
    bench.start()
    bench.turn_on()
    return after_another_guard(bench, bench.signal((bench.guard, signal.SIGKILL)))


def guard_hangs(bench):
    bench.start()
    bench.turn_on()
    return after_another_guard(bench, bench.signal((bench.guard, signal.SIGSTOP)))


def after_another_guard(bench, since):
    """How long it takes until there is a successor, and what it does when the daemon is killed."""
    bench.line("another guard is watching")
    replaced = (time.monotonic_ns() - since) / 1e6
    health = bench.ask("/api/health")["guard"]
    assert health["state"] == "watching" and health["replacements"] == 1, health
    bench.guard = None
    at = bench.kill()
    times = bench.safe_after(at, OFF_LIMIT_SECONDS)
    bench.line(GONE)
    return times, {"replaced_ms": replaced}


def crash_loop(bench):
    """Killed and started again, thrice: nothing comes on by itself, nor because a stick is still held."""
    for _ in range(3):
        bench.start()
        bench.turn_on()
        at = bench.kill()
        times = bench.safe_after(at, OFF_LIMIT_SECONDS)
        bench.until_guard_is_gone()
        written, ons = bench.hardware.count, bench.pump.ons
        bench.start()
        bench.until_every_loop_has_had_its_turn()
        bench.let_go()
        assert on_since(bench, written) == set() and bench.pump.ons == ons, "something came on by itself"
        bench.kill()
        bench.until_guard_is_gone()
    return times, {}


def without_descriptors(bench):
    """No descriptor is left to the daemon; then it is killed."""
    bench.start()
    bench.turn_on()
    used = len(os.listdir(f"/proc/{bench.process.pid}/fd"))
    resource.prlimit(bench.process.pid, resource.RLIMIT_NOFILE, (used, used))
    before = bench.hardware.count
    until(lambda: bench.hardware.count > before + 20, "the loops go on")
    assert all(bench.states().values()), bench.states()
    at = bench.kill()
    times = bench.safe_after(at, OFF_LIMIT_SECONDS)
    bench.line(GONE)
    return times, {}


def without_memory(bench):
    """The daemon gets no further memory while requests come in. It ends, and its guard writes; or it goes on and obeys."""
    bench.start()
    bench.turn_on()
    size = int(open(f"/proc/{bench.process.pid}/statm").read().split()[0]) * resource.getpagesize()
    at = time.monotonic_ns()
    resource.prlimit(bench.process.pid, resource.RLIMIT_AS, (size, resource.RLIM_INFINITY))
    try:
        for _ in range(200):
            bench.ask("/api/runtime")
    except BROKEN:
        pass
    asked = time.monotonic_ns()
    answer = bench.ask_or_end("/api/e-stop", {})
    assert "code" not in (answer or {}), answer
    return bench.safe_after(at if answer is None else asked, OFF_LIMIT_SECONDS), {"ended": answer is None}


def second_daemon(bench):
    """Another one with the same outputs and ports of its own: it does not start, and the first one's outputs stay as they are."""
    bench.start()
    bench.turn_on()
    config = bench.folder / "second.yaml"
    text = bench.config.read_text().replace("/state'", "/second'")
    for port in bench.ports.values():
        text = text.replace(f": {port}\n", ": 0\n")
    config.write_text(text)
    second = bench.run("run", config=config)
    assert second.returncode not in (0, 78), second.stderr
    assert all(bench.states().values()), bench.states()
    refused = {}
    for name, part in {
        "robot": "motors: { backend: yb-pcb-car, i2c_bus: 1 }", "leg": "leg: { backend: pca9685, i2c_bus: 1 }",
    }.items():
        config.write_text(f"network: {{ motor_udp_port: 0, leg_udp_port: 0, http_port: 0 }}\nservice: {{ auth: none, bonjour: false }}\n{part}\n")
        refused[name] = refuses(bench, config)
    return dict.fromkeys(SYSTEMS, 0.0), {"refused": {**refused, "sprinkler": True, "pump": True}, "said": last_line(second.stderr)}


def refuses(bench, config):
    """Whether a second daemon with this file ends by itself, since somebody else drives its chip."""
    try:
        ended = bench.run("run", config=config)
    except subprocess.TimeoutExpired:
        return False
    return ended.returncode == 1 and "another process drives the chip" in ended.stderr


def last_line(text):
    line = text.strip().split("\n")[-1]
    return json.loads(line)["msg"] if line.startswith("{") else line
