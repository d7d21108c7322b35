package aws

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"slices"
)

// The state file is a snapshot of the world, followed by one line for each later change. Handlers change resources in place, so every
// resource that a writing call accessed is compared with its version in the file.

// change is one line: a resource's new state, the Seq of one that was removed, or everything that is not a resource.
type change struct {
	Put  *Resource `json:"put,omitempty"`
	Drop int64     `json:"drop,omitempty"`
	Meta *meta     `json:"meta,omitempty"`
	Used *Used     `json:"used,omitempty"`
}

type meta struct {
	Account string          `json:"account"`
	Pinned  map[string]bool `json:"pinned"`
	Limits  map[string]int  `json:"limits"`
}

// journal is what the next write to the state file will contain.
type journal struct {
	touched map[*Resource]bool // since the last note; nil: there is no file
	used    []Used             // since the last note
	reading bool               // resources accessed by a read are not changed
	meta    []byte             // as in the file
	seed    maphash.Seed
	lines   bytes.Buffer
}

func (j *journal) touch(r *Resource) {
	if j.touched != nil && !j.reading {
		j.touched[r] = true
	}
}

// note converts changed resources to lines. It is the last step under the server's mutex.
func (w *world) note() error {
	j := &w.journal
	if j.touched == nil {
		j.used = nil
		return nil
	}
	for _, u := range j.used {
		raw, err := json.Marshal(u)
		if err != nil {
			return err
		}
		fmt.Fprintf(&j.lines, "{\"used\":%s}\n", raw)
	}
	j.used = nil
	all := slices.SortedFunc(maps.Keys(j.touched), func(a, b *Resource) int { return cmp.Compare(a.Seq, b.Seq) })
	clear(j.touched)
	for _, r := range all {
		if !r.Alive() && r.Until.IsZero() {
			if r.saved != 0 {
				fmt.Fprintf(&j.lines, "{\"drop\":%d}\n", r.Seq)
			}
			r.saved = 0
			continue
		}
		raw, sum, err := w.encode(r)
		if err != nil {
			return err
		}
		if sum != r.saved {
			fmt.Fprintf(&j.lines, "{\"put\":%s}\n", raw)
			r.saved = sum
		}
	}
	raw, err := json.Marshal(meta{w.Account, w.Pinned, w.Limits})
	if err != nil {
		return err
	}
	if !bytes.Equal(raw, j.meta) {
		fmt.Fprintf(&j.lines, "{\"meta\":%s}\n", raw)
		j.meta = raw
	}
	return nil
}

// encode returns a resource in the file's form, with a checksum that is never zero.
func (w *world) encode(r *Resource) ([]byte, uint64, error) {
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, 0, err
	}
	return raw, maphash.Bytes(w.journal.seed, raw) | 1, nil
}

// replay reads the changes after a snapshot. An incomplete last line belongs to a call that was never answered.
func (w *world) replay(changes *json.Decoder) error {
	at := map[int64]*Resource{}
	for _, r := range w.Resources {
		at[r.Seq] = r
	}
	gone := map[*Resource]bool{}
	for {
		var c change
		switch err := changes.Decode(&c); {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			w.Resources = slices.DeleteFunc(w.Resources, func(r *Resource) bool { return gone[r] || !r.Alive() })
			return nil
		case err != nil:
			return err
		}
		if c.Meta != nil {
			w.Account, w.Pinned, w.Limits = c.Meta.Account, c.Meta.Pinned, c.Meta.Limits
		}
		if c.Used != nil {
			w.Meter = sum(w.Meter, *c.Used)
		}
		if c.Drop != 0 {
			gone[at[c.Drop]] = true
			delete(at, c.Drop)
		}
		if c.Put == nil {
			continue
		}
		w.LastSeq = max(w.LastSeq, c.Put.Seq)
		old := at[c.Put.Seq]
		switch {
		case !c.Put.Alive():
			gone[old] = true
			delete(at, c.Put.Seq)
			w.Dead = append(w.Dead, c.Put)
		case old != nil:
			*old = *c.Put
		default:
			at[c.Put.Seq] = c.Put
			w.Resources = append(w.Resources, c.Put)
		}
	}
}
