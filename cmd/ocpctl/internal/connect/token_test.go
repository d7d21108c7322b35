package connect

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAJobWithoutATokenIsToldWhatToDo(t *testing.T) {
	event := func(body string) string {
		path := filepath.Join(t.TempDir(), "event.json")
		require.NoError(t, os.WriteFile(path, []byte(body), 0o600))
		return path
	}
	fork := event(`{"action": "opened", "pull_request": {"number": 41, "head": {"ref": "x", "repo": {"full_name": "rob/shop"}}}}`)
	own := event(`{"pull_request": {"head": {"repo": {"full_name": "Acme/Shop"}}}}`)
	deleted := event(`{"pull_request": {"head": {"repo": null}}}`)
	for name, c := range map[string]struct {
		env  map[string]string
		want string
	}{
		"no pipeline":                  {nil, "not a job of GitHub Actions"},
		"a push":                       {map[string]string{"GITHUB_ACTIONS": "true"}, "permissions: {id-token: write}"},
		"a fork":                       {map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "acme/shop", "GITHUB_EVENT_PATH": fork}, "pull request from a fork"},
		"a branch of the repository":   {map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "acme/shop", "GITHUB_EVENT_PATH": own}, "permissions: {id-token: write}"},
		"a deleted head":               {map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "acme/shop", "GITHUB_EVENT_PATH": deleted}, "permissions: {id-token: write}"},
		"an event that is not there":   {map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_EVENT_PATH": "/none"}, "permissions: {id-token: write}"},
		"an event that cannot be read": {map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_EVENT_PATH": event("{")}, "permissions: {id-token: write}"},
	} {
		require.ErrorContains(t, noToken(func(name string) string { return c.env[name] }), c.want, name)
	}
}

func TestAJobAsksForItsTokenAsLongAsItLives(t *testing.T) {
	ended := errors.New("the job was cancelled")
	answers := func(status int, header, body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			if header != "" {
				w.Header().Set("Retry-After", header)
			}
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		}
	}
	forbidden := answers(403, "", `{"message": "Resource not accessible by integration"}`)
	cut := func(http.ResponseWriter) { panic(http.ErrAbortHandler) }
	for name, c := range map[string]struct {
		first  func(http.ResponseWriter)
		times  int // how often it is the answer, before a token is
		sleeps int // after which the job ends; 0: it does not
		asked  int
		least  time.Duration // the first pause
		want   string        // of the error; empty: there is a token
	}{
		"refused for a while":            {forbidden, 20, 0, 21, time.Second / 2, ""},
		"too many requests":              {answers(429, "90", ""), 2, 0, 3, 90 * time.Second, ""},
		"GitHub fails":                   {answers(500, "", "oops"), 9, 0, 10, time.Second / 2, ""},
		"no connection":                  {cut, 3, 0, 4, time.Second / 2, ""},
		"refused until the job ends":     {forbidden, 99, 12, 12, time.Second / 2, "403 Forbidden: Resource not accessible by integration (the job was cancelled)"},
		"a token request that is over":   {answers(401, "", `{"message": "Bad credentials"}`), 99, 0, 1, 0, "401 Unauthorized: Bad credentials"},
		"words on several lines":         {answers(400, "", "no\r\n\x1b[31m such\naudience"), 99, 0, 1, 0, "400 Bad Request: no such audience"},
		"a token that is none":           {answers(200, "", `{"value": ""}`), 1, 0, 1, 0, "contains no token"},
		"a page instead of an answer":    {answers(200, "", `<html>`), 1, 0, 1, 0, "contains no token"},
		"unavailable, and a long answer": {answers(503, "", strings.Repeat("x", 9999)), 99, 1, 1, time.Second / 2, "…"},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			actions := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if asked++; asked <= c.times {
					c.first(w)
					return
				}
				fmt.Fprint(w, `{"value": "the-token"}`)
			}))
			t.Cleanup(actions.Close)
			var waits []time.Duration
			send := &retrier{client: actions.Client(), Options: Options{Now: time.Now, Sleep: func(_ context.Context, d time.Duration) error {
				if waits = append(waits, d); len(waits) == c.sleeps {
					return ended
				}
				return nil
			}}}
			env := map[string]string{"ACTIONS_ID_TOKEN_REQUEST_URL": actions.URL, "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "request-token"}
			got, err := fromGitHub("ocpctl", func(name string) string { return env[name] }, send)(t.Context())
			if c.want == "" {
				require.NoError(t, err)
				require.Equal(t, "the-token", got.text)
			} else {
				require.ErrorContains(t, err, c.want)
				require.NotContains(t, err.Error(), "request-token")
			}
			require.Equal(t, c.asked, asked)
			require.Len(t, waits, max(c.sleeps, c.asked-1))
			for i, wait := range waits {
				require.GreaterOrEqual(t, wait, c.least)
				require.LessOrEqual(t, wait, max(2*mostWait, c.least), i)
			}
		})
	}
}
