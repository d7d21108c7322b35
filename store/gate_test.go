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
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/db"
)

func TestNothingIsRecordedWithoutWhatItsTeardownNeeds(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	row, open := claimed(t, s, "shop")
	for name, spoil := range map[string]func(*attempts.IdentityRow, *[]attempts.ArtifactRow){
		"clusterUuid":   func(i *attempts.IdentityRow, _ *[]attempts.ArtifactRow) { i.ClusterUUID = "" },
		"account":       func(i *attempts.IdentityRow, _ *[]attempts.ArtifactRow) { i.Account = "" },
		"region":        func(i *attempts.IdentityRow, _ *[]attempts.ArtifactRow) { i.Region = "" },
		"releaseDigest": func(i *attempts.IdentityRow, _ *[]attempts.ArtifactRow) { i.ReleaseDigest = "" },
		"metadata":      func(i *attempts.IdentityRow, _ *[]attempts.ArtifactRow) { i.Metadata = "" },
		"no snapshot":   func(_ *attempts.IdentityRow, list *[]attempts.ArtifactRow) { *list = nil },
		"another's":     func(_ *attempts.IdentityRow, list *[]attempts.ArtifactRow) { (*list)[0].InfraID = "demo-zzzzz" },
		"no destroyer's": func(_ *attempts.IdentityRow, list *[]attempts.ArtifactRow) {
			(*list)[0].Type = "AUTH_BUNDLE"
		},
		"no checksum": func(_ *attempts.IdentityRow, list *[]attempts.ArtifactRow) { (*list)[0].SHA256 = "" },
		"ccoctl's place": func(i *attempts.IdentityRow, _ *[]attempts.ArtifactRow) {
			*i = attempts.IdentityRow{CCOName: "demo-cco"}
		},
		"a made-up program": func(i *attempts.IdentityRow, _ *[]attempts.ArtifactRow) { i.InstallerSHA256 = "latest" },
	} {
		id, list := identity("demo-abcde"), bundles("demo-abcde")
		spoil(&id, &list)
		_, err := s.Record(t.Context(), open.Attempt, open.Token, id, list)
		require.ErrorIs(t, err, db.ErrConflict, name)
	}
	now, err := s.Cluster(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Preflight, now.Phase)
	require.Zero(t, count(t, s, `SELECT count(*) FROM artifacts`))

	older := identity("demo-abcde")
	older.InstallerSHA256 = ""
	_, err = s.Record(t.Context(), open.Attempt, open.Token, older, bundles("demo-abcde"))
	require.NoError(t, err, "an older runner does not tell its installer's checksum")
}

func TestEachRecordMovesThePhase(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	row, open := claimed(t, s, "shop")
	phase := func() lifecycle.Phase {
		now, err := s.Cluster(t.Context(), row.ID)
		require.NoError(t, err)
		return now.Phase
	}
	whole := identity("demo-abcde")
	whole.CCOName = "demo-cco"
	claim := attempts.IdentityRow{CCOName: "demo-cco", Account: whole.Account, Region: whole.Region, ReleaseDigest: whole.ReleaseDigest, InstallerSHA256: whole.InstallerSHA256}
	_, err := s.Record(t.Context(), open.Attempt, open.Token, claim, nil)
	require.NoError(t, err)
	require.Equal(t, lifecycle.Claiming, phase())
	claim.ResourceGroupID = strings.Repeat("0a", 16)
	_, err = s.Record(t.Context(), open.Attempt, open.Token, claim, nil)
	require.NoError(t, err, "its id is known once it is made")
	require.Equal(t, lifecycle.Claiming, phase())
	refuses(t, s, "written once", `UPDATE attempts SET resource_group_id = $1`, strings.Repeat("0b", 16))
	claim.ResourceGroupID = strings.Repeat("0b", 16)
	_, err = s.Record(t.Context(), open.Attempt, open.Token, claim, nil)
	var wrong *attempts.Contradiction
	require.ErrorAs(t, err, &wrong)
	require.Equal(t, "resourceGroupId", wrong.Field)
	_, err = s.Record(t.Context(), open.Attempt, open.Token, whole, bundles("demo-abcde"))
	require.NoError(t, err)
	require.Equal(t, lifecycle.Installing, phase())
	spec, err := s.Attempts.AttemptSpec(t.Context(), open.Attempt)
	require.NoError(t, err)
	whole.ResourceGroupID = strings.Repeat("0a", 16)
	require.Equal(t, []attempts.IdentityRow{whole}, spec.Identities)
}

func TestARecordThatContradictsWhatIsKnownNamesTheField(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	a := granted("shop")
	a.Row.Spec.Account = "123456789012"
	row := accept(t, s, a)
	step(t, s, row.ID)
	open, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-1")
	require.NoError(t, err)
	record := func(change func(*attempts.IdentityRow)) error {
		id := identity("demo-abcde")
		change(&id)
		_, err := s.Record(t.Context(), open.Attempt, open.Token, id, bundles("demo-abcde"))
		return err
	}
	var wrong *attempts.Contradiction
	require.ErrorAs(t, record(func(i *attempts.IdentityRow) { i.Account = "999999999999" }), &wrong, "the account it was accepted for")
	require.Equal(t, attempts.Contradiction{Field: "account", Have: "123456789012", Said: "999999999999"}, *wrong)
	require.ErrorAs(t, record(func(i *attempts.IdentityRow) { i.Region = "eu-west-1" }), &wrong)
	require.Equal(t, "region", wrong.Field)
	require.NoError(t, record(func(*attempts.IdentityRow) {}))
	require.ErrorAs(t, record(func(i *attempts.IdentityRow) { i.InstallerSHA256 = strings.Repeat("f", 64) }), &wrong)
	require.Equal(t, "installerSha256", wrong.Field)

	replaced := bundles("demo-abcde")
	replaced[0].SHA256 = strings.Repeat("f", 64)
	_, err = s.Record(t.Context(), open.Attempt, open.Token, identity("demo-abcde"), replaced)
	require.ErrorAs(t, err, &wrong, "an archive is written once")
	require.ErrorIs(t, err, db.ErrConflict)
}

// A cluster's later attempts stay in the account where the first one recorded something.
func TestALaterAttemptStaysInTheAccountOfTheFirst(t *testing.T) {
	t.Parallel()
	s, clock := open(t)
	row, open := claimed(t, s, "shop")
	_, err := s.Record(t.Context(), open.Attempt, open.Token, identity("demo-abcde"), bundles("demo-abcde"))
	require.NoError(t, err)
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "BootstrapFailed", Retryable: true})
	require.NoError(t, err)
	require.Equal(t, lifecycle.Cleaning, settled(t, s, row.ID).Phase)
	clock.pass(limits.RetryMax / 100)
	require.Equal(t, lifecycle.Destroy, step(t, s, row.ID).Open, "a retry begins with a teardown")
	destroyer, err := s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	zero(t, s, clock, destroyer)
	step(t, s, row.ID)
	open, err = s.Attempts.OpenAttempt(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []any{3, lifecycle.Create}, []any{open.Number, open.Kind})
	_, err = s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-3")
	require.NoError(t, err)
	moved := identity("demo-fghij")
	moved.Account = "999999999999"
	_, err = s.Record(t.Context(), open.Attempt, open.Token, moved, bundles("demo-fghij"))
	require.ErrorContains(t, err, `account is "999999999999"`)
	_, err = s.Record(t.Context(), open.Attempt, open.Token, identity("demo-fghij"), bundles("demo-fghij"))
	require.NoError(t, err)
}

// zero claims a destroy attempt and brings the proof that nothing is left of demo-abcde.
func zero(t testing.TB, s *store.Store, clock *clock, open attempts.LaunchSpec) {
	t.Helper()
	_, err := s.Attempts.Claim(t.Context(), open.Attempt, open.Token, "pod-"+open.Attempt)
	require.NoError(t, err)
	for i, report := range []attempts.ReportRow{{ToolExit: &attempts.ToolExitRow{}}, {Pass: pass(1)}, {Pass: pass(2)}} {
		clock.pass(limits.VerifyGap * 1000)
		report.Seq, report.Phase = i+1, lifecycle.Verifying
		_, err = s.Attempts.Report(t.Context(), open.Attempt, open.Token, report)
		require.NoError(t, err)
	}
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Succeeded})
	require.NoError(t, err)
}

func TestAFailureSaysWhoseItIs(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	row, open := claimed(t, s, "shop")
	failed := attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "VPCLimitExceeded", Message: "5 of 5", Whose: "quota", Next: "raise L-F678F1CE"}
	for range 2 {
		lease, err := s.Attempts.Result(t.Context(), open.Attempt, open.Token, failed)
		require.NoError(t, err)
		require.Equal(t, attempts.Lease{Closed: true}, lease, "the same result again is answered alike")
	}
	now := settled(t, s, row.ID)
	require.Equal(t, []string{"VPCLimitExceeded", "5 of 5", "quota", "raise L-F678F1CE"}, []string{now.FailReason, now.FailMessage, now.FailWhose, now.FailNext})
	attempts, err := s.Attempts.List(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, []string{"quota", "raise L-F678F1CE"}, []string{attempts[0].Whose, attempts[0].Next})
}

// A database of the release before, with rows in it, goes up, works, goes down and up again.
func TestADatabaseWithRowsGoesUpAndDown(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	database, err := sql.Open("pgx", url)
	require.NoError(t, err)
	defer database.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, database, migrations.FS)
	require.NoError(t, err)
	_, err = p.UpTo(t.Context(), 6)
	require.NoError(t, err)
	clock := newClock()
	for _, sql := range before(clock) {
		_, err := database.Exec(sql)
		require.NoError(t, err, sql)
	}

	require.NoError(t, store.Migrate(t.Context(), url))
	s := openAt(t, url, db.Options{Limits: limits, Lease: 15 * time.Minute, Now: clock.now})
	row, err := s.Cluster(t.Context(), "clu_old")
	require.NoError(t, err)
	require.Equal(t, []any{lifecycle.Installing, "", 0, []string{"demo-abcde"}}, []any{row.Phase, row.FailWhose, row.Position, row.Identities})
	_, err = s.Attempts.Report(t.Context(), "att_old", "token", attempts.ReportRow{Seq: 1, Phase: lifecycle.Installing, Percent: 50})
	require.NoError(t, err, "an attempt that was recorded before goes on")
	spec, err := s.Attempts.AttemptSpec(t.Context(), "att_old")
	require.NoError(t, err)
	require.Equal(t, attempts.IdentityRow{InfraID: "demo-abcde", Account: "123456789012"}, spec.Identities[0])
	_, err = s.Attempts.Result(t.Context(), "att_old", "token", attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "Late", Whose: "cloud", Next: "wait"})
	require.NoError(t, err)
	settled(t, s, "clu_old")
	fresh, _ := launched(t, s, "new")
	asks(t, s, fresh, demand(3, 0, nil))
	s.Close()

	_, err = p.DownTo(t.Context(), 6)
	require.NoError(t, err)
	var n int
	require.NoError(t, database.QueryRow(`SELECT count(*) FROM attempts WHERE outcome = 'failed' AND infra_id = 'demo-abcde'`).Scan(&n))
	require.Equal(t, 1, n)
	_, err = p.Up(t.Context())
	require.NoError(t, err)
	require.NoError(t, database.QueryRow(`SELECT count(*) FROM clusters WHERE fail_whose = ''`).Scan(&n))
	require.Equal(t, 2, n)
}

// before are rows as the release before wrote them: a cluster that installs, recorded without what is asked for now.
func before(clock *clock) []string {
	now := fmt.Sprintf("timestamptz '%s'", clock.now().Format("2006-01-02 15:04:05Z"))
	return []string{
		`INSERT INTO clusters (id, name, platform, version, profile, region, base_domain, owner, team, cost_center, environment, requested_by, door,
			ttl, hourly_cents, request_tags, effective_tags, spec, status, phase, why, max_tries, tries, wake_at, end_ttl, end_max, created_at, updated_at)
		VALUES ('clu_old', 'old', 'aws', '4.20.1', 'aws-minimal-test', 'us-east-1', 'labs.example.com', 'maya', 'acme/platform', 'cc', 'test', 'github:maya',
			'pr_label', '4 hours', 70, '{}', '{}', '{}', 'CREATING', 'installing', 'because', 2, 1, ` + now + `, ` + now + ` + interval '4 hours', ` + now +
			` + interval '8 hours', ` + now + `, ` + now + `)`,
		`INSERT INTO jobs (id, cluster_id, job_type, status, created_at, started_at, attempt) VALUES ('job_old', 'clu_old', 'CREATE', 'RUNNING', ` + now + `, ` + now + `, 1)`,
		`INSERT INTO attempts (id, cluster_id, job_id, number, kind, token_id, opened_at, claimed_by, claimed_at, lease_until, phase, recorded_at, infra_id, account)
		VALUES ('att_old', 'clu_old', 'job_old', 1, 'create', 'token', ` + now + `, 'pod', ` + now + `, ` + now + ` + interval '15 minutes', 'installing', ` + now + `, 'demo-abcde', '123456789012')`,
	}
}
