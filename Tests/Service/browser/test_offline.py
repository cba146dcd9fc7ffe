"""The page without its daemon: its own files come from the service worker, and nothing else does."""
import os
import signal

import pytest
from playwright.sync_api import expect

from others import files_of, go, robot, until
from proxy import Proxy
from test_frame import Below

KEPT = """async () => {
  await navigator.serviceWorker.ready;
  const cache = await caches.open("shell-1");
  return (await cache.keys()).map((one) => new URL(one.url).pathname);
}"""
SILENT = "Not connected: nothing is known of the daemon now"


def open_page(enter, daemon, **options):
    page = enter(daemon, service_workers="allow", **options)
    until(lambda: page.wait_for_timeout(50) or any(path.endswith("/") for path in page.evaluate(KEPT)))
    until(lambda: page.wait_for_timeout(50) or page.evaluate("navigator.serviceWorker.controller !== null"))
    return page


def says_nothing_of_before(page):
    expect(page.locator("#banner")).to_contain_text(SILENT, timeout=20_000)
    expect(page.locator(".tile:visible")).to_have_count(0)
    assert "Zone 3" not in page.inner_text("body")
    expect(page.locator("#well")).to_have_text("Connecting to the controller…")
    expect(page.locator("#reset")).to_be_disabled()


def test_a_dead_daemons_page_opens_says_so_and_its_stop_is_not_confirmed(enter, own_daemon):
    daemon = own_daemon()
    assert daemon.post("/api/zone/3/on", {"minutes": 12}).status_code == 200
    page = open_page(enter, daemon)
    expect(page.locator(".tile", has_text="Sprinkler")).to_contain_text("Zone 3")
    for view in ("robot", "sprinkler", "diagnostics", ""):
        go(page, view)
    daemon.stop()
    page.reload()
    says_nothing_of_before(page)
    expect(page.locator("#link")).to_have_text("no connection")
    page.click("#e-stop")
    expect(page.locator("#e-stop-said")).to_contain_text("NOT CONFIRMED", timeout=15_000)
    daemon.start()
    expect(page.locator("#link")).to_have_text("live", timeout=20_000)
    expect(page.locator("#banner")).not_to_contain_text(SILENT)


def test_a_hanging_daemons_page_opens_too(enter, own_daemon):
    daemon = own_daemon()
    page = open_page(enter, daemon)
    os.kill(daemon.process.pid, signal.SIGSTOP)
    try:
        page.reload()
        expect(page.locator("#link")).to_have_text("no answer", timeout=20_000)
        says_nothing_of_before(page)
    finally:
        os.kill(daemon.process.pid, signal.SIGCONT)
    expect(page.locator("#link")).to_have_text("live", timeout=20_000)


def test_only_files_of_the_page_are_kept_and_no_command_waits(enter, own_daemon):
    daemon = own_daemon(more="pump: {}\n")
    page = open_page(enter, daemon)
    for view in ("robot", "sprinkler", "plants", "pump", "diagnostics"):
        go(page, view)
    page.reload()
    expect(page.locator("#link")).to_have_text("live")
    kept = page.evaluate(KEPT)
    assert [path for path in kept if path != "/" and path.rsplit(".", 1)[-1] not in ("js", "css", "svg", "png", "webmanifest")] == []
    assert set(kept) == {"/", *files_of(daemon).values()}
    daemon.stop()
    asked = "async (headers) => { try { return (await fetch('api/pump/on', { method: 'POST', headers, body: '{}' })).status; } catch { return 'refused'; } }"
    headers = {"Authorization": "Bearer " + daemon.admin, "Content-Type": "application/json"}
    assert page.evaluate(asked, headers) == "refused"
    for path in ("api/status", "api/health", "api/openapi.json"):
        assert page.evaluate("path => fetch(path).then(() => 'answered', () => 'refused')", path) == "refused"
    daemon.start()
    expect(page.locator("#link")).to_have_text("live", timeout=20_000)
    page.wait_for_timeout(1000)
    assert daemon.get("/api/pump").json()["state"] == "off"


def test_the_page_of_the_daemon_goes_before_the_one_that_is_kept_whose_files_are_forgotten(enter, own_daemon):
    daemon = own_daemon()
    page = open_page(enter, daemon)
    page.evaluate("""async () => {
      const cache = await caches.open("shell-1");
      await cache.put("./", new Response("<p>an older page</p>", { headers: { "Content-Type": "text/html" } }));
      await cache.put("page-2-000000000000.js", new Response("", { headers: { "Content-Type": "text/javascript" } }));
      await cache.delete(document.querySelector("link[href^=german]").href);
    }""")
    page.reload()
    expect(page.locator("#link")).to_have_text("live")
    until(lambda: page.wait_for_timeout(50) or set(page.evaluate(KEPT)) == {"/", *files_of(daemon).values()})
    daemon.stop()
    page.reload()
    says_nothing_of_before(page)


@pytest.mark.parametrize("answers", ["502", "nothing"])
def test_below_a_path_behind_a_proxy(enter, own_daemon, answers):
    """Whether the proxy says that the daemon is down, or nothing."""
    daemon = own_daemon()
    with Proxy(daemon, when_down=b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" if answers == "502" else b"") as proxy:
        page = open_page(enter, Below(daemon, proxy))
        assert all(path.startswith("/tactus/") for path in page.evaluate(KEPT))
        daemon.stop()
        page.reload()
        expect(page.locator("#e-stop")).to_be_visible()
        expect(page.locator("#link")).to_have_text("no connection")
        says_nothing_of_before(page)
        page.click("#e-stop")
        expect(page.locator("#e-stop-said")).to_have_text("NOT CONFIRMED")
        page.wait_for_timeout(1500)
        expect(page.locator("#e-stop-said")).to_have_text("NOT CONFIRMED")
        # It goes on trying until the daemon itself has answered.
        daemon.start()
        expect(page.locator("#link")).to_have_text("live", timeout=20_000)
        expect(page.locator("#e-stop-said")).to_have_text("confirmed")
        assert robot(daemon)["state"] == "emergencyStopped" and proxy.outside == []
