package devstack_test

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/slack"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// BenchmarkLabelToManifests measures from the moment a person's label leaves GitHub to the moment the process
// `openshift-install create manifests` is executed: webhook, inbox, policy, acceptance, decision, launch, claim,
// preflight against the stand-in cloud, rendering. Each round is twenty labels, one after the other.
func BenchmarkLabelToManifests(b *testing.B) {
	const rounds = 20
	l := newLife(b, time.Hour)
	calls := l.spyOnInstaller()
	for b.Loop() {
		var took []time.Duration
		for i := range rounds {
			number := 41 + i%4
			began := time.Now()
			require.NoError(b, l.GitHub.Label(number, label, "maya"))
			var ran time.Time
			l.runUntil("create manifests", 20*time.Second, func() (ok bool) { ran, ok = firstCall(b, calls, "create manifests", began); return ok })
			took = append(took, ran.Sub(began))
			l.runUntil("ready", time.Minute, func() bool { return l.newest().Status == "READY" })
			_, err := l.GitHub.Comment(number, "/ocp destroy", "maya")
			require.NoError(b, err)
			require.NoError(b, l.GitHub.Unlabel(number, label, "maya"))
			l.runUntil("released", time.Minute, l.every(lifecycle.Released))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
	}
}

// BenchmarkInstallOverhead measures what ocpctl adds to an install: from the acceptance to the installer's `create cluster`, which is the first
// to write to the cloud, and from its end to READY. The programs of the stand-ins before it are part of the first. Each round is ten labels.
func BenchmarkInstallOverhead(b *testing.B) {
	const rounds = 10
	l := newLife(b, time.Hour)
	calls := l.spyOnInstaller()
	for b.Loop() {
		var before, after, both []time.Duration
		for i := range rounds {
			number := 41 + i%4
			began := time.Now()
			require.NoError(b, l.GitHub.Label(number, label, "maya"))
			l.runUntil("ready", time.Minute, func() bool { return l.newest().Status == "READY" })
			var accepted, ready time.Time
			require.NoError(b, l.pool.QueryRow(l.ctx, `SELECT created_at, ready_at FROM clusters WHERE id = $1`, l.newest().ID).Scan(&accepted, &ready))
			wrote, _ := firstCall(b, calls, "create cluster", began)
			ended, _ := firstCall(b, calls, "end cluster", began)
			before, after = append(before, wrote.Sub(accepted)), append(after, ready.Sub(ended))
			both = append(both, wrote.Sub(accepted)+ready.Sub(ended))
			_, err := l.GitHub.Comment(number, "/ocp destroy", "maya")
			require.NoError(b, err)
			require.NoError(b, l.GitHub.Unlabel(number, label, "maya"))
			l.runUntil("released", time.Minute, l.every(lifecycle.Released))
		}
		for part, took := range map[string][]time.Duration{"before": before, "after": after, "both": both} {
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, part+"-p50-ms")
		}
	}
}

// BenchmarkPressToUpdatedMessage measures from the press of Extend in a cluster's message in Slack to the moment the message shows the new
// end: request, inbox, change, publish, chat.update. Each round is ten presses, far enough apart for the channel's pace.
func BenchmarkPressToUpdatedMessage(b *testing.B) {
	const presses = 10
	l := newLifeOf(b, devstack.Config{Hour: time.Hour, Pace: 5 * time.Millisecond})
	for round := 0; b.Loop(); round++ {
		name := fmt.Sprintf("press-%d", round)
		l.types("maya", slack.Clusters, "create aws-minimal-test --ttl 2h --name "+name)
		m := l.showsUntil("maya", slack.Clusters, name+" is ready", "Profile")
		l.showsUntil("maya", slack.Clusters, "your cluster is ready.")
		text := func() string {
			for _, now := range l.Slack.Visible("maya", slack.Clusters) {
				if now.TS == m.TS {
					return now.Text
				}
			}
			return ""
		}
		var took []time.Duration
		for range presses {
			last := time.Now()
			l.runUntil("the channel's pace allows more", 10*time.Second, func() bool { return time.Since(last) > 1500*time.Millisecond })
			before, began := text(), time.Now()
			require.NoError(b, l.Slack.Click(l.ctx, "maya", m.TS, "ocp_extend"))
			l.runUntil("the message shows the new end", time.Minute, func() bool { return text() != before })
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
	}
}

// BenchmarkKubeconfig measures from the request for a kubeconfig of a ready cluster to the kubeconfig, made by a runner; the same request
// when it is made; and from its revocation to the account's removal from the cluster. Each round is ten readings of each.
func BenchmarkKubeconfig(b *testing.B) {
	const readings = 10
	l := newLife(b, time.Hour)
	require.NoError(b, l.GitHub.Label(41, label, "maya"))
	l.runUntil("ready", time.Minute, func() bool { return l.newest().Status == "READY" })
	at, reader := "/api/v1/clusters/"+l.newest().ID, l.as("admin")
	kubeconfig := func() (id string, took time.Duration) {
		began := time.Now()
		answer, raw := reader.send(http.MethodGet, at+"/kubeconfig?role=view&wait=20", nil)
		require.Equal(b, http.StatusOK, answer.StatusCode, "%s", raw)
		return answer.Header.Get("Ocpctl-Access-Id"), time.Since(began)
	}
	for b.Loop() {
		took := map[string][]time.Duration{}
		for range readings {
			id, made := kubeconfig()
			_, there := kubeconfig()
			began := time.Now()
			_ = ask[v1.Accesses](reader, http.MethodDelete, at+"/access/"+id, nil, http.StatusOK)
			l.runUntil("the account is removed", time.Minute, func() bool {
				return l.count(`SELECT count(*) FROM access WHERE id = $1 AND removed_at IS NOT NULL`, id) == 1
			})
			for what, d := range map[string]time.Duration{"make": made, "read": there, "revoke": time.Since(began)} {
				took[what] = append(took[what], d)
			}
		}
		for what, all := range took {
			slices.Sort(all)
			b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, what+"-p50-ms")
			b.ReportMetric(float64(all[len(all)-1].Microseconds())/1000, what+"-max-ms")
		}
	}
}

// spyOnInstaller puts a script before the installer that writes down when it is called with what, and when it ends.
func (l *life) spyOnInstaller() (calls string) {
	calls = filepath.Join(l.Dir, "calls")
	for _, path := range must(filepath.Glob(filepath.Join(l.Dir, "installers", "*", "openshift-install"))) {
		script := fmt.Sprintf("#!/bin/sh\necho \"$(date +%%s%%N) $1 $2\" >> %[1]s\n%[2]s/openshift-install \"$@\"\ncode=$?\necho \"$(date +%%s%%N) end $2\" >> %[1]s\nexit $code\n", calls, programs)
		require.NoError(l.t, os.Remove(path))
		require.NoError(l.t, os.WriteFile(path, []byte(script), 0o755))
	}
	return calls
}

// firstCall is when the installer was first called with something after a moment.
func firstCall(tb testing.TB, calls, wanted string, after time.Time) (time.Time, bool) {
	file, err := os.Open(calls)
	if err != nil {
		return time.Time{}, false
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		stamp, what, _ := strings.Cut(lines.Text(), " ")
		nanos, err := strconv.ParseInt(stamp, 10, 64)
		require.NoError(tb, err)
		if at := time.Unix(0, nanos); what == wanted && at.After(after) {
			return at, true
		}
	}
	return time.Time{}, false
}

func (l *life) newest() row {
	rows := l.clusters()
	if len(rows) == 0 {
		return row{}
	}
	return rows[len(rows)-1]
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// BenchmarkLabelToFirstComment measures from the moment a person's label leaves GitHub to the moment the cluster's comment
// stands on the pull request: webhook, inbox, GitHub's word on the pull request and the permission, policy, acceptance, the
// words and the wire. Each round is twenty labels, one after the other.
func BenchmarkLabelToFirstComment(b *testing.B) {
	const rounds = 20
	l := newLife(b, time.Hour)
	for b.Loop() {
		var took []time.Duration
		for range rounds {
			number, err := l.GitHub.Open("Measure the first words", "maya")
			require.NoError(b, err)
			began := time.Now()
			require.NoError(b, l.GitHub.Label(number, label, "maya"))
			l.runUntil("its first words", 20*time.Second, func() bool { return len(l.GitHub.Comments(number)) > 0 })
			took = append(took, time.Since(began))
			_, err = l.GitHub.Comment(number, "/ocp destroy", "maya")
			require.NoError(b, err)
			l.runUntil("released", time.Minute, l.every(lifecycle.Released))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
		b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
	}
}
