package people_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/filter"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/people"
	"github.com/ocpctl/ocpctl/store/storetest"
	"github.com/ocpctl/ocpctl/store/usage"
)

const mayasToken = "oidc:https://id.acme.example#maya"

var linkedMaya = people.Person{
	ID: "person:maya", Name: "Maya Weber", Identities: []string{"github:maya", mayasToken, "saml:Maya@acme.example"},
	Spellings: []string{"maya", "maya weber", "maya@acme.example"},
}

// askedBy has a cluster accepted that a principal asked for.
func askedBy(t testing.TB, s *store.Store, name, principal, owner string) clusters.Row {
	t.Helper()
	a := storetest.Granted(name)
	a.Row.RequestedBy, a.Row.Owner = principal, owner
	return storetest.Accept(t, s, a)
}

func live(t testing.TB, s *store.Store, principal string) int {
	t.Helper()
	u, err := s.Usage(t.Context(), usage.Scope{Person: principal})
	require.NoError(t, err)
	return u.Person.Live
}

func TestLinkingJoinsTheCountsOfWhatWasThereBefore(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	askedBy(t, s, "one", "github:Maya", "maya")
	askedBy(t, s, "two", mayasToken, "Maya Weber")
	askedBy(t, s, "three", "saml:maya@acme.example", "somebody else")
	require.Equal(t, 1, live(t, s, mayasToken), "nobody linked it, so it is a person of its own")

	require.NoError(t, s.People.KeepPeople(t.Context(), []people.Person{linkedMaya}))
	for _, id := range linkedMaya.Identities {
		require.Equal(t, 3, live(t, s, id), id)
	}
	require.Zero(t, live(t, s, "oidc:https://other.example#maya"), "the same subject of another issuer is another person")

	require.NoError(t, s.People.KeepPeople(t.Context(), nil))
	require.Equal(t, 1, live(t, s, mayasToken), "the person was taken out of the catalogue")
}

func TestASignInsNameIsShownWhileItIsNobodyElses(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	const other, same = "oidc:https://other.example#1f0c", "saml:X1@acme.example"
	named := func(id string) string {
		t.Helper()
		names, err := s.People.NamesOf(t.Context(), id)
		require.NoError(t, err)
		return names[id]
	}
	require.Empty(t, named(other))
	for _, row := range [][2]string{{other, "Maya"}, {other, "Maya Weber"}, {same, "maya weber"}, {"saml:x1@ACME.example", "maya weber"}} {
		require.NoError(t, s.People.RecordName(t.Context(), row[0], row[1]))
	}
	require.Equal(t, []string{"Maya Weber", ""}, []string{named(other), named(same)}, "who had it first has it")
	require.NoError(t, s.People.KeepPeople(t.Context(), []people.Person{linkedMaya}))
	require.Empty(t, named(other), "a person of the catalogue is called so")
	require.Equal(t, "Maya Weber", named(mayasToken))
}

func TestALinkedAccountCountsForItsOwnerAndTheirPerson(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	askedBy(t, s, "one", "github:mw", "maya")
	askedBy(t, s, "two", mayasToken, "maya")
	storetest.Link(t, s, "github:mw", mayasToken)
	require.Equal(t, 2, live(t, s, mayasToken))
	require.Equal(t, 2, live(t, s, "github:mw"))
	storetest.Link(t, s, "github:maya", "saml:rob@acme.example") // before the catalogue names it
	require.NoError(t, s.People.KeepPeople(t.Context(), []people.Person{linkedMaya}))
	require.Equal(t, 2, live(t, s, "saml:maya@acme.example"), "through the person")
	require.Equal(t, 2, live(t, s, "github:maya"), "what the catalogue says of an account counts more than whose somebody says it is")
	require.Zero(t, live(t, s, "saml:rob@acme.example"))
	require.NoError(t, s.People.Unlink(t.Context(), "github:mw", "", clusters.Origin{Actor: "saml:will@acme.example"}))
	require.Equal(t, 1, live(t, s, mayasToken))
}

func TestAVoteOfTheOneWhoAskedByALinkedIdentityIsRefused(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	_, asked := storetest.Awaits(t, s, 1)
	id := asked.ID
	require.NoError(t, s.People.KeepPeople(t.Context(), []people.Person{linkedMaya}))
	_, err := s.Vote(t.Context(), id, true, clusters.Origin{Actor: mayasToken, Source: "api"})
	require.ErrorIs(t, err, store.ErrOwnApproval, "github:maya asked, before the two were linked")
}

func TestTwoVotesOfOnePersonAreOne(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	_, asked := storetest.Awaits(t, s, 2)
	id := asked.ID
	_, err := s.Vote(t.Context(), id, true, clusters.Origin{Actor: "saml:rob@acme.example", Source: "api"})
	require.NoError(t, err)
	require.NoError(t, s.People.KeepPeople(t.Context(), []people.Person{{ID: "person:rob", Name: "Rob Lee", Identities: []string{"github:rob", "saml:rob@acme.example"}}}))
	_, err = s.Vote(t.Context(), id, true, clusters.Origin{Actor: "github:rob", Source: "pr_comment"})
	require.ErrorIs(t, err, db.ErrConflict, "linked after the first vote")
}

func TestListsReportsAndTheTrailAreOfPersons(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	askedBy(t, s, "one", "github:maya", "maya")
	askedBy(t, s, "two", mayasToken, "Maya Weber")
	askedBy(t, s, "three", "saml:rob@acme.example", "rob")
	require.NoError(t, s.People.KeepPeople(t.Context(), []people.Person{linkedMaya}))
	for _, owner := range []string{"maya", "MAYA WEBER", "maya@acme.example"} {
		page, _, err := s.List(t.Context(), store.Filter{Query: filter.Query{}.WithText(filter.Owner, owner)})
		require.NoError(t, err)
		require.Len(t, page, 2, owner)
	}
	page, _, err := s.List(t.Context(), store.Filter{Query: filter.Query{}.WithText(filter.Owner, "rob")})
	require.NoError(t, err)
	require.Len(t, page, 1, "an owner whom nobody linked is found by their spelling")

	lines, _, err := s.AuditPage(t.Context(), store.AuditFilter{Actor: "Maya Weber", Action: "accepted"})
	require.NoError(t, err)
	same, _, err := s.AuditPage(t.Context(), store.AuditFilter{Actor: mayasToken, Action: "accepted"})
	require.NoError(t, err)
	require.Equal(t, lines, same)
	require.Len(t, lines, 2)

	names, err := s.People.NamesOf(t.Context(), "github:MAYA", mayasToken, "saml:rob@acme.example")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"github:MAYA": "Maya Weber", mayasToken: "Maya Weber"}, names)
}

func TestATurnIsOfAPerson(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	limit := func(principal string) []lifecycle.Limit {
		return []lifecycle.Limit{{Quota: "person", Scope: lifecycle.ScopePerson, Key: principal, What: "live", Most: 1}}
	}
	askedBy(t, s, "one", "github:maya", "maya")
	second := storetest.Granted("two")
	second.Row.RequestedBy = mayasToken
	second.Turn = &store.TurnAsk{Limits: limit(mayasToken), Words: "quota person", Position: 1}
	waits := storetest.Accept(t, s, second)
	require.NoError(t, s.People.KeepPeople(t.Context(), []people.Person{linkedMaya}))
	had, err := s.Turns(t.Context())
	require.NoError(t, err)
	require.Zero(t, had, "the other identity's cluster holds the only place")
	require.NoError(t, s.People.KeepPeople(t.Context(), nil))
	had, err = s.Turns(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, had, waits.Name)
}

func TestKeepingTheSamePeopleWritesNothing(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	for range 2 {
		require.NoError(t, s.People.KeepPeople(t.Context(), []people.Person{linkedMaya}))
	}
	lines, _, err := s.AuditPage(t.Context(), store.AuditFilter{Action: "people_linked"})
	require.NoError(t, err)
	require.Len(t, lines, 1)
}
