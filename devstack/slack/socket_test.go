package slack_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	api "github.com/slack-go/slack"
	"github.com/slack-go/slack/socketmode"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/slack"
)

// connect opens a connection as an app does, and returns it with the greeting.
func connect(t *testing.T, s *slack.Server) (*websocket.Conn, m) {
	t.Helper()
	conn, resp, err := websocket.DefaultDialer.DialContext(t.Context(), ticket(t, s), nil)
	require.NoError(t, err)
	resp.Body.Close()
	t.Cleanup(func() { _ = conn.Close() })
	return conn, read(t, conn)
}

func ticket(t *testing.T, s *slack.Server) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.API()+"apps.connections.open", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+slack.DefaultAppToken)
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	var answer struct {
		OK    bool
		URL   string
		Error string
	}
	require.NoError(t, json.NewDecoder(resp.Body).Decode(&answer))
	require.True(t, answer.OK, answer.Error)
	return answer.URL
}

func read(t *testing.T, conn *websocket.Conn) (frame m) {
	t.Helper()
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(10*time.Second)))
	require.NoError(t, conn.ReadJSON(&frame))
	return frame
}

func TestSocketModeSendsEnvelopesAndTakesAcknowledgements(t *testing.T) {
	s := start(t, slack.Config{Socket: true})
	got, err := s.Command(t.Context(), "maya", slack.Clusters, "help")
	require.NoError(t, err)
	require.Contains(t, got, "dispatch_failed", "nothing is connected")

	conn, hello := connect(t, s)
	require.Equal(t, []any{"hello", 1.0, slack.App}, []any{hello["type"], hello["num_connections"], hello["connection_info"].(m)["app_id"]})
	type result struct {
		got string
		err error
	}
	answered := make(chan result, 1)
	go func() {
		got, err := s.Command(t.Context(), "maya", slack.Clusters, "help")
		answered <- result{got, err}
	}()
	e := read(t, conn)
	require.Equal(t, []any{"slash_commands", true, "/ocp", "help"}, []any{e["type"], e["accepts_response_payload"], e["payload"].(m)["command"], e["payload"].(m)["text"]})
	require.NoError(t, conn.WriteJSON(m{"envelope_id": e["envelope_id"], "payload": m{"text": "Got it"}}))
	require.Equal(t, result{"Got it", nil}, <-answered)

	failed := make(chan error, 1)
	go func() { failed <- s.OpenHome(t.Context(), "maya") }()
	e = read(t, conn)
	require.Equal(t, []any{"events_api", false, 0.0, "app_home_opened"}, []any{e["type"], e["accepts_response_payload"], e["retry_attempt"], e["payload"].(m)["event"].(m)["type"]})
	require.NoError(t, conn.WriteJSON(m{"envelope_id": e["envelope_id"]}))
	require.NoError(t, <-failed)
}

func TestAnUnacknowledgedEnvelopeGoesToAnotherConnection(t *testing.T) {
	s := start(t, slack.Config{Socket: true, Patience: time.Second})
	first, _ := connect(t, s)
	second, hello := connect(t, s)
	require.Equal(t, 2.0, hello["num_connections"])
	failed := make(chan error, 1)
	go func() { failed <- s.UseShortcut(t.Context(), "maya", "create", "") }()
	e := read(t, first)
	require.Equal(t, "interactive", e["type"])
	require.NoError(t, first.Close()) // without an acknowledgement
	again := read(t, second)
	require.Equal(t, e["payload"], again["payload"])
	require.NoError(t, second.WriteJSON(m{"envelope_id": again["envelope_id"]}))
	require.NoError(t, <-failed)

	go func() { failed <- s.OpenHome(t.Context(), "maya") }()
	e = read(t, second) // and is not acknowledged in time
	again = read(t, second)
	require.Equal(t, e["payload"].(m)["event_id"], again["payload"].(m)["event_id"])
	require.Equal(t, []any{1.0, "timeout"}, []any{again["retry_attempt"], again["retry_reason"]})
	require.NoError(t, second.WriteJSON(m{"envelope_id": again["envelope_id"]}))
	require.NoError(t, <-failed)
}

func TestAConnectionIsAnnouncedToEndAndItsURLWorksOnce(t *testing.T) {
	at := time.Now()
	s := start(t, slack.Config{Socket: true, Now: func() time.Time { return at }})
	conn, _ := connect(t, s)
	s.Disconnect("warning")
	require.Equal(t, "warning", read(t, conn)["reason"])
	require.Equal(t, 1, s.Sockets())
	s.Disconnect("refresh_requested")
	require.Equal(t, m{"type": "disconnect", "reason": "refresh_requested", "debug_info": m{"host": "applink-demo"}}, read(t, conn))
	_, _, err := conn.ReadMessage()
	require.Error(t, err)
	require.Eventually(t, func() bool { return s.Sockets() == 0 }, 5*time.Second, time.Millisecond)

	url := ticket(t, s)
	dial := func(url string) error {
		conn, resp, err := websocket.DefaultDialer.DialContext(t.Context(), url, nil)
		if resp != nil {
			resp.Body.Close()
		}
		if err == nil {
			t.Cleanup(func() { _ = conn.Close() })
		}
		return err
	}
	require.NoError(t, dial(url))
	require.Error(t, dial(url), "it was used")
	require.Error(t, dial(strings.Replace(url, "ticket=", "ticket=x", 1)))
	late := ticket(t, s)
	at = at.Add(time.Minute)
	require.Error(t, dial(late))
	off := start(t, slack.Config{})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, off.API()+"apps.connections.open", nil)
	require.NoError(t, err)
	r.Header.Set("Authorization", "Bearer "+slack.DefaultAppToken)
	require.Equal(t, "access_denied", code(t, r))
}

// The client is the one that ocpctl uses.
func TestTheGoClientOfSocketModeStaysConnected(t *testing.T) {
	s := start(t, slack.Config{Socket: true})
	client := socketmode.New(api.New(token, api.OptionAppLevelToken(slack.DefaultAppToken), api.OptionAPIURL(s.API())))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- client.RunContext(ctx) }()
	connections, failed := make(chan struct{}, 10), make(chan error, 10)
	go func() {
		for e := range client.Events {
			switch e.Type {
			case socketmode.EventTypeConnectionError:
				failed <- e.Data.(*api.ConnectionErrorEvent).ErrorObj
			case socketmode.EventTypeHello:
				connections <- struct{}{}
			case socketmode.EventTypeSlashCommand:
				client.Ack(*e.Request, map[string]any{"text": "Got it: " + e.Data.(api.SlashCommand).Text})
			case socketmode.EventTypeInteractive, socketmode.EventTypeEventsAPI:
				client.Ack(*e.Request)
			}
		}
	}()
	connected := func() {
		t.Helper()
		select {
		case <-connections:
		case err := <-failed:
			require.NoError(t, err, "it did not connect")
		case err := <-ended:
			require.NoError(t, err, "it ended")
		}
	}
	for range 2 { // it connects again by itself
		connected()
		got, err := s.Command(t.Context(), "maya", slack.Clusters, "help")
		require.NoError(t, err)
		require.Equal(t, "Got it: help", got)
		require.NoError(t, s.UseShortcut(t.Context(), "maya", "ocp_create", ""))
		_, err = s.Mention(t.Context(), "maya", slack.Clusters, "help")
		require.NoError(t, err)
		s.Disconnect("refresh_requested")
	}
	connected()
	for _, sent := range s.Sent() {
		require.Empty(t, sent.Code, "%+v", sent)
	}
	stop()
	require.ErrorIs(t, <-ended, context.Canceled)
}
