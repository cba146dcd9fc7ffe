"""A real browser, and what every test of the page does first."""
import pytest
from playwright.sync_api import expect, sync_playwright


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


@pytest.fixture
def enter(browser):
    """`enter(daemon)` opens the page, live; `view` is the one that it shows, `token` is the admin's unless given, `width` and `height` are the window's, `has_touch` gives
    it a touch screen; `prepare(page)` is called before it is opened. What the page's scripts throw fails the test."""
    contexts, failures = [], []

    def open_page(daemon, view="", token="", width=1280, height=844, prepare=None, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: failures.append(str(error)))
        if prepare:
            prepare(page)
        page.goto(daemon.url + "/#/" + view)
        page.fill("#token", token or daemon.admin)
        page.click("#door button")
        expect(page.locator("#link")).to_have_text("live")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert failures == []
