package hooks

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/chatops/messages"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
)

func slackSigned(body string, at time.Time) map[string]string {
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(slackSecret))
	mac.Write([]byte("v0:" + stamp + ":" + body))
	return map[string]string{"X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": "v0=" + hex.EncodeToString(mac.Sum(nil))}
}

// typed is a slash command's form, as Slack sends it.
func typed(trigger, user, text string) url.Values {
	return url.Values{
		"token": {"gIkuvaNzQIHg97ATvDxqgjtO"}, "team_id": {"T0001"}, "team_domain": {"example"}, "channel_id": {"C2147483705"}, "channel_name": {"test"},
		"user_id": {user}, "user_name": {"steve"}, "command": {"/ocp"}, "text": {text}, "api_app_id": {"A123456"},
		"response_url": {"https://hooks.slack.com/commands/1234/5678"}, "trigger_id": {trigger},
	}
}

func (f *front) slack(form url.Values) (int, map[string]any) {
	f.Helper()
	body := form.Encode()
	return f.post("/webhooks/slack", []byte(body), slackSigned(body, time.Now()))
}

func TestACommandIsStoredWithoutItsSecretsAndAcknowledged(t *testing.T) {
	f := newFront(t)
	for range 2 {
		status, answer := f.slack(typed("13345224609.738474920.8088930838d88f008e0", "U2147483697", "approve shop &lt;now&gt;"))
		require.Equal(t, http.StatusOK, status, "the second time as the first")
		require.Empty(t, answer, "a command has one answer, which follows")
	}
	require.Equal(t, []string{"13345224609.738474920.8088930838d88f008e0"}, f.stored())
	require.Len(t, f.query(`SELECT kind FROM river_job WHERE kind = 'inbox'`), 1)
	require.Equal(t, []string{"slack slash_command slack:T0001/U2147483697"}, f.query(`SELECT source || ' ' || event || ' ' || topic FROM deliveries`))
	stored, err := url.ParseQuery(f.query(`SELECT convert_from(body, 'UTF8') FROM deliveries`)[0])
	require.NoError(t, err)
	require.Equal(t, url.Values{
		"team_id": {"T0001"}, "channel_id": {"C2147483705"}, "user_id": {"U2147483697"}, "user_name": {"steve"}, "command": {"/ocp"},
		"text": {"approve shop &lt;now&gt;"}, "trigger_id": {"13345224609.738474920.8088930838d88f008e0"},
	}, stored, "neither the token nor the response_url")
}

func TestACommandThatIsNotUnderstoodHasItsOneAnswerLikeAnyOther(t *testing.T) {
	f := newFront(t)
	_, answer := f.slack(typed("1.2", "U1", "aprove"))
	require.Empty(t, answer)
	_, answer = f.slack(typed("1.3", "U1", "<!channel> *x*"))
	require.Empty(t, answer, "nothing of it is repeated here")
	require.ElementsMatch(t, []string{"1.2", "1.3"}, f.stored())
}

func TestWhatElseSlackSendsIsAcknowledgedAndNotStored(t *testing.T) {
	f := newFront(t)
	for _, body := range []string{
		`{"type":"event_callback","event_id":"Ev0PV52K21","token":"t","team_id":"T1","event":{"type":"reaction_added"}}`,
		`{"type":"event_callback","event_id":"Ev0PV52K22","token":"t","team_id":"T1","event":{"type":"message","channel_type":"im","bot_id":"B1","user":"U1","channel":"D1"}}`,
		interaction(`{"type":"view_closed","view":{"id":"V1"}}`), interaction(`{"type":"block_suggestion","value":"x"}`), interaction(`{"type":"an_action_of_next_year"}`),
		"ssl_check=1&token=t",
	} {
		status, _ := f.post("/webhooks/slack", []byte(body), slackSigned(body, time.Now()))
		require.Equal(t, http.StatusOK, status, body)
	}
	require.Empty(t, f.stored())
}

// interaction is an interaction's body.
func interaction(raw string) string { return url.Values{"payload": {raw}}.Encode() }

const (
	pressed   = `{"type":"block_actions","trigger_id":"1.2","response_url":"https://hooks.slack.com/secret","token":"secret","team":{"id":"T1"},"user":{"id":"U1","team_id":"T1"},"channel":{"id":"C1"},"actions":[{"type":"button","action_id":"ocp_extend","action_ts":"1.000001","value":"{}"}]}`
	submitted = `{"type":"view_submission","trigger_id":"1.3","token":"secret","team":{"id":"T1"},"user":{"id":"U1","team_id":"T1"},"view":{"id":"V1","type":"modal","hash":"1.a","callback_id":"create","state":{"values":{"ttl":{"ttl":{"type":"plain_text_input","value":"4h"}},"a":{"a":{"value":"x"}}}}}}`
	mentioned = `{"type":"event_callback","token":"secret","team_id":"T1","event_id":"Ev1","event":{"type":"app_mention","user":"U1","channel":"C1","text":"<@U0BOT> status","ts":"1.000001"}}`
	opened    = `{"type":"event_callback","team_id":"T1","event_id":"Ev2","event":{"type":"app_home_opened","user":"U1","channel":"D1","tab":"home"}}`
	archived  = `{"type":"event_callback","team_id":"T1","event_id":"Ev3","event":{"type":"channel_archive","channel":"C1","user":"U1"}}`
)

func TestEveryRequestIsStoredOnceBeforeItIsAnswered(t *testing.T) {
	f := newFront(t)
	for _, body := range []string{interaction(pressed), interaction(submitted), mentioned, opened, archived} {
		for retry := range 3 {
			headers := slackSigned(body, time.Now())
			headers["X-Slack-Retry-Num"], headers["X-Slack-Retry-Reason"] = strconv.Itoa(retry), "http_timeout"
			status, _ := f.post("/webhooks/slack", []byte(body), headers)
			require.Equal(t, http.StatusOK, status, body)
		}
	}
	require.Equal(t, []string{
		"press 1.2/1.000001 slack:T1/U1 1", "submission V1:1.a slack:T1/U1 1", "mention Ev1 slack:T1/U1 2", "home_opened Ev2 slack:T1/U1/home 2",
		"lifecycle Ev3 slack:T1 2",
	}, f.query(`SELECT event || ' ' || delivery_id || ' ' || topic || ' ' || priority FROM deliveries d
		JOIN river_job j ON j.args = jsonb_build_object('row', d.id) ORDER BY d.id`), "what opens a form has the higher priority")
	for _, raw := range f.query(`SELECT convert_from(body, 'UTF8') FROM deliveries`) {
		require.NotContains(t, raw, "secret")
		require.NotContains(t, raw, "hooks.slack.com")
	}
}

func TestASubmittedFormIsAnsweredWithOneThatSaysToWait(t *testing.T) {
	f := newFront(t)
	body := interaction(submitted)
	_, answer := f.post("/webhooks/slack", []byte(body), slackSigned(body, time.Now()))
	require.Equal(t, "update", answer["response_action"])
	require.Equal(t, "modal", answer["view"].(map[string]any)["type"])
}

func TestACommandThatIsTooLongIsRefusedInWords(t *testing.T) {
	f := newFront(t)
	status, answer := f.slack(typed("1.2", "U1", strings.Repeat("x", 4001)))
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, answer["text"], "Nothing was done: a command has at most 4000 characters")
	require.Empty(t, f.stored())
}

func TestABodyOfSlacksOverAMegabyteIsRefused(t *testing.T) {
	f := newFront(t)
	body := strings.Repeat("x", MaxSlackBody+1)
	status, _ := f.post("/webhooks/slack", []byte(body), slackSigned(body, time.Now()))
	require.Equal(t, http.StatusRequestEntityTooLarge, status)
}

func TestAnotherWorkspacesRequestsAreNotStored(t *testing.T) {
	f := newFront(t, func(c *Config) { c.Workspaces = []string{"T0001"} })
	status, _ := f.slack(typed("1.2", "U1", "help"))
	require.Equal(t, http.StatusOK, status)
	require.Len(t, f.stored(), 1)
	other := typed("1.3", "U1", "help")
	other.Set("team_id", "T0OTHER")
	_, answer := f.slack(other)
	require.Contains(t, answer["text"], "takes no requests from this workspace")
	for _, body := range []string{interaction(pressed), mentioned} {
		status, _ := f.post("/webhooks/slack", []byte(body), slackSigned(body, time.Now()))
		require.Equal(t, http.StatusOK, status)
	}
	require.Len(t, f.stored(), 1)
}

func TestInSocketModeTheAddressSaysSo(t *testing.T) {
	f := newFront(t, func(c *Config) { c.SlackSocket = true })
	status, answer := f.slack(typed("1.2", "U1", "help"))
	require.Equal(t, http.StatusNotFound, status)
	require.Contains(t, answer["detail"], "Socket Mode")
}

func TestSlacksURLVerificationIsAnswered(t *testing.T) {
	f := newFront(t)
	body := `{"token":"t","challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P","type":"url_verification"}`
	status, answer := f.post("/webhooks/slack", []byte(body), slackSigned(body, time.Now()))
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P", answer["challenge"])
	require.Empty(t, f.stored())
}

func TestSlackRequestsThatAreForgedOldOrOddAreRefused(t *testing.T) {
	f := newFront(t)
	body := typed("1.2", "U1", "help").Encode()
	forged := slackSigned(body, time.Now())
	forged["X-Slack-Signature"] = "v0=" + strings.Repeat("0", 64)
	for name, headers := range map[string]map[string]string{
		"none": {}, "forged": forged, "old": slackSigned(body, time.Now().Add(-6*time.Minute)), "of another body": slackSigned("{}", time.Now()),
		"of the future": slackSigned(body, time.Now().Add(6*time.Minute)),
	} {
		status, _ := f.post("/webhooks/slack", []byte(body), headers)
		require.Equal(t, http.StatusUnauthorized, status, name)
	}
	without := func(field string) string {
		form := typed("1.2", "U1", "help")
		form.Del(field)
		return form.Encode()
	}
	odd := typed("1.2", "U1", "help")
	odd.Set("user_id", "U1 or any")
	long := typed(strings.Repeat("1", 129), "U1", "help")
	for _, body := range []string{"", "{}", "text=hello", "payload=", "payload=x", without("team_id"), without("channel_id"), without("user_id"), without("trigger_id"), odd.Encode(), long.Encode()} {
		status, answer := f.post("/webhooks/slack", []byte(body), slackSigned(body, time.Now()))
		require.Equal(t, http.StatusBadRequest, status, body)
		require.NotEmpty(t, answer["detail"])
	}
	require.Empty(t, f.stored())
}

func TestARequestOfSlacksThatCannotBeStoredIsNotAcknowledged(t *testing.T) {
	f := newFront(t)
	f.store.Close()
	status, answer := f.slack(typed("1.2", "U1", "help"))
	require.Equal(t, http.StatusOK, status, "otherwise Slack shows an error of its own")
	require.Contains(t, answer["text"], "could not store this request")
	body := interaction(submitted)
	status, answer = f.post("/webhooks/slack", []byte(body), slackSigned(body, time.Now()))
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, "errors", answer["response_action"])
	require.Contains(t, answer["errors"].(map[string]any)["a"], "could not store this request")
	for _, body := range []string{interaction(pressed), mentioned, opened, archived} {
		status, answer = f.post("/webhooks/slack", []byte(body), slackSigned(body, time.Now()))
		require.Equal(t, http.StatusServiceUnavailable, status, "Slack repeats an event and marks the button")
		require.Contains(t, answer["detail"], "could not store this request")
	}
}

// A database that accepts connections and answers nothing must not take more time than Slack gives.
func TestSlackIsAnsweredInTimeWhenTheDatabaseHangs(t *testing.T) {
	f := newFront(t)
	tx, err := f.store.Pool().Begin(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	_, err = tx.Exec(t.Context(), `LOCK TABLE deliveries IN ACCESS EXCLUSIVE MODE`)
	require.NoError(t, err)
	begun := time.Now()
	status, answer := f.slack(typed("1.2", "U1", "help"))
	require.Less(t, time.Since(begun), 2900*time.Millisecond)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, answer["text"], "could not store this request")
}

func TestARequestOfTheReleaseBeforeIsProcessed(t *testing.T) {
	i := newInbox(t)
	_, err := i.store.Pool().Exec(t.Context(), `
		INSERT INTO deliveries (source, delivery_id, event, topic, body) VALUES ('slack', '1.2', 'slash_command', 'slack:T1/U1',
			'channel_id=C1&command=%2Focp&team_id=T1&text=help&trigger_id=1.2&user_id=U1&user_name=maya')`)
	require.NoError(t, err)
	require.NoError(t, i.process())
	require.Equal(t, []string{"help"}, i.notes())
}

func TestACommandIsWorkedOnceAndAnswered(t *testing.T) {
	i := newInbox(t)
	for n, text := range []string{"help", "nonsense", "approve x\x00\xff"} {
		status, _ := i.slack(typed(fmt.Sprintf("1.%d", n), "U1", text))
		require.Equal(t, http.StatusOK, status)
	}
	require.NoError(t, i.process())
	require.NoError(t, i.process())
	said := `SELECT cause || ' ' || workspace || ' ' || channel || ' ' || person || ': ' || body FROM replies ORDER BY id`
	replies := i.query(said)
	require.Len(t, replies, 3)
	require.Contains(t, replies[0], "slack:T0001:1.0 T0001 C2147483705 U1: *Commands*")
	require.Contains(t, replies[1], "is not a command")
	require.Contains(t, replies[2], "`/ocp link`")
	require.Equal(t, "help", i.notes()[0])

	_, err := i.store.Pool().Exec(t.Context(), `UPDATE deliveries SET state = 'received', finished_at = NULL`) // the process died before it wrote it down
	require.NoError(t, err)
	require.NoError(t, i.process())
	require.Equal(t, replies, i.query(said))
	require.Equal(t, []string{"answered before", "answered before", "answered before"}, i.notes())
}

func TestADeliveryOfSlacksThatIsNoCommandIsGivenUp(t *testing.T) {
	i := newInbox(t)
	_, err := i.store.Pool().Exec(t.Context(), `
		INSERT INTO deliveries (source, delivery_id, event, body) VALUES ('slack', 'a', 'press', '{}'), ('slack', 'b', 'slash_command', '')`)
	require.NoError(t, err)
	require.NoError(t, i.process())
	require.Contains(t, i.notes()[0], "kind, id and workspace are required")
	require.Contains(t, i.notes()[1], "command is missing")
}

// unwell is a service whose every try fails.
type unwell struct{ slackRequests }

func (unwell) Handle(context.Context, inbound.Request) (string, error) {
	return "", errors.New("Slack is down")
}

func TestARequestThatIsGivenUpIsToldSo(t *testing.T) {
	i := newInbox(t)
	i.worker.inSlack = unwell{i.worker.inSlack}
	status, _ := i.slack(typed("1.2", "U1", "list"))
	require.Equal(t, http.StatusOK, status)
	i.exec(`UPDATE deliveries SET received_at = received_at - interval '7 days'`)
	require.ErrorContains(t, i.process(), "Slack is down", "it waited long, and this is its first try")
	require.Equal(t, []string{"received"}, i.query(`SELECT state FROM deliveries`))
	require.Empty(t, i.query(`SELECT body FROM replies`))

	i.exec(`UPDATE deliveries SET failing_since = failing_since - interval '25 hours'`)
	require.NoError(t, i.process())
	require.Equal(t, []string{"failed"}, i.query(`SELECT state FROM deliveries`))
	require.Equal(t, []string{messages.GivenUpInSlack}, i.query(`SELECT body FROM replies`))
}
