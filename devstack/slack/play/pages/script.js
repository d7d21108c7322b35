"use strict";
// The page works without this; with it, what changes comes by itself, menus act when something is chosen, and a hint fills the box.
const live = document.getElementById("live");
const text = document.getElementById("text");
for (const hint of document.querySelectorAll("[data-line]")) {
  hint.addEventListener("click", () => { text.value = hint.dataset.line; text.focus(); });
}

// busy says whether somebody is typing, choosing or reading in a part of the page, which then stays as it is.
function busy(part) {
  const at = document.activeElement;
  const typing = part.contains(at) && /^(INPUT|SELECT|TEXTAREA)$/.test(at.tagName) && (!("typed" in at.dataset) || at.value);
  return typing || part.querySelector("details[open]") || (String(getSelection()) && part.contains(getSelection().anchorNode));
}

function show(html) {
  const next = document.createElement("div");
  next.innerHTML = html;
  const [now, then] = [live.querySelector("#modal"), next.querySelector("#modal")];
  if (now.dataset.key !== then.dataset.key) { // not while somebody fills in the same form
    const focus = document.activeElement.id;
    now.replaceWith(then);
    if (focus && then.querySelector("[id='" + focus + "']")) then.querySelector("[id='" + focus + "']").focus();
    ready(then);
  }
  const [columns, fresh] = [live.querySelector(".columns"), next.querySelector(".columns")];
  if (columns.innerHTML !== fresh.innerHTML && !busy(columns)) {
    columns.replaceWith(fresh);
    ready(fresh);
  }
}

async function look() {
  try {
    const answer = await fetch(live.dataset.from);
    if (answer.ok) show(await answer.text());
  } catch { /* it is stopped; look again */ }
}

function ready(part) {
  for (const field of part.querySelectorAll("[data-live]")) {
    field.addEventListener("change", async () => {
      const form = field.form;
      if (!("view" in form.dataset)) { form.requestSubmit(); return; }
      await fetch("/playground/view", { method: "POST", body: new URLSearchParams(new FormData(form)), redirect: "manual" });
      await look();
    });
  }
  for (const deny of part.querySelectorAll(".confirm .deny")) {
    deny.addEventListener("click", () => { deny.closest("details").open = false; });
  }
}

ready(document);
(async function again() { await look(); setTimeout(again, 700); })();
