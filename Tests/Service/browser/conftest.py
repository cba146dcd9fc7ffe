"""A real browser, and what every test of the page does first."""

import pytest
from playwright.sync_api import expect, sync_playwright

from others import whole


# Five seconds, as Playwright has it, are too few on a machine that is busy.
expect.set_options(timeout=60_000)


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


@pytest.fixture
def enter(browser):
    """`enter(daemon)` opens the page, live and whole; `view` is the one that it shows, `token` is the admin's unless given, `width` and `height` are the window's, `has_touch` gives
    it a touch screen; `prepare(page)` is called before it is opened; `link` is what the page says of its link then. What the page's scripts throw fails the test."""
    contexts, failures = [], []

    def open_page(daemon, view="", token="", width=1280, height=844, prepare=None, link="live", **options):
        # One that a test asks for; behind a worker Playwright does not see every request.
        context = browser.new_context(viewport={"width": width, "height": height}, **{"service_workers": "block", **options})
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: failures.append(str(error)))
        if prepare:
            prepare(page)
        page.goto(daemon.url + "/#/" + view)
        page.fill("#token", token or daemon.admin)
        page.click("#door button")
        expect(page.locator("#link")).to_have_text(link)
        whole(page)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert failures == []
