// Takes the pictures of the documents, of what the scene shows on GitHub and in Slack. PICTURES is their folder; empty: none is written.
import { after, test } from "node:test";
import { writeFile } from "node:fs/promises";
import { close, open, scene } from "./chromium.mjs";

const { github, slack, ...channels } = scene.places;
const folder = process.env.PICTURES;
after(close);

// take takes a picture of a page or of a part of it.
async function take(shown, name, options) {
  const picture = await shown.screenshot(options);
  if (folder) await writeFile(`${folder}/${name}.png`, picture);
}

test("the pictures of pull requests", async () => {
  const page = await open("", { viewport: { width: 1100, height: 900 } });
  for (const [name, text] of Object.entries({ ready: "is ready", installing: "is being created", fork: "is waiting for approval", destroyed: "is gone" })) {
    await page.goto(`${github}/playground/pulls/${scene.pulls[name]}`);
    await page.getByRole("heading", { name: text }).waitFor();
    const end = await page.getByRole("heading", { name: "Checks" }).locator("xpath=..").evaluate(part => part.getBoundingClientRect().bottom);
    await take(page, name, { fullPage: true, clip: { x: 0, y: 0, width: 1100, height: Math.ceil(end) + 8 } });
  }
  await page.context().close();
});

test("the pictures of Slack", async () => {
  const page = await open("", { viewport: { width: 1200, height: 860 } });
  const visit = (who, channel) => page.goto(`${slack}/playground?as=${who}&channel=${channels[channel]}`);
  await visit("rob", "payments");
  await page.getByText("pay-api is ready").first().waitFor();
  await page.locator(".replies a").last().click();
  await page.getByRole("heading", { name: "Thread" }).waitFor();
  await take(page, "slack-channel");

  await page.setViewportSize({ width: 1100, height: 620 });
  await visit("will", "admins");
  await page.getByText("load-test is waiting for approval").first().waitFor();
  await take(page, "slack-approval");

  await page.setViewportSize({ width: 1100, height: 960 });
  await visit("maya", "clusters");
  await page.locator("#text").fill("/ocp create");
  await page.keyboard.press("Enter");
  const form = page.locator("#modal [role=dialog]");
  await form.getByText("It would be accepted").waitFor();
  await take(form, "slack-form");
  await page.context().close();
});
