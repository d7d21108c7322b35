// Shows what another profile or team leaves to choose as soon as it is chosen. Without it the button beside them does.
"use strict";
const button = document.querySelector("button[value=choices]");
for (const field of document.querySelectorAll("select#profile, select#team")) {
  field.addEventListener("change", () => field.form.requestSubmit(button));
}
