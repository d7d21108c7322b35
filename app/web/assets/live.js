// Keeps what is marked data-live fresh by reading the same page again. Without it the page still works.
"use strict";
const every = 2000;
const shown = new WeakMap([...document.querySelectorAll("[data-live][id]")].map(e => [e, e.innerHTML])); // what each part was made from: what a reader opened since is no news
const toEnd = () => { for (const box of document.querySelectorAll("[data-end]")) box.scrollTop = box.scrollHeight; };
const typed = f => f.tagName === "SELECT" ? f.selectedIndex !== Math.max(0, [...f.options].findIndex(o => o.defaultSelected)) : f.type !== "hidden" && f.value !== f.defaultValue;
const begun = box => [...box.querySelectorAll("input, select, textarea")].some(typed); // somebody is filling in a form there
async function look() {
  if (!document.hidden) {
    try {
      const answer = await fetch(location.href, { redirect: "manual" });
      if (answer.ok) {
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
        document.title = fresh.title;
        for (const now of document.querySelectorAll("[data-live][id]")) {
          const next = fresh.getElementById(now.id);
          if (next && next.innerHTML !== shown.get(now) && !now.contains(document.activeElement) && !begun(now)) {
            const bottom = now.scrollTop + now.clientHeight >= now.scrollHeight - 4;
            const open = [...now.querySelectorAll("details")].map(d => d.open);
            shown.set(now, next.innerHTML);
            now.innerHTML = next.innerHTML;
            now.querySelectorAll("details").forEach((d, i) => { d.open = open[i] ?? false; });
            if (bottom) now.scrollTop = now.scrollHeight;
          }
        }
        const parts = doc => [...doc.querySelectorAll("[data-live][id]")].map(e => e.id).join();
        if (parts(fresh) !== parts(document) && !begun(document)) location.reload();
      }
    } catch { /* the server is away; look again */ }
  }
  setTimeout(look, every);
}
toEnd();
setTimeout(look, every);
