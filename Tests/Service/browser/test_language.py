"""The page in German: for a browser that asks for it, or once somebody has chosen it."""
import re

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from german import HOLE, WHOLES, Page, refusals, sentences, shown
from german import NAMES as GIVEN
from others import go, until
from test_views import VIEWS, busy  # noqa: F401

# What people, boards and this test have named, and what is the same in both languages.
NAMES = re.compile(
    r"basil|fern|mornings|zone \d|garden|herbs|lawn|adc-\d|0x3\d|seesaw|ads1115|tactus|[\w.-]+\.(js|yaml|csv)|supervisor|https?:|rtsp:|GPIO|UDP|MJPEG|MP4|WebRTC|"
    # dates and times, which the browser writes
    r"(sonntag|montag|dienstag|mittwoch|donnerstag|freitag|samstag|so|mo|di|mi|do|fr|sa)\b\.?|januar|februar|märz|april|mai|juni|juli|august|(sept|okto|novem|dezem)ber|(jan|feb|mär|apr|jun|jul|aug|sep|sept|okt|nov|dez)\.|"
    r"roboter|protokoll|pflanzen|bewässerung|pumpe|beine|übersicht|diagnose|hilfe|mcp3008|spi-0|p99|p50|max|API|Hz|CSV|Name|System|Video|Jitter|Token|[a-z]+/[a-z]+|[a-z]+\.[a-z]+|Utc|UTC|HH:MM", re.I)


def german(enter, daemon, **options):
    return enter(daemon, locale="de-DE", bypass_csp=True, **options)


def test_every_view_is_german_for_a_browser_that_asks_for_it_and_fits_on_a_narrow_phone(enter, busy):  # noqa: F811
    page = german(enter, busy, width=360, height=740)
    assert page.evaluate("document.documentElement.lang") == "de"
    page.add_style_tag(content=".old h2 small, .old > :not(h2) { opacity: 1 !important; filter: none !important; }")
    for view in (name for name in VIEWS if name != "fan"):
        go(page, view)
        for summary in page.locator("summary:visible").all():
            summary.click()
        page.wait_for_timeout(1200)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, view
        found = Axe().run(page).response["violations"]
        assert [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found] == [], view
    left = [text for text in page.evaluate("[...untranslated]") if re.search("[A-Za-z]{3}", NAMES.sub("", text))]
    assert left == []
    expect(page.locator("#systems a[href='#/sprinkler'] span")).to_have_text("Bewässerung")
    expect(page.locator("#e-stop")).to_contain_text("NOT-AUS")
    assert page.title().endswith("· Tactus")


def test_a_chosen_language_holds_over_a_reload_and_an_english_browser_gets_english(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, locale="en-GB", bypass_csp=True)
    assert page.evaluate("document.documentElement.lang") == "en" and page.evaluate("untranslated.size") == 0
    expect(page.locator("#well")).to_have_text("All is well.")
    page.click("#language")
    expect(page.locator("#well")).to_have_text("Alles in Ordnung.")
    page.reload()
    expect(page.locator("#well")).to_have_text("Alles in Ordnung.")
    expect(page.locator("#link")).to_have_text("live")
    page.click("#language")
    expect(page.locator("#well")).to_have_text("All is well.")


def test_a_screen_reader_hears_a_translated_text_once(enter, own_daemon):
    page = german(enter, own_daemon())
    go(page, "")
    expect(page.locator("#well")).to_have_text("Alles in Ordnung.")
    page.evaluate("""() => {
      window.said = 0;
      for (const place of document.querySelectorAll("[role=status], [role=alert]"))
        new MutationObserver((records) => { window.said += records.length; }).observe(place, { childList: true, subtree: true, characterData: true });
    }""")
    page.wait_for_timeout(2500)
    assert page.evaluate("window.said") <= 2, "live regions are written only when something has changed"


def test_schedules_by_weekdays_are_made_and_changed_in_german(enter, own_daemon):
    daemon = own_daemon()
    page = german(enter, daemon, view="sprinkler")

    def days():
        return [one["days"] for one in daemon.get("/api/schedules").json()["schedules"]]

    page.locator("#schedule-draft summary").first.click()
    draft = page.locator("#schedule-new")
    draft.get_by_role("button", name="Mo Mi Fr").click()
    draft.get_by_role("button", name="Di", exact=True).click()
    draft.get_by_label("Zone 1", exact=True).check()
    page.locator("#schedule-add").click()
    until(days)
    assert days() == [["Mon", "Tue", "Wed", "Fri"]]
    card = page.locator("#schedule-list .schedule")
    expect(card).to_contain_text("Mo Di Mi Fr  06:00")
    card.locator("summary b").click()
    expect(card.get_by_role("button", name="Mi", exact=True)).to_have_attribute("aria-pressed", "true")
    card.get_by_role("button", name="Wochenende").click()
    card.get_by_role("button", name="Do", exact=True).click()
    card.get_by_role("button", name="Speichern").click()
    until(lambda: days() == [["Thu", "Sat", "Sun"]])


def test_a_recording_is_begun_and_ended_in_german(enter, daemon):
    """What the page asks for, of a camera that this test puts beside a daemon without one."""
    page, asked = german(enter, daemon), []

    def answer(route):
        asked.append(route.request.url.split("/api/")[1])
        route.fulfill(json={"ok": True})

    page.route("**/api/video/record*", answer)
    page.route("**/api/video/record/*", answer)
    event = {
        "type": "video", "system": "video", "state": "idle", "reason": "", "picture": {"width": 320, "height": 240}, "statistics": {}, "rate": {"cause": "configured"}, "recordFolder": "/films",
        "viewers": {"rtsp": 0, "whep": 0, "mp4": 0, "mjpeg": 0}, "rtsp": {"listening": False, "cause": None}, "detection": {"state": "off", "objects": []}, "elements": None, "recording": None,
    }
    for recording, word, path in ((None, "Aufnehmen", "video/record"), ({"state": "running", "path": "a.mp4", "bytes": 0, "cause": None}, "Aufnahme beenden", "video/record/stop")):
        page.evaluate("event => showVideo(event)", {**event, "recording": recording})
        expect(page.locator("#video-record")).to_have_text(word)
        page.evaluate("byId('video-record').click()")
        until(lambda: page.wait_for_timeout(20) or asked)
        assert asked == [path]
        asked.clear()


def test_what_the_water_does_wrong_is_said_in_german(enter, own_daemon):
    page = german(enter, own_daemon())
    zone, german_zone = "zone 3 (Roses)", "Zone 3 (Roses)"
    for words, expected in {
        f"{zone} is open and no water flows": f"{german_zone} ist offen, und es fließt kein Wasser",
        f"{zone} is open and too much water flows": f"{german_zone} ist offen, und es fließt zu viel Wasser",
        "water flows although every valve is closed": "es fließt Wasser, obwohl jedes Ventil geschlossen ist",
        f"{zone} is open and less water flows than it should: 4.0 l/min, at least 7.0 (set)":
            f"{german_zone} ist offen, und es fließt zu wenig Wasser: 4,0 l/min, mindestens 7,0 l/min (gesetzt)",
        f"{zone} is open and more water flows than it should: 9.0 l/min, at most 7.0 (learnt 07:50 from 5 runs)":
            f"{german_zone} ist offen, und es fließt zu viel Wasser: 9,0 l/min, höchstens 7,0 l/min (gelernt 07:50 aus 5 Läufen)",
    }.items():
        assert page.evaluate("words => translated(words)", words) == expected


def test_of_a_text_of_which_a_part_is_not_known_nothing_is_translated_and_it_is_told(enter, own_daemon):
    page = german(enter, own_daemon())
    for words in ("watered, and the moon is new", "stopped: nobody has heard of this", "Water the moon after it; dry", "dry. Never said before."):
        assert page.evaluate("words => translated(words)", words) == words
        assert page.evaluate("words => untranslated.has(words)", words)


def test_a_name_that_people_have_given_does_not_keep_a_sentence_from_german(enter, own_daemon):
    daemon = own_daemon()
    zones = daemon.get("/api/zones").json()["zones"]
    zones[2]["name"] = "Dry Roses"
    assert daemon.request("PUT", "/api/zones", json={"zones": zones}).status_code == 200
    page = german(enter, daemon)
    expect(page.locator("#zone-leds")).to_contain_text("Dry Roses")
    assert page.evaluate("translated('Dry Roses 05:00 (04:10 left) is open, and no more may be.')") == "Dry Roses 05:00 (noch 04:10) ist offen, und mehr dürfen es nicht sein."


def test_the_page_and_the_check_without_a_browser_know_the_same_german(enter, own_daemon):
    """test_german.py holds what is shown against the dictionaries by itself: it is right only if it looks as the page does."""
    page, check = german(enter, own_daemon()), Page()
    for view in "help", "logs", "parts":  # which bring their own German
        page.evaluate("view => { location.hash = '#/' + view; }", view)
        expect(page.locator(f"#{view}")).to_be_visible()
    only = "names.clear(); for (const name of given) names.add(name); translations.clear();"  # what this daemon has told has names, too
    said = {*WHOLES, *(text for text in shown() if HOLE not in text), *(text for text in sentences() if HOLE not in text)}
    texts = sorted(check.worded(text.strip()) for text in said)
    assert page.evaluate("([given, texts]) => { " + only + " return texts.map(inOther); }", [sorted(GIVEN), texts]) == [check.known(text) for text in texts]
    messages = sorted(refusals(), key=str)
    assert page.evaluate("([given, all]) => { " + only + " return all.map(([message, field]) => inPlainWords({ message, field })); }", [sorted(GIVEN), messages]) == [check.in_plain_words(*one) for one in messages]


def test_after_an_emergency_stop_the_whole_banner_is_german(enter, own_daemon):
    daemon = own_daemon(more="pump: {}\n")
    page = german(enter, daemon, view="robot")
    page.locator("#e-stop").click()
    expect(page.locator("#banner")).to_contain_text("Not-Aus")
    expect(page.locator("#banner")).to_contain_text("Auch angehalten: ")
    assert not re.search(r"\b(?:by|the|is|reset|stopped|go|off|confirmed)\b", page.inner_text("#banner"), re.I)


def test_ages_are_said_as_people_say_them(enter, own_daemon):
    page = enter(own_daemon())
    hour = 3_600_000
    for age, words in {1: "just now", 12_000: "12 s ago", 23 * hour: "23 h ago", 30 * hour: "yesterday", 72 * hour: "3 days ago", 400 * 24 * hour: "over a year ago", 800 * 24 * hour: "2 years ago"}.items():
        assert page.evaluate("age => ageOf(age)", age) == words
    assert "T05:50" not in page.evaluate("ours('learnt 2026-07-01T05:50:00Z from 5 runs')")


def test_whose_a_connection_is_is_said_only_where_the_page_knows_it(enter, own_daemon):
    """The numbers of connections begin anew with each daemon, so a name that the page had before may be another's by now."""
    page = enter(own_daemon())
    until(lambda: page.wait_for_timeout(20) or page.evaluate("ownName !== null"))
    first = page.evaluate("ownName")
    other = "local client 4000000000"
    said = lambda name: page.evaluate("name => ours('emergency stop by ' + name)", name)
    assert [said(name) for name in (first, other)] == ["emergency stop by this page", "emergency stop by another page or program"]
    page.evaluate("socket.close()")
    until(lambda: page.wait_for_timeout(20) or page.evaluate("first => ownName !== first", first))
    assert said(page.evaluate("ownName")) == "emergency stop by this page"
    assert [said(name) for name in (first, "local client 7")] == ["emergency stop by a page or program"] * 2, "a former name, and a client of HTTP, may be the page's"
    assert said(other) == "emergency stop by another page or program"
    assert said("local client 0") == "emergency stop by somebody"


def test_a_refusal_is_said_in_words_and_its_message_is_where_the_pointer_rests(enter, own_daemon):
    page = enter(own_daemon(), view="sprinkler")
    for message, field, words in (("minutes: expected minutes, 0.02…1440, got 9999", "minutes", "Minutes: from 0.02 to 1440"),
                                  ("zones[2].minutes: expected a number 0.1…1440, got 0", "zones[2].minutes", "Zones 3, minutes: from 0.1 to 1440"),
                                  ("expected a token of scope control, got one of scope read", None, "This device may only look. Log in with one that may control"),
                                  ("no such route; GET /api/openapi.json lists them", None, "the controller does not understand this request")):
        assert page.evaluate("([message, field]) => inPlainWords({ message, field })", [message, field]) == words
    row = page.locator(".zone").first
    row.get_by_role("button", name="Another time").click()
    row.locator("input[type=number]").fill("9999")
    row.get_by_role("button", name="Run").click()
    said = row.locator(".say span")
    expect(said).to_contain_text("Minutes: ")
    expect(said).to_have_attribute("title", re.compile("^minutes: expected .+, got "))
