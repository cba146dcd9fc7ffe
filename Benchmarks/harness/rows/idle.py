"""What the daemon costs while nothing happens, and how fast it is up."""
import os
import socket
import statistics
import sys
import time
from pathlib import Path

from ..context import PACKAGE
from ..processes import Failed
from ..receivers import free_port
from ..report import Aim, Report, Table, number

TITLE = "Idle processor time, memory, start to first tick"
METHOD = """
Tactus: `tactus run --simulate` with the robot alone, its motor loop at 20 Hz and the service, against which the aims are held; without the
service; and with what config/simulated.yaml has besides, leg, sprinkler, pump and plants, without its broker and its camera, which are
programs of their own. There is no guard process when nothing can move. Python: the receiver of the datagram row. Nobody sends. Processor time and
resident memory are summed over all processes of the program; RSS is what the aim is held against, PSS is its proportional share of what is
mapped by others too. First tick: from just before the fork until the first datagram is acted on (a reply, or a motor write), with
one sent every half millisecond.
"""
ROOT = PACKAGE.parent
ROBOT, NO_SERVICE, ALL = "Tactus, a robot", "without service", "Tactus, five systems"
ROBOT_CONFIG = """\
network: {bind_address: 127.0.0.1, motor_udp_port: 5005, http_port: 8000}
service: {enabled: true, auth: none}
motors: {backend: sim}
"""


def run(context):
    report = Report("idle", TITLE, METHOD)
    context.processes.run(
        ["swift", "build", "-c", "release", "--static-swift-stdlib", "--product", "tactus", "--package-path", ROOT], 1200)
    starters = {ROBOT: start_robot, NO_SERVICE: start_without_service, ALL: start_all, "Python": start_python}
    results = {name: [] for name in starters}
    seconds = context.long_or_quick(10, 2)
    for _, name in context.turns(starters):
        results[name].append(one_round(context, starters[name], seconds))
    report.raw = results

    def median(name, key):
        return statistics.median(one[key] for one in results[name])

    keys = {"processor_percent": "processor, % of a core", "pss_mb": "memory (PSS), MB", "rss_mb": "memory (RSS), MB",
            "first_tick_ms": "start to first tick, ms"}
    report.tables.append(Table("Medians of the rounds", ["", *results], [
        [title, *(number(median(name, key)) for name in results)] for key, title in keys.items()]))
    report.aims += [
        Aim("idle processor time", median(ROBOT, "processor_percent"), 1, "% of a core"),
        Aim("resident memory, all processes", median(ROBOT, "rss_mb"), 30, "MB"),
        Aim("start to first tick", median(ROBOT, "first_tick_ms"), 50, "ms"),
    ]
    return report


def one_round(context, starter, seconds):
    process, first_tick, others = starter(context)
    try:
        time.sleep(1)
        before, began = processor_time(process.pid), time.monotonic()
        time.sleep(seconds)
        used, elapsed = processor_time(process.pid) - before, time.monotonic() - began
        rss, pss = memory(process.pid)
    finally:
        context.processes.stop(process)
        for other in others:
            other.close()
    return {"processor_percent": used / 1e9 / elapsed * 100, "rss_mb": rss / 1024, "pss_mb": pss / 1024,
            "first_tick_ms": first_tick}


def start_robot(context):
    return start_tactus(context, ROBOT_CONFIG)


def start_without_service(context):
    return start_tactus(context, ROBOT_CONFIG.replace("enabled: true", "enabled: false"))


def start_all(context):
    sections = (ROOT / "config/simulated.yaml").read_text().split("\n\n")
    text = "\n\n".join(section for section in sections if not section.startswith(("mqtt:", "camera:")))
    return start_tactus(context, text)


def start_tactus(context, text):
    port = free_port()
    if "motor_udp_port: 5005" not in text:
        raise Failed("the configuration does not set motor_udp_port: 5005")
    config = context.scratch / "simulated.yaml"
    # A daemon that runs beside has its own ports, and its own store.
    config.write_text(
        (text + f"\nstore: {{folder: {context.scratch}/store}}\n" if "sprinkler:" in text else text)
        .replace("motor_udp_port: 5005", f"motor_udp_port: {port}").replace("leg_udp_port: 5010", "leg_udp_port: 0")
        .replace("http_port: 8000", "http_port: 0"))
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.setblocking(False)
    sender.connect(("127.0.0.1", port))
    log = open(context.scratch / "log", "w")
    began = time.monotonic()
    process = context.processes.start(
        [ROOT / ".build/release/tactus", "run", "--config", config, "--simulate"], stderr=log, stdout=log)
    first = first_answer(process, began, sender, b'{"command":"query","echo":1}', sender)
    return process, first, (sender, log)


def start_python(context):
    port = free_port()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    ours.setblocking(False)
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.setblocking(False)
    sender.connect(("127.0.0.1", port))
    began = time.monotonic()
    process = context.processes.start(
        [sys.executable, context.peer("receiver.py"), port, theirs.fileno()], pass_fds=(theirs.fileno(),))
    first = first_answer(process, began, sender, b'{"left": 0, "right": 0, "timestamp": 1}', ours)
    return process, first, (sender, ours, theirs)


def first_answer(process, began, sender, message, answers):
    """Milliseconds from `began` to the first thing that can be read from `answers`."""
    while time.monotonic() < began + 10 and process.poll() is None:
        try:
            sender.send(message)
        except ConnectionError:
            pass
        time.sleep(0.0005)
        try:
            answers.recv(4096)
            return (time.monotonic() - began) * 1000
        except (BlockingIOError, ConnectionError):
            pass
    raise Failed("the program did not act within 10 s of its start")


def family(leader):
    """The process and all that are in its group or session: it was started as the leader of both."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[3]) == leader or int(fields[2]) == leader or descends(int(entry.name), leader):
                yield int(entry.name)


def descends(process, leader):
    while process > 1:
        if process == leader:
            return True
        try:
            process = int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:
            return False
    return False


def processor_time(leader):
    """Nanoseconds on a processor, all threads of all its processes."""
    total = 0
    for process in family(leader):
        for thread in os.listdir(f"/proc/{process}/task"):
            total += int(Path(f"/proc/{process}/task/{thread}/schedstat").read_text().split()[0])
    return total


def memory(leader):
    """(RSS, PSS) in kB over all its processes."""
    rss = pss = 0
    for process in family(leader):
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Rss:"):
                rss += int(line.split()[1])
            elif line.startswith("Pss:"):
                pss += int(line.split()[1])
    return rss, pss
