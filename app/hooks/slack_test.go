package hooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
		require.Equal(t, map[string]any{"response_type": "ephemeral", "text": "Got it: `/ocp approve shop &lt;now&gt;`. The answer follows."}, answer)
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

func TestACommandThatIsNotUnderstoodIsToldSoAtOnce(t *testing.T) {
	f := newFront(t)
	_, answer := f.slack(typed("1.2", "U1", "aprove"))
	require.Contains(t, answer["text"], "Nothing was done")
	_, answer = f.slack(typed("1.3", "U1", "<!channel> *x*"))
	require.NotContains(t, answer["text"], "<!channel>")
}

func TestWhatElseSlackSendsIsAcknowledgedAndNotStored(t *testing.T) {
	f := newFront(t)
	for body, kind := range map[string]string{
		`{"type":"event_callback","event_id":"Ev0PV52K21","token":"t","event":{"type":"app_mention"}}`:             "event_callback",
		url.Values{"payload": {`{"type":"block_actions","trigger_id":"1.2","response_url":"https://x"}`}}.Encode(): "block_actions",
		"ssl_check=1&token=t": "ssl_check",
	} {
		status, answer := f.post("/webhooks/slack", []byte(body), slackSigned(body, time.Now()))
		require.Equal(t, http.StatusOK, status)
		require.Equal(t, "ignored", answer["state"])
		require.Equal(t, "ocpctl does not listen to "+kind+"; nothing was stored.", answer["detail"])
	}
	require.Empty(t, f.stored())
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

func TestACommandThatCannotBeStoredIsNotAcknowledged(t *testing.T) {
	f := newFront(t)
	f.store.Close()
	status, answer := f.slack(typed("1.2", "U1", "help"))
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.NotContains(t, fmt.Sprint(answer), "Got it")
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
	require.Contains(t, replies[0], "slack:T0001:1.0 T0001 C2147483705 U1: **Commands**")
	require.Contains(t, replies[1], "is not a command")
	require.Contains(t, replies[2], "`/ocp link`")
	require.Equal(t, "help", i.notes()[0])

	_, err := i.store.Pool().Exec(t.Context(), `UPDATE deliveries SET state = 'received', finished_at = NULL`) // the process died before it wrote it down
	require.NoError(t, err)
	require.NoError(t, i.process())
	require.Equal(t, replies, i.query(said))
	require.Equal(t, []string{"already answered", "already answered", "already answered"}, i.notes())
}

func TestADeliveryOfSlacksThatIsNoCommandIsGivenUp(t *testing.T) {
	i := newInbox(t)
	_, err := i.store.Pool().Exec(t.Context(), `
		INSERT INTO deliveries (source, delivery_id, event, body) VALUES ('slack', 'a', 'block_actions', '{}'), ('slack', 'b', 'slash_command', '')`)
	require.NoError(t, err)
	require.NoError(t, i.process())
	require.Contains(t, i.notes()[0], "listens to")
	require.Contains(t, i.notes()[1], "team_id, channel_id and user_id are required")
}
