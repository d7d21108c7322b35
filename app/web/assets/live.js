// Keeps what is marked data-live fresh by reading the same page again. Without it the page still works.
"use strict";
const every = 2000;
const toEnd = () => { for (const box of document.querySelectorAll("[data-end]")) box.scrollTop = box.scrollHeight; };
async function look() {
  if (!document.hidden) {
    try {
      const answer = await fetch(location.href, { redirect: "manual" });
      if (answer.ok) {
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
        document.title = fresh.title;
        for (const now of document.querySelectorAll("[data-live][id]")) {
          const next = fresh.getElementById(now.id);
          if (next && next.innerHTML !== now.innerHTML && !now.contains(document.activeElement)) {
            const bottom = now.scrollTop + now.clientHeight >= now.scrollHeight - 4;
            now.innerHTML = next.innerHTML;
            if (bottom) now.scrollTop = now.scrollHeight;
          }
        }
        const parts = doc => [...doc.querySelectorAll("[data-live][id]")].map(e => e.id).join();
        if (parts(fresh) !== parts(document)) location.reload();
      }
    } catch { /* the server is away; look again */ }
  }
  setTimeout(look, every);
}
toEnd();
setTimeout(look, every);
