"""What the page asks before it loses something, and where it says what was refused."""
import re

import pytest
from playwright.sync_api import expect

from others import go, until


def zones_with_numbers(page):
    """The zones' cards, each with its field for any other number of minutes."""
    zones = page.locator("#zone-list .zone")
    expect(zones).to_have_count(4)
    for zone in zones.all():
        zone.get_by_role("button", name="Another time").click()
        expect(zone.get_by_role("spinbutton")).to_be_focused()
    return zones


def test_a_refusal_stands_beside_its_control_until_something_is_done_or_it_is_dismissed(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, view="sprinkler")
    zones = zones_with_numbers(page)
    zones.nth(0).get_by_role("spinbutton").fill("1000")
    zones.nth(0).get_by_role("button", name="Run").click()
    said = zones.nth(0).locator(".say.refusal")
    expect(said).to_contain_text("the longest run of zone 1")
    # What is asked in the background does not take it away; the next success does, since an old refusal beside it would be read as its answer.
    page.evaluate("loadSchedules()")
    expect(said).to_have_count(1)
    expect(page.locator(".say")).to_have_count(1)
    said.get_by_role("button", name="Dismiss").click()
    expect(said).to_have_count(0)
    zones.nth(0).get_by_role("button", name="Run").click()
    expect(said).to_have_count(1)
    zones.nth(1).get_by_role("button", name="Run").click()
    expect(page.locator("#sprinkler-now")).to_contain_text("Zone 2")
    expect(said).to_have_count(0)
    # Used again, its own control takes it away.
    zones.nth(1).get_by_role("button", name="Off").click()
    expect(page.locator("#sprinkler-now")).to_have_text("nothing")
    zones.nth(0).get_by_role("button", name="Run").click()
    expect(said).to_have_count(1)
    zones.nth(0).get_by_role("spinbutton").fill("5")
    zones.nth(0).get_by_role("button", name="Run").click()
    expect(page.locator("#sprinkler-now")).to_contain_text("Zone 1")
    expect(said).to_have_count(0)


def test_a_probe_is_not_calibrated_by_one_click(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, view="plants")

    def calibration():
        return daemon.get("/api/plants/sensors").json()["sensors"][0]["calibration"]

    row, said = page.locator("#probe-list tr").first, page.locator("#probes .say")
    expect(row).to_contain_text("counts")
    before = calibration()
    row.get_by_role("button", name="is dry").click()
    expect(said).to_contain_text(f"dry is {before['dry']:.0f} counts so far")
    said.get_by_role("button", name="Cancel").click()
    expect(said).to_have_count(0)
    assert calibration() == before

    row.get_by_role("button", name="is dry").click()
    said.get_by_role("button", name="It is dry").click()
    expect(said).to_contain_text(f"dry was {before['dry']:.0f} counts")
    assert calibration()["isSet"] and calibration()["dry"] != before["dry"]
    said.get_by_role("button", name="Undo").click()
    until(lambda: calibration() == before)
    # One that somebody has set comes back as they have set it.
    daemon.post("/api/plants/sensors/0x36/calibrate", {"dry": 500, "wet": 1700})
    expect(row).to_contain_text("%")
    until(lambda: page.evaluate("probes.get('0x36').calibration.dry") == 500)
    row.get_by_role("button", name="is wet").click()
    said.get_by_role("button", name="It is wet").click()
    expect(said).to_contain_text("wet was 1700 counts")
    said.get_by_role("button", name="Undo").click()
    until(lambda: calibration() == {"dry": 500, "wet": 1700, "isSet": True})


def test_a_zone_ends_another_only_when_asked_to(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, view="sprinkler")
    zones = zones_with_numbers(page)
    zones.nth(0).get_by_role("button", name="Run").click()
    expect(page.locator("#sprinkler-now")).to_contain_text("Zone 1")
    question = zones.nth(1).locator(".say.question")

    def runs():
        document = daemon.get("/api/sprinkler").json()
        return [zone["id"] for zone in document["zones"] if zone["isOn"]], [run["zoneId"] for run in document["queue"]]

    for more in ("Run", "longer"):
        zones.nth(1).get_by_role("button", name=more).click()
        expect(question).to_contain_text(re.compile(r"Zone 1 \(\d\d:\d\d left\) is open, and no more may be"))
        assert runs() == ([1], [])
        question.get_by_role("button", name="Cancel").click()
        expect(question).to_have_count(0)
    zones.nth(1).get_by_role("button", name="Run").click()
    question.get_by_role("button", name="Water Zone 2 after it").click()
    until(lambda: runs() == ([1], [2]))
    zones.nth(2).get_by_role("button", name="Run").click()
    zones.nth(2).get_by_role("button", name="End Zone 1, water Zone 3 now").click()
    until(lambda: runs()[0] == [3])
    # Its own run goes on for longer without a question.
    zones.nth(2).get_by_role("button", name="longer").click()
    until(lambda: daemon.get("/api/sprinkler").json()["zones"][2]["remainingSec"] > 700)
    expect(page.locator(".say.question")).to_have_count(0)


def test_a_countdown_is_one_number_wherever_it_is_shown(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, view="sprinkler")
    assert daemon.post("/api/zone/3/on", {"seconds": 60}).status_code == 200
    expect(page.locator("#sprinkler-now")).to_contain_text("00:5")
    page.evaluate("""() => {
      window.differences = [];
      new MutationObserver(() => {
        const row = document.querySelectorAll("#zone-list [data-of=state]")[2].textContent, now = document.querySelector("#sprinkler-now").textContent;
        if (row !== now.split(" ").pop() + " left") window.differences.push([row, now]);
      }).observe(document.querySelector("#sprinkler"), { subtree: true, childList: true, characterData: true });
    }""")
    # Which seconds are seen from here is a matter of how busy the machine is; the observer sees each.
    expect(page.locator("#sprinkler-now")).to_contain_text(re.compile("00:(5[0-4]|[0-4])"), timeout=30000)
    assert page.evaluate("window.differences") == []


def test_a_sensor_that_is_open_is_a_dash_with_its_reason(enter, own_daemon):
    daemon = own_daemon(more="pump: {}\n")
    page = enter(daemon, view="pump")
    expect(page.locator("#pump-skin")).to_contain_text("°C")
    assert daemon.post("/api/sim/fault", {"fault": "sensor-open", "bus": "pump", "sensor": "skin"}).status_code == 200
    expect(page.locator("#pump-skin")).to_have_text("– (reads -77.4 °C: an open circuit)", timeout=30000)
    # The chart's scale is that of whole sensors.
    lowest = page.evaluate("Math.min(...[...document.querySelectorAll('#pump-chart text:not(.limit)')].map((text) => parseInt(text.textContent)))")
    assert lowest >= 0


def test_a_dry_plant_is_watered_when_somebody_confirms_it(enter, own_daemon):
    daemon = own_daemon()
    assert daemon.post("/api/sim/plants/spi-0", {"moisturePercent": 0}).status_code == 200
    until(lambda: daemon.get("/api/plants/sensors").json()["sensors"][3]["moisturePercent"] == 0)
    assert daemon.post("/api/plants", {"name": "Fern", "sensors": ["spi-0"]}).json()["plant"]["id"] == 1
    page = enter(daemon, view="plants")
    plant = page.locator(".plant")
    expect(plant.locator(".waits")).to_contain_text("It is not watered yet")
    assert not daemon.get("/api/zones").json()["zones"][1]["isOn"]
    plant.get_by_role("button", name="It may be watered").click()
    until(lambda: daemon.get("/api/zones").json()["zones"][1]["isOn"])
    expect(plant.locator(".waits")).to_be_hidden()


def test_a_new_schedule_has_what_was_chosen_is_on_and_says_when_it_starts(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, view="sprinkler")
    page.get_by_text("New schedule").click()
    page.locator("#schedule-name").fill("Mornings")
    add = page.locator("#schedule-add")
    expect(add).to_be_disabled()
    expect(page.locator("#schedule-lacks")).to_have_text("choose its days and its zones")
    page.locator("#schedule-days").get_by_role("button", name="Tue").click()
    expect(page.locator("#schedule-lacks")).to_have_text("choose its zones")
    page.locator("#schedule-zones").get_by_label("Zone 3", exact=True).check()
    page.locator("#schedule-zones").get_by_label("Minutes of Zone 3").fill("4")
    page.locator("#schedule-start").fill("25:00")
    add.click()
    expect(page.locator("#schedule-new .say.refusal")).to_contain_text("Start times 1: ")
    page.locator("#schedule-start").fill("06:00, 19:30")
    add.click()
    card = page.locator("#schedule-list .schedule")
    expect(page.locator("#schedule-new .say.notice")).to_contain_text("Mornings is on: next Tue")
    expect(card.locator("small")).to_contain_text("Tue  06:00 19:30  next Tue")
    expect(page.locator("#schedule-preview li")).to_have_count(5)
    (made,) = daemon.get("/api/schedules").json()["schedules"]
    assert (made["isEnabled"], made["days"], made["zones"]) == (True, ["Tue"], [{"zoneId": 3, "minutes": 4}])
    assert made["nextStartISO"] == daemon.get("/api/schedules/preview?count=1").json()["starts"][0]["startISO"]
    card.get_by_role("checkbox", name="Mornings enabled").uncheck()
    expect(card.locator("small")).to_contain_text("off  Tue  06:00 19:30")
    expect(page.locator("#schedule-preview")).to_have_text("Nothing is planned: add a schedule above, or switch one on.")
    assert daemon.get("/api/schedules").json()["schedules"][0]["nextStartISO"] is None
    # Off, where that is asked for.
    page.locator("#schedule-name").fill("Evenings")
    page.locator("#schedule-days").get_by_role("button", name="Wed").click()
    page.locator("#schedule-zones").get_by_label("Zone 1", exact=True).check()
    page.locator("#schedule-enabled").uncheck()
    add.click()
    expect(page.locator("#schedule-new .say.notice")).to_contain_text("Evenings is off")
    assert not daemon.get("/api/schedules").json()["schedules"][1]["isEnabled"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_begins_what_ends_and_what_is_lost_look_different(enter, own_daemon, scheme):
    """Not by colour alone: each has a sign or a place of its own."""
    daemon = own_daemon(more="pump: {}\n")
    daemon.post("/api/plants", {"name": "Basil", "sensors": ["0x36"]})
    page = enter(daemon, view="pump", color_scheme=scheme)
    look = """(one) => { const of = getComputedStyle(one);
      return [getComputedStyle(one, "::before").content, of.color, of.backgroundColor, of.textDecorationLine]; }"""
    expect(page.locator("#pump-off")).to_be_enabled()
    looks = [page.locator(one).first.evaluate(look) for one in ("#pump-on", "#pump-off", ".plant .drop")]
    for aspect in range(4):
        values = [one[aspect] for one in looks]
        assert len(set(values)) > 1, values
    assert len({one[0] for one in looks}) == 3, looks
    # What is lost stands apart, at the end of its row.
    go(page, "plants")
    remove = page.locator(".plant .drop").bounding_box()
    row = page.locator(".plant .row", has=page.locator(".drop")).bounding_box()
    assert abs(remove["x"] + remove["width"] - row["x"] - row["width"]) < 2
    page.locator(".plant .drop").click()
    page.locator(".plant .say").get_by_role("button", name="Cancel").click()
    assert len(daemon.get("/api/plants").json()["plants"]) == 1
