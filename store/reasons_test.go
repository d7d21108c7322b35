package store_test

import (
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
	url, clock := pgtest.New(t), storetest.NewClock()
	s := storetest.OpenAt(t, url, db.Options{Limits: storetest.Limits, Lease: 15 * time.Minute, Now: clock.Now})
	storetest.Accept(t, s, storetest.Granted("shop"))
	database, err := sql.Open("pgx", url)
	require.NoError(t, err)
	defer database.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, database, migrations.FS)
	require.NoError(t, err)
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
		_, err = p.DownTo(t.Context(), 71)
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
