// Receives everything with Slack's own client of Socket Mode, acknowledges it, and prints it as lines of JSON.
import { LogLevel, SocketModeClient } from "@slack/socket-mode";

const { SLACK_API: slackApiUrl, SLACK_APP_TOKEN: appToken } = process.env;
const client = new SocketModeClient({ appToken, logLevel: LogLevel.ERROR, clientOptions: { slackApiUrl } });
const print = (line) => console.log(JSON.stringify(line));

client.on("connected", () => print({ got: "connected" }));
client.on("slack_event", async ({ type, body, ack, retry_num: retry, retry_reason: reason }) => {
  print({ got: type, body, retry, reason });
  if (type === "events_api" && body.event.text?.includes("ignore") && !retry) return; // not acknowledged, at first
  await ack(type === "slash_commands" ? { text: `Got it: ${body.text}` } : {});
});
await client.start();
