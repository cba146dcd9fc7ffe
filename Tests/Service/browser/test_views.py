"""The views: their addresses and titles, the overview, what a screen reader and a thumb find, what an idle page costs."""
import json
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from daemon import PROGRAM
from others import files_of, go, place, robot, until
from systems import STALLED, Fan

VIEWS = ("", "robot", "leg", "sprinkler", "plants", "pump", "fan", "diagnostics", "logs", "system", "help")
# As wide as a phone, a laptop and a screen on a wall.
SIZES = {"phone": (360, 780), "laptop": (1280, 800), "wide": (1920, 1080)}

# What is pressed and is smaller than a fingertip: 44 pixels. A label is pressed for its control.
SMALL = """() => [...document.querySelectorAll("a, button, input, select, summary, [tabindex='0']")].filter((one) => {
  const box = (one.closest("label") || one).getBoundingClientRect();
  return one.checkVisibility() && box.width > 0 && (box.width < 43.5 || box.height < 43.5);
}).map((one) => one.outerHTML.slice(0, 120))"""


@pytest.fixture
def busy(own_daemon):
    """One with something of everything: plants, a schedule, water, a pump that runs, a leg."""
    daemon = own_daemon(more="pump: {}\n")
    for name, probes in (("Basil", ["0x36"]), ("Fern", ["0x37", "adc-0"])):
        assert daemon.post("/api/plants", {"name": name, "sensors": probes}).status_code == 201
    assert daemon.post("/api/schedules", {
        "name": "Mornings", "days": ["Mon", "Wed", "Fri"], "startTimes": ["06:30"], "isEnabled": True,
        "zones": [{"zoneId": 1, "minutes": 20}, {"zoneId": 2, "minutes": 90}]}).status_code == 201
    assert daemon.post("/api/zone/3/on", {"minutes": 12}).status_code == 200
    until(lambda: daemon.post("/api/pump/on", {"speedPercent": 70}).status_code == 200)
    return daemon


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_axe_finds_nothing_and_no_target_is_smaller_than_a_fingertip(enter, busy, size, scheme):
    width, height = SIZES[size]
    fan = Fan()
    page = enter(busy, width=width, height=height, color_scheme=scheme, bypass_csp=True, prepare=fan.attach)
    expect(page.locator("#system-fan")).to_have_count(1)
    fan.tell()
    # What is old is dim, and is meant to be: on a busy machine, as the fan here, which says nothing more.
    page.add_style_tag(content=".old h2 small, .old > :not(h2) { opacity: 1 !important; filter: none !important; }")
    for view in VIEWS:
        go(page, view)
        for summary in page.locator("summary:visible").all():
            summary.click()
        page.wait_for_timeout(300)
        found = Axe().run(page).response["violations"]
        assert [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found] == [], view
        assert page.evaluate(SMALL) == [], view
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view


def test_axe_finds_nothing_on_a_locked_page_and_its_stop_says_what_it_lacks(browser, own_daemon):
    daemon = own_daemon()
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    page.goto(daemon.url + "/")
    expect(page.locator("#door")).to_be_visible()
    expect(page.locator("#e-stop-said")).to_have_text("log in first")
    for hidden in ("#systems", "#overview", "#diagnostics", "#log-out"):
        expect(page.locator(hidden)).to_be_hidden()
    assert Axe().run(page).response["violations"] == []
    page.click("#e-stop")
    expect(page.locator("#e-stop-said")).to_have_text("REFUSED")
    # What was refused to somebody who had no token is not said of somebody who has one.
    page.fill("#token", daemon.admin)
    page.click("#door button")
    expect(page.locator("#e-stop-said")).to_have_text("stops everything")
    expect(page.locator("#banner")).to_be_hidden()
    context.close()


def test_each_view_has_an_address_a_title_and_nothing_of_the_others(enter, own_daemon):
    daemon = own_daemon(more="pump: {}\n")
    page = enter(daemon)
    expect(page).to_have_title("Tactus")
    stop = page.locator("#e-stop").bounding_box()
    for view, title, section in (("robot", "Robot", "#robot"), ("sprinkler", "Sprinkler", "#sprinkler"), ("diagnostics", "Diagnostics", "#loops-section")):
        go(page, view)
        expect(page).to_have_title(title + " · Tactus")
        expect(page.locator("main > [data-shown]")).to_have_count(1)
        expect(page.locator(section)).to_be_visible()
        assert page.locator("#e-stop").bounding_box() == stop
    page.go_back()
    expect(page).to_have_title("Sprinkler · Tactus")
    page.reload()
    expect(page.locator("#sprinkler")).to_be_visible()
    # One that this daemon does not have says so.
    page.evaluate("location.hash = '#/video'")
    expect(page.locator("#absent")).to_contain_text("Video: nothing is known of it yet")
    expect(page.locator("#absent code")).to_have_text("camera: {}")
    page.locator("#absent a").click()
    expect(page.locator("#help")).to_be_visible()


def test_a_refusal_goes_when_something_else_is_done_or_the_view_is_left(enter, own_daemon):
    page = enter(own_daemon(), view="system")
    refused = page.locator(".say.refusal")
    limit, level = (page.locator(".setting", has=page.get_by_text(key, exact=True)) for key in ("motors.speed_limit", "logging.level"))

    def refuse():
        limit.locator("input").fill("400")
        limit.get_by_role("button", name="Save").click()
        expect(refused).to_have_count(1)

    refuse()
    level.locator("select").select_option("DEBUG")
    level.get_by_role("button", name="Save").click()
    expect(level.locator(".say.notice")).to_be_visible()
    expect(refused).to_have_count(0)
    refuse()
    go(page, "")
    go(page, "system")
    expect(refused).to_have_count(0)


def test_nothing_is_beside_the_header_but_a_scroll_bar(enter, own_daemon):
    page = enter(own_daemon())
    assert page.evaluate("getComputedStyle(document.documentElement).scrollbarGutter") == "auto"
    right = page.evaluate("document.querySelector('header').getBoundingClientRect().right")
    assert right == page.evaluate("document.documentElement.clientWidth")


def test_the_overview_says_what_is_on_what_comes_and_whether_all_is_well(enter, busy):
    fan = Fan()
    page = enter(busy, prepare=fan.attach)
    fan.tell(state="running", speedRpm=1213)

    def tile(name):
        return page.locator(".tile", has=page.get_by_role("heading", name=name))

    expect(tile("Sprinkler")).to_contain_text(re.compile(r"Zone 3 1\d:\d\d"))
    expect(tile("Sprinkler")).to_contain_text(re.compile(r"next Zone 1, \w{3}"))
    expect(tile("Plants")).to_contain_text("the driest of 2")
    expect(tile("Fan")).to_contain_text("Temperature 31.3 °C")
    expect(tile("Fan").get_by_role("button")).to_have_text("Off")
    tile("Sprinkler").get_by_role("button", name="Stop all").click()
    expect(tile("Sprinkler")).to_contain_text("No zone is on")
    tile("Pump").get_by_role("button", name="OFF").click()
    until(lambda: busy.get("/api/pump").json()["state"] == "off")
    expect(page.locator("#well")).not_to_contain_text("Fan")
    fan.notice("stalled", True, STALLED)
    fan.tell(state="stalled")
    expect(page.locator("#well")).to_contain_text("Fan stalled")
    expect(tile("Fan")).to_contain_text("free it, then reset")
    tile("Fan").get_by_role("button", name="Reset").click()
    until(lambda: page.wait_for_timeout(20) or fan.requests)
    assert fan.requests == [("fan/reset", None)]


def test_an_idle_page_asks_for_little(enter, own_daemon):
    """No telemetry of what is not in view, and no histograms: the state that every client gets once a second is all."""
    daemon = own_daemon(more="pump: {}\n")
    heard = {"socket": 0, "paths": []}

    def prepare(page):
        page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: heard.update(socket=heard["socket"] + len(frame))))
        page.on("request", lambda request: heard["paths"].append(request.url.split("/api/")[-1]))

    page = enter(daemon, prepare=prepare)
    page.wait_for_timeout(3000)
    heard.update(socket=0, paths=[])
    page.wait_for_timeout(10_000)
    print(json.dumps(heard))
    assert heard["socket"] / 10 < 7_000
    assert [path for path in heard["paths"] if "histograms" in path] == [] and len(heard["paths"]) < 12, heard
    go(page, "diagnostics")
    until(lambda: page.wait_for_timeout(50) or any("histograms" in path for path in heard["paths"]))


def test_a_token_is_remembered_only_when_asked_and_forgotten_by_logging_out(browser, own_daemon):
    daemon = own_daemon()
    context = browser.new_context()
    page = context.new_page()

    def log_in(remembers):
        page.fill("#token", daemon.admin)
        page.locator("#remember").set_checked(remembers)
        page.click("#door button")
        expect(page.locator("#link")).to_have_text("live")
        page.close()

    page.goto(daemon.url + "/")
    log_in(False)
    page = context.new_page()
    page.goto(daemon.url + "/")
    expect(page.locator("#door")).to_be_visible()
    log_in(True)
    page = context.new_page()
    page.goto(daemon.url + "/")
    expect(page.locator("#link")).to_have_text("live")
    page.click("#log-out")
    expect(page.locator("#door")).to_be_visible()
    assert page.evaluate("[localStorage.length, sessionStorage.getItem('token')]") == [0, None]
    context.close()


def test_files_are_short_on_the_way_and_not_sent_twice(own_daemon):
    daemon = own_daemon()
    whole = sent = 0
    files = files_of(daemon)
    assert {"console.css", "page-1.js", "page-2.js", "page-3.js", "german.js", "help.js", "logs.js", "parts.js", "timing.js", "icon.svg", "icon-180.png", "manifest.webmanifest"} == set(files)
    # A browser asks for the page, which names the others, and keeps those for good.
    for path in ("/", "/worker.js", *files.values()):
        plain = daemon.get(path, token=None, headers={"Accept-Encoding": "identity"})
        short = daemon.get(path, token=None, headers={"Accept-Encoding": "br, gzip;q=0.8"})
        assert plain.status_code == short.status_code == 200 and plain.content == short.content
        kept = "no-cache" if path in ("/", "/worker.js") else "public, max-age=31536000, immutable"
        assert "Content-Encoding" not in plain.headers and plain.headers["Cache-Control"] == short.headers["Cache-Control"] == kept
        whole += int(plain.headers["Content-Length"])
        sent += int(short.headers["Content-Length"])
        tag = short.headers["ETag"]
        for asked in (tag, f'"other", {tag}', "*"):
            again = daemon.get(path, token=None, headers={"If-None-Match": asked})
            assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
        assert daemon.get(path, token=None, headers={"If-None-Match": '"other"'}).status_code == 200
        assert "Content-Encoding" not in daemon.get(path, token=None, headers={"Accept-Encoding": "gzip;q=0"}).headers
    print(whole, sent)
    assert sent < whole / 2
    manifest = daemon.get(files["manifest.webmanifest"], token=None).json()
    assert manifest["name"] == "Tactus" and "/" + manifest["icons"][0]["src"] == files["icon.svg"]
    # The same for a request that the connection does not answer by itself.
    asked = daemon.get("/?panel=1", token=None, headers={"Accept-Encoding": "gzip"})
    assert (asked.headers["Content-Encoding"], asked.headers["Cache-Control"]) == ("gzip", "no-cache")


def test_long_answers_are_short_on_the_way(own_daemon):
    """Not what a command answers, which may be a secret that was made for it, nor what is short or no text."""
    daemon = own_daemon(more="pump: {}\n")
    for path in ("/api/runtime?histograms=1", "/api/sprinkler/settings", "/api/tokens", "/metrics"):
        plain = daemon.get(path, headers={"Accept-Encoding": "identity"})
        short = daemon.get(path, headers={"Accept-Encoding": "gzip"})
        assert plain.status_code == short.status_code == 200
        assert "Content-Encoding" not in plain.headers and len(plain.content) == int(plain.headers["Content-Length"])
        if len(plain.content) <= 1400:
            assert "Content-Encoding" not in short.headers and "Vary" not in short.headers, path
            continue
        assert short.headers["Content-Encoding"] == "gzip" and short.headers["Vary"] == plain.headers["Vary"] == "accept-encoding", path
        assert int(short.headers["Content-Length"]) < len(plain.content) / 2 and short.text[:5] == plain.text[:5]
        assert "Content-Encoding" not in daemon.get(path, headers={"Accept-Encoding": "gzip;q=0"}).headers
    made = daemon.post("/api/tokens", {"name": "phone", "scope": "read", "page": daemon.url + "/"})
    assert made.ok and len(made.content) > 1400 and "Content-Encoding" not in made.headers


def test_a_phones_bar_has_four_views_and_the_rest_behind_more_by_keys_too(enter, own_daemon):
    page = enter(own_daemon(more="pump: {}\n"), width=375, height=667)
    more = page.locator("#more")
    expect(page.locator("#systems a[href='#/system']")).not_to_have_attribute("hidden", "")
    expect(page.locator("#systems a:visible")).to_have_count(4)
    for one in page.locator("#systems > :visible").all():
        box = one.bounding_box()
        assert 0 <= box["x"] and box["x"] + box["width"] <= 376
    more.focus()
    page.keyboard.press("Enter")
    expect(more).to_have_attribute("aria-expanded", "true")
    for one in page.locator("#systems a:not([hidden])").all():
        expect(one).to_be_in_viewport(ratio=1)
    expect(page.locator("#systems a[data-more]").first).to_be_focused()
    page.keyboard.press("Escape")
    expect(more).to_be_focused()
    expect(page.locator("#systems a:visible")).to_have_count(4)
    more.click()
    page.locator("#systems a[href='#/diagnostics']").click()
    expect(page.locator("#loops-section")).to_be_visible()
    expect(more).to_have_attribute("data-current", "")
    expect(more).to_have_attribute("aria-expanded", "false")


def test_a_phone_that_installs_the_page_finds_icons_of_its_kind(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon)
    found = page.evaluate("""async () => {
      const manifest = document.querySelector("link[rel=manifest]").href, { icons } = await (await fetch(manifest)).json();
      const all = [...icons, { src: document.querySelector("link[rel=apple-touch-icon]").href, sizes: "180x180", type: "image/png", purpose: "apple" }];
      return Promise.all(all.filter(({ type }) => type === "image/png").map(async ({ src, sizes, type, purpose }) => {
        const answer = await fetch(new URL(src, manifest)), picture = await createImageBitmap(await answer.blob());
        return [purpose, answer.headers.get("Content-Type") === type && `${picture.width}x${picture.height}` === sizes && sizes];
      }));
    }""")
    assert sorted(found) == [["any", "192x192"], ["apple", "180x180"], ["maskable", "512x512"]]


def test_the_sheet_of_keys_says_what_space_does(enter, own_daemon):
    page = enter(own_daemon())
    page.keyboard.press("?")
    keys = page.get_by_role("dialog", name="Keys")
    expect(keys).to_contain_text("emergency stop of what drives or is armed and of what this view drives; everything else goes on")
    expect(keys.locator("dt", has_text="!")).to_have_text("!")
    expect(keys).to_contain_text("E-STOP of everything, in every view")
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()
    page.keyboard.press("g")
    page.keyboard.press("2")
    expect(page.locator("#robot")).to_be_visible()


def test_the_picture_lies_behind_the_stick_and_fills_the_screen_with_its_stop(enter, own_daemon):
    if not (PROGRAM.parent / "tactus-video").exists():
        pytest.skip("this build has no tactus-video: no trait Video")
    daemon = own_daemon(more="camera: {source: test, resolution: [320, 240]}\n")
    page = enter(daemon, view="robot")
    expect(page.locator("#stage #video-film")).to_be_visible()
    until(lambda: page.wait_for_timeout(50) or page.evaluate("document.getElementById('video-film').currentTime") > 0)
    stop = page.locator("#e-stop").bounding_box()
    page.click("#full")
    expect(page.locator("#systems")).to_be_hidden()
    film = page.locator("#stage").bounding_box()
    assert (film["x"], film["y"]) == (0, 0) and film["height"] == page.evaluate("innerHeight")
    assert abs(page.locator("#e-stop").bounding_box()["y"] - stop["y"]) < 1
    page.mouse.move(*place(page, "#pad", y=0.2))
    page.mouse.down()
    until(lambda: robot(daemon)["state"] == "driving")
    page.mouse.up()
    page.click("#e-stop")
    expect(page.locator("#e-stop-said")).to_have_text("confirmed")
    page.click("#full")
    # Elsewhere nobody looks, and in its own view it is what it was.
    go(page, "plants")
    until(lambda: page.wait_for_timeout(50) or all(daemon.get("/api/video").json()["viewers"][way] == 0 for way in ("whep", "mp4", "mjpeg")))
    go(page, "video")
    expect(page.locator("#video-home #video-film")).to_have_count(1)


def test_the_week_shows_what_was_watered_and_what_is_planned(enter, busy):
    busy.post("/api/zone/3/off")
    page = enter(busy, view="sprinkler")
    lanes = page.locator("#sprinkler-week .lane")
    expect(lanes).to_have_count(4)
    expect(lanes.nth(2).locator("i:not(.planned)")).to_have_attribute("title", re.compile(r"of 12:00, stopped"))
    expect(lanes.nth(0).locator("b")).to_have_count(1)
    # It is Monday to Sunday: a week that has all of its starts to come has no line of now.
    page.get_by_role("button", name="Week after").click()
    expect(lanes.nth(0).locator("i.planned")).to_have_count(3)
    expect(lanes.nth(0).locator("i.planned").first).to_have_attribute("title", re.compile(r"06:30.* 20:00, Mornings"))
    expect(lanes.locator("b")).to_have_count(0)
    page.get_by_role("button", name="Week before").click()
    expect(lanes.nth(0).locator("b")).to_have_count(1)


def test_charts_have_axes_and_survive_a_reload(enter, busy):
    # The first row of a history is there when its first span is over: a minute at most.
    until(lambda: all(sensor["rows"] for sensor in busy.get("/api/plants/1/history").json()["sensors"]), limit=90)
    page = enter(busy, view="plants")
    chart = page.locator(".plant .chart").first
    expect(chart.locator("polyline")).to_have_count(1)
    expect(chart.locator(".band")).to_have_count(1)
    for text in ("0 %", "100 %"):
        expect(chart.locator("text", has_text=re.compile(f"^{text}$"))).to_have_count(1)
    expect(chart.locator("text", has_text=":").first).to_be_attached()
    page.locator("#plant-axis").get_by_role("button", name="week").click()
    expect(chart.locator("text", has_text=re.compile("Sun|Mon|Tue|Wed|Thu|Fri|Sat")).first).to_be_attached()
    go(page, "pump")
    until(lambda: page.wait_for_timeout(100) or page.evaluate("pump.history.length") > 3)
    page.reload()
    expect(page.locator("#pump-chart polyline.water")).to_have_count(1)
    assert page.evaluate("pump.history.length") > 3
    expect(page.locator("#pump-chart text", has_text="40 °C")).to_have_count(1)


def test_help_says_what_stops_and_every_view_how_it_is_used(enter, own_daemon):
    asked, fan = [], Fan()

    def prepare(page):
        fan.attach(page)
        page.on("request", lambda request: asked.append(request.url))

    page = enter(own_daemon(more="pump: {}\n"), prepare=prepare)
    fan.tell()
    assert not any("/help-" in url for url in asked)
    page.get_by_role("link", name="Help").click()
    expect(page.locator("#help-title")).to_be_focused()
    expect(page.locator("#help")).to_contain_text("only be stopped by its power switch")
    devices = page.locator("#help").get_by_role("link")
    for name, section in (("Robot", "#robot"), ("Legs", "#legs"), ("Sprinkler", "#sprinkler"), ("Plants", "#plants"), ("Pump", "#pump"), ("Fan", "#system-fan")):
        page.evaluate("location.hash = '#/help'")
        devices.filter(has_text=name).click()
        guide = page.locator(section + " > .guide")
        guide.locator("summary").click()
        assert guide.locator("li:visible").count() >= 3
    expect(guide).to_contain_text("every output goes to its safe state")
