package store_test

import (
	"cmp"
	"database/sql"
	"encoding/json"
	"testing"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/migrations"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestSentencesBecomeReasonsAndSentencesAgain(t *testing.T) {
	t.Parallel()
	p, database := openMigrations(t)
	for sentence, want := range map[string]lifecycle.Reason{
		"": {},
		"the pull request was merged, seen by polling":                                          {Code: lifecycle.ReasonPRMerged, Seen: true},
		"acme/shop was archived":                                                                {Code: lifecycle.ReasonRepoArchived, Name: "acme/shop"},
		"its job was deleted":                                                                   {Code: lifecycle.ReasonRunFinished, Name: "job", To: "gone"},
		"the install failed: the VPC limit is reached":                                          {Code: lifecycle.ReasonInstallFailed, Words: "the VPC limit is reached"},
		"the end of its time to live, postponed by a hold":                                      {Code: lifecycle.ReasonTTL, Held: true},
		"nobody used it; whether people used its API is unknown, because it could not be asked": {Code: lifecycle.ReasonIdle, Unobserved: true},
		"aaaaaaa was pushed, and the repository's file says recreate":                           {Code: lifecycle.ReasonPushed, Name: "aaaaaaa", To: "recreate"},
		"@will: the owner asked for it":                                                         {Code: lifecycle.ReasonOther, Words: "@will: the owner asked for it"},
		"rob asked for it":                                                                      {Code: lifecycle.ReasonAsked, By: "rob"},
	} {
		_, err := p.DownTo(t.Context(), 71)
		require.NoError(t, err)
		_, err = database.Exec(`UPDATE clusters SET pr_end_why = $1`, sentence)
		require.NoError(t, err)
		_, err = p.UpTo(t.Context(), 72)
		require.NoError(t, err)
		var raw, back string
		require.NoError(t, database.QueryRow(`SELECT pr_end_why::text FROM clusters`).Scan(&raw))
		var got lifecycle.Reason
		require.NoError(t, json.Unmarshal([]byte(raw), &got))
		require.Equal(t, want, got)
		require.Equal(t, sentence, got.String())
		_, err = p.DownTo(t.Context(), 71)
		require.NoError(t, err)
		require.NoError(t, database.QueryRow(`SELECT pr_end_why::text FROM clusters`).Scan(&back))
		require.Equal(t, sentence, back)
	}
}

func TestSentencesBecomeReasonsOfMovesAndSentencesAgain(t *testing.T) {
	t.Parallel()
	p, database := openMigrations(t)
	closed := lifecycle.Reason{Code: lifecycle.ReasonPRClosed, Held: true}
	failed := lifecycle.Reason{Code: lifecycle.ReasonInstallFailed, Words: "no VPC (5 of 5); ask"}
	full := "at most 1 run at once in this installation"
	for sentence, c := range map[string]struct {
		status  lifecycle.Status
		desired lifecycle.Reason
		want    lifecycle.MoveReason
	}{
		"accepted": {want: lifecycle.MoveReason{Code: lifecycle.MoveAccepted}},
		"it ends at 16:00 UTC on 1 January (the end of its time to live)": {want: lifecycle.MoveReason{
			Code: lifecycle.MoveExpires, Words: "it ends at 16:00 UTC on 1 January", Cause: lifecycle.Noted("the end of its time to live")}},
		"waiting for a free runner: " + full:                                      {want: lifecycle.MoveReason{Runner: full}},
		"installed on try 1 of 2; waiting for a free runner: " + full:             {want: lifecycle.MoveReason{Words: "installed on try 1 of 2", Runner: full}},
		"try 2 of 2 failed: no VPC (5 of 5); ask":                                 {want: lifecycle.MoveReason{Words: "try 2 of 2 failed", Failure: failed.Words}},
		"try 1 of 2 created nothing (no VPC (5 of 5); ask); the next try follows": {want: lifecycle.MoveReason{Words: "try 1 of 2 created nothing", Failure: failed.Words, Next: "the next try follows"}},
		"try 1 of 2 did not finish (no VPC (5 of 5); ask); what it created is removed first": {want: lifecycle.MoveReason{
			Words: "try 1 of 2 did not finish", Failure: failed.Words, Next: "what it created is removed first"}},
		closed.String(): {status: lifecycle.Destroying, desired: closed, want: lifecycle.MoveReason{Cause: closed}},
		closed.String() + "; waiting for a free runner: " + full:                           {status: lifecycle.Destroying, desired: closed, want: lifecycle.MoveReason{Cause: closed, Runner: full}},
		closed.String() + "; the running install is stopped first":                         {status: lifecycle.Destroying, desired: closed, want: lifecycle.MoveReason{Cause: closed, Words: "the running install is stopped first"}},
		"counting what is left in the cloud":                                               {status: lifecycle.Destroying, desired: closed, want: lifecycle.MoveReason{Words: "counting what is left in the cloud"}},
		"teardown 1 left something behind; still there: vpc-1. It is tried again":          {status: lifecycle.Destroying, desired: closed, want: lifecycle.MoveReason{Words: "teardown 1 left something behind; still there: vpc-1. It is tried again"}},
		failed.String() + "; two counts in a row found nothing left of the 2 names it had": {status: lifecycle.Failed, desired: failed, want: lifecycle.MoveReason{Cause: failed, Words: "two counts in a row found nothing left of the 2 names it had"}},
		"it has 5 workers now": {want: lifecycle.MoveReason{Words: "it has 5 workers now"}},
	} {
		_, err := p.DownTo(t.Context(), 72)
		require.NoError(t, err)
		status, desired := cmp.Or(c.status, lifecycle.Creating), c.desired
		if desired.IsZero() {
			desired = closed
		}
		why, err := json.Marshal(desired)
		require.NoError(t, err)
		_, err = database.Exec(`UPDATE clusters SET why = $1, status = $2, phase = $3, desired = 'absent', desired_why = $4, teardown = 'DESTROY'`,
			sentence, status, lifecycle.Phases[status][0], why)
		require.NoError(t, err)
		_, err = p.UpTo(t.Context(), 73)
		require.NoError(t, err)
		var raw, back string
		require.NoError(t, database.QueryRow(`SELECT why::text FROM clusters`).Scan(&raw))
		var got lifecycle.MoveReason
		require.NoError(t, json.Unmarshal([]byte(raw), &got))
		require.Equal(t, c.want, got)
		require.Equal(t, sentence, got.String())
		_, err = p.DownTo(t.Context(), 72)
		require.NoError(t, err)
		require.NoError(t, database.QueryRow(`SELECT why FROM clusters`).Scan(&back))
		require.Equal(t, sentence, back)
	}
}

// openMigrations returns the migrations of a database with one cluster.
func openMigrations(t *testing.T) (*goose.Provider, *sql.DB) {
	url, clock := pgtest.New(t), storetest.NewClock()
	s := storetest.OpenAt(t, url, db.Options{Limits: storetest.Limits, Lease: 15 * time.Minute, Now: clock.Now})
	storetest.Accept(t, s, storetest.Granted("shop"))
	database, err := sql.Open("pgx", url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, database.Close()) })
	p, err := goose.NewProvider(goose.DialectPostgres, database, migrations.FS)
	require.NoError(t, err)
	return p, database
}
