package slack

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/slack-go/slack/slackutilsx"
)

// answerWithin is how long Slack waits for the response to a command.
// https://docs.slack.dev/interactivity/implementing-slash-commands
const answerWithin = 3 * time.Second

// legacyToken is in every command, as Slack still sends it; code that checks signatures does not need it.
const legacyToken = "demo-legacy-verification-token"

// Sign returns X-Slack-Signature for a body sent at a time. https://docs.slack.dev/authentication/verifying-requests-from-slack
func Sign(secret, stamp, body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("v0:" + stamp + ":" + body))
	return "v0=" + hex.EncodeToString(mac.Sum(nil))
}

// Form returns a slash command's form as Slack sends it.
func (s *Server) Form(p Person, channel, text string) url.Values {
	return url.Values{
		"token": {legacyToken}, "team_id": {Workspace}, "team_domain": {"acme"}, "channel_id": {channel}, "channel_name": {channelName(channel)},
		"user_id": {p.ID}, "user_name": {p.Login}, "command": {"/ocp"}, "text": {slackutilsx.EscapeMessage(text)}, "api_app_id": {"A0DEMOOCPC"},
		"is_enterprise_install": {"false"}, "response_url": {s.base + "/commands/" + Workspace + "/" + random(12) + "/" + random(24)},
		"trigger_id": {random(10) + "." + random(9) + "." + random(32)},
	}
}

// Command types /ocp and the text as a person in a channel, and returns the immediate response.
func (s *Server) Command(ctx context.Context, who, channel, text string) (got string, err error) {
	p, ok := By(who)
	if !ok {
		return "", fmt.Errorf("%s is nobody of the workspace", who)
	}
	if _, err := s.say(Message{Kind: "command", Channel: channel, To: p.ID, Text: slackutilsx.EscapeMessage(strings.TrimRight("/ocp "+text, " "))}); err != nil {
		return "", err
	}
	got = s.send(ctx, s.Form(p, channel, text).Encode())
	_, err = s.say(Message{Kind: "ack", Channel: channel, To: p.ID, Text: got})
	return got, err
}

// send posts a command's form and returns what Slack would show: the response's text, or why there is none.
func (s *Server) send(ctx context.Context, body string) string {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	failed := func(code string) string { return "/ocp failed with the error \"" + code + "\"" }
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.cfg.CommandURL, strings.NewReader(body))
	if err != nil {
		return failed("dispatch_failed")
	}
	stamp := strconv.FormatInt(s.cfg.Now().Unix(), 10)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("User-Agent", "Slackbot 1.0 (+https://api.slack.com/robots)")
	r.Header.Set("X-Slack-Request-Timestamp", stamp)
	r.Header.Set("X-Slack-Signature", Sign(s.cfg.SigningSecret, stamp, body))
	resp, err := http.DefaultClient.Do(r)
	if err != nil && ctx.Err() != nil {
		return failed("operation_timeout")
	}
	if err != nil {
		return failed("dispatch_failed")
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil || resp.StatusCode != http.StatusOK {
		return failed("dispatch_failed")
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "application/json" {
		return string(raw)
	}
	var answer struct{ Text string }
	if json.Unmarshal(raw, &answer) != nil {
		return failed("invalid_command_response")
	}
	return answer.Text
}

func channelName(id string) string {
	switch id {
	case Clusters:
		return "clusters"
	case Random:
		return "random"
	}
	return "directmessage"
}

func random(n int) string {
	raw := make([]byte, (n+1)/2)
	if _, err := rand.Read(raw); err != nil {
		panic(err) // never happens on any supported system
	}
	return hex.EncodeToString(raw)[:n]
}
