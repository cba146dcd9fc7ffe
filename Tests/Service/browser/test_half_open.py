"""A daemon whose connections look open and of which nothing comes any more, or which nothing reaches: the page says so within its own limit, soothes nobody, and finds back by itself.

Dead, frozen and blocked daemons: test_page_stop.py, test_page_trouble.py, test_offline.py, test_link.py."""
import re

import pytest
from playwright.sync_api import expect

from line import FROM, TO, Line
from others import NO_SOCKETS, go, robot, until
from test_page_stop import hold_forward
from test_page_trouble import TIME, link, tile

SILENT = "No answer from the daemon: what is shown is old, and the controls are off. E-STOP still tries."
UNCONFIRMED = "E-STOP is NOT CONFIRMED: the daemon does not answer."
CUTS = {"nothing passes": (TO, FROM), "nothing reaches the daemon": (TO,), "nothing comes from it": (FROM,)}
AFTER = pytest.mark.parametrize("loses", [False, True], ids=["what was held passes", "old connections are lost"])

# What somebody could still use to move something: fieldsets of controls that work, and the stick.
WORKING = """() => [...document.querySelectorAll("fieldset.hands:not(:disabled)"), ...document.querySelectorAll("#pad:not(.off)"), ...document.querySelectorAll("#reset:enabled")].map((one) => one.outerHTML.slice(0, 80))"""


def socket_is_tried_anew(page):
    """The page has given its socket up, and opened another one, since this was called."""
    begun = page.evaluate("begunAt")
    until(lambda: page.wait_for_timeout(50) or page.evaluate("begunAt") > begun)


def is_silent(page, said="no answer"):
    """The page says that it hears nothing, and nothing on it looks as if it were of now."""
    expect(page.locator("#link")).to_have_text(said)
    expect(page.locator("#banner")).to_contain_text(SILENT)
    expect(page.locator("#banner")).to_be_in_viewport(ratio=1)
    expect(page.locator("#round-trip")).to_have_text("")
    expect(page.locator("#well")).to_contain_text(re.compile(f"No word from the daemon since {TIME}: what is shown is old."))
    assert page.evaluate(WORKING) == []


def is_live(page):
    expect(page.locator("#link")).to_have_text("live")
    expect(page.locator("#banner")).not_to_contain_text("No answer")
    expect(page.locator("#banner")).not_to_contain_text("NOT CONFIRMED")
    expect(page.locator("#robot")).not_to_have_class("old")
    expect(page.locator("#robot h2")).to_have_attribute("data-age", "")


@AFTER
@pytest.mark.parametrize("cut", CUTS)
def test_a_line_that_is_cut_without_a_word_while_one_drives(enter, own_daemon, cut, loses):
    daemon = own_daemon()
    with Line(daemon) as line:
        page = enter(line, view="robot")
        assert page.evaluate("silentAfterMs + 100 <= 2000"), "known within two seconds"
        hold_forward(page)
        line.cut(*CUTS[cut])
        is_silent(page)
        expect(page.locator("#robot")).to_have_class("old")
        assert page.evaluate("hold") is None
        page.mouse.up()
        # Of silence, or let go by the page that still reaches it.
        until(lambda: robot(daemon)["state"] == "stopped")
        page.locator("#e-stop").click()
        expect(page.locator("#e-stop-said")).to_have_text("NOT CONFIRMED")
        expect(page.locator("#banner")).to_contain_text(UNCONFIRMED)
        socket_is_tried_anew(page)
        expect(page.locator("#robot h2")).to_have_attribute("data-age", re.compile(r"^\d+ s old$"))
        expect(page.locator("#e-stop-said")).to_have_text("NOT CONFIRMED")
        if TO in CUTS[cut]:
            assert robot(daemon)["state"] == "stopped", "it was not reached"
        else:
            until(lambda: robot(daemon)["state"] == "emergencyStopped")
        is_silent(page)
        line.mend(loses)
        expect(page.locator("#e-stop-said")).to_have_text("confirmed")
        assert robot(daemon)["state"] == "emergencyStopped"
        is_live(page)
        # It works again, without a reload.
        until(lambda: daemon.post("/api/reset").status_code == 200)
        expect(page.locator("#robot-state")).to_have_text("stopped")
        hold_forward(page)
        page.mouse.up()
        until(lambda: robot(daemon)["state"] == "stopped")


@pytest.mark.protocol
@AFTER
def test_a_stop_that_goes_into_a_line_which_is_cut_already(enter, own_daemon, loses):
    """It is pressed before the page has noticed anything."""
    daemon = own_daemon()
    with Line(daemon) as line:
        page = enter(line)
        expect(tile(page, "Robot").locator(".led")).to_have_text("stopped")
        line.cut()
        page.evaluate("emergencyStop()")
        expect(page.locator("#e-stop-said")).to_have_text("NOT CONFIRMED")
        is_silent(page)
        assert robot(daemon)["state"] == "stopped"
        line.mend(loses)
        expect(page.locator("#e-stop-said")).to_have_text("confirmed")
        assert robot(daemon)["state"] == "emergencyStopped"
        assert daemon.get("/api/sprinkler").json()["state"] == "emergencyStopped"
        is_live(page)


def test_an_outage_that_ends_leaves_nothing_but_what_is_so(enter, own_daemon):
    """Nobody pressed anything: whatever was old is of now again, in the view that was gone to meanwhile, too."""
    daemon = own_daemon(more="pump: {}\n")
    with Line(daemon) as line:
        page = enter(line)
        expect(tile(page, "Pump").locator(".led")).to_have_text("off")
        line.cut()
        is_silent(page)
        expect(page.locator("#well")).to_have_class("stale")
        for name in ("Robot", "Sprinkler", "Pump"):
            expect(tile(page, name).locator(".led")).to_have_text(re.compile(f", old since {TIME}$"))
        expect(link(page, "pump")).to_have_attribute("aria-label", re.compile(f"^Pump: off, old since {TIME}$"))
        for view in ("sprinkler", "plants", "pump", "leg", "system", "diagnostics", "sprinkler"):
            go(page, view)
            assert page.evaluate(WORKING) == [], view
        expect(page.locator("#sprinkler h2").first).to_have_attribute("data-age", re.compile(r"^\d+ s old$"))
        daemon.post("/api/zone/3/on", {"minutes": 12})
        socket_is_tried_anew(page)
        line.mend(loses=True)
        expect(page.locator("#link")).to_have_text("live")
        expect(page.locator("#sprinkler-now")).to_contain_text("Zone 3")
        go(page, "")
        expect(page.locator("#well")).not_to_contain_text("No word")
        expect(page.locator("#e-stop-said")).to_have_text("stops everything")
        assert robot(daemon)["state"] == "stopped"


def test_what_was_asked_for_just_before_is_not_called_done_and_is_not_done_later(enter, own_daemon):
    daemon = own_daemon()
    with Line(daemon) as line:
        page = enter(line, view="sprinkler")
        line.cut_at = b"POST /api/zone/1/on"
        page.get_by_role("button", name="5 min of Zone 1", exact=True).click()
        is_silent(page)
        said = page.locator(".zone[data-zone='1'] .say")
        expect(said).to_contain_text("no answer in time: it may still be going on")
        line.mend(loses=True)
        expect(page.locator("#link")).to_have_text("live")
        expect(page.locator("#sprinkler-now")).to_have_text("nothing")
        assert not daemon.get("/api/zones").json()["zones"][0]["isOn"]
        expect(said).to_contain_text("it may still be going on")


def test_a_file_that_does_not_come_is_said_to_be_under_way_and_then_not_to_come(enter, own_daemon):
    daemon = own_daemon()
    with Line(daemon) as line:
        page = enter(line, view="system")
        line.cut_at = b"GET /api/support"
        page.get_by_role("button", name="Support file").click()
        said = page.locator("[data-say]", has=page.locator("#support")).locator(".say")
        expect(said).to_contain_text("under way: it may take minutes")
        expect(said).to_contain_text("no answer")
        line.mend(loses=True)
        expect(page.locator("#link")).to_have_text("live")
        with page.expect_download() as download:
            page.get_by_role("button", name="Support file").click()
        assert download.value.suggested_filename == "tactus-support.txt"
        expect(said).to_have_count(0)


@AFTER
def test_where_websockets_are_blocked_a_line_that_is_cut_is_no_less_silent(enter, own_daemon, loses):
    daemon = own_daemon()
    with Line(daemon) as line:
        page = enter(line, prepare=lambda page: page.add_init_script(NO_SOCKETS), link="connected, slower")
        expect(tile(page, "Robot").locator(".led")).to_have_text("stopped")
        line.cut()
        is_silent(page, re.compile("^no (answer|connection)$"))
        page.locator("#e-stop").click()
        expect(page.locator("#e-stop-said")).to_have_text("NOT CONFIRMED")
        assert robot(daemon)["state"] == "stopped"
        line.mend(loses)
        expect(page.locator("#e-stop-said")).to_have_text("confirmed")
        assert robot(daemon)["state"] == "emergencyStopped"
        expect(page.locator("#link")).to_have_text("connected, slower")
        expect(page.locator("#banner")).not_to_contain_text("No answer")


def test_a_half_open_daemon_on_a_phone_in_german(enter, own_daemon):
    daemon = own_daemon()
    with Line(daemon) as line:
        page = enter(line, locale="de-DE", width=390, has_touch=True)
        expect(tile(page, "Roboter").locator(".led")).to_have_text("angehalten")
        line.cut()
        expect(page.locator("#link")).to_have_text("keine Antwort")
        expect(page.locator("#well")).to_contain_text(re.compile(r"Kein Wort vom Dienst seit \d\d:\d\d:\d\d: was hier steht, ist alt\."))
        expect(tile(page, "Roboter").locator(".led")).to_have_text(re.compile(r"^angehalten, alt seit \d\d:\d\d:\d\d$"))
        page.locator("#e-stop").tap()
        expect(page.locator("#e-stop-said")).to_have_text("NICHT BESTÄTIGT")
        for shown in ("#e-stop", "#banner"):
            expect(page.locator(shown)).to_be_in_viewport(ratio=1)
        line.mend(loses=True)
        expect(page.locator("#e-stop-said")).to_have_text("bestätigt")
        expect(page.locator("#link")).to_have_text("live")
        assert robot(daemon)["state"] == "emergencyStopped"
