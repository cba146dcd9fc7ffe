"""The log, the settings and the support file, on the page."""
import re

import pytest
from playwright.sync_api import expect

from others import go


@pytest.mark.parametrize("width", [375, 1280])
def test_the_log_is_one_press_away_and_follows_what_is_written(enter, own_daemon, width):
    daemon = own_daemon()
    page = enter(daemon, width=width)
    page.locator("footer a[href='#/logs']").click()
    lines = page.locator("#logs .lines li")
    expect(lines.first).to_be_visible()
    daemon.post("/api/robot/drive", {"left": 12, "right": 13})
    expect(lines.filter(has_text="action=drive").first).to_contain_text(re.compile(r"\d\d:\d\d:\d\d.*INFO.*system=robot"))
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # By level, by system, by words.
    page.locator("#logs").get_by_label("Find").fill("action=drive")
    expect(page.locator("#logs .lines li:not(:has-text('action=drive'))")).to_have_count(0)
    page.locator("#logs").get_by_label("Find").fill("")
    page.locator("#logs").get_by_label("System").select_option("robot")
    expect(lines.filter(has_text="action=drive").first).to_be_visible()
    expect(page.locator("#logs .lines li:not(:has-text('robot'))")).to_have_count(0)
    page.locator("#logs").get_by_label("From level").select_option("error")
    expect(page.locator("#logs .lines")).to_have_text("no line says that")


def test_a_log_that_is_not_followed_stands_still(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, view="logs")
    lines = page.locator("#logs .lines li")
    expect(lines.first).to_be_visible()
    page.get_by_role("button", name="Follow").click()
    daemon.post("/api/robot/drive", {"left": 12, "right": 13})
    with page.expect_response(re.compile("/api/health")):
        pass  # some seconds, in which the page asks for other things
    expect(lines.filter(has_text="action=drive")).to_have_count(0)
    page.get_by_role("button", name="Follow").click()
    expect(lines.filter(has_text="action=drive").first).to_be_visible()
    go(page, "")
