// Calls the stand-in with Slack's own Web API client. Every call and every error must be what the client expects of Slack.
import assert from "node:assert/strict";
import { WebClient } from "@slack/web-api";

const { SLACK_API: slackApiUrl, SLACK_TOKEN: token } = process.env;
const options = { slackApiUrl };
const slack = new WebClient(token, options);
const clusters = "C0DEMOCLUS";

// refused asserts that a call is refused with an error code.
async function refused(code, call) {
  await assert.rejects(call, (err) => {
    assert.equal(err.code, "slack_webapi_platform_error", String(err));
    assert.equal(err.data.error, code);
    return true;
  });
}

const me = await slack.auth.test();
assert.equal(me.team_id, "T0DEMOACME");
assert.ok(me.response_metadata.scopes.includes("chat:write"));
await refused("invalid_auth", new WebClient("other", options).auth.test());

const blocks = [
  { type: "section", text: { type: "mrkdwn", text: "*installing*" } },
  { type: "actions", elements: [{ type: "button", action_id: "go", text: { type: "plain_text", text: "Go" } }] },
];
const metadata = { event_type: "ocpctl", event_payload: { id: "not_1" } };
const posted = await slack.chat.postMessage({ channel: clusters, text: "installing", blocks, metadata });
assert.equal(posted.message.bot_id, me.bot_id);
await slack.chat.postMessage({ channel: clusters, thread_ts: posted.ts, text: "Launch began" });
await slack.chat.update({ channel: clusters, ts: posted.ts, text: "ready", blocks: blocks.slice(0, 1) });
await slack.chat.postEphemeral({ channel: clusters, user: "U0DEMOMAYA", text: "for you" });

const history = await slack.conversations.history({ channel: clusters, include_all_metadata: true });
assert.deepEqual(history.messages.map((m) => [m.text, m.reply_count, m.metadata.event_payload.id]), [["ready", 1, "not_1"]]);
const thread = await slack.conversations.replies({ channel: clusters, ts: posted.ts });
assert.deepEqual(thread.messages.map((m) => m.text), ["ready", "Launch began"]);
await slack.chat.delete({ channel: clusters, ts: posted.ts });
await refused("message_not_found", slack.chat.update({ channel: clusters, ts: posted.ts, text: "late" }));
await refused("not_in_channel", slack.chat.postMessage({ channel: "C0DEMORAND", text: "x" }));
await refused("invalid_blocks", slack.chat.postMessage({ channel: clusters, text: "x", blocks: [{ type: "header" }] }));
await refused("missing_scope", slack.conversations.open({ users: "U0DEMOMAYA,U0DEMOROBB" }));
await refused("invalid_trigger_id", slack.views.open({ trigger_id: "1.2.abc", view: { type: "modal", title: { type: "plain_text", text: "x" }, blocks: [] } }));

const members = [];
for await (const page of slack.paginate("conversations.members", { channel: clusters, limit: 2 })) {
  members.push(...page.members);
}
assert.ok(members.length > 2 && members.includes(me.user_id));
assert.equal((await slack.conversations.info({ channel: "C0DEMOOLDP" })).channel.is_archived, true);
assert.equal((await slack.users.info({ user: "U0OTHERSAM" })).user.team_id, "T0OTHERCOM");
const { channel } = await slack.conversations.open({ users: "U0DEMOMAYA" });
await slack.chat.postMessage({ channel: channel.id, text: "hello" });

const home = { type: "home", blocks };
const { view } = await slack.views.publish({ user_id: "U0DEMOMAYA", view: home });
await slack.views.update({ view_id: view.id, hash: view.hash, view: home });
await refused("hash_conflict", slack.views.publish({ user_id: "U0DEMOMAYA", view: home, hash: view.hash }));

// The client waits as long as Retry-After says, and calls again by itself.
let waited = 0;
slack.on("rate_limited", (seconds) => { waited = seconds; });
await slack.chat.postMessage({ channel: "C0DEMOPAYM", text: "after a limit" });
assert.equal(waited, 1);
