"""Pictures of the views beside those that are kept in `pictures/`: what has moved, is missing or has another colour is found here. `--record` keeps what it finds.

A picture is of a page that stands still: what it measures is one number each, its curves are gone, so it is the same each time on one machine. Fonts differ between machines:
with others than Debian's `fonts-dejavu-core` the pictures are not compared, and the tests say that they were skipped."""
import base64
import subprocess
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

from others import healthy, until

PICTURES = Path(__file__).parent / "pictures"
FONT = "DejaVu Sans"
SIZES = {"phone": (390, 844, "light"), "laptop": (1280, 800, "light"), "dark": (1280, 800, "dark"), "1366": (1366, 768, "light"), "1920": (1920, 1080, "light")}
VIEWS = ("", "robot", "leg", "sprinkler", "plants", "pump", "diagnostics", "help", "parts", "system")
# Those whose columns differ between screens have a picture of each; three sizes tell the others' faults.
PICTURED = [(view, size) for view in VIEWS for size in SIZES if view in ("", "sprinkler") or not size.isdigit()]
# Of all pixels: a hundred of a laptop's. The round button "?" that is gone is 270; two pictures of one machine have had no different one.
TOLERATED_SHARE = 0.0001

# Nothing comes any more, nothing goes on, and what is another each time says zeros or nothing.
STAND_STILL = """() => {
  for (let number = setTimeout(() => {}); number > 0; number--) { clearTimeout(number); clearInterval(number); }
  if (socket) socket.onmessage = socket.onclose = null;
  for (const one of document.querySelectorAll("polyline, .releases > rect, .timeline :is(i, b), .chart:not(.parts *, #timing *) > *, canvas, .old")) one.classList.contains("old") ? one.classList.remove("old") : one.remove();
  for (const one of document.querySelectorAll("#events, #timing .hint, #version, #time-zone, #well, #sprinkler-clock, .days, #week-range, #sprinkler-month, #day-title, h2[data-age]"))
    one.matches("h2") ? delete one.dataset.age : one.replaceChildren();
  // How often each loop has run depends on how often was looked.
  for (const one of document.querySelectorAll("#loops td:nth-child(n + 3)")) one.textContent = "0";
  byId("settings-file").textContent = "/etc/tactus/tactus.yaml";
  Object.assign(byId("robot-link"), { textContent: "good: 12 ms, at most 12 ms, 0 % late", className: "link-good" });
  for (const one of document.querySelectorAll("#plants [style*=left]")) one.style.left = "62%";
  // Numbers that are others each time become one that could be: ages, delays, and what a probe or a pump measures.
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode, at = node.parentElement;
    let text = node.data.replace(/\\d+(?:[.,]\\d+)?(?= ?m?s\\b)/g, "12").replace(/\\d+ (s|min|h) ago/g, "1 min ago");
    if (at.closest("#plants, .tile:has([href='#/plants'])")) text = text.replace(/^\\S+ \\d+ %$/, "Basil 62 %").replace(/\\d+(?= ?%)/g, "62").replace(/\\d{3,4}(?= counts)/g, "1310");
    if (at.closest("#plants, #pump, .tile")) text = text.replace(/\\d+[.,]\\d(?= ?°C)/g, "24.0");
    if (at.closest("#clients, #diagnostics")) text = text.replace(/\\d+/g, "0");
    if (text !== node.data) node.data = text;
  }
  document.activeElement?.blur();
}"""

# The share of pixels whose colour differs by more than rounding.
DIFFERENT = """async ([one, other]) => {
  const pixels = async (text) => {
    const picture = await createImageBitmap(await (await fetch("data:image/png;base64," + text)).blob());
    const canvas = new OffscreenCanvas(picture.width, picture.height), context = canvas.getContext("2d");
    context.drawImage(picture, 0, 0);
    return context.getImageData(0, 0, picture.width, picture.height);
  };
  const [a, b] = [await pixels(one), await pixels(other)];
  if (a.width !== b.width || a.height !== b.height) return 1;
  let count = 0;
  for (let index = 0; index < a.data.length; index += 4)
    if ([0, 1, 2].some((channel) => Math.abs(a.data[index + channel] - b.data[index + channel]) > 6)) count++;
  return count / (a.width * a.height);
}"""


@pytest.fixture(scope="module")
def comparison(browser):
    page = browser.new_page()
    yield lambda one, other: page.evaluate(DIFFERENT, [base64.b64encode(picture).decode() for picture in (one, other)])
    page.close()


@pytest.fixture(scope="module")
def still(tmp_path_factory):
    """One daemon for all pictures: nothing of it is moved."""
    from daemon import Daemon
    with Daemon(tmp_path_factory.mktemp("pictures"), more="pump: {}\n") as daemon:
        for name, probes in (("Basil", ["0x36"]), ("Fern", ["0x37"])):
            assert daemon.post("/api/plants", {"name": name, "sensors": probes}).status_code == 201
        until(lambda: daemon.get("/api/pump").json()["state"] == "off")
        yield daemon


def picture(enter, daemon, view, size):
    width, height, scheme = SIZES[size]
    asked = []

    def prepare(page):
        page.route("**/api/runtime*", healthy(daemon)[0])  # how late this machine is now is not the page's looks
        page.on("request", lambda request: asked.append(request))
        for end in "requestfinished", "requestfailed":
            page.on(end, lambda request: asked.remove(request) if request in asked else None)

    page = enter(daemon, view=view, width=width, height=height, color_scheme=scheme, reduced_motion="reduce", locale="en-GB", timezone_id="Europe/Berlin", prepare=prepare)
    expect(page.locator("#time-zone")).not_to_contain_text("this browser")
    if view == "diagnostics":
        expect(page.locator("#in-time")).to_have_text("in time")
    if view == "":
        expect(page.locator(".tile:visible")).to_have_count(5)
    page.wait_for_timeout(1500)
    # What a busy machine answers late would be shown over it.
    page.evaluate("() => { window.fetch = () => new Promise(() => {}); }")
    limit = time.monotonic() + 3
    while asked and time.monotonic() < limit:
        page.wait_for_timeout(100)
    page.wait_for_timeout(100)
    page.evaluate(STAND_STILL)
    # What lies under the pointer looks otherwise.
    page.mouse.move(0, 0)
    page.wait_for_timeout(100)
    return page.screenshot(animations="disabled", caret="hide"), page


def font():
    return subprocess.run(["fc-match", "-f", "%{family}", "system-ui"], capture_output=True, text=True, check=False).stdout


@pytest.mark.parametrize("view, size", PICTURED)
def test_a_view_looks_as_it_did(enter, still, comparison, request, view, size):
    if font() != FONT:
        pytest.skip(f"the pictures are of {FONT}, this machine has {font() or 'no fc-match'}")
    kept = PICTURES / f"{view or 'overview'}-{size}.png"
    found, _ = picture(enter, still, view, size)
    if request.config.getoption("--record"):
        PICTURES.mkdir(exist_ok=True)
        kept.write_bytes(found)
        return
    share = comparison(kept.read_bytes(), found)
    print(kept.name, share)
    if share > TOLERATED_SHARE:
        (kept.parent / (kept.stem + ".found.png")).write_bytes(found)
    assert share <= TOLERATED_SHARE, f"{share:.4%} of {kept.name} differ: see {kept.stem}.found.png, or keep it by --record"


@pytest.mark.parametrize("fault", [
    ".tile { display: none !important; }", "#reset, #keys-open { display: none !important; }", "main h2 { margin: 1.6rem 0 .8rem !important; }",
    ":root { --panel: light-dark(#f3f5f8, #11161b) !important; }", "body { font-size: 15px !important; }"])
def test_a_fault_is_more_than_what_is_tolerated(enter, still, comparison, fault):
    before, page = picture(enter, still, "", "laptop")
    page.evaluate("rules => { const sheet = new CSSStyleSheet(); sheet.replaceSync(rules); document.adoptedStyleSheets = [sheet]; }", fault)
    after = page.screenshot(animations="disabled", caret="hide")
    share = comparison(before, after)
    print(fault, share)
    assert share > 2 * TOLERATED_SHARE
