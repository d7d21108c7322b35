// Checks every page with axe as each role, light and dark, in three widths, and that no page scrolls sideways on a phone.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { axe, close, open, scene } from "./chromium.mjs";

const all = { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"], resultTypes: ["violations"] };
const colours = { runOnly: { type: "rule", values: ["color-contrast", "link-in-text-block"] }, resultTypes: ["violations"] }; // a page in the dark is the same but for them

// violations returns a line for each element that breaks a rule.
async function violations(page, rules) {
  const { violations } = await page.evaluate(rules => axe.run(document, rules), rules);
  return violations.flatMap(v => v.nodes.map(n => `${v.id}: ${n.target.join(" ")}: ${n.failureSummary.split("\n").slice(1).join("; ").trim()}`));
}

// sideways returns what is wider than the page, if that scrolls.
function sideways() {
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth <= clientWidth) return [];
  const wide = [...document.body.querySelectorAll("*")].filter(e => e.getBoundingClientRect().left + e.scrollWidth > clientWidth && !e.closest(".scroll, pre, .ways"));
  return [`scrolls sideways to ${scrollWidth} px: ${wide.map(e => e.tagName.toLowerCase() + (e.id && "#" + e.id)).join(" ")}`];
}

async function check(page, role, path) {
  const wrong = [];
  const answer = await page.goto(path, { waitUntil: "load" });
  assert.ok(answer.status() < 500, `${path}: ${answer.status()}`);
  await page.evaluate(axe);
  await page.evaluate(() => document.querySelectorAll("details").forEach(d => { d.open = true; }));
  for (const width of [1440, 768, 390]) {
    await page.setViewportSize({ width, height: 900 });
    for (const [colorScheme, rules] of [["light", all], ["dark", colours]]) {
      await page.emulateMedia({ colorScheme });
      for (const v of await violations(page, rules)) wrong.push(`${path} ${role} ${colorScheme} ${width} px: ${v}`);
    }
  }
  for (const width of [390, 320]) {
    await page.setViewportSize({ width, height: 900 });
    for (const v of await page.evaluate(sideways)) wrong.push(`${path} ${role} ${width} px: ${v}`);
  }
  return wrong;
}

after(close);
for (const [role, login, paths] of [...Object.entries(scene.people).map(p => [...p, scene.paths]), ["nobody", "", scene.open]]) {
  test(`${role}'s pages`, async () => {
    const page = await open(login);
    const wrong = [];
    for (const path of paths) wrong.push(...await check(page, role, path));
    assert.deepEqual(wrong, [], wrong.join("\n"));
  });
}
