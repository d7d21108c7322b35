package reports_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// What the database's own column is made of, a look for findings reads too: otherwise a cluster that is past its end is none.
func TestALookKnowsEveryEnd(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	g := storetest.Granted("shop")
	g.Row.Idle.TellAfter, g.Row.Idle.EndAfter = time.Hour, 2*time.Hour
	id := storetest.Accept(t, s, g).ID
	terms := regexp.MustCompile(`\bend_\w+`).FindAllString(storetest.Text(t, s,
		`SELECT generation_expression FROM information_schema.columns WHERE table_schema = 'public' AND table_name = 'clusters' AND column_name = 'destroy_at'`), -1)
	require.Contains(t, terms, "end_idle")
	beside := map[string]string{"end_hold": `, hold_why = 'a demo'`, "end_drain": `, drain_why = '{"code": "drained"}'`}
	for i, term := range terms {
		if term == "end_max" { // was accepted, and never changes
			continue
		}
		at := clock.Now().Add(3*time.Hour - time.Duration(i)*time.Minute)
		if term == "end_hold" {
			at = clock.Now().Add(time.Hour)
		}
		_, err := s.Pool().Exec(t.Context(), `UPDATE clusters SET `+term+` = $2`+beside[term]+` WHERE id = $1`, id, at)
		require.NoError(t, err, term)
		known, err := s.Reports.Known(t.Context(), lifecycle.Seen{})
		require.NoError(t, err)
		row := storetest.Read(t, s, id)
		require.Equal(t, row.Ends, known.Clusters[0].Ends, term)
		require.True(t, row.DestroyAt.Equal(known.Clusters[0].Ends.DestroyAt()), term)
	}
}
