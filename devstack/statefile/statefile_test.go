package statefile_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/statefile"
)

type thing struct {
	N    int64
	Name string
	Gone bool
}

func (t *thing) Number() int64   { return t.N }
func (t *thing) Forgotten() bool { return t.Gone }

type world struct {
	sync.Mutex
	Things map[int64]*thing
	Owner  string
	used   []string
}

func open(t *testing.T, path string) (*world, *statefile.File[*thing]) {
	t.Helper()
	w := &world{Things: map[int64]*thing{}}
	f := statefile.New(path, w, func() (any, []*thing) {
		return w, slices.Collect(maps.Values(w.Things))
	})
	all, found, err := f.Read(w, func() []*thing { return slices.Collect(maps.Values(w.Things)) }, func(meta, used json.RawMessage) error {
		if meta != nil {
			return json.Unmarshal(meta, &w.Owner)
		}
		w.used = append(w.used, string(used))
		return nil
	})
	require.NoError(t, err)
	if found {
		w.Things = map[int64]*thing{}
	}
	for _, one := range all {
		w.Things[one.N] = one
	}
	require.NoError(t, f.Save(true))
	return w, f
}

func TestEveryKindOfChangeIsReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	w, f := open(t, path)
	w.Things[1], w.Things[2] = &thing{N: 1, Name: "one"}, &thing{N: 2, Name: "two"}
	for _, one := range w.Things {
		f.Touch(one)
	}
	require.NoError(t, f.Note("ada"))
	require.NoError(t, f.Save(false))
	w.Things[1].Name, w.Things[2].Gone = "uno", true
	f.Touch(w.Things[1])
	f.Touch(w.Things[2])
	f.Used("an hour")
	require.NoError(t, f.Note("gus"))
	require.NoError(t, f.Save(false))

	again, _ := open(t, path)
	require.Equal(t, map[int64]*thing{1: {N: 1, Name: "uno"}}, again.Things)
	require.Equal(t, "gus", again.Owner)
	require.Equal(t, []string{`"an hour"`}, again.used)
}

func TestAnIncompleteLastLineIsForgotten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	w, f := open(t, path)
	w.Things[1] = &thing{N: 1, Name: "one"}
	f.Touch(w.Things[1])
	require.NoError(t, f.Note(""))
	require.NoError(t, f.Save(false))
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(raw, `{"put":{"N":2,"Na`...), 0o600))
	again, _ := open(t, path)
	require.Len(t, again.Things, 1)
	third, _ := open(t, path)
	require.Len(t, third.Things, 1, "new lines do not follow a broken one")
}

func TestWhatIsNotChangedIsNotWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	w, f := open(t, path)
	w.Things[1] = &thing{N: 1, Name: "one"}
	size := func() int64 {
		f.Touch(w.Things[1])
		require.NoError(t, f.Note("ada"))
		require.NoError(t, f.Save(false))
		info, err := os.Stat(path)
		require.NoError(t, err)
		return info.Size()
	}
	require.Equal(t, size(), size())
	require.NoError(t, f.Stop())
	require.Error(t, f.Save(false), "another process may use it now")
}
