// Keeps the changing parts of a pull request's page up to date. The page works without it.
"use strict";
const page = document.querySelector("[data-live]");
let tag = "";

async function refresh() {
  try {
    const headers = tag ? { "If-None-Match": tag } : {};
    const answer = await fetch(page.dataset.live, { headers, cache: "no-store" });
    if (answer.status !== 200) return;
    tag = answer.headers.get("ETag") || "";
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const next of fresh.querySelectorAll("[id^=live-]")) {
      const old = document.getElementById(next.id);
      if (old && next.innerHTML !== old.innerHTML) swap(old, next);
    }
  } catch {
    // The stand-in is stopped or starting; the next round asks again.
  }
}

// swap puts a fresh part in the place of an old one and keeps its folds and the focus as they are.
function swap(old, next) {
  const open = new Set([...old.querySelectorAll("details[open]")].map(heading));
  const shut = new Set([...old.querySelectorAll("details:not([open])")].map(heading));
  for (const d of next.querySelectorAll("details")) {
    if (open.has(heading(d))) d.open = true;
    if (shut.has(heading(d))) d.open = false;
  }
  const stops = part => [...part.querySelectorAll("a, button, summary")];
  const at = stops(old).indexOf(document.activeElement);
  old.replaceWith(next);
  if (at >= 0) stops(next)[at]?.focus({ preventScroll: true });
}

// heading names a fold across refreshes, whatever its changing words are.
function heading(d) {
  const fold = d.querySelector("summary b") || d.querySelector("summary");
  const place = d.closest("[id]");
  return (place ? place.id : "") + "/" + (fold ? fold.textContent : "");
}

async function watch() {
  if (!document.hidden) await refresh();
  setTimeout(watch, 1000);
}

if (page) {
  watch();
  for (const hint of document.querySelectorAll("[data-line]")) {
    hint.addEventListener("click", () => {
      const box = document.getElementById("body");
      box.value = hint.dataset.line;
      box.focus();
    });
  }
}
