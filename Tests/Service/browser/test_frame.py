"""The page where it is not alone: in a frame of another page, as Home Assistant shows it, and below a path behind a reverse proxy."""
import re

import pytest
from playwright.sync_api import expect

from daemon import PROGRAM
from others import files_of, go, place, robot, until
from proxy import Proxy
from test_browser import site as neighbour  # noqa: F401

FRAME = """url => new Promise((done) => {
  const frame = Object.assign(document.createElement("iframe"), { src: url, width: 900, height: 700, onload: done });
  document.body.append(frame);
})"""


# Access to either throws, as in a frame of another site where a browser refuses storage.
NO_STORAGE = """for (const name of ["sessionStorage", "localStorage"]) {
  Object.defineProperty(window, name, { get() { throw new DOMException("Access is denied for this document.", "SecurityError"); } });
}"""


@pytest.fixture
def site(neighbour):  # noqa: F811
    """The origin of a page of another site than the daemon's, which is called 127.0.0.1: a browser without a profile refuses a frame in it all storage."""
    return neighbour.replace("127.0.0.1", "localhost")


def framed(browser, site, daemon, path="/", failures=None):
    """The frame with the daemon's page in a page of `site`; None if the browser has shown something else in its place. What scripts throw is added to `failures`."""
    page = browser.new_page()
    if failures is not None:
        page.on("pageerror", lambda error: failures.append(str(error)))
    page.goto(site)
    page.evaluate(FRAME, daemon.url + path)
    frame = page.frames[1]
    return page, frame if frame.url.startswith(daemon.url) else None


@pytest.mark.parametrize("path", ["/", "/?panel=1"])
def test_a_listed_page_shows_ours_in_a_frame_and_it_works_there(browser, own_daemon, site, path):
    daemon = own_daemon(frame_ancestors=[site])
    failures = []
    page, frame = framed(browser, site, daemon, path, failures)
    assert frame is not None
    assert frame.evaluate("try { localStorage } catch (error) { error.name }") == "SecurityError", "this browser refuses no storage"
    frame.fill("#token", daemon.admin)
    frame.click("#door button")
    expect(frame.locator("#link")).to_have_text("live")
    frame.click("#e-stop")
    expect(frame.locator("#e-stop-said")).to_have_text("confirmed")
    assert robot(daemon)["state"] == "emergencyStopped" and failures == []
    page.close()


def test_where_the_browser_refuses_storage_the_page_works_as_long_as_it_is_open(enter, own_daemon):
    daemon = own_daemon(more="pump: {}\n")
    page = enter(daemon, prepare=lambda page: page.add_init_script(NO_STORAGE))
    assert page.evaluate("try { localStorage } catch (error) { error.name }") == "SecurityError"
    for view in ("leg", "pump", "robot", "diagnostics", ""):
        go(page, view)
    page.click("#e-stop")
    expect(page.locator("#e-stop-said")).to_have_text("confirmed")
    assert robot(daemon)["state"] == "emergencyStopped"


def test_e_stop_looks_inert_until_it_works(browser, own_daemon):
    daemon = own_daemon()
    page = browser.new_page()
    page.route(re.compile(r"/page-[^/]*\.js$"), lambda route: route.abort())
    page.goto(daemon.url)
    expect(page.locator("#e-stop")).to_be_disabled()
    page.unroute_all()
    page.reload()
    expect(page.locator("#e-stop")).to_be_enabled()
    page.close()


def test_no_other_page_does(browser, own_daemon, site):
    for allowed in ({}, {"frame_ancestors": ["https://panel.example"]}):
        page, frame = framed(browser, site, own_daemon(**allowed))
        assert frame is None, allowed
        page.close()


def test_only_the_page_may_be_framed_and_nothing_that_answers(own_daemon):
    daemon = own_daemon(frame_ancestors=["http://homeassistant.local:8123", "https://home.example"])
    fields = daemon.get("/", token=None).headers
    assert fields["Content-Security-Policy"] == "frame-ancestors http://homeassistant.local:8123 https://home.example"
    assert "X-Frame-Options" not in fields
    for path in ("/api/status", "/api/health", files_of(daemon)["page-2.js"]):
        fields = daemon.get(path).headers
        assert fields["X-Frame-Options"] == "DENY" and "Content-Security-Policy" not in fields, path
    fields = own_daemon().get("/", token=None).headers
    assert fields["X-Frame-Options"] == "DENY" and "Content-Security-Policy" not in fields


@pytest.mark.parametrize("version", ["1.1", "1.0"])
def test_it_works_below_a_path_behind_a_proxy(browser, own_daemon, version):
    """Assets, requests and, where the proxy passes WebSockets, the socket and what is driven over it."""
    daemon = own_daemon(more="pump: {}\n")
    with Proxy(daemon, version) as proxy:
        page = browser.new_page(locale="de-DE")
        failures = []
        page.on("pageerror", lambda error: failures.append(str(error)))
        page.goto(proxy.url + "/tactus/")
        page.fill("#token", daemon.admin)
        page.click("#door button")
        expect(page.locator("#link")).to_have_text("live" if version == "1.1" else "verbunden, langsamer", timeout=15_000)
        expect(page.locator(".tile", has_text="Pumpe")).to_contain_text("aus", timeout=15_000)
        assert page.evaluate("document.fonts.status && getComputedStyle(document.body).marginTop") == "0px", "the style has come"
        for view in ("robot", "leg", "sprinkler", "plants", "pump", "diagnostics", ""):
            go(page, view)
        if version == "1.1":
            go(page, "robot")
            page.mouse.move(*place(page, "#pad", y=0.2))
            page.mouse.down()
            until(lambda: page.wait_for_timeout(20) or robot(daemon)["state"] == "driving")
            page.mouse.up()
        page.click("#e-stop")
        expect(page.locator("#e-stop-said")).to_have_text("bestätigt")
        assert robot(daemon)["state"] == "emergencyStopped"
        page.goto(proxy.url + "/tactus/#/parts")
        expect(page.locator("#parts .panel")).to_have_count(11)
        page.close()
        assert failures == [] and proxy.outside == []
        assert ("/tactus/ws" if version == "1.1" else "/tactus/api/e-stop") in proxy.paths


def test_the_picture_plays_below_a_path(enter, own_daemon):
    if not (PROGRAM.parent / "tactus-video").exists():
        pytest.skip("this build has no tactus-video: no trait Video")
    daemon = own_daemon(more="camera: {source: test, resolution: [320, 240]}\n")
    with Proxy(daemon) as proxy:
        page = enter(Below(daemon, proxy), view="robot")
        until(lambda: page.wait_for_timeout(50) or page.evaluate("document.getElementById('video-film').currentTime") > 0)
        assert proxy.outside == []


class Below:
    """The daemon as `enter` needs it, below the proxy's path."""

    def __init__(self, daemon, proxy):
        self.url, self.admin = proxy.url + "/tactus", daemon.admin
