"""The view System: clients are made, handed over by a picture, seen and revoked."""
import io
import re
import socket
from pathlib import Path

import pytest
import zxingcpp
from PIL import Image
from playwright.sync_api import expect

from others import go, robot, until
from test_views import SIZES, SMALL


def make(page, name, scope="control", lifetime="for ever"):
    page.locator("#client-new summary").click()
    page.fill("#client-name", name)
    page.select_option("#client-scope", scope)
    page.select_option("#client-lifetime", label=lifetime)
    page.click("#client-make")
    expect(page.locator("#client-made h3")).to_contain_text(name)


def read(picture):
    found = zxingcpp.read_barcodes(Image.open(io.BytesIO(picture)))
    return [one.text for one in found]


def drawn(rows, margin=0):
    """The picture of modules, six pixels each."""
    picture = Image.new("L", (len(rows[0]) + 2 * margin, len(rows) + 2 * margin), 255)
    for y, row in enumerate(rows):
        for x, is_dark in enumerate(row):
            if is_dark:
                picture.putpixel((x + margin, y + margin), 0)
    file = io.BytesIO()
    picture.resize((picture.width * 6, picture.height * 6), Image.Resampling.NEAREST).save(file, "png")
    return file.getvalue()


def setting(page, key):
    return page.locator(".setting", has=page.get_by_text(key, exact=True))


def row(page, name):
    return page.locator("#clients tr", has_text=name)


@pytest.fixture
def other(browser):
    """Another device: `other(address)` opens it there, without anything that this one knows."""
    contexts = []

    def open_page(address):
        contexts.append(browser.new_context(viewport={"width": 390, "height": 844}, service_workers="block"))
        page = contexts[-1].new_page()
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_comes_in_by_the_picture_once_and_is_thrown_out(enter, own_daemon, other, scheme):
    daemon = own_daemon()
    page = enter(daemon, color_scheme=scheme)
    go(page, "system")
    expect(page.locator("#clients")).to_have_text("No device has been let in yet. New client… makes the first one.")
    make(page, "Anna's phone", lifetime="30 days")
    [address] = read(page.locator("#client-made .qr").screenshot())
    assert address == page.locator("#client-made code").inner_text() and address.startswith(daemon.url + "/#/ticket/")

    phone = other(address)
    expect(phone.locator("#ticket-door")).to_be_visible()
    expect(phone.locator("#door")).to_be_hidden()
    assert "ticket" not in phone.url, "it does not stay in the address"
    phone.get_by_role("button", name="Enter").click()
    expect(phone.locator("#link")).to_have_text("live")
    expect(phone.locator("#systems a[href='#/system']")).to_be_hidden()
    # Remembered on this device.
    phone.reload()
    expect(phone.locator("#link")).to_have_text("live")

    # Somebody who has seen the picture comes too late.
    late = other(address)
    late.get_by_role("button", name="Enter").click()
    expect(late.locator("#door-why")).to_contain_text("works once")

    page.get_by_role("button", name="Done").click()
    expect(page.locator("#client-made")).to_be_hidden()
    token = phone.evaluate("token")
    assert token.startswith("tactus_") and token not in page.content(), "it was shown once"
    until(lambda: page.evaluate("loadClients()") or page.wait_for_timeout(50) or row(page, "Anna's phone").inner_text().count("ago") + row(page, "Anna's phone").inner_text().count("just now"))
    expect(row(page, "Anna's phone")).to_contain_text("looks and controls")

    go(phone, "robot")
    phone.evaluate("robotDrive = setInterval(() => request('POST', '/api/robot/drive', { left: 20, right: 20 }), 100)")
    until(lambda: robot(daemon)["state"] == "driving")
    row(page, "Anna's phone").get_by_role("button", name="Revoke Anna's phone").click()
    expect(row(page, "Anna's phone")).to_contain_text("It is refused from now on.")
    assert daemon.get("/api/robot", token=token).status_code == 200, "nothing is done before it is confirmed"
    row(page, "Anna's phone").get_by_role("button", name="Revoke", exact=True).click()
    expect(row(page, "Anna's phone")).to_contain_text("revoked")
    expect(phone.locator("#door-why")).to_have_text("This token has expired or was revoked.")
    expect(phone.locator("#banner")).to_be_hidden()
    until(lambda: robot(daemon)["state"] != "driving")


def test_who_was_in_stays_in_when_an_address_is_good_no_more(enter, own_daemon):
    page = enter(own_daemon())
    page.evaluate("location.hash = '#/ticket/AAAAAAAAAAAAAAAAAAAAAA'")
    page.get_by_role("button", name="Enter").click()
    expect(page.locator("#link")).to_have_text("live")
    expect(page.locator("#banner")).to_contain_text("works once")
    expect(page.locator("#ticket-door")).to_be_hidden()


def test_a_picture_in_the_terminal_does_the_same(own_daemon, other):
    daemon = own_daemon()
    refused = daemon.command("token", "create", "--name", "Dora", "--qr", daemon.url, environment={"TACTUS_TOKEN": ""})
    assert refused.returncode == 1 and "TACTUS_TOKEN" in refused.stderr
    made = daemon.command("token", "create", "--name", "Dora", "--qr", daemon.url, environment={"TACTUS_TOKEN": daemon.admin})
    assert made.returncode == 0, made.stderr
    assert "tactus_" not in made.stdout + made.stderr, "the token itself is not shown"
    *lines, address = [re.sub("\x1b[^m]*m", "", line) for line in made.stdout.splitlines()]
    # Upper and lower half of each character.
    rows = [[part in both for part in row] for row in lines for both in ("▀█", "▄█")]
    assert read(drawn(rows)) == [address]
    phone = other(address)
    phone.get_by_role("button", name="Enter").click()
    expect(phone.locator("#link")).to_have_text("live")


def test_a_page_that_revokes_its_own_last_token_is_asked_twice_and_logged_out(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, view="system", token=daemon.create_token("admin", "laptop"))
    expect(row(page, "laptop")).to_contain_text("this page")
    row(page, "laptop").get_by_role("button", name="Revoke laptop").click()
    expect(row(page, "laptop")).to_contain_text("it is logged out")
    row(page, "laptop").get_by_role("button", name="Revoke", exact=True).click()
    row(page, "laptop").get_by_role("button", name="Revoke all the same").click()
    expect(page.locator("#door-why")).to_have_text("This token has expired or was revoked.")


def test_a_token_that_is_revoked_leaves_the_way_in_and_nothing_else(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, token=daemon.create_token("read", "guest"))
    expect(page.locator("#read-only")).to_be_visible()
    assert daemon.command("token", "revoke", "guest", "--config", daemon.config).returncode == 0
    expect(page.locator("#door-why")).to_have_text("This token has expired or was revoked.")
    expect(page.locator("#banner")).to_be_hidden()
    expect(page.locator("#read-only")).to_be_hidden()
    expect(page.locator("#e-stop-said")).to_have_text("log in first")


def test_what_cannot_be_a_token_is_told_what_one_is(enter, own_daemon):
    page = enter(own_daemon(), token="schlüssel", link="locked")
    expect(page.locator("#door-why")).to_have_text("This is no token: one has only the letters a to z and A to Z, digits, and signs such as - and _.")


def test_what_is_wrong_is_said_beside_the_button_and_nothing_is_made(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, view="system", token=daemon.create_token("admin", "laptop"))
    page.locator("#client-new summary").click()
    page.click("#client-make")
    expect(page.locator("#client-form .say")).to_contain_text("Name must be at least 1 character long")
    page.fill("#client-name", "laptop")
    page.click("#client-make")
    expect(page.locator("#client-form .say")).to_contain_text("another device has the name laptop already")
    expect(page.locator("#client-made")).to_be_hidden()
    assert len(daemon.get("/api/tokens").json()["tokens"]) == 1


def test_who_may_not_is_told_and_asks_nothing(enter, own_daemon):
    daemon = own_daemon()
    asked = []
    page = enter(daemon, view="system", token=daemon.create_token("control"), prepare=lambda page: page.on(
        "request", lambda request: asked.append(request.url)))
    expect(page.locator("#clients-refused")).to_be_visible()
    expect(page.locator("#clients-admin")).to_be_hidden()
    expect(page.locator("#systems a[href='#/system']")).to_be_hidden()
    assert [url for url in asked if "/api/tokens" in url] == []


@pytest.mark.parametrize("size", SIZES)
def test_the_view_with_everything_open_fits_and_axe_finds_nothing(enter, own_daemon, size):
    from axe_playwright_python.sync_playwright import Axe
    daemon = own_daemon()
    width, height = SIZES[size]
    for name in ("A name that is as long as a name may be, which is 64 characters.", "Ben"):
        daemon.create_token("control", name)
    page = enter(daemon, view="system", width=width, height=height, bypass_csp=True)
    make(page, "Anna's phone")
    row(page, "Ben").get_by_role("button", name="Revoke Ben").click()
    page.locator("#client-new summary").click()
    assert Axe().run(page).response["violations"] == []
    assert page.evaluate(SMALL) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("length", [len("http://127.0.0.1:10000/"), 40, 80, 100, 120, 149])
def test_a_reader_reads_codes_of_every_size(own_daemon, length):
    """As programs get them: the rows of the answer."""
    daemon = own_daemon()
    page = "http://pi/" + "a" * (length - 11) + "/"
    ticket = daemon.post("/api/tokens", {"name": "reader", "page": page}).json()["ticket"]
    rows = [[module == "1" for module in row] for row in ticket["picture"]]
    assert read(drawn(rows, margin=4)) == [ticket["address"]]
    assert re.fullmatch(re.escape(page) + r"#/ticket/[\w-]{22}", ticket["address"])


def test_a_changed_file_is_taken_from_the_page_or_its_errors_are_read_there(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, view="system")
    page.get_by_role("button", name="Reload").click()
    expect(page.locator("#reload-said")).to_have_text("nothing has changed")
    row = setting(page, "motors.speed_limit")
    expect(row).to_contain_text("a number 0…100")
    expect(row).not_to_contain_text("reload")
    limit = row.get_by_label("motors.speed_limit")
    daemon.config.write_text(daemon.config.read_text().replace("  command_timeout: 1.0\n", "  command_timeout: 1.0\n  speed_limit: 40\n"))
    page.get_by_role("button", name="Reload").click()
    expect(page.locator("#reload-said")).to_have_text("motors.speed_limit: 100.0 → 40.0")
    expect(limit).to_have_value("40.0")
    daemon.config.write_text(daemon.config.read_text().replace("speed_limit: 40", "speed_limit: 400"))
    page.get_by_role("button", name="Reload").click()
    expect(page.locator("#reload-said")).to_contain_text("motors.speed_limit: expected a number 0…100, got 400")


@pytest.mark.parametrize("width", [375, 1280])
def test_what_may_change_has_a_field_with_its_range_and_the_answer_is_in_words(enter, own_daemon, width):
    daemon = own_daemon(more="camera: {source: test}\n")
    page = enter(daemon, view="system", width=width)
    row = setting(page, "motors.speed_limit")
    limit = row.get_by_label("motors.speed_limit")
    expect(limit).to_have_attribute("max", "100")
    limit.fill("37")
    row.get_by_role("button", name="Save").click()
    expect(row.locator(".say.notice")).to_contain_text("motors.speed_limit: 100.0 → 37.0")
    assert {one["key"]: one for one in daemon.get("/api/settings").json()["settings"]}["motors.speed_limit"]["value"] == "37.0"
    limit.fill("400")
    row.get_by_role("button", name="Save").click()
    expect(row.locator(".say.refusal")).to_contain_text("motors.speed_limit: from 0 to 100")
    level = setting(page, "logging.level").get_by_label("logging.level")
    assert level.evaluate("one => one.tagName") == "SELECT"
    # A text may name a file: there is no field for it.
    expect(setting(page, "camera.pipeline").locator("input, select, button")).to_have_count(0)
    # Nothing is wider than the screen, and each sentence is read without a scroll to the side.
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for hint in page.locator(".setting .hint").all():
        box = hint.bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width


def test_it_says_what_runs_where_and_gives_a_support_file_without_secrets(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, view="system")
    facts = page.locator("#system-facts")
    for words in (daemon.get("/api/status").json()["version"], socket.gethostname(), "Guard", re.compile("Started(just now|.* ago)")):
        expect(facts).to_contain_text(words)
    with page.expect_download() as download:
        page.get_by_role("button", name="Support file").click()
    text = Path(download.value.path()).read_text()
    assert download.value.suggested_filename == "tactus-support.txt"
    for part in ("==== configuration", "==== state of robot", "==== GET /metrics", "==== GET /api/logs/export"):
        assert part in text, part
    assert daemon.admin not in text
    assert daemon.get("/api/support", token=daemon.create_token("control")).status_code == 403


def test_the_table_of_what_is_kept_fits_on_a_phone(enter, own_daemon):
    page = enter(own_daemon(), view="system", width=375)
    place = page.locator("#store-held .scroll")
    expect(place).to_be_visible()
    assert place.evaluate("one => one.scrollWidth <= one.clientWidth")
