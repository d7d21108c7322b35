// Sends requests to ocpctl's endpoint as Slack signs them, and others as it does not. What Bolt, Slack's own framework, says of each
// signature is what the endpoint must do, and where an app on Bolt answers by itself, the endpoint must answer the same.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { App, LogLevel, isValidSlackRequest } from "@slack/bolt";

const { ENDPOINT: endpoint, SLACK_SECRET: signingSecret, SLACK_API: slackApiUrl, SLACK_TOKEN: token } = process.env;
const app = new App({ token, signingSecret, logLevel: LogLevel.ERROR, clientOptions: { slackApiUrl } });
const server = await app.start({ port: 0, host: "127.0.0.1" });
const bolt = `http://127.0.0.1:${server.address().port}/slack/events`;

const json = "application/json", form = "application/x-www-form-urlencoded";
const interaction = (payload) => [form, new URLSearchParams({ payload: JSON.stringify(payload) }).toString()];
const person = { team: { id: "T0DEMOACME" }, user: { id: "U0DEMOMAYA", team_id: "T0DEMOACME" } };
const bodies = {
  command: [form, new URLSearchParams({
    command: "/ocp", text: "status übung & more", team_id: "T0DEMOACME", channel_id: "C0DEMOCLUS", user_id: "U0DEMOMAYA", trigger_id: "1.2.command",
  }).toString()],
  press: interaction({ ...person, type: "block_actions", trigger_id: "1.2.press", channel: { id: "C0DEMOCLUS" }, actions: [{ type: "button", action_id: "ocp_list", action_ts: "1", value: "{}" }] }),
  shortcut: interaction({ ...person, type: "shortcut", trigger_id: "1.2.shortcut", callback_id: "ocp_create" }),
  event: [json, JSON.stringify({ type: "event_callback", team_id: "T0DEMOACME", event_id: "Ev1", event: { type: "app_home_opened", user: "U0DEMOMAYA", tab: "home" } })],
  verification: [json, JSON.stringify({ type: "url_verification", challenge: "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P" })],
  certificate: [form, new URLSearchParams({ ssl_check: "1", token: "x" }).toString()],
};
const now = Math.floor(Date.now() / 1000);
const sign = (body, { secret = signingSecret, at = now, version = "v0" } = {}) => ({
  "x-slack-request-timestamp": String(at),
  "x-slack-signature": `${version}=${createHmac("sha256", secret).update(`${version}:${at}:${body}`).digest("hex")}`,
});
const variants = {
  "as Slack signs it": (body) => sign(body),
  "signed four minutes ago": (body) => sign(body, { at: now - 240 }),
  "signed six minutes ago": (body) => sign(body, { at: now - 360 }),
  "signed with another secret": (body) => sign(body, { secret: "another" }),
  "of another version": (body) => sign(body, { version: "v1" }),
  "changed on the way": (body) => sign(`${body} `),
  "with another timestamp": (body) => ({ ...sign(body), "x-slack-request-timestamp": String(now - 1) }),
  "with half a signature": (body) => { const h = sign(body); return { ...h, "x-slack-signature": h["x-slack-signature"].slice(0, 40) }; },
};
const post = async (url, type, headers, body) => {
  const answer = await fetch(url, { method: "POST", headers: { ...headers, "content-type": type }, body });
  return { status: answer.status, text: await answer.text() };
};

for (const [kind, [type, body]] of Object.entries(bodies)) {
  for (const [how, headersOf] of Object.entries(variants)) {
    const headers = headersOf(body), what = `${kind} ${how}`;
    const valid = isValidSlackRequest({
      signingSecret, body, headers: { "x-slack-signature": headers["x-slack-signature"], "x-slack-request-timestamp": Number(headers["x-slack-request-timestamp"]) },
    });
    const ours = await post(endpoint, type, headers, body);
    assert.equal(ours.status, valid ? 200 : 401, `${what}: ${ours.text}`);
    if (kind === "verification" && valid) {
      const theirs = await post(bolt, type, headers, body);
      assert.deepEqual([theirs.status, JSON.parse(ours.text)], [200, JSON.parse(theirs.text)], what);
    }
    if (kind === "certificate" && valid) {
      const theirs = await post(bolt, type, headers, body);
      assert.deepEqual([ours.status, ours.text], [theirs.status, theirs.text], what);
    }
  }
}
const missing = await post(endpoint, json, {}, bodies.event[1]);
assert.equal(missing.status, 401, missing.text);
await app.stop();
console.log(JSON.stringify({ got: "agreed", sent: Object.keys(bodies).length * Object.keys(variants).length }));
