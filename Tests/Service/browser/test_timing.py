"""Diagnostics: one word, each loop's lateness and what became of its releases; asked for only while somebody looks."""
import gzip
import re

from playwright.sync_api import expect

from others import go, healthy, until
from systems import Fan

LANES = ["lane", "asked for", "in effect", "CPUs asked for", "CPUs in effect", "kernel"]


def runtime(daemon):
    return daemon.get("/api/runtime").json()


def test_every_declared_loop_has_its_histogram_with_percentiles(enter, own_daemon):
    daemon = own_daemon(more="pump: {}\n")
    page = enter(daemon, view="diagnostics")
    names = [loop["name"] for loop in runtime(daemon)["loops"]]
    expect(page.locator("#timing article")).to_have_count(len(names))
    assert page.locator("#timing article").evaluate_all("all => all.map((one) => one.dataset.loop)") == names
    for name in names:
        panel = page.locator(f"#timing [data-loop='{name}']")
        expect(panel.locator(".chart rect").first).to_be_attached()
        expect(panel.locator(".percentiles")).to_have_text(re.compile(" · ".join(rf"{word} \d+\.\d+ (µs|ms)" for word in ("p50", "p90", r"p99", r"p99\.9", "max")) + "$"))
        expect(panel.locator(".chart line.percentile")).to_have_count(3)
        expect(panel.locator(".chart text").first).to_have_text(re.compile("^(≤ 1|10|100) µs$|ms$"))
        expect(panel.locator(".releases text")).to_have_text(["−60 s", "−45 s", "−30 s", "−15 s", "now"])
        # Each power of ten is as far from the next: the axis is logarithmic.
        at = panel.locator(".chart line:not(.percentile)").evaluate_all("all => all.map((one) => Number(one.getAttribute('x1')))")
        assert len(at) >= 2 and all(abs((b - a) - (at[1] - at[0])) < 0.01 for a, b in zip(at, at[1:])), at
    heads = page.locator("#lanes-place th").all_text_contents()
    assert heads == LANES
    lanes = {lane["name"]: lane for lane in runtime(daemon)["lanes"]}
    rows = page.locator("#lanes-place tbody tr").evaluate_all("rows => rows.map((row) => [...row.cells].map((cell) => cell.textContent))")
    assert [row[0] for row in rows] == list(lanes)
    for name, asked, has, *_, word in rows:
        assert (asked, has, word == "as asked") == (lanes[name]["requested"], lanes[name]["effective"], lanes[name]["isAsRequested"])


def test_what_was_late_given_up_or_too_long_is_seen_in_its_second(enter, own_daemon):
    """By an answer of the daemon's that has been changed: a loop of which one second was bad. The last column is that second's."""
    daemon = own_daemon()
    state = {"bad": 0, "step": 0}

    def change(route):
        answer = route.fetch()
        document = answer.json()
        state["step"] += 1
        document["monotonicNs"] = state["step"] * 1_000_000_000
        for loop in document["loops"]:
            loop.update(ran=state["step"] * 50 - state["bad"] * 10, skipped=state["bad"] * 10, deadlineMisses=state["bad"] * 5, overruns=state["bad"] * 2)
        route.fulfill(response=answer, json=document)

    page = enter(daemon, view="diagnostics", prepare=lambda page: page.route("**/api/runtime*", change))
    panel = page.locator("#timing article").first
    until(lambda: page.wait_for_timeout(50) or state["step"] > 2)
    expect(panel.locator(".releases .on-time").first).to_be_attached()
    expect(panel.locator(".releases :is(.late, .given-up)")).to_have_count(0)
    state["bad"] = 1
    expect(panel.locator(".hint")).to_contain_text("5 late, 10 given up, 2 longer than the period")
    for look in ("rect.late", "rect.given-up", "circle.given-up"):
        expect(panel.locator(".releases " + look)).to_have_count(1)
    shares = panel.locator(".releases rect").evaluate_all("all => all.map((one) => [one.getAttribute('class'), Number(one.getAttribute('height'))])")
    bad = dict(shares[[look for look, _ in shares].index("late") - 1:][:3])
    assert abs(bad["given-up"] / sum(bad.values()) - 10 / 50) < 0.01 and abs(bad["late"] / sum(bad.values()) - 5 / 50) < 0.03, bad


def test_histograms_are_asked_for_only_while_they_are_looked_at(enter, own_daemon):
    asked = []

    def prepare(page):
        page.on("request", lambda request: asked.append("histograms" in request.url) if "/api/runtime" in request.url else None)

    page = enter(own_daemon(), view="diagnostics", prepare=prepare)
    until(lambda: page.wait_for_timeout(50) or asked.count(False) >= 3)
    assert 1 <= asked.count(True) < asked.count(False)
    go(page, "")
    page.wait_for_timeout(300)
    asked.clear()
    until(lambda: page.wait_for_timeout(50) or asked, limit=15)
    assert asked == [False]
    expect(page.locator("#well")).not_to_contain_text("old since")


def test_diagnostics_at_rest_asks_for_less_than_2_kB_a_second_compressed(enter, own_daemon):
    daemon = own_daemon(more="pump: {}\n")
    page = enter(daemon, view="diagnostics")
    look, whole = (len(gzip.compress(daemon.get("/api/runtime" + more).content)) + 300 for more in ("", "?histograms=1"))
    looks, wholes = page.evaluate("[1000 / seenPeriodMs, 1000 / histogramPeriodMs]")
    assert look * looks + whole * wholes < 2000


# What of the loops, and of the mark in the bar, is red or amber.
COLOURED = """() => {
  const probe = document.body.appendChild(document.createElement("i")), bad = new Set();
  for (const name of ["--bad", "--bad-fill", "--warn"]) { probe.style.color = `var(${name})`; bad.add(getComputedStyle(probe).color); }
  probe.remove();
  const roots = [byId("loops-section"), document.querySelector("#systems a[href='#/diagnostics']")];
  return roots.flatMap((root) => [root, ...root.querySelectorAll("*")]).filter((one) => {
    const style = getComputedStyle(one), marked = getComputedStyle(one, "::before");
    return [style.color, style.backgroundColor, one instanceof SVGElement && style.fill, one instanceof SVGElement && style.stroke,
      marked.content !== "none" && marked.color].some((colour) => bad.has(colour));
  }).map((one) => one.outerHTML.slice(0, 120));
}"""


def test_a_healthy_demo_has_no_red_and_no_amber_until_more_than_one_of_a_hundred_is_late(enter, own_daemon):
    daemon = own_daemon(more="pump: {}\n")
    answer, state, document = healthy(daemon)
    page = enter(daemon, view="diagnostics", prepare=lambda page: page.route("**/api/runtime*", answer))
    word = page.locator("#in-time")
    expect(word).to_have_text("in time")
    expect(word).to_have_class("led up")
    expect(page.locator("#in-time-why")).to_have_text("99.8 % in time")
    expect(page.locator("#findings li")).to_contain_text("Leave it")
    expect(page.locator("#timing .releases .late").first).to_be_attached()
    assert page.evaluate(COLOURED) == []
    # What is refused to the whole process is told, and amber.
    document["findings"] = [{"isRefusal": True, "description": "the wake-up latency is not held"}]
    expect(word).to_have_text("refused")
    expect(page.locator("#findings li.warned")).to_have_text("process: the wake-up latency is not held")
    assert page.evaluate(COLOURED) != []
    document["findings"] = []
    state["late"] = 200
    expect(word).to_have_text("late")
    expect(word).to_have_class("led warn")
    expect(page.locator("#timing .slow .releases .late").first).to_be_attached()
    expect(page.locator("#loops td.warned").first).to_be_attached()


def test_a_loop_of_a_system_that_the_page_does_not_know_is_there(enter, own_daemon):
    def change(route):
        answer = route.fetch()
        document = answer.json()
        document["loops"].append({**document["loops"][0], "name": "kiln", "lane": "kiln"})
        route.fulfill(response=answer, json=document)

    page = enter(own_daemon(), view="diagnostics", prepare=lambda page: (Fan().attach(page), page.route("**/api/runtime*", change)))
    expect(page.locator("#timing [data-loop=kiln] .chart rect").first).to_be_attached()
