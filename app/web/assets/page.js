// Helps on every page: buttons that copy, times in the reader's own time zone, and keys. Pages work without it.
"use strict";
{
  const make = (name, text, attributes = {}) => {
    const made = document.createElement(name);
    made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  const tell = text => { // read aloud
    const news = document.getElementById("news") ?? document.body.appendChild(make("p", "", { id: "news", class: "sr", role: "status" }));
    news.textContent = text;
  };

  // What can be copied has a button beside it, also after a part of the page was replaced.
  const addButtons = () => {
    for (const code of document.querySelectorAll("code[data-copy]:not(.copies)")) {
      code.classList.add("copies");
      const text = code.textContent, button = make("button", "Copy", { type: "button", class: "second small", "aria-label": "Copy " + text });
      button.addEventListener("click", async () => {
        const copied = await navigator.clipboard?.writeText(text).then(() => true, () => false);
        getSelection().selectAllChildren(code); // where the browser does not let pages copy, the reader can copy it
        button.textContent = copied || document.execCommand("copy") ? "Copied" : "Selected";
        tell(button.textContent + ".");
        setTimeout(() => { button.textContent = "Copy"; }, 2000);
      });
      code.after(" ", button);
    }
  };
  addButtons();
  new MutationObserver(addButtons).observe(document.getElementById("main"), { childList: true, subtree: true });

  // A time says what it is in the reader's time zone when the pointer rests on it.
  document.addEventListener("pointerover", event => {
    const time = event.target.closest?.("time[datetime]");
    if (!time) return;
    const at = new Date(time.dateTime);
    time.title = `${at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "long" })}\n${time.dateTime.replace("T", " ").replace("Z", " UTC")}`;
  });

  // Keys. They can be switched off, and mean nothing while somebody types.
  const link = to => document.querySelector(`.ways a[href="${to}"]`);
  const go = to => () => link(to)?.click();
  const keys = {
    "/": ["Search", () => {
      const search = document.querySelector("main input[type=search]");
      if (search) search.focus(); else location.href = "/clusters#q";
    }],
    n: ["New cluster", go("/new")], s: ["Start", go("/")], c: ["Clusters", go("/clusters")], p: ["Profiles", go("/profiles")], a: ["Approvals", go("/approvals")],
    "?": ["These keys", () => show()],
  };
  const off = () => { try { return localStorage.getItem("keys") === "off"; } catch { return false; } };
  const typing = target => target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typing(event.target) || document.querySelector("dialog[open]")) return;
    if (off() || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key][1]();
  });

  let dialog;
  const show = () => {
    if (!dialog) {
      dialog = make("dialog", "", { "aria-labelledby": "keys-title" });
      const list = make("dl", ""), choice = make("label", " Use these keys", { class: "check" }), box = make("input", "", { type: "checkbox" }), close = make("button", "Close");
      for (const [key, [text]] of Object.entries(keys)) {
        const name = make("dt", "");
        name.append(make("kbd", key));
        list.append(name, make("dd", text));
      }
      box.checked = !off();
      box.addEventListener("change", () => { try { localStorage.setItem("keys", box.checked ? "on" : "off"); } catch { /* it lasts until the page is left */ } });
      choice.prepend(box);
      close.addEventListener("click", () => dialog.close());
      dialog.append(make("h2", "Keys", { id: "keys-title" }), list, choice, close);
      document.body.append(dialog);
    }
    dialog.showModal();
  };
  if (document.querySelector(".ways")) {
    const opener = make("button", "Keys", { type: "button", class: "quiet" });
    opener.addEventListener("click", show);
    document.querySelector("footer").append(" · ", opener);
  }
  if (location.hash === "#q") document.getElementById("q")?.focus();
}
