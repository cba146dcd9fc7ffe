"""The pump's and the legs' views: a state in words, curves with their limits that survive a reload, steps, one pulse, calibration by hand."""
import re
from datetime import datetime, timedelta, timezone

import pytest
from playwright.sync_api import expect

from others import until
from systems import Fan

@pytest.fixture
def legs(own_daemon):
    return own_daemon()


def pulse(daemon):
    return daemon.get("/api/leg").json()["legs"][0]["pulseUs"]


def test_a_leg_has_steps_one_pulse_and_a_curve_that_survives_a_reload(enter, legs):
    page = enter(legs, view="leg")
    leg = page.locator(".leg").first
    once = leg.get_by_role("button", name="Send once")
    expect(once).to_be_disabled()
    leg.get_by_role("button", name="ARM", exact=False).first.click()
    expect(leg.locator("[data-of=state]")).to_have_text("armed")
    expect(leg.locator("[data-do=arm]")).to_be_disabled()
    expect(leg.locator("[data-of=reason]")).to_contain_text("armed")
    assert pulse(legs) is None
    once.click()
    until(lambda: pulse(legs) == 1500)
    for step, wanted in ((10, 1510), (-1, 1509), (-10, 1499)):
        leg.locator(f"[data-by='{step}']").click()
        until(lambda: pulse(legs) == wanted)
    expect(leg.locator("[data-of=pulse]")).to_have_text("1499 µs")
    chart = leg.locator(".chart")
    expect(chart.locator("text.limit")).to_have_text(["lowest", "highest"])
    expect(chart.locator("polyline.series-0")).to_have_count(1)
    expect(chart.locator("polyline.series-1")).to_have_count(1)
    before = page.evaluate("legPast[0].find(({ pulse }) => pulse).at")
    page.reload()
    expect(page.locator(".leg .chart polyline.series-0")).to_have_count(1)
    assert page.evaluate("legPast[0].find(({ pulse }) => pulse).at") == before


def test_a_leg_is_calibrated_by_hand_into_lines_for_the_file(enter, legs):
    page = enter(legs, view="leg")
    leg = page.locator(".leg").first
    leg.get_by_text("Calibrate by hand").click()
    lowest, points = leg.get_by_role("button", name="This is the lowest"), leg.locator("[data-of=points]")
    lowest.click()
    expect(leg.locator(".say")).to_contain_text("ARM it and move it first")
    expect(points).to_have_text("nothing found yet: move the leg, then say which place it is")
    leg.locator("[data-do=arm]").click()
    expect(leg.locator("[data-of=state]")).to_have_text("armed")
    for wanted, name in ((900, "lowest"), (2100, "highest")):
        leg.locator("[data-of=slider]").fill(str(wanted))
        leg.get_by_role("button", name="Send once").click()
        expect(leg.locator("[data-of=pulse]")).to_have_text(f"{wanted} µs")
        leg.get_by_role("button", name="This is the " + name).click()
    expect(points).to_contain_text("legs:\n  - # leg 0\n    min_us: 900\n    max_us: 2100\n")


def test_the_pump_says_its_state_and_its_curve_has_a_limit_and_an_axis(enter, own_daemon):
    daemon = own_daemon(more="pump: {}\n")
    page = enter(daemon, view="pump")
    word, chart, axis = page.locator("#pump-word"), page.locator("#pump-chart"), page.locator("#pump-axis")
    expect(word).to_have_text("off")
    page.click("#pump-on")
    expect(word).to_have_text("on")
    expect(page.locator("#pump-on")).to_be_disabled()
    expect(chart.locator("text.limit")).to_have_text("too hot")
    expect(chart.locator("line.limit")).to_have_count(1)
    expect(chart.locator("rect.active")).not_to_have_count(0)
    expect(axis.get_by_role("button", name="10 min")).to_have_attribute("aria-pressed", "true")
    axis.get_by_role("button", name="minute").click()
    assert page.evaluate("pumpAxis.span") == 60000
    axis.get_by_role("button", name="Earlier").click()
    expect(chart).to_have_attribute("aria-label", re.compile(r"^Temperatures from .* to (?!now)"))
    axis.get_by_role("button", name="Now").click()
    expect(chart).to_have_attribute("aria-label", re.compile("to now$"))


def ticks(page, span):
    page.locator("#plant-axis").get_by_role("button", name=span, exact=True).click()
    expect(page.locator("#plant-axis").get_by_role("button", name=span, exact=True)).to_have_attribute("aria-pressed", "true")
    chart = page.locator(".plant .chart").first
    lowest = chart.evaluate("chart => chart.clientHeight - 8")
    return chart.locator(f"text[y='{lowest}']").all_text_contents()


def test_ticks_are_at_round_times_of_the_controllers_clock_and_name_the_month(enter, own_daemon):
    daemon = own_daemon()
    assert daemon.post("/api/plants", {"name": "Basil", "sensors": ["0x36"]}).status_code == 201
    page = enter(daemon, view="plants", width=430, locale="en-GB", timezone_id="America/St_Johns")
    expect(page.locator("#time-zone")).to_have_text("Times are those of Europe/Berlin.")
    expect(page.locator(".plant .chart text").first).to_be_attached()
    day = ticks(page, "day")
    assert len(day) >= 3 and set(day) <= {"00:00", "06:00", "12:00", "18:00"}, day
    names = "Jan( \\d\\d)?|Feb|Mar|Apr|May|June?|July?|Aug|Sept?|Oct|Nov|Dec"
    for span, form in (("month", rf"\d+ ({names})"), ("year", names), ("3 years", names)):
        found = ticks(page, span)
        assert len(found) >= 3 and all(re.fullmatch(form, one) for one in found), found
    # Midnights and first days of months, over the change of the clocks, too.
    ends = page.evaluate("""() => [["2026-10-26T08:00Z", 36 * 3600000], ["2026-11-30T12:00Z", 365 * dayMs]].map(([to, span]) =>
      ticksOf(Date.parse(to) - span, Date.parse(to), 330).map(([at]) => new Date(at).toISOString().slice(0, 16)))""")
    assert ends == [["2026-10-24T22:00", "2026-10-25T05:00", "2026-10-25T11:00", "2026-10-25T17:00", "2026-10-25T23:00", "2026-10-26T05:00"],
                    [f"{year}-{month}T{hour}:00" for year, month, hour in (
                        (2025, "12-31", 23), (2026, "02-28", 23), (2026, "04-30", 22), (2026, "06-30", 22), (2026, "08-31", 22), (2026, "10-31", 23))]], ends


def test_a_chart_says_what_was_read_where_the_pointer_is_and_by_the_arrow_keys(enter, own_daemon):
    page = enter(own_daemon(more="pump: {}\n"), view="pump")
    chart, said = page.locator("#pump-chart"), page.locator("#pump-chart + .reading")
    expect(page.locator("#pump-word")).to_have_text("off")
    expect(said).to_have_attribute("aria-live", "polite")
    expect(said).to_have_text("")
    # Readings of the past, and none of now.
    page.evaluate("""() => {
      const now = Date.now();
      pump.history = Array.from({ length: 9 }, (_, index) => ({ at: now - (9 - index) * 60000, water: 20 + index, skin: index === 4 ? null : 30 + index, isOn: false }));
      pump.history.push = () => 0;
      pump.asked = Infinity; // what the daemon has kept is not asked for
      pump.kept.rows = [];
      drawPump();
    }""")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    at = page.evaluate("byId('pump-chart').shown.x(pump.history[4].at)")
    page.mouse.move(box["x"] + at + 3, box["y"] + box["height"] / 2)
    expect(said).to_have_text(re.compile(r"^\d.* · water 24 °C · skin –\s*$"))
    expect(chart.locator("line.cross")).to_have_count(1)
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] + 80)
    expect(said).to_have_text("")
    expect(chart.locator("line.cross")).to_have_count(0)
    chart.focus()
    for key, water in (("ArrowLeft", 28), ("ArrowLeft", 27), ("ArrowLeft", 26), ("ArrowRight", 27)):
        page.keyboard.press(key)
        expect(said).to_contain_text(f"water {water} °C")
    page.keyboard.press("Tab")
    expect(said).to_have_text("")


def test_a_time_without_the_page_is_a_gap_in_the_pumps_curve(enter, own_daemon):
    page = enter(own_daemon(more="pump: {}\n"), view="pump")
    until(lambda: page.wait_for_timeout(50) or page.evaluate("pump.history.length") > 3)
    expect(page.locator("#pump-chart polyline.skin")).to_have_count(1)
    page.evaluate("pump.history.slice(0, 2).forEach((one) => { one.at -= 60000; })")
    expect(page.locator("#pump-chart polyline.skin")).to_have_count(2)


def test_the_pumps_curve_has_what_the_daemon_has_kept_with_its_gaps_and_says_when_that_does_not_come(enter, own_daemon):
    answers = {"status": 200}

    def history(route):
        if answers["status"] != 200:
            route.fulfill(status=503, json={"ok": False, "code": "STORE_FAILED", "message": "the disk is full"})
            return
        end = datetime.now(timezone.utc).replace(second=0, microsecond=0) - timedelta(minutes=30)
        rows = [{
            "startISO": (end - timedelta(minutes=5 * place)).strftime("%Y-%m-%dT%H:%M:%SZ"), "samples": 300, "runningSamples": 150 if place == 9 else 0,
            "speedPercent": None, "waterLeastCelsius": 12, "waterMeanCelsius": 13, "waterHighestCelsius": 14, "skinLeastCelsius": 30,
            "skinMeanCelsius": 33, "skinHighestCelsius": 36} for place in (9, 8, 7, 4, 3)]
        route.fulfill(json={"ok": True, "sinceISO": rows[0]["startISO"], "untilISO": end.strftime("%Y-%m-%dT%H:%M:%SZ"), "spanSec": 300, "rows": rows})

    page = enter(own_daemon(more="pump: {}\n"), view="pump", prepare=lambda page: page.route(re.compile("/api/pump/history"), history))
    chart, kept = page.locator("#pump-chart"), page.locator("#pump-kept")
    page.locator("#pump-axis").get_by_role("button", name="day").click()
    # Two stretches of the past, and what the page sees now.
    until(lambda: page.wait_for_timeout(50) or page.evaluate("pump.history.length") > 3)
    expect(chart.locator("polyline.skin")).to_have_count(3)
    expect(chart.locator("polyline.hottest")).to_have_count(2)
    expect(chart.locator("rect.active")).to_have_count(1)
    expect(kept).to_be_hidden()
    answers["status"] = 503
    page.locator("#pump-axis").get_by_role("button", name="week").click()
    expect(kept).to_have_text("What has been kept did not come: the disk is full")
    expect(chart.locator("polyline.skin")).to_have_count(3)
    answers["status"] = 200
    expect(kept).to_be_hidden(timeout=20000)


def test_why_it_is_in_fault_takes_one_action(enter, own_daemon):
    daemon = own_daemon(more="pump: {}\n")
    until(lambda: daemon.post("/api/pump/on", {"speedPercent": 50}).status_code == 200)
    until(lambda: daemon.get("/api/pump").json()["state"] == "on")
    assert daemon.post("/api/sim/fault", {"fault": "overheat", "bus": "pump"}).status_code == 200
    until(lambda: daemon.get("/api/pump").json()["state"] == "fault")
    page = enter(daemon)
    page.locator("#well").get_by_role("link", name="Pump").click()
    expect(page.locator("#pump-word")).to_have_text("fault")
    expect(page.locator("#pump-why")).to_contain_text("To go on:")


def test_a_card_that_is_made_from_a_description_has_curves_that_survive_a_reload(enter, own_daemon):
    fan = Fan()
    page = enter(own_daemon(), view="fan", prepare=fan.attach)
    card = page.locator("#system-fan")
    expect(card).to_be_visible()
    card.get_by_text("Curves").click()
    for number in range(4):
        fan.tell(temperatureCelsius=30 + number, speedRpm=1000 + number)
        until(lambda: page.wait_for_timeout(20) or page.evaluate("Date.now() - curvePasts.fan.at(-1).at") >= 900)
    charts = card.locator(".chart")
    expect(charts).to_have_count(2)  # °C and rpm
    expect(charts.nth(0).locator("polyline")).to_have_count(2)  # temperature and target
    expect(card.locator(".names").nth(0)).to_have_text("TemperatureTarget")
    card.get_by_role("button", name="minute").click()
    expect(charts.nth(1)).to_have_attribute("aria-label", re.compile("^Speed from .* to now$"))
    kept = page.evaluate("curvePasts.fan.map(({ values }) => values.temperatureCelsius)")
    assert kept[-4:] == [30, 31, 32, 33]
    page.reload()
    until(lambda: page.wait_for_timeout(20) or page.evaluate("typeof cards !== 'undefined' && cards.has('fan')"))
    assert page.evaluate("curvePasts.fan.map(({ values }) => values.temperatureCelsius)")[:len(kept)] == kept
