"""The picture as players see it: ffprobe, ffmpeg and GStreamer over RTSP, the service's streams, and ends of processes."""
import json
import os
import signal
import socket
import struct
import subprocess
import threading
import time
import warnings
from pathlib import Path

import pytest
import requests

from daemon import PROGRAM, Daemon, let_others_in
from live import Live
from rtsp import Viewer
from tiny_model import bright, yolo

# A shared test machine may pause; a picture that does not come is found all the same.
LIMIT_SECONDS = 60
# What a player is given before it is tried once more: over UDP it waits for ever for a stream whose first datagrams were lost.
PLAYER_SECONDS = 120
WIDTH, HEIGHT = 320, 240
CAMERA = f"camera: {{source: test, resolution: [{WIDTH}, {HEIGHT}]}}\n"

pytestmark = pytest.mark.skipif(
    not (Path(PROGRAM).parent / "tactus-video").exists(), reason="this build has no tactus-video: no trait Video")


@pytest.fixture(autouse=True)
def readable(tmp_path):
    let_others_in(tmp_path)


def state(daemon):
    return daemon.get("/api/video").json()


def until(daemon, condition, limit=LIMIT_SECONDS):
    end = time.monotonic() + limit
    while not condition(now := state(daemon)):
        assert time.monotonic() < end, now
        time.sleep(0.05)
    return now


def snapshot(daemon):
    """A picture. On a busy machine the first one may take longer than an answer waits for it."""
    limit = time.monotonic() + LIMIT_SECONDS
    while (answer := daemon.get("/api/video/snapshot.jpg")).status_code == 503 and time.monotonic() < limit:
        time.sleep(0.1)
    assert answer.status_code == 200, answer.text
    return answer


def port(daemon):
    return until(daemon, lambda video: video["rtsp"]["listening"])["rtsp"]["port"]


def url(daemon, user=""):
    return f"rtsp://{user}127.0.0.1:{port(daemon)}/stream"


def probe(source, *options, **more):
    """What ffprobe says of the first video stream; None and its words where it refuses."""
    done = subprocess.run(
        ["ffprobe", "-v", "error", *options, "-select_streams", "v:0", "-show_entries",
         "stream=codec_name,profile,width,height", "-of", "json", "-i", source],
        capture_output=True, timeout=PLAYER_SECONDS, **more)
    if done.returncode != 0:
        return None, done.stderr.decode()
    return json.loads(done.stdout)["streams"][0], ""


def ffmpeg(source, *options):
    """Grey pictures on its standard output, each that came and no other."""
    return subprocess.Popen(
        ["ffmpeg", "-v", "error", "-nostdin", *options, "-i", source, "-vsync", "passthrough", "-f", "rawvideo", "-pix_fmt", "gray", "-"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def pictures(player, count):
    size = WIDTH * HEIGHT
    found = [player.stdout.read(size) for _ in range(count)]
    assert all(len(picture) == size for picture in found), [len(picture) for picture in found]
    return found


def end(*processes):
    for process in processes:
        process.kill()
        process.wait()
        if process.stdout:
            process.stdout.close()


@pytest.fixture(scope="module")
def camera(tmp_path_factory):
    folder = tmp_path_factory.mktemp("camera")
    (folder / "recordings").mkdir()
    with Daemon(folder, more=CAMERA + f"video: {{viewers: 100, record_dir: {folder}/recordings}}\n") as daemon:
        yield daemon


@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_ffprobe_knows_the_stream(camera, transport):
    try:
        stream, said = probe(url(camera), "-rtsp_transport", transport)
    except subprocess.TimeoutExpired:
        # Seen once in some hundred runs, over UDP: ffprobe waits for ever for a stream whose datagrams do not come, as people's
        # players do until they try TCP. What the server knew is told, and the second try has to succeed.
        assert transport == "udp", state(camera)
        warnings.warn(f"ffprobe got nothing over UDP: {state(camera)}", stacklevel=1)
        stream, said = probe(url(camera), "-rtsp_transport", transport)
    assert stream == {
        "codec_name": "h264", "profile": "Constrained Baseline", "width": WIDTH, "height": HEIGHT}, said


@pytest.mark.protocol
@pytest.mark.parametrize("transport", ["tcp", "udp"])
def test_ffmpeg_plays_it(camera, transport):
    for _ in range(3):
        player = ffmpeg(url(camera), "-rtsp_transport", transport)
        # One that gets nothing says nothing either.
        patience = threading.Timer(PLAYER_SECONDS, player.kill)
        patience.start()
        try:
            found = [player.stdout.read(WIDTH * HEIGHT) for _ in range(45)]
        finally:
            patience.cancel()
            end(player)
        if all(found):
            break
    assert all(len(picture) == WIDTH * HEIGHT for picture in found), state(camera)
    # The ball moves.
    assert len(set(found)) > 20


def test_gstreamer_plays_it(camera):
    done = subprocess.run(
        ["gst-launch-1.0", "-q", "rtspsrc", f"location={url(camera)}", "protocols=tcp", "latency=0", "!", "rtph264depay", "!",
         "h264parse", "!", "identity", "eos-after=30", "!", "fakesink"],
        capture_output=True, text=True, timeout=LIMIT_SECONDS)
    assert done.returncode == 0, done.stderr


def datagram_addresses(daemon):
    """The local addresses of the video process's UDP sockets, as the kernel writes them: IPv4 and IPv6."""
    process = Path(f"/proc/{state(daemon)['process']['id']}")
    own = {os.readlink(one)[8:-1] for one in (process / "fd").iterdir() if os.readlink(one).startswith("socket:[")}
    lines = [line.split() for kind in ("udp", "udp6") for line in (process / "net" / kind).read_text().splitlines()[1:]]
    return [line[1].split(":")[0] for line in lines if line[9] in own]


LOOPBACK_4, LOOPBACK_6 = "0100007F", "00000000000000000000000001000000"
ANY_4, ANY_6 = "00000000", "0" * 32


@pytest.mark.parametrize("address, host, sockets", [
    ("127.0.0.1", "127.0.0.1", {LOOPBACK_4}), ("::1", "[::1]", {LOOPBACK_6}), ("0.0.0.0", "127.0.0.1", {ANY_4}),
    ("::", "127.0.0.1", {ANY_4, ANY_6}), ("::", "[::1]", {ANY_4, ANY_6})])
def test_the_sockets_of_rtp_and_rtcp_are_where_rtsp_is(tmp_path, address, host, sockets):
    config = tmp_path / "tactus.yaml"
    daemon = Daemon(tmp_path, more=CAMERA)
    config.write_text(daemon.config.read_text().replace("bind_address: 127.0.0.1", f"bind_address: '{address}'"))
    daemon.host = host
    with daemon:
        player = ffmpeg(f"rtsp://{host}:{port(daemon)}/stream", "-rtsp_transport", "udp")
        try:
            pictures(player, 3)
            found = datagram_addresses(daemon)
        finally:
            end(player)
    assert set(found) == sockets and len(found) == 2 * len(sockets), found


@pytest.mark.parametrize("place", ["in the configuration", "in a file of its own"])
def test_a_password_is_asked_for_and_told_to_nobody(own_daemon, tmp_path_factory, place):
    given = "password: a-long-secret"
    if place == "in a file of its own":
        # The confined daemon may open nothing in this folder.
        file = tmp_path_factory.mktemp("elsewhere") / "camera"
        file.write_text("a-long-secret\n")
        given = f"password_file: {file}"
    daemon = own_daemon(more=CAMERA + f"video: {{user: robot, {given}}}\n")
    for user in ["", "robot:wrong@", "other:a-long-secret@"]:
        stream, said = probe(url(daemon, user), "-rtsp_transport", "tcp")
        assert stream is None and "401" in said, (user, stream, said)
    assert state(daemon)["statistics"]["starts"] == 0, "a camera started for somebody who may not look"
    stream, said = probe(url(daemon, "robot:a-long-secret@"), "-rtsp_transport", "tcp")
    assert stream and stream["width"] == WIDTH, said
    # The service's streams have the service's tokens.
    assert daemon.get("/api/video/snapshot.jpg", token=None).status_code == 401
    assert "a-long-secret" not in daemon.log


def test_a_hundred_times_the_last_viewer_leaves_and_another_comes(camera):
    # What is told is a second old, so that viewers of the test before may not be counted yet: they are when one has been seen to come and go.
    first = Viewer(port(camera))
    first.play()
    until(camera, lambda video: video["viewers"]["rtsp"] > 0)
    first.tear_down()
    before = until(camera, lambda video: video["viewers"]["rtsp"] == 0)["statistics"]
    for number in range(100):
        viewer = Viewer(port(camera))
        viewer.play()
        if number % 2:
            viewer.tear_down()
        else:
            viewer.vanish()
    after = until(camera, lambda video: video["viewers"]["rtsp"] == 0)["statistics"]
    assert after["viewersEver"] - before["viewersEver"] == 100
    assert after["failures"] == before["failures"] and after["viewersRefused"] == before["viewersRefused"]


def test_many_viewers_share_one_encoder_and_a_killed_one_harms_nobody(camera):
    before = state(camera)["statistics"]
    players = [ffmpeg(url(camera), "-rtsp_transport", transport) for transport in ("tcp", "udp", "tcp")]
    viewers = [Viewer(port(camera)) for _ in range(9)]
    try:
        for viewer in viewers:
            viewer.play()
        for player in players:
            pictures(player, 5)
        now = until(camera, lambda video: video["viewers"]["rtsp"] == 12)
        assert now["statistics"]["starts"] - before["starts"] <= 1
        assert now["statistics"]["framesPerSecond"] <= 31
        for player in players[:2]:
            player.send_signal(signal.SIGKILL)
        for viewer in viewers[:4]:
            viewer.vanish()
        pictures(players[2], 60)
        viewers[8].packets(11)
        # Whoever vanished over TCP is gone at once; over UDP ffmpeg's connection of RTSP itself ends.
        until(camera, lambda video: video["viewers"]["rtsp"] == 6)
    finally:
        end(*players)
        for viewer in viewers[4:]:
            viewer.vanish()


class Driver:
    """Drives at 20 Hz until told to stop; every command must be taken."""

    def __init__(self, daemon):
        self.daemon, self.isOver, self.taken, self.slowest, self.failure = daemon, False, 0, 0, None
        self.thread = threading.Thread(target=self.drive)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.isOver = True
        self.thread.join()

    def drive(self):
        try:
            with Live(self.daemon) as live:
                while not self.isOver:
                    began = time.monotonic()
                    live.drive_taken(30, 30, echo=self.taken)
                    self.slowest = max(self.slowest, time.monotonic() - began)
                    self.taken += 1
                    time.sleep(0.05)
        except Exception as error:
            self.failure = error


def test_a_video_process_that_is_killed_or_hangs_is_replaced_and_control_goes_on(tmp_path):
    """The motors' loop runs at 1 kHz meanwhile, and its account is exact; how late its ticks were is printed, and measured by `scripts/bench
    video`."""
    with Daemon(tmp_path, more=CAMERA, robot_hz=1000, command_timeout=10.0) as daemon:
        check_replacement(daemon)


def check_replacement(daemon):
    first = until(daemon, lambda video: video["process"]["id"])["process"]["id"]
    snapshot(daemon)
    with Driver(daemon) as driver:
        os.kill(first, signal.SIGKILL)
        second = until(daemon, lambda video: video["process"]["starts"] == 2 and video["process"]["id"])
        assert "signal 9" in second["process"]["cause"]
        snapshot(daemon)
        os.kill(second["process"]["id"], signal.SIGSTOP)
        third = until(daemon, lambda video: video["process"]["starts"] == 3 and video["process"]["id"])
        assert "said nothing" in third["process"]["cause"]
        snapshot(daemon)
        assert probe(url(daemon), "-rtsp_transport", "tcp")[0]
        robot = daemon.get("/api/robot").json()
    assert driver.failure is None and driver.taken > 50, (driver.failure, driver.taken)
    # Its failsafe waits for ten seconds, since this process may be kept waiting: it never came near.
    assert robot["state"] == "driving", robot
    motors = next(loop for loop in daemon.get("/api/runtime").json()["loops"] if loop["name"] == "robot.motors")
    assert motors["released"] == motors["ran"] + motors["skipped"] + motors["pending"]
    assert motors["rateHz"] == 1000 and motors["ran"] > 5000, motors
    print(f"late by p50 {motors['latencyNs']['p50']} ns, p99 {motors['latencyNs']['p99']} ns, {motors['skipped']} skipped; {driver.taken} commands taken, the slowest in {driver.slowest * 1000:.0f} ms")


def test_the_daemon_gone_the_video_process_goes_too(own_daemon):
    daemon = own_daemon(more=CAMERA)
    process = until(daemon, lambda video: video["process"]["id"])["process"]["id"]
    daemon.stop()
    assert not Path(f"/proc/{process}").exists()


def test_a_camera_that_is_not_there_says_so(own_daemon):
    daemon = own_daemon(more="camera: {source: pipeline, pipeline: v4l2src device=/dev/video99}\n")
    # --simulate shows a test picture whatever is configured: nothing of the machine is touched.
    snapshot(daemon)
    assert "videotestsrc" in state(daemon)["elements"]["source"]


def test_a_snapshot_is_a_picture(camera):
    answer = snapshot(camera)
    assert answer.headers["Content-Type"] == "image/jpeg"
    stream, said = probe("-", "-f", "mjpeg", input=answer.content)
    assert stream and (stream["codec_name"], stream["width"], stream["height"]) == ("mjpeg", WIDTH, HEIGHT), said


def read_stream(daemon, path, is_enough):
    with daemon.get(path, stream=True) as answer:
        assert answer.status_code == 200, answer.text
        bytes, limit = b"", time.monotonic() + LIMIT_SECONDS
        for piece in answer.iter_content(None):
            bytes += piece
            if is_enough(bytes):
                return answer.headers["Content-Type"], bytes
            assert time.monotonic() < limit, len(bytes)
        raise AssertionError(f"ended after {len(bytes)} bytes")


@pytest.mark.protocol
def test_the_film_over_http_plays(camera):
    kind, film = read_stream(camera, "/api/video/stream.mp4", lambda film: film.count(b"moof") > 30)
    assert kind.startswith('video/mp4; codecs="avc1.42')
    stream, said = probe("-", input=film)
    assert stream and (stream["codec_name"], stream["width"], stream["height"]) == ("h264", WIDTH, HEIGHT), said


def test_pictures_without_end(camera):
    kind, parts = read_stream(camera, "/api/video/stream.mjpeg", lambda parts: parts.count(b"--picture\r\n") > 5)
    assert kind == "multipart/x-mixed-replace; boundary=picture"
    found = [part for part in parts.split(b"--picture\r\n") if part]
    assert len(found) >= 4 and all(b"Content-Type: image/jpeg" in part and b"\xff\xd8" in part for part in found)


def test_who_leaves_an_http_stream_leaves_its_place(camera):
    for _ in range(20):
        with camera.get("/api/video/stream.mp4", stream=True) as answer:
            assert answer.status_code == 200
            next(answer.iter_content(1000))
    until(camera, lambda video: video["viewers"]["mp4"] == 0)


def memory(process):
    """What a process has and has had in memory, in MB."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return {line.split(":")[0]: int(line.split()[1]) / 1024 for line in lines if line.startswith(("VmHWM", "VmRSS"))}


def send_until_closed(connection):
    """Returns whether the other side has closed within the limit."""
    end = time.monotonic() + LIMIT_SECONDS
    try:
        while time.monotonic() < end:
            connection.sendall(b"a" * 65536)
    except OSError:
        return True
    return False


def test_a_request_that_announces_two_gigabytes_is_refused_before_any_password(own_daemon):
    daemon = own_daemon(more=CAMERA + "video: {user: viewer, password: secret}\n")
    rtsp, process = port(daemon), state(daemon)["process"]["id"]
    with socket.create_connection(("127.0.0.1", rtsp), LIMIT_SECONDS) as connection:
        connection.sendall(
            b"ANNOUNCE rtsp://127.0.0.1/stream RTSP/1.0\r\nCSeq: 1\r\nContent-Type: application/sdp\r\n"
            b"Content-Length: 2000000000\r\n\r\n")
        assert send_until_closed(connection)
    assert memory(process)["VmHWM"] < 400, memory(process)
    Viewer(rtsp).ask("OPTIONS", "*")
    assert state(daemon)["process"]["id"] == process


def test_a_request_line_without_an_end_keeps_nobody_out(own_daemon):
    daemon = own_daemon(more=CAMERA)
    rtsp = port(daemon)
    # It is closed after ten seconds, and a busy machine may need as long to show a picture: one of ten is enough.
    for _ in range(10):
        closed = []
        with socket.create_connection(("127.0.0.1", rtsp), LIMIT_SECONDS) as connection:
            connection.sendall(b"OPTIONS ")
            flood = threading.Thread(target=lambda: closed.append(send_until_closed(connection)))
            flood.start()
            with Viewer(rtsp) as viewer:
                viewer.packets(10)
                was_served_meanwhile = not closed
                flood.join()
                assert closed == [True], "it goes on"
                viewer.packets(10)
        if was_served_meanwhile:
            return
    pytest.fail("whoever looks is served when the line is closed, and not before")


@pytest.mark.parametrize("stream", ["stream.mjpeg", "stream.mp4"])
def test_a_stream_ends_when_its_token_is_revoked_and_another_goes_on(camera, stream):
    made = camera.post("/api/tokens", {"name": f"guest of {stream}", "scope": "read"}).json()
    with camera.get(f"/api/video/{stream}", token=made["token"], stream=True) as revoked, \
            camera.get(f"/api/video/{stream}", stream=True) as other:
        assert (revoked.status_code, other.status_code) == (200, 200)
        pieces = revoked.iter_content(1000)
        next(pieces)
        assert camera.request("DELETE", f"/api/tokens/{made['client']['id']}").status_code == 200
        # Cut off, and not ended as a whole answer is.
        with pytest.raises(requests.exceptions.ChunkedEncodingError):
            end = time.monotonic() + LIMIT_SECONDS
            while time.monotonic() < end:
                next(pieces)
        for _ in zip(range(100), other.iter_content(1000)):
            pass
    assert camera.get("/api/video", token=made["token"]).status_code == 401
    until(camera, lambda video: video["viewers"]["mp4"] == 0)


def test_a_recording_can_be_played(camera):
    assert camera.post("/api/video/record").status_code == 200
    assert camera.post("/api/video/record").json()["code"] == "RECORDING"
    until(camera, lambda video: video["recording"]["state"] == "running" and video["recording"]["bytes"] > 50_000)
    assert camera.post("/api/video/record/stop").status_code == 200
    path = until(camera, lambda video: video["recording"]["state"] == "stopped")["recording"]["path"]
    stream, said = probe(path)
    assert stream and (stream["codec_name"], stream["width"]) == ("h264", WIDTH), said


def test_the_cameras_are_listed(camera):
    answer = camera.get("/api/video/cameras")
    assert answer.status_code == 200 and isinstance(answer.json()["cameras"], list)


def test_what_is_counted_is_on_the_page(camera):
    probe(url(camera), "-rtsp_transport", "tcp")
    until(camera, lambda video: video["statistics"]["viewersEver"] > 0)
    page = camera.get("/metrics").text
    for name in ["tactus_video_frames_total", "tactus_video_rtsp_viewers_total", "tactus_video_first_frame_seconds"]:
        value = next(line for line in page.splitlines() if line.startswith(name + " "))
        assert float(value.split()[1]) > 0, value


DETECTOR = Path(PROGRAM).parent / "tactus-detect"
HAS_OPENCV = DETECTOR.exists() and "without the trait" not in subprocess.run(
    [DETECTOR, "none"], capture_output=True, text=True, timeout=LIMIT_SECONDS).stdout


def brightest(jpeg):
    """The middle of what is white, in fractions of the picture."""
    done = subprocess.run(
        ["ffmpeg", "-v", "error", "-f", "mjpeg", "-i", "-", "-f", "rawvideo", "-pix_fmt", "gray", "-"], input=jpeg,
        capture_output=True, timeout=LIMIT_SECONDS, check=True)
    white = [divmod(index, WIDTH) for index, value in enumerate(done.stdout) if value > 200]
    return sum(x for _, x in white) / len(white) / WIDTH, sum(y for y, _ in white) / len(white) / HEIGHT


def with_model(own_daemon, folder):
    """A daemon whose detector has a model that finds what is bright."""
    model, labels = folder / "bright.onnx", folder / "labels"
    model.write_bytes(bright(64, 8))
    labels.write_text("ball\n")
    return own_daemon(more=CAMERA + (
        f"video: {{detector: {{model: {model}, labels_file: {labels}, input_px: 64, rate_hz: 30, always: true}}}}\n"))


@pytest.mark.real_time
@pytest.mark.skipif(not HAS_OPENCV, reason="this build has no tactus-detect: no trait Detection")
def test_a_small_model_takes_less_than_a_second(own_daemon, tmp_path):
    daemon = with_model(own_daemon, tmp_path)
    detection = until(daemon, lambda video: video["detection"]["objects"])["detection"]
    assert detection["detectMs"] < 1000, detection


@pytest.mark.skipif(not HAS_OPENCV, reason="this build has no tactus-detect: no trait Detection")
def test_a_model_of_the_users_finds_the_ball(own_daemon, tmp_path):
    daemon = with_model(own_daemon, tmp_path)
    with Live(daemon) as live:
        live.say(type="subscribe", systems=["video"], rateHz=10)
        event = live.wait_for(lambda event: event["type"] == "detections" and event["objects"], LIMIT_SECONDS)
        assert {one["label"] for one in event["objects"]} == {"ball"}, event
    near, limit = [], time.monotonic() + LIMIT_SECONDS
    # Four of five looks that follow each other. A picture that was taken long before the other one shows the ball elsewhere: as many looks as it
    # takes, on a machine that is busy.
    while sum(near[-5:]) < 4:
        assert time.monotonic() < limit, near
        picture = snapshot(daemon).content
        found = [(one["left"] + one["width"] / 2, one["top"] + one["height"] / 2) for one in state(daemon)["detection"]["objects"]]
        x, y = brightest(picture)
        # The ball has moved on since; it crosses the picture in some seconds.
        near.append(any(abs(left - x) < 0.2 and abs(top - y) < 0.2 for left, top in found))
    detection = state(daemon)["detection"]
    assert detection["state"] == "running" and detection["failures"] == 0, detection


@pytest.mark.skipif(not HAS_OPENCV, reason="this build has no tactus-detect: no trait Detection")
@pytest.mark.parametrize("operations", [12, 17])
def test_the_operations_of_yolov8_run_and_boxes_lie_around_their_anchors(tmp_path, operations):
    """OpenCV 4.6, Debian 12's, refuses some of them as they are exported: Sources/Systems/Video/Detector/older_opencv.cpp."""
    (tmp_path / "yolo.onnx").write_bytes(yolo(classes=2, operations=operations))
    done = subprocess.run(
        [DETECTOR, tmp_path / "yolo.onnx"], input=b"picture 64\n" + bytes(range(256)) * 48, capture_output=True,
        timeout=LIMIT_SECONDS)
    head, values = done.stdout.split(b"\n", 1)
    assert head == b"tensor 6 80", head
    tensor = struct.unpack("<480f", values)
    # All bins alike, a side is seven and a half strides from its anchor; chance moves that a little.
    for index, middle in [(0, 4), (1, 12), (64, 8), (65, 24)]:
        stride = 8 if index < 64 else 16
        x, y, width, height = tensor[index::80][:4]
        assert abs(x - middle) < stride / 2 and abs(width - 15 * stride) < stride, (index, x, y, width, height)
    assert all(0.3 < value < 0.7 for value in tensor[320:])


@pytest.mark.skipif(not HAS_OPENCV, reason="this build has no tactus-detect: no trait Detection")
def test_a_file_that_is_no_model_says_so_and_the_picture_goes_on(own_daemon, tmp_path):
    model = tmp_path / "no.onnx"
    model.write_text("no model\n")
    daemon = own_daemon(more=CAMERA + f"video: {{detector: {{model: {model}, input_px: 64, always: true}}}}\n")
    detection = until(daemon, lambda video: video["detection"]["state"] == "failed")["detection"]
    assert "no.onnx" in detection["reason"], detection
    snapshot(daemon)
    assert state(daemon)["process"]["ends"] == 0


def test_without_a_model_nothing_is_detected_and_it_says_so(camera):
    detection = state(camera)["detection"]
    assert detection["state"] == "off" and "video.detector.model" in detection["reason"], detection


# What a browser offers of a video that it receives, in short.
OFFER = "".join(line + "\r\n" for line in [
    "v=0", "o=- 5662809416753834892 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0",
    "m=video 9 UDP/TLS/RTP/SAVPF 96 108 109", "c=IN IP4 0.0.0.0", "a=rtcp:9 IN IP4 0.0.0.0", "a=ice-ufrag:/nbA",
    "a=ice-pwd:QdotsdsDSLhUVYZ+Fqh8gZM2", "a=ice-options:trickle",
    "a=fingerprint:sha-256 99:5A:67:DC:3F:15:16:87:3D:80:B9:FA:B7:18:4A:FA:92:A1:71:8E:03:0E:8F:97:EC:64:9F:81:E0:3B:0D:C0",
    "a=setup:actpass", "a=mid:0", "a=recvonly", "a=rtcp-mux", "a=rtpmap:96 VP8/90000", "a=rtpmap:108 H264/90000",
    "a=rtcp-fb:108 nack", "a=fmtp:108 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f",
    "a=rtpmap:109 rtx/90000", "a=fmtp:109 apt=108"])


def test_an_offer_is_answered_and_its_session_deleted(own_daemon):
    """As any player of WHEP; that a browser shows the picture is browser/test_webrtc.py."""
    daemon = own_daemon(more=CAMERA + "video: {viewers: 1}\n")
    until(daemon, lambda video: video["process"]["id"])

    def offer(text, content="application/sdp", **options):
        return daemon.request("POST", "/api/video/whep", data=text, headers={"Content-Type": content}, **options)

    for text, status, code in [
        ("", 400, "BODY_MISSING"), ("hello", 400, "BAD_SDP"), ("v=0\r\n", 422, "VALIDATION"),
        (OFFER.replace("H264", "AV1"), 406, "NO_H264"), (OFFER.replace("recvonly", "sendonly"), 422, "VALIDATION"),
        ("v" * (64 * 1024 + 1), 413, "TOO_LARGE"),
    ]:
        answer = offer(text)
        assert (answer.status_code, answer.json()["code"]) == (status, code), (text[:40], answer.text)
    assert offer("{}", "application/json").status_code == 415
    assert offer(OFFER, token=None).status_code == 401
    answer = offer(OFFER, token=daemon.create_token("read", "viewer"))
    assert answer.status_code == 201 and answer.headers["Content-Type"] == "application/sdp", answer.text
    assert "a=sendonly" in answer.text and "H264/90000" in answer.text and " 127.0.0.1 " in answer.text
    assert state(daemon)["viewers"]["whep"] == 1
    # The one place is taken, for streams, too.
    assert offer(OFFER).json()["code"] == "VIEWERS"
    assert daemon.get("/api/video/snapshot.jpg").json()["code"] == "VIEWERS"
    session = answer.headers["Location"]
    assert daemon.request("DELETE", session, token=None).status_code == 401
    assert daemon.request("DELETE", session).json() == {"ok": True}
    assert daemon.request("DELETE", session).status_code == 404
    snapshot(daemon)
    # Nobody connects: the place is free again by itself.
    assert offer(OFFER).status_code == 201
    until(daemon, lambda video: video["viewers"]["whep"] == 0)
