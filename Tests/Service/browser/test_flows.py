"""What people do often, in every way that they do it: with a finger on a telephone, with the mouse on a laptop and on a large screen, in dark colours, in German, by the
keyboard alone, where WebSockets are blocked, over a slow link. Each flow is done in each way, and on each size; all flows together meet each way on each size.

Actions are counted as whoever does them would: a press, a choice, and a field that is filled in, with the Enter that ends it, are one each; the way there by Tab is none.
With two fingers: test_page_stop.py, test_page_plants.py. Of a daemon that is dead, frozen or half-open nothing is to be had: test_page_stop.py, test_page_trouble.py, test_half_open.py."""
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from others import NO_SOCKETS, robot, until
from test_page_trouble import tile

SIZES = {"phone": (390, 844), "laptop": (1366, 768), "1920": (1920, 1080)}
WAYS = ("dark", "german", "keys", "blocked", "slow")
# The most actions that each may take, from the overview, or from wherever somebody is.
AIMS = {"water": 2, "schedule": 8, "week": 2, "phone": 2, "pump": 3, "last": 1, "log": 1, "settings": 1, "tokens": 1, "support": 1, "stop": 1}
FLOWS = [(flow, way, list(SIZES)[(row + column) % 3]) for row, flow in enumerate(AIMS) for column, way in enumerate(WAYS)]
# What a change must pass within a quarter of an hour: what moves something, each once.
GATE = [("water", "dark"), ("schedule", "german"), ("pump", "keys"), ("stop", "blocked")]

GERMAN = {
    "Sprinkler": "Bewässerung", "Plants": "Pflanzen", "Pump": "Pumpe", "Zone to water": "Zone zum Wässern", "Water Zone 2 5 min": "Zone 2 5 min wässern", "New schedule": "Neuer Zeitplan",
    "Mon Wed Fri": "Mo Mi Fr", "starts": "beginnt", "Add": "Hinzufügen", "Look, Plants": "Ansehen, Pflanzen", "week": "Woche", "Enter": "Anmelden",
    "On for some minutes, then off": "Für einige Minuten ein, dann aus", "Note on this session": "Notiz zu dieser Sitzung", "Log": "Protokoll", "System": "System",
    "New client…": "Neues Gerät …", "Support file": "Datei für Hilfe", "live": "live", "connected, slower": "verbunden, langsamer", "confirmed": "bestätigt",
}
# Milliseconds to the first byte, and bytes a second, both ways.
SLOW = {"offline": False, "latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 50_000}
MOST_TABS = 300
IS_DARK = """() => { const [, ...parts] = /(\\d+), (\\d+), (\\d+)/.exec(getComputedStyle(document.documentElement).backgroundColor); return parts.every((part) => part < 64); }"""
# Whether whoever goes by the keys sees what they have come to: it has a mark, and nothing lies over it.
IS_SEEN = """(one) => { const box = one.getBoundingClientRect(), top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  return one.matches(":focus-visible") && (one.contains(top) || top?.closest("label")?.control === one); }"""


class Hands:
    """Somebody with a mouse, who speaks the page's language. `count`: how many actions they have taken."""

    def __init__(self, page, way):
        self.page, self.is_german, self.count = page, way == "german", 0

    def said(self, text):
        """What the page calls it."""
        return GERMAN[text] if self.is_german else text

    def press(self, one):
        self.count += 1
        one.click()

    def fill(self, one, text, then=None):
        self.count += 1
        one.fill(text)
        if then:
            one.press(then)

    def choose(self, one, label):
        self.count += 1
        one.select_option(label=label)

    def stop(self):
        self.press(self.page.locator("#e-stop"))

    def go(self, view, words):
        """By its link in the bar, or at the foot, where the bar of a telephone has it behind "More"."""
        link = self.page.locator(f"#systems a[href='#/{view}']")
        expect(link).not_to_have_attribute("hidden", re.compile(".*"))
        self.press(link if link.is_visible() else self.page.locator("footer").get_by_role("link", name=self.said(words), exact=True))


class Finger(Hands):
    def press(self, one):
        self.count += 1
        one.tap()


class Keys(Hands):
    """Nothing but the keyboard. `tabs`: how often the focus has gone on."""

    tabs = 0

    def reach(self, one):
        expect(one).to_be_enabled()
        for _ in range(MOST_TABS):
            if one.evaluate("one => one === document.activeElement"):
                until(lambda: one.evaluate(IS_SEEN))
                return
            self.page.keyboard.press("Tab")
            self.tabs += 1
        raise AssertionError(f"{one} is not reached by Tab")

    def press(self, one):
        self.count += 1
        self.reach(one)
        self.page.keyboard.press("Space" if one.evaluate("one => one.type === 'checkbox'") else "Enter")

    def fill(self, one, text, then=None):
        self.count += 1
        self.reach(one)
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type(text)
        if then:
            self.page.keyboard.press(then)

    def choose(self, one, label):
        self.count += 1
        self.reach(one)
        for _ in range(one.evaluate("one => one.options.length")):
            if one.evaluate("one => one.selectedOptions[0].label") == label:
                return
            self.page.keyboard.press("ArrowDown")
        raise AssertionError(f"{label} is not reached by the arrow keys")

    def stop(self):
        self.count += 1
        self.page.keyboard.press("!")


def hands_of(page, way, size):
    return (Keys if way == "keys" else Finger if size == "phone" else Hands)(page, way)


def options_of(way, size):
    width, height = SIZES[size]
    return {"viewport": {"width": width, "height": height}, "has_touch": size == "phone" and way != "keys", "color_scheme": "dark" if way == "dark" else "light",
            "locale": "de-DE" if way == "german" else "en-GB"}


def prepare(page, way):
    if way == "blocked":
        page.add_init_script(NO_SOCKETS)


def look(page, way):
    """The page is as it was asked for, and slow from now on if it is to be."""
    assert page.evaluate("document.documentElement.lang") == ("de" if way == "german" else "en")
    assert page.evaluate(IS_DARK) == (way == "dark")
    if way == "slow":
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", SLOW)


@pytest.fixture
def garden(own_daemon):
    daemon = own_daemon(more="pump: {}\n")
    assert daemon.post("/api/plants", {"name": "Basil", "sensors": ["0x36"]}).status_code == 201
    return daemon


@pytest.fixture
def visit(enter, garden):
    """`visit(way, size, view)`: somebody who is logged in."""
    def visit(way, size, view=""):
        options = options_of(way, size)
        window = options.pop("viewport")
        page = enter(garden, view=view, prepare=lambda page: prepare(page, way), link=re.compile("^(live|connected, slower)$"), **window, **options)
        look(page, way)
        return hands_of(page, way, size)
    return visit


# ---- the flows: `hands` are on the overview, unless they may be anywhere


def water(hands, daemon):
    sprinkler = tile(hands.page, hands.said("Sprinkler"))
    hands.choose(sprinkler.get_by_label(hands.said("Zone to water")), "Zone 2")
    hands.press(sprinkler.get_by_role("button", name=hands.said("Water Zone 2 5 min")))
    until(lambda: 240 < (daemon.get("/api/sprinkler").json()["zones"][1]["remainingSec"] or 0) <= 300)
    expect(sprinkler.locator(".now")).to_contain_text("Zone 2")


def schedule(hands, daemon):
    hands.press(hands.page.locator("#systems a[href='#/sprinkler']"))
    hands.press(hands.page.locator("#sprinkler summary", has_text=hands.said("New schedule")))
    draft = hands.page.locator("#schedule-new")
    hands.press(draft.get_by_role("button", name=hands.said("Mon Wed Fri")))
    hands.fill(draft.get_by_label(hands.said("starts"), exact=True), "06:30")
    for zone in "Zone 1", "Zone 2":
        hands.press(draft.get_by_label(zone, exact=True))
    expect(hands.page.locator("#schedule-name")).to_have_value("Schedule 1")
    hands.press(draft.get_by_role("button", name=hands.said("Add"), exact=True))
    (made,) = until(lambda: daemon.get("/api/schedules").json()["schedules"])
    assert (made["days"], made["startTimes"], [step["zoneId"] for step in made["zones"]], made["isEnabled"]) == (["Mon", "Wed", "Fri"], ["06:30"], [1, 2], True)
    expect(hands.page.locator("#schedule-list .schedule")).to_have_count(1)
    expect(hands.page.locator("#schedule-name")).to_have_value("Schedule 2")


def week(hands, _):
    hands.press(tile(hands.page, hands.said("Plants")).get_by_role("button", name=hands.said("Look, Plants")))
    chosen = hands.page.locator("#plant-axis").get_by_role("button", name=hands.said("week"), exact=True)
    hands.press(chosen)
    expect(chosen).to_have_attribute("aria-pressed", "true")
    hands.page.reload()
    expect(chosen).to_have_attribute("aria-pressed", "true")
    assert hands.page.evaluate("plantAxis.span") == 7 * 86400_000


def pump(hands, daemon):
    hands.press(tile(hands.page, hands.said("Pump")).get_by_role("link", name=hands.said("Pump")))
    hands.press(hands.page.get_by_role("group", name=hands.said("On for some minutes, then off")).get_by_role("button", name="10 min"))
    hands.fill(hands.page.get_by_label(hands.said("Note on this session")), "left ankle", then="Enter")
    until(lambda: daemon.get("/api/pump/sessions").json()["sessions"][0]["note"] == "left ankle")
    assert 540 < daemon.get("/api/pump").json()["untilOffS"] <= 600
    expect(hands.page.locator("#pump-log")).to_contain_text("left ankle")


def last(hands, _):
    """On the overview without any action, and at the top of the view, on a telephone above its zones."""
    seen = tile(hands.page, hands.said("Sprinkler")).locator(".last")
    expect(seen).to_contain_text("Zone 3")
    expect(seen).to_be_in_viewport(ratio=1)
    hands.press(hands.page.locator("#systems a[href='#/sprinkler']"))
    window = hands.page.viewport_size
    newest = hands.page.locator("#sprinkler-newest" if window["width"] < 500 else "#sprinkler-last > *").first
    expect(newest).to_contain_text("Zone 3")
    # The list is made anew with each state: what is measured is measured while it is there.
    expect(newest).to_be_visible()
    assert newest.evaluate("one => one.getBoundingClientRect().y") < window["height"] * 0.8


def log(hands, daemon):
    hands.go("logs", "Log")
    daemon.post("/api/zone/1/on", {"minutes": 1})
    expect(hands.page.locator("#logs .lines li", has_text="system=sprinkler").first).to_be_visible()


def settings(hands, _):
    hands.go("system", "System")
    expect(hands.page.get_by_label("motors.speed_limit")).to_have_value("100.0")


def tokens(hands, daemon):
    daemon.create_token("read", "kitchen")
    hands.go("system", "System")
    expect(hands.page.locator("#clients tr", has_text="kitchen")).to_be_visible()
    expect(hands.page.locator("#client-new summary", has_text=hands.said("New client…"))).to_be_visible()


def support(hands, daemon):
    with hands.page.expect_download() as download:
        hands.press(hands.page.locator("footer").get_by_role("link", name=hands.said("Support file")))
    text = Path(download.value.path()).read_text()
    assert "==== configuration" in text and daemon.admin not in text


def stop(hands, daemon):
    assert daemon.post("/api/zone/1/on", {"minutes": 5}).status_code == 200
    hands.stop()
    expect(hands.page.locator("#e-stop-said")).to_have_text(hands.said("confirmed"))
    assert robot(daemon)["state"] == daemon.get("/api/sprinkler").json()["state"] == "emergencyStopped"


@pytest.mark.parametrize("flow, way, size", [
    pytest.param(flow, way, size, marks=pytest.mark.protocol if (flow, way) in GATE else ()) for flow, way, size in FLOWS if flow != "phone"])
def test_what_people_do_often_takes_few_actions(visit, garden, flow, way, size):
    if flow == "last":
        assert garden.post("/api/zone/3/on", {"seconds": 60}).status_code == 200
        until(lambda: (garden.get("/api/sprinkler").json()["zones"][2]["remainingSec"] or 60) < 58)
        assert garden.post("/api/zone/3/off").status_code == 200
    # What is one press away from anywhere is so from a view that is long.
    hands = visit(way, size, "plants" if AIMS[flow] == 1 and flow != "last" else "")
    globals()[flow](hands, garden)
    print(flow, way, size, hands.count, getattr(hands, "tabs", ""))
    assert hands.count <= AIMS[flow]


@pytest.mark.parametrize("flow, way, size", [one for one in FLOWS if one[0] == "phone"])
def test_a_telephone_comes_in_by_an_address_and_a_press(browser, own_daemon, flow, way, size):
    """Where the address comes from, a picture on the page or in the terminal: test_clients.py."""
    daemon = own_daemon()
    made = daemon.post("/api/tokens", {"name": "Anna", "page": daemon.url + "/"}).json()
    context, failures = browser.new_context(service_workers="block", **options_of(way, size)), []
    page = context.new_page()
    page.on("pageerror", lambda error: failures.append(str(error)))
    prepare(page, way)
    hands = hands_of(page, way, size)
    hands.count += 1
    page.goto(made["ticket"]["address"])
    look(page, way)
    hands.press(page.get_by_role("button", name=hands.said("Enter")))
    live = hands.said("connected, slower" if way == "blocked" else "live")
    expect(page.locator("#link")).to_have_text(live)
    assert hands.count <= AIMS[flow]
    # Its token is its own, and remembered.
    page.reload()
    expect(page.locator("#link")).to_have_text(live)
    assert daemon.get("/api/robot", token=page.evaluate("token")).status_code == 200 and daemon.admin != page.evaluate("token")
    assert failures == []
    context.close()
