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

// Config says where the catalogue is read.
type Config struct {
	Dir string           // folder of the catalogue; empty: the embedded one, which never changes
	Log *slog.Logger     // nil: slog.Default()
	Now func() time.Time // nil: time.Now
}

// Live is the catalogue in force. It is safe for concurrent use; whoever has taken a Catalogue keeps it as it is.
type Live struct {
	files fs.FS
	log   *slog.Logger
	now   func() time.Time

	catalogue atomic.Pointer[Catalogue]
	status    atomic.Pointer[Status]

	mu    sync.Mutex // held while the files are read, so that the newest reading wins
	tried string     // hash of the files last judged
	seen  string     // hash of the files at the last look
}

// Status says what is in force and whether the folder holds something else.
type Status struct {
	Hash     string    // of what is in force; empty: nothing is
	LoadedAt time.Time // since when
	Err      error     // why what lies in the folder is not taken, often profiles.Problems; nil: it is in force
	ErrSince time.Time // since when it has been so; zero without Err
}

// errMoving is told of files that never were the same twice.
var errMoving = errors.New("the catalogue's files changed while they were read; try again in a moment")

// Open reads the folder. The Live is there even where that went wrong, as the error tells: nothing is allowed to anybody
// then, until Watch or Reload meets a sound state. So a process whose duty is to end clusters can start and do it.
func Open(c Config) (*Live, error) {
	l := &Live{files: files(c.Dir), log: c.Log, now: c.Now}
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

// Current is the catalogue in force.
func (l *Live) Current() Catalogue { return *l.catalogue.Load() }

// Status says what is in force since when, and what is wrong with what lies in the folder.
func (l *Live) Status() Status { return *l.status.Load() }

// Reload takes what lies in the folder now, if it is sound as a whole; changed says that it is another catalogue than before.
// Else what was in force stays, and the error says why: profiles.Problems, or that the files could not be read.
func (l *Live) Reload() (changed bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reload()
}

func (l *Live) reload() (changed bool, err error) {
	catalogue, hash, err := l.still()
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
		l.status.Store(&Status{Hash: was.Hash, LoadedAt: was.LoadedAt})
		return false, nil
	}
	l.catalogue.Store(&catalogue)
	l.status.Store(&Status{Hash: hash, LoadedAt: l.now()})
	return true, nil
}

// still reads until the files are the same after reading as they were in it: a folder that is swapped meanwhile would
// give the profiles of one state and the quotas of another.
func (l *Live) still() (Catalogue, string, error) {
	unread := errMoving
	for range 3 {
		catalogue, hash, err := load(l.files)
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

// Watch looks at the folder again and again until ctx ends, and takes what changed. It waits until the files were the
// same at two looks, because half of a file that is being written may well be a sound file with less in it.
func (l *Live) Watch(ctx context.Context, every time.Duration) {
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
			l.look()
		}
	}
}

// look is one look of Watch. It logs what it took and what it did not, once for each state of the files.
func (l *Live) look() {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.Status()
	hash, err := profiles.Hash(l.files)
	if err == nil && (hash == l.tried || hash != l.seen) {
		l.seen = hash
		return
	}
	changed, err := l.reload()
	switch now := l.Status(); {
	case changed:
		l.log.Info("catalogue changed", "from", was.Hash, "to", now.Hash)
	case err == nil && was.Err != nil:
		l.log.Info("catalogue is sound again", "hash", now.Hash)
	case err != nil && (was.Err == nil || was.Err.Error() != err.Error()):
		l.log.Error("catalogue not taken, the last sound one stays in force", "hash", now.Hash, "err", err)
	}
}
