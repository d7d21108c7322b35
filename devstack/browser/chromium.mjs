// Drives Chromium: one browser, and people who are signed in through the identity provider's page.
import { createRequire } from "node:module";

const packages = createRequire(process.env.PACKAGES + "/");
const { chromium } = packages("playwright-core");
export const axe = packages("axe-core").source;

export const { HOME_URL: home } = process.env;
export const scene = JSON.parse(process.env.SCENE);

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM });
export const close = () => browser.close();

// open returns a page of somebody, signed in; without a login nobody is.
export async function open(login, options = {}) {
  const context = await browser.newContext({ baseURL: home, reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(30000);
  const page = await context.newPage();
  if (login) await signIn(page, login);
  return page;
}

export async function signIn(page, login) {
  if (!page.url().includes("/login")) await page.goto("/login?next=/");
  await page.getByRole("link", { name: /^Sign in with/ }).click();
  await page.getByLabel("Name").fill(login);
  await page.getByLabel("Password").fill("demo-" + login);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
}
