package catalogue

import (
	"bytes"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/profiles"
)

var noon = time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC)

// shelf is a Live with a clock and a log to look into.
type shelf struct {
	*Live
	dir string
	now time.Time
	log *bytes.Buffer
}

func open(t *testing.T, dir string) *shelf {
	t.Helper()
	s := &shelf{dir: dir, now: noon, log: &bytes.Buffer{}}
	var err error
	s.Live, err = Open(Config{Dir: dir, Log: slog.New(slog.NewTextHandler(s.log, nil)), Now: func() time.Time { return s.now }})
	require.NoError(t, err)
	return s
}

func (s *shelf) live() int { return s.Current().Quotas[0].Live }

func TestAChangeIsTakenOnceItHasBeenStill(t *testing.T) {
	s := open(t, folder(t, embedded(t)))
	before := s.Status()
	require.Equal(t, Status{Hash: s.Current().Hash, LoadedAt: noon}, before)

	write(t, s.dir, quotas, tight)
	s.now = noon.Add(time.Minute)
	s.checkFiles()
	require.Equal(t, 5, s.live(), "it may still be written")
	s.checkFiles()
	require.Equal(t, 2, s.live())
	require.Equal(t, Status{Hash: s.Current().Hash, LoadedAt: s.now}, s.Status())
	require.NotEqual(t, before.Hash, s.Status().Hash)
	s.checkFiles()
	require.Equal(t, 1, strings.Count(s.log.String(), "catalogue changed"))
}

func TestABrokenChangeKeepsTheLastSoundCatalogueAndSaysWhy(t *testing.T) {
	s := open(t, folder(t, embedded(t)))
	before := s.Status()
	write(t, s.dir, quotas, broken)
	s.now = noon.Add(time.Minute)
	for range 5 {
		s.checkFiles()
	}
	require.Equal(t, 5, s.live())
	status := s.Status()
	require.Equal(t, before.Hash, status.Hash)
	require.Equal(t, noon, status.LoadedAt)
	require.Equal(t, s.now, status.ErrSince)
	var problems profiles.Problems
	require.ErrorAs(t, status.Err, &problems)
	require.Len(t, problems, 2)
	require.Equal(t, 1, strings.Count(s.log.String(), "catalogue not taken"), "told once for each state of the files")

	s.now = noon.Add(2 * time.Minute)
	write(t, s.dir, quotas, strings.Replace(broken, "live: 0", "live: 1", 1))
	s.checkFiles()
	s.checkFiles()
	require.ErrorAs(t, s.Status().Err, &problems)
	require.Len(t, problems, 1, "what is still wrong")
	require.Equal(t, noon.Add(time.Minute), s.Status().ErrSince)

	write(t, s.dir, quotas, tight)
	s.checkFiles()
	s.checkFiles()
	require.Equal(t, 2, s.live())
	require.NoError(t, s.Status().Err)
	require.Zero(t, s.Status().ErrSince)
}

func TestABrokenChangeThatIsTakenBackIsNoChange(t *testing.T) {
	s := open(t, folder(t, embedded(t)))
	before := s.Status()
	write(t, s.dir, "teams/platform.yaml", "name: other\n")
	s.checkFiles()
	s.checkFiles()
	require.Error(t, s.Status().Err)
	require.NoError(t, os.Remove(filepath.Join(s.dir, "teams/platform.yaml")))
	s.checkFiles()
	s.checkFiles()
	require.Equal(t, before, s.Status())
	require.Contains(t, s.log.String(), "catalogue is sound again")
}

func TestReloadTakesAChangeAtOnce(t *testing.T) {
	s := open(t, folder(t, embedded(t)))
	changed, err := s.Reload()
	require.NoError(t, err)
	require.False(t, changed)
	write(t, s.dir, quotas, tight)
	changed, err = s.Reload()
	require.NoError(t, err)
	require.True(t, changed)
	require.Equal(t, 2, s.live())
	write(t, s.dir, quotas, broken)
	changed, err = s.Reload()
	require.ErrorContains(t, err, "quotas[0].scope")
	require.False(t, changed)
	require.Equal(t, 2, s.live())
}

func TestHalfOfAFileIsNotTaken(t *testing.T) {
	all := embedded(t)
	all[quotas] = &fstest.MapFile{Data: []byte(tight + "  - {name: person, scope: person, live: 1}\n")}
	s := open(t, folder(t, all))
	require.Len(t, s.Current().Quotas, 2)

	write(t, s.dir, quotas, tight) // sound, and a limit short
	s.checkFiles()
	write(t, s.dir, quotas, tight+"  - {name: person, scope: person, live: 3}\n")
	s.checkFiles()
	require.Equal(t, 1, s.Current().Quotas[0].Live, "it changed between two looks")
	s.checkFiles()
	require.Len(t, s.Current().Quotas, 2)
	require.Equal(t, 3, s.Current().Quotas[0].Live)
}

// TestALinkedFolderIsSwapped has the layout of a ConfigMap's volume: files are links through ..data, which is replaced.
func TestALinkedFolderIsSwapped(t *testing.T) {
	dir := t.TempDir()
	version := func(name, limits string) {
		for path, f := range embedded(t) {
			write(t, dir, filepath.Join(name, path), string(f.Data))
		}
		write(t, dir, filepath.Join(name, quotas), limits)
		require.NoError(t, os.Symlink(name, filepath.Join(dir, "..data_tmp")))
		require.NoError(t, os.Rename(filepath.Join(dir, "..data_tmp"), filepath.Join(dir, "..data")))
	}
	version("..2025_01", "quotas:\n  - {name: team, scope: team, live: 5}\n")
	for _, folder := range []string{"profiles", "quotas", "identities"} {
		require.NoError(t, os.Symlink(filepath.Join("..data", folder), filepath.Join(dir, folder)))
	}
	s := open(t, dir)
	require.Equal(t, 5, s.live())
	version("..2025_02", tight)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "..2025_01")))
	s.checkFiles()
	s.checkFiles()
	require.Equal(t, 2, s.live())
}

// TestAGitSyncedFolderIsSwapped has the folder itself as a link to a work tree, which is replaced.
func TestAGitSyncedFolderIsSwapped(t *testing.T) {
	root := t.TempDir()
	link := filepath.Join(root, "current")
	point := func(to string) {
		require.NoError(t, os.Symlink(to, link+".tmp"))
		require.NoError(t, os.Rename(link+".tmp", link))
	}
	first, second := folder(t, embedded(t)), folder(t, embedded(t))
	write(t, second, quotas, tight)
	write(t, second, "README.md", "for people\n")
	write(t, second, ".github/workflows/ci.yaml", "on: push\n")
	point(first)
	s := open(t, link)
	point(second)
	s.checkFiles()
	s.checkFiles()
	require.Equal(t, 2, s.live())

	require.NoError(t, os.Remove(link))
	s.checkFiles()
	s.checkFiles()
	require.ErrorIs(t, s.Status().Err, os.ErrNotExist)
	require.Equal(t, 2, s.live(), "a folder that is away changes nothing")
	point(second)
	s.checkFiles()
	require.NoError(t, s.Status().Err)
}

func TestFilesThatNeverStandStillAreNotTaken(t *testing.T) {
	s := open(t, folder(t, embedded(t)))
	s.files = &restless{MapFS: embedded(t)}
	_, err := s.Reload()
	require.ErrorIs(t, err, errMoving)
	require.Equal(t, 5, s.live())
}

// restless is a folder in which one file is another at every reading.
type restless struct {
	fstest.MapFS
	reads int
}

func (r *restless) Open(name string) (fs.File, error) {
	if name == quotas {
		r.reads++
		r.MapFS[quotas] = &fstest.MapFile{Data: fmt.Appendf(nil, "quotas:\n  - {name: team, scope: team, live: %d}\n", r.reads)}
	}
	return r.MapFS.Open(name)
}

func TestAFolderThatIsBrokenFromTheStartAllowsNothingUntilItIsMended(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not-yet")
	l, err := Open(Config{Dir: dir, Log: slog.New(slog.DiscardHandler)})
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Empty(t, l.Current().Names())
	require.Empty(t, l.Current().Identities)
	require.Equal(t, err, l.Status().Err)
	require.NoError(t, os.CopyFS(dir, embedded(t)))
	l.checkFiles()
	l.checkFiles()
	require.NotEmpty(t, l.Current().Names())
	require.NoError(t, l.Status().Err)
}

func TestWatchLooksUntilItIsStopped(t *testing.T) {
	dir := folder(t, embedded(t))
	synctest.Test(t, func(t *testing.T) {
		l, err := Open(Config{Dir: dir, Log: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		var watching sync.WaitGroup
		watching.Go(func() { l.Watch(t.Context(), 15*time.Second) })
		write(t, dir, quotas, tight)
		time.Sleep(31 * time.Second) // of the bubble's clock
		synctest.Wait()
		require.Equal(t, 2, l.Current().Quotas[0].Live)
	})
}

func TestTheEmbeddedCatalogueNeverChanges(t *testing.T) {
	s := open(t, "")
	changed, err := s.Reload()
	require.NoError(t, err)
	require.False(t, changed)
	require.Contains(t, s.Current().Names(), "aws-minimal-test")
}

// TestReadersNeverSeeHalfABook swaps two states, in each of which team and quota bear the same number.
func TestReadersNeverSeeHalfACatalogue(t *testing.T) {
	state := func(n int) fstest.MapFS {
		all := embedded(t)
		all[quotas] = &fstest.MapFile{Data: fmt.Appendf(nil, "quotas:\n  - {name: team, scope: team, live: %d}\n", n)}
		all["teams/platform.yaml"] = &fstest.MapFile{Data: fmt.Appendf(nil, "name: platform\nowner: maya\ncostCenters: [a]\nenvironments: [a]\nweight: %d\n", n)}
		return all
	}
	root := t.TempDir()
	link := filepath.Join(root, "current")
	folders := []string{folder(t, state(1)), folder(t, state(2))}
	require.NoError(t, os.Symlink(folders[0], link))
	s := open(t, link)
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if b := s.Current(); b.Quotas[0].Live != b.Teams[0].Weight {
					t.Errorf("quota of state %d beside a team of state %d", b.Quotas[0].Live, b.Teams[0].Weight)
				}
				_ = s.Status()
			}
		})
	}
	readers.Go(func() { // swaps while files are read
		for i := range 200 {
			_ = os.Symlink(folders[i%2], link+".tmp")
			_ = os.Rename(link+".tmp", link)
		}
	})
	for range 100 {
		_, _ = s.Reload()
	}
	close(done)
	readers.Wait()
	_, err := s.Reload()
	require.NoError(t, err)
	require.Equal(t, s.Current().Teams[0].Weight, s.live())
}
