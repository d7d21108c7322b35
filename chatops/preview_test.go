package chatops

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
)

func TestADryRunIsAnsweredWithWhatWouldHappen(t *testing.T) {
	v := policy.Verdict{Allowed: true, Grant: policy.Grant{
		Name: "demo", Profile: "aws-standard", Version: "4.20.3", Region: "us-east-1", TTL: 8 * time.Hour, HourlyCents: 149, PriceCents: 1192,
	}}
	text := Preview("will", v, lifecycle.Forecast{StartsAt: time.Now()})
	require.Equal(t, "@will, this was a dry run: nothing was created. `demo` would be accepted: profile `aws-standard`, version `4.20.3` in `us-east-1`, "+
		"for 8 h, about $1.49 an hour and $11.92 until its end, by list prices.\n", text)

	spot := v
	spot.Grant.OnDemand, spot.Grant.MaxTries = new(184), 2
	require.Contains(t, Preview("will", spot, lifecycle.Forecast{StartsAt: time.Now()}),
		"\nIts workers are spot machines: that saves about $0.35 an hour, AWS may take them back with two minutes' notice, and the last of 2 tries is on demand.\n")

	v.Approval = &policy.Approval{Count: 1, By: policy.PlatformAdmin, For: 24 * time.Hour, Why: []string{"It is big."}}
	v.Checks = []policy.Check{
		{Name: "size", Result: policy.Ask, Message: "It is big."},
		{Name: "quota", Result: policy.Wait, Message: "The team has 3 of 3."},
		{Name: "ttl", Result: policy.Warn, Message: "8h is long."},
	}
	v.Waits = []policy.Limit{{Quota: "team"}}
	text = Preview("will", v, lifecycle.Forecast{Position: 2, ReadyP50: 38*time.Minute + 20*time.Second, ReadyP90: 45 * time.Minute})
	for _, want := range []string{
		"It would need an approval before it starts. Another platform admin", "- **size**: It is big.", "It would wait:\n\n- **quota**: The team has 3 of 3.",
		"It would be number 2 in the queue; when it could start is not known.",
		"Half of the recent clusters of this profile were ready within 38 min, nine of ten within 45 min.", "Worth knowing:\n\n- **ttl**: 8h is long.",
	} {
		require.Contains(t, text, want)
	}
	require.Contains(t, Expected(lifecycle.Forecast{Position: 1, StartsAt: time.Date(2025, 3, 1, 13, 30, 0, 0, time.UTC)}),
		"It would be number 1 in the queue and could start at about 2025-03-01 13:30 UTC.")
}

func TestARefusalSaysWhichSmallerKindWouldDo(t *testing.T) {
	v := policy.Verdict{Checks: []policy.Check{
		{Name: "budget", Result: policy.Fail, Message: "Team shop has $3.00 left.", Next: "Ask for less."},
		{Name: policy.SmallerCheck, Result: policy.Warn, Message: "Profile namespace is ready within seconds.", Next: "Take it unless you need nodes."},
	}}
	for _, text := range []string{Refusal("maya", v), RefusalInSlack(v), LabelRefusal("maya", "ocp/aws", v)} {
		require.Contains(t, text, "\nWhat you can have now: Profile namespace is ready within seconds. Take it unless you need nodes.\n")
	}
	v.Checks = v.Checks[:1]
	require.NotContains(t, Refusal("maya", v), "have now")
}
