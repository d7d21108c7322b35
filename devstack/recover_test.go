package devstack_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/installer"
	"github.com/ocpctl/ocpctl/internal/dispatch"
)

// The database is restored to a state in which only one cluster exists. Since then that one was destroyed, one was created, one is in the
// middle of its install, and of one nothing exists yet but what ccoctl made.
func TestADatabaseRestoredFromABackupForgetsNoCluster(t *testing.T) {
	t.Parallel()
	l := newLife(t, time.Hour)
	old := l.labelled("Before the backup")
	l.runUntil("it is ready", 2*time.Minute, func() bool { return l.statusOf(old) == "READY" })
	l.backUp()

	_, err := l.GitHub.Comment(l.pullOf(old), "/ocp destroy", "maya")
	require.NoError(t, err)
	l.runUntil("it is destroyed", 2*time.Minute, func() bool { return l.statusOf(old) == "DESTROYED" })
	ready := l.labelled("Ready after the backup")
	l.runUntil("the second is ready", 2*time.Minute, func() bool { return l.statusOf(ready) == "READY" })
	require.NoError(t, installer.SetFault(l.Faults(), "create", &installer.Fault{FailAt: "bootstrap", Pause: true}))
	installing := l.labelled("Installing when the database is lost")
	l.runUntil("the third has machines", 2*time.Minute, func() bool { return l.machinesOf(installing) > 0 })
	require.NoError(t, installer.SetFault(l.Faults(), "ccoctl-create", &installer.Fault{AfterWrites: 9, Pause: true}))
	claiming := l.labelled("In ccoctl when the database is lost")
	var ccoName string
	l.runUntil("ccoctl made something for the fourth", time.Minute, func() bool {
		_ = l.pool.QueryRow(l.ctx, "SELECT cco_name FROM attempts WHERE cluster_id = $1 AND cco_name IS NOT NULL", claiming).Scan(&ccoName)
		return ccoName != "" && len(l.AWS.Resources(ccoName)) > 0
	})
	runners := l.runners(installing, claiming)
	require.Len(t, runners, 2)

	l.restore()
	require.Equal(t, 1, l.count("SELECT count(*) FROM clusters"), "the backup knows one cluster")
	said := l.recover("-dry-run")
	require.Contains(t, said, ready)
	require.Equal(t, 1, l.count("SELECT count(*) FROM clusters"), "a dry run writes nothing")
	said = l.recover()
	for _, id := range []string{old, ready, installing, claiming} {
		require.Contains(t, said, id)
	}
	require.Equal(t, "READY", l.statusOf(ready), said)
	require.Equal(t, 4, l.count("SELECT count(*) FROM audit_events WHERE action = 'recovered'"))
	require.Contains(t, l.recover(), "Nothing is newer than the database.", "a second run changes nothing")
	require.NoError(t, l.StartServer(l.ctx))

	l.runUntil("the runners that the database does not know have stopped", time.Minute, func() bool { return l.ended(runners) })
	require.NoError(t, installer.WriteFaults(l.Faults(), nil))
	l.runUntil("all but the ready one are destroyed", 3*time.Minute, func() bool {
		return l.statusOf(old) == "DESTROYED" && l.statusOf(installing) == "DESTROYED" && l.statusOf(claiming) == "DESTROYED"
	})
	require.Equal(t, "READY", l.statusOf(ready), "its owner may be using it")
	require.NotEmpty(t, l.AWS.Resources(ready), "nothing of it was deleted")
	_, err = l.GitHub.Comment(l.pullOf(ready), "/ocp destroy", "maya")
	require.NoError(t, err)
	l.runUntil("all are released", 2*time.Minute, l.every("released"))
	l.assertNothingLeft()
	l.assertSettled()
	l.assertNumbersWereUsedOnce()
}

// labelled has a cluster requested on a new pull request and returns its id.
func (l *life) labelled(title string) (id string) {
	pr := l.labelledWith(label, title)
	l.runUntil("the cluster of "+title, time.Minute, func() bool {
		return l.pool.QueryRow(l.ctx, "SELECT id FROM clusters WHERE pr_number = $1", pr).Scan(&id) == nil
	})
	return id
}

func (l *life) statusOf(id string) (status string) {
	_ = l.pool.QueryRow(l.ctx, "SELECT status FROM clusters WHERE id = $1", id).Scan(&status)
	return status
}

// machinesOf counts the instances that carry the cluster's id.
func (l *life) machinesOf(id string) (n int) {
	for _, r := range l.AWS.Resources("") {
		if r.Type == "instance" && r.Tags["ClusterId"] == id {
			n++
		}
	}
	return n
}

// runners returns the open attempts of clusters.
func (l *life) runners(clusters ...string) (attempts []string) {
	rows, err := l.pool.Query(l.ctx, "SELECT id FROM attempts WHERE cluster_id = ANY ($1) AND closed_at IS NULL", clusters)
	require.NoError(l.t, err)
	defer rows.Close()
	for rows.Next() {
		var id string
		require.NoError(l.t, rows.Scan(&id))
		attempts = append(attempts, id)
	}
	require.NoError(l.t, rows.Err())
	return attempts
}

// ended reports whether no runner of the attempts is alive.
func (l *life) ended(attempts []string) bool {
	d, err := l.Dispatcher()
	require.NoError(l.t, err)
	for _, id := range attempts {
		if seen, err := d.Observe(l.ctx, id); err != nil || seen.Sighting != dispatch.Ended {
			return false
		}
	}
	return true
}

// backUp copies the database's directory while nothing writes to it.
func (l *life) backUp() {
	l.t.Helper()
	require.NoError(l.t, l.StopServer())
	require.NoError(l.t, l.PG.Stop())
	copyTree(l.t, filepath.Join(l.Dir, "postgres", "data"), filepath.Join(l.Dir, "backup"))
	require.NoError(l.t, l.StartPostgres(l.ctx))
	l.pool.Reset()
	require.NoError(l.t, l.StartServer(l.ctx))
}

// restore loses server and database at once, and brings the database back as it was backed up.
func (l *life) restore() {
	l.t.Helper()
	require.NoError(l.t, l.KillServer())
	require.NoError(l.t, l.KillPostgres())
	data := filepath.Join(l.Dir, "postgres", "data")
	require.NoError(l.t, os.RemoveAll(data))
	copyTree(l.t, filepath.Join(l.Dir, "backup"), data)
	require.NoError(l.t, l.StartPostgres(l.ctx))
	l.pool.Reset()
}

// copyTree keeps owners and modes: PostgreSQL refuses other people's files.
func copyTree(t testing.TB, from, to string) {
	t.Helper()
	out, err := exec.Command("cp", "-a", from, to).CombinedOutput()
	require.NoError(t, err, string(out))
}

// recover runs the command as a person would and returns what it printed.
func (l *life) recover(args ...string) string {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.ctx, time.Minute)
	defer cancel()
	out, err := l.Recover(ctx, args...)
	l.t.Logf("ocpctl-server recover %v:\n%s", args, out)
	require.NoError(l.t, err)
	return out
}

// assertNumbersWereUsedOnce looks at the records that attempts stored before and after the restore.
func (l *life) assertNumbersWereUsedOnce() {
	l.t.Helper()
	used := map[string]string{}
	require.NoError(l.t, filepath.WalkDir(filepath.Join(l.Dir, "s3"), func(path string, _ fs.DirEntry, err error) error {
		if m := recordKey.FindStringSubmatch(filepath.ToSlash(path)); m != nil {
			key := m[1] + ", attempt " + m[3]
			if before := used[key]; before != "" && before != m[2] {
				l.t.Errorf("%s was used twice: %s and %s", key, before, m[2])
			}
			used[key] = m[2]
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the server deletes what opens a destroyed cluster meanwhile
		}
		return err
	}))
	require.GreaterOrEqual(l.t, len(used), 8, "a create and a teardown of each: %v", used)
}

// recordKey matches the key of an attempt's record: cluster, kind with time, and number.
var recordKey = regexp.MustCompile(`clusters/(clu_[0-9A-Z]+)/([a-z]+/[0-9TZ.]+)-a([0-9]+)/attempt\.json$`)
