"""The page's card of a system that GET /api/systems describes. The fan is the test's own: see systems.py."""
import pytest
from playwright.sync_api import expect

from others import until
from systems import STALLED, Fan


@pytest.fixture
def fan():
    return Fan()


@pytest.fixture
def page(enter, own_daemon, fan):
    page = enter(own_daemon(), view="fan", prepare=fan.attach)
    expect(card(page)).to_be_visible()
    fan.tell()
    return page


def card(page):
    return page.locator("#system-fan")


def value(page, name):
    """What stands beside a field's name."""
    return card(page).locator(f"dt:text-is('{name}') + dd output")


def test_a_daemon_that_describes_no_system_shows_what_it_showed_before(enter, own_daemon):
    def answer(page, **options):
        page.route("**/api/systems", lambda route: route.fulfill(**options))

    daemon = own_daemon()
    for options in ({"status": 404, "json": {"ok": False, "code": "NOT_FOUND", "message": "there is no such route"}},
                    {"json": {"ok": True, "systems": []}},
                    {"json": {"ok": True, "systems": [Fan(name="pump", title="Pump").system]}}):
        page = enter(daemon, prepare=lambda page: answer(page, **options))
        expect(page.locator("#tiles h3", has_text="Robot")).to_be_visible()
        until(lambda: page.evaluate("areSystemsKnown"))
        expect(page.locator("section.system")).to_have_count(0)
        expect(page.locator("nav a:visible")).to_have_text(["Overview", "Robot", "Legs", "Sprinkler", "Plants", "Diagnostics", "Log", "System"])
        page.close()


def test_a_state_that_comes_before_the_description_waits_for_it(enter, own_daemon, fan):
    held = []

    def prepare(page):
        fan.attach(page)
        page.route("**/api/systems", lambda route: held.append(route))

    page = enter(own_daemon(), view="fan", prepare=prepare)
    until(lambda: page.wait_for_timeout(20) or held)
    fan.send("state", {**fan.state, "state": "running"})
    expect(page.locator("#robot-state")).to_have_text("stopped")  # systems with a card of their own wait for nothing
    held.pop().fulfill(json={"ok": True, "systems": [fan.system]})
    expect(card(page).get_by_role("heading", level=2)).to_have_text("Fan running simulated")
    expect(value(page, "Temperature")).to_have_text("31.3 °C")
    expect(page.locator("#events")).not_to_contain_text("temperature")


def test_fields_have_names_units_and_meanings(page, fan):
    fan.tell(state="running", speedRpm=1213)
    expect(card(page).get_by_role("heading", level=2)).to_have_text("Fan running simulated")
    expect(card(page)).to_contain_text("A fan that holds a temperature.")
    expect(value(page, "Temperature")).to_have_text("31.3 °C")
    expect(value(page, "Temperature")).to_have_attribute("title", "31.26")
    expect(value(page, "Speed")).to_have_text("1213 rpm")
    expect(value(page, "Is guarded")).to_have_text("yes")
    expect(value(page, "Failures")).to_have_text("0")
    expect(card(page).locator("dt", has_text="Temperature")).to_have_attribute("title", "Temperature of the heat sink; null while unknown.")
    fan.tell(temperatureCelsius=None)
    expect(value(page, "Temperature")).to_have_text("–")
    expect(value(page, "Temperature")).to_have_attribute("title", "unknown")


def test_its_place_in_the_bar_tells_its_state(page, fan):
    bar = page.get_by_role("navigation", name="Systems")
    expect(bar.get_by_role("link", name="Fan: off")).to_have_class("led idle")
    fan.tell(state="running")
    expect(bar.get_by_role("link", name="Fan: running")).to_have_class("led up")
    fan.tell(state="emergencyStopped")
    expect(bar.get_by_role("link", name="Fan: emergency stopped")).to_have_class("led down")
    expect(page.locator("#banner")).to_contain_text("Fan is emergency-stopped. To go on: Reset.")
    expect(page.locator("#reset")).to_be_visible()
    fan.tell(state="off")
    expect(page.locator("#banner")).to_be_hidden()
    bar.get_by_role("link", name="Fan: off").click()
    expect(page.locator("#system-fan-title")).to_be_in_viewport()


def test_a_parameter_shows_the_state_until_it_is_edited_and_after_it_was_taken(page, fan):
    target, send = page.get_by_label("Target"), page.get_by_role("button", name="Set", exact=True)
    expect(target).to_have_value("45")
    fan.tell(targetCelsius=50.5)
    expect(target).to_have_value("50.5")
    target.fill("40")
    page.locator("#system-fan summary").first.focus()
    fan.tell(targetCelsius=51)
    expect(value(page, "Target")).to_have_text("51.0 °C")
    expect(target).to_have_value("40")

    fan.holds_back = True
    target.press("Enter")
    expect(send).to_have_attribute("aria-busy", "true")
    fan.answer()
    expect(send).not_to_have_attribute("aria-busy", "true")
    assert fan.requests == [("fan/set", {"targetCelsius": 40})]
    # It was taken; the state has yet to say so.
    page.locator("#system-fan summary").first.focus()
    expect(target).to_have_class("asked")
    fan.tell()
    expect(target).to_have_value("40")
    fan.tell(targetCelsius=40)
    expect(target).not_to_have_class("asked")
    fan.tell(targetCelsius=42)
    expect(target).to_have_value("42")


def test_what_the_loop_does_not_take_over_is_shown_as_it_is_after_a_while(page, fan):
    target = page.get_by_label("Target")
    target.fill("40")
    target.press("Enter")
    expect(target).to_have_class("asked")
    page.locator("#system-fan summary").first.focus()
    # The state never says 40.
    until(lambda: fan.tell(seconds=0) or page.wait_for_timeout(100) or target.input_value() == "45")
    expect(target).not_to_have_class("asked")


def test_a_word_a_whole_number_and_a_yes_are_asked_for(page, fan):
    send = page.get_by_role("button", name="Blow")
    page.get_by_label("Direction").select_option("from below")
    page.get_by_label("Quiet").check()
    period, said = page.get_by_label("Period"), card(page).locator(".say")
    for wrong in ("", "0", "2.5"):
        period.fill(wrong)
        send.click()
        expect(said).to_contain_text("Period must be a whole number of at least 1 s.")
        expect(period).to_have_attribute("aria-invalid", "true")
        expect(period).to_be_focused()
    assert fan.requests == []
    period.fill("3")
    expect(period).not_to_have_attribute("aria-invalid", "true")
    send.click()
    expect(said).to_have_count(0)
    until(lambda: page.wait_for_timeout(20) or fan.requests)
    assert fan.requests == [("fan/blow", {"direction": "fromBelow", "periodSeconds": 3, "quiet": True})]


def test_a_refusal_stands_beside_its_control_and_names_its_parameter(page, fan):
    fan.refusal = {"code": "STALLED", "message": STALLED, "field": "targetCelsius"}
    page.get_by_label("Target").fill("40")
    page.get_by_role("button", name="Set", exact=True).click()
    place = card(page).locator("[data-say]", has=page.get_by_role("button", name="Set", exact=True))
    expect(place.get_by_role("alert")).to_contain_text(STALLED)
    expect(page.get_by_label("Target")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_label("Target")).to_have_value("40")
    page.get_by_role("button", name="Set", exact=True).click()
    expect(card(page).locator(".say")).to_have_count(0)


def test_trouble_is_said_until_its_state_is_over(page, fan):
    why = card(page).locator(".why")
    fan.notice("stalled", True, STALLED)
    fan.tell(state="stalled")
    expect(why).to_have_text("The fan is powered and does not turn; free it, then reset.")
    expect(page.locator("#events li.error")).to_contain_text("fan  " + STALLED)
    expect(card(page).get_by_role("button", name="Reset")).to_have_class("wanted")
    expect(page.get_by_role("link", name="Fan: stalled")).to_have_class("led down")
    fan.tell()
    expect(why).to_be_visible()
    card(page).get_by_role("button", name="Reset").click()
    fan.tell(state="off")
    expect(why).to_be_hidden()
    until(lambda: page.wait_for_timeout(20) or fan.requests == [("fan/reset", None)])
    # It ends by itself, or is said to have ended.
    for ending in (lambda: fan.tell(state="running"), lambda: fan.notice("turns", False, "the fan turns again")):
        fan.notice("stalled", True, STALLED)
        fan.tell(state="stalled")
        expect(why).to_be_visible()
        ending()
        expect(why).to_be_hidden()
    expect(page.locator("#events")).not_to_contain_text("temperature")


def test_buttons_ask_at_once_and_a_stop_needs_no_answer_to_another(page, fan):
    fan.holds_back = True
    for name, path in (("Clear", "fan/clear"), ("Off", "fan/off"), ("Emergency stop", "fan/e-stop"), ("Reset", "fan/reset")):
        card(page).get_by_role("button", name=name).click()
        until(lambda: page.wait_for_timeout(20) or (path, None) in fan.requests)
    fan.answer()
    expect(card(page).locator("[aria-busy=true]")).to_have_count(0)


def test_what_a_token_may_not_do_is_off(enter, own_daemon):
    daemon = own_daemon()
    for scope, works in (("read", ()), ("control", ("Set", "Off", "Emergency stop", "Reset")), ("admin", ("Clear", "Off"))):
        fan = Fan()
        page = enter(daemon, view="fan", token=daemon.create_token(scope, name=scope), prepare=fan.attach)
        expect(card(page)).to_be_visible()
        page.get_by_text("Simulated faults").click()
        for name in ("Set", "Off", "Clear", "Emergency stop", "Reset"):
            control = card(page).get_by_role("button", name=name, exact=True)
            if name in works or scope == "admin":
                expect(control).to_be_enabled()
            else:
                expect(control).to_be_disabled()
        expect(page.get_by_label("Stall")).to_be_enabled(enabled=scope == "admin")
        page.close()


def test_settings_and_faults_are_asked_for_again_when_they_are_opened(page, fan):
    fan.system["settings"][0]["value"] = 12.5
    fan.system["faults"][1]["active"] = True
    page.locator("summary").get_by_text("Settings", exact=True).click()
    expect(card(page).locator("tbody tr").nth(0)).to_contain_text("12.5 %/°C")
    expect(card(page).locator("tbody tr").nth(1)).to_contain_text("Least25 %")
    expect(card(page).locator("tbody tr")).to_have_count(2)  # the third holds until a restart
    page.get_by_text("Simulated faults").click()
    expect(page.get_by_label("Open sensor")).to_be_checked()
    page.get_by_label("Stall").check()
    until(lambda: page.wait_for_timeout(20) or fan.requests)
    assert fan.requests == [("sim/fault", {"system": "fan", "fault": "stall", "active": True})]
    fan.refusal = {"code": "REFUSED", "message": "not now"}
    page.get_by_label("Stall").click()
    expect(card(page).locator(".say")).to_contain_text("not now")
    expect(page.get_by_label("Stall")).to_be_checked()


def test_a_description_brings_no_elements(enter, own_daemon):
    """Nothing is put in as HTML, whatever a name or a state is."""
    markup = "<img src=x onerror=alert(1)><b>bold</b>"
    fan = Fan(title=markup, summary=markup)
    for part in fan.system["fields"][1:] + fan.system["settings"] + fan.system["faults"] + fan.system["commands"]:
        part["meaning"] = part["unit"] = markup
    page = enter(own_daemon(), view="fan", prepare=fan.attach)
    expect(card(page)).to_be_visible()
    fan.notice("x", True, markup)
    fan.tell(state=markup, temperatureCelsius=markup)
    expect(card(page).locator(".why")).to_contain_text(markup)
    expect(page.locator("img, b:not(.zone b, .plant b, .timeline b)")).to_have_count(0)


def test_another_description_makes_another_card(page, fan):
    """A daemon that was started anew with other systems."""
    fan.system["commands"] = []
    fan.system["title"] = "Blower"
    page.evaluate("loadSystems()")
    expect(card(page).get_by_role("heading", level=2)).to_contain_text("Blower")
    expect(card(page).get_by_role("button", name="Off")).to_have_count(0)
    expect(page.locator("section.system")).to_have_count(1)
    fan.system["name"] = "other"
    page.evaluate("loadSystems()")
    expect(card(page)).to_have_count(0)
    expect(page.get_by_role("navigation").get_by_role("link", name="Blower")).to_have_count(1)


def test_old_values_look_old_and_the_page_is_no_wider_than_a_phone(enter, own_daemon, fan):
    page = enter(own_daemon(), view="fan", prepare=fan.attach, width=390)
    expect(card(page)).to_be_visible()
    fan.tell()
    page.locator("summary").get_by_text("Settings", exact=True).click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(card(page).get_by_role("heading", level=2)).to_have_attribute("data-age", "3 s old")
    fan.tell()
    expect(card(page).get_by_role("heading", level=2)).to_have_attribute("data-age", "")
