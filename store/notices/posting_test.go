package notices_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// By their time the notices of one message are found again if Slack's answer was lost, so it is one time on the database's own clock too.
func TestNoticesOfOneMessageArePostedAtOneTime(t *testing.T) {
	t.Parallel()
	s := storetest.OpenAt(t, pgtest.New(t), db.Options{Limits: storetest.Limits, Lease: 15 * time.Minute})
	var ids []string
	for n := range 200 {
		ids = append(ids, fmt.Sprintf("not_%d", n))
	}
	_, err := s.Pool().Exec(t.Context(), `
		INSERT INTO notices (id, cause, kind, workspace, channel, created_at, nudge_at)
		SELECT id, id, 'ready', 'T1', 'C1', now(), now() FROM unnest($1::text[]) AS t (id)`, ids)
	require.NoError(t, err)
	require.NoError(t, s.Notices.Posting(t.Context(), ids))
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(DISTINCT posting_at) FROM notices`))
}
