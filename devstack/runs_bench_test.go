package devstack_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/devstack/oidc"
)

// BenchmarkCancelToTeardown measures from the moment GitHub cancels a workflow run to the moment the runner that tears the run's cluster
// down has begun: webhook, inbox, GitHub's word on the run, the end, decision, launch, claim. Each round is twenty runs that are cancelled
// one after the other, and then twenty at the same time.
func BenchmarkCancelToTeardown(b *testing.B) {
	const many = 20
	l := newLifeOf(b, devstack.Config{Hour: time.Hour, Pace: 5 * time.Millisecond})
	l.trustWorkflows()
	for b.Loop() {
		one, together := l.runsWithClusters(many), l.runsWithClusters(many)
		var took []time.Duration
		for _, r := range one {
			took = append(took, l.cancelled(r))
		}
		reportTook(b, "one-", took)
		began := time.Now()
		for _, r := range together {
			require.NoError(b, l.GitHub.Runs().Cancel(r.run, "maya"))
		}
		l.runUntil("all are torn down", time.Minute, func() bool {
			return l.count(`SELECT count(DISTINCT cluster_id) FROM attempts WHERE kind = 'destroy' AND claimed_at IS NOT NULL AND cluster_id = ANY ($1)`, clustersOf(together)) == many
		})
		rows, err := l.pool.Query(l.ctx, `SELECT min(claimed_at) FROM attempts WHERE kind = 'destroy' AND cluster_id = ANY ($1) GROUP BY cluster_id`, clustersOf(together))
		require.NoError(b, err)
		took = nil
		for rows.Next() {
			var at time.Time
			require.NoError(b, rows.Scan(&at))
			took = append(took, at.Sub(began))
		}
		require.NoError(b, rows.Err())
		reportTook(b, "together-", took)
	}
}

func reportTook(b *testing.B, what string, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, what+"p50-ms")
	b.ReportMetric(float64(took[(len(took)-1)*99/100].Microseconds())/1000, what+"p99-ms")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, what+"max-ms")
}

// runWithCluster is a workflow run and the cluster that it asked for.
type runWithCluster struct {
	run     int64
	cluster string
}

func clustersOf(all []runWithCluster) (ids []string) {
	for _, r := range all {
		ids = append(ids, r.cluster)
	}
	return ids
}

// trustWorkflows starts the server again, and it takes the tokens of the stack's issuer for those of jobs of GitHub Actions.
func (l *life) trustWorkflows() {
	require.NoError(l.t, l.StopServer())
	config := filepath.Join(l.Dir, "server.yaml")
	raw, err := os.ReadFile(config)
	require.NoError(l.t, err)
	text := strings.Replace(string(raw), "audience: ocpctl, roles: true}", "audience: ocpctl, platform: github}", 1)
	require.NotEqual(l.t, string(raw), text)
	require.NoError(l.t, os.WriteFile(config, []byte(text), 0o600))
	// For GitHub, an identity has to name repositories: that of a service account is not of GitHub.
	identities := filepath.Join(l.Dir, "catalogue", "identities", "demo.yaml")
	raw, err = os.ReadFile(identities)
	require.NoError(l.t, err)
	lines := slices.DeleteFunc(strings.Split(string(raw), "\n"), func(line string) bool { return strings.Contains(line, "kubernetes.io.namespace") })
	require.NoError(l.t, os.WriteFile(identities, []byte(strings.Join(lines, "\n")), 0o600))
	require.NoError(l.t, l.StartServer(l.ctx))
}

// runsWithClusters starts runs whose only job asks for a cluster, and waits until all of these are ready.
func (l *life) runsWithClusters(many int) (all []runWithCluster) {
	for range many {
		run, err := l.GitHub.Runs().Start(github.NewRun{})
		require.NoError(l.t, err)
		job := run.Jobs[0].ID
		require.NoError(l.t, l.GitHub.Runs().Begin(job))
		claims, err := l.GitHub.Runs().Claims(job)
		require.NoError(l.t, err)
		token, err := l.OIDC.Token(oidc.Claims{Subject: fmt.Sprint(claims["sub"]), More: claims})
		require.NoError(l.t, err)
		asked := map[string]any{"name": fmt.Sprintf("run-%d", run.ID), "profile": "aws-minimal-test"}
		made := visitor{l, token}.create(asked, fmt.Sprint(run.ID))
		all = append(all, runWithCluster{run.ID, made.ClusterID})
	}
	l.askUntil("all are ready", 3*time.Minute, 100*time.Millisecond, func() bool {
		return l.count(`SELECT count(*) FROM clusters WHERE status = 'READY' AND id = ANY ($1)`, clustersOf(all)) == many
	})
	bound := ask[v1.ClusterDetail](l.as("admin"), http.MethodGet, "/api/v1/clusters/"+all[0].cluster, nil, http.StatusOK)
	require.True(l.t, bound.Run.Watched)
	return all
}

// cancelled cancels a run, and returns how long it takes until a runner tears its cluster down.
func (l *life) cancelled(r runWithCluster) time.Duration {
	began := time.Now()
	require.NoError(l.t, l.GitHub.Runs().Cancel(r.run, "maya"))
	l.runUntil("it is torn down", time.Minute, func() bool {
		return l.count(`SELECT count(*) FROM attempts WHERE kind = 'destroy' AND claimed_at IS NOT NULL AND cluster_id = $1`, r.cluster) > 0
	})
	return time.Since(began)
}
