"""One encoder for many viewers: our video process beside gst-rtsp-server with the same elements."""
import json
import os
import signal
import socket
import statistics
import subprocess
import threading
import time
import urllib.request

from ..context import PACKAGE
from ..processes import Failed
from ..report import Aim, Report, Table, microseconds, number
from ..samples import PERCENTILES, Distribution, median_ratio, pooled
from .service import free_port

TITLE = "RTSP: CPU for 1, 4 and 16 viewers, first frame, delay, memory"
METHOD = """
Loopback, 640×480 at 30 frames/s, videotestsrc, x264enc with the same settings (zerolatency, ultrafast, one thread, 2 Mbit/s, a key frame a
second, constrained baseline), RTP over TCP, viewers that read and throw away. CPU: user and system time of the serving process over its
wall-clock time, as a percentage of one core, once all viewers play. First frame: from connecting to the first RTP packet of a server
that nobody has looked at yet. Delay: from the drawing of a clock into the raw picture to its being read out of the picture that ffmpeg has
decoded. Memory, with 16 viewers: resident, and what of it this process has written and shares with nobody (the rest are pages of files, which
the kernel may drop and read again), and what is of the program's own file: GStreamer is in shared libraries in both, Swift's runtime in ours.
The lane: the motors' loop of the same daemon at 1 kHz (SCHED_FIFO, pinned, memory locked, a simulated board), its lateness as the daemon counts it, each condition in a daemon of its own: nobody looks; four viewers; four viewers
whose tactus-video is killed (SIGKILL) every second; one that is stopped (SIGSTOP) for as long as the daemon lets it, five seconds, and replaced.

- Tactus: `tactus run` with a section video, release build: the figures are those of its child tactus-video.
- gst-rtsp-server: Debian's library with one shared media of the same elements, as its own examples do it. It draws no clock.
"""
ROOT = PACKAGE.parent
VIEWERS = (1, 4, 16)
LAUNCH = (
    "( videotestsrc is-live=true pattern=ball background-color=0xff204060 "
    "! video/x-raw,format=I420,width=640,height=480,framerate=30/1 "
    "! x264enc tune=zerolatency speed-preset=ultrafast bitrate=2000 key-int-max=30 bframes=0 threads=1 "
    "sliced-threads=false "
    "! video/x-h264,profile=constrained-baseline ! h264parse "
    "! rtph264pay name=pay0 pt=96 config-interval=-1 aggregate-mode=zero-latency )")
CONFIG = """\
network: {{bind_address: 127.0.0.1, http_port: {http}, rtsp_port: {rtsp}}}
camera: {{source: test, encoder: x264enc}}
video: {{viewers: 32, clock: {clock}}}
service: {{auth: none, bonjour: false}}
"""
ROBOT = """\
motors: {{backend: sim}}
runtime: {{strict: true, robot: {{rate_hz: 1000, priority: {priority}, cpu: {cpu}, safe_state_after: 1000}}}}
"""


def run(context):
    report = Report("video", TITLE, METHOD)
    for product in ("tactus", "tactus-video"):
        context.processes.run(
            ["swift", "build", "-c", "release", "--static-swift-stdlib", "--package-path", ROOT, "--product", product], 3600)
    peer = context.scratch / "rtsp_server"
    flags = context.processes.run(["pkg-config", "--cflags", "--libs", "gstreamer-rtsp-server-1.0"], 10).split()
    context.processes.run(["cc", "-O2", "-o", peer, PACKAGE / "peers/rtsp_server.c", *flags], 60)
    servers = {"Tactus": tactus, "gst-rtsp-server": lambda context: bare(context, peer)}
    results = {name: [] for name in servers}
    for _, name in context.turns(servers):
        results[name].append(one_round(context, servers[name]))
    delays = [delay(context) for _ in range(context.rounds)]
    report.raw.update(results=results, delay_ms=delays)

    def median(name, key):
        return statistics.median(one[key] for one in results[name])

    keys = [f"cpu_{count}" for count in VIEWERS] + ["first_frame_ms", "memory_mb", "written_mb", "program_mb"]
    report.tables.append(Table(
        "Medians of the rounds",
        ["", *(f"CPU %, {count} viewers" for count in VIEWERS), "first frame ms", "resident MB", "of it written MB",
         "of it program's file MB"],
        [[name, *(number(median(name, key)) for key in keys)] for name in servers]))
    pooled = sorted(value for one in delays for value in one)
    if pooled:
        report.tables.append(Table(
            "Delay of Tactus' picture, drawn to decoded, ms", ["p50", "p99", "max"],
            [[number(pooled[len(pooled) // 2]), number(pooled[len(pooled) * 99 // 100]), number(pooled[-1])]]))
    lane(context, report)
    for key, what in zip(keys, [*(f"CPU with {count} viewers" for count in VIEWERS), "first frame", "memory"]):
        report.aims.append(Aim(
            f"{what} to gst-rtsp-server's",
            median_ratio([one[key] for one in results["Tactus"]], [one[key] for one in results["gst-rtsp-server"]]), 1.1))
    return report


# MARK: servers


def tactus(context, clock="false", more="", http=None):
    http, rtsp = http or free_port(), free_port()
    config = context.scratch / "video.yaml"
    config.write_text(CONFIG.format(http=http, rtsp=rtsp, clock=clock) + more)
    log = open(context.scratch / "video.log", "a")
    process = context.processes.start(
        [ROOT / ".build/release/tactus", "run", "--config", config], stdout=log, stderr=log)
    await_port(process, rtsp)
    children = context.processes.run(["pgrep", "-P", str(process.pid), "-x", "tactus-video"], 5).split()
    return process, int(children[0]), rtsp


def bare(context, program):
    port = free_port()
    process = context.processes.start([program, str(port), LAUNCH], stderr=subprocess.DEVNULL)
    await_port(process, port)
    return process, process.pid, port


def await_port(process, port):
    until = time.monotonic() + 15
    while time.monotonic() < until and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.02)
    raise Failed("the RTSP port was not opened")


def one_round(context, starter):
    process, served, port = starter(context)
    viewers = []
    try:
        time.sleep(0.5)
        began = time.monotonic()
        viewers.append(Viewer(port))
        result = {"first_frame_ms": (viewers[0].first_packet - began) * 1000}
        for count in VIEWERS:
            while len(viewers) < count:
                viewers.append(Viewer(port))
            time.sleep(1)
            result[f"cpu_{count}"] = cpu(served, context.long_or_quick(8, 2))
        result.update(memory(served))
        if any(viewer.failure for viewer in viewers):
            raise Failed("a viewer lost its stream")
        return result
    finally:
        for viewer in viewers:
            viewer.close()
        context.processes.stop(process)


def cpu(pid, seconds):
    """Percent of one core."""
    def ticks():
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return int(fields[11]) + int(fields[12])
    before, began = ticks(), time.monotonic()
    time.sleep(seconds)
    return (ticks() - before) / os.sysconf("SC_CLK_TCK") / (time.monotonic() - began) * 100


def memory(pid):
    program = os.readlink(f"/proc/{pid}/exe")
    kilobytes = dict.fromkeys(("memory_mb", "written_mb", "program_mb"), 0)
    isOwn = False
    with open(f"/proc/{pid}/smaps") as file:
        for line in file:
            name, *rest = line.split()
            if not name.endswith(":"):
                isOwn = line.rstrip().endswith(program)
            elif name == "Rss:":
                kilobytes["memory_mb"] += int(rest[0])
                kilobytes["program_mb"] += isOwn and int(rest[0])
            elif name == "Private_Dirty:":
                kilobytes["written_mb"] += int(rest[0])
    return {key: value / 1024 for key, value in kilobytes.items()}


# MARK: the lane


def lane(context, report):
    conditions = {"nobody looks": nobody, "4 viewers": several, "killed every second": killed, "stopped": stopped}
    results = {name: [] for name in conditions}
    for _, name in context.turns(conditions):
        results[name].append(one_lane(context, conditions[name]))
    report.raw["lane"] = {name: [one.summary() for one in rounds] for name, rounds in results.items()}
    lines = []
    for name, rounds in results.items():
        total = pooled(rounds)
        ratios = [
            number(median_ratio([one.percentile(percent) for one in rounds],
                                [one.percentile(percent) for one in results["nobody looks"]]))
            for percent in PERCENTILES]
        lines.append([name, *(microseconds(total.percentile(percent)) for percent in PERCENTILES), microseconds(total.maximum),
                      f"{total.count:,}", *([""] * 3 if name == "nobody looks" else ratios)])
    report.tables.append(Table(
        "Lateness of a 1 kHz loop of the same daemon, µs (within 6.25 %)",
        ["", "p50", "p99", "p99.9", "max", "ticks", "÷ nobody looks, p50", "p99", "p99.9"], lines))


def one_lane(context, condition):
    http = free_port()
    process, child, port = tactus(context, http=http, more=ROBOT.format(priority=context.priority, cpu=context.cpu))
    try:
        condition(http, port, child, context.long_or_quick(10, 6))
        with urllib.request.urlopen(f"http://127.0.0.1:{http}/api/runtime?histograms=1", timeout=5) as answer:
            loops = json.load(answer)["loops"]
        motors = next(loop for loop in loops if loop["name"] == "robot.motors")
        return Distribution({largest: count for largest, count in motors["latencyNs"]["buckets"]})
    finally:
        context.processes.stop(process)


def nobody(http, port, child, seconds):
    time.sleep(seconds)


def several(http, port, child, seconds):
    viewers = [Viewer(port) for _ in range(4)]
    time.sleep(seconds)
    for viewer in viewers:
        viewer.close()


def killed(http, port, child, seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        viewers = again(port, 4)
        time.sleep(1)
        os.kill(video_process(http), signal.SIGKILL)
        for viewer in viewers:
            viewer.close()


def stopped(http, port, child, seconds):
    viewers = again(port, 4)
    os.kill(child, signal.SIGSTOP)
    time.sleep(seconds - 1)
    for viewer in viewers:
        viewer.close()
    if video_process(http) == child:
        raise Failed("a video process that was stopped was not replaced")


def video_process(http):
    """Once there is one."""
    for _ in range(200):
        with urllib.request.urlopen(f"http://127.0.0.1:{http}/api/video", timeout=5) as answer:
            if process := json.load(answer)["process"]["id"]:
                return process
        time.sleep(0.05)
    raise Failed("the video process was not replaced")


def again(port, count):
    """As players do it: until there is a port."""
    viewers = []
    for _ in range(200):
        try:
            while len(viewers) < count:
                viewers.append(Viewer(port))
            return viewers
        except (OSError, Failed):
            time.sleep(0.1)
    raise Failed("no viewer was served any more")


def delay(context):
    """Milliseconds for each frame that ffmpeg has decoded; empty where there is no ffmpeg."""
    process, _, port = tactus(context, clock="true")
    try:
        player = context.processes.start(
            ["ffmpeg", "-v", "error", "-fflags", "nobuffer", "-flags", "low_delay", "-rtsp_transport", "tcp", "-i",
             f"rtsp://127.0.0.1:{port}/stream", "-f", "rawvideo", "-pix_fmt", "gray", "-"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        context.processes.stop(process)
        return []
    try:
        found = []
        until = time.monotonic() + context.long_or_quick(15, 4)
        while time.monotonic() < until:
            picture = player.stdout.buffer.read(640 * 480)
            if len(picture) < 640 * 480:
                break
            now = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1_000_000 & 0xFFFF_FFFF
            drawn = drawn_clock(picture)
            if drawn is not None:
                found.append((now - drawn) & 0xFFFF_FFFF)
        # The first second is the player's own.
        return found[30:]
    finally:
        player.stdout.close()
        player.kill()
        player.wait()
        context.processes.stop(process)


def drawn_clock(picture):
    """What DrawnClock.read of Sources/Systems/Video/Wire reads."""
    words = []
    for row in range(2):
        word = 0
        for bit in range(32):
            word = word << 1 | (picture[(row * 16 + 8) * 640 + bit * 16 + 8] >= 128)
        words.append(word)
    return words[0] if words[0] == words[1] ^ 0xFFFF_FFFF else None


# MARK: viewers


class Viewer:
    """Plays over one TCP connection and throws away what comes."""

    def __init__(self, port):
        self.failure = None
        self.url = f"rtsp://127.0.0.1:{port}/stream"
        self.socket = socket.create_connection(("127.0.0.1", port), 20)
        self.socket.settimeout(20)
        self.sequence = 0
        description = self.ask("DESCRIBE", self.url, "Accept: application/sdp\r\n")
        control = [line for line in description.splitlines() if line.startswith("a=control:")][-1][10:]
        track = control if control.startswith("rtsp:") else self.url + "/" + control
        answer = self.ask("SETUP", track, "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n")
        session = [line for line in answer.splitlines() if line.lower().startswith("session:")][0].split(":", 1)[1]
        self.ask("PLAY", self.url, f"Session: {session.split(';')[0].strip()}\r\n")
        while self.read(4)[1] != 0:
            self.read(self.length)
        self.first_packet = time.monotonic()
        self.read(self.length)
        self.isOver = False
        threading.Thread(target=self.drain, daemon=True).start()

    def ask(self, method, url, fields):
        self.sequence += 1
        self.socket.sendall(f"{method} {url} RTSP/1.0\r\nCSeq: {self.sequence}\r\n{fields}\r\n".encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self.socket.recv(1)
            if head[:1] == b"$":
                rest = self.read(3)
                self.read(int.from_bytes(rest[1:], "big"))
                head = b""
        text = head.decode()
        if " 200 " not in text.splitlines()[0]:
            raise Failed(f"{method}: {text.splitlines()[0]}")
        lengths = [line for line in text.splitlines() if line.lower().startswith("content-length:")]
        body = self.read(int(lengths[0].split(":")[1])).decode() if lengths else ""
        return text + body

    def read(self, count):
        piece = b""
        while len(piece) < count:
            more = self.socket.recv(count - len(piece))
            if not more:
                raise Failed("the server closed a viewer's connection")
            piece += more
        if count == 4:
            self.length = int.from_bytes(piece[2:], "big")
        return piece

    def drain(self):
        try:
            while self.socket.recv(65536):
                pass
            self.failure = self.failure or "closed"
        except OSError as error:
            if not self.isOver:
                self.failure = str(error)

    def close(self):
        self.isOver = True
        self.socket.close()
