// Keeps a page fresh: the server sends the parts that changed. Without it the page still works.
"use strict";
const main = document.getElementById("main");
const ahead = Date.parse(main.dataset.now) - Date.now(); // of the server's clock
const late = new Map(); // parts that came while somebody used what they replace
let has = main.dataset.has; // what the page has, for the server; nothing: it stays as it is
let wait = 4000, failures = 0, over = !has, reading, again, hidden;

const typed = f => f.tagName === "SELECT" ? f.selectedIndex !== Math.max(0, [...f.options].findIndex(o => o.defaultSelected)) : f.type !== "hidden" && f.value !== f.defaultValue;
const begun = box => [...box.querySelectorAll("input, select, textarea")].some(typed); // somebody is filling in a form there
const inUse = box => begun(box) || box.id !== "page" && box.contains(document.activeElement);

// put shows one part, and keeps what the reader did: open details, the place in a log, and the parts inside, which come by themselves.
function put(id, html) {
  const fresh = document.createElement("template");
  fresh.innerHTML = html;
  if (id === "title") document.title = fresh.content.textContent;
  const now = document.getElementById(id);
  if (!now || inUse(now)) return id === "title";
  const bottom = now.scrollTop + now.clientHeight >= now.scrollHeight - 4, focus = document.activeElement;
  const open = new Map([...now.querySelectorAll("details")].map(d => [d.firstElementChild.textContent, d.open]));
  for (const slot of fresh.content.querySelectorAll("[data-live][id]")) {
    const old = document.getElementById(slot.id);
    if (old) slot.replaceChildren(...old.childNodes);
  }
  now.replaceChildren(fresh.content);
  for (const d of now.querySelectorAll("details")) d.open = open.get(d.firstElementChild.textContent) ?? d.open;
  if (bottom) now.scrollTop = now.scrollHeight;
  if (id === "page") toEnd();
  if (focus !== document.activeElement && focus.isConnected) focus.focus({ preventScroll: true });
  return true;
}
function putAll() {
  for (let before = -1; before !== late.size;) { // a part may be inside of one that comes after it
    before = late.size;
    for (const [id, html] of late) if (put(id, html)) late.delete(id);
  }
}

function take(event) {
  const field = name => event.split("\n").filter(l => l.startsWith(name + ": ")).map(l => l.slice(name.length + 2)).join("\n");
  const name = field("event"), retry = field("retry");
  if (retry) wait = Number(retry);
  if (name === "end" || name === "reload") over = true;
  if (name === "reload" && !begun(document)) location.reload();
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
    if (answer.type === "opaqueredirect" || answer.status === 403 || answer.status === 404) return take("event: reload"); // signed out, or may see it no more
    if (!answer.ok) throw wait = 1000 * Math.max(4, Number(answer.headers.get("Retry-After")) || 0);
    failures = 0;
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
  if (!over && !document.hidden) again = setTimeout(read, Math.min(wait * 2 ** failures, 120000) * (0.5 + Math.random()));
}

document.addEventListener("visibilitychange", () => { // a browser has few connections, so a page that nobody sees gives its own back
  clearTimeout(hidden);
  if (document.hidden) hidden = setTimeout(() => reading?.abort(), 20000);
  else if (!over && !reading) read();
});
document.addEventListener("focusout", () => setTimeout(putAll));

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
