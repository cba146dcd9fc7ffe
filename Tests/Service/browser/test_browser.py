"""What a real browser lets a page do: nothing from elsewhere, everything from an allowed origin."""
import http.server
import os
import re
import signal
import threading
import time

import pytest
from playwright.sync_api import expect

from daemon import PROGRAM, let_others_in
from others import go

DRIVE_SECONDS = 2
DRIVE_HERTZ = 20

# Resolves to what happened; a page that waits for ever would only say "timeout".
OPEN = """([url, protocols]) => new Promise(done => {
  const socket = new WebSocket(url, protocols);
  const events = [];
  socket.onopen = () => { events.push("open " + socket.protocol); };
  socket.onmessage = message => {
    if (typeof message.data !== "string") return;
    const event = JSON.parse(message.data);
    events.push(event.type);
    if (event.type === "robot") done(events);
  };
  socket.onerror = () => done(["refused"]);
  setTimeout(() => done(["timeout", ...events]), 10000);
})"""

DRIVE = """([url, protocols, hertz, seconds]) => new Promise(done => {
  const socket = new WebSocket(url, protocols);
  const seen = {sent: 0, speeds: [], errors: []};
  socket.binaryType = "arraybuffer";
  socket.onmessage = message => {
    if (typeof message.data !== "string") return;
    const event = JSON.parse(message.data);
    if (event.type === "robot") seen.speeds.push(event.speedsPercent.left);
    if (event.type === "error") seen.errors.push(event);
  };
  socket.onerror = () => done({refused: true});
  socket.onopen = () => {
    const timer = setInterval(() => {
      const text = JSON.stringify({left: 30, right: 30, timestamp: Date.now() / 1000});
      socket.send(new TextEncoder().encode(text));
      seen.sent += 1;
      if (seen.sent === hertz * seconds) { clearInterval(timer); socket.close(); done(seen); }
    }, 1000 / hertz);
  };
})"""

FETCH = """async ([url, token]) => {
  try {
    const answer = await fetch(url, {method: "POST", headers: {Authorization: "Bearer " + token}});
    return answer.status;
  } catch (error) { return "refused"; }
}"""


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"<!doctype html><title>page</title>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def site():
    """The origin of a page that the daemon does not serve."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture
def page(browser, site):
    page = browser.new_page()
    page.goto(site)
    yield page
    page.close()


def protocols(daemon):
    return ["events.v1", f"bearer.{daemon.admin}"]


def test_a_page_elsewhere_can_neither_fetch_nor_open_a_socket(page, own_daemon):
    daemon = own_daemon()
    assert page.evaluate(FETCH, [daemon.url + "/api/robot/stop", daemon.admin]) == "refused"
    assert page.evaluate(OPEN, [daemon.ws_url, protocols(daemon)]) == ["refused"]


def test_a_page_without_an_origin_cannot_either(browser, own_daemon):
    daemon = own_daemon()
    page = browser.new_page()
    page.goto("data:text/html,<title>page</title>")
    assert page.evaluate(FETCH, [daemon.url + "/api/robot/stop", daemon.admin]) == "refused"
    assert page.evaluate(OPEN, [daemon.ws_url, protocols(daemon)]) == ["refused"]
    page.close()


def test_an_allowed_page_fetches_and_hears_events(page, site, own_daemon):
    daemon = own_daemon(allowed_origins=[site])
    assert page.evaluate(FETCH, [daemon.url + "/api/robot/stop", daemon.admin]) == 200
    events = page.evaluate(OPEN, [daemon.ws_url, protocols(daemon)])
    assert events[0] == "open events.v1", "the token must not be echoed as the subprotocol"
    assert events[1] == "hello" and events[-1] == "robot", events


def test_a_wrong_token_opens_no_socket(page, site, own_daemon):
    daemon = own_daemon(allowed_origins=[site])
    assert page.evaluate(OPEN, [daemon.ws_url, ["events.v1", "bearer." + "0" * 64]]) == ["refused"]


def test_an_allowed_page_drives_at_20_hertz(page, site, own_daemon):
    daemon = own_daemon(allowed_origins=[site])
    seen = page.evaluate(DRIVE, [daemon.ws_url, protocols(daemon), DRIVE_HERTZ, DRIVE_SECONDS])
    assert seen["sent"] == DRIVE_HERTZ * DRIVE_SECONDS and seen["errors"] == []
    assert 30 in [round(speed) for speed in seen["speeds"]], seen
    # Its end stops the motors by itself, before their second of silence would: that has another reason.
    limit = time.monotonic() + 20
    while (robot := daemon.get("/api/robot").json())["state"] != "stopped":
        assert time.monotonic() < limit, robot
        time.sleep(0.02)
    assert robot["reason"] == "stopped: commanded"


def test_the_bar_leads_to_every_system_and_tells_its_state(browser, own_daemon):
    """A dot and a word for each system that runs, from the top of the page at any width; empty lists say that they are."""
    daemon = own_daemon(more="pump: {}\n")
    for width in (1280, 390):
        page = browser.new_page(viewport={"width": width, "height": 844})
        failures = []
        page.on("pageerror", lambda error: failures.append(str(error)))
        page.goto(daemon.url + "/")
        page.fill("#token", daemon.admin)
        page.click("#door button")
        bar = page.get_by_role("navigation", name="Systems")
        more = bar.get_by_role("button", name=re.compile("^More"))

        def open_more():
            """A phone's bar has four views, and the rest behind "More"."""
            if width == 390:
                more.click()

        expect(page.locator("#systems a[href='#/pump']")).to_have_attribute("aria-label", "Pump: off")
        open_more()
        expect(bar.get_by_role("link", name="Pump: off")).to_be_visible()
        expect(bar.get_by_role("link", name="Video")).to_have_count(0)  # there is no camera
        for system, state in (("Robot", "stopped"), ("Legs", "disarmed"), ("Sprinkler", "idle"), ("Plants", "0 plants")):
            expect(bar.get_by_role("link", name=f"{system}: {state}")).to_have_count(1)
        # A shared test machine is not always in time.
        expect(bar.get_by_role("link", name=re.compile("^Diagnostics: "))).to_have_count(1)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, "the page is no wider than the screen"
        bar.get_by_role("link", name="Plants: 0 plants").click()
        # Under the bar, which stays.
        under = page.evaluate("document.querySelector('header').getBoundingClientRect().bottom")
        assert under <= page.locator("#plants-title").bounding_box()["y"] < 844
        expect(page.locator("#e-stop")).to_be_in_viewport(ratio=1)
        for place, words in (("#plant-log", "Nothing yet: alerts and waterings are listed here."), ("#pump-log", "No session yet: ON begins the first.")):
            expect(page.locator(place)).to_have_text(words)
        open_more()
        bar.get_by_role("link", name="Sprinkler: idle").click()
        for place, words in (("#schedule-preview", "Nothing is planned: add a schedule above, or switch one on."),
                             ("#sprinkler-log", "Nothing watered yet: press 5 min at a zone, or add a schedule."),
                             ("#sprinkler-year", "nothing yet")):
            expect(page.locator(place)).to_have_text(words)

        daemon.post("/api/e-stop", {})
        if width == 390:
            expect(more).to_have_class("led down")
            expect(more).to_have_attribute("aria-label", re.compile("^More: .+: emergency stopped"))
        open_more()
        for system in ("Robot", "Legs", "Sprinkler", "Pump"):
            expect(bar.get_by_role("link", name=f"{system}: emergency stopped")).to_have_class("led down")
        expect(page.locator("#reset")).to_be_in_viewport(ratio=1)
        expect(page.locator("#e-stop")).to_be_in_viewport(ratio=1)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        expect(page.locator("#events")).not_to_contain_text("{")
        until_reset(daemon)
        assert failures == []
        page.close()


def until_reset(daemon):
    limit = time.monotonic() + 20
    while daemon.post("/api/reset", {}).status_code != 200:
        assert time.monotonic() < limit
        time.sleep(0.2)


def test_what_several_lanes_have_in_common_is_said_once(browser, own_daemon):
    daemon = own_daemon()
    page = browser.new_page()
    runtime = daemon.get("/api/runtime?histograms=1").json()
    for lane in runtime["lanes"]:
        lane["findings"] = [{"isRefusal": False, "description": "the kernel is slow"}]
    for loop in runtime["loops"]:
        loop["skipped"] = loop["overruns"] = loop["deadlineMisses"] = loop["overdue"] = 0
    runtime["lanes"][0]["findings"].append({"isRefusal": True, "description": "CPU 9 refused"})

    def go_on(route):
        for loop in runtime["loops"]:
            loop["ran"] += 50
        route.fulfill(json=runtime)

    page.route("**/api/runtime*", go_on)
    page.goto(daemon.url + "/#/diagnostics")
    page.fill("#token", daemon.admin)
    page.click("#door button")
    names = [lane["name"] for lane in runtime["lanes"]]
    assert len(names) > 2
    expect(page.locator("#in-time")).to_have_text("refused")
    expect(page.locator("#findings .warned")).to_have_text(names[0] + ": CPU 9 refused")
    expect(page.locator("#findings li")).to_have_text([", ".join(names) + ": the kernel is slow", names[0] + ": CPU 9 refused"])
    expect(page.get_by_role("link", name=f"Diagnostics: all in time; settings refused: {names[0]}")).to_have_class("led warn")
    page.close()


def leg_state(page):
    return page.locator(".leg [data-of=state]").first


def simulated_pulse(daemon):
    return daemon.get("/api/sim/leg").json()["legs"][0]["pulseUs"]


def test_the_leg_card_arms_moves_and_stops(browser, own_daemon):
    daemon = own_daemon()
    page = browser.new_page()
    page.goto(daemon.url + "/#/leg")
    page.locator("#token").fill(daemon.admin)
    page.locator("#door button").click()
    expect(leg_state(page)).to_have_text("disarmed")
    expect(page.locator(".leg [data-of=battery]").first).to_have_text("· battery 7.40 V")

    page.locator(".leg [data-do=arm]").first.click()
    expect(leg_state(page)).to_have_text("armed")
    pulse, slider = page.locator(".leg [data-of=pulse]").first, page.locator(".leg [data-of=slider]").first
    expect(pulse).to_have_text("no pulse")

    # Held at three quarters of its travel: 500…2500 µs.
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    page.mouse.move(box["x"] + 0.75 * box["width"], box["y"] + box["height"] / 2)
    page.mouse.down()
    wanted = int(slider.input_value())
    assert 1800 < wanted < 2200
    expect(pulse).to_have_text(f"{wanted} µs")
    expect(page.locator(".leg [data-of=want]").first).to_have_text(f"{wanted} µs")
    assert abs(simulated_pulse(daemon) - wanted) < 5
    page.mouse.up()
    # Let go, it stays where it is: pings keep it.
    expect(leg_state(page)).to_have_text("armed")
    page.locator(".leg summary", has_text="Links").first.click()
    links = page.locator(".leg").first.locator(".links tbody tr")
    expect(links.nth(0)).to_contain_text("udp port")
    ours = links.filter(has_text="websocket")
    expect(ours).to_contain_text("this page")
    assert int(ours.locator("td").nth(3).inner_text()) > 0, ours.inner_text()
    expect(ours.locator("td").nth(5)).to_have_text("0")
    assert abs(simulated_pulse(daemon) - wanted) < 5

    page.locator("#e-stop").click()
    expect(leg_state(page)).to_have_text("emergency stopped")
    expect(pulse).to_have_text("no pulse")
    assert simulated_pulse(daemon) is None
    expect(page.locator("#banner")).to_contain_text("Emergency stop by this page")
    page.locator(".leg [data-do=arm]").first.click()
    assert daemon.get("/api/leg").json()["legs"][0]["state"] == "emergencyStopped", "latched"

    page.locator("#reset").click()
    expect(leg_state(page)).to_have_text("disarmed")
    page.locator(".leg [data-do=arm]").first.click()
    expect(leg_state(page)).to_have_text("armed")
    page.locator(".leg [data-of=hold]").first.check()
    expect(pulse).to_have_text(f"{wanted} µs")
    page.locator(".leg [data-do=disarm]").first.click()
    expect(leg_state(page)).to_have_text("disarmed")
    assert simulated_pulse(daemon) is None
    page.close()


def test_leaving_the_page_ends_the_leg(browser, own_daemon):
    """The page's last words disarm; a socket that goes before them is a lost link, which is a fault at once."""
    daemon = own_daemon()
    page = browser.new_page()
    page.goto(daemon.url + "/#/leg")
    page.locator("#token").fill(daemon.admin)
    page.locator("#door button").click()
    page.locator(".leg [data-do=arm]").first.click()
    expect(leg_state(page)).to_have_text("armed")
    page.close()
    limit = time.monotonic() + 5  # The deadman of these tests is 10 s.
    while (leg := daemon.get("/api/leg").json()["legs"][0])["state"] == "armed":
        assert time.monotonic() < limit, leg
        time.sleep(0.02)
    assert leg["state"] == "disarmed" or leg["fault"] == "the link is lost", leg
    assert leg["pulseUs"] is None


def test_the_login_says_in_plain_words_what_to_type_and_where(browser, own_daemon):
    daemon = own_daemon()
    page = browser.new_page(viewport={"width": 390, "height": 800})
    page.goto(daemon.url + "/")
    expect(page.locator("#door-why")).to_have_text("This page needs a token.")
    command = page.locator("#token-command").inner_text()
    assert f"token create --name phone --token-file {daemon.tokens}" in command, command
    assert "header" not in page.locator("body").inner_text().lower()
    box = page.locator("#token-command").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390, box
    page.fill("#token", "wrong")
    page.click("#door button")
    expect(page.locator("#door-why")).to_contain_text("This token does not work here")
    page.fill("#token", daemon.admin)
    page.click("#door button")
    expect(page.locator("#door")).to_be_hidden()
    page.close()


def test_the_page_grows(browser, own_daemon):
    """The plants' card: one added, dry, watered, its limits changed, removed."""
    daemon = own_daemon()
    page = browser.new_page()
    failures = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.goto(daemon.url + "/#/plants")
    page.fill("#token", daemon.admin)
    page.click("#door button")
    expect(page.locator("#plants-empty")).to_be_visible()
    page.fill("#plant-name", "Basil")
    page.locator("#plant-new").get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("#plants .say")).to_contain_text("choose one to four probes")
    page.locator("#plant-probes input").nth(1).check()
    page.locator("#plant-new > button").click()
    plant = page.locator("#plant-list .plant").first
    expect(plant.locator("h3")).to_contain_text("Basil")
    expect(plant.locator("output").first).to_contain_text("%")
    daemon.post("/api/sim/plants/0x37", {"moisturePercent": 12})
    expect(plant.locator(".alert")).to_have_text("dry")
    expect(page.locator("#plant-log")).to_contain_text("Basil  alert: dry")
    plant.get_by_role("button", name="Watered").click()
    expect(plant.locator("p.hint:not(.reading)")).to_contain_text("watered just now")
    plant.get_by_role("button", name="Change").click()
    plant.get_by_role("spinbutton").first.fill("5")
    plant.get_by_role("button", name="Save").click()
    expect(plant.locator(".alert")).to_have_count(0)
    expect(plant.locator("polyline")).to_have_count(1)
    expect(page.locator("#probe-list tr")).to_have_count(4)
    page.locator("#probe-list tr").nth(2).get_by_role("button", name="is dry").click()
    page.get_by_role("button", name="It is dry").click()
    expect(page.locator("#probe-list tr").nth(2)).to_contain_text("0 %")
    plant.get_by_role("button", name="Remove").click()
    plant.get_by_role("button", name="Remove it").click()
    expect(page.locator("#plants-empty")).to_be_visible()
    assert failures == []
    page.close()


def test_the_page_waters(browser, own_daemon):
    """The sprinkler's card: a zone by hand, a rain delay, a schedule."""
    daemon = own_daemon()
    page = browser.new_page()
    failures = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.goto(daemon.url + "/#/sprinkler")
    page.fill("#token", daemon.admin)
    page.click("#door button")
    zone = page.locator("#zone-list .zone").first
    expect(zone).to_be_visible()
    zone.get_by_role("button", name="Another time").click()
    zone.get_by_role("spinbutton").fill("7")
    zone.get_by_role("button", name="Run").click()
    expect(page.locator("#zone-leds .led").first).to_have_class("led up")
    expect(page.locator("#sprinkler-now")).to_contain_text("0")
    zone.get_by_role("button", name="Off").click()
    expect(page.locator("#sprinkler-now")).to_have_text("nothing")
    page.click("[data-rain='24']")
    expect(page.locator("#rain-state")).to_contain_text("until")
    page.click("[data-rain='0']")
    expect(page.locator("#rain-state")).to_have_text("off")
    page.click("#schedule-draft summary")
    page.fill("#schedule-name", "Mornings")
    for chip in page.locator("#schedule-days button").all():
        chip.click()
    for zone_box in page.locator("#schedule-zones [type=checkbox]").all():
        zone_box.check()
    page.check("#schedule-enabled")
    page.click("#schedule-add")
    card = page.locator("#schedule-list .schedule").first
    expect(card).to_contain_text("Mornings")
    card.locator("summary b").click()
    card.get_by_role("button", name="Sun").click()
    card.get_by_role("button", name="Save").click()
    expect(page.locator("#schedule-list .schedule small").first).to_contain_text("Mon Tue Wed Thu Fri Sat  06:00")
    expect(page.locator("#schedule-preview li")).to_have_count(5)
    assert [run["outcome"] for run in daemon.get("/api/log").json()["runs"]] == ["stopped"]
    page.click("#sprinkler-more summary")
    page.locator("#zone-settings input").first.fill("Roses")
    page.click("#zones-save")
    expect(page.locator("#sprinkler-said")).to_have_text("saved")
    expect(zone).to_contain_text("Roses")
    expect(page.locator("#zone-leds .led").first).to_have_text("Roses")
    page.fill("#seasonal", "50")
    page.press("#seasonal", "Enter")
    expect(page.locator("#schedule-preview li").first).to_contain_text("Roses 05:00")
    go(page, "system")
    with page.expect_download() as download:
        page.click("#backup")
    assert re.fullmatch(r"tactus-\d{8}T\d{6}Z\.tar", download.value.suggested_filename)
    go(page, "sprinkler")
    card.get_by_role("button", name="Remove").click()
    card.get_by_role("button", name="Remove it").click()
    expect(page.locator("#schedule-list .schedule")).to_have_count(0)
    go(page, "system")
    page.set_input_files("#restore", {"name": "other.sqlite", "mimeType": "application/vnd.sqlite3", "buffer": b"other"})
    expect(page.locator("#store .say")).to_contain_text("the backup: damaged: it has only 5 bytes")
    expect(page.locator("#restore-undo")).to_be_hidden()
    page.set_input_files("#restore", download.value.path())
    # Of the sprinkler nothing would be lost: it is ticked.
    schedules = page.locator("#restore-look tr", has_text="schedules")
    expect(schedules.locator("td")).to_have_text(["", "schedules", "0", "", "1", "", "0", "0", "1"])
    expect(page.locator("#restore-look input[value=sprinkler]")).to_be_checked()
    page.get_by_role("button", name="Restore it").click()
    expect(page.locator("#store-said")).to_have_text("restored")
    go(page, "sprinkler")
    expect(page.locator("#schedule-list .schedule")).to_have_count(1)
    go(page, "system")
    page.click("#restore-undo")
    page.get_by_role("button", name="Undo it").click()
    expect(page.locator("#store-said")).to_have_text("undone")
    go(page, "sprinkler")
    expect(page.locator("#schedule-list .schedule")).to_have_count(0)
    # The sprinkler's own Restore takes its part alone, unless somebody ticks another.
    page.set_input_files("#sprinkler-restore", download.value.path())
    expect(page.locator("#sprinkler-restore-look input:checked")).to_have_count(1)
    expect(page.locator("#sprinkler-restore-look input[value=sprinkler]")).to_be_checked()
    page.locator("#sprinkler-restore-look").get_by_role("button", name="Restore it").click()
    expect(page.locator("#sprinkler-store-said")).to_have_text("restored")
    expect(page.locator("#schedule-list .schedule")).to_have_count(1)
    assert failures == []
    page.close()


def test_a_restore_that_takes_long_is_said_to_be_under_way_and_one_that_takes_too_long_that_it_may_go_on(enter, own_daemon):
    """The page waits for as long as the daemon works: more than ten minutes."""
    page = enter(own_daemon(), view="system")
    held = []
    page.route("**/api/restore/look", lambda route: held.append(route))
    page.evaluate("""() => {
      const later = window.setTimeout;
      window.limits = [];
      window.setTimeout = (act, ms, ...more) => { window.limits.push([ms, act]); return later(act, ms, ...more); };
    }""")
    page.set_input_files("#restore", {"name": "large.sqlite", "mimeType": "application/vnd.sqlite3", "buffer": b"large"})
    said = page.locator("#store .say")
    expect(said).to_contain_text("under way: it may take minutes")
    assert page.evaluate("window.limits.filter(([ms]) => ms > 600000).length") == 1
    page.evaluate("window.limits.find(([ms]) => ms > 600000)[1]()")
    expect(said).to_contain_text("no answer in time: it may still be going on")
    expect(said).to_have_count(1)
    page.unroute_all(behavior="ignoreErrors")
    page.set_input_files("#restore", {"name": "large.sqlite", "mimeType": "application/vnd.sqlite3", "buffer": b"large"})
    expect(said).to_contain_text("the backup: damaged: it has only 5 bytes")


def until(daemon, holds):
    """Waits until the daemon's word on the pump holds, 15 s at most."""
    limit = time.monotonic() + 15
    while not holds(pump := daemon.get("/api/pump").json()):
        assert time.monotonic() < limit, pump
        time.sleep(0.05)


def test_the_page_pumps(browser, own_daemon):
    """The pump's card: on, speed, temperatures, a fever with its way out, the session."""
    daemon = own_daemon(more="pump: {}\n")
    page = browser.new_page()
    failures = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.goto(daemon.url + "/#/pump")
    page.fill("#token", daemon.admin)
    page.click("#door button")
    state = page.locator("#pump-state")
    expect(state).to_contain_text("off")
    # The slider is what ON asks for.
    page.locator("#pump-speed").fill("55")
    expect(page.locator("#pump-speed-text")).to_have_text("55 %")
    expect(page.locator("#pump-contact")).to_have_text("answering")
    expect(page.locator("#pump-skin")).to_contain_text("°C")
    page.click("#pump-on")
    expect(state).to_contain_text("on, by the app")
    until(daemon, lambda pump: pump["speedPercent"] == 55)
    expect(page.locator("#pump-bar")).to_be_visible()
    page.locator("#pump-speed").fill("40")
    expect(page.locator("#pump-speed-text")).to_have_text("40 %")
    until(daemon, lambda pump: pump["speedPercent"] == 40)
    expect(page.locator("#pump-chart polyline.skin")).to_have_attribute("points", re.compile(r"\d"))
    expect(page.locator("#pump-log li")).to_have_count(1)
    assert daemon.post("/api/sim/fault", {"fault": "overheat", "bus": "pump"}).status_code == 200
    expect(page.locator("#pump-why")).to_contain_text("let the skin cool down, then reset")
    expect(page.locator("#banner")).to_contain_text("skin too warm")
    expect(page.locator("#pump-on")).to_be_disabled()
    expect(page.locator("#pump-log li").first).to_contain_text("overheat")
    # The first report after the fault: one from before it would say that the skin is cool.
    until(daemon, lambda pump: pump["skinCelsius"] > 38)
    assert daemon.post("/api/sim/fault", {"fault": "clear"}).status_code == 200
    assert daemon.post("/api/sim/fault", {"fault": "overheat", "bus": "pump", "celsius": 35}).status_code == 200
    until(daemon, lambda pump: pump["skinCelsius"] < 36)
    page.click("#pump-reset")
    expect(state).to_contain_text("off")
    with page.expect_download() as download:
        page.click("#pump-csv")
    assert download.value.suggested_filename == "pump-sessions.csv"
    assert failures == []
    page.close()


SEEN = """() => {
  const film = document.getElementById("video-film");
  const behind = film.buffered.length ? film.buffered.end(film.buffered.length - 1) - film.currentTime : null;
  return {width: film.videoWidth, height: film.videoHeight, at: film.currentTime, behind, paused: film.paused};
}"""

# How many colours the canvas shows: one is no picture.
COLOURS = """() => {
  const canvas = document.getElementById("video-pictures");
  if (!canvas.width) return 0;
  const data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  return new Set(new Uint32Array(data.buffer)).size;
}"""


# What Sources/Systems/Video/README.md shows: a cat in the middle of everything, a quarter as large as the square.
CAT = """
import sys
while line := sys.stdin.buffer.readline():
    side = int(line.split()[1])
    picture = sys.stdin.buffer.read(side * side * 3)
    print(f"boxes 1\\n0.9 {side / 2} {side / 2} {side / 4} {side / 4} cat", flush=True)
"""

# The frame's edges as fractions of what is shown: where something is drawn in the middle's row and column.
EDGES = """() => {
  const layer = document.getElementById("video-boxes"), draw = layer.getContext("2d");
  if (layer.hidden || !layer.width) return null;
  const isDrawn = (data) => { const found = []; for (let i = 3; i < data.length; i += 4) if (data[i] > 99) found.push((i - 3) / 4); return found; };
  const row = isDrawn(draw.getImageData(0, layer.height >> 1, layer.width, 1).data);
  const column = isDrawn(draw.getImageData(layer.width >> 1, 0, 1, layer.height).data);
  if (!row.length || !column.length) return null;
  return [row[0] / layer.width, row.at(-1) / layer.width, column.at(-1) / layer.height];
}"""


def test_the_page_shows_the_camera(browser, own_daemon, tmp_path):
    """The video's card: film, pictures, its facts, boxes; a process that dies, and the picture comes back by itself."""
    if not (PROGRAM.parent / "tactus-video").exists():
        pytest.skip("this build has no tactus-video: no trait Video")
    let_others_in(tmp_path)
    (tmp_path / "cat.py").write_text(CAT)
    daemon = own_daemon(more=(
        "camera: {source: test, resolution: [320, 240]}\n"
        f"video: {{detector: {{command: [python3, {tmp_path}/cat.py], input_px: 64}}}}\n"))
    page = browser.new_page()
    failures = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.goto(daemon.url + "/#/video")
    page.fill("#token", daemon.admin)
    page.click("#door button")
    expect(page.locator("#video-state")).to_have_text("idle")
    expect(page.locator("#video-facts")).to_contain_text("rtsp://")
    # No folder is configured.
    expect(page.locator("#video-record")).to_be_disabled()
    expect(page.locator("#video-recording")).to_contain_text("video.record_dir")

    def seen(condition, seconds=20):
        limit = time.monotonic() + seconds
        while not condition(now := page.evaluate(SEEN)):
            assert time.monotonic() < limit, now
            time.sleep(0.1)
        return now

    page.locator("#video-look").select_option("mp4")
    began = seen(lambda film: film["width"] == 320 and film["at"] > 0)
    later = seen(lambda film: film["at"] > began["at"] + 2)
    # What is shown is of now: the aim is a second.
    assert later["behind"] < 1 and later["height"] == 240, later
    expect(page.locator("#video-state")).to_have_text("running")
    expect(page.locator("#video-facts")).to_contain_text("1 viewer")
    expect(page.locator("#video-facts")).to_contain_text("sees cat")
    limit = time.monotonic() + 20
    while (edges := page.evaluate(EDGES)) is None:
        assert time.monotonic() < limit
        time.sleep(0.05)
    # A quarter of a square as wide as the picture, and the picture is three quarters as high.
    for edge, expected in zip(edges, (3 / 8, 5 / 8, 0.5 + 1 / 6)):
        assert abs(edge - expected) < 0.02, edges

    os.kill(daemon.get("/api/video").json()["process"]["id"], signal.SIGKILL)
    limit = time.monotonic() + 20
    while daemon.get("/api/video").json()["process"]["starts"] < 2:
        assert time.monotonic() < limit
        time.sleep(0.05)
    again = seen(lambda film: not film["paused"] and film["behind"] is not None and film["behind"] < 1)
    seen(lambda film: film["at"] > again["at"] + 1)

    page.locator("#video-look").select_option("mjpeg")
    limit = time.monotonic() + 20
    while page.evaluate(COLOURS) < 2:
        assert time.monotonic() < limit
        time.sleep(0.1)
    with page.expect_download() as download:
        page.click("#video-snapshot")
    assert download.value.suggested_filename == "snapshot.jpg"
    page.locator("#video-look").select_option("off")
    expect(page.locator("#video-facts")).to_contain_text("0 viewers")
    assert failures == []
    page.close()


def test_a_daemon_without_its_store_says_so_at_the_top_of_the_page(enter, own_daemon):
    """What is wrong, with a path that is longer than a phone is wide, and its end as soon as it is mended."""
    daemon = own_daemon()
    store = daemon.folder / "state" / "simulated" / "store.sqlite"
    daemon.stop()
    kept = store.rename(store.with_name("kept"))
    store.mkdir()
    daemon.start()
    page = enter(daemon, width=390)
    notice = page.locator("#degraded")
    expect(notice).to_contain_text("not a regular file")
    expect(notice).to_contain_text("no zone opens")
    expect(notice).to_be_in_viewport(ratio=1)
    box = notice.evaluate("it => [it.scrollWidth, it.clientWidth]")
    assert box[0] <= box[1], "the text is no wider than its frame"
    store.rmdir()
    kept.rename(store)
    expect(notice).to_be_hidden(timeout=30_000)


def test_the_age_of_commands_stands_beside_its_bound(enter, daemon):
    """A dash until there is a command, then what was measured; above the bound it is marked."""
    page = enter(daemon, view="diagnostics")
    row = page.locator("#ages tr", has_text="robot.motors")
    expect(row.locator("td").nth(0)).to_have_text("command")
    daemon.post("/api/robot/stop")
    measured = re.compile("^[0-9.]+ (µs|ms)$")
    for column in range(2, 6):
        expect(row.locator("td").nth(column)).to_have_text(measured)

    def old(route):
        document = route.fetch().json()
        for loop in document["loops"]:
            if loop["name"] == "robot.motors":
                loop["skipped"] = loop["ran"] // 10
            for age in loop["ages"]:
                age["ageNs"]["max"], age["boundNs"] = 2_500_000, 1_200_000
                if loop["name"] != "robot.motors":
                    age["arrival"], age["boundNs"] = "unknown", None
        route.fulfill(json=document)

    page.route("**/api/runtime*", old)
    expect(row.locator("td").nth(4)).to_have_text("2.50 ms")
    expect(row.locator("td").nth(4)).to_have_class("warned")
    expect(row.locator("td").nth(6)).to_have_text("1.20 ms")
    other = page.locator("#ages tr", has_text="leg")
    expect(other.locator("td").nth(6)).to_have_text("none")
    expect(other.locator("td").nth(4)).not_to_have_class("warned")
    page.unroute("**/api/runtime*")


def test_a_tick_that_hangs_is_seen_in_the_table(enter, daemon):
    """Since when it runs, in place of how often it has: what the daemon says of such a loop, without one that hangs."""
    page = enter(daemon, view="diagnostics")
    row = page.locator("#loops tr", has_text="robot.motors")
    expect(row.locator("td").nth(7)).to_have_text(re.compile("^[0-9]+$"))
    expect(page.locator("#memory")).to_have_text("memory not locked")

    def hang(route):
        document = route.fetch().json()
        loop = next(loop for loop in document["loops"] if loop["name"] == "robot.motors")
        loop["overdue"], loop["running"] = 160, {"sinceNs": document["monotonicNs"] - 3_200_000_000, "isSafeState": False}
        route.fulfill(json=document)

    page.route("**/api/runtime*", hang)
    cell = row.locator("td").nth(7)
    expect(cell).to_have_text("runs 3.2 s")
    expect(cell).to_have_class("bad")
    # One that is on its way is answered still, and must not fail the test.
    page.unroute_all(behavior="ignoreErrors")
    expect(cell).to_have_text(re.compile("^[0-9]+$"))


def test_what_can_be_recorded_has_a_button_that_works(browser, own_daemon, tmp_path):
    if not (PROGRAM.parent / "tactus-video").exists():
        pytest.skip("this build has no tactus-video: no trait Video")
    let_others_in(tmp_path)
    (tmp_path / "films").mkdir(mode=0o777)
    daemon = own_daemon(more=f"camera: {{source: test, resolution: [320, 240]}}\nvideo: {{record_dir: {tmp_path}/films}}\n")
    page = browser.new_page()
    page.goto(daemon.url + "/#/video")
    page.fill("#token", daemon.admin)
    page.click("#door button")
    expect(page.locator("#video-state")).to_have_text("idle")
    expect(page.locator("#video-record")).to_be_enabled()
    expect(page.locator("#video-recording")).to_be_empty()
    page.click("#video-record")
    expect(page.locator("#video-record")).to_have_text("Stop recording")
    page.click("#video-record")
    expect(page.locator("#video-record")).to_have_text("Record")
    page.close()
