package scans_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/scans"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// BenchmarkAccountOf100kResources stores what a scan of 100,000 resources shows, reads it for the judgement, and writes 1,000 orphans.
func BenchmarkAccountOf100kResources(b *testing.B) {
	const resources, orphans, onPage = 100_000, 1_000, 1_000
	s, _ := storetest.Open(b)
	for b.Loop() {
		scan, _, err := s.Scans.Open(b.Context(), storetest.LabAccount, storetest.BySchedule)
		require.NoError(b, err)
		_, err = s.Scans.Claim(b.Context(), scan.ID, scan.TokenID, "pod-1")
		require.NoError(b, err)
		for page := range resources / onPage {
			part := &scans.PartRow{Name: "us-east-1/ec2", Last: page == resources/onPage-1}
			for i := range onPage {
				id := fmt.Sprintf("arn:aws:ec2:us-east-1:123456789012:instance/i-%06d", page*onPage+i)
				part.Resources = append(part.Resources, scans.ResourceRow{ID: id, Raw: json.RawMessage(`{"id": "` + id + `", "type": "instance", "tags": {"Owner": "maya"}}`)})
			}
			_, err := s.Scans.Report(b.Context(), scan.ID, scan.TokenID, scans.ReportRow{Seq: page + 1, Part: part})
			require.NoError(b, err)
		}
		_, err = s.Scans.Result(b.Context(), scan.ID, scan.TokenID, scans.ResultRow{Outcome: lifecycle.Succeeded})
		require.NoError(b, err)
		seen, err := s.Scans.Seen(b.Context(), scan)
		require.NoError(b, err)
		require.Len(b, seen, resources)
		var judged []lifecycle.Judged
		for i := range orphans {
			j := lifecycle.Judged{Class: lifecycle.ClassOwned, Why: "somebody's", Group: lifecycle.Group{Place: fmt.Sprint(i), Regions: []string{}, Sights: 1, Fresh: true}}
			for at := i; at < resources; at += orphans {
				j.Resources = append(j.Resources, seen[at].ID)
			}
			judged = append(judged, j)
		}
		_, err = s.Scans.KeepOrphans(b.Context(), scan.ID, judged, storetest.FindingLimit)
		require.NoError(b, err)
	}
}
