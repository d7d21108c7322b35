package people_test

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/people"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestALinkWorksOnceForOne(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	mayas := people.Owner{Principal: storetest.Maya("").Actor, Name: "Maya"}
	handle, made, err := s.People.NewLink(t.Context(), people.Link{Kind: people.LinkKubeconfig, Principal: mayas.Principal, Cluster: row.ID}, 10*time.Minute, storetest.Maya(""))
	require.NoError(t, err)
	require.Len(t, handle, 43, "256 bits in base64url")
	require.Equal(t, clock.Now().Add(10*time.Minute), made.ExpiresAt)
	require.Zero(t, storetest.Count(t, s, `SELECT count(*) FROM links l, audit_events e WHERE l::text LIKE '%' || $1 || '%' OR e::text LIKE '%' || $1 || '%'`, handle),
		"the handle is kept nowhere")

	refused := func(handle string, by people.Owner, why string) {
		t.Helper()
		_, err := s.People.UseLink(t.Context(), handle, by, "web")
		require.ErrorIs(t, err, db.ErrNotFound)
		require.Equal(t, "use a link: not found: the link does not work, or not any more", err.Error(), "all refusals sound alike")
		_, meta := storetest.Said(t, s, "link_refused")
		require.Contains(t, meta["why"], why)
	}
	refused("nonsense", mayas, "no such link")
	refused(handle, people.Owner{Principal: "saml:will"}, "it was "+mayas.Principal+"'s")
	_, err = s.People.LinkFor(t.Context(), handle, "saml:will")
	require.ErrorIs(t, err, db.ErrNotFound)
	seen, err := s.People.LinkFor(t.Context(), handle, mayas.Principal)
	require.NoError(t, err)
	require.Equal(t, made, seen)

	var worked atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if used, err := s.People.UseLink(t.Context(), handle, mayas, "web"); err == nil && used == made {
				worked.Add(1)
			}
		})
	}
	wg.Wait()
	require.Equal(t, int32(1), worked.Load())
	refused(handle, mayas, "used before")
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'link_used' AND source = 'web' AND target_cluster_id = $1`, row.ID))

	handle, _, err = s.People.NewLink(t.Context(), people.Link{Kind: people.LinkKubeconfig, Principal: mayas.Principal, Cluster: row.ID}, 10*time.Minute, storetest.Maya(""))
	require.NoError(t, err)
	clock.Pass(10 * time.Minute)
	refused(handle, mayas, "time was over")

	for _, none := range []people.Link{{Kind: people.LinkKubeconfig, Cluster: row.ID}, {Kind: people.LinkKubeconfig, Principal: "x"},
		{Kind: people.LinkOfAccount}, {Kind: people.LinkOfAccount, Account: "github:x", Cluster: row.ID}, {Kind: "source", Principal: "x", Cluster: row.ID}} {
		_, _, err = s.People.NewLink(t.Context(), none, time.Hour, storetest.Maya(""))
		require.ErrorIs(t, err, db.ErrConflict, none)
	}
	_, _, err = s.People.NewLink(t.Context(), people.Link{Kind: people.LinkKubeconfig, Principal: "x", Cluster: "clu_none"}, time.Hour, storetest.Maya(""))
	require.ErrorIs(t, err, db.ErrNotFound)
}

func TestAnAccountIsWhosePersonSignedIn(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	mayas := people.Owner{Principal: "saml:maya@acme.example", Name: "Maya", Proof: json.RawMessage(`{"values": {"groups": ["platform"]}}`)}
	ask := people.Link{Kind: people.LinkOfAccount, Account: "github:maya", Number: "1"}
	handle, _, err := s.People.NewLink(t.Context(), ask, time.Hour, storetest.OriginBy("github:maya", ""))
	require.NoError(t, err)
	_, err = s.People.AccountOf(t.Context(), "github:maya")
	require.ErrorIs(t, err, db.ErrNotFound)
	seen, err := s.People.LinkFor(t.Context(), handle, mayas.Principal)
	require.NoError(t, err)
	require.Equal(t, "github:maya", seen.Account)
	used, err := s.People.UseLink(t.Context(), handle, mayas, "web")
	require.NoError(t, err)
	_, err = s.People.AccountOf(t.Context(), "github:maya")
	require.ErrorIs(t, err, db.ErrNotFound, "a click links nothing")
	require.NoError(t, s.People.CompleteLink(t.Context(), "github:maya", used.Code, storetest.OriginBy("github:maya", "")))
	known, err := s.People.AccountOf(t.Context(), "github:maya")
	require.NoError(t, err)
	require.Equal(t, mayas, known.Owner)
	storetest.Said(t, s, "account_linked")

	handle, _, err = s.People.NewLink(t.Context(), ask, time.Hour, storetest.OriginBy("github:maya", ""))
	require.NoError(t, err)
	_, err = s.People.UseLink(t.Context(), handle, people.Owner{Principal: "saml:will"}, "web")
	require.ErrorIs(t, err, db.ErrConflict, "it is another's")
	_, err = s.People.UseLink(t.Context(), handle, mayas, "web")
	require.NoError(t, err, "and the link is not spent by that")

	more := mayas
	more.Proof = json.RawMessage(`{"values": {"groups": ["admins"]}}`)
	for range 2 {
		clock.Pass(time.Hour)
		require.NoError(t, s.People.SignedIn(t.Context(), more, "web"))
	}
	accounts, err := s.People.AccountsOf(t.Context(), mayas.Principal)
	require.NoError(t, err)
	require.Len(t, accounts, 1)
	require.JSONEq(t, string(more.Proof), string(accounts[0].Proof))
	require.Equal(t, []any{"1", clock.Now()}, []any{accounts[0].Number, accounts[0].SeenAt})
	require.Equal(t, 1, storetest.Count(t, s, `SELECT count(*) FROM audit_events WHERE action = 'account_proved'`), "the same is no news")

	require.NoError(t, s.People.Unlink(t.Context(), "github:maya", mayas.Principal, storetest.OriginBy("saml:will", "")))
	handle, _, err = s.People.NewLink(t.Context(), ask, time.Hour, storetest.OriginBy("github:maya", ""))
	require.NoError(t, err)
	used, err = s.People.UseLink(t.Context(), handle, mayas, "web")
	require.NoError(t, err)
	require.NoError(t, s.People.CompleteLink(t.Context(), "github:maya", used.Code, storetest.OriginBy("github:maya", "")))

	require.ErrorIs(t, s.People.Unlink(t.Context(), "github:maya", "saml:will", storetest.OriginBy("saml:will", "")), db.ErrNotFound)
	require.NoError(t, s.People.Unlink(t.Context(), "github:maya", mayas.Principal, storetest.Maya("")))
	_, err = s.People.AccountOf(t.Context(), "github:maya")
	require.ErrorIs(t, err, db.ErrNotFound)
	_, meta := storetest.Said(t, s, "account_unlinked")
	require.Equal(t, map[string]any{"account": "github:maya", "principal": mayas.Principal}, meta["before"])
}

func TestAHandleBeginsWithALetter(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	for range 100 {
		handle, _, err := s.People.NewLink(t.Context(), people.Link{Kind: people.LinkOfAccount, Account: "github:maya", Number: "7"}, time.Minute, clusters.Origin{Actor: "github:maya", Why: "a test"})
		require.NoError(t, err)
		require.Regexp(t, `^[A-Za-z]`, handle, "on the command line a dash begins an option")
	}
}

// Somebody who may do much follows a link that somebody else asked for.
func TestAnAccountThatTheCatalogueKnowsIsNotLinkedToSomebodyElse(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	require.NoError(t, s.People.KeepPeople(t.Context(), []people.Person{linkedMaya}))
	_, err := s.People.RecordGitHubAccount(t.Context(), 7, "maya")
	require.NoError(t, err)
	for account, wants := range map[string]error{"github:id/7": db.ErrConflict, "github:id/8": nil} {
		handle, _, err := s.People.NewLink(t.Context(), people.Link{Kind: people.LinkOfAccount, Account: account, Number: "7"}, time.Hour, storetest.OriginBy(account, ""))
		require.NoError(t, err)
		_, err = s.People.UseLink(t.Context(), handle, people.Owner{Principal: "saml:root"}, "web")
		require.ErrorIs(t, err, wants)
	}
	handle, _, err := s.People.NewLink(t.Context(), people.Link{Kind: people.LinkOfAccount, Account: "github:id/7", Number: "7"}, time.Hour, storetest.OriginBy("github:id/7", ""))
	require.NoError(t, err)
	_, err = s.People.UseLink(t.Context(), handle, people.Owner{Principal: "saml:maya@acme.example"}, "web")
	require.NoError(t, err, "but to the same person")
}
