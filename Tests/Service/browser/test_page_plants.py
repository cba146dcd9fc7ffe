"""The plants' view: its time axis, what is changed in place, what is said before a plant is added."""
import io
import re
import time
from datetime import datetime, timezone

import pytest
import zxingcpp
from PIL import Image
from playwright.sync_api import expect

from others import go, until

DAY = 86400


@pytest.fixture
def asked():
    """The spans of history that the page has asked for, in seconds, with how long ago each ended."""
    return []


@pytest.fixture
def page(enter, own_daemon, asked):
    daemon = own_daemon()
    assert daemon.post("/api/plants", {"name": "Basil", "sensors": ["0x36"]}).status_code == 201
    assert daemon.post("/api/plants/1/watered").status_code == 200

    def history(route):
        def instant(name):
            found = re.search(name + r"=([^&]+)", route.request.url)
            return datetime.fromisoformat(found[1].replace("Z", "+00:00")).timestamp() if found else None

        since, until_ = instant("since"), instant("until") or time.time()
        asked.append((round(until_ - since), round(time.time() - until_)))
        route.continue_()

    page = enter(daemon, view="plants", prepare=lambda page: page.route(re.compile(r"/api/plants/\d+/history\?"), history))
    page.daemon = daemon
    return page


def span(asked):
    return asked[-1][0] if asked else 0


def wait_for_span(page, asked, seconds, ago=0, tolerance=60):
    until(lambda: page.wait_for_timeout(20) or (asked and abs(asked[-1][0] - seconds) <= tolerance and abs(asked[-1][1] - ago) <= tolerance))


def test_the_axis_goes_from_an_hour_to_years_by_buttons_and_keys(page, asked):
    axis, chart = page.locator("#plant-axis"), page.locator(".plant .chart").first
    wait_for_span(page, asked, DAY)
    for name, seconds in (("hour", 3600), ("week", 7 * DAY), ("3 years", 3 * 365 * DAY), ("day", DAY)):
        axis.get_by_role("button", name=name).click()
        wait_for_span(page, asked, seconds)
        expect(axis.get_by_role("button", name=name)).to_have_attribute("aria-pressed", "true")
    axis.get_by_role("button", name="Zoom in").click()
    wait_for_span(page, asked, DAY / 2)
    axis.get_by_role("button", name="Earlier").click()
    wait_for_span(page, asked, DAY / 2, ago=DAY / 4)
    expect(chart).to_have_attribute("aria-label", re.compile("^Moisture of Basil from .* to (?!now)"))
    axis.get_by_role("button", name="Now").click()
    wait_for_span(page, asked, DAY / 2)
    expect(axis.get_by_role("button", name="Now")).to_be_disabled()
    chart.focus()
    page.keyboard.press("Shift+ArrowLeft")
    wait_for_span(page, asked, DAY / 2, ago=DAY / 8)
    page.keyboard.press("End")
    wait_for_span(page, asked, DAY / 2)
    page.keyboard.press("-")
    wait_for_span(page, asked, DAY)


def test_the_axis_goes_by_the_wheel_by_dragging_and_by_two_fingers(page, asked):
    chart = page.locator(".plant .chart").first
    wait_for_span(page, asked, DAY)

    def middle():
        box = chart.bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    page.mouse.move(*middle())
    page.mouse.wheel(0, 100)  # the page's own, while the chart has not the focus
    until(lambda: page.wait_for_timeout(20) or page.evaluate("scrollY") == 100)
    assert page.evaluate("plantAxis.span") == DAY * 1000
    x, y = middle()
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 40, y)
    page.mouse.up()
    moved = page.evaluate("Date.now() - plantAxis.to()")
    assert 0 < moved < DAY * 1000 / 2
    page.keyboard.press("End")
    chart.focus()
    page.mouse.wheel(0, -100)
    until(lambda: page.wait_for_timeout(20) or page.evaluate("plantAxis.span") == DAY * 800)
    # Two fingers that part.
    for name, pointer, at in (("pointerdown", 11, x - 20), ("pointerdown", 12, x + 20), ("pointermove", 12, x + 20), ("pointermove", 12, x + 60)):
        chart.evaluate("""(svg, [name, pointer, x, y]) => {
          svg.setPointerCapture = () => {};
          svg.dispatchEvent(new PointerEvent(name, { pointerId: pointer, pointerType: "touch", clientX: x, clientY: y, bubbles: true }));
        }""", [name, pointer, at, y])
    assert page.evaluate("plantAxis.span") == DAY * 400


def test_a_watering_is_marked_and_a_limit_is_a_line(page, asked):
    chart = page.locator(".plant .chart").first
    page.locator("#plant-axis").get_by_role("button", name="hour").click()
    expect(chart.locator("g.event title")).to_have_text(re.compile("^watered"))
    expect(chart.locator("text.limit")).to_have_text(["dry"])
    page.get_by_role("button", name="Change Basil").click()
    page.get_by_label("wet above").fill("90")
    page.locator(".plant").get_by_role("button", name="Save").click()
    expect(chart.locator("text.limit")).to_have_text(["dry", "wet"])


def test_a_calibration_is_marked_and_told(page, asked):
    page.locator("#plant-axis").get_by_role("button", name="hour").click()
    other = page.locator(".plant .chart g.event.other title")
    expect(page.locator(".plant .chart g.event")).to_have_count(1)  # the watering
    assert page.daemon.post("/api/plants/sensors/0x36/calibrate", {"dry": 500, "wet": 1700}).status_code == 200
    assert page.daemon.request("DELETE", "/api/plants/sensors/0x36/calibrate").status_code == 200
    page.evaluate("loadHistories()")
    expect(other).to_have_count(2)
    assert sorted(other.all_text_contents()) == ["calibrated 0x36: as before anybody calibrated it", "calibrated 0x36: dry 500, wet 1700"]
    expect(page.locator("#plant-log")).to_contain_text("Basil  calibrated, 0x36: dry 500, wet 1700")
    # It concerns no plant that has another probe.
    assert page.daemon.post("/api/plants/sensors/adc-0/calibrate", {"dry": 2600, "wet": 1100}).status_code == 200
    events = page.daemon.get("/api/plants/alerts").json()["events"]
    assert len([event for event in events if event["kind"] == "calibrated"]) == 2


def test_moisture_has_a_word_a_band_and_an_age(page):
    plant = page.locator(".plant").first
    expect(plant.locator(".word")).to_have_text("well")
    expect(plant).to_contain_text(re.compile("read (just now|\\d+ s ago)"))
    assert page.daemon.post("/api/sim/plants/0x36", {"moisturePercent": 5}).status_code == 200
    expect(plant.locator(".word")).to_have_text("dry")
    left, width = plant.locator(".moisture b").evaluate("one => [parseFloat(one.style.left), parseFloat(one.parentElement.querySelector('.dry').style.width)]")
    assert left < width == 20


@pytest.mark.parametrize("fault", ["open", "short"])
def test_a_probe_with_a_broken_wire_says_so_at_once_and_not_what_it_read_before(page, fault):
    """Long before the two minutes after which a probe is silent."""
    plant, cells = page.locator(".plant").first, page.locator("#probe-list tr").first.locator("td")
    expect(plant.locator("output").first).to_have_text(re.compile(r"^\d+ %$"))
    assert page.daemon.post("/api/sim/plants/0x36", {"fault": fault}).status_code == 200
    expect(plant.locator("output").first).to_have_text("unknown")
    expect(plant.locator("small.bad")).to_have_text("0x36 is not in soil, or the wire is broken")
    expect(cells.nth(2)).to_have_text("–")
    expect(cells.nth(3)).to_have_text("–")
    expect(cells.nth(6)).to_have_text("not in soil, or a broken wire")
    expect(page.locator("#plants-state")).to_contain_text("not in soil, or a broken wire: 0x36")
    state = page.daemon.get("/api/plants").json()
    assert state["plants"][0]["moisturePercent"] is None and "silent" not in state["plants"][0]["alerts"]
    probe = next(one for one in state["sensors"] if one["id"] == "0x36")
    assert probe["isFresh"] is False and probe["lastFailure"] == "notAMeasurement" and probe["ageMs"] < 120_000
    assert page.daemon.post("/api/plants/sensors/0x36/calibrate", {"point": "dry"}).json()["code"] == "SENSOR_SILENT"
    assert page.daemon.post("/api/sim/plants/0x36", {"fault": "none"}).status_code == 200
    expect(plant.locator("output").first).to_have_text(re.compile(r"^\d+ %$"))
    expect(plant.locator("small.bad")).to_have_count(0)


def test_a_plant_is_renamed_and_gets_another_probe_where_it_stands(page):
    plant = page.locator(".plant").first
    page.get_by_role("button", name="Change Basil").click()
    name = plant.get_by_label("name")
    expect(name).to_be_focused()
    plant.get_by_label("0x36").uncheck()
    plant.get_by_role("button", name="Save").click()
    expect(plant.locator(".say")).to_contain_text("choose one to four probes")
    plant.get_by_label("adc-0").check()
    name.fill("Big basil")
    plant.get_by_role("button", name="Save").click()
    until(lambda: page.daemon.get("/api/plants/1").json()["plant"]["sensors"] == ["adc-0"])
    expect(plant.locator("h3")).to_contain_text("Big basil")
    assert page.daemon.get("/api/plants/1").json()["plant"]["name"] == "Big basil"


def test_what_a_plant_will_do_is_said_before_it_is_added(page):
    plan = page.locator("#plant-plan")
    expect(plan).to_be_hidden()
    page.fill("#plant-name", "Fern")
    page.locator("#plant-probes").get_by_label("0x36").check()
    expect(plan).to_be_visible()
    expect(plan).to_contain_text(re.compile(r"^Fern will be read by 0x36, now \d+ % \(read for Basil as well\)\. .* waters nothing by itself"))
    assert len(page.daemon.get("/api/plants").json()["plants"]) == 1
    page.locator("#plant-new > button").click()
    until(lambda: len(page.daemon.get("/api/plants").json()["plants"]) == 2)
    expect(plan).to_be_hidden()


def test_a_week_of_moisture_takes_two_actions_and_is_kept_over_a_reload(page, asked):
    go(page, "")
    page.locator(".tile", has=page.get_by_role("heading", name="Plants")).get_by_role("button").click()
    page.locator("#plant-axis").get_by_role("button", name="week").click()
    wait_for_span(page, asked, 7 * DAY)
    expect(page.locator(".plant .chart polyline")).to_have_count(1)
    asked.clear()
    page.reload()
    wait_for_span(page, asked, 7 * DAY)
    expect(page.locator("#plant-axis").get_by_role("button", name="week")).to_have_attribute("aria-pressed", "true")


def test_a_label_is_made_for_an_address_that_others_reach_and_opens_the_card(enter, own_daemon):
    daemon = own_daemon()
    for name in ("Basil", "Fern"):
        assert daemon.post("/api/plants", {"name": name, "sensors": ["0x36"]}).status_code == 201
    page = enter(daemon, view="plants")
    page.get_by_label("Label for Fern").click()
    expect(page.locator(".plant", has_text="Fern").locator(".say")).to_contain_text("only this computer knows")
    page.evaluate("() => { location.hash = '#/plants/2'; }")
    expect(page.locator(".plant", has_text="Fern")).to_be_focused()
    page.evaluate("() => { location.hash = '#/robot'; }")
    page.evaluate("() => { location.hash = '#/plants/1'; }")
    expect(page.locator(".plant", has_text="Basil")).to_be_focused()
    # What is no address of the page, or of a plant that is gone, is the overview or the view.
    for hash, view in (("#/%", "overview"), ("#/plants/99", "plants"), ("#/plants/", "plants")):
        page.evaluate("hash => { location.hash = hash; }", hash)
        until(lambda: page.evaluate("document.body.dataset.shows") == view)


def test_the_labels_code_is_read_by_a_telephone(browser, own_daemon):
    daemon = own_daemon()
    assert daemon.post("/api/plants", {"name": "Very long Basil", "sensors": ["0x36"]}).status_code == 201
    for address in ("http://pi.local:8000/", "https://" + 60 * "long." + "example/tactus/"):
        label = daemon.get("/api/plants/1/label.svg", params={"page": address}).text if len(address) <= 155 else None
        if label is None:
            continue
        page = browser.new_page(device_scale_factor=4)
        page.set_content(label)
        found = zxingcpp.read_barcodes(Image.open(io.BytesIO(page.locator("svg").first.screenshot())))
        assert [one.text for one in found] == [address + "#/plants/1"]
        page.close()


def test_the_days_pictures_are_a_time_line_of_each_plants_part(enter, own_daemon):
    daemon = own_daemon()
    assert daemon.post("/api/plants", {"name": "Basil", "sensors": ["0x36"], "pictureArea": {"left": 50, "top": 0, "width": 50, "height": 100}}).status_code == 201
    days = [{"day": f"2026-11-{day:02}", "takenISO": f"2026-11-{day:02}T12:00:00Z", "bytes": 1000} for day in (28, 27, 25)]
    asked = []

    def prepare(page):
        page.route("**/api/plants/pictures", lambda route: route.fulfill(json={"ok": True, "isTaken": True, "failure": "there is no picture: the camera is gone", "pictures": days}))
        page.route("**/api/plants/pictures/*", lambda route: (asked.append(route.request.url[-10:]), route.fulfill(body=picture, content_type="image/jpeg")))

    out = io.BytesIO()
    Image.new("RGB", (320, 240), "green").save(out, "JPEG")
    picture = out.getvalue()
    page = enter(daemon, view="plants", prepare=prepare)
    card = page.locator(".plant", has_text="Basil")
    expect(card.locator(".pictures")).to_be_visible()
    assert asked == []  # not before somebody looks
    expect(page.locator("#pictures-said")).to_have_text("No newer picture: there is no picture: the camera is gone")
    card.locator(".pictures summary").click()
    until(lambda: page.evaluate("document.querySelector('.picture img').naturalWidth") == 320)
    assert asked == ["2026-11-28"]
    box = card.locator(".picture").bounding_box()
    assert abs(box["width"] / box["height"] - 160 / 240) < 0.02
    expect(card.locator(".picture img")).to_have_attribute("alt", re.compile("^Basil, .*2026"))
    slider = card.get_by_label("Day of the picture of Basil")
    slider.focus()
    page.keyboard.press("Home")
    expect(card.locator(".pictures output")).to_contain_text("25")
    expect(card.locator(".picture img")).to_have_attribute("alt", re.compile("25"))
    assert asked == ["2026-11-28", "2026-11-25"]
