// Shows what another profile or team leaves to choose as soon as it is chosen, on the same page. Without it the button beside them does.
"use strict";
const form = document.querySelector("form.create");
let asked = 0;

form.addEventListener("change", async event => {
  if (!event.target.matches("select#profile, select#team")) return;
  const mine = ++asked, sent = new URLSearchParams(new FormData(form));
  sent.set("do", "choices");
  const answer = await fetch(form.action, { method: "POST", body: sent }).catch(() => null);
  if (!answer?.ok) return; // the button asks again
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("form.create");
  if (!fresh || mine !== asked) return;
  const focus = document.activeElement.id;
  for (const field of form.querySelectorAll("input[id], textarea[id]")) { // typed in the meantime
    const now = fresh.querySelector(`#${field.id}`);
    if (now && field.value !== sent.get(field.name)) now.value = field.value;
  }
  form.replaceChildren(...fresh.childNodes);
  if (focus) document.getElementById(focus)?.focus();
  document.getElementById("chosen").textContent = `The choices are those of profile ${form.profile.value}.`;
});
