package storetest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/scans"
)

const Lab = "123456789012"

var (
	LabAccount   = scans.Wanted{Platform: "aws", Account: Lab, Spec: scans.Spec{Installation: "here", HomeRegion: "us-east-1", CallsPerSecond: 5}}
	BySchedule   = clusters.Origin{Actor: "saml:ada", Name: "Ada", Source: "api", Why: "after the outage"}
	FindingLimit = lifecycle.FindingLimits{MinAge: 30 * time.Minute, MinSights: 2}
)

// ScanOf opens and claims a scan of the account.
func ScanOf(t testing.TB, s *store.Store) scans.Scan {
	t.Helper()
	scan, already, err := s.Scans.Open(t.Context(), LabAccount, BySchedule)
	require.NoError(t, err)
	require.False(t, already)
	_, err = s.Scans.Claim(t.Context(), scan.ID, scan.TokenID, "pod-1")
	require.NoError(t, err)
	return scan
}

func Page(name string, last bool, ids ...string) *scans.PartRow {
	p := &scans.PartRow{Name: name, Last: last, Calls: 1}
	for _, id := range ids {
		p.Resources = append(p.Resources, scans.ResourceRow{ID: id, Raw: json.RawMessage(`{"id": "` + id + `"}`)})
	}
	return p
}

// Sees runs a whole scan whose parts show these ids; a part whose ids are nil is denied.
func Sees(t *testing.T, s *store.Store, parts map[string][]string) scans.Scan {
	t.Helper()
	scan, seq := ScanOf(t, s), 0
	for name, ids := range parts {
		seq++
		p := Page(name, true, ids...)
		if ids == nil {
			p.Err = "AccessDenied"
		}
		_, err := s.Scans.Report(t.Context(), scan.ID, scan.TokenID, scans.ReportRow{Seq: seq, Part: p})
		require.NoError(t, err)
	}
	lease, err := s.Scans.Result(t.Context(), scan.ID, scan.TokenID, scans.ResultRow{Outcome: lifecycle.Succeeded, Regions: []string{"us-east-1"}})
	require.NoError(t, err)
	require.True(t, lease.Closed)
	return scan
}

// Prove has a proof of a version of an account's document find something out.
func Prove(t testing.TB, s *store.Store, platform, number, version string, found scans.ResultRow) {
	t.Helper()
	require.NoError(t, s.Scans.AskProof(t.Context(), scans.WantedProof{Version: version, Wanted: scans.Wanted{Platform: platform, Account: number}}, BySchedule))
	runs, err := s.Scans.OpenRuns(t.Context())
	require.NoError(t, err)
	for _, run := range runs {
		if run.Account == number {
			_, err = s.Scans.Claim(t.Context(), run.ID, run.TokenID, "pod-1")
			require.NoError(t, err)
			_, err = s.Scans.Result(t.Context(), run.ID, run.TokenID, found)
			require.NoError(t, err)
		}
	}
}
