"""The kettles' own card in a browser."""
import re

import pytest
from playwright.sync_api import expect, sync_playwright


# Bounds waiting, on a machine that may be busy.
LIMIT_MS = 60_000
expect.set_options(timeout=LIMIT_MS)


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"], timeout=2 * LIMIT_MS)
        yield browser
        browser.close()


def test_each_kettle_has_the_card_of_its_kind_and_the_frame_of_every_system(kettles, browser):
    page = browser.new_page()
    page.set_default_timeout(LIMIT_MS)
    failures = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.goto(kettles.url + "/")
    page.fill("#token", kettles.admin)
    page.click("#door button")
    cards = page.locator("section.system")
    expect(cards).to_have_count(2)
    left = cards.filter(has_text="Kettle left")
    expect(left.locator(".kettle-steps li")).to_have_text(["30 °C for 0.02 min", "40 °C for 60 min"])
    expect(cards.filter(has_text="Kettle right").locator(".kettle-steps li")).to_have_text(["22 °C for 0.01 min"])
    kettles.post("/api/kettle/left/start")
    expect(left.locator(".kettle-steps li.now")).to_have_text("40 °C for 60 min", timeout=2 * LIMIT_MS)
    expect(left.locator(".step")).to_have_text("step 2 of 2")
    expect(left.locator("polyline.mash")).to_have_attribute("points", re.compile(r"\d+,\d+"))
    # What is made of every system is there, in the kettle's own view.
    page.get_by_role("link", name=re.compile("^Kettle left: ")).click()
    expect(left.get_by_role("button", name="Emergency stop")).to_be_visible()
    left.get_by_role("button", name="Emergency stop").click()
    expect(left).to_contain_text("emergency stopped")
    assert kettles.state()["powerPercent"] == 0 and kettles.state("right")["state"] == "idle"
    assert failures == []
    page.close()
