package people_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/people"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// confirmed has the person confirm a link of the account, and returns the code that they see.
func confirmed(t *testing.T, s *store.Store, account string) (code string) {
	t.Helper()
	handle, _, err := s.People.NewLink(t.Context(), people.Link{Kind: people.LinkOfAccount, Account: account, Number: "7"}, time.Hour, storetest.OriginBy(account, ""))
	require.NoError(t, err)
	used, err := s.People.UseLink(t.Context(), handle, people.Owner{Principal: "saml:root", Name: "Root"}, "web")
	require.NoError(t, err)
	require.Regexp(t, `^[A-Z2-7]{6}$`, used.Code)
	require.Regexp(t, `[2-7]`, used.Code, "commands tell it from a word by a digit")
	return used.Code
}

// wrongCode is a code that no draw contains: it is too short.
const wrongCode = "AAAAA"

func TestALinkIsCompletedOnlyByItsAccountWithItsCodeOnceAndInTime(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	tries := func(account, code, why string) {
		t.Helper()
		require.ErrorIs(t, s.People.CompleteLink(t.Context(), account, code, storetest.OriginBy(account, "")), db.ErrNotFound)
		_, meta := storetest.Said(t, s, "link_refused")
		require.Contains(t, meta["why"], why)
		require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM accounts`))
	}
	code := confirmed(t, s, "github:id/7")
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM pending_links p, audit_events e WHERE p::text LIKE '%' || $1 || '%' OR e::text LIKE '%' || $1 || '%'`, code),
		"the code is kept nowhere")
	tries("github:id/8", code, "no link of the account")
	tries("github:id/7", wrongCode, "attempt 1 of 5")
	clock.Pass(people.CodeLasts)
	tries("github:id/7", code, "time was over")

	code = confirmed(t, s, "github:id/7")
	for range people.MaxCodeTries {
		tries("github:id/7", wrongCode, "wrong")
	}
	tries("github:id/7", code, "no link of the account")

	first, code := confirmed(t, s, "github:id/7"), confirmed(t, s, "github:id/7")
	tries("github:id/7", first, "wrong")
	require.NoError(t, s.People.CompleteLink(t.Context(), "github:id/7", code, storetest.OriginBy("github:id/7", "")))
	known, err := s.People.AccountOf(t.Context(), "github:id/7")
	require.NoError(t, err)
	require.Equal(t, "saml:root", known.Principal)
	require.ErrorIs(t, s.People.CompleteLink(t.Context(), "github:id/7", code, storetest.OriginBy("github:id/7", "")), db.ErrNotFound, "it works once")
}
