"""Driving from the page: keys, and a robot or a leg that somebody else holds."""
from playwright.sync_api import expect

from others import Driver, go, place, robot, until


def targets(daemon):
    """What is asked of the wheels; None: nothing."""
    speeds = robot(daemon)["targetPercent"]
    return speeds and (round(speeds["left"]), round(speeds["right"]))


def stops(daemon):
    """How often the motors have been told to stop."""
    since, count, name = 0, 0, daemon.motor_bus
    while (page := daemon.get(f"/api/sim/bus/{name}?since={since}").json())["transactions"]:
        count += sum(one["register"] == 2 for one in page["transactions"])
        since = page["next"]
    return count


def test_keys_drive_as_in_the_terminal(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, view="robot")
    for key, speeds in (("w", (50, 50)), ("s", (-50, -50)), ("a", (-50, 50)), ("D", (50, -50)), ("ArrowUp", (50, 50)),
                        ("ArrowDown", (-50, -50)), ("ArrowLeft", (-50, 50)), ("ArrowRight", (50, -50))):
        page.keyboard.down(key)
        until(lambda: targets(daemon) == speeds)
        page.keyboard.up(key)
        until(lambda: robot(daemon)["state"] == "stopped")
    page.keyboard.press("8")
    expect(page.locator("#key-share")).to_have_text("80 %")
    page.keyboard.down("w")
    until(lambda: targets(daemon) == (80, 80))
    # A curve, as there.
    page.keyboard.down("ArrowRight")
    until(lambda: targets(daemon) == (100, 43))
    page.keyboard.up("w")
    until(lambda: targets(daemon) == (80, -80))
    page.keyboard.down(" ")
    expect(page.locator("#e-stop-said")).to_have_text("Robot: confirmed")
    assert robot(daemon)["state"] == "emergencyStopped"


def test_letters_that_somebody_types_drive_nothing(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, view="robot")
    page.keyboard.press("Control+a")
    page.locator("#speed-limit").focus()
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#speed-limit-text")).to_have_text("95 %")
    assert page.evaluate("[echo, eStop.number]") == [0, 0]
    page.keyboard.press("w")
    assert page.evaluate("echo") > 0


def test_keys_drive_nothing_that_is_not_seen(enter, own_daemon):
    """Where neither the robot nor its picture is, letters are typed and arrows scroll."""
    page = enter(own_daemon(), view="plants")
    scrolls = "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowUp', bubbles: true, cancelable: true}))"
    page.keyboard.press("w")
    page.locator("#plant-name").focus()
    page.keyboard.type("a wasd 8")
    expect(page.locator("#plant-name")).to_have_value("a wasd 8")
    assert page.evaluate(scrolls) is True and page.evaluate("[echo, eStop.number]") == [0, 0]
    go(page, "robot")
    assert page.evaluate(scrolls) is False
    page.evaluate("releaseAll()")
    page.keyboard.press("w")
    assert page.evaluate("echo") > 0


def test_leaving_the_robots_view_stops_what_was_driven_there(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, view="robot")
    page.keyboard.down("w")
    until(lambda: robot(daemon)["state"] == "driving")
    page.evaluate("location.hash = '#/plants'")
    until(lambda: robot(daemon)["state"] == "stopped")
    assert page.evaluate("hold") is None


def test_the_speed_limit_holds_for_stick_and_keys(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, view="robot")
    page.locator("#speed-limit").fill("40")
    page.locator("#speed-limit").blur()
    drag(page)
    until(lambda: targets(daemon) and targets(daemon)[0] in range(25, 41))
    page.mouse.up()
    until(lambda: robot(daemon)["state"] == "stopped")
    page.keyboard.down("w")
    until(lambda: targets(daemon) == (20, 20))


GAMEPAD = """() => {
  window.stick = {id: "a gamepad", connected: true, axes: [0, 0], buttons: [{pressed: false}, {pressed: false}]};
  navigator.getGamepads = () => [window.stick];
  window.tell = (kind) => dispatchEvent(Object.assign(new Event(kind), {gamepad: {id: "a gamepad"}}));
  tell("gamepadconnected");
}"""


def test_a_gamepad_drives_stops_and_is_a_stop_when_it_is_lost(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, view="robot")
    page.evaluate(GAMEPAD)
    expect(page.locator("#gamepad")).to_contain_text("a gamepad")
    page.evaluate("stick.axes = [0.1, -0.1]")  # it rests there
    page.evaluate("stick.axes = [0, -0.6]")
    until(lambda: targets(daemon) == (60, 60))
    page.evaluate("stick.axes = [0, 0]")
    until(lambda: robot(daemon)["state"] == "stopped")
    page.evaluate("stick.axes = [0, -1]")
    until(lambda: targets(daemon) == (100, 100))
    page.evaluate("(stick = null, tell('gamepaddisconnected'))")
    until(lambda: robot(daemon)["state"] == "stopped")
    expect(page.locator("#pad-place .say")).to_contain_text("The gamepad was lost")
    # Its second button is the robot's emergency stop; what is still held after it drives nothing.
    page.evaluate(GAMEPAD)
    page.evaluate("stick.axes = [0, -1]")
    until(lambda: targets(daemon) == (100, 100))
    page.evaluate("stick.buttons[1].pressed = true")
    expect(page.locator("#e-stop-said")).to_have_text("Robot: confirmed")
    assert daemon.get("/api/sprinkler").json()["state"] == "idle"
    assert robot(daemon)["state"] == "emergencyStopped" and page.evaluate("hold") is None


def test_a_key_is_sent_at_once(enter, own_daemon):
    """In the task of its event, not at the stick's next period."""
    page = enter(own_daemon(), view="robot")
    sent = page.evaluate("""() => {
      const sent = [], send = socket.send.bind(socket);
      socket.send = (data) => { if (typeof data !== "string") sent.push(new TextDecoder().decode(data)); send(data); };
      const press = (kind, key) => { document.body.dispatchEvent(new KeyboardEvent(kind, {key, bubbles: true})); return sent.splice(0); };
      return [press("keydown", "w"), press("keydown", "d"), press("keyup", "d")];
    }""")
    assert ['"left":50,"right":50' in sent[0][0], '"left":70,"right":30' in sent[1][0], '"left":50,"right":50' in sent[2][0]] == [True] * 3, sent


def drag(page):
    page.mouse.move(*place(page, "#pad"))
    page.mouse.down()
    page.mouse.move(*place(page, "#pad", y=0.1), steps=5)


def test_somebody_elses_robot_is_neither_moved_nor_stopped(enter, own_daemon):
    """A hold that is refused: the knob stays, one message, and no stop, however it ends."""
    daemon = own_daemon()
    page = enter(daemon, view="robot")
    said = page.locator("#pad-place .say")
    with Driver(daemon):
        until(lambda: robot(daemon)["state"] == "driving")
        before = stops(daemon)
        drag(page)
        expect(said).to_have_count(1)
        expect(said).to_contain_text("drives the robot")
        assert page.evaluate("document.getElementById('knob').style.transform") == ""
        asked = page.evaluate("echo")
        # It stays refused, though it is held and moved.
        page.mouse.move(*place(page, "#pad", y=0.3), steps=5)
        expect(said).to_have_count(1)
        assert page.evaluate("echo") == asked < 40
        page.mouse.up()
        # A tap that ends before its answer comes, one at the middle (which would be zero speeds), keys, the window in the background.
        for y in (0.1, 0.5):
            page.mouse.move(*place(page, "#pad", y=y))
            page.mouse.down()
            page.mouse.up()
        page.keyboard.press("w")
        page.keyboard.down("ArrowUp")
        page.evaluate("dispatchEvent(new Event('blur'))")
        page.keyboard.up("ArrowUp")
        expect(said).to_have_count(1)
        # The socket answers in order: what was sent is through.
        page.evaluate("new Promise(done => { const was = answered; answered = (id) => { was(id); done(); }; ping(); })")
        assert stops(daemon) == before and targets(daemon) == (30, 30)
        assert page.locator("#events li.error").count() <= 1
        # A refusal stays until it is dismissed.
        said.get_by_role("button", name="Dismiss").click()
        expect(said).to_have_count(0)
    # Free again: a new touch drives.
    until(lambda: robot(daemon)["holder"] is None)
    drag(page)
    until(lambda: robot(daemon)["state"] == "driving")
    expect(page.locator("#pad")).to_have_class("held")
    page.mouse.up()
    until(lambda: robot(daemon)["state"] == "stopped")


def test_a_tap_that_was_taken_is_stopped_though_its_answer_comes_later(enter, own_daemon):
    daemon = own_daemon()
    page = enter(daemon, view="robot")
    page.evaluate("""() => {
      window.kept = [];
      const take = socket.onmessage;
      socket.onmessage = (message) => {
        if (typeof message.data !== "string") kept.push(message);
        else if (JSON.parse(message.data).system !== "robot") take(message);
      };
      window.deliver = () => { socket.onmessage = take; kept.forEach(take); };
    }""")
    page.mouse.move(*place(page, "#pad", y=0.1))
    page.mouse.down()
    page.mouse.up()
    assert page.evaluate("hold") is None
    until(lambda: page.evaluate("kept.length"))
    page.evaluate("deliver()")
    until(lambda: robot(daemon)["state"] == "stopped")
    assert "commanded" in robot(daemon)["reason"]


def test_somebody_elses_leg_is_not_taken_over(enter, own_daemon):
    """Its slider, a ping and the end of the page leave it armed, and theirs."""
    daemon = own_daemon()
    page = enter(daemon, view="leg")

    def leg():
        return daemon.get("/api/leg").json()["legs"][0]

    daemon.post("/api/leg/0/arm")
    daemon.post("/api/leg/0/set", {"pulseUs": 1600})
    until(lambda: leg()["pulseUs"] == 1600)
    theirs = leg()["lastSender"]
    expect(page.locator(".leg [data-of=pulse]").first).to_have_text("1600 µs")
    said = page.locator(".leg .say")
    slider = page.locator(".leg [data-of=slider]").first
    slider.scroll_into_view_if_needed()
    page.mouse.move(*place(page, ".leg [data-of=slider]", x=0.8))
    page.mouse.down()
    expect(said).to_contain_text("has armed this leg: disarm it before you move it from here")
    expect(slider).to_have_value("1500")
    page.mouse.up()
    page.locator(".leg [data-of=hold]").first.click()
    expect(page.locator(".leg [data-of=hold]").first).not_to_be_checked()
    page.locator(".leg [data-do=ping]").first.click()
    expect(page.locator(".leg [data-do=arm]").first).to_be_disabled()
    expect(said.first).to_be_visible()
    page.evaluate("releaseAll()")
    page.evaluate("new Promise(done => { const was = answered; answered = (id) => { was(id); done(); }; ping(); })")
    assert (leg()["state"], leg()["pulseUs"], leg()["lastSender"]) == ("armed", 1600, theirs)
    page.close()
    until(lambda: [link["state"] for link in leg()["links"] if link["kind"] == "websocket"] == ["open"])
    assert (leg()["state"], leg()["lastSender"]) == ("armed", theirs)
