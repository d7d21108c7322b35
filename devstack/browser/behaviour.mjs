// What pages do while somebody reads them, fills in a form, or is signed out.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { close, open, scene } from "./chromium.mjs";

const cluster = name => "/clusters/" + scene.clusters[name];
after(close);

// mark makes a page recognizable: what loads it again loses the mark.
const mark = page => page.evaluate(() => { window.marked = true; });
const isMarked = page => page.evaluate(() => window.marked === true);
const focused = page => page.evaluate(() => document.activeElement.id);

// extend makes the page of a cluster change for everybody who has it open.
async function extend(page, name) {
  const other = await page.context().newPage();
  await other.goto(cluster(name));
  await other.locator("summary", { hasText: "Extend" }).click();
  await other.getByLabel("Extend by").fill("1h");
  await other.getByRole("button", { name: "Extend", exact: true }).click();
  await other.locator("p.fine").waitFor();
  await other.close();
}

test("a choice is shown at once, and nothing is submitted", async () => {
  const page = await open("maya");
  await page.goto("/new");
  await mark(page);
  await page.getByLabel("Name", { exact: false }).first().fill("typed-first");
  const profile = page.locator("#profile"), was = await profile.inputValue();
  const other = await profile.evaluate((f, was) => [...f.options].map(o => o.value).find(v => v && v !== was), was);
  await profile.focus();
  await profile.selectOption(other);
  await page.getByText(`The choices are those of profile ${other}.`).waitFor({ state: "attached" });
  assert.ok(await isMarked(page), "the page is the same");
  assert.equal(await focused(page), "profile");
  assert.equal(await page.locator("#name").inputValue(), "typed-first");
  await page.context().close();
});

test("after a refused form the focus is at the summary, which leads to each field", async () => {
  const page = await open("maya");
  await page.goto("/new");
  await page.locator("#name").fill("Not A Name");
  await page.locator("#ttl").fill("forever");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.locator("#errors").waitFor();
  assert.equal(await focused(page), "errors");
  await page.locator("#errors a").first().click();
  assert.equal(await focused(page), "name");
  assert.equal(await page.locator("#name").getAttribute("aria-describedby"), "wrong-name");

  await page.goto(cluster("shown"));
  await page.locator("summary", { hasText: "Extend" }).click();
  await page.getByLabel("Extend by").fill("soon");
  await page.getByRole("button", { name: "Extend", exact: true }).click();
  await page.locator("p.alert[role=alert]").waitFor();
  assert.match(await page.evaluate(() => document.activeElement.className), /alert/);
  await page.context().close();
});

test("what somebody reads is not replaced: it says what waits, and continues on request", async () => {
  const page = await open("maya");
  await page.goto(cluster("shown"));
  await mark(page);
  const facts = page.locator("#fact-list"), before = await facts.innerText();
  await page.evaluate(() => getSelection().selectAllChildren(document.querySelector("#fact-list dd")));
  await extend(page, "shown");
  const note = page.locator("#note");
  await note.getByText(/^Paused while you read: \d+ new\./).waitFor();
  assert.equal(await facts.innerText(), before);
  await note.getByRole("button", { name: "Show", exact: true }).click();
  await note.waitFor({ state: "hidden" });
  assert.notEqual(await facts.innerText(), before);

  const log = page.locator("#timeline"), told = await log.innerText();
  await page.locator("#acts summary", { hasText: "Extend" }).click();
  await extend(page, "shown");
  await page.waitForFunction(was => document.querySelector("#timeline").innerText !== was, told);
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "Extend", "the focus is where it was");
  assert.ok(await isMarked(page), "the page did not load itself again");
  await page.context().close();
});

test("who was signed out is told so, on the page as it was", async () => {
  const page = await open("maya");
  await page.goto(cluster("shown"));
  await mark(page);
  const other = await page.context().newPage();
  await other.goto("/");
  await other.getByRole("button", { name: "Sign out", exact: true }).click();
  await page.locator("#note").getByText("You are signed out. This page is not up to date.").waitFor({ timeout: 60000 });
  assert.ok(await isMarked(page), "the page did not load itself again");
  assert.equal(await page.locator("#note a").getAttribute("href"), "/login?next=" + encodeURIComponent(cluster("shown")));
  await page.context().close();
});

test("keys lead to pages, mean themselves where somebody types, and can be switched off", async () => {
  const page = await open("maya");
  await page.goto("/clusters");
  await page.keyboard.press("/");
  assert.equal(await focused(page), "q");
  await page.keyboard.type("n/?");
  assert.equal(await page.locator("#q").inputValue(), "n/?");
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("?");
  await page.getByLabel("Use these keys").uncheck();
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await page.keyboard.press("n");
  assert.equal(new URL(page.url()).pathname, "/clusters");
  await page.getByRole("button", { name: "Keys", exact: true }).click();
  await page.getByLabel("Use these keys").check();
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await page.keyboard.press("n");
  await page.waitForURL(url => url.pathname === "/new");
  await page.context().close();
});

test("what can be copied has a button, and a time says what it is here", async () => {
  const page = await open("maya");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto(cluster("shown"));
  const address = await page.locator("#access-info code[data-copy]").first().innerText();
  await page.getByRole("button", { name: "Copy " + address, exact: true }).click();
  await page.locator("#news", { hasText: "Copied." }).waitFor({ state: "attached" });
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), address);
  const time = page.locator("#fact-list time[datetime]").first();
  await time.hover();
  assert.match(await time.getAttribute("title"), /UTC$/);
  await page.context().close();
});

test("the log of what failed has the failing line in view, can be searched, and is downloaded", async () => {
  const page = await open("maya");
  await page.goto(cluster("broken") + "/logs");
  const fails = page.locator(".log .fails");
  assert.equal(await fails.count(), 1);
  const top = await fails.evaluate(line => line.getBoundingClientRect().top);
  assert.ok(top > 0 && top < 720, `the failing line is at ${top} px`);
  await page.getByLabel("Find in this log").fill("LEVEL=");
  await page.getByRole("button", { name: "Find", exact: true }).click();
  await page.locator(".hits a").first().click();
  assert.match(new URL(page.url()).hash, /^#L\d+$/);
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download", exact: true }).click()]);
  assert.match(file.suggestedFilename(), /^broken-create-\d+\.log$/);
  await page.context().close();
});

test("no page asks a browser to load it again", async () => {
  const page = await open("will");
  for (const path of scene.paths) {
    await page.goto(path);
    assert.equal(await page.locator("meta[http-equiv=refresh]").count(), 0, path);
  }
  await page.context().close();
});

test("without scripts the form updates its choices and says what is wrong", async () => {
  const signedIn = await open("maya"); // the identity provider's page needs scripts
  const page = await open("", { javaScriptEnabled: false, storageState: await signedIn.context().storageState() });
  await page.goto("/new");
  await page.locator("#name").fill("Not A Name");
  await page.getByRole("button", { name: "Update the choices", exact: true }).click();
  assert.equal(await page.locator("#name").inputValue(), "Not A Name");
  await page.getByRole("button", { name: "Create", exact: true }).click();
  await page.locator("#errors a", { hasText: "Name" }).waitFor();
  await page.goto(cluster("broken") + "/logs");
  assert.notEqual(await page.locator("pre.log").innerText(), "");
  await page.context().close();
});
