"use strict";
// The language of the page. Every script speaks English; in another language what they write is translated as it comes into the document, by
// that language's dictionary: first the whole text, then patterns, then its parts between separators. What a person has named is marked
// translate="no"; what no dictionary knows stays as it is, and is among `untranslated`.

const languages = { en: "English", de: "Deutsch" };
const chosen = ofDevice.get("language");
const language = chosen in languages ? chosen : navigator.language.startsWith("de") ? "de" : "en";
// For times of day: this browser's own way, as far as it is of that language.
const locale = navigator.language.startsWith(language) ? undefined : language;

const dictionary = new Map();
const patterns = []; // [expression, replacement]: $1 as it is, {1} translated
const untranslated = new Set();
const isLast = /[.:?!…]$/;
const separators = ["; ", ". ", ": ", " · ", ", ", "  ", " (", " → ", " or ", " and "];
const numbers = /(\d)\.(\d+)(?=\s?(?:%|°C|°|µs|ms|s|L|mm|V|A|W|bar|kB|MB|Hz|Mbit\/s)(?![\w]))/g;

// What german.js has to call once, and the script of a system that has texts of its own.
function addLanguage(code, texts, ofPatterns) {
  if (code !== language) return;
  for (const [english, other] of Object.entries(texts)) dictionary.set(english, other);
  patterns.push(...ofPatterns);
}

function translated(text) {
  if (language === "en") return text;
  const [, before, core, after] = /^(\s*)([^]*?)(\s*)$/.exec(text);
  if (!core) return text;
  const words = /[A-Za-z]{2}/.test(core) ? inOther(core) : null;
  if (words === null && /[A-Za-z]{3}/.test(core) && untranslated.size < 1000) untranslated.add(core);
  return before + (words ?? core).replace(numbers, "$1,$2") + after;
}

// null: not known.
function inOther(text) {
  const known = dictionary.get(text) ?? ofCase(text);
  if (known !== undefined) return known;
  for (const [expression, replacement] of patterns) {
    const found = expression.exec(text);
    if (found) return replacement.replace(/\$(\d)|\{(\d)\}/g, (_, asItIs, other) => asItIs ? found[asItIs] : inOther(found[other]) ?? found[other]);
  }
  if (isLast.test(text) && text.length > 3) {
    const rest = inOther(text.slice(0, -1));
    if (rest !== null) return rest + text.at(-1);
  }
  for (const separator of separators) {
    if (!text.includes(separator)) continue;
    const parts = text.split(separator), others = parts.map((part) => part && inOther(part));
    if (others.some((other, index) => other && other !== parts[index])) return others.map((other, index) => other ?? parts[index]).join(dictionary.get(separator) ?? separator);
  }
  return null;
}

// "Fault" is "fault" at the beginning of a line.
function ofCase(text) {
  const known = dictionary.get(text.charAt(0).toLowerCase() + text.slice(1));
  return known && text.charAt(0) !== text.charAt(0).toLowerCase() ? known.charAt(0).toUpperCase() + known.slice(1) : known;
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
