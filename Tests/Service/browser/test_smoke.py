"""Every view of the page opens and shows what the daemon knows, in English and in German, without an error; and the presses that matter most do what they say.
`scripts/test` runs this and what else is marked `protocol` here: a change that breaks the page is refused."""
import re

import pytest
from playwright.sync_api import expect

from others import go, robot, until

VIEWS = ("robot", "leg", "sprinkler", "plants", "pump", "video", "diagnostics", "logs", "system", "help", "")
# What a person never reads: a value that there is not, in JavaScript's words.
NO_WORDS = re.compile(r"\b(undefined|NaN|null|\[object \w+\]|Infinity)\b")


@pytest.mark.protocol
@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
def test_every_view_opens_and_shows_what_is_known_without_an_error(enter, own_daemon, locale):
    daemon = own_daemon(more="pump: {}\ncamera: {source: test}\n")
    assert daemon.post("/api/plants", {"name": "Basil", "sensors": ["0x36"]}).status_code == 201
    assert daemon.post("/api/schedules", {
        "name": "Mornings", "days": ["Mon", "Wed", "Fri"], "startTimes": ["06:30"], "isEnabled": True,
        "zones": [{"zoneId": 1, "minutes": 20}]}).status_code == 201
    page = enter(daemon, locale=locale)
    # From the login on; before it, what needs a token is refused, and the browser says so.
    errors = []
    page.on("console", lambda message: message.type == "error" and errors.append(message.text))
    page.on("response", lambda response: response.status >= 400 and errors.append(f"{response.status} {response.url}"))
    for view in VIEWS:
        go(page, view)
        expect(page.locator("main > [data-shown]").first).to_be_visible()
        expect(page.locator("main")).not_to_have_text("")
        assert NO_WORDS.findall(page.locator("main").inner_text()) == [], view
    assert errors == []


@pytest.mark.protocol
def test_a_zone_is_watered_and_all_is_stopped_and_reset_by_the_page(enter, own_daemon):
    daemon = own_daemon(more="pump: {}\n")
    page = enter(daemon)
    go(page, "sprinkler")
    page.locator("#sprinkler").get_by_role("button", name=re.compile(r"^5\b")).first.click()
    until(lambda: page.wait_for_timeout(20) or daemon.get("/api/sprinkler").json()["state"] == "watering")
    page.click("#e-stop")
    expect(page.locator("#e-stop-said")).to_have_text("confirmed")
    assert robot(daemon)["state"] == "emergencyStopped"
    assert daemon.get("/api/sprinkler").json()["state"] == "emergencyStopped"
    go(page, "")
    page.get_by_role("button", name="Reset", exact=True).first.click()
    until(lambda: page.wait_for_timeout(20) or robot(daemon)["state"] == "stopped")
    until(lambda: page.wait_for_timeout(20) or daemon.get("/api/sprinkler").json()["state"] == "idle")
