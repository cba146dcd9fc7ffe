"""What tests of the page have in common: places on it, what the daemon says, somebody else who drives."""
import re
import threading
import time

from playwright.sync_api import expect

LIMIT_SECONDS = 20


def until(holds, limit=None):
    """Waits until `holds()`, for `limit` seconds at most, and returns what it returned."""
    limit = time.monotonic() + (limit or LIMIT_SECONDS)
    while not (value := holds()):
        assert time.monotonic() < limit
        time.sleep(0.02)
    return value


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
