package devstack_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/github"
)

// From a pool's document to a cluster that waits, a label that takes it within seconds, another one that waits in its place, and the end of both.
func TestALabelTakesAClusterThatWaitsInAPool(t *testing.T) {
	t.Parallel()
	l := newLifeOf(t, devstack.Config{Hour: time.Minute})
	file := filepath.Join(l.Dir, "catalogue", "pools", "ready.yaml")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte("{name: ready, profile: aws-minimal-test, team: platform, size: 1, max: 2, maxAge: 24h}\n"), 0o644))
	waiting := func() bool {
		return l.count(`SELECT count(*) FROM clusters WHERE pool = 'ready' AND pooled AND status = 'READY' AND desired = 'present'`) == 1
	}
	l.runUntil("a cluster waits in the pool", 2*time.Minute, waiting)

	began := time.Now()
	number := l.labelledWith(label, "Ready at once")
	l.runUntil("it is the pull request's", time.Minute, func() bool {
		return l.count(`SELECT count(*) FROM clusters WHERE pr_number = $1 AND claimed_at IS NOT NULL AND ready_at IS NOT NULL AND phase = 'ready'`, number) == 1
	})
	t.Logf("from the label to the cluster: %s", time.Since(began).Round(time.Millisecond))
	require.Equal(t, 1, l.count(`SELECT count(*) FROM clusters WHERE pr_number = $1`, number))
	require.Equal(t, 1, l.count(`SELECT count(*) FROM clusters c JOIN access a ON a.cluster_id = c.id WHERE c.pr_number = $1 AND a.minted_at IS NOT NULL`, number), "its requester has access")
	l.runUntil("the comment says where it came from", time.Minute, func() bool {
		return slices.ContainsFunc(l.GitHub.Comments(number), func(c github.Comment) bool { return strings.Contains(c.Body, "claimed from `ready`") })
	})
	l.runUntil("another one waits", 2*time.Minute, waiting)

	require.NoError(t, l.GitHub.Unlabel(number, label, "maya"))
	l.runUntil("the pull request's is destroyed", 2*time.Minute, func() bool {
		return l.count(`SELECT count(*) FROM clusters WHERE pr_number = $1 AND status = 'DESTROYED'`, number) == 1
	})
	require.NoError(t, os.Remove(file))
	l.runUntil("what waits ends with its pool", 2*time.Minute, func() bool {
		return l.count(`SELECT count(*) FROM clusters WHERE status <> 'DESTROYED'`) == 0
	})
	l.assertNothingLeft()
}
