// Package statefile keeps the world of a stand-in in a file: a snapshot, followed by one line for each later change. A change that was
// written survives the process; a snapshot replaces lines that have become longer than it.
//
// The stand-in changes its records in place, so it says which ones a call may have changed (Touch), and those are compared with what the
// file has.
package statefile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/ocpctl/ocpctl/devstack/file"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// Record is a part of a world, by pointer.
type Record interface {
	comparable
	Number() int64   // never changes, and is not used again
	Forgotten() bool // the record is no part of the world any more
}

// change is one line after the snapshot: a record's new state, the number of one that was forgotten, everything that is no record, or
// something that was used.
type change[R Record] struct {
	Put  R               `json:"put,omitempty"`
	Drop int64           `json:"drop,omitempty"`
	Meta json.RawMessage `json:"meta,omitempty"`
	Used json.RawMessage `json:"used,omitempty"`
}

// File is a state file. Touch, Used and Note need the world's mutex, which the other methods take themselves.
type File[R Record] struct {
	path  string
	world sync.Locker
	whole func() (any, []R)

	touched map[R]bool       // since the last Note
	used    []any            // since the last Note
	sums    map[int64]uint64 // of the records' versions in the file
	meta    []byte           // as in the file
	seed    maphash.Seed
	lines   bytes.Buffer // that the next write appends
	changed int64        // increases with every Note

	writing sync.Mutex // guards everything below
	open    *os.File   // for appending; nil: the next write is a snapshot
	written int64      // the changed that is in the file
	long    int        // bytes appended since the snapshot
	limit   int        // maximum before the next snapshot
	over    bool       // another process may use the file
}

// New returns the file of a world. With an empty path nothing is ever written. Whole returns the world as a snapshot has it, and all
// its records; it is called with the world's mutex.
func New[R Record](path string, world sync.Locker, whole func() (any, []R)) *File[R] {
	return &File[R]{path: path, world: world, whole: whole, touched: map[R]bool{}, sums: map[int64]uint64{}, seed: maphash.MakeSeed()}
}

// Read reads the snapshot into a world, and the changes after it. It returns the records that the snapshot had, as records tells, with what
// became of them, in the order of their numbers; everything else goes to other. Found is false if there is no file yet. An incomplete last
// line belongs to a call that was never answered.
func (f *File[R]) Read(world any, records func() []R, other func(meta, used json.RawMessage) error) (all []R, found bool, err error) {
	defer must.Catch(&err)
	if f.path == "" {
		return nil, false, nil
	}
	raw, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	must.Wrap(err, "read the state")
	lines := json.NewDecoder(bytes.NewReader(raw))
	if err = lines.Decode(world); err == nil {
		all, err = f.replay(lines, records(), other)
	}
	must.Wrap(err, "read the state %s", f.path)
	return all, true, nil
}

func (f *File[R]) replay(lines *json.Decoder, records []R, other func(meta, used json.RawMessage) error) ([]R, error) {
	at := map[int64]R{}
	for _, r := range records {
		at[r.Number()] = r
	}
	for {
		var c change[R]
		switch err := lines.Decode(&c); {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return slices.SortedFunc(maps.Values(at), byNumber), nil
		case err != nil:
			return nil, err
		}
		var none R
		switch {
		case c.Put != none:
			at[c.Put.Number()] = c.Put
		case c.Drop != 0:
			delete(at, c.Drop)
		default:
			if err := other(c.Meta, c.Used); err != nil {
				return nil, err
			}
		}
	}
}

func byNumber[R Record](a, b R) int { return cmp.Compare(a.Number(), b.Number()) }

// Touch says that a record may have been changed.
func (f *File[R]) Touch(r R) {
	if f.path != "" {
		f.touched[r] = true
	}
}

// Used adds a line about something that was used.
func (f *File[R]) Used(v any) {
	if f.path != "" {
		f.used = append(f.used, v)
	}
}

// Note converts what was changed to lines. It is the last step of a change under the world's mutex.
func (f *File[R]) Note(meta any) (err error) {
	defer must.Catch(&err)
	f.changed++
	if f.path == "" {
		return nil
	}
	for _, u := range f.used {
		must.Do(f.line("used", u))
	}
	f.used = nil
	all := slices.SortedFunc(maps.Keys(f.touched), byNumber[R])
	clear(f.touched)
	for _, r := range all {
		if r.Forgotten() {
			if f.sums[r.Number()] != 0 {
				fmt.Fprintf(&f.lines, "{\"drop\":%d}\n", r.Number())
			}
			delete(f.sums, r.Number())
			continue
		}
		raw := must.Get(json.Marshal(r))
		if sum := f.sum(raw); sum != f.sums[r.Number()] {
			fmt.Fprintf(&f.lines, "{\"put\":%s}\n", raw)
			f.sums[r.Number()] = sum
		}
	}
	raw, err := json.Marshal(meta)
	if err == nil && !bytes.Equal(raw, f.meta) {
		err = f.line("meta", meta)
		f.meta = raw
	}
	return err
}

func (f *File[R]) line(name string, v any) error {
	raw, err := json.Marshal(v)
	if err == nil {
		fmt.Fprintf(&f.lines, "{%q:%s}\n", name, raw)
	}
	return err
}

// sum is a checksum that is never zero.
func (f *File[R]) sum(raw []byte) uint64 { return maphash.Bytes(f.seed, raw) | 1 }

// Save writes what was noted, unless it is in the file already: one writer also writes the changes of callers that wait meanwhile. The
// snapshot is for the start, when the last line may be incomplete.
func (f *File[R]) Save(snapshot bool) error {
	if f.path == "" {
		return nil
	}
	f.world.Lock()
	mine := f.changed
	f.world.Unlock()
	f.writing.Lock()
	defer f.writing.Unlock()
	if f.over {
		return errors.New("write the state: the stand-in has stopped")
	}
	if !snapshot && f.written >= mine {
		return nil
	}
	var err error
	if snapshot || f.open == nil || f.long > f.limit {
		err = f.replace()
	} else {
		err = f.add()
	}
	if err != nil {
		f.close() // so the next write is a snapshot
		return fmt.Errorf("write the state: %w", err)
	}
	return nil
}

// Stop writes a last snapshot. Later writes fail.
func (f *File[R]) Stop() error {
	err := f.Save(true)
	f.writing.Lock()
	defer f.writing.Unlock()
	f.close()
	f.over = true
	return err
}

func (f *File[R]) close() {
	if f.open != nil {
		_ = f.open.Close() // every write was checked, or a snapshot follows
	}
	f.open = nil
}

// add appends the pending lines.
func (f *File[R]) add() error {
	f.world.Lock()
	now, lines := f.changed, bytes.Clone(f.lines.Bytes())
	f.lines.Reset()
	f.world.Unlock()
	if _, err := f.open.Write(lines); err != nil {
		return err
	}
	f.written, f.long = now, f.long+len(lines)
	return nil
}

// least prevents a small world from being written completely all the time.
const least = 1 << 20

// replace writes the whole world in place of the file.
func (f *File[R]) replace() (err error) {
	defer must.Catch(&err)
	f.world.Lock()
	now := f.changed
	raw, err := f.snapshot()
	f.world.Unlock()
	must.Do(err)
	f.close()
	must.Do(file.Replace(f.path, raw))
	f.open, err = os.OpenFile(f.path, os.O_APPEND|os.O_WRONLY, 0)
	f.written, f.long, f.limit = now, 0, max(least, 2*len(raw))
	return err
}

// snapshot is the whole world, after which the lines begin anew.
func (f *File[R]) snapshot() (_ []byte, err error) {
	defer must.Catch(&err)
	world, all := f.whole()
	raw := must.Get(json.Marshal(world))
	clear(f.sums)
	for _, r := range all {
		one := must.Get(json.Marshal(r))
		f.sums[r.Number()] = f.sum(one)
	}
	clear(f.touched)
	f.lines.Reset()
	f.used, f.meta = nil, nil
	return append(raw, '\n'), nil
}
