// Walks through a cluster's life in the browser: sign in, create with a mistake, watch it to ready, extend, share, search, destroy with proof, approve, ask policy, propose a change of it, audit.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { close, open, scene } from "./chromium.mjs";

after(close);

test("a cluster's life on the pages", async () => {
  const maya = await open("maya");
  await maya.goto("/");
  await maya.locator("#todo").getByText("waiting").waitFor(); // her request, which others decide
  await maya.getByRole("link", { name: "Profiles", exact: true }).click();
  await maya.getByRole("link", { name: "Create a cluster of aws-minimal-test", exact: true }).click();
  assert.equal(await maya.locator("#profile").inputValue(), "aws-minimal-test");
  await maya.locator("#name").fill("Walked");
  await maya.getByRole("button", { name: "Create", exact: true }).click();
  await maya.locator("#errors a", { hasText: "Name" }).waitFor();
  await maya.locator("#name").fill("walked");
  await maya.getByRole("button", { name: "Check", exact: true }).click();
  await maya.getByRole("heading", { name: /^It would be accepted/ }).waitFor();
  await maya.getByRole("button", { name: "Create", exact: true }).click();

  // What is read aloud is each change of the status, once, and nothing else.
  await maya.locator("#state h1").waitFor();
  await maya.evaluate(() => {
    window.aloud = [];
    new MutationObserver(() => window.aloud.push(document.getElementById("news").textContent)).observe(document.getElementById("news"), { childList: true });
  });
  await maya.locator("#state .pill", { hasText: "READY" }).waitFor({ timeout: 120000 });
  const aloud = await maya.evaluate(() => window.aloud);
  assert.equal(aloud.at(-1), "walked: READY");
  assert.equal(new Set(aloud).size, aloud.length, aloud.join(", "));
  assert.ok(aloud.length <= 2, aloud.join(", "));
  assert.deepEqual(await maya.locator("[aria-live], [role=status], [role=alert]").evaluateAll(all => all.map(e => e.id || e.className)), ["fine", "news"]);
  const at = new URL(maya.url()).pathname;

  await maya.locator("summary", { hasText: "Extend" }).click();
  await maya.getByLabel("Extend by").fill("2h");
  await maya.getByRole("button", { name: "Extend", exact: true }).click();
  await maya.locator("p.fine").waitFor();

  await maya.locator("summary", { hasText: /^Share/ }).click();
  await maya.getByLabel("Name or id").fill("payments");
  await maya.locator("#access").selectOption("view");
  await maya.getByRole("button", { name: "Share", exact: true }).click();
  await maya.locator("p.fine").waitFor();
  const rob = await open("rob");
  await rob.goto(at);
  await rob.locator("#state .pill", { hasText: "READY" }).waitFor();
  assert.equal(await rob.getByRole("link", { name: "Destroy …", exact: true }).count(), 0, "rob may look");

  await maya.goto("/clusters");
  await maya.getByLabel("Filter", { exact: true }).fill("walked status:ready");
  await maya.getByRole("button", { name: "Search", exact: true }).click();
  assert.deepEqual(await maya.locator("#clusters tbody a strong").allInnerTexts(), ["walked"]);
  await maya.getByLabel("Filter", { exact: true }).fill("status:nothing");
  await maya.getByRole("button", { name: "Search", exact: true }).click();
  await maya.locator("#wrong").waitFor();
  assert.equal(await maya.evaluate(() => document.activeElement.id), "wrong");
  assert.equal(await maya.getByLabel("Filter", { exact: true }).inputValue(), "status:nothing");

  await maya.goto(at);
  await maya.getByRole("link", { name: "Destroy …", exact: true }).click();
  await maya.getByRole("button", { name: /^Destroy/ }).click();
  await maya.waitForURL(url => url.pathname === at);
  await maya.locator("#state .pill", { hasText: "DESTROYED" }).waitFor({ timeout: 120000 });
  await maya.reload();
  assert.equal(await maya.locator("#passes article.clean").count() >= 2, true, "two clean passes");
  await rob.locator("#state .pill", { hasText: "DESTROYED" }).waitFor({ timeout: 60000 });

  const will = await open("will");
  await will.locator(".ways .badge").first().waitFor();
  await will.goto("/");
  await will.locator("#todo").getByText("Create a cluster: waiting").waitFor();
  await will.goto("/approvals");
  const asked = will.locator("article", { hasText: "waiting" }).first();
  await asked.getByLabel(/^(Why|Reason)/).fill("looks fine");
  await asked.getByRole("button", { name: "Approve", exact: true }).click();
  await will.locator("p.fine").waitFor();
  await will.goto("/clusters/" + scene.clusters.waiting);
  await will.locator("#state .pill", { hasText: "READY" }).waitFor({ timeout: 120000 });

  await will.goto("/policy");
  await will.getByRole("link", { name: "What if", exact: true }).click();
  await will.getByLabel(/^Who asks/).fill("maya");
  await will.getByLabel("Team", { exact: true }).fill("platform");
  await will.getByLabel(/^Workers/).fill("many");
  await will.getByRole("button", { name: "Ask", exact: true }).click();
  await will.locator("#errors a", { hasText: "Workers" }).click();
  assert.equal(await will.evaluate(() => document.activeElement.id), "workers");
  await will.getByLabel(/^Workers/).fill("");
  await will.getByLabel(/^Lifetime/).fill("72h");
  await will.getByRole("button", { name: "Ask", exact: true }).click();
  await will.getByRole("heading", { name: /^It would be accepted/ }).waitFor();
  await will.getByText("More than two days need an approval.").first().waitFor();

  await will.getByRole("link", { name: "Propose a change", exact: true }).click();
  await will.locator("#pick").selectOption("policies/long.yaml");
  await will.getByRole("button", { name: "Open", exact: true }).click();
  await will.locator("#subject").fill("One day needs an approval");
  const rule = await will.locator("#document").inputValue();
  await will.locator("#document").fill(rule.replace("request.ttlHours", "request.hours"));
  await will.getByRole("button", { name: "Open a pull request", exact: true }).click();
  await will.locator("#errors").waitFor();
  assert.equal(await will.evaluate(() => document.activeElement.id), "errors");
  await will.locator("#document").fill(rule.replace("> 48", "> 24"));
  await will.getByRole("button", { name: "Open a pull request", exact: true }).click();
  await will.getByText("The pull request is being opened.").waitFor();

  await will.goto("/audit");
  await will.getByRole("button", { name: "Verify the hash chain", exact: true }).click();
  await will.locator("p.fine").waitFor();
  for (const page of [maya, rob, will]) await page.context().close();
});
