"""What the page says while something is wrong: a valve that does not close, an axis that has not confirmed its stop, a daemon that is silent, a link that is blocked."""
import os
import re
import signal
import threading
from types import SimpleNamespace

import pytest
from playwright.sync_api import expect

import broker
from broker import Broker, eventually
from daemon import PROGRAM
from others import go, until
from proxy import Proxy

TIME = r"\d\d:\d\d:\d\d( [AP]M)?"


def tile(page, name):
    return page.locator(".tile", has=page.get_by_role("heading", name=name))


def link(page, view):
    return page.locator(f"#systems a[href='#/{view}']")


def fault(daemon, name, bus, **more):
    answer = daemon.post("/api/sim/fault", {"fault": name, "bus": bus, **more})
    assert answer.status_code == 200, answer.text


def name_zone(daemon, number, name):
    zones = daemon.get("/api/zones").json()["zones"]
    zones[number - 1]["name"] = name
    assert daemon.request("PUT", "/api/zones", json={"zones": zones}).status_code == 200


def test_a_valve_that_does_not_close_is_shown_open_on_its_zone(enter, own_daemon):
    daemon = own_daemon()
    name_zone(daemon, 3, "Roses")
    page = enter(daemon)
    expect(page.locator("#well")).not_to_contain_text("Sprinkler")
    fault(daemon, "stuck-high", "sprinkler-gpio", line=20)
    until(lambda: daemon.get("/api/sprinkler").json()["state"] == "fault")
    assert next(pin for pin in daemon.get("/api/pins").json() if pin["pin"] == 20)["value"] == 1
    way_out = "close the main tap, and reset when it is off"
    for place in (page.locator("#banner"), tile(page, "Sprinkler"), page.locator("#well"), link(page, "sprinkler")):
        expect(place).not_to_have_text(re.compile("line 2"))
    expect(page.locator("#banner")).to_contain_text("Roses is on but should be off")
    expect(page.locator("#banner")).to_contain_text(way_out)
    expect(tile(page, "Sprinkler").locator(".now")).to_have_text("Roses is on but should be off")
    expect(tile(page, "Sprinkler").locator(".next")).to_have_text("to go on: " + way_out)
    expect(page.locator("#well")).to_contain_text("Roses is on but should be off")
    expect(link(page, "sprinkler")).to_have_attribute("aria-label", re.compile("Roses is on"))
    go(page, "sprinkler")
    expect(page.locator("#sprinkler-now")).to_have_text("Roses on but should be off")
    expect(page.locator(".zone[data-zone='3'] [data-of=state]")).to_have_text("on but should be off")
    expect(page.locator(".zone[data-zone='2'] [data-of=state]")).to_have_text("off")
    expect(page.locator("#zone-leds .led").nth(2)).to_have_class("led down")
    # A reset would be refused: none is offered before the valve is off.
    expect(page.locator("#reset")).to_be_hidden()
    fault(daemon, "clear", "sprinkler-gpio")
    expect(page.locator("#reset")).to_be_visible()
    expect(page.locator("#banner")).to_contain_text("Roses was on but should be off. To go on: reset.")
    expect(page.locator("#sprinkler-now")).to_have_text("nothing")
    page.click("#reset")
    expect(page.locator("#banner")).to_be_hidden()
    expect(page.locator("#zone-leds .led").nth(2)).to_have_class("led idle")


def test_a_valve_that_does_not_close_in_german(enter, own_daemon):
    daemon = own_daemon()
    name_zone(daemon, 3, "Rosen")
    fault(daemon, "stuck-high", "sprinkler-gpio", line=20)
    page = enter(daemon, locale="de-DE")
    expect(page.locator("#banner")).to_have_text("Bewässerung: Rosen: an, obwohl aus verlangt ist. Weiter: den Haupthahn schließen, und zurücksetzen, wenn es aus ist.")
    expect(tile(page, "Bewässerung").locator(".now")).to_have_text("Rosen: an, obwohl aus verlangt ist")
    expect(tile(page, "Bewässerung").locator(".led")).to_have_text("Störung, Ausgänge nicht bestätigt")
    fault(daemon, "clear", "sprinkler-gpio")
    expect(page.locator("#reset")).to_be_visible()


@broker.needed
def test_a_broker_that_is_gone_is_said_until_it_is_back(enter, own_daemon, tmp_path):
    house = Broker(tmp_path)
    house.start()
    try:
        daemon = own_daemon(more=f"mqtt: {{broker: 127.0.0.1, port: {house.port}, device: sill, commands: true}}\n")
        eventually(lambda: daemon.get("/api/mqtt").json()["connected"])
        page, german = enter(daemon), enter(daemon, locale="de-DE")
        for one, well in ((page, "All is well."), (german, "Alles in Ordnung.")):
            expect(one.locator("#degraded")).to_be_hidden()
            expect(one.locator("#well")).to_have_text(well)
        house.stop()
        place = re.escape(f"127.0.0.1:{house.port}")
        expect(page.locator("#degraded p")).to_have_text(
            re.compile(f"^No connection to the MQTT broker {place}: .+; it is tried again, and until then nothing is said or heard over MQTT\\.$"))
        expect(german.locator("#degraded p")).to_have_text(
            re.compile(f"^Keine Verbindung zum MQTT-Broker {place}: .+; sie wird weiter versucht, und bis dahin wird über MQTT nichts gesagt und nichts gehört\\.$"))
        # What is no system's is not well, either.
        expect(page.locator("#well")).to_have_text("Not all is well: see above.")
        expect(page.locator("#well")).to_have_class("warn")
        expect(german.locator("#well")).to_have_text("Nicht alles ist in Ordnung: siehe oben.")
        house.start()
        for one, well in ((page, "All is well."), (german, "Alles in Ordnung.")):
            expect(one.locator("#degraded")).to_be_hidden()
            expect(one.locator("#well")).to_have_text(well)
    finally:
        house.stop()


@pytest.mark.parametrize("view, title, bus, state, cause, way_out, soothing", [
    ("robot", "Robot", "i2c-1", "fault, stop not confirmed", "the bus is stuck", "check their power and wiring, then reset", "Drive"),
    ("leg", "Legs", "leg-i2c-1", "fault, off not confirmed", "leg 0: the servo's chip or its output-enable line fails", "remove the cause, then disarm and arm it", "Move"),
])
def test_what_has_not_confirmed_its_stop_says_so_wherever_its_state_is_said(enter, own_daemon, view, title, bus, state, cause, way_out, soothing):
    daemon = own_daemon()
    page = enter(daemon)
    expect(tile(page, title).get_by_role("button", name=soothing)).to_be_visible()
    fault(daemon, "stuck", bus)
    expect(tile(page, title).locator(".led")).to_have_text(state)
    expect(tile(page, title).locator(".now")).to_contain_text(cause)
    expect(tile(page, title).locator(".next")).to_contain_text(way_out)
    expect(tile(page, title).get_by_role("button")).to_have_count(0)
    expect(link(page, view)).to_have_class("led down")
    expect(link(page, view)).to_have_attribute("aria-label", re.compile(f"^{title}: {state}: {cause}"))
    expect(page.locator("#well")).to_have_class("down")
    expect(page.locator("#well")).to_contain_text(f"{title} {state}: {cause}")
    # What has stopped after all is in fault, and no more.
    fault(daemon, "clear", bus)
    expect(tile(page, title).locator(".led")).to_have_text("fault")


def test_one_rule_says_what_is_wrong_with_every_system(enter, own_daemon):
    """Whatever it is called, and also if it says nothing but that it is not confirmed."""
    page = enter(own_daemon())
    found = """state => { unconfirmedAt.set("fan", performance.now() - 2 * unconfirmedAfterMs); return hazardOf("fan", state); }"""
    assert page.evaluate(found, {"state": "off", "fault": None, "offConfirmed": True, "emergencyStopped": False}) is None
    assert page.evaluate(found, {"state": "off", "reason": "off"}) is None
    assert page.evaluate(found, {"state": "off", "reason": "off", "doorConfirmed": False}) == {"words": "door not confirmed", "cause": "off", "wayOut": ""}
    assert page.evaluate(found, {"state": "emergencyStopped", "reason": "stopped by hand", "wayOut": "reset"}) == {"words": "emergency stopped", "cause": "", "wayOut": "reset"}
    assert page.evaluate(found, {"state": "fault", "fault": "run-limit", "reason": "fault: it ran for too long"})["cause"] == "it ran for too long"
    axes = [{"name": "x", "state": "ready", "wayOut": "enable it"}, {"name": "y", "state": "fault", "fault": "the cable broke", "wayOut": "mend it"}]
    assert page.evaluate(found, {"state": "fault", "axes": axes}) == {"words": "fault", "cause": "y: the cable broke", "wayOut": "mend it"}
    # What was told to stop a moment ago has not confirmed it yet, and that is no trouble.
    assert page.evaluate("hazardOf('kettle', {state: 'off', offConfirmed: false})") is None


@pytest.mark.parametrize("ends", [False, True])
def test_what_is_not_fresh_is_never_well(enter, own_daemon, ends):
    daemon = own_daemon()
    page = enter(daemon)
    expect(page.locator("#well")).not_to_contain_text("Waiting")
    os.kill(daemon.process.pid, signal.SIGKILL if ends else signal.SIGSTOP)
    expect(page.locator("#well")).to_contain_text(re.compile(f"No word from the daemon since {TIME}: what is shown is old."))
    expect(page.locator("#well")).to_have_class("stale")
    expect(tile(page, "Robot").locator(".led")).to_have_text(re.compile(f"^stopped, old since {TIME}$"))
    expect(link(page, "robot")).to_have_attribute("aria-label", re.compile(f"^Robot: stopped, old since {TIME}$"))
    for one in page.locator("#systems .led:visible, .tile:visible .led").all():
        expect(one).to_have_attribute("data-old", "")
    # Since when is one time, not one each second.
    said = page.locator("#well p").first.text_content()
    expect(page.locator("#robot h2")).to_have_attribute("data-age", re.compile(r"^[6-9] s old$"))
    assert page.locator("#well p").first.text_content() == said
    if ends:
        daemon.process.wait()
        daemon.start()
    else:
        os.kill(daemon.process.pid, signal.SIGCONT)
    expect(page.locator("#well")).not_to_contain_text("No word")
    expect(tile(page, "Robot").locator(".led")).to_have_text("stopped")
    expect(link(page, "robot")).to_have_class("led idle")


def test_one_system_that_is_silent_is_no_more_well_than_all_of_them(enter, own_daemon):
    """Of the daemon that answers nothing comes any more of the pump."""
    hears = {"pump": True}

    def prepare(page):
        def open_socket(socket):
            server = socket.connect_to_server()
            server.on_message(lambda message: socket.send(message) if hears["pump"] or '"system":"pump"' not in str(message) else None)
        page.route_web_socket("**/ws", open_socket)

    page = enter(own_daemon(more="pump: {}\n"), prepare=prepare)
    expect(tile(page, "Pump").locator(".led")).to_have_text("off")
    hears["pump"] = False
    expect(page.locator("#well")).to_contain_text(re.compile(f"Pump off, old since {TIME}"))
    expect(tile(page, "Pump").locator(".led")).to_have_text(re.compile(f"^off, old since {TIME}$"))
    expect(tile(page, "Robot").locator(".led")).to_have_text("stopped")
    hears["pump"] = True
    expect(page.locator("#well")).not_to_contain_text("Pump")


def test_silence_in_german(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, locale="de-DE")
    daemon.process.kill()
    daemon.process.wait()
    expect(page.locator("#well")).to_contain_text(re.compile(r"Kein Wort vom Dienst seit \d\d:\d\d:\d\d: was hier steht, ist alt\."))
    expect(tile(page, "Roboter").locator(".led")).to_have_text(re.compile(r"^angehalten, alt seit \d\d:\d\d:\d\d$"))
    daemon.start()


class Blocking(Proxy):
    """Knows no WebSockets: what asks for one is passed on without a word of it, or never answered."""

    def __init__(self, daemon, hangs):
        super().__init__(daemon)
        self.hangs, self.is_open = hangs, threading.Event()

    def __exit__(self, *_):
        self.is_open.set()
        super().__exit__()

    def forward(self, client, request, fields, rest, is_socket):
        if is_socket and self.hangs:
            self.is_open.wait()
            return
        kept = [line for line in fields if not line.lower().startswith(("upgrade:", "connection:", "sec-websocket"))]
        super().forward(client, request, [*kept, "Connection: close"], rest, False)


@pytest.mark.parametrize("hangs", [False, True])
def test_where_websockets_are_blocked_a_banner_says_that_it_asks_instead(enter, own_daemon, hangs):
    daemon = own_daemon(more="pump: {}\n")
    with Blocking(daemon, hangs) as proxy:
        behind = SimpleNamespace(url=proxy.url + "/tactus", admin=daemon.admin)
        page = enter(behind, link="connected, slower")
        expect(page.locator("#banner")).to_contain_text("WebSockets are blocked on the way to the daemon: it is asked every 4 s instead.")
        expect(tile(page, "Pump").locator(".led")).to_have_text("off")
        daemon.post("/api/zone/3/on", {"minutes": 12})
        expect(tile(page, "Sprinkler").locator(".now")).to_contain_text("Zone 3")
        # Whoever has read it need not have it before their eyes; in another language it is the same.
        page.locator("#banner").get_by_role("button", name="Dismiss").click()
        expect(page.locator("#banner")).to_be_hidden()
        german = enter(behind, link="verbunden, langsamer", locale="de-DE")
        expect(german.locator("#banner")).to_contain_text("WebSockets sind auf dem Weg zum Dienst gesperrt: er wird stattdessen alle 4 s gefragt.")


def test_a_key_stops_what_its_view_drives_by_a_request_where_websockets_are_blocked(enter, own_daemon):
    daemon = own_daemon()
    with Blocking(daemon, hangs=False) as proxy:
        page = enter(SimpleNamespace(url=proxy.url + "/tactus", admin=daemon.admin), view="robot", link="connected, slower")
        expect(page.locator("#robot-state")).to_have_text("stopped")
        page.locator("#robot-title").click()
        page.keyboard.press(" ")
        expect(page.locator("#e-stop-said")).to_have_text("Robot: confirmed")
        assert daemon.get("/api/robot").json()["state"] == "emergencyStopped"
        assert daemon.get("/api/sprinkler").json()["state"] == "idle"


def test_the_banner_is_written_once_and_not_with_each_failed_write(enter, own_daemon):
    """A screen reader says an alert again each time it is written."""
    daemon = own_daemon()
    page = enter(daemon)
    fault(daemon, "stuck", "i2c-1")
    expect(page.locator("#banner")).to_contain_text("stop not confirmed by the motors")
    page.evaluate("""() => {
      window.writes = 0;
      new MutationObserver((records) => { writes += records.length; }).observe(byId("banner"), { childList: true, subtree: true, characterData: true });
      window.failed = wholes.get("robot").counters.writeFailures;
    }""")
    until(lambda: page.wait_for_timeout(50) or page.evaluate("wholes.get('robot').counters.writeFailures > failed + 20"))
    assert page.evaluate("writes") == 0
    fault(daemon, "clear", "i2c-1")
    expect(page.locator("#banner")).not_to_contain_text("not confirmed")


@pytest.mark.skipif(not (PROGRAM.parent / "tactus-video").exists(), reason="this build has no tactus-video: no trait Video")
def test_space_is_the_stop_after_a_click_on_full_screen(enter, own_daemon):
    daemon = own_daemon(more="camera: {source: test, resolution: [320, 240]}\n")
    page = enter(daemon, view="robot")
    expect(page.locator("#robot-state")).to_have_text("stopped")
    page.click("#full")
    expect(page.locator("body")).to_have_class(re.compile("full"))
    page.keyboard.press("Shift")  # whoever uses keys sees what has the focus, and Space presses that
    page.keyboard.press(" ")
    expect(page.locator("#e-stop-said")).to_have_text("Robot: confirmed")
    expect(page.locator("body")).to_have_class(re.compile("full"))
    assert daemon.get("/api/robot").json()["state"] == "emergencyStopped"


@pytest.mark.skipif(not (PROGRAM.parent / "tactus-video").exists(), reason="this build has no tactus-video: no trait Video")
def test_look_on_the_videos_tile_shows_the_picture(enter, own_daemon):
    page = enter(own_daemon(more="camera: {source: test, resolution: [320, 240]}\n"))
    tile(page, "Video").get_by_role("button", name="Look").click()
    expect(page.locator("#video-look")).to_have_value("best")
    expect(page.locator("#video-film, #video-pictures").locator("visible=true")).to_have_count(1)
    # What was switched off in the view is looked at again from the tile.
    page.select_option("#video-look", "off")
    go(page, "")
    tile(page, "Video").get_by_role("button", name="Look").click()
    expect(page.locator("#video-look")).to_have_value("best")
