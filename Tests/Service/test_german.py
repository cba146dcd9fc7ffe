"""Everything that the page says has German, and API's messages are in words: by the sources alone, without a daemon or a browser."""
import pytest

import german
from german import CONSOLE, HOLE, WHOLES, Page, plain, refusals, sentences, shown, sources

pytestmark = pytest.mark.protocol

# What scripts and patterns put together, and no source has in one piece.
COMPOSED = {"lines not confirmed", "over a year old", "by this page", "by another page or program", "by a page or program", "by somebody"}


@pytest.fixture(scope="module")
def page():
    return Page()


def test_every_text_of_the_scripts_and_cards_has_german(page):
    texts = shown()
    assert len(texts) > 600, "the scripts and cards are read"
    assert [(str(where), text.replace(HOLE, "…")) for text, where in texts.items() if page.lacks(text)] == []


def test_every_sentence_that_scripts_put_together_has_german(page):
    assert [whole for whole in WHOLES if page.known(whole) is None] == []


def test_every_refusal_notice_state_and_way_out_of_the_systems_has_german(page):
    texts = sentences()
    assert len(texts) > 150, "the sources are read"
    assert [(str(where), text.replace(HOLE, "…")) for text, where in texts.items() if page.lacks(page.worded(text))] == []


def test_every_recorded_refusal_is_in_words_and_has_german(page):
    found = refusals()
    assert len(found) > 60, "the recordings are read"
    said = {page.in_plain_words(message, field): where for (message, field), where in found.items()}
    assert [(str(where), text) for text, where in said.items() if page.lacks(text)] == []
    assert [text for text in said if ", got " in text or "scope" in text or "GET " in text.replace("GET /api/plants/pictures", "")] == []


@pytest.mark.parametrize("message, field, words", [
    ("minutes: expected minutes, 0.02…1440, got 9999", "minutes", "Minutes: from 0.02 to 1440"),
    ("zones[2].minutes: expected a number 0.1…1440, got 0", "zones[2].minutes", "Zones 3, minutes: from 0.1 to 1440"),
    ("startTimes[0]: expected a time of day, got x, y", "startTimes[0]", "Start times 1: a time of day"),
    ("pulseUs: expected an integer 500…2500, got nothing", "pulseUs", "Pulse: a whole number from 500 to 2500"),
    ("expected a token of scope control, got one of scope read", None, "This device may only look. Log in with one that may control"),
    ("motors.speed_limit: expected a number 0…100, got 400; nothing was changed", None, "motors.speed_limit: from 0 to 100; nothing was changed"),
    ("zone 3: it is paused; resume first", None, "zone 3: it is paused; resume first"),
])
def test_a_refusal_is_said_by_what_its_field_expects(page, message, field, words):
    assert page.in_plain_words(message, field) == words


def test_a_title_that_has_german_is_not_taken_for_the_name_in_lower_case(page, monkeypatch):
    monkeypatch.setattr(german, "NAMES", {*german.NAMES, "pump"})
    page.made.clear()
    assert page.known("Pump: emergency stopped") == "Pumpe: Not-Aus"
    page.made.clear()


@pytest.mark.parametrize("text", [
    "watered, and the moon is new", "dry. Never said before.", "stopped: nobody has heard of this", "Remove the old thing", "3 plants; of the other kind", "until the cows come home",
])
def test_of_a_text_that_is_known_by_half_nothing_is_german(page, text):
    assert page.known(text) is None


def test_a_number_has_the_same_dot_in_the_dictionaries_and_a_comma_on_the_page():
    language = (CONSOLE / "language.js").read_text()
    numbers = language[language.index("const numbers"):].split("\n")[0]
    for unit in ("l", "m", "mm", "s", "min", "°C", "V", "Hz"):
        assert f"|{unit}|" in numbers.replace("(?:", "|").replace(")(", "|").replace("/(", "|"), unit


def test_no_english_text_is_translated_twice_and_none_that_nothing_says(page):
    seen, said = {}, sources()
    for file, (texts, _) in page.entries.items():
        for english, _ in texts:
            assert english not in seen, f"{english}: in {seen[english]} and {file}"
            seen[english] = file
            begins = {english, english[:1].lower() + english[1:], english[:1].upper() + english[1:]}
            words = english.split()
            camel = {words[0] + "".join(word[:1].upper() + word[1:] for word in words[1:])} if words else set()
            assert english in COMPOSED or any(one in said for one in begins | camel), f"{english}: nothing says it"
    assert plain("emergencyStopped") == "emergency stopped"
