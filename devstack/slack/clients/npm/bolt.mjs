// An app on Bolt, Slack's own framework, behind the stand-in: over signed HTTP requests or Socket Mode. It prints what it gets as lines
// of JSON; the test does what people do.
import { App, LogLevel } from "@slack/bolt";

const { SLACK_API: slackApiUrl, SLACK_TOKEN: token, SLACK_APP_TOKEN: appToken, SLACK_SECRET: signingSecret } = process.env;
const socketMode = process.env.MODE === "socket";
const app = new App({
  token, logLevel: LogLevel.ERROR, clientOptions: { slackApiUrl },
  ...(socketMode ? { socketMode, appToken } : { signingSecret }),
});
const print = (line) => console.log(JSON.stringify(line));
const plain = (text) => ({ type: "plain_text", text });

app.command("/ocp", async ({ command, ack, respond }) => {
  await ack({ response_type: "ephemeral", text: `Got it: ${command.text}` });
  await respond({ response_type: "ephemeral", text: `Later: ${command.text}` });
  print({ got: "command", text: command.text, user: command.user_id });
});

app.event("app_mention", async ({ event, say }) => {
  const posted = await say({
    thread_ts: event.ts, text: "You asked me",
    blocks: [{ type: "actions", block_id: "b", elements: [{ type: "button", action_id: "open", text: plain("Open"), value: "7" }] }],
  });
  print({ got: "mention", text: event.text, user: event.user, posted: posted.ts });
});

// Bolt ignores what the app wrote itself.
app.message(async ({ message, say }) => {
  await say("You wrote to me");
  print({ got: "message", text: message.text, type: message.channel_type });
});

app.event("app_home_opened", async ({ event, client }) => {
  await client.views.publish({ user_id: event.user, view: { type: "home", blocks: [{ type: "section", text: plain("Welcome") }] } });
  print({ got: "home", user: event.user });
});

const form = (note) => ({
  type: "modal", callback_id: "create", title: plain("Create"), submit: plain("Go"), private_metadata: "7", notify_on_close: true,
  blocks: [
    { type: "section", block_id: "note", text: plain(note) },
    { type: "input", block_id: "profile", dispatch_action: true, label: plain("Profile"), element: {
      type: "static_select", action_id: "profile", options: [{ text: plain("Small"), value: "small" }, { text: plain("Large"), value: "large" }] } },
    { type: "input", block_id: "name", label: plain("Name"), element: { type: "plain_text_input", action_id: "name" } },
  ],
});

app.action("open", async ({ action, body, ack, client }) => {
  await ack();
  const { view } = await client.views.open({ trigger_id: body.trigger_id, view: form("Choose a profile") });
  print({ got: "action", value: action.value, message: body.message.ts, view: view.id });
});

app.action("profile", async ({ action, body, ack, client }) => {
  await ack();
  await client.views.update({ view_id: body.view.id, hash: body.view.hash, view: form(`${action.selected_option.value} costs 3 $`) });
  print({ got: "change", value: action.selected_option.value });
});

app.view("create", async ({ ack, view }) => {
  const name = view.state.values.name.name.value;
  if (name === "taken") await ack({ response_action: "errors", errors: { name: "This name is taken." } });
  else if (name === "slow") await ack({ response_action: "update", view: { type: "modal", title: plain("Working"), blocks: [] } });
  else await ack();
  print({ got: "submission", name, profile: view.state.values.profile.profile.selected_option.value, metadata: view.private_metadata });
});

app.view({ callback_id: "create", type: "view_closed" }, async ({ ack, body }) => {
  await ack();
  print({ got: "closed", cleared: body.is_cleared });
});

app.shortcut("create", async ({ shortcut, ack, client }) => {
  await ack();
  await client.views.open({ trigger_id: shortcut.trigger_id, view: form("From a shortcut") });
  print({ got: "shortcut", type: shortcut.type });
});

app.shortcut("create_message", async ({ shortcut, ack }) => {
  await ack();
  print({ got: "shortcut", type: shortcut.type, text: shortcut.message.text });
});

for (const name of ["channel_archive", "channel_left", "member_joined_channel", "user_change", "tokens_revoked"]) {
  app.event(name, async ({ event }) => print({ got: name, channel: event.channel, user: event.user?.id ?? event.user }));
}

const server = await app.start(socketMode ? undefined : { port: 0, host: "127.0.0.1" });
print({ got: "started", port: socketMode ? 0 : server.address().port });
