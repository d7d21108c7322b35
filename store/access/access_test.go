package access_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/people"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestAKubeconfigIsAskedForMadeRevokedAndRemoved(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	pending := storetest.Accept(t, s, storetest.Granted("pending"))
	_, err := s.Access.Ask(t.Context(), pending.ID, storetest.Wants(access.RoleEdit), storetest.Maya(""))
	require.ErrorIs(t, err, db.ErrConflict)
	require.ErrorContains(t, err, "the cluster is PENDING")

	row := storetest.Usable(t, s, storetest.Accept(t, s, storetest.Granted("shop")))
	storetest.Lose(t, s)
	asked := storetest.WantsAccess(t, s, row.ID, storetest.Wants(access.RoleEdit))
	require.Equal(t, access.Asked, asked.State)
	require.Len(t, storetest.RiverJobs(t, s, "reconcile"), 1)
	_, meta := storetest.Said(t, s, "access.asked")
	require.Equal(t, map[string]any{"access": asked.ID, "kind": "kubeconfig", "reader": "saml:will@acme.example", "role": "edit", "by": "principal:saml:will@acme.example", "run": "", "lifetime": "8h0m0s"}, meta["after"])
	require.Equal(t, asked.ID, storetest.WantsAccess(t, s, row.ID, storetest.Wants(access.RoleEdit)).ID, "a repeated request is the same")
	require.NotEqual(t, asked.ID, storetest.WantsAccess(t, s, row.ID, storetest.Wants(access.RoleView)).ID, "another role is another account")

	work := storetest.Changes(t, s, clock, row.ID)
	require.Len(t, work.Give, 2)
	require.Regexp(t, `^saml-will-acme-example-a[0-9a-f]{9}$`, work.Give[0].Account)
	require.Equal(t, 4*time.Hour, work.Give[0].Lifetime, "no longer than the cluster")
	made := storetest.AccessOf(t, s, row.ID, asked.ID)
	require.Equal(t, []any{access.Ready, "s3://bucket/" + asked.ID, clock.Now().Add(4 * time.Hour)}, []any{made.State, made.Ref, made.ExpiresAt.UTC()})
	who, meta := storetest.Said(t, s, "access.minted")
	require.Equal(t, []any{db.Lifecycle, "saml:will@acme.example"}, []any{who.Actor, meta["after"].(map[string]any)["reader"]})
	row, err = s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []any{2, 2, lifecycle.Ready, lifecycle.PhaseReady}, []any{row.Work[lifecycle.Access].Wanted, row.Work[lifecycle.Access].Done, row.Status, row.Phase})

	require.Equal(t, asked.ID, storetest.WantsAccess(t, s, row.ID, storetest.Wants(access.RoleEdit)).ID, "it is still good")
	clock.Pass(time.Hour)
	renew := storetest.Wants(access.RoleEdit)
	renew.Renew = true
	renewed := storetest.WantsAccess(t, s, row.ID, renew)
	require.NotEqual(t, asked.ID, renewed.ID)
	require.Equal(t, renewed.ID, storetest.WantsAccess(t, s, row.ID, renew).ID)

	require.NoError(t, s.Access.Revoke(t.Context(), row.ID, asked.ID, storetest.Maya("it leaked")))
	require.NoError(t, s.Access.Revoke(t.Context(), row.ID, asked.ID, storetest.Maya("")), "a repeated call changes nothing")
	gone := storetest.AccessOf(t, s, row.ID, asked.ID)
	require.Equal(t, []any{access.Revoked, "it leaked", "saml:maya@acme.example", true}, []any{gone.State, gone.RevokeWhy, gone.RevokedBy, gone.RemovedAt == nil})
	_, f, err := s.Load(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.AccessWork{Give: 1, Take: 1}, f.Access)
	work = storetest.Changes(t, s, clock, row.ID)
	require.Equal(t, []string{asked.ID}, []string{work.Take[0].ID})
	require.Len(t, work.Keep, 1, "the viewer's")
	require.NotNil(t, storetest.AccessOf(t, s, row.ID, asked.ID).RemovedAt)
	_, meta = storetest.Said(t, s, "access.account_removed")
	require.Equal(t, "it was revoked", meta["why"])
	require.ErrorIs(t, s.Access.Revoke(t.Context(), row.ID, "acc_none", storetest.Maya("")), db.ErrNotFound)
	storetest.Refuses(t, s, "revoked for good", `UPDATE access SET revoked_at = NULL, revoke_why = '' WHERE id = $1`, asked.ID)
	storetest.Refuses(t, s, "made for something else", `UPDATE access SET role = 'admin' WHERE id = $1`, asked.ID)
}

// An account of the console lives as a kubeconfig does. A reader has one; a new one replaces it, and it is removed as soon as its time is over,
// since a password does not expire.
func TestAConsoleAccountLivesAsAKubeconfigDoes(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Usable(t, s, storetest.Accept(t, s, storetest.Granted("shop")))
	kubeconfig := storetest.WantsAccess(t, s, row.ID, storetest.Wants(access.RoleEdit))
	console := storetest.Wants(access.RoleEdit)
	console.Kind, console.Lifetime = access.Console, time.Hour
	asked := storetest.WantsAccess(t, s, row.ID, console)
	require.NotEqual(t, kubeconfig.ID, asked.ID, "a kubeconfig does not serve for the console")
	require.Equal(t, asked.ID, storetest.WantsAccess(t, s, row.ID, console).ID)
	storetest.Refuses(t, s, "made for something else", `UPDATE access SET kind = 'kubeconfig' WHERE id = $1`, asked.ID)

	open := storetest.Claims(t, s, row.ID, lifecycle.Access)
	require.Len(t, storetest.Told(t, s, open).Give, 2)
	made := attempts.AccessState{ID: asked.ID, Ref: "s3://bucket/" + asked.ID, ExpiresAt: clock.Now().Add(time.Hour)}
	require.ErrorContains(t, storetest.ReportsAccess(s, t, open, 1, made), "is a console", "a runner that knows no consoles stored a kubeconfig")
	made.Kind = access.Console
	require.NoError(t, storetest.ReportsAccess(s, t, open, 2, made))
	require.Equal(t, access.Ready, storetest.AccessOf(t, s, row.ID, asked.ID).State)
	_, meta := storetest.Said(t, s, "access.minted")
	require.Equal(t, "console", meta["after"].(map[string]any)["kind"])
	_, err := s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded})
	require.NoError(t, err)
	storetest.Step(t, s, row.ID) // the attempt did not make the kubeconfig
	clock.Pass(5 * time.Minute)
	storetest.Changes(t, s, clock, row.ID)

	console.Renew = true
	clock.Pass(2 * time.Minute)
	renewed := storetest.WantsAccess(t, s, row.ID, console)
	replaced := storetest.AccessOf(t, s, row.ID, asked.ID)
	require.Equal(t, []any{access.Revoked, "a new console account replaces it"}, []any{replaced.State, replaced.RevokeWhy})
	require.Equal(t, access.Ready, storetest.AccessOf(t, s, row.ID, kubeconfig.ID).State)
	work := storetest.Changes(t, s, clock, row.ID)
	require.Equal(t, []string{renewed.ID, asked.ID}, []string{work.Give[0].ID, work.Take[0].ID})

	for range 2 { // two within an hour: a kubeconfig would wait
		clock.Pass(time.Hour)
		n, err := s.Access.RemoveExpired(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, renewed.ID, storetest.Changes(t, s, clock, row.ID).Take[0].ID)
		renewed = storetest.WantsAccess(t, s, row.ID, console)
		storetest.Changes(t, s, clock, row.ID)
	}
}

// A hostile runner reports what it was not told to do, and what it did not do.
func TestWhatARunnerReportsOfAccessIsHeldAgainstTheRows(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, other := storetest.Usable(t, s, storetest.Accept(t, s, storetest.Granted("shop"))), storetest.Usable(t, s, storetest.Accept(t, s, storetest.Granted("bank")))
	theirs := storetest.WantsAccess(t, s, other.ID, storetest.Wants(access.RoleAdmin))
	storetest.Changes(t, s, clock, other.ID)
	mine := storetest.WantsAccess(t, s, row.ID, storetest.Wants(access.RoleView))
	open := storetest.Claims(t, s, row.ID, lifecycle.Access)
	in := func(d time.Duration) time.Time { return clock.Now().Add(d) }
	require.ErrorContains(t, storetest.ReportsAccess(s, t, open, 1, attempts.AccessState{ID: mine.ID, Ref: "s3://bucket/x", ExpiresAt: in(time.Hour)}), "not told to make")
	storetest.Told(t, s, open)
	for what, c := range map[string]struct {
		state attempts.AccessState
		want  string
	}{
		"another cluster's":      {attempts.AccessState{ID: theirs.ID, Ref: "s3://bucket/x", ExpiresAt: in(time.Hour)}, "the cluster has no access"},
		"one that nobody has":    {attempts.AccessState{ID: "acc_none", Removed: true}, "the cluster has no access"},
		"a valid one as removed": {attempts.AccessState{ID: mine.ID, Removed: true}, "nobody asked to remove it"},
	} {
		require.ErrorIs(t, storetest.ReportsAccess(s, t, open, 1, c.state), db.ErrConflict, what)
		require.ErrorContains(t, storetest.ReportsAccess(s, t, open, 1, c.state), c.want, what)
	}
	require.NoError(t, storetest.ReportsAccess(s, t, open, 1, attempts.AccessState{ID: mine.ID, Ref: "s3://bucket/x", ExpiresAt: in(87600 * time.Hour)}))
	kept := storetest.AccessOf(t, s, row.ID, mine.ID)
	require.Equal(t, []any{access.Asked, ""}, []any{kept.State, kept.Ref}, "a token of ten years is not kept")
	require.Contains(t, kept.Trouble, "its token would be valid until 2036-")
	require.NoError(t, storetest.ReportsAccess(s, t, open, 4, attempts.AccessState{ID: mine.ID, Ref: "s3://bucket/x", ExpiresAt: in(time.Hour)}))
	require.NoError(t, storetest.ReportsAccess(s, t, open, 2, attempts.AccessState{ID: mine.ID, Ref: "s3://bucket/x", ExpiresAt: in(time.Hour)}), "said twice")
	require.ErrorContains(t, storetest.ReportsAccess(s, t, open, 3, attempts.AccessState{ID: mine.ID, Ref: "s3://bucket/y", ExpiresAt: in(time.Hour)}), "what is known is")

	destroyed, err := s.Destroy(t.Context(), other.ID, storetest.Maya(""))
	require.NoError(t, err)
	require.NotEmpty(t, destroyed)
	gone := storetest.Claims(t, s, other.ID, lifecycle.Destroy)
	_, _, err = s.Attempts.AccessWork(t.Context(), gone.Attempt, gone.Token)
	require.ErrorContains(t, err, "a destroy changes no access")
	_, _, err = s.Attempts.AccessWork(t.Context(), open.Attempt, gone.Token)
	require.ErrorIs(t, err, db.ErrFenced)
	require.ErrorContains(t, storetest.ReportsAccess(s, t, gone, 1, attempts.AccessState{ID: theirs.ID, Removed: true}), "a destroy changes no access")
}

func TestARunnersSuccessWithoutRowsIsAFailure(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Usable(t, s, storetest.Accept(t, s, storetest.Granted("shop")))
	asked := storetest.WantsAccess(t, s, row.ID, storetest.Wants(access.RoleView))
	for range 3 {
		open := storetest.Claims(t, s, row.ID, lifecycle.Access)
		storetest.Told(t, s, open)
		require.NoError(t, storetest.ReportsAccess(s, t, open, 1, attempts.AccessState{ID: asked.ID, Trouble: "the cluster refused it"}))
		_, err := s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded})
		require.NoError(t, err)
		require.Empty(t, storetest.Step(t, s, row.ID).Open)
		clock.Pass(10 * time.Minute)
	}
	failed := storetest.AccessOf(t, s, row.ID, asked.ID)
	require.Equal(t, []any{access.Failed, "the cluster refused it"}, []any{failed.State, failed.Trouble})
	require.Empty(t, storetest.Step(t, s, row.ID).Open)
	require.NotEqual(t, asked.ID, storetest.WantsAccess(t, s, row.ID, storetest.Wants(access.RoleView)).ID, "a later request tries again")

	now := storetest.WantsAccess(t, s, row.ID, storetest.Wants(access.RoleEdit))
	_, err := s.Pool().Exec(t.Context(), `UPDATE clusters SET work = jsonb_set(work, '{access,done}', work #> '{access,wanted}') WHERE id = $1`, row.ID)
	require.NoError(t, err)
	told := storetest.WantsAccess(t, s, row.ID, storetest.Wants(access.RoleEdit))
	require.Equal(t, []any{now.ID, access.Failed}, []any{told.ID, told.State}, "whoever waits for it is told, and asks for no other meanwhile")
}

func TestTheRequesterGetsAccessWithTheCreate(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	j := storetest.Granted("shop")
	j.Access = &access.Ask{Reader: "github:maya", ReaderName: "maya", Role: access.RoleAdmin, Right: access.OwnRight, Lifetime: 8 * time.Hour}
	row := storetest.Accept(t, s, j)
	require.Equal(t, 1, row.Work[lifecycle.Access].Wanted)
	open := storetest.Claims(t, s, row.ID, lifecycle.Create)
	work := storetest.Told(t, s, open)
	require.Len(t, work.Give, 1)
	require.Regexp(t, `^github-maya-a[0-9a-f]{9}$`, work.Give[0].Account)
	require.NoError(t, storetest.ReportsAccess(s, t, open, 1, attempts.AccessState{ID: work.Give[0].ID, Ref: "s3://bucket/x", ExpiresAt: clock.Now().Add(time.Hour)}))
	require.Equal(t, access.Ready, storetest.AccessOf(t, s, row.ID, work.Give[0].ID).State)
	_, err := s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "Late", Message: "too late", Retryable: true})
	require.NoError(t, err)
	storetest.Step(t, s, row.ID)
	clock.Pass(time.Hour)
	again := storetest.Claims(t, s, row.ID, lifecycle.Create)
	require.Equal(t, access.Asked, storetest.AccessOf(t, s, row.ID, work.Give[0].ID).State, "what an earlier try made is gone with it")
	require.Len(t, storetest.Told(t, s, again).Give, 1)
}

func TestSharesTransfersAndEndsRevoke(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	share := func(row clusters.Row, role access.Role) {
		t.Helper()
		require.NoError(t, s.People.Share(t.Context(), row.ID, people.Share{Kind: "principal", Grantee: "saml:will@acme.example", Access: people.AccessUse, Role: role}, storetest.Maya("")))
	}
	shared := func() (clusters.Row, access.Row) {
		t.Helper()
		row := storetest.Usable(t, s, storetest.Accept(t, s, storetest.Granted("c"+strings.ToLower(db.NewID("x")[18:28]))))
		share(row, access.RoleAdmin)
		a := storetest.WantsAccess(t, s, row.ID, storetest.Wants(access.RoleAdmin))
		storetest.Changes(t, s, clock, row.ID)
		return row, a
	}
	for name, c := range map[string]struct {
		end func(clusters.Row) error
		why string
	}{
		"unshared": {func(r clusters.Row) error {
			return s.People.Unshare(t.Context(), r.ID, "principal", "saml:will@acme.example", storetest.Maya(""))
		}, "the cluster is no longer shared with saml:will@acme.example"},
		"only to see": {func(r clusters.Row) error {
			return s.People.Share(t.Context(), r.ID, people.Share{Kind: "principal", Grantee: "saml:will@acme.example", Access: people.AccessSee}, storetest.Maya(""))
		}, "the share with saml:will@acme.example was changed"},
		"its end": {func(r clusters.Row) error {
			now, err := s.Cluster(t.Context(), r.ID)
			if err == nil { // the cluster's clock is ahead
				_, err = s.Pool().Exec(t.Context(), `UPDATE access SET expires_at = expires_at + interval '1 minute' WHERE cluster_id = $1`, r.ID)
			}
			if err == nil {
				clock.Pass(now.DestroyAt.Sub(clock.Now()))
				storetest.Step(t, s, r.ID)
			}
			return err
		}, "the end of its time to live"},
		"less":      {func(r clusters.Row) error { share(r, access.RoleView); return nil }, "the share with saml:will@acme.example was changed"},
		"destroyed": {func(r clusters.Row) error { _, err := s.Destroy(t.Context(), r.ID, storetest.Maya("done")); return err }, "the cluster is no longer wanted: done"},
	} {
		t.Run(name, func(t *testing.T) {
			row, a := shared()
			require.NoError(t, c.end(row))
			gone := storetest.AccessOf(t, s, row.ID, a.ID)
			require.Equal(t, []any{access.Revoked, c.why}, []any{gone.State, gone.RevokeWhy})
		})
	}

	row, a := shared()
	team := people.Share{Kind: "team", Grantee: "acme/payments", Access: people.AccessUse, Role: access.RoleEdit}
	require.NoError(t, s.People.Share(t.Context(), row.ID, team, storetest.Maya("")))
	byTeam := func(role access.Role) access.Row {
		return storetest.WantsAccess(t, s, row.ID, access.Wanted{Ask: access.Ask{Reader: "saml:rob@acme.example", ReaderName: "Rob", Role: role, Right: access.ShareRight("team", "acme/payments"), Lifetime: time.Hour}})
	}
	robs, looks := byTeam(access.RoleEdit), byTeam(access.RoleView)
	team.Role = access.RoleView
	require.NoError(t, s.People.Share(t.Context(), row.ID, team, storetest.Maya("")))
	require.Equal(t, access.Revoked, storetest.AccessOf(t, s, row.ID, robs.ID).State)
	require.Equal(t, access.Asked, storetest.AccessOf(t, s, row.ID, looks.ID).State, "what the new role gives goes on")
	require.NoError(t, s.People.Unshare(t.Context(), row.ID, "team", "acme/payments", storetest.Maya("")))
	require.Equal(t, access.Revoked, storetest.AccessOf(t, s, row.ID, looks.ID).State)
	require.Equal(t, access.Ready, storetest.AccessOf(t, s, row.ID, a.ID).State, "the share with a person is another")
	share(row, access.RoleAdmin)
	require.Equal(t, access.Ready, storetest.AccessOf(t, s, row.ID, a.ID).State, "the same share again changes nothing")
	own := access.Wanted{Ask: access.Ask{Reader: "saml:maya@acme.example", ReaderName: "Maya", Role: access.RoleAdmin, Right: access.OwnRight, Lifetime: time.Hour}}
	mine := storetest.WantsAccess(t, s, row.ID, own)
	require.NoError(t, s.Transfer(t.Context(), row.ID, "acme/web", "will", storetest.Maya(""), nil))
	require.Equal(t, "the cluster was given to team acme/web", storetest.AccessOf(t, s, row.ID, mine.ID).RevokeWhy)
	require.NotNil(t, storetest.AccessOf(t, s, row.ID, mine.ID).RemovedAt, "no runner was told to make it, so there is nothing to remove")
	require.Equal(t, access.Ready, storetest.AccessOf(t, s, row.ID, a.ID).State, "a share goes on")
}

func TestALinkedAccountIsTheSameReader(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Usable(t, s, storetest.Accept(t, s, storetest.Granted("shop")))
	byGitHub := access.Wanted{Ask: access.Ask{Reader: "github:will", ReaderName: "will", Role: access.RoleView, Right: "team:web", Lifetime: time.Hour}}
	a := storetest.WantsAccess(t, s, row.ID, byGitHub)
	_, err := s.Pool().Exec(t.Context(), `INSERT INTO accounts (account, principal, name, proof, linked_at, seen_at) VALUES ('github:will', 'saml:will@acme.example', 'Will', '{}', now(), now())`)
	require.NoError(t, err)
	signedIn := byGitHub
	signedIn.Reader = "saml:will@acme.example"
	require.Equal(t, a.ID, storetest.WantsAccess(t, s, row.ID, signedIn).ID)
	for principal, want := range map[string]bool{"saml:will@acme.example": true, "github:will": true, "saml:maya@acme.example": false} {
		mine, err := s.Access.Mine(t.Context(), row.ID, principal)
		require.NoError(t, err)
		require.Equal(t, want, mine[a.ID], principal)
	}
}

func TestNobodyHoldsAnyNumberOfKubeconfigs(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Usable(t, s, storetest.Accept(t, s, storetest.Granted("shop")))
	w := storetest.Wants(access.RoleView)
	w.Renew = true
	for range access.MostOfOneReader {
		storetest.WantsAccess(t, s, row.ID, w)
		clock.Pass(2 * time.Minute)
	}
	_, err := s.Access.Ask(t.Context(), row.ID, w, storetest.Maya(""))
	var many *access.TooMany
	require.ErrorAs(t, err, &many)
	require.Equal(t, access.TooMany{Most: 20}, *many)
}

func TestEachJobOfAMatrixHasItsOwnKubeconfigUpToTheClustersLimit(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Usable(t, s, storetest.Accept(t, s, storetest.Granted("shop")))
	ask := func(run string, jobs int) (err error) {
		ref := storetest.RunRef(1)
		ref.Key = run
		for n := 0; n < jobs && err == nil; n++ {
			_, err = storetest.WantsForRun(s, row.ID, ref, fmt.Sprint(n))
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
	_, err := s.Access.Ask(t.Context(), row.ID, storetest.Wants(access.RoleView), storetest.Maya(""))
	require.ErrorAs(t, err, &many, "nobody gets more")
}

func TestNobodyAsksAnyNumberOfTimes(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Usable(t, s, storetest.Accept(t, s, storetest.Granted("shop")))
	w := storetest.Wants(access.RoleView)
	for range access.MostAnHour {
		a := storetest.WantsAccess(t, s, row.ID, w)
		require.NoError(t, s.Access.Revoke(t.Context(), row.ID, a.ID, storetest.Maya("")))
		clock.Pass(30 * time.Second)
	}
	_, err := s.Access.Ask(t.Context(), row.ID, w, storetest.Maya(""))
	var many *access.TooMany
	require.ErrorAs(t, err, &many)
	require.Equal(t, access.TooMany{Most: 60, Until: 30 * time.Minute}, *many)
	other := w
	other.Reader = "saml:rob@acme.example"
	storetest.WantsAccess(t, s, row.ID, other)
	clock.Pass(30 * time.Minute)
	storetest.WantsAccess(t, s, row.ID, w)
}

func TestARequestForMoreAccessDoesNotHurryAClusterThatFails(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Usable(t, s, storetest.Accept(t, s, storetest.Granted("shop")))
	kept := storetest.WantsAccess(t, s, row.ID, storetest.Wants(access.RoleEdit))
	storetest.Changes(t, s, clock, row.ID)
	storetest.WantsAccess(t, s, row.ID, storetest.Wants(access.RoleView))
	open := storetest.Claims(t, s, row.ID, lifecycle.Access)
	storetest.Told(t, s, open)
	_, err := s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "AccessUnchanged", Message: "the API is away", Retryable: true})
	require.NoError(t, err)
	require.Empty(t, storetest.Step(t, s, row.ID).Open)
	storetest.WantsAccess(t, s, row.ID, storetest.Wants(access.RoleAdmin))
	require.Empty(t, storetest.Step(t, s, row.ID).Open, "the next try comes when it would have come")
	require.NoError(t, s.Access.Revoke(t.Context(), row.ID, kept.ID, storetest.Maya("it leaked")))
	require.Equal(t, lifecycle.Access, storetest.Step(t, s, row.ID).Open, "what is revoked does not wait")
}

func TestAReaderGetsWhatWorksRatherThanWhatFailed(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Usable(t, s, storetest.Accept(t, s, storetest.Granted("shop")))
	works := storetest.WantsAccess(t, s, row.ID, storetest.Wants(access.RoleEdit))
	storetest.Changes(t, s, clock, row.ID)
	clock.Pass(2 * time.Minute)
	renew := storetest.Wants(access.RoleEdit)
	renew.Renew = true
	failed := storetest.WantsAccess(t, s, row.ID, renew)
	require.NotEqual(t, works.ID, failed.ID)
	require.Equal(t, works.ID, storetest.WantsAccess(t, s, row.ID, storetest.Wants(access.RoleEdit)).ID, "while the next one is being made")
	_, err := s.Pool().Exec(t.Context(), `UPDATE clusters SET work = jsonb_set(work, '{access,done}', work #> '{access,wanted}') WHERE id = $1`, row.ID)
	require.NoError(t, err)
	require.Equal(t, access.Failed, storetest.AccessOf(t, s, row.ID, failed.ID).State)
	require.Equal(t, works.ID, storetest.WantsAccess(t, s, row.ID, storetest.Wants(access.RoleEdit)).ID)
}

// The right is checked before the cluster is locked. What changes between the two counts.
func TestARightThatEndsBeforeTheRowIsWrittenGivesNothing(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Usable(t, s, storetest.Accept(t, s, storetest.Granted("shop")))
	share := func(to people.Access, role access.Role) {
		t.Helper()
		require.NoError(t, s.People.Share(t.Context(), row.ID, people.Share{Kind: "principal", Grantee: "saml:will@acme.example", Access: to, Role: role}, storetest.Maya("")))
	}
	ask := func(w access.Wanted) error {
		_, err := s.Access.Ask(t.Context(), row.ID, w, storetest.Maya(""))
		return err
	}
	share(people.AccessUse, access.RoleEdit)
	seen := func(w access.Wanted) access.Wanted {
		now, err := s.Cluster(t.Context(), row.ID)
		require.NoError(t, err)
		w.Seen, w.Team = now.Version, now.Team
		return w
	}
	checked := seen(storetest.Wants(access.RoleEdit))
	share(people.AccessUse, access.RoleAdmin)
	require.NoError(t, ask(checked), "more than before")
	share(people.AccessUse, access.RoleView)
	require.ErrorIs(t, ask(checked), db.ErrStale, "less than before")
	share(people.AccessSee, "")
	require.ErrorIs(t, ask(checked), db.ErrStale, "only to see it")
	require.NoError(t, s.People.Unshare(t.Context(), row.ID, "principal", "saml:will@acme.example", storetest.Maya("")))
	require.ErrorIs(t, ask(checked), db.ErrStale, "no longer shared")

	own := seen(access.Wanted{Ask: access.Ask{Reader: "saml:maya@acme.example", ReaderName: "Maya", Role: access.RoleAdmin, Right: access.OwnRight, Lifetime: time.Hour}})
	share(people.AccessUse, access.RoleEdit)
	require.NoError(t, ask(own))
	require.NoError(t, s.Transfer(t.Context(), row.ID, "acme/web", "will", storetest.Maya(""), nil))
	own.Renew = true
	require.ErrorIs(t, ask(own), db.ErrStale, "another team's")
}

func TestAnExpiredAccountIsRemovedFromItsCluster(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Usable(t, s, storetest.Accept(t, s, storetest.Granted("shop")))
	brief := func() access.Row {
		w := storetest.Wants(access.RoleView)
		w.Reader, w.Lifetime, w.Least = "saml:"+db.NewID("x")+"@acme.example", 10*time.Minute, time.Minute
		return storetest.WantsAccess(t, s, row.ID, w)
	}
	expires := func() int {
		t.Helper()
		n, err := s.Access.RemoveExpired(t.Context())
		require.NoError(t, err)
		return n
	}
	first, second := brief(), brief()
	storetest.Changes(t, s, clock, row.ID)
	require.Zero(t, expires(), "they are valid")
	clock.Pass(10 * time.Minute)
	require.Equal(t, access.Expired, storetest.AccessOf(t, s, row.ID, first.ID).State)
	require.Equal(t, 2, expires())
	require.Equal(t, access.Expired, storetest.AccessOf(t, s, row.ID, first.ID).State, "nobody revoked it")
	require.Zero(t, expires())
	work := storetest.Changes(t, s, clock, row.ID)
	require.Equal(t, []string{first.ID, second.ID}, []string{work.Take[0].ID, work.Take[1].ID})
	require.NotNil(t, storetest.AccessOf(t, s, row.ID, first.ID).RemovedAt)
	_, meta := storetest.Said(t, s, "access.account_removed")
	require.Equal(t, "it was expired", meta["why"])

	third := brief()
	storetest.Changes(t, s, clock, row.ID)
	clock.Pass(20 * time.Minute)
	require.Zero(t, expires(), "one runner an hour for a cluster")
	clock.Pass(40 * time.Minute)
	require.Equal(t, 1, expires())
	clock.Pass(5 * time.Minute)
	found, err := s.Reports.AccessFindings(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{storetest.AccessOf(t, s, row.ID, third.ID).Account}, found[0].Evidence, "until it is removed")
	storetest.Changes(t, s, clock, row.ID)
	found, err = s.Reports.AccessFindings(t.Context())
	require.NoError(t, err)
	require.Empty(t, found)
}

func TestTheListForgetsWhatWasNeverMade(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Usable(t, s, storetest.Accept(t, s, storetest.Granted("shop")))
	listed := func() int {
		t.Helper()
		list, err := s.Access.List(t.Context(), row.ID, time.Hour)
		require.NoError(t, err)
		return len(list)
	}
	storetest.WantsAccess(t, s, row.ID, storetest.Wants(access.RoleView))
	require.Equal(t, 1, listed())
	_, err := s.Pool().Exec(t.Context(), `UPDATE clusters SET work = jsonb_set(work, '{access,done}', work #> '{access,wanted}') WHERE id = $1`, row.ID)
	require.NoError(t, err)
	clock.Pass(9 * time.Hour)
	require.Zero(t, listed(), "it failed, and its time is over")
}

func TestRevokedAccessThatStaysInItsClusterIsAFinding(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Usable(t, s, storetest.Accept(t, s, storetest.Granted("shop")))
	kept := storetest.WantsAccess(t, s, row.ID, storetest.Wants(access.RoleEdit))
	gone := storetest.WantsAccess(t, s, row.ID, storetest.Wants(access.RoleView))
	storetest.Changes(t, s, clock, row.ID)
	require.NoError(t, s.Access.Revoke(t.Context(), row.ID, gone.ID, storetest.Maya("it leaked")))
	found := func() []lifecycle.Finding {
		t.Helper()
		all, err := s.Reports.AccessFindings(t.Context())
		require.NoError(t, err)
		return all
	}
	require.Empty(t, found(), "a runner removes it in seconds")
	revoked := clock.Now()
	clock.Pass(5 * time.Minute)
	account := storetest.AccessOf(t, s, row.ID, gone.ID).Account
	require.Equal(t, []lifecycle.Finding{{
		Kind: lifecycle.AccessNotRevoked, Cluster: row.ID, Since: revoked, Evidence: []string{account},
		Why: "access that ended may still work in the cluster, because its accounts could not be removed",
	}}, found())

	open := storetest.Claims(t, s, row.ID, lifecycle.Access)
	storetest.Told(t, s, open)
	require.NoError(t, storetest.ReportsAccess(s, t, open, 1, attempts.AccessState{ID: gone.ID, Trouble: "the API does not answer"}))
	require.Equal(t, []string{account + ": the API does not answer"}, found()[0].Evidence)
	require.NoError(t, storetest.ReportsAccess(s, t, open, 2, attempts.AccessState{ID: gone.ID, Removed: true}))
	require.Empty(t, found())
	require.Equal(t, access.Ready, storetest.AccessOf(t, s, row.ID, kept.ID).State)

	require.NoError(t, s.Access.Revoke(t.Context(), row.ID, kept.ID, storetest.Maya("it leaked")))
	clock.Pass(5 * time.Minute)
	require.Len(t, found(), 1)
	clock.Pass(4 * time.Hour)
	require.Len(t, found(), 1, "that its token expired is the cluster's word alone")
}

func TestNoAccountOutlivesItsCluster(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Usable(t, s, storetest.Accept(t, s, storetest.Granted("shop")))
	a := storetest.WantsAccess(t, s, row.ID, storetest.Wants(access.RoleAdmin))
	storetest.Changes(t, s, clock, row.ID)
	_, err := s.Destroy(t.Context(), row.ID, storetest.Maya("done"))
	require.NoError(t, err)
	require.Nil(t, storetest.AccessOf(t, s, row.ID, a.ID).RemovedAt, "the cluster is still there")
	runner := storetest.Claims(t, s, row.ID, lifecycle.Destroy)
	for i := range 2 {
		clock.Pass(time.Second)
		_, err = s.Attempts.Report(t.Context(), runner.Attempt, runner.Token, attempts.ReportRow{Seq: i + 1, Phase: lifecycle.Verifying, Percent: 70, Pass: storetest.Pass(i + 1)})
		require.NoError(t, err)
		storetest.Step(t, s, row.ID)
	}
	_, err = s.Attempts.Result(t.Context(), runner.Attempt, runner.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded})
	require.NoError(t, err)
	require.Equal(t, lifecycle.Released, storetest.Step(t, s, row.ID).Next.Phase)
	gone := storetest.AccessOf(t, s, row.ID, a.ID)
	require.Equal(t, access.Revoked, gone.State)
	require.NotNil(t, gone.RemovedAt)
}

// A reader has one account of a console, with a password or through the server.
func TestAReaderWhoSignsInThroughTheServerHasNoPassword(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Usable(t, s, storetest.Accept(t, s, storetest.Granted("shop")))
	wants := storetest.Wants(access.RoleView)
	wants.Kind = access.Console
	byPassword := storetest.WantsAccess(t, s, row.ID, wants)
	storetest.Changes(t, s, clock, row.ID)
	none := func() {
		t.Helper()
		_, err := s.Access.OpenIDOf(t.Context(), row.ID, wants.Reader)
		require.ErrorIs(t, err, db.ErrNotFound)
	}
	none()
	wants.OpenID = true
	bySignIn := storetest.WantsAccess(t, s, row.ID, wants)
	require.NotEqual(t, byPassword.ID, bySignIn.ID)
	require.Equal(t, access.Revoked, storetest.AccessOf(t, s, row.ID, byPassword.ID).State)
	none()
	open := storetest.Claims(t, s, row.ID, lifecycle.Access)
	storetest.Told(t, s, open)
	require.ErrorIs(t, storetest.ReportsAccess(s, t, open, 1, attempts.AccessState{ID: bySignIn.ID, Kind: access.Console, Ref: "s3://bucket/x", ExpiresAt: clock.Now().Add(time.Hour)}), db.ErrConflict, "a runner that knows passwords only")
	require.NoError(t, storetest.ReportsAccess(s, t, open, 1, attempts.AccessState{ID: bySignIn.ID, Kind: access.Console, OpenID: true, ExpiresAt: clock.Now().Add(time.Hour)}, attempts.AccessState{ID: byPassword.ID, Removed: true}))
	found, err := s.Access.OpenIDOf(t.Context(), row.ID, wants.Reader)
	require.NoError(t, err)
	require.Equal(t, []any{bySignIn.ID, access.Ready, ""}, []any{found.ID, found.State, found.Ref})
	require.NoError(t, s.Access.Revoke(t.Context(), row.ID, bySignIn.ID, storetest.Maya("she left")))
	none()
}
