"""Beside the stick: the quality of the link, pictures and films as files, the map of the simulated robot."""
import re
import signal

import pytest
from playwright.sync_api import expect

from daemon import PROGRAM, Daemon
from others import go, until


def pose(daemon):
    return daemon.get("/api/sim/robot").json()["pose"]


def test_the_map_shows_the_way_and_the_heading_of_the_simulated_robot(enter, own_daemon):
    daemon = own_daemon()
    asked = []
    page = enter(daemon, view="robot", prepare=lambda page: page.on("request", lambda request: asked.append(request.url.split("/")[-1])))
    robot_map = page.locator("#robot-map")
    expect(robot_map.locator("path")).to_have_count(1)
    expect(page.locator("#robot-pose")).to_have_text("0.00 m, 0.00 m from the start, 0° to the left")
    page.locator("#pad").focus()
    page.keyboard.down("w")
    until(lambda: page.wait_for_timeout(20) or pose(daemon)["xM"] > 0.4)
    page.keyboard.up("w")
    page.keyboard.down("a")
    until(lambda: page.wait_for_timeout(20) or pose(daemon)["headingRad"] > 1)
    page.keyboard.up("a")
    until(lambda: page.wait_for_timeout(20) or len(robot_map.locator("polyline").get_attribute("points").split()) >= 4)

    def apart():
        """Degrees between the robot's heading and the map's words, and between it and the map's arrow; the last bit of a turn takes a while."""
        heading = pose(daemon)["headingRad"] * 57.29578
        said = int(re.search(r"(\d+)°", page.locator("#robot-pose").inner_text())[1])
        drawn = -float(re.search(r"rotate\((.*?)\)", robot_map.locator("path").get_attribute("transform"))[1])  # counter-clockwise is to the left
        return max(abs((one - heading + 180) % 360 - 180) for one in (said, drawn))

    until(lambda: page.wait_for_timeout(50) or apart() <= 1)
    page.get_by_role("button", name="Clear its way").click()
    until(lambda: page.wait_for_timeout(20) or len(robot_map.locator("polyline").get_attribute("points").split()) == 2)
    # Where nobody looks nothing is asked.
    go(page, "plants")
    until(lambda: page.wait_for_timeout(50) or page.evaluate("performance.now() - mapAsked") > 500)
    asked.clear()
    until(lambda: page.wait_for_timeout(50) or page.evaluate("performance.now() - mapAsked") > 4500)
    assert "robot" not in asked


def test_the_link_is_told_in_a_word_with_its_milliseconds_and_what_came_late(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, view="robot")
    link = page.locator("#robot-link")
    expect(link).to_have_text(re.compile(r"^(good|fair): \d+ ms, at most \d+ ms, 0 % late$"))
    daemon.process.send_signal(signal.SIGSTOP)
    try:
        expect(link).to_have_text(re.compile("^lost"))
    finally:
        daemon.process.send_signal(signal.SIGCONT)
    expect(link).to_have_text(re.compile(r"^poor: \d+ ms, at most \d+ ms, [1-9]\d* % late$"))


@pytest.mark.skipif(not (PROGRAM.parent / "tactus-video").exists(), reason="this build has no tactus-video: no trait Video")
def test_a_picture_and_a_film_of_what_is_shown_become_files(enter, own_daemon, tmp_path):
    daemon = own_daemon(more="camera: {source: test, resolution: [320, 240]}\n")
    page = enter(daemon, view="robot")
    until(lambda: page.wait_for_timeout(50) or page.evaluate("document.getElementById('video-film').currentTime") > 0)
    with page.expect_download() as picture:
        page.click("#robot-snapshot")
    assert re.fullmatch(r"robot-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d\.png", picture.value.suggested_filename)
    picture.value.save_as(tmp_path / "picture")
    head = (tmp_path / "picture").read_bytes()[:24]
    assert (head[:4], int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")) == (b"\x89PNG", 320, 240)
    page.click("#robot-film")
    expect(page.locator("#robot-film")).to_have_text("Stop film 00:02")
    with page.expect_download() as film:
        page.click("#robot-film")
    film.value.save_as(tmp_path / "film")
    assert len((tmp_path / "film").read_bytes()) > 2000
    assert film.value.suggested_filename.endswith((".webm", ".mp4"))
    expect(page.locator("#robot-film")).to_have_text("Film")
    # Without a picture nothing is made of nothing.
    go(page, "video")
    page.select_option("#video-look", "off")
    go(page, "robot")
    page.click("#robot-snapshot")
    expect(page.locator("#stage .say")).to_contain_text("There is no picture")


def test_what_the_board_measures_is_shown_and_nothing_else(enter, tmp_path):
    daemon = Daemon(tmp_path)
    daemon.config.write_text(daemon.config.read_text().replace("backend: yb-pcb-car", "backend: xgo-rider"))
    with daemon:
        page = enter(daemon, view="robot")
        expect(page.locator("#battery")).to_have_text("80 %")
        expect(page.locator("#leans")).to_have_text("0° / 0°")
        expect(page.locator("#ahead")).to_be_hidden()
        expect(page.locator("#robot-mount")).to_be_hidden()
        expect(page.locator("#robot-with-height")).to_be_visible()
        height = page.locator("#robot-height")
        height.focus()
        height.press("End")
        until(lambda: page.wait_for_timeout(20) or daemon.get("/api/robot").json()["heightMm"] == 120)
        page.locator("#robot-balance").check()
        until(lambda: page.wait_for_timeout(20) or daemon.get("/api/robot").json()["balancing"] is True)


def test_the_mount_turns_by_slider_and_keys_lights_and_buzzer_by_buttons_and_none_of_it_moves_in_an_emergency_stop(enter, tmp_path):
    daemon = Daemon(tmp_path)
    daemon.config.write_text(daemon.config.read_text().replace("backend: yb-pcb-car", "backend: raspbot-v2\n  line_sensor: true"))
    with daemon:
        page = enter(daemon, view="robot")
        mount = lambda: daemon.get("/api/robot").json()["panTilt"]
        page.get_by_role("button", name="Middle").click()
        until(lambda: page.wait_for_timeout(20) or (mount()["panDegrees"], mount()["tiltDegrees"]) == (90, 50))
        expect(page.locator("#robot-pan-text")).to_have_text("90°")
        slider = page.locator("#robot-pan")
        slider.focus()
        slider.press("ArrowRight")
        until(lambda: page.wait_for_timeout(20) or mount()["panDegrees"] == 91)
        assert daemon.get("/api/robot").json()["state"] == "stopped", "the slider's arrows drive nothing"
        page.locator("#pad").focus()
        page.keyboard.press("j")
        page.keyboard.press("k")
        until(lambda: page.wait_for_timeout(20) or (mount()["panDegrees"], mount()["tiltDegrees"]) == (96, 45))
        assert page.locator("#robot-tilt").get_attribute("max") == "100"
        expect(page.locator("#line")).to_have_text("nothing dark")
        page.locator("#robot-colour").fill("#ff8000")
        until(lambda: page.wait_for_timeout(20) or daemon.get("/api/robot").json()["lights"] == ["#ff8000"] * 14)
        page.select_option("#robot-light", index=14)
        page.get_by_role("button", name="Lights off").click()
        until(lambda: page.wait_for_timeout(20) or daemon.get("/api/robot").json()["lights"] == ["#ff8000"] * 13 + ["#000000"])
        with page.expect_response("**/api/robot/beep") as answer:
            page.get_by_role("button", name="Beep").click()
        assert answer.value.status == 200
        assert daemon.post("/api/robot/e-stop").status_code == 200
        for one in ("#robot-pan", "#robot-tilt", "#robot-middle"):
            expect(page.locator(one)).to_be_disabled()
        page.keyboard.press("j")
        page.wait_for_timeout(300)
        assert mount()["panDegrees"] == 96
