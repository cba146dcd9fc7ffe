"""The page's link to the daemon: what an idle page costs, and what it does where WebSockets are blocked."""
import json
import re

import pytest
from playwright.sync_api import expect

from others import NO_SOCKETS, go, until, whole
from proxy import Proxy
from test_frame import Below


@pytest.mark.parametrize("view", ["", "robot", "leg", "sprinkler", "plants", "pump", "diagnostics", "system", "help"])
def test_an_idle_page_gets_less_than_2_kilobytes_a_second(enter, own_daemon, view):
    """Over its socket and by its requests, their heads included."""
    daemon = own_daemon(more="pump: {}\n")
    heard = {"socket": 0, "requests": 0, "kinds": []}

    def hear(frame):
        heard["socket"] += len(frame)
        if isinstance(frame, str):
            heard["kinds"].append(json.loads(frame)["type"])

    def answered(event):
        heard["requests"] += event["encodedDataLength"]

    def prepare(page):
        page.on("websocket", lambda socket: socket.on("framereceived", hear))
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.loadingFinished", answered)

    page = enter(daemon, view=view, prepare=prepare)
    until(lambda: page.wait_for_timeout(50) or heard["kinds"].count("changes") > 10)
    heard.update(socket=0, requests=0, kinds=[])
    page.wait_for_timeout(12_000)
    print(view, {kind: heard[kind] / 12 for kind in ("socket", "requests")}, "bytes a second")
    assert heard["kinds"].count("changes") > 20 and (heard["socket"] + heard["requests"]) / 12 < 2_000


def test_what_changes_is_shown_as_if_all_of_it_had_been_told(enter, own_daemon):
    daemon = own_daemon(more="pump: {}\n")
    page = enter(daemon)
    daemon.post("/api/zone/3/on", {"minutes": 12})
    for name in ("robot", "sprinkler", "pump", "plants", "leg"):
        until(lambda: page.wait_for_timeout(50) or page.evaluate("name => states.get(name)?.type === name", name))
        told = page.evaluate("name => states.get(name)", name)
        assert set(told) - {"type", "system", "seq"} == set(daemon.get("/api/" + name).json()) - {"ok"}
    until(lambda: page.wait_for_timeout(50) or page.evaluate("states.get('sprinkler').zones[2].isOn"))
    assert page.evaluate("states.get('sprinkler').zones.length") == 4


def test_the_socket_is_asked_for_before_any_file_of_the_page_has_come(enter, own_daemon):
    """What it says meanwhile is kept, and it is the only one, however long the files take."""
    daemon = own_daemon(more="pump: {}\n")
    page = enter(daemon)
    held, sockets, heard, holds = [], [], [], [True]

    def hear(socket):
        sockets.append(socket)
        socket.on("framereceived", lambda frame: isinstance(frame, str) and heard.append(json.loads(frame)["type"]))

    page.on("websocket", hear)
    page.route(re.compile(r"-[0-9a-f]{12}\.(js|css)$"), lambda route: held.append(route) if holds[0] else route.continue_())
    page.reload(wait_until="commit")
    until(lambda: page.wait_for_timeout(50) or heard.count("pong") > 4)
    assert len(held) > 1 and "hello" in heard and page.locator("#link").count() == 0
    holds[0] = False
    for route in held:
        route.continue_()
    expect(page.locator("#link")).to_have_text("live")
    expect(page.locator(".tile", has_text="Pump")).to_contain_text("off")
    assert len(sockets) == 1
    whole(page)


def test_no_other_script_runs_in_the_page_itself(enter, own_daemon):
    page = enter(own_daemon())
    assert re.search(r"script-src 'self' 'sha256-[\w+/]{43}='; ", page.locator("meta[http-equiv]").get_attribute("content"))
    page.evaluate("document.head.append(Object.assign(document.createElement('script'), { textContent: 'var injected = 1' }))")
    assert page.evaluate("typeof injected") == "undefined"


def test_without_websockets_it_asks_every_few_seconds_and_says_so(enter, own_daemon):
    daemon = own_daemon(more="pump: {}\n")
    page = enter(daemon, prepare=lambda page: page.add_init_script(NO_SOCKETS), link="connected, slower")
    expect(page.locator(".tile", has_text="Pump")).to_contain_text("off")
    daemon.post("/api/zone/3/on", {"minutes": 12})
    expect(page.locator(".tile", has_text="Sprinkler")).to_contain_text("Zone 3", timeout=10_000)
    # Requests work; what is driven over the socket does not.
    page.locator(".tile", has_text="Sprinkler").get_by_role("button", name="Stop all").click()
    until(lambda: daemon.get("/api/sprinkler").json()["state"] == "idle")
    go(page, "leg")
    expect(page.locator("#leg-list")).to_have_attribute("disabled", "")
    page.click("#e-stop")
    expect(page.locator("#e-stop-said")).to_have_text("confirmed")
    assert daemon.get("/api/robot").json()["state"] == "emergencyStopped"
    expect(page.locator("#reset")).to_be_visible(timeout=10_000)
    page.click("#reset")
    until(lambda: daemon.get("/api/robot").json()["state"] == "stopped")


BLOCKED = "WebSockets are blocked on the way to the daemon"


def test_a_socket_that_is_accepted_and_says_nothing_counts_as_none(enter, own_daemon):
    daemon = own_daemon(more="pump: {}\n")
    with Proxy(daemon) as proxy:
        proxy.swallows = True
        page = enter(Below(daemon, proxy), link="connected, slower")
        expect(page.locator(".tile", has_text="Pump")).to_contain_text("off")
        expect(page.locator("#banner")).to_contain_text(BLOCKED)
        page.click("#e-stop")
        expect(page.locator("#e-stop-said")).to_have_text("confirmed")
        assert daemon.get("/api/robot").json()["state"] == "emergencyStopped"
        # It goes on while sockets are tried, until one says something.
        before = proxy.swallowed
        until(lambda: page.wait_for_timeout(50) or proxy.swallowed > before + 1)
        expect(page.locator("#link")).to_have_text("connected, slower")
        proxy.swallows = False
        expect(page.locator("#link")).to_have_text("live")
        expect(page.locator("#banner")).not_to_contain_text(BLOCKED)


def test_a_socket_that_falls_silent_is_replaced_by_questions(enter, own_daemon):
    daemon = own_daemon(more="pump: {}\n")
    with Proxy(daemon) as proxy:
        page = enter(Below(daemon, proxy))
        proxy.swallows = True
        expect(page.locator("#link")).to_have_text("connected, slower")
        expect(page.locator("#banner")).to_contain_text(BLOCKED)
        daemon.post("/api/zone/3/on", {"minutes": 12})
        expect(page.locator(".tile", has_text="Sprinkler")).to_contain_text("Zone 3")
        proxy.swallows = False
        expect(page.locator("#link")).to_have_text("live")


def test_a_part_that_does_not_come_is_said_and_asked_for_again(enter, own_daemon):
    """The daemon's first words and E-STOP are there without it."""
    daemon = own_daemon(more="pump: {}\n")
    page = enter(daemon)
    lost = [True]
    page.route("**/page-3-*.js", lambda route: route.abort() if lost[0] else route.continue_())
    page.reload()
    expect(page.locator("#link")).to_have_text("live")
    expect(page.locator("#banner")).to_contain_text("A part of this page has not come.")
    expect(page.locator(".tile", has_text="Pump")).to_contain_text("off")
    expect(page.locator(".tile", has_text="Robot")).to_contain_text("stopped")
    page.click("#e-stop")
    expect(page.locator("#e-stop-said")).to_have_text("confirmed")
    assert not page.evaluate("isWhole")
    lost[0] = False
    whole(page)
    expect(page.locator("#banner")).not_to_contain_text("has not come")
    page.click("#reset")
    until(lambda: daemon.get("/api/robot").json()["state"] == "stopped")


def test_help_that_does_not_come_is_asked_for_again(enter, own_daemon):
    page = enter(own_daemon())
    lost = [True]
    page.route("**/help-*.js", lambda route: route.abort() if lost[0] else route.continue_())
    page.evaluate("location.hash = '#/help'")
    expect(page.locator("#banner")).to_contain_text("A part of this page has not come.")
    lost[0] = False
    expect(page.locator("#help-title")).to_be_focused()
    expect(page.locator("#banner")).not_to_contain_text("has not come")
