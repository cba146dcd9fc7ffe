"""The days of a time line and of the month, in the page's language and by the controller's clock, in weeks in which it is changed, too."""
import re

import pytest
from playwright.sync_api import expect

from daemon import Daemon

# A week from the date's noon, in Greenwich's time: the starts of its days in hours since `from`, by each zone's clock.
WEEKS = [
    ("Europe/Berlin", "2026-03-26T12:00:00Z", [11, 35, 59, 82, 106, 130, 154]),  # forward on the 29th
    ("Europe/Berlin", "2026-10-22T12:00:00Z", [10, 34, 58, 83, 107, 131, 155]),  # back on the 25th
    ("America/New_York", "2026-10-29T12:00:00Z", [16, 40, 64, 89, 113, 137, 161]),
    ("Asia/Kathmandu", "2026-03-26T12:00:00Z", [6.25 + 24 * day for day in range(7)]),
    ("America/Santiago", "2026-09-03T12:00:00Z", [16, 40, 64, 87, 111, 135, 159]),  # forward at the midnight before the 6th, of which the day begins at 01:00
]
ENGLISH = ["Fri", "Sat", "Sun", "Mon", "Tue", "Wed", "Thu"]  # the page speaks it where it has no better language
NAMES = {
    "en-US": ENGLISH, "de-DE": ["Fr", "Sa", "So", "Mo", "Di", "Mi", "Do"],
    "fr-FR": ENGLISH, "ar-EG": ENGLISH,
}

DRAW = """([zone, from]) => {
  setTimeZone(zone);
  const place = document.body.appendChild(element("div", null, { className: "timeline", id: "tried-line" })), begin = Date.parse(from), span = 7 * 86400000;
  drawTimeline(place, { lanes: [], from: begin, to: begin + span, now: begin + span / 2 });
  const days = [...place.querySelectorAll(".days span")].map((one) => [one.firstChild.data.trim(), Math.round(parseFloat(one.style.left) / 100 * span / 900000) / 4]);
  place.remove();
  return days;
}"""


@pytest.mark.parametrize("language", NAMES)
def test_a_week_has_its_days_where_they_begin(enter, daemon, language):
    page = enter(daemon, locale=language)
    for zone, begin, starts in WEEKS:
        days = page.evaluate(DRAW, [zone, begin])
        assert [at for _, at in days] == pytest.approx(starts), (zone, begin)
        assert [name for name, _ in days] == NAMES[language], (zone, begin)


def test_the_months_name_is_of_the_pages_language(enter, daemon):
    """A browser that speaks English, and a page that somebody has set to German."""
    page = enter(daemon, locale="en-US", view="sprinkler", prepare=lambda page: page.add_init_script("localStorage.setItem('language', 'de')"))
    expect(page.locator("#sprinkler-month th").first).to_have_text("Mo")
    assert page.evaluate("inWordsOf('2026-03-29', { month: 'long' })") == "März"


def test_a_date_of_another_year_than_the_controllers_has_the_year(enter, own_daemon):
    years = enter(own_daemon()).evaluate("""() => {
      const { now } = Date, before = timeZone, of = (date) => /20\\d\\d/.exec(dayAndTime(date))?.[0] ?? "";
      timeZone = "Europe/Berlin";
      Date.now = () => Date.parse("2026-12-31T22:30:00Z");
      const found = [of("2026-12-31T22:59:00Z"), of("2026-12-31T23:01:00Z"), of("2025-11-30T06:30:00Z")];
      Date.now = () => Date.parse("2026-12-31T23:30:00Z"); // which is 2027 there
      found.push(of("2026-12-31T22:59:00Z"), of("2026-12-31T23:01:00Z"));
      Date.now = now;
      timeZone = before;
      return found;
    }""")
    assert years == ["", "2027", "2025", "2026", ""]


NOON = "Date.now = () => Date.parse('2026-11-30T12:00:00Z');"


@pytest.mark.parametrize("has_sprinkler, zone, noon", [(True, "Europe/Berlin", "13:00:00"), (False, "Asia/Kathmandu", "17:45:00")])
def test_times_are_the_controllers_from_the_first_line_on(enter, tmp_path, has_sprinkler, zone, noon):
    """In a browser that lives elsewhere: by the sprinkler's zone before any state of it has come, and by the machine's where there is no sprinkler."""
    daemon = Daemon(tmp_path, environment={"TZ": "Asia/Kathmandu"})
    if not has_sprinkler:
        text = re.sub(r"(?m)^sprinkler:\n(?:  .*\n)+", "", daemon.config.read_text(), count=1)
        daemon.config.write_text(re.sub(r"(?m)^  watering: .*\n", "", text))

    def prepare(page):
        page.add_init_script(NOON)
        page.route_web_socket("**/ws", without_sprinkler)

    with daemon:
        page = enter(daemon, locale="en-GB", timezone_id="America/Los_Angeles", view="diagnostics", prepare=prepare)
        expect(page.locator("#time-zone")).to_have_text(f"Times are those of {zone}.")
        expect(page.locator("#events li").last).to_contain_text("connected")
        assert page.locator("#events li").last.text_content().startswith(noon)


def without_sprinkler(socket):
    """Passes on everything but the sprinkler's states."""
    server = socket.connect_to_server()
    server.on_message(lambda message: None if '"system":"sprinkler"' in str(message) else socket.send(message))
