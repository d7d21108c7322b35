package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/store"
)

// endless are documents that grow when they are read, or never end.
func endless() map[string]string {
	laughs := "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
	for i := 1; i < 10; i++ {
		laughs += fmt.Sprintf("a%d: &a%d [%s*a%d]\n", i, i, strings.Repeat(fmt.Sprintf("*a%d,", i-1), 8), i-1)
	}
	keys, tags := "", "extraTags:\n"
	for i := range 5000 {
		keys += fmt.Sprintf("k%d: 1\n", i)
		tags += fmt.Sprintf(" k%d: a\n", i)
	}
	return map[string]string{
		"anchors that multiply":    laughs + "name: *a9\nteam: *a9\nextraTags: *a9\noffhoursOptIn: *a9\nttlHours: *a9\n",
		"an anchor in itself":      "a: &a [*a]\nextraTags: {b: *a}\n",
		"a merge":                  "x: &x {team: a}\n<<: *x\n",
		"brackets in brackets":     "name: " + strings.Repeat("[", 32000),
		"objects in objects":       strings.Repeat("{a: ", 9000) + "1" + strings.Repeat("}", 9000),
		"questions in questions":   strings.Repeat("? ", 20000),
		"fields that are none":     keys,
		"more tags than can be":    tags,
		"a name without an end":    "name: " + strings.Repeat("x", 60000),
		"a tag without an end":     "extraTags: {" + strings.Repeat("x", 30000) + ": " + strings.Repeat("y", 30000) + "}",
		"a team without an end":    "team: " + strings.Repeat("x", 60000),
		"the same field, 5000 ×":   strings.Repeat("name: a\n", 5000),
		"a key without an end":     "sshPublicKey: ssh-ed25519 " + strings.Repeat("A", 60000),
		"one that is not one YAML": "name: a\n---\nname: b\n",
	}
}

func TestNoRequestGrowsWhenItIsReadOrIsKeptWithoutAnEnd(t *testing.T) {
	h := servicetest.New(t)
	maya := policy.As("saml:maya", "maya", policy.Requester, "platform")
	for name, text := range endless() {
		began := time.Now()
		r := app.ReadCreateRequest(strings.NewReader(text))
		require.Less(t, time.Since(began), 5*time.Second, name)
		r.Source, r.Once = policy.SourceAPI, &store.Once{Key: name, Request: strings.Repeat("0", 64)}
		_, err := h.Service.Create(t.Context(), maya, r)
		require.Equal(t, app.Invalid, app.KindOf(err), name)
	}
	require.Equal(t, []string{"0"}, h.Query(`SELECT count(*)::text FROM cluster_requests`), "none of them is kept")
}
