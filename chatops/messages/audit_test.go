package messages

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
)

func TestEveryLineOfTheTimelineSaysWhatItIsAbout(t *testing.T) {
	for meta, want := range map[string]string{
		`{"end":"ttl","at":"2025-03-01T16:00:00Z"}`:                   "it ends at 2025-03-01 16:00:00 UTC",
		`{"end":"ttl","at":"2025-03-01T16:00:00Z","capped":true}`:     "it ends at 2025-03-01 16:00:00 UTC, the latest its profile allows",
		`{"end":"hold","at":"2025-03-01T16:00:00Z","before":null}`:    "until 2025-03-01 16:00:00 UTC",
		`{"end":"hold","after":null,"before":"2025-03-01T16:00:00Z"}`: "",
		`{"end":"pr_closed","at":"2025-03-01T13:00:00Z"}`:             "the pull request was closed, so it ends at 2025-03-01 13:00:00 UTC",
		`{"end":"drain"}`:         "",
		`{"end":"label_removed"}`: "it no longer ends because its label was removed",
		`{"after":{"kind":"team","with":"pay","access":"use"}}`:           "with team pay, to use it",
		`{"before":{"kind":"team","with":"pay","access":"use"}}`:          "no longer with team pay",
		`{"before":{"team":"a"},"after":{"team":"b","owner":"rob"}}`:      "from team a to team b, owner rob",
		`{"before":"present","after":"absent"}`:                           "",
		`{"after":{"kind":"account","account":"github:will"},"end":null}`: "",
		`{"end":7}`:    "",
		`{"after":7}`:  "",
		`{"name":"x"}`: "",
		`7`:            "",
		``:             "",
	} {
		require.Equal(t, want, AuditText(AuditLine{Meta: json.RawMessage(meta)}), meta)
	}
	numbers := json.RawMessage(`{"before":0,"after":3}`)
	require.Equal(t, "3 workers instead of 0", AuditText(AuditLine{Action: "scale_asked", Meta: numbers}))
	require.Equal(t, "because", AuditText(AuditLine{Action: "decided", Why: "because", Meta: numbers}))
	require.Equal(t, "it ends at 2025-03-01 16:00:00 UTC: INC-1", AuditText(AuditLine{Why: "INC-1", Meta: json.RawMessage(`{"end":"ttl","at":"2025-03-01T16:00:00Z"}`)}))
	merged := AuditLine{Why: "the pull request was merged", Meta: json.RawMessage(`{"end":"pr_closed","at":"2025-03-01T16:00:00Z"}`)}
	require.Equal(t, "the pull request was merged, so it ends at 2025-03-01 16:00:00 UTC", AuditText(merged), "it is said once")
	drained := AuditLine{Why: "Will is draining the clusters", Meta: json.RawMessage(`{"end":"drain","at":"2025-03-01T16:00:00Z"}`)}
	require.Equal(t, "Will is draining the clusters, so it ends at 2025-03-01 16:00:00 UTC", AuditText(drained))
	back := AuditLine{Why: "the App is there again", Meta: json.RawMessage(`{"end":"pr_closed"}`)}
	require.Equal(t, "the App is there again, so it does not end", AuditText(back))
	require.Empty(t, AuditText(AuditLine{Actor: "saml:maya", Why: "saml:maya asked for it", Reason: lifecycle.Reason{Code: lifecycle.ReasonAsked, By: "saml:maya"}}), "who it was stands beside")
}
