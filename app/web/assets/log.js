// Follows a log: adds the lines that were logged since, and stays at the end unless the reader scrolled up. Without it there is a link.
"use strict";
const lines = document.getElementById("lines"), follow = document.getElementById("follow"), on = follow.querySelector("input");
const atEnd = () => lines.scrollTop + lines.clientHeight >= lines.scrollHeight - 4;
const toEnd = () => { lines.scrollTop = lines.scrollHeight; };
follow.hidden = false;

async function readOn() {
  if (document.hidden || !on.checked) return true;
  const address = new URL(location.pathname, location.href);
  address.searchParams.set("after", lines.dataset.last);
  const answer = await fetch(address, { redirect: "manual" }).catch(() => null);
  if (!answer) return true; // the server is away
  if (!answer.ok) return false;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html"), fresh = page.getElementById("lines");
  if (!fresh) return false;
  const stay = !atEnd() || getSelection().containsNode(lines, true) && !getSelection().isCollapsed;
  for (const id of ["last", "total"]) document.getElementById(id).textContent = page.getElementById(id).textContent;
  lines.append(...fresh.childNodes);
  if (!stay) toEnd();
  lines.dataset.last = fresh.dataset.last;
  return "follows" in fresh.dataset || page.querySelector("[rel=next]") !== null; // more than a page may have been logged while nobody looked
}

async function run() {
  if (await readOn()) setTimeout(run, 3000);
  else follow.hidden = true;
}
if (!location.hash) toEnd();
run();
