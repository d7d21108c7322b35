package reports_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/stretchr/testify/require"
)

func TestAReadyClusterOnIBMCloudIsSeenByANameWithItsInfraID(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	r := storetest.Found(clock, "shop")
	r.New.Platform, r.Attempts[0].Outputs = "ibmcloud", storetest.Outputs()
	_, err := s.Recover(t.Context(), r)
	require.NoError(t, err)
	for n := range 2 {
		clock.Pass(time.Hour / 4)
		_, err := s.Pool().Exec(t.Context(), `
			WITH s AS (INSERT INTO scans (id, platform, account, round, asked_by, spec, opened_at, runner_since, token_id, regions, closed_at, outcome)
				VALUES ($1, 'ibmcloud', '123456789012', $2, 'schedule', '{}', $3, $3, $1, '{us-east-1}', $3, 'succeeded'))
			INSERT INTO scan_parts (scan_id, name, runner, done_at, err) VALUES ($1, 'us-east-1/vpc', 1, $3, '')`, fmt.Sprintf("scn_%d", n), n+1, clock.Now())
		require.NoError(t, err)
	}
	told := func() (evidence []string) {
		t.Helper()
		found, err := s.Reports.CrossFindings(t.Context())
		require.NoError(t, err)
		for _, f := range found {
			evidence = append(evidence, f.Evidence...)
		}
		return evidence
	}
	require.Equal(t, []string{"no resource has a name that begins with shop-abcde in account 123456789012, us-east-1"}, told())
	see := func(id, name string) {
		t.Helper()
		_, err := s.Pool().Exec(t.Context(), `
			INSERT INTO seen (platform, account, id, parts, resource, first_seen_at, last_seen_at, last_scan, sights)
			VALUES ('ibmcloud', '123456789012', $1, '{us-east-1/vpc}', jsonb_build_object('name', $2::text), now(), now(), 'scn_1', 1)`, id, name)
		require.NoError(t, err)
	}
	see("vpc-0", "shop-abcdef-vpc")
	require.Len(t, told(), 1, "that is another cluster's")
	see("vpc-1", "shop-abcde-vpc")
	require.Empty(t, told())
}
