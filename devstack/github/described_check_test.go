package github

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatDoesNotFitIsSaid(t *testing.T) {
	label := `{"id":1,"node_id":"x","url":"https://x","name":"bug","color":"ededed","default":false,"description":null}`
	for name, c := range map[string]struct {
		method, path, sent string
		status             int
		got, want          string
	}{
		"good":                    {"POST", "/repos/o/r/labels", `{"name":"bug"}`, 201, label, ""},
		"good, by number":         {"PATCH", "/repositories/7/labels/ocp%2Fx", `{}`, 200, label, ""},
		"a field too much":        {"POST", "/repos/o/r/labels", `{"name":"bug","shade":"red"}`, 201, label, "no such field: shade"},
		"a field missing":         {"POST", "/repos/o/r/labels", `{"color":"ededed"}`, 201, label, "name"},
		"a parameter too much":    {"PATCH", "/repos/o/r/labels/bug?deep=yes", `{}`, 200, label, "no such parameter: deep"},
		"an answer lacks a field": {"PATCH", "/repos/o/r/labels/bug", `{}`, 200, `{"id":1}`, "node_id"},
		"a status of its own":     {"PATCH", "/repos/o/r/labels/bug", `{}`, 202, label, "does not answer 202"},
		"an unknown path":         {"GET", "/repos/o/r/secrets", "", 200, `{}`, "no such operation"},
		"an error without words":  {"PATCH", "/repos/o/r/labels/bug", `{}`, 404, `{}`, "without a message"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.got)
			}))
			defer server.Close()
			var said []string
			client := http.Client{Transport: &CheckedTransport{Report: func(err error) { said = append(said, err.Error()) }}}
			req, err := http.NewRequestWithContext(t.Context(), c.method, server.URL+c.path, strings.NewReader(c.sent))
			require.NoError(t, err)
			req.Header.Set("Content-Type", "application/json")
			resp, err := client.Do(req)
			require.NoError(t, err)
			require.NoError(t, resp.Body.Close())
			if c.want == "" {
				require.Empty(t, said)
				return
			}
			require.Contains(t, strings.Join(said, "\n"), c.want)
		})
	}
	require.ErrorContains(t, checkWebhook("pull_request", "opened", []byte(`{"action":"opened"}`)), "pull_request")
	require.ErrorContains(t, checkWebhook("pull_request", "danced", []byte(`{}`)), "no webhook")
}

func TestAFieldTooMuchIsSeenHoweverDeep(t *testing.T) {
	sent := `{"name":"n","head_sha":"s","output":{"title":"t","summary":"s","words":"w"}}`
	route, params, ok := findDescribed("POST", "/repos/o/r/check-runs")
	require.True(t, ok)
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/repos/o/r/check-runs", strings.NewReader(sent))
	req.Header.Set("Content-Type", "application/json")
	require.ErrorContains(t, checkRequest(req, []byte(sent), route, params), "no such field: output.words")
}
