package store_test

import (
	"context"
	"database/sql"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/migrations"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/storetest"
)

func TestTheMigrationsGoUpDownAndUpAgain(t *testing.T) {
	t.Parallel()
	url := pgtest.Empty(t)
	db, err := sql.Open("pgx", url)
	require.NoError(t, err)
	defer db.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, db, migrations.FS)
	require.NoError(t, err)
	tables := func() (n int) {
		require.NoError(t, db.QueryRow(`SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
			WHERE n.nspname = 'public' AND c.relkind = 'r' AND c.relname <> 'goose_db_version'`).Scan(&n))
		return n
	}
	_, err = p.Up(t.Context())
	require.NoError(t, err)
	require.Equal(t, 84, tables())
	_, err = p.Down(t.Context()) // the newest
	require.NoError(t, err)
	_, err = p.Up(t.Context())
	require.NoError(t, err)
	require.Equal(t, 84, tables())
	_, err = p.DownTo(t.Context(), 0)
	require.NoError(t, err)
	require.Zero(t, tables())
	var functions int
	require.NoError(t, db.QueryRow(`SELECT count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = 'public'`).Scan(&functions))
	require.Zero(t, functions)
	_, err = p.Up(t.Context())
	require.NoError(t, err)

	require.NoError(t, store.Migrate(t.Context(), url), "and River's beside them")
	require.NoError(t, store.Migrate(t.Context(), url), "twice is once")
}

func TestEveryPhaseOfTheHeartIsKnownToTheTable(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	_, err := s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya", Why: "done"}) // released needs an absent request
	require.NoError(t, err)
	all := map[lifecycle.Phase]bool{}
	for _, phases := range lifecycle.Phases {
		for _, p := range phases {
			all[p] = true
		}
	}
	const set = `UPDATE clusters SET status = $2, phase = $3, destroyed_at = CASE WHEN $2 = 'DESTROYED' THEN now() END WHERE id = $1`
	for status, phases := range lifecycle.Phases {
		own := map[lifecycle.Phase]bool{}
		for _, p := range phases {
			own[p] = true
		}
		for p := range all {
			if status == lifecycle.Destroyed {
				continue // final: tested at the end
			}
			_, err := s.Pool().Exec(t.Context(), set, row.ID, status, p)
			if own[p] {
				require.NoError(t, err, "%s/%s", status, p)
			} else {
				require.ErrorContains(t, err, "clusters_status_phase", "%s/%s", status, p)
			}
		}
	}
	storetest.Refuses(t, s, "clusters_status_phase", set, row.ID, lifecycle.Destroyed, lifecycle.Verifying)
	_, err = s.Pool().Exec(t.Context(), set, row.ID, lifecycle.Destroyed, lifecycle.Released)
	require.NoError(t, err)
	storetest.Refuses(t, s, "only a leak whose removal is allowed opens its teardown again", set, row.ID, lifecycle.Ready, lifecycle.PhaseReady)
}

func TestTheClustersTableKeepsItsRules(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.FromPR(storetest.Granted("shop"), 41))
	for set, words := range map[string]string{
		"platform = 'ibmcloud'":                   "never changes",
		"profile = 'other'":                       "never changes",
		"base_domain = 'other.example.com'":       "never changes",
		"spec = '{}'":                             "never changes",
		"end_max = end_max + interval '1 hour'":   "never changes",
		"end_ttl = end_max + interval '1 second'": "clusters_end_within_max",
		"destroy_at = now()":                      "destroy_at",
		`desired = 'maybe', desired_why = '{"code":"other","words":"x"}'`: "clusters_absent_says_why",
		"desired = 'absent'": "clusters_absent_says_why",
		`desired_why = '{"code":"other","words":"because"}'`: "clusters_absent_says_why",
		"wake_at = NULL":       "clusters_never_sleep",
		"destroyed_at = now()": "clusters_released",
		"status = 'DESTROYED', phase = 'released', destroyed_at = now()": "clusters_released_unwanted",
		"row_version = 0":        "only rise",
		"pokes = 0":              "only rise",
		"why = '{}'":             "clusters_why_check",
		"pr_head = NULL":         "came from never changes",
		"generation = 2":         "came from never changes",
		"repo = 'acme/web'":      "by a renaming alone",
		"installation = 7":       "by a renaming alone",
		"progress_percent = 101": "clusters_progress_percent_check",
	} {
		storetest.Refuses(t, s, words, `UPDATE clusters SET `+set+` WHERE id = $1`, row.ID)
	}
	pull := map[string]string{"installation": "5001", "repo": "'acme/shop'", "pr_number": "41", "pr_head": "'abc123'"}
	for missing := range pull {
		names, values := "", ""
		for name, value := range pull {
			if name != missing {
				names, values = names+name+", ", values+value+", "
			}
		}
		half := strings.Replace(storetest.Before(storetest.NewClock())[0], "(id,", "("+names+"id,", 1)
		half = strings.NewReplacer(" door,", " source,", "'because'", `'{"words": "because"}'`).Replace(half)
		storetest.Refuses(t, s, "clusters_pull_request", strings.Replace(half, "VALUES (", "VALUES ("+values, 1))
	}
	_, err := s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya", Why: "done"})
	require.NoError(t, err)
	storetest.Refuses(t, s, "absent, which is final", `UPDATE clusters SET desired = 'present', desired_why = '{}' WHERE id = $1`, row.ID)

	bad := storetest.Granted("secret")
	bad.Row.Spec.InstallConfig = "apiVersion: v1\npullSecret: '{}'\n"
	_, err = storetest.Judge(s, storetest.Requests(bad), bad)
	require.ErrorIs(t, err, db.ErrConflict)
	for _, name := range []string{"1shop", "shop-", "Shop", "a23456789012345678901z", ""} {
		_, err := storetest.Judge(s, storetest.Requests(storetest.Granted(name)), storetest.Granted(name))
		require.ErrorIs(t, err, db.ErrConflict, name)
	}
}

func TestTheAttemptsTableIsAFence(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row, open := storetest.Claimed(t, s, "shop")
	const insert = `INSERT INTO attempts (id, cluster_id, job_id, number, kind, token_id, opened_at, phase)
		VALUES ($1, $2, $3, $4, 'create', $1, now(), 'preflight')`
	storetest.Refuses(t, s, "attempts_one_open", insert, "att_2", row.ID, row.JobID, 2)
	storetest.Refuses(t, s, "only rise", insert, "att_1", row.ID, row.JobID, 1)
	storetest.Refuses(t, s, "written once", `UPDATE attempts SET claimed_by = 'pod-2'`)
	storetest.Refuses(t, s, "written once", `UPDATE attempts SET number = 7`)
	storetest.Refuses(t, s, "written once", `UPDATE attempts SET token_id = 'another'`)
	storetest.Refuses(t, s, "attempts_recorded", `UPDATE attempts SET recorded_at = now()`)
	storetest.Refuses(t, s, "recorded with its account and region", `UPDATE attempts SET cco_name = 'x', recorded_at = now()`)
	storetest.Refuses(t, s, "everything a teardown needs", `UPDATE attempts SET infra_id = 'x', recorded_at = now()`)
	storetest.Refuses(t, s, "a snapshot of its install directory", `UPDATE attempts SET infra_id = 'x', recorded_at = now(),
		cluster_uuid = 'x', account = 'x', region = 'x', release_digest = 'x', metadata = 'x'`)
	storetest.Refuses(t, s, "attempts_whose_check", `UPDATE attempts SET whose = 'nobody'`)
	storetest.Refuses(t, s, "attempts_cancelled_unclaimed", `UPDATE attempts SET closed_at = now(), outcome = 'cancelled'`)
	storetest.Refuses(t, s, "attempts_closed", `UPDATE attempts SET closed_at = now()`)
	storetest.Refuses(t, s, "fence and stays", `DELETE FROM attempts`)
	_, err := s.Record(t.Context(), open.Attempt, open.Token, storetest.Identity("demo-abcde"), storetest.Bundles("demo-abcde"))
	require.NoError(t, err)
	for _, column := range []string{"infra_id", "cluster_uuid", "account", "region", "release_digest", "metadata", "installer_sha256"} {
		storetest.Refuses(t, s, "written once", `UPDATE attempts SET `+column+` = 'another'`)
	}
	_, err = s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure})
	require.NoError(t, err)
	storetest.Refuses(t, s, "closed, which is final", `UPDATE attempts SET outcome = 'succeeded'`)

	_, err = s.Destroy(t.Context(), row.ID, clusters.Origin{Actor: "github:maya", Why: "done"})
	require.NoError(t, err)
	storetest.Refuses(t, s, "no proof of zero",
		`UPDATE clusters SET status = 'DESTROYED', phase = 'released', destroyed_at = now() WHERE id = $1`, row.ID)
	_, err = s.Pool().Exec(t.Context(), insert, "att_2", row.ID, row.JobID, 2)
	require.NoError(t, err)
	storetest.Refuses(t, s, "has an open attempt",
		`UPDATE clusters SET status = 'DESTROYED', phase = 'released', destroyed_at = now() WHERE id = $1`, row.ID)
	storetest.Refuses(t, s, "verifications_clean", `INSERT INTO verifications
		VALUES ('att_2', 1, now(), '1', '{}', '', '[]', '[]', '[]', true)`)
}

func TestTheOtherTablesKeepTheirRules(t *testing.T) {
	t.Parallel()
	s, _ := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.FromPR(storetest.Granted("shop"), 41))
	const job = `INSERT INTO jobs (id, cluster_id, job_type, status, created_at, started_at) VALUES ($1, $2, $3, $4, now(), now())`
	_, err := s.Pool().Exec(t.Context(), job, "job_1", row.ID, "DESTROY", "RUNNING")
	require.NoError(t, err, "a destroy may stand beside a waiting create")
	storetest.Refuses(t, s, "jobs_one_running", job, "job_2", row.ID, "SCALE_WORKERS", "RUNNING")
	storetest.Refuses(t, s, "jobs_one_unfinished_per_type", job, "job_2", row.ID, "DESTROY", "PENDING")
	storetest.Refuses(t, s, "jobs_job_type_check", job, "job_2", row.ID, "a dance", "PENDING")
	storetest.Refuses(t, s, "jobs_ended", job, "job_2", row.ID, "TAG", "SUCCEEDED")

	storetest.Refuses(t, s, "append-only", `UPDATE audit_events SET actor = 'nobody'`)
	storetest.Refuses(t, s, "append-only", `DELETE FROM audit_events`)
	storetest.Refuses(t, s, "append-only", `TRUNCATE audit_events`)

	const place = `INSERT INTO subscribers (id, cluster_id, kind, installation, repo, number, head, left_behind, wanted_version, nudge_at)
		SELECT 'sub_2', cluster_id, kind, installation, repo, number, $2, $3, 1, now() FROM subscribers WHERE kind = $1`
	storetest.Refuses(t, s, "subscribers_one_place", place, "github_comment", "other", false)
	storetest.Refuses(t, s, "subscribers_one_check", place, "github_check", "abc123", false)
	storetest.Refuses(t, s, "subscribers_left_check", place, "github_deployment", "abc123", true)
	const effect = `INSERT INTO effects (id, cause, kind, installation, repo, number, target, content, created_at, nudge_at)
		VALUES ('eff_1', 'c', $1, 1, 'acme/shop', $2, $3, $4, now(), now())`
	storetest.Refuses(t, s, "effects_kind_check", effect, "dance", 41, 0, "x")
	storetest.Refuses(t, s, "effects_target", effect, "react", 41, 0, "eyes")
	storetest.Refuses(t, s, "effects_content", effect, "remove_label", 41, 0, "")
	storetest.Refuses(t, s, "effects_number", effect, "add_label", 0, 0, "ocp/x")
	storetest.Refuses(t, s, "pull_requests_merged_is_closed", `INSERT INTO pull_requests (repo, number, installation, open, merged, fork, labels, author, head, base,
		updated_at, seen_at) VALUES ('acme/shop', 1, 1, true, true, false, '{}', '', '', '', now(), now())`)
	storetest.Refuses(t, s, "request_keys_pkey", `INSERT INTO request_keys (principal, key, cluster_id, created_at) VALUES ('p', 'k', $1, now()), ('p', 'k', $1, now())`, row.ID)
	storetest.Refuses(t, s, "request_keys_check", `INSERT INTO request_keys (principal, key, created_at) VALUES ('p', 'k', now())`)
	storetest.Refuses(t, s, "cluster_requests_check", `INSERT INTO cluster_requests
		(id, principal_id, source, allowed, verdict, request, created_at) VALUES ('req_3', 'p', 'd', true, '{}', '{}', now())`)
	storetest.Refuses(t, s, "cluster_outputs_kubeadmin_secret_ref_check", `INSERT INTO cluster_outputs VALUES ($1, '', '', '', 'plain text', '')`, row.ID)
	storetest.Refuses(t, s, "artifacts_checksum_check", `INSERT INTO artifacts
		VALUES ($1, 'att_1', 'LOG', 'k', '', 'short', 1, '', now(), now())`, row.ID)
	require.NoError(t, s.Audit(t.Context(), clusters.Origin{Actor: "github:maya"}, "kubeconfig.read", row.ID, map[string]string{"name": "shop"}))
	events, err := s.Timeline(t.Context(), row.ID)
	require.NoError(t, err)
	require.Equal(t, "kubeconfig.read", events[len(events)-1].Action)
	require.JSONEq(t, `{"name":"shop"}`, string(events[len(events)-1].Meta))
	require.Equal(t, time.UTC, events[0].At.Location())
}

// The column that finds what is due and the function that decides say the same of all ends.
func TestTheTableAndTheHeartAgreeWhenAClusterEnds(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row := storetest.Accept(t, s, storetest.Granted("shop"))
	span := int64(row.Ends.Max.Sub(clock.Now()) / time.Second)
	rapid.Check(t, func(t *rapid.T) {
		moment := func(name string, from, to int64) time.Time {
			return clock.Now().Add(time.Duration(rapid.Int64Range(from, to).Draw(t, name)) * time.Second)
		}
		maybe := func(name string, to int64) time.Time {
			if !rapid.Bool().Draw(t, "has "+name) {
				return time.Time{}
			}
			return moment(name, -span, to)
		}
		ends := lifecycle.Ends{
			Max: row.Ends.Max, TTL: moment("ttl", -span, span), PRClosed: maybe("pr", 2*span), LabelRemoved: maybe("label", 2*span),
			RunFinished: maybe("run", 2*span), Claim: maybe("claim", 2*span), Idle: maybe("idle", 2*span), Hold: maybe("hold", span), Drain: maybe("drain", 2*span),
		}
		null := func(at time.Time) any {
			if at.IsZero() {
				return nil
			}
			return at
		}
		var at time.Time
		require.NoError(t, s.Pool().QueryRow(context.Background(), `
			UPDATE clusters SET end_ttl = $2, end_pr_closed = $3, end_label_removed = $4, end_run_finished = $5, end_claim = $6, end_hold = $7, end_drain = $9,
				drain_why = CASE WHEN $9::timestamptz IS NULL THEN '{}' ELSE '{"code": "drain"}'::jsonb END,
				idle_tell = '1h', idle_end = '2h', end_idle = $8, hold_why = CASE WHEN $7::timestamptz IS NULL THEN '' ELSE 'x' END
			WHERE id = $1 RETURNING destroy_at`, row.ID, ends.TTL, null(ends.PRClosed), null(ends.LabelRemoved), null(ends.RunFinished),
			null(ends.Claim), null(ends.Hold), null(ends.Idle), null(ends.Drain)).Scan(&at))
		require.Equal(t, ends.DestroyAt(), at.UTC(), "%+v", ends)
	})
}

// Whoever upgrades has accounts in which there are clusters. They go on until a proof says otherwise.
func TestAnUpgradeMarksTheAccountsThatAreUsed(t *testing.T) {
	t.Parallel()
	url := pgtest.New(t)
	s := storetest.OpenAt(t, url, db.Options{Limits: storetest.Limits, Lease: time.Minute})
	ask, g := inAccount("one", "aws-one", "111111111111")
	_, err := storetest.Judge(s, ask, g)
	require.NoError(t, err)
	raw, err := sql.Open("pgx", url)
	require.NoError(t, err)
	defer raw.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, raw, migrations.FS)
	require.NoError(t, err)
	_, err = p.DownTo(t.Context(), 107)
	require.NoError(t, err)
	_, err = p.Up(t.Context())
	require.NoError(t, err)
	known, err := s.Scans.Proofs(t.Context())
	require.NoError(t, err)
	require.Len(t, known, 1)
	require.Equal(t, []any{"aws", "111111111111", "", true, false}, []any{known[0].Platform, known[0].Account, known[0].Version, known[0].Used, known[0].Open})
}
