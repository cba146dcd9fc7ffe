"""The view of the parts, for who writes a card."""
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from others import go
from test_views import SIZES, SMALL

PARTS = ["Tile", "Switch", "Buttons", "Slider", "Gauge", "Input of a command", "Chart", "Columns", "Table", "Time line", "Log"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_it_shows_every_part_with_the_lines_that_make_it(enter, own_daemon, size, scheme):
    width, height = SIZES[size]
    page = enter(own_daemon(), view="parts", width=width, height=height, color_scheme=scheme, bypass_csp=True)
    assert page.locator("#parts h3").evaluate_all("all => all.filter((one) => !one.closest('.example')).map((one) => one.textContent)") == PARTS
    for summary in page.locator("#parts summary:visible").all():
        summary.click()
    assert Axe().run(page).response["violations"] == []
    assert page.evaluate(SMALL) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_lines_make_what_is_shown(enter, own_daemon):
    """Run by themselves, they draw the same once more."""
    page = enter(own_daemon(), bypass_csp=True)
    # Times are the controller's from now on.
    expect(page.locator("#time-zone")).not_to_contain_text("this browser")
    page.evaluate("location.hash = '#/parts'")
    expect(page.locator("#parts .panel")).to_have_count(len(PARTS))
    different = page.evaluate("""() => [...document.querySelectorAll("#parts .panel")].filter((panel) => {
      const shown = panel.querySelector(".example"), again = document.createElement("div"), before = shown.innerHTML;
      again.className = "example";
      shown.replaceWith(again);
      new Function("place", panel.querySelector("pre").textContent)(again);
      return again.innerHTML !== before || !before;
    }).map((panel) => panel.querySelector("h3").textContent)""")
    assert different == []
    button = page.get_by_role("button", name="Start")
    button.click()
    expect(page.locator("#parts .say")).to_contain_text("the grille is off")


def test_it_is_fetched_only_where_somebody_asks_and_speaks_german(enter, own_daemon):
    asked = []
    page = enter(own_daemon(), locale="de-DE", prepare=lambda page: page.on("request", lambda request: asked.append(request.url)))
    go(page, "diagnostics")
    assert not any("/parts-" in url for url in asked)
    page.evaluate("location.hash = '#/parts'")
    expect(page.locator("#parts-title")).to_have_text("Teile einer Karte")
    expect(page.locator("#parts h3").first).to_have_text("Kachel")
    own = page.locator("#parts :is(h2, h3, summary, .hint)").evaluate_all("all => all.filter((one) => !one.closest('.example')).map((one) => one.textContent)")
    assert [text for text in own if text in page.evaluate("[...untranslated]")] == []
