"""E-STOP on the page: with another finger on the stick, over a link that is dead, by key, with a token that may only look."""
import os
import re
import signal

import pytest
from playwright.sync_api import expect

from others import Driver, go, place, robot, until


class Fingers:
    """Several fingers on a touch screen, which playwright's own touch has not."""

    def __init__(self, page):
        self.session = page.context.new_cdp_session(page)
        self.points = {}

    def _send(self, kind):
        points = [{"id": finger, "x": x, "y": y} for finger, (x, y) in self.points.items()]
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    def down(self, finger, x, y):
        self.points[finger] = (x, y)
        self._send("touchStart")

    def move(self, finger, x, y):
        self.points[finger] = (x, y)
        self._send("touchMove")

    def up(self, finger):
        del self.points[finger]
        self._send("touchMove" if self.points else "touchEnd")

    def tap(self, finger, x, y):
        """The finger touches and leaves; the others stay."""
        self.down(finger, x, y)
        del self.points[finger]
        self.session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": [{"id": finger, "x": x, "y": y}]})


def middle(one):
    box = one.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def hold_forward(page):
    """The mouse on the stick, up; it stays held."""
    page.mouse.move(*place(page, "#pad"))
    page.mouse.down()
    page.mouse.move(*place(page, "#pad", y=0.1))
    expect(page.locator("#robot-state")).to_have_text("driving")


@pytest.mark.parametrize("width", [390, 1280])
def test_a_second_finger_stops_while_the_first_holds_the_stick(enter, own_daemon, width):
    daemon = own_daemon()
    page = enter(daemon, view="robot", width=width, has_touch=True)
    fingers = Fingers(page)
    fingers.down(1, *place(page, "#pad", y=0.2))
    until(lambda: robot(daemon)["state"] == "driving")
    expect(page.locator("#pad")).to_have_class("held")
    fingers.down(2, *place(page, "#e-stop"))
    expect(page.locator("#e-stop-said")).to_have_text("confirmed")
    assert robot(daemon)["state"] == "emergencyStopped"
    # Its finger is still there, and moves: the stick is let go until it is touched anew.
    fingers.move(1, *place(page, "#pad", y=0.1))
    expect(page.locator("#pad")).not_to_have_class("held")
    fingers.up(2)
    fingers.move(1, *place(page, "#pad", y=0.3))
    assert page.evaluate("hold") is None
    until(lambda: daemon.post("/api/reset").status_code == 200)
    expect(page.locator("#robot-state")).to_have_text("stopped")
    fingers.move(1, *place(page, "#pad", y=0.2))
    assert page.evaluate("hold") is None
    fingers.up(1)
    fingers.down(1, *place(page, "#pad", y=0.2))
    until(lambda: robot(daemon)["state"] == "driving")
    fingers.up(1)
    until(lambda: robot(daemon)["state"] == "stopped")


def test_what_a_second_finger_taps_is_pressed_while_the_first_holds(enter, own_daemon):
    daemon = own_daemon(more="pump: {}\n")
    page = enter(daemon, view="leg", width=390, has_touch=True)
    fingers = Fingers(page)
    leg = page.locator(".leg").first
    leg.locator("[data-do=arm]").tap()
    expect(leg.locator("[data-of=state]")).to_have_text("armed")
    slider, disarm = leg.locator("input[type=range]").first, leg.locator("[data-do=disarm]")
    slider.scroll_into_view_if_needed()
    fingers.down(1, *middle(slider))
    fingers.tap(2, *middle(disarm))
    expect(leg.locator("[data-of=state]")).to_have_text("disarmed")
    fingers.up(1)
    # A finger that has gone elsewhere presses nothing, nor does one with which the browser scrolls or zooms.
    arm = leg.locator("[data-do=arm]")
    page.evaluate("""() => {
      const arm = document.querySelector(".leg [data-do=arm]"), box = arm.getBoundingClientRect();
      const send = (type, x, target) => target.dispatchEvent(new PointerEvent(type, { bubbles: true, pointerId: 77, pointerType: "touch", isPrimary: false, clientX: x, clientY: box.y + 5 }));
      send("pointerdown", box.x + 5, arm); send("pointerup", 1, document.body);
      send("pointerdown", box.x + 5, arm); send("pointercancel", box.x + 5, arm); send("pointerup", box.x + 5, arm);
    }""")
    page.wait_for_timeout(300)
    expect(leg.locator("[data-of=state]")).to_have_text("disarmed")
    fingers.down(1, *middle(slider))
    fingers.tap(2, *middle(arm))
    expect(leg.locator("[data-of=state]")).to_have_text("armed")
    fingers.up(1)


def test_a_thumb_on_the_stick_leaves_the_other_to_press(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, view="robot", width=1280, has_touch=True)
    fingers = Fingers(page)
    fingers.down(1, *place(page, "#pad", y=0.2))
    until(lambda: robot(daemon)["state"] == "driving")
    page.evaluate("() => { window.pressed = []; addEventListener('click', ({ target }) => pressed.push(target.id)); }")
    fingers.tap(2, *place(page, "#robot-middle"))
    until(lambda: page.evaluate("pressed") == ["robot-middle"])
    assert robot(daemon)["state"] == "driving"
    expect(page.locator("#pad")).to_have_class("held")
    fingers.up(1)
    until(lambda: robot(daemon)["state"] == "stopped")


@pytest.mark.parametrize("width", [360, 390, 1280])
def test_the_button_never_moves(enter, own_daemon, width):
    daemon = own_daemon(more="pump: {}\n")
    page = enter(daemon, view="robot", width=width)
    button, pad = page.locator("#e-stop"), page.locator("#pad")
    before, pad_before = button.bounding_box(), pad.bounding_box()
    expect(page.locator("#reset")).to_be_hidden()
    button.click()
    expect(page.locator("#reset")).to_be_visible()
    expect(page.locator("#e-stop-said")).to_have_text("confirmed")
    expect(page.locator("#banner")).to_be_in_viewport(ratio=1)
    assert (button.bounding_box(), pad.bounding_box()) == (before, pad_before)
    reset = page.locator("#reset").bounding_box()
    assert reset["x"] + reset["width"] < before["x"], "they do not overlap"
    for phase, words in page.evaluate("Object.entries(stopWords)"):
        page.evaluate("phase => stopPhase(phase)", phase)
        expect(page.locator("#e-stop-said")).to_have_text(words)
        assert button.bounding_box() == before, phase
    os.kill(daemon.process.pid, signal.SIGSTOP)
    try:
        expect(page.locator("#link")).to_have_text("no answer")
        assert (button.bounding_box(), pad.bounding_box()) == (before, pad_before)
        page.mouse.wheel(0, 5000)
        for shown in ("#e-stop", "#banner"):
            expect(page.locator(shown)).to_be_in_viewport(ratio=1)
        assert button.bounding_box() == before
    finally:
        os.kill(daemon.process.pid, signal.SIGCONT)


def test_a_keyboard_and_a_screen_reader_press_it_too(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, view="robot")
    assert page.evaluate("(emergencyStop(), document.getElementById('e-stop-said').textContent)") == "sending…"
    expect(page.locator("#e-stop-said")).to_have_text("confirmed")
    until(lambda: daemon.post("/api/reset").status_code == 200)
    expect(page.locator("#e-stop-said")).to_have_text("stops everything", timeout=20000)
    page.locator("#e-stop").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#e-stop-said")).to_have_text("confirmed")
    page.locator("#reset").click()
    # What nothing holds any more is not called stopped.
    expect(page.locator("#e-stop-said")).to_have_text("stops everything", timeout=20000)
    page.evaluate("document.getElementById('e-stop').click()")
    expect(page.locator("#robot-state")).to_have_text("emergency stopped")


def test_a_daemon_that_hangs_while_one_drives(enter, own_daemon):
    """For ten seconds: nothing that looks live, no control, and an e-stop that says that it is not confirmed until it is."""
    daemon = own_daemon()
    page = enter(daemon, view="robot")
    assert page.evaluate("silentAfterMs + 100 <= 2000"), "known within two seconds"
    hold_forward(page)
    expect(page.locator("#left-text")).not_to_have_text("0 %")
    os.kill(daemon.process.pid, signal.SIGSTOP)
    try:
        expect(page.locator("#banner")).to_contain_text("No answer from the daemon")
        expect(page.locator("#banner")).to_be_in_viewport(ratio=1)
        expect(page.locator("#link")).to_have_text("no answer")
        expect(page.locator("#round-trip")).to_have_text("")
        for section in ("#robot", "#legs", "#sprinkler", "#plants"):
            expect(page.locator(section)).to_have_class("old")
            expect(page.locator(section + " h2")).to_have_attribute("data-age", re.compile(r"^\d+ s old$"))
        assert page.evaluate("Number(getComputedStyle(document.querySelector('#robot dl')).opacity || 1)"
                             " * Number(getComputedStyle(document.querySelector('#robot .split')).opacity)") < 0.5
        assert page.locator("#pad.held").count() == 0 and page.evaluate("hold") is None
        for control in (".leg [data-do=arm]", "#zone-list .go", "#zone-list input", "#schedule-import", "#probe-list button"):
            expect(page.locator(control).first).to_be_disabled()
        # Neither the stick nor a key moves anything.
        page.mouse.up()
        page.mouse.down()
        page.keyboard.press("w")
        assert page.evaluate("hold") is None
        page.mouse.up()

        page.locator("#e-stop").click()
        expect(page.locator("#e-stop-said")).to_have_text("NOT CONFIRMED")
        expect(page.locator("#banner")).to_contain_text("E-STOP is NOT CONFIRMED")
        # The age goes on, and a new socket is tried meanwhile.
        expect(page.locator("#robot h2")).to_have_attribute("data-age", re.compile(r"^1\d s old$"), timeout=20000)
    finally:
        os.kill(daemon.process.pid, signal.SIGCONT)
    expect(page.locator("#e-stop-said")).to_have_text("confirmed", timeout=10000)
    expect(page.locator("#link")).to_have_text("live", timeout=10000)
    expect(page.locator("#banner")).not_to_contain_text("No answer")
    expect(page.locator("#banner")).to_contain_text("mergency stop")
    expect(page.locator("#robot")).not_to_have_class("old")
    expect(page.locator("#robot h2")).to_have_attribute("data-age", "")
    expect(page.locator(".leg [data-do=arm]").first).to_be_enabled()
    assert robot(daemon)["state"] == "emergencyStopped"


def test_a_daemon_that_is_killed_while_one_drives(enter, own_daemon):
    """What was shown is old at once; the e-stop that nobody took reaches the next daemon."""
    daemon = own_daemon()
    page = enter(daemon, view="robot")
    hold_forward(page)
    daemon.process.kill()
    daemon.process.wait()
    expect(page.locator("#banner")).to_contain_text("No answer from the daemon")
    expect(page.locator("#robot")).to_have_class("old")
    expect(page.locator("#pad")).to_have_class("off")
    page.keyboard.press("Escape")
    expect(page.locator("#e-stop-said")).to_have_text("NOT CONFIRMED")
    daemon.start()
    expect(page.locator("#e-stop-said")).to_have_text("Robot: confirmed", timeout=20000)
    until(lambda: robot(daemon)["state"] == "emergencyStopped")
    expect(page.locator("#robot")).not_to_have_class("old")


def test_an_unconfirmed_stop_can_be_given_up(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, view="robot")
    daemon.process.kill()
    daemon.process.wait()
    expect(page.locator("#link")).not_to_have_text("live")
    page.locator("#e-stop").click()
    page.locator("#banner p", has_text="NOT CONFIRMED").get_by_role("button", name="Dismiss").click()
    expect(page.locator("#e-stop-said")).to_have_text("stops everything")
    daemon.start()
    expect(page.locator("#link")).to_have_text("live", timeout=20000)
    assert robot(daemon)["state"] == "stopped"


def test_a_token_that_may_only_look_sees_no_controls_and_is_told_that_its_stop_was_refused(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, view="robot", token=daemon.create_token("read"))
    expect(page.locator("#read-only")).to_be_visible()
    for control in (".leg [data-do=arm]", "#zone-list .go", "#sprinkler-stop", "#schedule-import", "#probe-list button"):
        expect(page.locator(control).first).to_be_disabled()
    expect(page.locator("#pad")).to_have_class("off")
    page.mouse.move(*place(page, "#pad", y=0.2))
    page.mouse.down()
    assert page.evaluate("[hold, echo]") == [None, 0], "nothing is even tried"
    page.mouse.up()
    expect(page.locator("#e-stop")).to_be_enabled()
    page.locator("#e-stop").click()
    expect(page.locator("#e-stop-said")).to_have_text("REFUSED")
    expect(page.locator("#banner")).to_contain_text("E-STOP was REFUSED: This device may only look. Log in with one that may control. What still moves")
    # It stays, whatever comes, until somebody dismisses it.
    daemon.post("/api/e-stop")
    expect(page.locator("#robot-state")).to_have_text("emergency stopped")
    expect(page.locator("#banner")).to_contain_text("E-STOP was REFUSED")
    page.locator("#banner p", has_text="REFUSED").get_by_role("button", name="Dismiss").click()
    expect(page.locator("#banner")).not_to_contain_text("REFUSED")
    expect(page.locator("#reset")).to_be_disabled()


def test_a_reset_that_is_refused_says_so(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, view="robot")
    page.locator("#e-stop").click()
    expect(page.locator("#reset")).to_be_visible()
    with Driver(daemon):
        page.locator("#reset").click()
        expect(page.locator("#banner")).to_contain_text("Reset was refused: a stick is held")


@pytest.mark.parametrize("key", ["Escape", " "])
def test_escape_and_space_leave_water_alone(enter, own_daemon, key):
    """Nothing drives: Space scrolls the page and Esc does nothing, though a zone is open and the pump runs."""
    daemon = own_daemon(more="pump: {}\n")
    page = enter(daemon, view="sprinkler")
    assert daemon.post("/api/zone/1/on", {"minutes": 5}).status_code == 200
    until(lambda: daemon.post("/api/pump/on", {"speedPercent": 70}).status_code == 200)
    expect(page.locator("#sprinkler-now")).not_to_have_text("nothing")
    expect(page.locator("#pump-state")).to_contain_text("on")
    page.locator("#sprinkler-title").click()
    page.evaluate("scrollTo(0, 0)")
    page.keyboard.press(key)
    if key == " ":
        # It glides there. `wait_for_function` looks only once: the page's policy forbids what it looks again with.
        until(lambda: page.evaluate("scrollY") > 0)
    go(page, "plants")
    page.locator("#plant-name").fill("Basil")
    page.keyboard.press("Escape")
    page.keyboard.type(" was")
    expect(page.locator("#plant-name")).to_have_value("Basil was")
    assert page.evaluate("eStop.number") == 0
    assert daemon.get("/api/sprinkler").json()["state"] == "watering"
    assert robot(daemon)["state"] == "stopped"


def test_escape_stops_what_drives_from_a_text_field(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, view="plants")
    page.locator("#plant-name").fill("Basil")
    with Driver(daemon):
        expect(page.locator("#robot-state")).to_have_text("driving")
        page.keyboard.press(" ")
        expect(page.locator("#plant-name")).to_have_value("Basil ")
        assert page.evaluate("eStop.number") == 0, "a space that somebody types is a space"
        page.keyboard.press("Escape")
        expect(page.locator("#e-stop-said")).to_have_text("Robot: confirmed")
    expect(page.locator("#banner")).to_be_in_viewport(ratio=1)
    assert robot(daemon)["state"] == "emergencyStopped"


@pytest.mark.parametrize("place_of_focus", ["#pad", "#robot-title"])
@pytest.mark.parametrize("key", ["Escape", " "])
def test_keys_stop_on_the_robots_view(enter, own_daemon, key, place_of_focus):
    """The robot stands, and its section has the focus: whoever is about to drive has the keys ready."""
    daemon = own_daemon()
    page = enter(daemon, view="robot")
    expect(page.locator("#robot-state")).to_have_text("stopped")
    page.locator(place_of_focus).click()
    page.keyboard.press(key)
    expect(page.locator("#e-stop-said")).to_have_text("Robot: confirmed")
    assert robot(daemon)["state"] == "emergencyStopped"


@pytest.mark.parametrize("drives", [False, True])
@pytest.mark.parametrize("key", ["Escape", " "])
def test_keys_stop_what_their_view_drives_and_nothing_else(enter, own_daemon, key, drives):
    """The garden's water goes on, and what is planned for it is carried out, whether the robot stood or drove."""
    daemon = own_daemon(more="pump: {}\n")
    page = enter(daemon, view="robot")
    assert daemon.post("/api/zone/1/on", {"minutes": 5}).status_code == 200
    until(lambda: daemon.post("/api/pump/on", {"speedPercent": 70}).status_code == 200)
    expect(page.locator("#robot-state")).to_have_text("stopped")
    page.locator("#pad").click()
    if drives:
        page.keyboard.down("w")
        expect(page.locator("#robot-state")).to_have_text("driving")
    page.keyboard.press(key)
    expect(page.locator("#e-stop-said")).to_have_text("Robot: confirmed")
    assert robot(daemon)["state"] == "emergencyStopped"
    assert daemon.get("/api/sprinkler").json()["state"] == "watering"
    assert daemon.get("/api/pump").json()["state"] not in ("emergencyStopped", "off", "fault")
    assert "emergencyStopped" not in {leg["state"] for leg in daemon.get("/api/leg").json()["legs"]}


def test_one_key_stops_everything(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, view="plants")
    assert daemon.post("/api/zone/1/on", {"minutes": 5}).status_code == 200
    page.locator("#plant-name").fill("Basil")
    page.keyboard.type("!")
    expect(page.locator("#plant-name")).to_have_value("Basil!")
    assert page.evaluate("eStop.number") == 0, "what somebody types stops nothing"
    page.locator("#plants-title").click()
    page.keyboard.press("!")
    expect(page.locator("#e-stop-said")).to_have_text("confirmed")
    assert daemon.get("/api/sprinkler").json()["state"] == "emergencyStopped"
    assert robot(daemon)["state"] == "emergencyStopped"
    assert {leg["state"] for leg in daemon.get("/api/leg").json()["legs"]} == {"emergencyStopped"}


def test_a_stop_of_everything_that_is_on_its_way_stays_one(enter, own_daemon):
    """Whoever presses E-STOP and then Space has stopped everything, though the daemon had not answered yet."""
    daemon = own_daemon()
    page = enter(daemon, view="robot")
    expect(page.locator("#robot-state")).to_have_text("stopped")
    assert page.evaluate("(emergencyStop(), emergencyStop(['robot']), eStop.systems)") is None
    expect(page.locator("#e-stop-said")).to_have_text("confirmed")
    assert daemon.get("/api/sprinkler").json()["state"] == "emergencyStopped"


def test_space_stops_and_still_presses_what_was_reached_by_keys(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, view="sprinkler")
    page.get_by_text("New schedule").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press(" ")
    expect(page.locator("#schedule-draft")).to_have_attribute("open", "")
    assert page.evaluate("eStop.number") == 0
    # A button that was clicked keeps the focus; the space after it is no second click.
    go(page, "leg")
    page.locator(".leg [data-do=arm]").first.click()
    expect(page.locator(".leg [data-of=state]").first).to_have_text("armed")
    page.keyboard.press(" ")
    expect(page.locator("#e-stop-said")).to_have_text("Legs: confirmed")
    assert daemon.get("/api/leg").json()["legs"][0]["state"] == "emergencyStopped"
    assert robot(daemon)["state"] == "stopped"


def test_a_card_that_fails_when_it_lets_go_does_not_keep_the_stop(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, view="robot")
    expect(page.locator("#robot-state")).to_have_text("stopped")
    page.evaluate("() => { ownCards.get('robot').release = () => { throw new Error('a mistake') } }")
    page.locator("#e-stop").click()
    expect(page.locator("#e-stop-said")).to_have_text("confirmed")
    assert robot(daemon)["state"] == "emergencyStopped"


@pytest.mark.parametrize("locale, said, why", [
    ("en-GB", "NOT CONFIRMED", "E-STOP is NOT CONFIRMED: Pump: emergency stopped, off not confirmed, turn off its power."),
    ("de-DE", "NICHT BESTÄTIGT", "NOT-AUS ist NICHT BESTÄTIGT: Pumpe: Not-Aus"),
])
def test_a_stop_that_an_output_does_not_confirm_is_not_confirmed(enter, own_daemon, locale, said, why):
    """The daemon's answer tells nothing of the outputs: the states do."""
    daemon = own_daemon(more="pump: {}\n")
    page = enter(daemon, locale=locale)
    assert daemon.post("/api/sim/fault", {"fault": "gone", "bus": "pump-serial"}).status_code == 200
    until(lambda: daemon.get("/api/pump").json()["contact"] == "down")
    page.click("#e-stop")
    expect(page.locator("#e-stop-said")).to_have_text(said)
    expect(page.locator("#banner")).to_contain_text(why)
    assert daemon.get("/api/pump").json()["offConfirmed"] is False
    # A key's stop of something else does not hide it.
    assert page.evaluate("(emergencyStop(['robot']), eStop.systems)") is None
    expect(page.locator("#e-stop-said")).to_have_text(said)
    assert daemon.post("/api/sim/fault", {"fault": "clear", "bus": "pump-serial"}).status_code == 200
    expect(page.locator("#e-stop-said")).to_have_text("confirmed" if locale == "en-GB" else "bestätigt", timeout=20000)
    expect(page.locator("#banner")).not_to_contain_text(why)
