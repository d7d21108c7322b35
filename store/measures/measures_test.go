package measures_test

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/metrics"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/db"
	"github.com/ocpctl/ocpctl/store/measures"
	"github.com/ocpctl/ocpctl/store/scans"
	"github.com/ocpctl/ocpctl/store/storetest"
)

// scraper is the token with which metrics name teams and profiles.
var scraper = secret.New("scraper")

// scrape returns what Prometheus reads, one line for each series.
func scrape(t *testing.T, m *metrics.Metrics) []string {
	t.Helper()
	r := httptest.NewRequest("GET", "/metrics", nil)
	r.Header.Set("Authorization", "Bearer "+scraper.Reveal())
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, r)
	return regexp.MustCompile(`(?m)^ocpctl_.*$`).FindAllString(answer.Body.String(), -1)
}

func TestEveryReplicaCountsEachAttemptOnceAlsoAfterARestart(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	first := metrics.New(metrics.Config{Token: scraper, Store: s, Every: -1, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	require.Contains(t, scrape(t, first), `ocpctl_attempts_total{kind="create",outcome="failed",reason=""} 0`, "shown before the first one")

	_, open := storetest.Claimed(t, s, "shop")
	for seq, phase := range []lifecycle.Phase{lifecycle.Rendering, lifecycle.Installing} {
		_, err := s.Attempts.Report(t.Context(), open.Attempt, open.Token, attempts.ReportRow{Seq: seq + 1, Phase: phase})
		require.NoError(t, err)
		clock.Pass(100 * time.Second)
	}
	_, err := s.Attempts.Result(t.Context(), open.Attempt, open.Token, attempts.ResultRow{Outcome: lifecycle.Failure, Reason: "BootstrapFailed"})
	require.NoError(t, err)
	failed := `ocpctl_attempts_total{kind="create",outcome="failed",reason="BootstrapFailed"} 1`
	require.NotContains(t, scrape(t, first), failed, "an earlier transaction may still commit")
	clock.Pass(time.Minute)
	for range 2 {
		require.Contains(t, scrape(t, first), failed)
	}
	clock.Pass(time.Hour)
	second := metrics.New(metrics.Config{Token: scraper, Store: s, Every: -1, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	for _, m := range []*metrics.Metrics{first, second} {
		series := scrape(t, m)
		for _, want := range []string{
			failed, `ocpctl_database_up 1`,
			`ocpctl_attempt_duration_seconds_count{kind="create",outcome="failed",profile="aws-minimal-test"} 1`,
			`ocpctl_phase_duration_seconds_sum{kind="create",phase="rendering",profile="aws-minimal-test"} 100`,
			`ocpctl_phase_duration_seconds_bucket{kind="create",phase="installing",profile="aws-minimal-test",le="60"} 0`,
			`ocpctl_phase_duration_seconds_bucket{kind="create",phase="installing",profile="aws-minimal-test",le="120"} 1`,
			`ocpctl_runner_start_seconds_count{kind="create"} 1`, `ocpctl_teardowns_total{result="unaided"} 0`,
		} {
			require.Contains(t, series, want)
		}
	}
}

func TestAnAttemptThatNoRunnerClaimedCountsAsALateStart(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	row, _ := storetest.Launched(t, s, "shop")
	clock.Pass(storetest.Limits.LaunchPatience) // no more than the objective
	require.Equal(t, lifecycle.Lost, storetest.Step(t, s, row.ID).Close.Outcome)
	clock.Pass(time.Minute)
	series := scrape(t, metrics.New(metrics.Config{Token: scraper, Store: s, Every: -1, Log: slog.New(slog.NewTextHandler(t.Output(), nil))}))
	require.Contains(t, series, `ocpctl_runner_start_seconds_bucket{kind="create",le="60"} 0`)
	require.Contains(t, series, `ocpctl_runner_start_seconds_bucket{kind="create",le="120"} 1`)
}

func TestTheGaugesShowWhatWaits(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	m := metrics.New(metrics.Config{Token: scraper, Store: s, Every: -1, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	before := scrape(t, m)
	for _, want := range []string{
		`ocpctl_past_end_seconds{missing="teardown"} 0`, `ocpctl_attempt_unclaimed_seconds 0`, `ocpctl_runner_silence_seconds 0`,
		`ocpctl_leader 0`, `ocpctl_queue_oldest_seconds{queue="inbox"} 0`, `ocpctl_webhooks_waiting{source="github"} 0`, `ocpctl_messages_waiting{place="slack"} 0`,
	} {
		require.Contains(t, before, want)
	}
	for _, kind := range lifecycle.Kinds() {
		for _, state := range []string{"unclaimed", "claimed"} {
			require.Contains(t, before, fmt.Sprintf(`ocpctl_attempts_open{kind="%s",state="%s"} 0`, kind, state))
		}
	}
	row, waits := storetest.Launched(t, s, "shop")
	_, err := s.Inbox.SaveDelivery(t.Context(), storetest.Delivery("d-1"))
	require.NoError(t, err)
	clock.Pass(700 * time.Second)
	after := scrape(t, m)
	for _, want := range []string{
		`ocpctl_attempt_unclaimed_seconds 700`, `ocpctl_attempts_open{kind="create",state="unclaimed"} 1`, `ocpctl_webhooks_waiting{source="github"} 1`,
		`ocpctl_clusters_active{profile="aws-minimal-test",status="CREATING",team="acme/platform"} 1`,
	} {
		require.Contains(t, after, want)
	}
	require.True(t, slices.ContainsFunc(after, regexp.MustCompile(`^ocpctl_queue_jobs\{queue="inbox",state="available"\} 1`).MatchString))
	_, err = s.Attempts.Claim(t.Context(), waits.Attempt, waits.Token, "pod")
	require.NoError(t, err)
	clock.Pass(40 * time.Second)
	require.Contains(t, scrape(t, m), `ocpctl_runner_silence_seconds 40`)
	clock.Pass(row.DestroyAt.Sub(clock.Now()) + 90*time.Second)
	require.Contains(t, scrape(t, m), `ocpctl_past_end_seconds{missing="teardown"} 90`)
}

func TestTheAgeOfScansIsThatOfAccountsThatAreLookedThrough(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	m := metrics.New(metrics.Config{Token: scraper, Store: s, Every: -1, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	require.Contains(t, scrape(t, m), `ocpctl_scan_age_seconds 0`)
	storetest.Sees(t, s, nil)
	clock.Pass(10 * 24 * time.Hour)
	require.Contains(t, scrape(t, m), `ocpctl_scan_age_seconds 864000`)
	other := storetest.LabAccount
	other.Account = "210987654321"
	scan, _, err := s.Scans.Open(t.Context(), other, storetest.BySchedule)
	require.NoError(t, err)
	clock.Pass(5 * 24 * time.Hour)
	require.Contains(t, scrape(t, m), `ocpctl_scan_age_seconds 432000`, "the first account is in no catalogue any more, and the other's first scan never ended")
	require.NoError(t, s.Scans.Close(t.Context(), scan.ID, 1, scans.ResultRow{Outcome: lifecycle.Lost}))
	_, _, err = s.Scans.Open(t.Context(), other, storetest.BySchedule)
	require.NoError(t, err)
	require.Contains(t, scrape(t, m), `ocpctl_scan_age_seconds 432000`)
}

func TestEveryMeasureReadsOnlyWhatIsNew(t *testing.T) {
	t.Parallel()
	s, clock := storetest.Open(t)
	for _, m := range measures.All() {
		_, until, err := s.Measures.Counted(t.Context(), m, time.Time{})
		require.NoError(t, err, m.Name)
		require.True(t, until.Before(clock.Now()), m.Name)
		counts, again, err := s.Measures.Counted(t.Context(), m, until)
		require.NoError(t, err, m.Name)
		require.Empty(t, counts)
		require.Equal(t, until, again)
	}
}

// BenchmarkScrape reads the metrics of 10,000 living and 20,000 destroyed clusters with an attempt each: as a process that just started
// does, and as it does later.
func BenchmarkScrape(b *testing.B) {
	url := pgtest.New(b)
	s := storetest.OpenAt(b, url, db.Options{Limits: storetest.Limits, Lease: 15 * time.Minute})
	storetest.Crowd(b, s, storetest.Accept(b, s, storetest.FromPR(storetest.Granted("seed"), 41)).ID)
	for _, sql := range []string{
		`ALTER TABLE attempts DISABLE TRIGGER USER`, `UPDATE attempts SET closed_at = closed_at - interval '1 minute', claimed_at = claimed_at - interval '1 minute'`, `ANALYZE`,
	} {
		_, err := s.Pool().Exec(b.Context(), sql)
		require.NoError(b, err)
	}
	read := func(m *metrics.Metrics) {
		answer := httptest.NewRecorder()
		m.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
		require.Contains(b, answer.Body.String(), "ocpctl_database_up 1")
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			read(metrics.New(metrics.Config{Token: scraper, Store: s, Every: -1}))
		}
	})
	b.Run("next", func(b *testing.B) {
		m := metrics.New(metrics.Config{Token: scraper, Store: s, Every: -1})
		read(m)
		for b.Loop() {
			read(m)
		}
	})
}
