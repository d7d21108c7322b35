package chatops

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
)

func TestALabelIsGoneOnceItNoLongerTellsTheTruth(t *testing.T) {
	ends := func(c lifecycle.Card, turn func(*lifecycle.Card)) lifecycle.Card {
		c.Desired, c.Teardown = lifecycle.Absent, lifecycle.JobJanitorDestroy
		turn(&c)
		return c
	}
	byEnd := func(c *lifecycle.Card) { c.DesiredWhy = c.Ends.Reason() }
	for name, test := range map[string]struct {
		card lifecycle.Card
		why  string
	}{
		"ready":   {ready(), ""},
		"waiting": {card(), ""},
		"about to end because the pull request was closed": {lives()["ready-closed"], ""},
		"expired":              {ends(ready(), byEnd), "the end of its time to live"},
		"failed":               {lives()["create-failed"], "the install failed: bootstrap did not complete in time"},
		"failed and gone":      {lives()["destroyed-never-ready"], "the install failed: bootstrap did not complete in time"},
		"closed":               {ends(lives()["ready-closed"], byEnd), ""},
		"unlabelled":           {ends(lives()["ready-unlabelled"], byEnd), ""},
		"closed, but held":     {ends(lives()["held"], byEnd), ""},
		"refused":              {ends(lives()["awaiting-approval"], func(c *lifecycle.Card) { c.DesiredWhy = lifecycle.Noted("refused by saml:will: too big") }), "refused by saml:will: too big"},
		"closed, then refused": {ends(lives()["ready-closed"], func(c *lifecycle.Card) { c.DesiredWhy = lifecycle.Noted("refused by saml:will: too big") }), "refused by saml:will: too big"},
		"destroyed by command": {ends(lives()["ready-closed"], func(c *lifecycle.Card) {
			c.Teardown, c.DesiredWhy = lifecycle.JobDestroy, lifecycle.Noted("@maya asked for it in a comment")
		}), "@maya asked for it in a comment"},
	} {
		gone, why := LabelGone(test.card)
		require.Equal(t, test.why, why, name)
		require.Equal(t, test.why != "", gone, name)
	}
}

func TestTheLabelsOfARepositoryTellTheirPrice(t *testing.T) {
	labels := Labels([]LabelledProfile{
		{"aws-minimal-test", "one node, for quick tests", 75, 24 * time.Hour},
		{"aws-standard", strings.Repeat("long ", 50), 245, 12 * time.Hour},
	})
	var b strings.Builder
	for _, l := range labels {
		require.LessOrEqual(t, len([]rune(l.Description)), 100, l.Name)
		require.Regexp(t, "^[0-9a-f]{6}$", l.Color)
		fmt.Fprintf(&b, "%s #%s %s\n", l.Name, l.Color, l.Description)
	}
	golden(t, "labels.md", b.String())
}

func TestALabelSaysHowLong(t *testing.T) {
	for label, want := range map[string]time.Duration{
		"ocp-ttl/8": 8 * time.Hour, "OCP-TTL/24": 24 * time.Hour, "ocp-ttl/8784": 8784 * time.Hour,
		"ocp-ttl/0": 0, "ocp-ttl/": 0, "ocp-ttl/8h": 0, "ocp-ttl/-8": 0, "ocp-ttl/+8": 0, "ocp-ttl/8785": 0, "ocp-ttl/99999999999999999999": 0, "ocp/8": 0, "": 0, "ocp-ttl/ 8": 0, "ocp-ttl/1.5": 0,
	} {
		got, ok := ParseTTLLabel(label)
		require.Equal(t, want, got, label)
		require.Equal(t, want > 0, ok, label)
	}
	for _, h := range ttlHours {
		_, ok := ParseTTLLabel(fmt.Sprintf("%s%d", TTLLabelPrefix, h))
		require.True(t, ok)
	}
}
