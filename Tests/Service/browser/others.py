"""What tests of the page have in common: places on it, what the daemon says, somebody else who drives."""
import re
import threading
import time

from playwright.sync_api import expect

LIMIT_SECONDS = 20
# What a page has to have before its own scripts, as one behind a proxy that refuses every WebSocket.
NO_SOCKETS = """window.WebSocket = class { static OPEN = 1; static CLOSING = 2; readyState = 3; close() {}
  constructor() { setTimeout(() => this.onclose({ code: 1006, reason: "" })); } };"""


def until(holds, limit=None):
    """Waits until `holds()`, for `limit` seconds at most, and returns what it returned."""
    limit = time.monotonic() + (limit or LIMIT_SECONDS)
    while not (value := holds()):
        assert time.monotonic() < limit
        time.sleep(0.02)
    return value


def whole(page):
    """Waits until what comes after the first values is there, too."""
    until(lambda: page.wait_for_timeout(20) or page.evaluate("isWhole"), 60)


def files_of(daemon):
    """The page's files by their names without the hash: `{"console.css": "/console-2f61c9d04ab7.css"}`."""
    page = daemon.get("/", token=None).text
    return {stem + ending: f"/{stem}{tag}{ending}" for stem, tag, ending in re.findall(r'="([\w.-]+?)(-[0-9a-f]{12})(\.[\w.]+)"', page)}


def robot(daemon):
    return daemon.get("/api/robot").json()


def go(page, view):
    """By its link in the bar, of a phone's behind "More"; Help's is at the foot."""
    link = page.locator("footer a[href='#/help']" if view == "help" else f"#systems a[href='#/{view}']")
    expect(link).not_to_have_attribute("hidden", re.compile(".*"))
    if not link.is_visible():
        page.click("#more")
    link.click()
    expect(page.locator("body")).to_have_attribute("data-shows", view or "overview")


def place(page, selector, x=0.5, y=0.5):
    box = page.locator(selector).bounding_box()
    return box["x"] + x * box["width"], box["y"] + y * box["height"]


def healthy(daemon):
    """Answers `/api/runtime` of a machine that is in time, with fixed numbers: since the start a few ticks were late, given up or too long, and of those between
    two looks 0.2 %, which is less than what is called late; a warning, and nothing refused. `state["late"]`: how many of the 500 between two looks are late."""
    document, state = daemon.get("/api/runtime").json(), {"late": 1}
    buckets = [[99, 20], [12_000, 900], [47_103, 70], [163_839, 9], [1_200_000, 1]]
    times = {"p50": 12_000, "p90": 47_103, "p99": 163_839, "p999": 1_200_000, "min": 50, "max": 1_200_000}
    document.update(findings=[], memoryLock={"state": "locked", "errno": None})
    for lane in document["lanes"]:
        lane.update(isAsRequested=True, effective=lane["requested"], effectiveCPUs=lane["requestedCPUs"], findings=[
            {"isRefusal": False, "description": "the kernel holds real-time threads to 950000 µs of every 1000000 µs together. Leave it"}])
    for loop in document["loops"]:
        loop.update(ran=1000, skipped=3, overruns=2, deadlineMisses=4, overdue=0, running=None, longestGap=None, executionNs={**times})
        for age in loop["ages"]:
            age.update(ageNs={**age["ageNs"], **times}, lastNs=12_000, boundNs=100_000, arrival=None)

    def answer(route):
        document["monotonicNs"] += 2_000_000_000
        for loop in document["loops"]:
            loop["ran"] += 500
            loop["deadlineMisses"] += state["late"]
            loop["latencyNs"] = {**times, **({"buckets": buckets} if "histograms=1" in route.request.url else {})}
        route.fulfill(json=document)

    return answer, state, document


class Driver:
    """Somebody else, who drives at 20 Hz until the end of the block, refused or not."""

    def __init__(self, daemon, speed=30):
        self.daemon, self.speed, self.done = daemon, speed, threading.Event()

    def __enter__(self):
        self.drive()
        self.thread = threading.Thread(target=self.drive_on)
        self.thread.start()
        return self

    def drive(self):
        self.daemon.post("/api/robot/drive", {"left": self.speed, "right": self.speed})

    def drive_on(self):
        while not self.done.wait(0.05):
            self.drive()

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()
