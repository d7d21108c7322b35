package runs

import (
	"context"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/db"
)

// Ref is a run as its token names it.
type Ref struct {
	Platform           lifecycle.Platform
	Issuer, Scope, Key string // see the table runs
	Attempt            int
	Repo, Name, URL    string
	Event, Ref, Head   string
	Number             int // of its pull request; 0: none
	Actor              string
	Unwatched          string // why the platform cannot be asked about it; empty: it can
}

// Run is what is known of a run.
type Run struct {
	ID                 string
	Platform           lifecycle.Platform
	Issuer, Scope, Key string
	Installation       int64 // 0: not known yet
	Repo, Name, URL    string
	Event, Ref, Head   string
	Number             int
	Actor              string
	Attempt            int // the newest known
	State              lifecycle.RunState
	Conclusion         string
	FinishedAt         *time.Time
	Confirmed          bool
	UpdatedAt          *time.Time // the platform's time of the state; nil: it was not asked yet
	LookAt             *time.Time
	MissedAt           *time.Time
	Unwatched          string
	SeenAt             time.Time // when a token or the platform named it last
	CreatedAt          time.Time
}

// Repository is what identifies the repository of a cluster.
type Repository struct {
	RepoID        int64  // GitHub's number of that of its pull request; 0: it has none, or the number is not known
	Issuer, Scope string // of the tokens of its run, and the number of the run's repository there; empty: it belongs to no run
}

// RepositoryOf returns what identifies the repository of a cluster. run is the id of its run; empty: it belongs to none.
func (s *Store) RepositoryOf(ctx context.Context, cluster, run string) (Repository, error) {
	return db.One[Repository](ctx, s.db.Pool(), `
		SELECT c.repo_id, coalesce(r.issuer, '') AS issuer, coalesce(r.scope, '') AS scope FROM clusters c LEFT JOIN runs r ON r.id = $2 WHERE c.id = $1`, cluster, run)
}

const runColumns = `r.id, r.platform, r.issuer, r.scope, r.key, r.installation, r.repo, r.name, r.url, r.event, r.ref, r.head, r.number, r.actor,
	r.attempt, r.state, r.conclusion, r.finished_at, r.confirmed, r.updated_at, r.look_at, r.missed_at, r.unwatched, r.seen_at, r.created_at`

// finish is how the newest attempt finished; the zero value: it runs.
func (r Run) finish() lifecycle.Finish {
	return lifecycle.Finish{Conclusion: r.Conclusion, At: db.Zero(r.FinishedAt)}
}

// Over reports whether an attempt of the run is finished.
func (r Run) Over(attempt int) bool {
	return attempt < r.Attempt || attempt == r.Attempt && r.State == lifecycle.RunFinished
}

// hasEnded reports whether the newest attempt finished for certain. A webhook alone is not enough for what cannot be undone.
func (r Run) hasEnded() bool { return r.State == lifecycle.RunFinished && r.Confirmed }

// firstLook is how long after a run was heard of the platform is asked about it: its event may have come before the run was known here.
const firstLook = time.Minute

// lock takes the lock of the run that a token names, and writes it down if it was not known. A newer attempt than the known one is
// running, as its token proves. A run that its platform cannot be asked about is not looked at, except for PipelineRuns, whose cluster may be
// configured while they run. older is true for a token of an attempt that a newer one has replaced. also is a cluster to lock too;
// empty: none.
func lock(ctx context.Context, c *db.Tx, ref Ref, also string) (run Run, older bool, err error) {
	args, err := writeDown(ctx, c, ref)
	if err != nil {
		return Run{}, false, err
	}
	run, err = db.One[Run](ctx, c, byToken+` FOR NO KEY UPDATE`, args)
	if err != nil {
		return Run{}, false, fmt.Errorf("lock the run: %w", err)
	}
	if ref.Attempt < run.Attempt {
		return run, true, nil
	}
	if err := lockClusters(ctx, c, run.ID, also); err != nil {
		return Run{}, false, err
	}
	newer := ref.Attempt > run.Attempt
	args["id"], args["look"] = run.ID, c.Now.Add(firstLook)
	run, err = db.One[Run](ctx, c, `
		UPDATE runs r SET attempt = @attempt, repo = @repo, url = @url, actor = @actor, seen_at = @now,
			state = CASE WHEN @attempt > attempt THEN 'running' ELSE state END, conclusion = CASE WHEN @attempt > attempt THEN '' ELSE conclusion END,
			finished_at = CASE WHEN @attempt > attempt THEN NULL ELSE finished_at END, confirmed = confirmed OR @attempt > attempt,
			missed_at = CASE WHEN @attempt > attempt THEN NULL ELSE missed_at END,
			look_at = CASE WHEN @unwatched <> '' AND platform <> 'tekton' THEN NULL ELSE least(look_at, @look) END
		WHERE id = @id RETURNING `+runColumns, args)
	if err != nil {
		return Run{}, false, fmt.Errorf("update the run: %w", err)
	}
	if newer {
		err = settle(ctx, c, run)
	}
	return run, false, err
}

// Known reports whether a run of a platform is known by any issuer's token, and with a job whether anything can end with that. It is
// asked for every webhook about a run.
func (s *Store) Known(ctx context.Context, platform lifecycle.Platform, scope, key, job string) (known bool, err error) {
	err = s.db.Pool().QueryRow(ctx, `
		SELECT EXISTS (SELECT FROM runs r WHERE platform = $1 AND scope = $2 AND key = $3 AND ($4 = ''
			OR EXISTS (SELECT FROM run_clusters b WHERE b.run_id = r.id AND b.job = $4 AND b.lifetime = 'job')
			OR EXISTS (SELECT FROM uses u WHERE u.run_id = r.id AND u.job = $4 AND u.released_at IS NULL)))`, platform, scope, key, job).Scan(&known)
	if err != nil {
		return false, fmt.Errorf("look whether run %s of %s is known: %w", key, scope, err)
	}
	return known, nil
}

// Named returns the runs of a platform with a scope and a key, one for each issuer that has such a run.
func (s *Store) Named(ctx context.Context, platform lifecycle.Platform, scope, key string) ([]Run, error) {
	list, err := db.All[Run](ctx, s.db.Pool(), `SELECT `+runColumns+` FROM runs r WHERE platform = $1 AND scope = $2 AND key = $3 ORDER BY id`, platform, scope, key)
	if err != nil {
		return nil, fmt.Errorf("look for run %s of %s: %w", key, scope, err)
	}
	return list, nil
}

// Run returns one run. ErrNotFound: there is none of that id.
func (s *Store) Run(ctx context.Context, id string) (Run, error) {
	run, err := db.One[Run](ctx, s.db.Pool(), `SELECT `+runColumns+` FROM runs r WHERE id = $1`, id)
	if err != nil {
		return Run{}, fmt.Errorf("read run %s: %w", id, err)
	}
	return run, nil
}
