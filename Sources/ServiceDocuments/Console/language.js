"use strict";
// The language of the page. Every script speaks English; in another language what they write is translated as it comes into the document, by that
// language's dictionary: first the whole text, then patterns, then its parts between separators, if every one of them is known. What a person has named is
// marked translate="no", or is known from what the daemon has told (`names`). What no dictionary knows whole stays as it is, and is among `untranslated`.

const languages = { en: "English", de: "Deutsch" };
const chosen = ofDevice.get("language");
const language = chosen in languages ? chosen : navigator.language.startsWith("de") ? "de" : "en";
// For times of day: this browser's own way, as far as it is of that language.
const locale = navigator.language.startsWith(language) ? undefined : language;

const dictionary = new Map();
const patterns = []; // [expression, replacement]: {1} translated, $1 a value or a name, <1> whatever it is
const untranslated = new Set();
const isLast = /[.:?!…)]$/;
const separators = ["  ", " · ", "; ", ". ", ": ", ", ", " → ", " (", " or ", " and ", "("];
const numbers = /(\d)\.(\d+)(?=\s?(?:%|°C|°|µs|ms|s|min|h|L|l|mm|m|V|A|W|bar|kB|MB|Hz|Mbit\/s)(?!\w))/g;

const names = new Set(); // as people have named things: of the systems, and clients
const sameWords = new Set("min max mm ms kB MB Hz kHz Mbit rpm UTC AM PM sunrise sunset CSV API QR MP MJPEG WebRTC RTSP GPIO UDP PNG JSON".split(" ")); // in every language

// What german.js has to call once, and the script of a system that has texts of its own.
function addLanguage(code, texts, ofPatterns) {
  if (code !== language) return;
  for (const [english, other] of Object.entries(texts)) dictionary.set(english, other);
  patterns.push(...ofPatterns);
  translations.clear();
}

// The names in what the daemon has told.
function learnNames(told) {
  if (language !== "en") JSON.stringify(told, (key, value) => { if (typeof value === "string" && /^(id|chip|user|title)$|name$/i.test(key) && !names.has(value)) { names.add(value); translations.clear(); } return value; });
}

function translated(text) {
  if (language === "en") return text;
  const [, before, core, after] = /^(\s*)([^]*?)(\s*)$/.exec(text), words = inOther(core);
  if (words === null && untranslated.size < 1000) untranslated.add(core);
  return words === null ? text : before + words.replace(numbers, "$1,$2") + after;
}

const translations = new Map(); // text → what was found for it

// null: not known.
function inOther(text) {
  if (translations.size > 5000) translations.clear();
  if (!translations.has(text)) translations.set(text, seek(text));
  return translations.get(text);
}

// A name, or nothing but numbers, units, addresses, files, chips.
const isSame = (text) => names.has(text) || (text.replace(/\S*(?:\d|:\/\/|_|\w\.\w)\S*/g, "").match(/[A-Za-zÀ-ž]{2,}/g) ?? []).every((word) => sameWords.has(word));
const isValue = (text) => text.split(", ").every((part) => !part.includes(" ") || isSame(part));

function seek(text) {
  const known = dictionary.get(text) ?? dictionary.get(text + ".")?.slice(0, -1);
  if (known !== undefined) return known;
  if (isSame(text)) return text;
  for (const [expression, replacement] of patterns) {
    const found = expression.exec(text);
    let isKnown = found !== null;
    const made = isKnown && replacement.replace(/([${<])(\d)[}>]?/g, (_, kind, number) => {
      const part = found[number] ?? "", other = kind === "{" ? inOther(part) : part;
      if (other === null || (kind === "$" && !isValue(part))) isKnown = false;
      return other;
    });
    if (isKnown) return made;
  }
  for (const name of names) {
    const rest = text.startsWith(name + " ") ? inOther(text.slice(name.length + 1)) : null;
    if (rest !== null) return name + " " + rest;
  }
  // "Fault" is "fault" at the beginning of a line; "Pump", which has a word of its own, is not the name "pump", which stays.
  const [first] = /^[A-Z]\w*/.exec(text) ?? [];
  if (first && !(dictionary.has(first) && names.has(first.toLowerCase()))) {
    const lower = inOther(text.charAt(0).toLowerCase() + text.slice(1));
    if (lower !== null) return lower.charAt(0).toUpperCase() + lower.slice(1);
  }
  if (isLast.test(text) && text.length > 3) {
    const rest = inOther(text.slice(0, -1));
    if (rest !== null) return rest + text.at(-1);
  }
  for (const separator of separators) {
    if (!text.includes(separator)) continue;
    const parts = text.split(separator);
    if (parts.every((part) => inOther(part) !== null)) return parts.map(inOther).join(dictionary.get(separator) ?? separator);
  }
  return null;
}

// ---- what comes into the document

const shownAttributes = ["title", "aria-label", "placeholder", "data-age", "data-label", "alt"];
const written = new WeakMap(); // node → {attribute or "": what stands there translated}
const isKept = (node) => (node.nodeType === Node.TEXT_NODE ? node.parentElement : node)?.closest("[translate=no], script, style, code");

function translateOne(node, key, read, write) {
  const text = read();
  if (!text || isKept(node)) return;
  const before = written.get(node) ?? {};
  if (before[key] === text) return;
  before[key] = translated(text);
  written.set(node, before);
  if (before[key] !== text) write(before[key]);
}

function translateAll(node) {
  if (node.nodeType === Node.TEXT_NODE) return translateOne(node, "", () => node.data, (text) => { node.data = text; });
  if (node.nodeType !== Node.ELEMENT_NODE) return;
  for (const name of shownAttributes) translateAttribute(node, name);
  for (const child of node.childNodes) translateAll(child);
}

function translateAttribute(node, name) {
  translateOne(node, name, () => node.getAttribute(name), (text) => node.setAttribute(name, text));
}

function speak() {
  document.documentElement.lang = language;
  translateAll(document.documentElement);
  new MutationObserver((records) => {
    for (const { type, target, attributeName, addedNodes } of records) {
      if (type === "attributes") translateAttribute(target, attributeName);
      else if (type === "characterData") translateAll(target);
      else for (const node of addedNodes) translateAll(node);
    }
  }).observe(document.documentElement, { subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: shownAttributes });
}

// Writes a text that may be there already, which a screen reader would say again.
const puts = new WeakMap();
function put(place, text) {
  if (puts.get(place) === text) return;
  puts.set(place, text);
  place.textContent = text;
}

addEventListener("DOMContentLoaded", () => {
  const other = Object.keys(languages).find((one) => one !== language);
  Object.assign(document.getElementById("language"), { textContent: languages[other], lang: other });
  document.getElementById("language").onclick = () => {
    releaseAll();
    ofDevice.set("language", other);
    location.reload();
  };
});

// The address of a file that the page names; it has a hash behind its name.
const fileOf = (name) => document.querySelector(`link[href^="${name}-"]`).href;

if (language === "de") {
  // Of days and months, which the browser writes.
  for (let one = 0; one < 12; one++) {
    for (const form of ["short", "long"]) {
      for (const text of [new Date(2026, one, 9).toLocaleDateString(locale, { month: form }), new Date(2026, 0, one + 1).toLocaleDateString(locale, { weekday: form })]) sameWords.add(text.replace(".", ""));
    }
  }
  // Nothing is shown in one language and then in another.
  document.documentElement.dataset.waits = "";
  const show = () => delete document.documentElement.dataset.waits;
  const script = Object.assign(document.createElement("script"), { src: fileOf("german"), onerror: show });
  script.onload = () => {
    const begin = () => { speak(); show(); };
    if (document.readyState === "loading") addEventListener("DOMContentLoaded", begin); else begin();
  };
  document.head.append(script);
}
