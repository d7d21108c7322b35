package store_test

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/migrations"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/people"
)

// wants is will's request for a kubeconfig by a share.
func wants(role access.Role) access.Wanted {
	return access.Wanted{Ask: access.Ask{Reader: "saml:will@acme.example", ReaderName: "Will", Role: role, Right: "principal:saml:will@acme.example", Lifetime: 8 * time.Hour}, Least: time.Hour}
}

func wantsAccess(t testing.TB, s *store.Store, cluster string, w access.Wanted) access.Row {
	t.Helper()
	a, err := s.Access.Ask(t.Context(), cluster, w, maya(""))
	require.NoError(t, err)
	return a
}

func accessOf(t testing.TB, s *store.Store, cluster, id string) access.Row {
	t.Helper()
	a, err := s.Access.One(t.Context(), cluster, id)
	require.NoError(t, err)
	return a
}

// claims opens an attempt and claims it.
func claims(t testing.TB, s *store.Store, cluster string, kind lifecycle.Kind) attempts.LaunchSpec {
	t.Helper()
	require.Equal(t, kind, step(t, s, cluster).Open)
	open, err := s.Attempts.OpenAttempt(t.Context(), cluster)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod")
	require.NoError(t, err)
	return open
}

// told is a runner's work on access.
func told(t testing.TB, s *store.Store, open attempts.LaunchSpec) attempts.AccessWork {
	t.Helper()
	work, lease, err := s.Attempts.AccessWork(t.Context(), open.Attempt, open.Token)
	require.NoError(t, err)
	require.Empty(t, lease.Stop)
	return work
}

func reportsAccess(s *store.Store, t testing.TB, open attempts.LaunchSpec, seq int, states ...attempts.AccessState) error {
	t.Helper()
	_, err := s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: seq, Phase: lifecycle.Accessing, Access: states})
	return err
}

// changes has a runner do all that is owed, and ends its attempt.
func changes(t testing.TB, s *store.Store, c *clock, cluster string) attempts.AccessWork {
	t.Helper()
	open := claims(t, s, cluster, lifecycle.Access)
	work := told(t, s, open)
	var states []attempts.AccessState
	for _, a := range work.Give {
		states = append(states, attempts.AccessState{ID: a.ID, Ref: "s3://bucket/" + a.ID, ExpiresAt: c.now().Add(a.Lifetime)})
	}
	for _, a := range work.Take {
		states = append(states, attempts.AccessState{ID: a.ID, Removed: true})
	}
	require.NoError(t, reportsAccess(s, t, open, 1, states...))
	_, err := s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded})
	require.NoError(t, err)
	require.Empty(t, step(t, s, cluster).Open)
	return work
}

func TestAKubeconfigIsAskedForMadeRevokedAndRemoved(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	pending := accept(t, s, granted("pending"))
	_, err := s.Access.Ask(t.Context(), pending.ID, wants(access.RoleEdit), maya(""))
	require.ErrorIs(t, err, db.ErrConflict)
	require.ErrorContains(t, err, "the cluster is PENDING")

	row := usable(t, s, accept(t, s, granted("shop")))
	lose(t, s)
	asked := wantsAccess(t, s, row.ID, wants(access.RoleEdit))
	require.Equal(t, access.Asked, asked.State)
	require.Len(t, riverJobs(t, s, "reconcile"), 1)
	_, meta := said(t, s, "access.asked")
	require.Equal(t, map[string]any{"access": asked.ID, "reader": "saml:will@acme.example", "role": "edit", "by": "principal:saml:will@acme.example", "run": "", "lifetime": "8h0m0s"}, meta["after"])
	require.Equal(t, asked.ID, wantsAccess(t, s, row.ID, wants(access.RoleEdit)).ID, "a repeated request is the same")
	require.NotEqual(t, asked.ID, wantsAccess(t, s, row.ID, wants(access.RoleView)).ID, "another role is another account")

	work := changes(t, s, clock, row.ID)
	require.Len(t, work.Give, 2)
	require.Regexp(t, `^saml-will-acme-example-a[0-9a-f]{9}$`, work.Give[0].Account)
	require.Equal(t, 4*time.Hour, work.Give[0].Lifetime, "no longer than the cluster")
	made := accessOf(t, s, row.ID, asked.ID)
	require.Equal(t, []any{access.Ready, "s3://bucket/" + asked.ID, clock.now().Add(4 * time.Hour)}, []any{made.State, made.Ref, made.ExpiresAt.UTC()})
	who, meta := said(t, s, "access.minted")
	require.Equal(t, []any{db.Lifecycle, "saml:will@acme.example"}, []any{who.Actor, meta["after"].(map[string]any)["reader"]})
	row, err = s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []any{2, 2, lifecycle.Ready, lifecycle.PhaseReady}, []any{row.Work[lifecycle.Access].Wanted, row.Work[lifecycle.Access].Done, row.Status, row.Phase})

	require.Equal(t, asked.ID, wantsAccess(t, s, row.ID, wants(access.RoleEdit)).ID, "it is still good")
	clock.pass(time.Hour)
	renew := wants(access.RoleEdit)
	renew.Renew = true
	renewed := wantsAccess(t, s, row.ID, renew)
	require.NotEqual(t, asked.ID, renewed.ID)
	require.Equal(t, renewed.ID, wantsAccess(t, s, row.ID, renew).ID)

	require.NoError(t, s.Access.Revoke(t.Context(), row.ID, asked.ID, maya("it leaked")))
	require.NoError(t, s.Access.Revoke(t.Context(), row.ID, asked.ID, maya("")), "a repeated call changes nothing")
	gone := accessOf(t, s, row.ID, asked.ID)
	require.Equal(t, []any{access.Revoked, "it leaked", "saml:maya@acme.example", true}, []any{gone.State, gone.RevokeWhy, gone.RevokedBy, gone.RemovedAt == nil})
	_, f, err := s.Load(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.AccessWork{Give: 1, Take: 1}, f.Access)
	work = changes(t, s, clock, row.ID)
	require.Equal(t, []string{asked.ID}, []string{work.Take[0].ID})
	require.Len(t, work.Keep, 1, "the viewer's")
	require.NotNil(t, accessOf(t, s, row.ID, asked.ID).RemovedAt)
	_, meta = said(t, s, "access.account_removed")
	require.Equal(t, "it was revoked", meta["why"])
	require.ErrorIs(t, s.Access.Revoke(t.Context(), row.ID, "acc_none", maya("")), db.ErrNotFound)
	refuses(t, s, "revoked for good", `UPDATE access SET revoked_at = NULL, revoke_why = '' WHERE id = $1`, asked.ID)
	refuses(t, s, "made for something else", `UPDATE access SET role = 'admin' WHERE id = $1`, asked.ID)
}

// A hostile runner reports what it was not told to do, and what it did not do.
func TestWhatARunnerReportsOfAccessIsHeldAgainstTheRows(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row, other := usable(t, s, accept(t, s, granted("shop"))), usable(t, s, accept(t, s, granted("bank")))
	theirs := wantsAccess(t, s, other.ID, wants(access.RoleAdmin))
	changes(t, s, clock, other.ID)
	mine := wantsAccess(t, s, row.ID, wants(access.RoleView))
	open := claims(t, s, row.ID, lifecycle.Access)
	in := func(d time.Duration) time.Time { return clock.now().Add(d) }
	require.ErrorContains(t, reportsAccess(s, t, open, 1, attempts.AccessState{ID: mine.ID, Ref: "s3://bucket/x", ExpiresAt: in(time.Hour)}), "not told to make")
	told(t, s, open)
	for what, c := range map[string]struct {
		state attempts.AccessState
		want  string
	}{
		"another cluster's":      {attempts.AccessState{ID: theirs.ID, Ref: "s3://bucket/x", ExpiresAt: in(time.Hour)}, "the cluster has no access"},
		"one that nobody has":    {attempts.AccessState{ID: "acc_none", Removed: true}, "the cluster has no access"},
		"a valid one as removed": {attempts.AccessState{ID: mine.ID, Removed: true}, "nobody asked to remove it"},
	} {
		require.ErrorIs(t, reportsAccess(s, t, open, 1, c.state), db.ErrConflict, what)
		require.ErrorContains(t, reportsAccess(s, t, open, 1, c.state), c.want, what)
	}
	require.NoError(t, reportsAccess(s, t, open, 1, attempts.AccessState{ID: mine.ID, Ref: "s3://bucket/x", ExpiresAt: in(87600 * time.Hour)}))
	kept := accessOf(t, s, row.ID, mine.ID)
	require.Equal(t, []any{access.Asked, ""}, []any{kept.State, kept.Ref}, "a token of ten years is not kept")
	require.Contains(t, kept.Trouble, "its token would be valid until 2036-")
	require.NoError(t, reportsAccess(s, t, open, 4, attempts.AccessState{ID: mine.ID, Ref: "s3://bucket/x", ExpiresAt: in(time.Hour)}))
	require.NoError(t, reportsAccess(s, t, open, 2, attempts.AccessState{ID: mine.ID, Ref: "s3://bucket/x", ExpiresAt: in(time.Hour)}), "said twice")
	require.ErrorContains(t, reportsAccess(s, t, open, 3, attempts.AccessState{ID: mine.ID, Ref: "s3://bucket/y", ExpiresAt: in(time.Hour)}), "what is known is")

	destroyed, err := s.Destroy(t.Context(), other.ID, maya(""))
	require.NoError(t, err)
	require.NotEmpty(t, destroyed)
	gone := claims(t, s, other.ID, lifecycle.Destroy)
	_, _, err = s.Attempts.AccessWork(t.Context(), gone.Attempt, gone.Token)
	require.ErrorContains(t, err, "a destroy changes no access")
	_, _, err = s.Attempts.AccessWork(t.Context(), open.Attempt, gone.Token)
	require.ErrorIs(t, err, db.ErrFenced)
	require.ErrorContains(t, reportsAccess(s, t, gone, 1, attempts.AccessState{ID: theirs.ID, Removed: true}), "a destroy changes no access")
}

func TestARunnersSuccessWithoutRowsIsAFailure(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := usable(t, s, accept(t, s, granted("shop")))
	asked := wantsAccess(t, s, row.ID, wants(access.RoleView))
	for range 3 {
		open := claims(t, s, row.ID, lifecycle.Access)
		told(t, s, open)
		require.NoError(t, reportsAccess(s, t, open, 1, attempts.AccessState{ID: asked.ID, Trouble: "the cluster refused it"}))
		_, err := s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded})
		require.NoError(t, err)
		require.Empty(t, step(t, s, row.ID).Open)
		clock.pass(10 * time.Minute)
	}
	failed := accessOf(t, s, row.ID, asked.ID)
	require.Equal(t, []any{access.Failed, "the cluster refused it"}, []any{failed.State, failed.Trouble})
	require.Empty(t, step(t, s, row.ID).Open)
	require.NotEqual(t, asked.ID, wantsAccess(t, s, row.ID, wants(access.RoleView)).ID, "a later request tries again")

	now := wantsAccess(t, s, row.ID, wants(access.RoleEdit))
	_, err := s.Pool().Exec(t.Context(), `UPDATE clusters SET work = jsonb_set(work, '{access,done}', work #> '{access,wanted}') WHERE id = $1`, row.ID)
	require.NoError(t, err)
	told := wantsAccess(t, s, row.ID, wants(access.RoleEdit))
	require.Equal(t, []any{now.ID, access.Failed}, []any{told.ID, told.State}, "whoever waits for it is told, and asks for no other meanwhile")
}

func TestTheRequesterGetsAccessWithTheCreate(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	j := granted("shop")
	j.Access = &access.Ask{Reader: "github:maya", ReaderName: "maya", Role: access.RoleAdmin, Right: access.OwnRight, Lifetime: 8 * time.Hour}
	row := accept(t, s, j)
	require.Equal(t, 1, row.Work[lifecycle.Access].Wanted)
	open := claims(t, s, row.ID, lifecycle.Create)
	work := told(t, s, open)
	require.Len(t, work.Give, 1)
	require.Regexp(t, `^github-maya-a[0-9a-f]{9}$`, work.Give[0].Account)
	require.NoError(t, reportsAccess(s, t, open, 1, attempts.AccessState{ID: work.Give[0].ID, Ref: "s3://bucket/x", ExpiresAt: clock.now().Add(time.Hour)}))
	require.Equal(t, access.Ready, accessOf(t, s, row.ID, work.Give[0].ID).State)
	_, err := s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "Late", Message: "too late", Retryable: true})
	require.NoError(t, err)
	step(t, s, row.ID)
	clock.pass(time.Hour)
	again := claims(t, s, row.ID, lifecycle.Create)
	require.Equal(t, access.Asked, accessOf(t, s, row.ID, work.Give[0].ID).State, "what an earlier try made is gone with it")
	require.Len(t, told(t, s, again).Give, 1)
}

func TestSharesTransfersAndEndsRevoke(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	share := func(row clusters.Row, role access.Role) {
		t.Helper()
		require.NoError(t, s.People.Share(t.Context(), row.ID, people.Share{Kind: "principal", Grantee: "saml:will@acme.example", Access: people.AccessUse, Role: role}, maya("")))
	}
	shared := func() (clusters.Row, access.Row) {
		t.Helper()
		row := usable(t, s, accept(t, s, granted("c"+strings.ToLower(db.NewID("x")[18:28]))))
		share(row, access.RoleAdmin)
		a := wantsAccess(t, s, row.ID, wants(access.RoleAdmin))
		changes(t, s, clock, row.ID)
		return row, a
	}
	for name, c := range map[string]struct {
		end func(clusters.Row) error
		why string
	}{
		"unshared": {func(r clusters.Row) error {
			return s.People.Unshare(t.Context(), r.ID, "principal", "saml:will@acme.example", maya(""))
		}, "the cluster is no longer shared with saml:will@acme.example"},
		"only to see": {func(r clusters.Row) error {
			return s.People.Share(t.Context(), r.ID, people.Share{Kind: "principal", Grantee: "saml:will@acme.example", Access: people.AccessSee}, maya(""))
		}, "the share with saml:will@acme.example was changed"},
		"its end": {func(r clusters.Row) error {
			now, err := s.Cluster(t.Context(), r.ID)
			if err == nil { // the cluster's clock is ahead
				_, err = s.Pool().Exec(t.Context(), `UPDATE access SET expires_at = expires_at + interval '1 minute' WHERE cluster_id = $1`, r.ID)
			}
			if err == nil {
				clock.pass(now.DestroyAt.Sub(clock.now()))
				step(t, s, r.ID)
			}
			return err
		}, "the cluster is no longer wanted: the end of its time to live"},
		"less":      {func(r clusters.Row) error { share(r, access.RoleView); return nil }, "the share with saml:will@acme.example was changed"},
		"destroyed": {func(r clusters.Row) error { _, err := s.Destroy(t.Context(), r.ID, maya("done")); return err }, "the cluster is no longer wanted: done"},
	} {
		t.Run(name, func(t *testing.T) {
			row, a := shared()
			require.NoError(t, c.end(row))
			gone := accessOf(t, s, row.ID, a.ID)
			require.Equal(t, []any{access.Revoked, c.why}, []any{gone.State, gone.RevokeWhy})
		})
	}

	row, a := shared()
	team := people.Share{Kind: "team", Grantee: "acme/payments", Access: people.AccessUse, Role: access.RoleEdit}
	require.NoError(t, s.People.Share(t.Context(), row.ID, team, maya("")))
	byTeam := func(role access.Role) access.Row {
		return wantsAccess(t, s, row.ID, access.Wanted{Ask: access.Ask{Reader: "saml:rob@acme.example", ReaderName: "Rob", Role: role, Right: access.ShareRight("team", "acme/payments"), Lifetime: time.Hour}})
	}
	robs, looks := byTeam(access.RoleEdit), byTeam(access.RoleView)
	team.Role = access.RoleView
	require.NoError(t, s.People.Share(t.Context(), row.ID, team, maya("")))
	require.Equal(t, access.Revoked, accessOf(t, s, row.ID, robs.ID).State)
	require.Equal(t, access.Asked, accessOf(t, s, row.ID, looks.ID).State, "what the new role gives goes on")
	require.NoError(t, s.People.Unshare(t.Context(), row.ID, "team", "acme/payments", maya("")))
	require.Equal(t, access.Revoked, accessOf(t, s, row.ID, looks.ID).State)
	require.Equal(t, access.Ready, accessOf(t, s, row.ID, a.ID).State, "the share with a person is another")
	share(row, access.RoleAdmin)
	require.Equal(t, access.Ready, accessOf(t, s, row.ID, a.ID).State, "the same share again changes nothing")
	own := access.Wanted{Ask: access.Ask{Reader: "saml:maya@acme.example", ReaderName: "Maya", Role: access.RoleAdmin, Right: access.OwnRight, Lifetime: time.Hour}}
	mine := wantsAccess(t, s, row.ID, own)
	require.NoError(t, s.Transfer(t.Context(), row.ID, "acme/web", "will", maya(""), nil))
	require.Equal(t, "the cluster was given to team acme/web", accessOf(t, s, row.ID, mine.ID).RevokeWhy)
	require.NotNil(t, accessOf(t, s, row.ID, mine.ID).RemovedAt, "no runner was told to make it, so there is nothing to remove")
	require.Equal(t, access.Ready, accessOf(t, s, row.ID, a.ID).State, "a share goes on")
}

func TestALinkedAccountIsTheSameReader(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	row := usable(t, s, accept(t, s, granted("shop")))
	byGitHub := access.Wanted{Ask: access.Ask{Reader: "github:will", ReaderName: "will", Role: access.RoleView, Right: "team:web", Lifetime: time.Hour}}
	a := wantsAccess(t, s, row.ID, byGitHub)
	_, err := s.Pool().Exec(t.Context(), `INSERT INTO accounts (account, principal, name, proof, linked_at, seen_at) VALUES ('github:will', 'saml:will@acme.example', 'Will', '{}', now(), now())`)
	require.NoError(t, err)
	signedIn := byGitHub
	signedIn.Reader = "saml:will@acme.example"
	require.Equal(t, a.ID, wantsAccess(t, s, row.ID, signedIn).ID)
	for principal, want := range map[string]bool{"saml:will@acme.example": true, "github:will": true, "saml:maya@acme.example": false} {
		mine, err := s.Access.Mine(t.Context(), row.ID, principal)
		require.NoError(t, err)
		require.Equal(t, want, mine[a.ID], principal)
	}
}

func TestNobodyHoldsAnyNumberOfKubeconfigs(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := usable(t, s, accept(t, s, granted("shop")))
	w := wants(access.RoleView)
	w.Renew = true
	for range access.MostOfOneReader {
		wantsAccess(t, s, row.ID, w)
		clock.pass(2 * time.Minute)
	}
	_, err := s.Access.Ask(t.Context(), row.ID, w, maya(""))
	var many *access.TooMany
	require.ErrorAs(t, err, &many)
	require.Equal(t, access.TooMany{Most: 20}, *many)
}

func TestEachJobOfAMatrixHasItsOwnKubeconfigUpToTheClustersLimit(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	row := usable(t, s, accept(t, s, granted("shop")))
	ask := func(run string, jobs int) (err error) {
		ref := runRef(1)
		ref.Key = run
		for n := 0; n < jobs && err == nil; n++ {
			_, err = wantsForRun(s, row.ID, ref, fmt.Sprint(n))
		}
		return err
	}
	require.NoError(t, ask("a matrix of 25", 25))
	require.NoError(t, ask("another", 100))
	var many *access.TooMany
	require.ErrorAs(t, ask("another", 101), &many)
	require.Equal(t, access.TooMany{Of: "run", Most: 100}, *many)
	require.ErrorAs(t, ask("a third", 100), &many)
	require.Equal(t, access.TooMany{Of: "cluster", Most: 200}, *many)
	_, err := s.Access.Ask(t.Context(), row.ID, wants(access.RoleView), maya(""))
	require.ErrorAs(t, err, &many, "nobody gets more")
}

func TestNobodyAsksAnyNumberOfTimes(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := usable(t, s, accept(t, s, granted("shop")))
	w := wants(access.RoleView)
	for range access.MostAnHour {
		a := wantsAccess(t, s, row.ID, w)
		require.NoError(t, s.Access.Revoke(t.Context(), row.ID, a.ID, maya("")))
		clock.pass(30 * time.Second)
	}
	_, err := s.Access.Ask(t.Context(), row.ID, w, maya(""))
	var many *access.TooMany
	require.ErrorAs(t, err, &many)
	require.Equal(t, access.TooMany{Most: 60, Until: 30 * time.Minute}, *many)
	other := w
	other.Reader = "saml:rob@acme.example"
	wantsAccess(t, s, row.ID, other)
	clock.pass(30 * time.Minute)
	wantsAccess(t, s, row.ID, w)
}

func TestARequestForMoreAccessDoesNotHurryAClusterThatFails(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := usable(t, s, accept(t, s, granted("shop")))
	kept := wantsAccess(t, s, row.ID, wants(access.RoleEdit))
	changes(t, s, clock, row.ID)
	wantsAccess(t, s, row.ID, wants(access.RoleView))
	open := claims(t, s, row.ID, lifecycle.Access)
	told(t, s, open)
	_, err := s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "AccessUnchanged", Message: "the API is away", Retryable: true})
	require.NoError(t, err)
	require.Empty(t, step(t, s, row.ID).Open)
	wantsAccess(t, s, row.ID, wants(access.RoleAdmin))
	require.Empty(t, step(t, s, row.ID).Open, "the next try comes when it would have come")
	require.NoError(t, s.Access.Revoke(t.Context(), row.ID, kept.ID, maya("it leaked")))
	require.Equal(t, lifecycle.Access, step(t, s, row.ID).Open, "what is revoked does not wait")
}

func TestAReaderGetsWhatWorksRatherThanWhatFailed(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := usable(t, s, accept(t, s, granted("shop")))
	works := wantsAccess(t, s, row.ID, wants(access.RoleEdit))
	changes(t, s, clock, row.ID)
	clock.pass(2 * time.Minute)
	renew := wants(access.RoleEdit)
	renew.Renew = true
	failed := wantsAccess(t, s, row.ID, renew)
	require.NotEqual(t, works.ID, failed.ID)
	require.Equal(t, works.ID, wantsAccess(t, s, row.ID, wants(access.RoleEdit)).ID, "while the next one is being made")
	_, err := s.Pool().Exec(t.Context(), `UPDATE clusters SET work = jsonb_set(work, '{access,done}', work #> '{access,wanted}') WHERE id = $1`, row.ID)
	require.NoError(t, err)
	require.Equal(t, access.Failed, accessOf(t, s, row.ID, failed.ID).State)
	require.Equal(t, works.ID, wantsAccess(t, s, row.ID, wants(access.RoleEdit)).ID)
}

// The right is checked before the cluster is locked. What changes between the two counts.
func TestARightThatEndsBeforeTheRowIsWrittenGivesNothing(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	row := usable(t, s, accept(t, s, granted("shop")))
	share := func(to people.Access, role access.Role) {
		t.Helper()
		require.NoError(t, s.People.Share(t.Context(), row.ID, people.Share{Kind: "principal", Grantee: "saml:will@acme.example", Access: to, Role: role}, maya("")))
	}
	ask := func(w access.Wanted) error {
		_, err := s.Access.Ask(t.Context(), row.ID, w, maya(""))
		return err
	}
	share(people.AccessUse, access.RoleEdit)
	seen := func(w access.Wanted) access.Wanted {
		now, err := s.Cluster(t.Context(), row.ID)
		require.NoError(t, err)
		w.Seen, w.Team = now.Version, now.Team
		return w
	}
	checked := seen(wants(access.RoleEdit))
	share(people.AccessUse, access.RoleAdmin)
	require.NoError(t, ask(checked), "more than before")
	share(people.AccessUse, access.RoleView)
	require.ErrorIs(t, ask(checked), db.ErrStale, "less than before")
	share(people.AccessSee, "")
	require.ErrorIs(t, ask(checked), db.ErrStale, "only to see it")
	require.NoError(t, s.People.Unshare(t.Context(), row.ID, "principal", "saml:will@acme.example", maya("")))
	require.ErrorIs(t, ask(checked), db.ErrStale, "no longer shared")

	own := seen(access.Wanted{Ask: access.Ask{Reader: "saml:maya@acme.example", ReaderName: "Maya", Role: access.RoleAdmin, Right: access.OwnRight, Lifetime: time.Hour}})
	share(people.AccessUse, access.RoleEdit)
	require.NoError(t, ask(own))
	require.NoError(t, s.Transfer(t.Context(), row.ID, "acme/web", "will", maya(""), nil))
	own.Renew = true
	require.ErrorIs(t, ask(own), db.ErrStale, "another team's")
}

func TestAnExpiredAccountIsRemovedFromItsCluster(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := usable(t, s, accept(t, s, granted("shop")))
	brief := func() access.Row {
		w := wants(access.RoleView)
		w.Reader, w.Lifetime, w.Least = "saml:"+db.NewID("x")+"@acme.example", 10*time.Minute, time.Minute
		return wantsAccess(t, s, row.ID, w)
	}
	expires := func() int {
		t.Helper()
		n, err := s.Access.RemoveExpired(t.Context())
		require.NoError(t, err)
		return n
	}
	first, second := brief(), brief()
	changes(t, s, clock, row.ID)
	require.Zero(t, expires(), "they are valid")
	clock.pass(10 * time.Minute)
	require.Equal(t, access.Expired, accessOf(t, s, row.ID, first.ID).State)
	require.Equal(t, 2, expires())
	require.Equal(t, access.Expired, accessOf(t, s, row.ID, first.ID).State, "nobody revoked it")
	require.Zero(t, expires())
	work := changes(t, s, clock, row.ID)
	require.Equal(t, []string{first.ID, second.ID}, []string{work.Take[0].ID, work.Take[1].ID})
	require.NotNil(t, accessOf(t, s, row.ID, first.ID).RemovedAt)
	_, meta := said(t, s, "access.account_removed")
	require.Equal(t, "it was expired", meta["why"])

	third := brief()
	changes(t, s, clock, row.ID)
	clock.pass(20 * time.Minute)
	require.Zero(t, expires(), "one runner an hour for a cluster")
	clock.pass(40 * time.Minute)
	require.Equal(t, 1, expires())
	clock.pass(5 * time.Minute)
	found, err := s.Reports.AccessFindings(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{accessOf(t, s, row.ID, third.ID).Account}, found[0].Evidence, "until it is removed")
	changes(t, s, clock, row.ID)
	found, err = s.Reports.AccessFindings(t.Context())
	require.NoError(t, err)
	require.Empty(t, found)
}

func TestTheListForgetsWhatWasNeverMade(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := usable(t, s, accept(t, s, granted("shop")))
	listed := func() int {
		t.Helper()
		list, err := s.Access.List(t.Context(), row.ID, time.Hour)
		require.NoError(t, err)
		return len(list)
	}
	wantsAccess(t, s, row.ID, wants(access.RoleView))
	require.Equal(t, 1, listed())
	_, err := s.Pool().Exec(t.Context(), `UPDATE clusters SET work = jsonb_set(work, '{access,done}', work #> '{access,wanted}') WHERE id = $1`, row.ID)
	require.NoError(t, err)
	clock.pass(9 * time.Hour)
	require.Zero(t, listed(), "it failed, and its time is over")
}

// With a change of access under way, one that ended and shares of every role, the database goes down, where nothing of it is left that
// the release before would trip over or that would open more than before; and up again.
func TestTheAccessGoesUpAndDown(t *testing.T) {
	t.Parallel()
	url, clock := pgtest.Empty(t), newClock()
	require.NoError(t, store.Migrate(t.Context(), url))
	s := openAt(t, url, db.Options{Limits: limits, Lease: 15 * time.Minute, Now: clock.now})
	ended, row := usable(t, s, accept(t, s, granted("ended"))), usable(t, s, accept(t, s, granted("shop")))
	wantsAccess(t, s, ended.ID, wants(access.RoleAdmin))
	changes(t, s, clock, ended.ID)
	wantsAccess(t, s, row.ID, wants(access.RoleAdmin))
	claims(t, s, row.ID, lifecycle.Access)
	for _, role := range []access.Role{access.RoleView, access.RoleEdit, access.RoleAdmin} {
		require.NoError(t, s.People.Share(t.Context(), row.ID, people.Share{Kind: "team", Grantee: string(role), Access: people.AccessUse, Role: role}, maya("")))
	}
	asked, err := s.AskBreakGlass(t.Context(), row.ID, clusters.ApproveKubeconfig, time.Hour, maya("broken"))
	require.NoError(t, err)
	require.Equal(t, clusters.ApproveKubeconfig, asked.Kind)
	s.Close()

	database, err := sql.Open("pgx", url)
	require.NoError(t, err)
	defer database.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, database, migrations.FS)
	require.NoError(t, err)
	_, err = p.DownTo(t.Context(), 33)
	require.NoError(t, err)
	var left int
	require.NoError(t, database.QueryRow(`SELECT (SELECT count(*) FROM attempts WHERE closed_at IS NULL OR kind = 'access')
		+ (SELECT count(*) FROM jobs WHERE job_type = 'ACCESS' AND ended_at IS NULL) + (SELECT count(*) FROM approvals WHERE state = 'pending')
		+ (SELECT count(*) FROM shares WHERE access = 'use' AND grantee <> 'admin')`).Scan(&left))
	require.Zero(t, left)
	require.NoError(t, database.QueryRow(`SELECT count(*) FROM clusters c WHERE seen < (SELECT max(number) FROM attempts a WHERE a.cluster_id = c.id)`).Scan(&left))
	require.Zero(t, left, "nobody takes the last attempt for a teardown")

	require.NoError(t, store.Migrate(t.Context(), url))
	s = openAt(t, url, db.Options{Limits: limits, Lease: 15 * time.Minute, Now: clock.now})
	require.Empty(t, step(t, s, row.ID).Open, "what was under way is forgotten")
	shares, err := s.People.Shares(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []any{access.RoleAdmin, people.AccessSee}, []any{shares[0].Role, shares[1].Access})
	_, err = s.Destroy(t.Context(), row.ID, maya("done"))
	require.NoError(t, err)
	require.Equal(t, lifecycle.Destroy, step(t, s, row.ID).Open)
}

func TestRevokedAccessThatStaysInItsClusterIsAFinding(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := usable(t, s, accept(t, s, granted("shop")))
	kept := wantsAccess(t, s, row.ID, wants(access.RoleEdit))
	gone := wantsAccess(t, s, row.ID, wants(access.RoleView))
	changes(t, s, clock, row.ID)
	require.NoError(t, s.Access.Revoke(t.Context(), row.ID, gone.ID, maya("it leaked")))
	found := func() []lifecycle.Finding {
		t.Helper()
		all, err := s.Reports.AccessFindings(t.Context())
		require.NoError(t, err)
		return all
	}
	require.Empty(t, found(), "a runner removes it in seconds")
	revoked := clock.now()
	clock.pass(5 * time.Minute)
	account := accessOf(t, s, row.ID, gone.ID).Account
	require.Equal(t, []lifecycle.Finding{{
		Kind: lifecycle.AccessNotRevoked, Cluster: row.ID, Since: revoked, Evidence: []string{account},
		Why: "access that ended may still work in the cluster, because its accounts could not be removed",
	}}, found())

	open := claims(t, s, row.ID, lifecycle.Access)
	told(t, s, open)
	require.NoError(t, reportsAccess(s, t, open, 1, attempts.AccessState{ID: gone.ID, Trouble: "the API does not answer"}))
	require.Equal(t, []string{account + ": the API does not answer"}, found()[0].Evidence)
	require.NoError(t, reportsAccess(s, t, open, 2, attempts.AccessState{ID: gone.ID, Removed: true}))
	require.Empty(t, found())
	require.Equal(t, access.Ready, accessOf(t, s, row.ID, kept.ID).State)

	require.NoError(t, s.Access.Revoke(t.Context(), row.ID, kept.ID, maya("it leaked")))
	clock.pass(5 * time.Minute)
	require.Len(t, found(), 1)
	clock.pass(4 * time.Hour)
	require.Len(t, found(), 1, "that its token expired is the cluster's word alone")
}

func TestNoAccountOutlivesItsCluster(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row := usable(t, s, accept(t, s, granted("shop")))
	a := wantsAccess(t, s, row.ID, wants(access.RoleAdmin))
	changes(t, s, clock, row.ID)
	_, err := s.Destroy(t.Context(), row.ID, maya("done"))
	require.NoError(t, err)
	require.Nil(t, accessOf(t, s, row.ID, a.ID).RemovedAt, "the cluster is still there")
	runner := claims(t, s, row.ID, lifecycle.Destroy)
	for i := range 2 {
		clock.pass(time.Second)
		_, err = s.Attempts.Report(t.Context(), runner.Attempt, runner.Token, attempts.ReportRow{Seq: i + 1, Phase: lifecycle.Verifying, Percent: 70, Pass: pass(i + 1)})
		require.NoError(t, err)
		step(t, s, row.ID)
	}
	_, err = s.Attempts.Result(t.Context(), runner.Attempt, runner.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded})
	require.NoError(t, err)
	require.Equal(t, lifecycle.Released, step(t, s, row.ID).Next.Phase)
	gone := accessOf(t, s, row.ID, a.ID)
	require.Equal(t, access.Revoked, gone.State)
	require.NotNil(t, gone.RemovedAt)
}
