"""The picture by WebRTC in a real browser, over a road of its own that may lose packets: it comes, it goes, another way takes its place,
and how long a picture is under way beside MP4."""
import json
import os
import signal
import subprocess
import time

import pytest
from playwright.sync_api import expect

from daemon import PROGRAM, Daemon

pytestmark = pytest.mark.skipif(
    not (PROGRAM.parent / "tactus-video").exists(), reason="this build has no tactus-video: no trait Video")

# A picture in which everything moves: the encoder needs what it is given.
BUSY = "videotestsrc is-live=true pattern=zone-plate kx2=6 ky2=6 kt=6 ! video/x-raw,width=640,height=480,framerate=30/1"
CAMERA = "camera: {source: test, resolution: [640, 480]}\nvideo: {clock: true}\n"
LIMIT_SECONDS = 30
# Addresses for tests of networks (RFC 2544), nobody's; another run beside this one has others.
HERE, THERE = (f"198.18.{os.getpid() % 256}.{end}" for end in (1, 2))

# The clock that is drawn into the picture, read out of every frame that is shown: what it says and when it was shown.
READ = """() => {
  const film = document.getElementById("video-film"), canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [512, 32];
  const draw = canvas.getContext("2d", { willReadFrequently: true });
  const seen = window.seen = [];
  const look = () => {
    const at = performance.now();
    draw.drawImage(film, 0, 0, 512, 32, 0, 0, 512, 32);
    const pixels = draw.getImageData(0, 0, 512, 32).data;
    const word = (row) => {
      let value = 0;
      for (let bit = 0; bit < 32; bit += 1) value = value * 2 + (pixels[4 * ((row * 16 + 8) * 512 + bit * 16 + 8)] >= 128 ? 1 : 0);
      return value;
    };
    const [clock, check] = [word(0), word(1)];
    if (clock + check === 0xFFFFFFFF) seen.push([clock, at]);
    if (window.seen === seen) film.requestVideoFrameCallback(look);
  };
  film.requestVideoFrameCallback(look);
}"""


class Road:
    """A network with two ends: the daemon is at this one, the browser at the other, in a namespace of its own."""

    def __init__(self):
        self.name = self.device = f"tactus-{os.getpid()}"
        self.clear()
        self.run("ip", "netns", "add", self.name)
        try:
            self.run("ip", "link", "add", self.device, "type", "veth", "peer", "name", "road", "netns", self.name)
            self.run("ip", "address", "add", HERE + "/30", "dev", self.device)
            self.run("ip", "link", "set", self.device, "up")
            self.there("ip", "link", "set", "lo", "up")
            self.there("ip", "address", "add", THERE + "/30", "dev", "road")
            self.there("ip", "link", "set", "road", "up")
            self.there("ip", "route", "add", "default", "via", HERE)
        except BaseException:
            self.end()
            raise

    @staticmethod
    def clear():
        """Removes what a run that was killed has left."""
        for line in subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout.splitlines():
            name = line.split()[0]
            if name.startswith("tactus-") and name[7:].isdigit() and not os.path.exists("/proc/" + name[7:]):
                subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)
                subprocess.run(["nft", "delete", "table", "ip", name], check=False, capture_output=True)

    @staticmethod
    def run(*command):
        subprocess.run(command, check=True, capture_output=True, text=True)

    def there(self, *command):
        self.run("ip", "netns", "exec", self.name, *command)

    def rules(self, rule):
        """Of what arrives over the road, at each end; who sent it does not know."""
        table = f"table ip {self.name} {{}}\ndelete table ip {self.name}\n"
        for prefix, device in (((), self.device), (("ip", "netns", "exec", self.name), "road")):
            chain = (f"table ip {self.name} {{\n" "chain arrives {\ntype filter hook prerouting priority -300;\n"
                     f'iifname "{device}" {rule}\n}}\n}}\n')
            subprocess.run([*prefix, "nft", "-f", "-"], input=table + (chain if rule else ""), check=True, text=True)

    def loses(self, percent):
        """So many of a hundred packets in each direction."""
        self.rules(f"numgen random mod 100 < {percent} drop" if percent else "")

    def blocks_datagrams(self):
        self.rules("ip protocol udp drop")

    def is_clear(self):
        self.rules("")

    def takes(self, kilobits):
        """So many a second towards the browser, with a queue of a fifth of a second; none given: all."""
        subprocess.run(["tc", "qdisc", "delete", "dev", self.device, "root"], check=False, capture_output=True)
        if kilobits:
            self.run("tc", "qdisc", "add", "dev", self.device, "root", "tbf", "rate", f"{kilobits}kbit", "burst", "5kb", "latency", "200ms")

    def end(self):
        subprocess.run(["ip", "netns", "delete", self.name], check=False, capture_output=True)


@pytest.fixture(scope="module")
def road():
    try:
        road = Road()
    except (OSError, subprocess.CalledProcessError) as error:
        words = str(getattr(error, "stderr", error))
        if os.geteuid() == 0 and "permitted" not in words and "No such file" not in words:
            raise AssertionError(words) from error
        pytest.skip(f"a network of its own needs the privilege to make one, and ip and nft: {words}")
    yield road
    road.end()


@pytest.fixture(scope="module")
def browser_there(road, browser, tmp_path_factory):
    """A browser at the other end. `browser` is asked for, so that one Playwright runs."""
    program = tmp_path_factory.mktemp("browser") / "chromium"
    program.write_text(f"#!/bin/sh\nexec ip netns exec {road.name} /usr/bin/chromium \"$@\"\n")
    program.chmod(0o755)
    there = browser.browser_type.launch(
        executable_path=str(program), args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
    yield there
    there.close()


@pytest.fixture
def look(road, browser_there, tmp_path):
    """`look(way)` opens the page of a new daemon at the other end and chooses this way to show the picture."""
    daemons, contexts, failures = [], [], []

    def look(way, camera=CAMERA):
        folder = tmp_path / str(len(daemons))
        folder.mkdir()
        daemon = Daemon(folder, more=camera)
        daemon.host = HERE
        if camera.startswith("camera: {source: pipeline"):  # elements of its own, which --simulate would not take
            daemon.options = []
            daemon.config.write_text(
                f"network: {{bind_address: 127.0.0.1, http_port: {daemon.port}, rtsp_port: 0}}\n"
                f"service: {{token_file: {daemon.tokens}, bonjour: false}}\n{camera}")
        daemon.config.write_text(daemon.config.read_text().replace("bind_address: 127.0.0.1", f"bind_address: {HERE}"))
        daemon.start()
        daemons.append(daemon)
        context = browser_there.new_context(viewport={"width": 1280, "height": 844})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: failures.append(str(error)))
        page.goto(daemon.url + "/#/video")
        page.fill("#token", daemon.admin)
        page.click("#door button")
        expect(page.locator("#link")).to_have_text("live")
        page.locator("#video-look").select_option(way)
        return daemon, page

    yield look
    road.is_clear()
    road.takes(None)
    for context in contexts:
        context.close()
    for daemon in daemons:
        daemon.stop()
    assert failures == []


def shows(page, way):
    expect(page.locator("#video-way")).to_have_text("by " + way, timeout=LIMIT_SECONDS * 1000)


def viewers(daemon):
    return daemon.get("/api/video").json()["viewers"]


def until(condition, page):
    end = time.monotonic() + LIMIT_SECONDS
    while not (found := condition()):
        assert time.monotonic() < end
        page.wait_for_timeout(50)
    return found


def page_clock(page):
    """What is added to the page's clock, in ms, to have this machine's monotonic one, which the browser shares."""
    def once():
        began = time.monotonic()
        there = page.evaluate("performance.now()")
        ended = time.monotonic()
        return ended - began, (began + ended) / 2 * 1000 - there

    return min(once() for _ in range(20))[1]


def delays(page, count):
    """How long each of so many pictures was under way, from the drawing of its clock until the page shows it, in ms, sorted; and how many
    milliseconds passed between two pictures that were shown, sorted."""
    page.evaluate(READ)
    until(lambda: page.evaluate("seen.length") >= min(count, 10), page)
    page.wait_for_timeout(count * 1000 / 30)
    until(lambda: page.evaluate("seen.length") >= count / 2, page)
    offset, seen = page_clock(page), page.evaluate("seen")
    gaps = sorted(later[1] - one[1] for one, later in zip(seen, seen[1:]))
    return sorted((at + offset - clock) % 2**32 for clock, at in seen), gaps


def share(values, part):
    return values[min(len(values) - 1, int(len(values) * part))]


def test_webrtc_is_shown_first_and_nothing_is_left_of_it(look):
    daemon, page = look("best")
    shows(page, "WebRTC")
    until(lambda: "1 viewer" in page.locator("#video-facts").text_content(), page)
    assert viewers(daemon)["whep"] == 1 and viewers(daemon)["mp4"] == 0
    under_way, _ = delays(page, 30)
    # The aim is a second; the clock shows that it is this daemon's picture.
    assert share(under_way, 0.5) < 1000, under_way
    page.locator("#video-look").select_option("off")
    until(lambda: viewers(daemon)["whep"] == 0, page)
    expect(page.locator("#video-way")).to_have_text("")
    # A page that is closed says nothing of a session; its connection ends it, or its silence.
    page.locator("#video-look").select_option("best")
    shows(page, "WebRTC")
    page.close()
    end = time.monotonic() + LIMIT_SECONDS
    while viewers(daemon)["whep"]:
        assert time.monotonic() < end
        time.sleep(0.1)


@pytest.mark.parametrize("kinds", [["audio", "video"], ["video", "audio"]])
def test_a_player_that_offers_sound_as_well_gets_the_picture_alone(look, kinds):
    daemon, page = look("off")
    status, sections = page.evaluate("""async ([kinds, token]) => {
      const peer = new RTCPeerConnection();
      for (const kind of kinds) peer.addTransceiver(kind, { direction: "recvonly" });
      await peer.setLocalDescription();
      const headers = { Authorization: "Bearer " + token, "Content-Type": "application/sdp" };
      const answer = await fetch("api/video/whep", { method: "POST", headers, body: peer.localDescription.sdp });
      await peer.setRemoteDescription({ type: "answer", sdp: await answer.text() });
      const sections = Object.fromEntries(peer.getTransceivers().map((one) => [one.receiver.track.kind, one.currentDirection]));
      peer.close();
      return [answer.status, sections];
    }""", [kinds, daemon.admin])
    assert status == 201 and sections == {"video": "recvonly", "audio": "inactive"}


def test_datagrams_stop_and_mp4_takes_over_without_a_reload(road, look):
    daemon, page = look("best")
    shows(page, "WebRTC")
    page.evaluate("window.isStillHere = true")
    road.blocks_datagrams()
    shows(page, "MP4")
    until(lambda: viewers(daemon)["whep"] == 0 and viewers(daemon)["mp4"] == 1, page)
    assert page.evaluate("window.isStillHere")
    # Chosen anew it is tried anew.
    road.is_clear()
    page.locator("#video-look").select_option("off")
    page.locator("#video-look").select_option("best")
    shows(page, "WebRTC")


def test_a_process_that_dies_ends_its_sessions_and_the_picture_comes_back(look):
    daemon, page = look("best")
    shows(page, "WebRTC")
    os.kill(daemon.get("/api/video").json()["process"]["id"], signal.SIGKILL)
    until(lambda: daemon.get("/api/video").json()["process"]["starts"] == 2, page)
    until(lambda: viewers(daemon)["whep"] == 1, page)
    shows(page, "WebRTC")
    assert share(delays(page, 30)[0], 0.5) < 1000


@pytest.mark.parametrize("loss", [0, 2])
def test_how_long_a_picture_is_under_way(road, look, loss):
    """Printed, for docs/video.md; a shared machine may pause, so only an order of magnitude is asked for."""
    found = {}
    daemon, page = look("off")
    for way, name in (("whep", "WebRTC"), ("mp4", "MP4")):
        page.locator("#video-look").select_option(way)
        shows(page, name)
        road.loses(loss)
        under_way, gaps = delays(page, int(os.environ.get("TACTUS_PICTURES", 150)))
        road.is_clear()
        found[name] = under_way
        print(f"\n{name} at {loss} % loss: {len(under_way)} pictures, under way p50 {share(under_way, 0.5):.0f} ms, "
              f"p95 {share(under_way, 0.95):.0f}, p99 {share(under_way, 0.99):.0f}, worst {under_way[-1]:.0f}; "
              f"longest pause {gaps[-1]:.0f} ms")
    assert share(found["WebRTC"], 0.5) < 500, found["WebRTC"]


@pytest.mark.parametrize("way, name", [("whep", "WebRTC"), ("mp4", "MP4")])
def test_a_road_of_500_kilobits_with_loss(road, look, way, name):
    """What the encoder makes follows the viewer's link, and comes back. Printed beside a rate that does not, for docs/video.md."""
    loss = 5 if way == "whep" else 0  # one in twenty leaves TCP a quarter of such a road, whatever is sent
    for least, words in ((2_000_000, "fixed"), (200_000, "following")):
        daemon, page = look(way, f"camera: {{source: pipeline, pipeline: {json.dumps(BUSY)}, min_bitrate: {least}}}\nvideo: {{clock: true}}\n")
        shows(page, name)
        rate = lambda: daemon.get("/api/video").json()["rate"]
        until(lambda: rate()["cause"] == "configured", page)
        road.takes(500)
        road.loses(loss)
        if words == "following":
            until(lambda: rate()["bitsPerSecond"] < 600_000, page)
        page.wait_for_timeout(10_000)
        page.evaluate(READ)
        page.wait_for_timeout(int(os.environ.get("TACTUS_PICTURES", 150)) * 1000 / 15)
        offset, seen = page_clock(page), page.evaluate("seen")
        found = daemon.get("/api/video").json()
        road.is_clear()
        road.takes(None)
        under_way = sorted((at + offset - clock) % 2**32 for clock, at in seen) or [float("inf")]
        pause = max((later[1] - one[1] for one, later in zip(seen, seen[1:])), default=float("inf"))
        print(f"\n{name}, 500 kbit/s, {loss} % lost, {words}: {len(seen)} pictures, under way p50 {share(under_way, 0.5):.0f} ms, "
              f"p95 {share(under_way, 0.95):.0f}, p99 {share(under_way, 0.99):.0f}, worst {under_way[-1]:.0f}; longest pause {pause:.0f} ms; "
              f"{found['rate']}, made {found['statistics']['framesPerSecond']} frames, {found['statistics']['bitsPerSecond']} bits/s")
        if words == "following":
            assert share(under_way, 0.5) < (1000 if way == "whep" else 3000), under_way
            held = rate()["bitsPerSecond"]
            until(lambda: rate()["bitsPerSecond"] > held * 1.2, page)
        page.close()
        daemon.stop()
