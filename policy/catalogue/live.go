package catalogue

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ocpctl/ocpctl/profiles"
)

// Config says where the catalogue is read from.
type Config struct {
	Dir string           // folder of the catalogue; empty: the embedded one, which never changes
	Log *slog.Logger     // nil: slog.Default()
	Now func() time.Time // nil: time.Now

	GitHubIssuers []string          // see profiles.Read
	RoleIssuers   []string          // issuers whose tokens may name their holder's role; see profiles.BindRoleClaim
	Off           map[string]string // platforms that the installation does not offer, and why; see profiles.Catalogue.Without
}

// Live is the catalogue in force. It is safe for concurrent use; a Catalogue taken from it never changes.
type Live struct {
	files fs.FS
	dir   string // of the files; empty: they are embedded
	log   *slog.Logger
	now   func() time.Time

	gitHub    []string          // issuers
	roles     []string          // issuers, see Config
	off       map[string]string // see Config
	catalogue atomic.Pointer[Catalogue]
	status    atomic.Pointer[Status]

	mu    sync.Mutex // held while files are read, so that the newest read wins
	tried string     // hash of the files last loaded or rejected
	seen  string     // hash of the files at the last check
}

// Status says what is in force and whether the folder holds something different.
type Status struct {
	Hash     string    // of what is in force; empty: nothing
	Commit   string    // of the catalogue's repository, from which what is in force was read; empty: the folder does not say
	LoadedAt time.Time // since when
	Err      error     // why the folder's content is not in force, often profiles.Problems; nil: it is
	ErrSince time.Time // since when Err applies; zero without Err
}

// errMoving is returned if the files kept changing while they were read.
var errMoving = errors.New("the catalogue's files changed while they were read; try again in a moment")

// Open reads the folder. It returns a Live even if that failed, with the error: nothing is allowed until Watch or Reload finds a
// valid state. So a process that has to end clusters can still start.
func Open(c Config) (*Live, error) {
	l := &Live{files: openFolder(c.Dir), dir: c.Dir, log: c.Log, now: c.Now, gitHub: c.GitHubIssuers, roles: c.RoleIssuers, off: c.Off}
	if l.log == nil {
		l.log = slog.Default()
	}
	if l.now == nil {
		l.now = time.Now
	}
	l.catalogue.Store(&Catalogue{})
	l.status.Store(&Status{})
	_, err := l.Reload()
	return l, err
}

// Current returns the catalogue in force.
func (l *Live) Current() Catalogue { return *l.catalogue.Load() }

// Load reads another catalogue as this one is read, for the same installation.
func (l *Live) Load(files fs.FS) (Catalogue, error) {
	read, err := Load(files, l.gitHub...)
	return read.withoutPlatforms(l.off).withRoleIssuers(l.roles), err
}

// Status returns what is in force since when, and what is wrong with the folder's content.
func (l *Live) Status() Status { return *l.status.Load() }

// Reload loads the folder's content if it is valid as a whole; changed reports a different catalogue. Otherwise the previous one
// stays in force, and the error says why: profiles.Problems, or that the files could not be read.
func (l *Live) Reload() (changed bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reloadFiles()
}

func (l *Live) reloadFiles() (changed bool, err error) {
	catalogue, hash, err := l.readUnchanged()
	l.tried = hash
	was := l.Status()
	if err != nil {
		next := was
		if next.Err = err; was.Err == nil {
			next.ErrSince = l.now()
		}
		l.status.Store(&next)
		return false, err
	}
	if hash == was.Hash {
		l.status.Store(&Status{Hash: was.Hash, Commit: readCommit(l.dir), LoadedAt: was.LoadedAt})
		return false, nil
	}
	catalogue = catalogue.withoutPlatforms(l.off).withRoleIssuers(l.roles)
	l.catalogue.Store(&catalogue)
	l.status.Store(&Status{Hash: hash, Commit: readCommit(l.dir), LoadedAt: l.now()})
	return true, nil
}

// readUnchanged reads until the files did not change during the read. Otherwise a folder that is swapped meanwhile could give the profiles of
// one state and the quotas of another.
func (l *Live) readUnchanged() (Catalogue, string, error) {
	unread := errMoving
	for range 3 {
		catalogue, hash, err := loadWithHash(l.files, l.gitHub)
		if hash == "" {
			unread = err
			continue
		}
		if again, readable := profiles.Hash(l.files); readable == nil && again == hash {
			return catalogue, hash, err
		}
		unread = errMoving
	}
	return Catalogue{}, "", unread
}

// Watch checks the folder periodically until ctx ends, and loads changes. It waits until two checks saw the same files, because a
// half-written file may be valid with less in it.
func (l *Live) Watch(ctx context.Context, every time.Duration) {
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			l.checkFiles()
		}
	}
}

// checkFiles is one check of Watch. It logs what it loaded or rejected, once for each state of the files.
func (l *Live) checkFiles() {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.Status()
	hash, err := profiles.Hash(l.files)
	if err == nil && (hash == l.tried || hash != l.seen) {
		l.seen = hash
		return
	}
	changed, err := l.reloadFiles()
	switch now := l.Status(); {
	case changed:
		l.log.Info("catalogue changed", "from", was.Hash, "to", now.Hash)
	case err == nil && was.Err != nil:
		l.log.Info("catalogue is sound again", "hash", now.Hash)
	case err != nil && (was.Err == nil || was.Err.Error() != err.Error()):
		l.log.Error("catalogue not taken, the last sound one stays in force", "hash", now.Hash, "err", err)
	}
}
