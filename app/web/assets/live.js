// Keeps a page fresh: the server sends the parts that changed. Without it the page still works.
"use strict";
const main = document.getElementById("main");
const ahead = Date.parse(main.dataset.now) - Date.now(); // of the server's clock
const late = new Map(); // parts that came while somebody used or read what they replace
const news = document.getElementById("news"); // read aloud
const note = document.getElementById("note"); // shown
let has = main.dataset.has; // what the page has, for the server; nothing: it stays as it is
let wait = 4000, failures = 0, over = !has, reading, again, hidden, unreached = false, lost = false;

const typed = f => f.tagName === "SELECT" ? f.selectedIndex !== Math.max(0, [...f.options].findIndex(o => o.defaultSelected)) : f.type !== "hidden" && f.value !== f.defaultValue;
const begun = box => [...box.querySelectorAll("input, select, textarea")].some(typed); // somebody is filling in a form there
const partOf = node => (node?.closest ? node : node?.parentElement)?.closest("[data-live]");
const selection = () => { const s = getSelection(); return s.isCollapsed ? null : s; };
const scrolledUp = box => box.hasAttribute("data-end") && box.scrollTop + box.clientHeight < box.scrollHeight - 4;

// inUse reports whether somebody fills in, reads or has the focus in a part. Only what is in no other part counts for the whole page.
function inUse(box) {
  if (begun(box) || scrolledUp(box)) return true;
  const s = selection();
  if (box.id === "page") return [document.activeElement, s?.anchorNode, s?.focusNode].some(node => partOf(node) === box);
  return box.contains(document.activeElement) || Boolean(s?.getRangeAt(0).intersectsNode(box));
}

// put shows one part, and keeps what the reader did: open details, the place in a log, and the parts inside, which come by themselves. A part
// that somebody uses or reads waits, unless they asked for it.
function put(id, html, asked) {
  const fresh = document.createElement("template");
  fresh.innerHTML = html;
  if (id === "title") document.title = fresh.content.textContent;
  const now = document.getElementById(id);
  if (!now || inUse(now) && !asked) return id === "title";
  const bottom = !scrolledUp(now), focus = document.activeElement, said = state(now), s = selection();
  const selected = s && [s.anchorNode, s.anchorOffset, s.focusNode, s.focusOffset];
  const open = new Map([...now.querySelectorAll("details")].map(d => [d.firstElementChild.textContent, d.open]));
  const begunFields = new Map([...now.querySelectorAll("[id]")].filter(f => "defaultValue" in f && typed(f)).map(f => [f.id, f.value]));
  for (const slot of fresh.content.querySelectorAll("[data-live][id]")) {
    const old = document.getElementById(slot.id);
    if (old) slot.replaceChildren(...old.childNodes);
  }
  now.replaceChildren(fresh.content);
  for (const d of now.querySelectorAll("details")) d.open = open.get(d.firstElementChild.textContent) ?? d.open;
  for (const [field, value] of begunFields) { const f = document.getElementById(field); if (f) f.value = value; }
  if (bottom) now.scrollTop = now.scrollHeight;
  if (id === "page") toEnd();
  if (focus !== document.activeElement && focus.isConnected) focus.focus({ preventScroll: true });
  if (selected?.[0].isConnected && selected[2].isConnected) getSelection().setBaseAndExtent(...selected);
  if (state(now) !== said) news.textContent = state(now);
  return true;
}

// state returns what is read aloud of a part: the name and status of its cluster, when it has a status.
function state(box) {
  const pill = box.querySelector(":scope .pill"), name = box.querySelector("h1, a");
  return pill && name && box.id !== "page" && box.id !== "clusters" ? `${name.firstChild.textContent.trim()}: ${pill.textContent}` : "";
}

// missed counts what waits: the new lines of a log, and every other part as one.
function missed() {
  let n = 0;
  for (const [id, html] of late) {
    const now = document.getElementById(id);
    if (!now) continue;
    if (!now.hasAttribute("data-end")) { n++; continue; }
    const fresh = document.createElement("template");
    fresh.innerHTML = html;
    const lines = fresh.content.textContent.trimEnd().split("\n");
    n += lines.length - 1 - lines.lastIndexOf(now.textContent.trimEnd().split("\n").pop());
  }
  return n;
}
// tell shows a note until there is another, with a link or button for what the reader can do about it. What it counts is not read aloud again.
function tell(text, label, act) {
  if (!text) return void (note.hidden = true);
  if (note.hidden || note.dataset.label !== label) {
    const does = document.createElement(typeof act === "string" ? "a" : "button");
    does.textContent = label;
    if (typeof act === "string") does.href = act; else does.onclick = act;
    note.replaceChildren(document.createElement("span"), " ", does);
    note.dataset.label = label;
    note.hidden = false;
    news.textContent = text;
  }
  note.firstChild.textContent = text;
}
function tellPaused() {
  if (lost || unreached) return;
  const n = missed();
  tell(n ? `Paused while you read: ${n} new.` : "", "Show", () => putAll(true));
}
function putAll(asked) {
  for (let before = -1; before !== late.size;) { // a part may be inside of one that comes after it
    before = late.size;
    for (const [id, html] of late) if (put(id, html, asked === true)) late.delete(id);
  }
  tellPaused();
}

// tellOver says that the page stays as it is, because its reader is signed out or their rights changed.
async function tellOver(signedOut) {
  over = lost = true;
  if (!signedOut) signedOut = (await fetch(location.href, { redirect: "manual" }).catch(() => ({}))).type === "opaqueredirect";
  if (signedOut) tell("You are signed out. This page is not up to date.", "Sign in", "/login?next=" + encodeURIComponent(location.pathname + location.search));
  else tell("What you may see has changed. This page is not up to date.", "Load it again", () => location.reload());
}

function take(event) {
  const field = name => event.split("\n").filter(l => l.startsWith(name + ": ")).map(l => l.slice(name.length + 2)).join("\n");
  const name = field("event"), retry = field("retry");
  if (retry) wait = Number(retry);
  if (name === "end" || name === "reload") over = true;
  if (name === "reload") tellOver(false);
  if (name !== "parts") return;
  has = field("id");
  for (const [id, html] of JSON.parse(field("data"))) { late.delete(id); late.set(id, html); }
  putAll();
}

async function read() {
  clearTimeout(again);
  reading = new AbortController();
  wait = 4000;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/event-stream", "Last-Event-ID": has }, redirect: "manual", signal: reading.signal });
    if (answer.type === "opaqueredirect") return tellOver(true);
    if (answer.status === 403 || answer.status === 404) return tellOver(false);
    if (!answer.ok) throw wait = 1000 * Math.max(4, Number(answer.headers.get("Retry-After")) || 0);
    failures = 0;
    if (unreached) note.hidden = true;
    unreached = false;
    let text = "";
    for (const body = answer.body.pipeThrough(new TextDecoderStream()).getReader(); ;) {
      const { value, done } = await body.read();
      if (done) break;
      const events = (text + value).split("\n\n");
      text = events.pop();
      events.forEach(take);
    }
  } catch { failures++; } // the server is away, or this page went to the background
  reading = null;
  if (failures >= 2 && !document.hidden) {
    if (!unreached) tell(`No connection to the server since ${new Date().toLocaleTimeString()}. This page is not up to date.`, "Try now", () => { clearTimeout(again); if (!reading) read(); });
    unreached = true;
  }
  if (!over && !document.hidden) again = setTimeout(read, Math.min(wait * 2 ** failures, 120000) * (0.5 + Math.random()));
}

document.addEventListener("visibilitychange", () => { // a browser has few connections, so a page that nobody sees gives its own back
  clearTimeout(hidden);
  if (document.hidden) hidden = setTimeout(() => reading?.abort(), 20000);
  else if (!over && !reading) read();
});
for (const done of ["focusout", "selectionchange"]) document.addEventListener(done, () => { if (late.size) setTimeout(putAll); });
document.addEventListener("scroll", () => { if (late.size) putAll(); }, { capture: true, passive: true });

// Times that are told by their distance from now, as internal/duration writes them.
function away(t) {
  const far = t - Date.now() - ahead;
  let s = Math.round(Math.abs(far) / 1000);
  if (s >= 600) s = Math.round(s / 60) * 60;
  const texts = [];
  for (const [length, name] of s > 345600 ? [[86400, "d"], [3600, "h"], [60, "min"]] : [[3600, "h"], [60, "min"], [1, "s"]]) {
    const n = Math.floor(s / length);
    if (n > 0 && texts.length < 2) { texts.push(`${n} ${name}`); s -= n * length; }
  }
  return texts.length === 0 ? "now" : far < 0 ? texts.join(" ") + " ago" : "in " + texts.join(" ");
}
setInterval(() => { for (const t of document.querySelectorAll("time[data-away]")) t.textContent = away(Date.parse(t.dateTime)); }, 10000);

const toEnd = () => { for (const box of document.querySelectorAll("[data-end]")) box.scrollTop = box.scrollHeight; };
toEnd();
if (!over && !document.hidden) read();
