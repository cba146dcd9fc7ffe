"""The sprinkler's view: the week and its bars, the month and its reasons, drafts of schedules, water by month, the log."""
import re
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from playwright.sync_api import expect

from daemon import Daemon
from others import go, until
from test_views import SMALL

ZONE = ZoneInfo("Europe/Berlin")
# What a draft would do, which changes nothing.
PREVIEW = re.compile(r"/api/schedules/preview\?only=draft")


def today():
    return datetime.now(ZONE).date()


def add(daemon, **changes):
    """A schedule of every day at 06:30, which waters zone 1 for 20 minutes."""
    answer = daemon.post("/api/schedules", {"name": "Mornings", "days": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
                                            "startTimes": ["06:30"], "zones": [{"zoneId": 1, "minutes": 20}], **changes})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def starts(daemon, number):
    return daemon.get(f"/api/schedules/{number}").json()["startTimes"]


def next_week(page, count=7):
    """The bars of what is planned in it, which is to come as a whole."""
    page.get_by_role("button", name="Week after").click()
    bars = page.locator("#sprinkler-week i.planned")
    expect(bars).to_have_count(count)
    return bars


def drag(page, bar, by):
    # A look that comes at that moment draws the week anew.
    until(lambda: bar.evaluate("bar => { bar.scrollIntoView({ block: 'center' }); return bar.isConnected; }"))
    box = bar.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + by / 2, y)
    page.mouse.move(x + by, y)
    page.mouse.up()


def changes_of(page):
    """What the page asks for that is no mere look."""
    asked = []
    page.on("request", lambda request: request.method != "GET" and not PREVIEW.search(request.url) and asked.append((request.method, request.url.split("/api/")[1])))
    return asked


def test_a_bar_that_is_dragged_moves_its_start_when_somebody_saves_it(enter, own_daemon):
    daemon = own_daemon()
    start, moved = "06:30", "09"
    number = add(daemon, startTimes=[start])
    page = enter(daemon, view="sprinkler")
    asked = changes_of(page)
    bars = next_week(page)
    lane = page.evaluate("document.querySelector('#sprinkler-week .lane').getBoundingClientRect().width")
    drag(page, bars.nth(1), lane / 7 / 24 * 3)  # three hours of seven days
    expect(page.locator("#sprinkler-week i.moved")).to_have_count(7)
    line = page.locator("#week-moves")
    expect(line).to_contain_text(re.compile(rf"Mornings: {start} → {moved}:\d[05] \(Mon Tue Wed Thu Fri Sat Sun\), not saved yet"))
    assert asked == [] and starts(daemon, number) == [start]
    line.get_by_role("button", name="Undo").click()
    expect(page.locator("#sprinkler-week i.moved")).to_have_count(0)
    expect(line).to_be_empty()
    drag(page, bars.nth(1), lane / 7 / 24 * 3)
    line.get_by_role("button", name="Save").click()
    until(lambda: re.match(moved + ":", starts(daemon, number)[0]))
    assert asked == [("PUT", f"schedules/{number}")]
    expect(bars.first).to_have_attribute("title", re.compile(f"{int(moved) % 12:02}:"))
    # What was saved can be taken back, too.
    page.locator("#sprinkler .say", has_text="Mornings starts at").get_by_role("button", name="Undo").click()
    until(lambda: starts(daemon, number) == [start])


def test_a_start_that_is_moved_says_what_the_daemon_would_do(enter, own_daemon):
    daemon = own_daemon()
    number = add(daemon)
    add(daemon, name="Lawn", startTimes=["09:30"], zones=[{"zoneId": 2, "minutes": 30}])
    page = enter(daemon, view="sprinkler")
    asked = changes_of(page)
    bars, line = next_week(page, 14), page.locator("#week-moves")
    lane = page.evaluate("document.querySelector('#sprinkler-week .lane').getBoundingClientRect().width")
    drag(page, bars.nth(1), lane / 7 / 24 * 3)
    moves = line.locator("li")
    expect(moves).to_have_count(4)
    expect(moves.nth(1)).to_contain_text(re.compile(r"09:\d[05] .* Zone 1 20:00$"))
    # Behind the other schedule's.
    page.get_by_label("Start of Mornings").fill("09:35")
    expect(moves.nth(1)).to_have_text(re.compile(r"09:35.* may wait until 10:00.* Zone 1 20:00$"))
    # What is set meanwhile concerns it, too.
    daemon.post("/api/rain-delay", {"hours": 336})
    page.evaluate("loadSchedules()")
    expect(moves.nth(1)).to_contain_text("Zone 1 not watered: rain delay")
    page.route(PREVIEW, lambda route: route.abort())
    page.get_by_label("Start of Mornings").fill("10:00")
    expect(line).to_contain_text("No preview: no answer")
    page.unroute(PREVIEW)
    page.get_by_label("Start of Mornings").fill("10:05")
    expect(moves.nth(1)).to_contain_text("10:05")
    assert asked == [] and starts(daemon, number) == ["06:30"]
    line.get_by_role("button", name="Save").click()
    until(lambda: starts(daemon, number) == ["10:05"])
    expect(moves).to_have_count(0)


def test_the_week_needs_no_mouse(enter, own_daemon):
    daemon = own_daemon()
    number = add(daemon, zones=[{"zoneId": 1, "minutes": 20}, {"zoneId": 2, "minutes": 5}])
    daemon.post("/api/zone/3/on", {"minutes": 12})
    daemon.post("/api/zone/3/off")
    page = enter(daemon, view="sprinkler")
    week = page.locator("#sprinkler-week")
    expect(week.locator("i:not(.planned)")).to_have_count(1)
    week.focus()
    page.keyboard.press("End")  # zone 3's lane is below those where all starts are
    expect(week.locator("i[aria-selected=true]")).to_have_count(1)
    page.keyboard.press("End")
    assert week.get_attribute("aria-activedescendant") == week.locator("i[aria-selected=true]").get_attribute("id")
    page.keyboard.press("Enter")
    expect(page.locator("#week-bar")).to_contain_text(re.compile(r"Zone 3 · .* of 12:00 · stopped by hand · asked by hand"))
    page.keyboard.press("Enter")  # on its ×
    expect(week).to_be_focused()
    page.get_by_role("button", name="Week after").focus()
    page.keyboard.press("Enter")
    expect(week.locator("i.planned")).to_have_count(14)
    week.focus()
    page.keyboard.press("Home")
    expect(week.locator("i[aria-selected=true]")).to_have_class("planned")
    page.keyboard.press("ArrowDown")
    expect(week.locator(".lane").nth(1).locator("i[aria-selected=true]")).to_have_count(1)
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    time = page.get_by_label("Start of Mornings")
    expect(time).to_be_focused()
    time.fill("07:15")
    expect(page.locator("#week-moves")).to_contain_text("06:30 → 07:15")
    save = page.get_by_role("button", name="Save Mornings")
    save.focus()
    page.keyboard.press("Enter")
    until(lambda: starts(daemon, number) == ["07:15"])


def test_a_start_that_the_page_may_not_change_cannot_be_dragged(enter, own_daemon):
    daemon = own_daemon()
    add(daemon)
    page = enter(daemon, view="sprinkler", token=daemon.create_token("read", name="look"))
    drag(page, next_week(page).nth(1), 40)
    expect(page.locator("#week-moves")).to_be_empty()


def test_a_bar_that_is_dragged_to_another_day_changes_that_day_of_the_rule(enter, tmp_path):
    daemon = Daemon(tmp_path)
    daemon.config.write_text(daemon.config.read_text().replace("  time_zone: Europe/Berlin\n", "  time_zone: Europe/Berlin\n  latitude: 52.5\n  longitude: 13.4\n"))
    with daemon:
        number = add(daemon, days=["Mon", "Wed"], startTimes=["06:30", "sunset+10"])
        page = enter(daemon, view="sprinkler")

        def rule():
            made = daemon.get(f"/api/schedules/{number}").json()
            return made["days"], made["startTimes"]

        bars, line = next_week(page, 4), page.locator("#week-moves")
        lane = page.evaluate("document.querySelector('#sprinkler-week .lane').getBoundingClientRect().width")
        drag(page, bars.nth(0), lane / 7 * 3)
        # All that starts on that day goes with it, at its own time.
        expect(page.locator("#sprinkler-week i.moved")).to_have_count(2)
        expect(line).to_contain_text("Mornings: Mon → Thu (Mon Wed), not saved yet")
        assert rule() == (["Mon", "Wed"], ["06:30", "sunset+10"])
        line.get_by_role("button", name="Save").click()
        until(lambda: rule() == (["Wed", "Thu"], ["06:30", "sunset+10"]))
        page.locator("#sprinkler .say", has_text="Mornings starts at").get_by_role("button", name="Undo").click()
        until(lambda: rule()[0] == ["Mon", "Wed"])
        # Without a mouse, and of a start by the sun, which has no time to change.
        week = page.locator("#sprinkler-week")
        expect(bars.first).to_have_attribute("title", re.compile("^Mon"))
        week.focus()
        page.keyboard.press("Home")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        expect(page.locator("#week-bar")).to_contain_text("starts by the sun")
        page.get_by_label("Weekday, Mornings").select_option("Sun")
        expect(line).to_contain_text("Mornings: Mon → Sun (Mon Wed), not saved yet")


def test_a_rule_without_weekdays_keeps_its_days(enter, own_daemon):
    daemon = own_daemon()
    add(daemon, days=None, dayParity="odd")
    page = enter(daemon, view="sprinkler")
    page.get_by_role("button", name="Week after").click()
    bars = page.locator("#sprinkler-week i.planned")
    expect(bars.first).to_be_visible()
    # The week is drawn anew when what was watered comes.
    lane = until(lambda: page.wait_for_timeout(20) or page.locator("#sprinkler-week .lane").first.bounding_box())["width"]
    drag(page, bars.first, lane / 7 * 2)
    expect(page.locator("#week-moves")).to_contain_text("Mornings: 06:30 → 23:55 (odd days), not saved yet")


def test_a_start_by_the_sun_is_in_words_in_either_language(enter, tmp_path):
    daemon = Daemon(tmp_path)
    daemon.config.write_text(daemon.config.read_text().replace("  time_zone: Europe/Berlin\n", "  time_zone: Europe/Berlin\n  latitude: 52.5\n  longitude: 13.4\n"))
    with daemon:
        add(daemon, days=["Mon"], startTimes=["06:30", "sunrise-20", "sunset+600"])
        for locale, words in (("en-GB", "Mon  06:30, 20 min before sunrise, 600 min after sunset  next "), ("de-DE", "Mo  06:30, 20 min vor Sonnenaufgang, 600 min nach Sonnenuntergang  ")):
            page = enter(daemon, view="sprinkler", locale=locale)
            until(lambda: words in page.locator("#schedule-list summary small").text_content())


def test_what_was_saved_or_removed_comes_back_by_undo(enter, own_daemon):
    daemon = own_daemon()
    first, second = add(daemon, name="First", season={"from": "04-01", "to": "10-15"}), add(daemon, name="Second", priority=3)

    def kept(*members):
        return [{name: value for name, value in one.items() if name not in ("id", "nextStartISO", *members)} for one in daemon.get("/api/schedules").json()["schedules"]]

    before = kept()
    page = enter(daemon, view="sprinkler")
    card = page.locator("#schedule-list .schedule").nth(0)
    card.locator("summary b").click()
    card.get_by_text("Rain, season, cycles, order").click()
    card.get_by_label("alias").fill("lawn")
    card.get_by_label("only from").fill("")
    card.get_by_label("to", exact=True).fill("")
    card.get_by_role("button", name="Sun").click()
    card.get_by_role("button", name="Save").click()
    said = card.locator(".say", has_text="First is saved.")
    expect(said).to_be_visible()
    changed = daemon.get(f"/api/schedules/{first}").json()
    assert (changed["alias"], changed["season"], changed["days"]) == ("lawn", None, ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat"])
    said.get_by_role("button", name="Undo").click()
    until(lambda: kept() == before)
    card.get_by_role("button", name="Remove").click()
    card.get_by_role("button", name="Remove it").click()
    until(lambda: [one["name"] for one in kept()] == ["Second"])
    page.locator("#sprinkler .say", has_text="First is removed.").get_by_role("button", name="Undo").click()
    # In its place, too.
    until(lambda: kept() == before)
    assert daemon.get("/api/schedules").json()["schedules"][1]["id"] == second


def test_a_plan_that_is_not_known_is_not_called_empty(enter, own_daemon):
    daemon = own_daemon()
    assert daemon.post("/api/schedules", {
        "name": "Mornings", "days": ["Mon", "Wed"], "startTimes": ["06:00"], "isEnabled": True, "zones": [{"zoneId": 1, "minutes": 10}]}).status_code == 201
    page = enter(daemon, prepare=lambda page: page.route("**/api/schedules/preview*", lambda route: route.abort()))
    go(page, "sprinkler")
    expect(page.locator("#schedule-preview")).to_contain_text("What is planned is not known")
    page.unroute("**/api/schedules/preview*")
    expect(page.locator("#schedule-preview li")).to_have_count(5)
    expect(page.locator("#schedule-preview li").first).to_contain_text("Mornings")


def test_what_is_not_there_yet_says_so_and_nothing_moves_when_it_comes(enter, own_daemon):
    waiting = []

    def prepare(page):
        page.route(re.compile(r"/api/(log\?|schedules)"), lambda route: waiting.append(route) if waiting is not None else route.fallback())

    page = enter(own_daemon(), view="sprinkler", prepare=prepare)
    until(lambda: page.wait_for_timeout(20) or waiting)
    week, month, day = (page.locator(place) for place in ("#sprinkler-week", "#sprinkler-month", "#sprinkler-day"))
    expect(page.locator("#week-loading")).to_be_visible()
    for place in ("#sprinkler-last", "#sprinkler-day", "#schedule-list", "#schedule-preview", "#sprinkler-year", "#sprinkler-log"):
        expect(page.locator(place)).to_have_text("loading…")
    before = [place.bounding_box()["height"] for place in (week, month)]
    held, waiting = waiting, None
    for route in held:
        route.continue_()
    expect(page.locator("#week-loading")).to_be_hidden()
    expect(day).to_have_text("Nothing is planned: no schedule is on for this day.")
    assert [place.bounding_box()["height"] for place in (week, month)] == before


def log_of(page, runs):
    """The daemon's log, as the page hears it."""
    entry = {"runId": 1, "scheduleId": 1, "scheduleName": "Mornings", "isScheduled": True, "askedSec": 1200, "caller": None}

    def answer(route):
        found = [{**entry, **run, "zoneName": f"Zone {run['zoneId']}"} for run in runs]
        query = route.request.url
        if match := re.search(r"[?&]zone=(\d+)", query):
            found = [run for run in found if run["zoneId"] == int(match[1])]
        since, until_ = (re.search(name + r"=([^&]+)", query) for name in ("since", "until"))
        found = [run for run in found if (not since or run["startISO"] >= since[1]) and (not until_ or run["startISO"] < until_[1])]
        route.fulfill(json={"ok": True, "runs": sorted(found, key=lambda run: run["startISO"], reverse=True), "next": None})

    page.route(re.compile(r"/api/log\?"), answer)


def instant(date, time="05:30:00"):
    return f"{date}T{time}Z"


def month_of_runs(page):
    """Last month: a watered day, one of rain, one that was missed."""
    last = today().replace(day=1) - timedelta(days=20)
    days = [last.replace(day=day) for day in (6, 9, 10)]
    log_of(page, [
        {"zoneId": 1, "startISO": instant(days[0]), "ranSec": 1200, "outcome": "completed"},
        {"zoneId": 2, "startISO": instant(days[0], "05:50:00"), "ranSec": 600, "outcome": "stopped"},
        {"zoneId": 1, "startISO": instant(days[1]), "ranSec": 0, "outcome": "rainDelay"},
        {"zoneId": 1, "startISO": instant(days[2]), "ranSec": 0, "outcome": "missed"}])
    return days


def test_the_month_says_why_nothing_was_watered(enter, own_daemon):
    daemon = own_daemon()
    add(daemon, days=["Mon"])
    days = []
    page = enter(daemon, view="sprinkler", prepare=lambda page: days.extend(month_of_runs(page)))
    month, day = page.locator("#sprinkler-month"), page.locator("#sprinkler-day")
    expect(month.locator(".today")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Month before").click()
    cells = [month.locator(f"[data-date='{one}']") for one in days]
    expect(cells[0]).to_have_attribute("aria-label", re.compile("30 min watered$"))
    expect(cells[0]).to_contain_text("30 min")
    expect(cells[1].locator("i.skipped.rain")).to_have_count(1)
    cells[1].click()
    expect(day).to_contain_text("Zone 1  not watered: rain delay  Mornings")
    cells[2].click()
    expect(day).to_contain_text("missed: the daemon did not run at that time")
    page.keyboard.press("ArrowRight")
    expect(day).to_have_text("Nothing ran: the log has no run of that day, and no start that was left out.")
    expect(month.locator("[tabindex='0']")).to_be_focused()
    # From month to month by the keys, too, and into the future: Mondays.
    page.locator("#month-today").click()
    page.get_by_role("button", name="Month after").click()
    expect(month.locator("i.planned")).to_have_count(4 + (sum((today().replace(day=1) + timedelta(days=31)).replace(day=1).month == (
        (today().replace(day=1) + timedelta(days=31)).replace(day=1) + timedelta(days=index)).month and (
        (today().replace(day=1) + timedelta(days=31)).replace(day=1) + timedelta(days=index)).weekday() == 0 for index in range(31)) - 4))
    month.locator("i.planned").first.click()
    expect(day).to_contain_text(re.compile("Zone 1  20:00 planned  Mornings"))


def test_water_by_zone_and_month_is_a_chart_and_a_table(enter, own_daemon):
    days = []
    page = enter(own_daemon(), view="sprinkler", prepare=lambda page: days.extend(month_of_runs(page)))
    year = page.locator("#sprinkler-year")
    expect(year.locator("rect")).to_have_count(2)
    expect(year.locator(".names")).to_have_text("Zone 2Zone 1")
    year.get_by_text("As a table").click()
    row = year.get_by_role("row", name="all")
    expect(row.get_by_role("cell").nth(10)).to_have_text("30 min")
    expect(row.get_by_role("cell").nth(9)).to_have_text("–")


def test_where_nobody_looks_no_schedule_and_no_log_is_asked_for_and_the_overview_asks_for_the_newest_alone(enter, own_daemon):
    daemon = own_daemon()
    add(daemon)
    asked = []
    page = enter(daemon, prepare=lambda page: page.on("request", lambda request: asked.append(request.url)))
    until(lambda: page.wait_for_timeout(20) or page.evaluate("sprinkler.polled"))
    until(lambda: page.wait_for_timeout(20) or page.evaluate("sprinkler.newest !== null"))
    assert [url.split("/api/")[1] for url in asked if "/api/schedules" in url or "/api/log" in url] == ["log?limit=30"]
    go(page, "plants")
    asked.clear()
    daemon.post("/api/zone/3/on", {"minutes": 12})
    daemon.post("/api/zone/3/off")
    until(lambda: page.wait_for_timeout(20) or page.locator("#events li", has_text="Zone 3 off").count())
    assert [url for url in asked if "/api/schedules" in url or "/api/log" in url] == []
    go(page, "sprinkler")
    until(lambda: page.wait_for_timeout(20) or len([url for url in asked if "/api/schedules" in url or "/api/log" in url]) >= 5)
    expect(page.locator("#sprinkler-week i:not(.planned)")).to_have_count(1)


def test_the_log_is_looked_through_by_zone_outcome_and_day(enter, own_daemon):
    days = []
    page = enter(own_daemon(), view="sprinkler", prepare=lambda page: days.extend(month_of_runs(page)))
    lines = page.locator("#sprinkler-log li")
    expect(lines).to_have_count(4)
    page.select_option("#log-zone", "2")
    expect(lines).to_have_count(1)
    expect(lines).to_contain_text("Zone 2  10:00 of 20:00  stopped")
    page.select_option("#log-zone", "")
    page.select_option("#log-outcome", "not")
    expect(lines).to_have_count(2)
    page.fill("#log-day", str(days[1]))
    expect(lines).to_have_count(1)
    expect(lines).to_contain_text("rain delay")


def test_the_log_has_the_names_of_clients_for_who_may_list_them(enter, own_daemon):
    daemon = own_daemon()
    phone = daemon.create_token("control", "my phone")
    for state, body in (("on", {"minutes": 12}), ("off", None)):
        answer = daemon.post(f"/api/zone/3/{state}", body, token=phone)
        assert answer.status_code == 200, answer.text
    until(lambda: daemon.get("/api/log?limit=1").json()["runs"])
    [run] = daemon.get("/api/log?limit=1").json()["runs"]
    line = enter(daemon, view="sprinkler").locator("#sprinkler-log li")
    expect(line).to_have_count(1)
    expect(line).to_contain_text(f"by my phone ({run['caller'].partition('@')[2]})")
    asked = []
    page = enter(daemon, view="sprinkler", token=phone, prepare=lambda page: page.on("request", lambda request: asked.append(request.url)))
    expect(page.locator("#sprinkler-log li")).to_contain_text("by " + run["caller"])
    assert [url for url in asked if "/api/tokens" in url] == []


def test_what_a_draft_would_do_is_the_daemons_answer(enter, own_daemon):
    daemon = own_daemon()
    add(daemon)
    daemon.request("PUT", "/api/seasonal", json={"percent": 50})
    page = enter(daemon, view="sprinkler")
    draft, start, after = (page.locator("#schedule-" + name) for name in ("new", "start", "after"))
    page.get_by_text("New schedule").click()
    draft.get_by_role("button", name="Every day").click()
    expect(after).to_be_empty()
    draft.get_by_label("Zone 2", exact=True).check()
    draft.get_by_label("Minutes of Zone 2").fill("10")
    start.fill("06:35")
    # Half of the minutes, after the other schedule's half.
    starts = after.locator("li")
    expect(starts).to_have_count(4)
    expect(starts.nth(1)).to_have_text(re.compile(r"06:35.* may wait until 06:40.* Zone 2 05:00$"))
    daemon.post("/api/rain-delay", {"hours": 336})
    page.evaluate("loadSchedules()")
    expect(starts.nth(1)).to_contain_text("Zone 2 not watered: rain delay")
    start.fill("25:00")
    expect(after).to_have_text(re.compile("^No preview: Start times 1: "))
    # The answer to an older draft comes late.
    held = []
    page.route(PREVIEW, lambda route: held.append(route))
    for count, time in enumerate(("05:00", "04:00"), 1):
        start.fill(time)
        until(lambda: page.wait_for_timeout(20) or len(held) == count)
    for route in reversed(held):
        with page.expect_response(PREVIEW):
            route.continue_()
        page.wait_for_timeout(100)
        expect(starts.nth(1)).to_contain_text("04:00")
    page.unroute(PREVIEW)
    page.route(PREVIEW, lambda route: route.abort())
    start.fill("03:00")
    expect(after).to_have_text("No preview: no answer")
    assert len(daemon.get("/api/schedules").json()["schedules"]) == 1


def test_a_schedule_is_a_draft_until_it_is_saved(enter, own_daemon):
    """Everything that the API knows of a schedule."""
    daemon = own_daemon()
    number = add(daemon, season={"from": "04-01", "to": "10-15"})
    page = enter(daemon, view="sprinkler")
    asked = changes_of(page)
    card = page.locator("#schedule-list .schedule")
    card.locator("summary b").click()
    after = card.locator(f"#schedule-{number}-after")
    expect(card.get_by_role("button", name="Save")).to_be_disabled()
    card.get_by_text("Rain, season, cycles, order").click()
    card.get_by_label("only from").fill("")
    card.get_by_label("to", exact=True).fill("")
    card.get_by_label("Which days").select_option("interval")
    card.get_by_label("Every so many days").fill("3")
    tomorrow = today() + timedelta(days=1)
    card.get_by_label("Counted from").fill(str(tomorrow))
    expect(after).to_contain_text("Would start:")
    for place in range(4):
        expect(after.locator("li").nth(place)).to_have_text(re.compile(rf"^\w+, \w+ {(tomorrow + timedelta(days=3 * place)).day}, 06:30.*Zone 1 20:00$"))
    card.get_by_label("name").fill("Every third")
    card.get_by_label("Zone 3", exact=True).check()
    card.get_by_label("Minutes of Zone 3").fill("7.5")
    card.get_by_role("button", name="Earlier: Zone 3").click()  # before zone 2, which is not chosen
    card.get_by_role("button", name="Earlier: Zone 3").click()
    card.get_by_label("skip in a rain delay").uncheck()
    card.get_by_label("follows the seasonal level").uncheck()
    card.get_by_label("priority").fill("5")
    card.get_by_label("no run longer than").fill("10")
    card.get_by_label("then soak for").fill("15")
    # The daemon's word comes every second; the draft stays.
    page.evaluate("loadSchedules()")
    expect(card.get_by_label("name")).to_have_value("Every third")
    assert asked == []
    card.get_by_role("button", name="Save").click()
    until(lambda: daemon.get(f"/api/schedules/{number}").json()["name"] == "Every third")
    assert asked == [("PUT", f"schedules/{number}")]
    now = daemon.get(f"/api/schedules/{number}").json()
    expected = {"days": None, "intervalDays": 3, "intervalFrom": str(tomorrow), "zones": [{"zoneId": 3, "minutes": 7.5}, {"zoneId": 1, "minutes": 20}],
                "skipIfRain": False, "followsSeason": False, "priority": 5, "season": None, "cycleAndSoak": {"cycleMinutes": 10, "soakMinutes": 15}}
    assert {key: now[key] for key in expected} == expected
    expect(card).to_contain_text("every 3 days")
    # What is undone was never sent.
    card.get_by_label("name").fill("Nonsense")
    card.get_by_role("button", name="Undo the changes").click()
    expect(card.get_by_label("name")).to_have_value("Every third")
    assert len(asked) == 1


def test_last_times_minutes_are_pressed_first_and_the_last_waterings_are_seen_first(enter, own_daemon):
    daemon = own_daemon()
    now = datetime.now(ZONE).astimezone(ZoneInfo("UTC"))
    runs = [{"zoneId": zone, "startISO": (now - timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ"), "ranSec": ran, "askedSec": asked, "outcome": outcome}
            for zone, hours, ran, asked, outcome in ((3, 1, 0, 900, "rainDelay"), (2, 30, 720, 720, "completed"), (3, 40, 100, 420, "stopped"), (2, 50, 60, 60, "completed"), (1, 60, 90, 90, "completed"), (4, 70, 6, 6, "completed"))]
    page = enter(daemon, prepare=lambda page: log_of(page, runs))
    tile = page.locator(".tile", has=page.get_by_role("heading", name="Sprinkler"))
    expect(tile.locator(".last")).to_have_text(re.compile("^last: Zone 2, .*12:00 of 12:00$"))
    expect(tile.get_by_label("Zone to water")).to_have_value("2")
    expect(tile.locator(".press button")).to_have_text(["↻ 12", "5", "10", "20"])
    tile.get_by_label("Zone to water").select_option("4")
    expect(tile.locator(".press button")).to_have_text(["5", "10", "20"])  # 6 s are no minutes
    tile.get_by_label("Zone to water").select_option("1")
    expect(tile.locator(".press button")).to_have_text(["↻ 1.5", "5", "10", "20"])
    tile.get_by_label("Zone to water").select_option("3")
    tile.get_by_role("button", name="Water Zone 3 7 min").focus()
    page.keyboard.press("Enter")
    until(lambda: 360 < (daemon.get("/api/sprinkler").json()["zones"][2]["remainingSec"] or 0) <= 420)
    expect(tile.locator(".press")).to_be_hidden()
    expect(tile.get_by_role("button", name="Stop all")).to_be_focused()
    page.keyboard.press("Enter")
    expect(tile.locator(".press")).to_be_visible()
    go(page, "sprinkler")
    expect(page.locator("#sprinkler-last > *")).to_have_text([re.compile("^Zone 2, .*12:00 of 12:00$"), re.compile("^Zone 3, .*01:40 of 07:00, stopped by hand$"), re.compile("^Zone 2, .*01:00 of 01:00$")])
    zone = page.locator("#zone-list .zone").nth(2)
    expect(zone.get_by_role("button", name="Off")).to_be_hidden()
    # By the keys alone, and who presses Off goes on at the zone's minutes.
    zone.get_by_role("button", name="7 min of Zone 3").focus()
    page.keyboard.press("Enter")
    off = zone.get_by_role("button", name="Off")
    expect(off).to_be_visible()
    off.focus()
    page.keyboard.press("Enter")
    expect(off).to_be_hidden()
    expect(zone.get_by_role("button", name="7 min of Zone 3")).to_be_focused()


def test_the_last_watering_is_the_newest_line_of_the_log_though_that_comes_late_or_during_a_silence(enter, own_daemon):
    daemon, runs = own_daemon(), []

    def water(zone, hours):
        start = datetime.now(ZONE).astimezone(ZoneInfo("UTC")) - timedelta(hours=hours)
        runs.append({"zoneId": zone, "startISO": start.strftime("%Y-%m-%dT%H:%M:%SZ"), "ranSec": 60, "askedSec": 60, "outcome": "completed"})

    water(2, 9)
    page = enter(daemon, prepare=lambda page: log_of(page, runs))
    last = page.locator(".tile .last")
    expect(last).to_have_text(re.compile("^last: Zone 2, "))
    # The log is asked, which has not got the line yet.
    with page.expect_response(re.compile(r"/api/log\?limit=30")):
        daemon.post("/api/zone/3/on", {"minutes": 12})
        daemon.post("/api/zone/3/off")
    expect(last).to_have_text(re.compile("^last: Zone 2, "))
    water(3, 2)
    expect(last).to_have_text(re.compile("^last: Zone 3, "))
    # What the log of the view has got is no older than what stands above it.
    go(page, "sprinkler")
    expect(page.locator("#sprinkler-newest")).to_have_text(re.compile("^last: Zone 3, "))
    water(4, 1)
    page.evaluate("loadLog()")
    expect(page.locator("#sprinkler-newest")).to_have_text(re.compile("^last: Zone 4, "))
    # Nobody has told this page of what ended while it heard nothing.
    page.get_by_role("link", name="Overview").click()
    daemon.process.kill()
    daemon.process.wait()
    expect(page.locator("#banner")).to_contain_text("No answer from the daemon")
    water(1, 0)
    daemon.start()
    expect(last).to_have_text(re.compile("^last: Zone 1, "))


def test_where_there_is_nothing_the_view_says_what_to_do(enter, own_daemon):
    page = enter(own_daemon(), view="sprinkler")
    expect(page.locator("#sprinkler-last")).to_contain_text("Nothing was watered yet")
    expect(page.locator("#schedule-list")).to_contain_text("No schedule yet")
    page.locator("#schedule-list").get_by_role("button", name="Make a schedule").click()
    expect(page.locator("#schedule-name")).to_be_visible()
    expect(page.locator("#schedule-draft > summary")).to_be_focused()


def test_on_a_laptop_zones_stand_in_two_columns_with_the_week_near_and_nothing_runs_out_of_its_card(enter, own_daemon):
    page = enter(own_daemon(), view="sprinkler", width=1366, height=768)
    zones = page.locator("#zone-list .zone")
    expect(zones).to_have_count(4)
    boxes = [zone.bounding_box() for zone in zones.all()]
    assert boxes[0]["y"] == boxes[1]["y"] and boxes[0]["x"] < boxes[1]["x"]
    assert page.locator("#week-title").bounding_box()["y"] < 900
    outside = """() => [...document.querySelectorAll("#zone-list .zone")].flatMap((zone) => [...zone.querySelectorAll("button, input")]
      .filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > zone.getBoundingClientRect().right - 8).map((one) => one.outerHTML))"""
    assert page.evaluate(outside) == []


def test_of_many_zones_those_are_shown_that_are_open_and_the_one_that_is_chosen(enter, tmp_path):
    daemon = Daemon(tmp_path)
    zones = ", ".join(f"{{pin: {pin}}}" for pin in [12, 16, 20, 21, 5, 6, 13, 19, 26, 23])
    daemon.config.write_text(daemon.config.read_text().replace("zones: [{pin: 12}, {pin: 16}, {pin: 20}, {pin: 21}]", f"zones: [{zones}]"))
    with daemon:
        page = enter(daemon, view="sprinkler", width=390)
        names, rows = page.locator("#zone-leds a"), page.locator("#zone-list .zone:visible")
        expect(names).to_have_count(10)
        expect(page.locator("#zones-hint")).to_be_visible()
        expect(rows).to_have_count(0)
        names.nth(8).click()
        expect(rows).to_have_count(1)
        expect(rows.first).to_be_focused()
        page.get_by_label("5 min of Zone 9").click()
        until(lambda: daemon.get("/api/zones").json()["zones"][8]["isOn"])
        names.nth(1).click()
        expect(rows).to_have_count(2)
        expect(page.locator("#zone-list .zone.on")).to_contain_text("Zone 9")
        assert page.evaluate(SMALL) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
