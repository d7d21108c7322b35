package runner_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
)

const cardWritten = "apply --server-side --force-conflicts --field-manager=ocpctl -f -"

// informed is the world of an attempt to write a card and to read links.
func informed(t *testing.T, routes ...string) *world {
	t.Helper()
	w := opened(t, contract.KindInform)
	w.spec.RouteLabel = "ocpctl/show=true"
	w.spec.Card = &contract.Card{Owner: "Maya", Team: "payments", PullRequest: "https://github.com/acme/shop/pull/41", Ends: time.Date(2030, 1, 2, 15, 0, 0, 0, time.UTC), Page: "https://ocpctl.example.com/clusters/clu_1"}
	w.file("has-console", "consolenotifications.console.openshift.io\n")
	lines := "Warning: this resource is old\n"
	for _, line := range routes {
		lines += line + "\n"
	}
	w.file("routes", lines)
	return w
}

func aRoute(namespace, name, host, path, title string) string {
	return fmt.Sprintf("%q %q %q %q %q %q", namespace, name, "https", host, path, title)
}

func (w *world) appliedText() string {
	w.t.Helper()
	raw, err := os.ReadFile(filepath.Join(w.dir, "applied"))
	require.NoError(w.t, err)
	return string(raw)
}

func TestARunnerWritesTheCardAndReadsTheLinks(t *testing.T) {
	const domain = ".apps.shop.labs.example.com"
	w := informed(t,
		aRoute("shop", "web", "web"+domain, "/login", "The shop"), aRoute("admin", "web", "admin"+domain, "", " a\u202eb\n"),
		aRoute("shop", "again", "web"+domain, "/login", "Twice"), aRoute("shop", "evil", "evil.example.com", "", "Sign in again"),
		aRoute("shop", "odd", "X"+domain, "/", ""), `"shop" "cut" "https`)
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, contract.Result{Outcome: "succeeded", Message: "its identity card is up to date, and 2 links were found", Links: &[]contract.Link{
		{Title: "ab", URL: "https://admin" + domain}, {Title: "Twice", URL: "https://web" + domain + "/login"},
	}}, w.result())
	require.Equal(t, []string{"restoring", "informing"}, w.phases())
	require.Equal(t, []string{cardWritten, cardWritten}, w.asked())
	require.JSONEq(t, `{"cluster":"shop","owner":"Maya","team":"payments","pull-request":"https://github.com/acme/shop/pull/41","ends":"2030-01-02T15:00:00Z",
		"extend":"ocpctl extend shop 4h","page":"https://ocpctl.example.com/clusters/clu_1"}`, between(t, w.appliedText(), `"data":`, `,"kind":"ConfigMap"`))
	require.Contains(t, w.appliedText(), `"text":"shop belongs to Maya (acme/shop#41) and ends at 15:00 UTC on 2 January 2030. To extend it, run ocpctl extend shop 4h or comment /ocp extend 4h on the pull request."`)
	require.Contains(t, w.appliedText(), `"link":{"href":"https://ocpctl.example.com/clusters/clu_1","text":"Extend it on its page"}`)
	require.Contains(t, w.appliedText(), `"name":"system:authenticated"`)
}

func between(t *testing.T, text, begin, end string) string {
	t.Helper()
	_, after, found := strings.Cut(text, begin)
	require.True(t, found, text)
	before, _, found := strings.Cut(after, end)
	require.True(t, found, text)
	return before
}

func TestAClusterWithoutAConsoleOrLinksGetsItsCard(t *testing.T) {
	w := informed(t)
	w.file("has-console", "")
	w.spec.RouteLabel = ""
	w.spec.Card.PullRequest, w.spec.Card.Page, w.spec.Card.UnusedFor = "", "", 2*time.Hour
	require.NoError(t, w.run(t.Context()))
	require.Equal(t, contract.Result{Outcome: "succeeded", Message: "its identity card is up to date"}, w.result())
	require.Equal(t, []string{cardWritten}, w.asked())
	require.Contains(t, w.appliedText(), `"ends-unused-after":"2h"`)
}

func TestACardOrLinksThatFailSayWhy(t *testing.T) {
	for name, c := range map[string]struct {
		script, reason, says string
		retryable            bool
	}{
		"the API does not answer":   {"echo 'Unable to connect to the server: EOF' >&2; exit 1", "CardRefused", "Unable to connect to the server: EOF", true},
		"the card is refused":       {`case "$asked" in *" apply "*) echo 'Error from server (Forbidden): configmaps is forbidden' >&2; exit 1 ;; esac`, "CardRefused", "configmaps is forbidden", false},
		"the links may not be read": {`case "$asked" in *" get routes"*) echo 'Error from server (Forbidden): routes is forbidden' >&2; exit 1 ;; esac`, "LinksUnknown", "routes is forbidden", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := informed(t)
			w.on("oc", c.script)
			require.NoError(t, w.run(t.Context()))
			got := w.result()
			require.Equal(t, []any{"failed", c.reason, c.retryable}, []any{got.Outcome, got.Reason, got.Retryable}, got.Message)
			require.Contains(t, got.Message, c.says)
			require.Nil(t, got.Links)
		})
	}
}
