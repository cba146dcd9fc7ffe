"""The page's link to the daemon: what an idle page costs, and what it does where WebSockets are blocked."""
import json

import pytest
from playwright.sync_api import expect

from others import go, until
from proxy import Proxy
from test_frame import Below


@pytest.mark.parametrize("view", ["", "robot", "sprinkler", "plants", "pump"])
def test_an_idle_page_gets_less_than_2_kilobytes_a_second(enter, own_daemon, view):
    daemon = own_daemon(more="pump: {}\n")
    heard = {"bytes": 0, "kinds": []}

    def hear(frame):
        heard["bytes"] += len(frame)
        heard["kinds"].append(json.loads(frame)["type"])

    page = enter(daemon, view=view, prepare=lambda page: page.on("websocket", lambda socket: socket.on("framereceived", hear)))
    until(lambda: page.wait_for_timeout(50) or heard["kinds"].count("changes") > 10)
    heard.update(bytes=0, kinds=[])
    page.wait_for_timeout(10_000)
    print(view, heard["bytes"] / 10, "bytes a second")
    assert heard["kinds"].count("changes") > 20 and heard["bytes"] / 10 < 2_000


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


def test_without_websockets_it_asks_every_few_seconds_and_says_so(enter, own_daemon):
    daemon = own_daemon(more="pump: {}\n")

    def prepare(page):
        page.add_init_script("""window.WebSocket = class { static OPEN = 1; static CLOSING = 2; readyState = 3; close() {}
          constructor() { setTimeout(() => this.onclose({ code: 1006, reason: "" })); } };""")

    page = enter(daemon, prepare=prepare, link="connected, slower")
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
