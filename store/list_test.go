package store_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// Pages of one, two and more clusters show, newest first, exactly those of the reader's teams and those shared with the reader.
func TestPagesOfTeamsShowWhatIsTheirsAndWhatIsShared(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	teams := []string{"a", "b", "c", "other"}
	var shared []string
	for n := range 24 {
		a := storetest.Granted(fmt.Sprint("c", n))
		a.Row.Team = teams[n%len(teams)]
		id := storetest.Accept(t, s, a).ID
		if n%8 == 3 || n%8 == 1 { // of another team, and of one of the reader's own
			shared = append(shared, id)
		}
	}
	_, err := s.Pool().Exec(t.Context(), `INSERT INTO shares SELECT unnest($1::text[]), 'principal', 'saml:maya', 'see', 'github:will', now()`, shared)
	require.NoError(t, err)
	for _, of := range [][]string{{"a"}, {"a", "b"}, {"c", "none"}, {}} {
		var want []string
		rows, err := s.Pool().Query(t.Context(), `SELECT id FROM clusters WHERE team = ANY ($1) OR id = ANY ($2) ORDER BY id DESC`, of, shared)
		require.NoError(t, err)
		for rows.Next() {
			var id string
			require.NoError(t, rows.Scan(&id))
			want = append(want, id)
		}
		for _, limit := range []int{1, 2, 5, 50} {
			var got []string
			f := store.Filter{Live: true, Teams: of, Principal: "saml:maya", Limit: limit}
			for more := true; more; more = f.Cursor != "" {
				page, next, err := s.List(t.Context(), f)
				require.NoError(t, err)
				for _, row := range page {
					got = append(got, row.ID)
				}
				f.Cursor = next
			}
			require.Equal(t, want, got, "%v, %d a page", of, limit)
		}
	}
}
