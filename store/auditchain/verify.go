package auditchain

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Kind says how a line is broken.
type Kind string

// The ways a chain breaks.
const (
	Changed   Kind = "changed"   // its text does not match its hash
	Missing   Kind = "missing"   // lines before it are gone
	Reordered Kind = "reordered" // it is in another line's place
	Rewritten Kind = "rewritten" // it matches its own hash, but not the line before or a known head
	Cut       Kind = "cut"       // lines after it are gone
)

// Break is one place where the chain is broken.
type Break struct {
	Seq   int64  `json:"seq"` // the line that does not fit
	Kind  Kind   `json:"kind"`
	Words string `json:"words"`
}

// mostBreaks bounds the breaks that a proof lists.
const mostBreaks = 100

// Proof is the result of a verification.
type Proof struct {
	Lines  int64   `json:"lines"`            // seen
	Head   Head    `json:"head"`             // the last line
	Breaks []Break `json:"breaks,omitempty"` // in the order they were found, at most 100
}

// Whole reports that every line is as it was written, none is missing and none was added.
func (p Proof) Whole() bool { return len(p.Breaks) == 0 }

// Text returns the proof as a sentence.
func (p Proof) Text() string {
	switch {
	case p.Whole() && p.Lines == 0:
		return "There are no lines."
	case p.Whole():
		return fmt.Sprintf("All %d lines are as they were written; the last is %d with the hash %s.", p.Lines, p.Head.Seq, p.Head.Hash)
	}
	first := p.Breaks[0]
	return fmt.Sprintf("Broken at line %d (%s): %s.", first.Seq, first.Kind, first.Words)
}

// Verifier checks the lines in order.
type Verifier struct {
	last  Head
	any   bool               // the first line may have any seq
	doubt bool               // the last line did not match its hash, so whether the next follows it says nothing
	known map[int64][]string // hashes, by seq
	proof Proof
	gaps  []gap
}

// gap is a range of missing lines that may still come.
type gap struct {
	from, to int64
	told     int // index of its break
}

// After returns a verifier that starts after a trusted head: Start for a whole trail.
func After(h Head) *Verifier { return &Verifier{last: h, known: map[int64][]string{}} }

// Anywhere returns a verifier that starts with the first line it gets, for a part of a trail.
func Anywhere() *Verifier { return &Verifier{any: true, known: map[int64][]string{}} }

// Know adds a head that is known from elsewhere, e.g. from an earlier proof: the trail has to reach and match it.
func (v *Verifier) Know(heads ...Head) {
	for _, h := range heads {
		if h.Seq > 0 {
			v.known[h.Seq] = append(v.known[h.Seq], h.Hash)
		}
	}
}

// Add checks the next line.
func (v *Verifier) Add(l Line) {
	if v.any {
		v.last, v.any = Head{Seq: l.Seq - 1, Hash: l.Previous}, false
	}
	v.proof.Lines++
	fits := v.self(l)
	if l.Seq <= v.last.Seq {
		v.late(l)
		return
	}
	switch {
	case l.Seq > v.last.Seq+1:
		v.gaps = append(v.gaps, gap{v.last.Seq + 1, l.Seq - 1, len(v.proof.Breaks)})
		v.tell(l.Seq, Missing, "%s before it %s missing", span(v.last.Seq+1, l.Seq-1), are(l.Seq-v.last.Seq-1))
	case fits && !v.doubt && l.Previous != v.last.Hash:
		v.tell(l.Seq, Rewritten, "it fits itself but does not follow line %d: one of them was written anew", v.last.Seq)
	}
	for _, hash := range v.known[l.Seq] {
		if hash != l.Hash {
			v.tell(l.Seq, Rewritten, "its hash is known to be %s", hash)
		}
	}
	v.last, v.doubt = l.Head(), !fits
}

// self compares the line with its own hash.
func (v *Verifier) self(l Line) bool {
	if l.Sum() == l.Hash {
		if !l.areDetails() {
			v.tell(l.Seq, Changed, "its details are not those of its metadata")
		}
		return true
	}
	if seq := l.belongs(); seq != 0 {
		v.tell(l.Seq, Reordered, "what stands here was written as line %d", seq)
	} else {
		v.tell(l.Seq, Changed, "its texts are not those its hash was made of")
	}
	return false
}

// late records a line that comes after one it belongs before: it is not missing then.
func (v *Verifier) late(l Line) {
	for _, g := range v.gaps {
		if g.from <= l.Seq && l.Seq <= g.to && g.told < len(v.proof.Breaks) {
			v.proof.Breaks[g.told].Kind = Reordered
			v.proof.Breaks[g.told].Words = fmt.Sprintf("it comes before line %d", l.Seq)
			return
		}
	}
	v.tell(l.Seq, Reordered, "it comes after line %d", v.last.Seq)
}

// End returns the result.
func (v *Verifier) End() Proof {
	furthest := int64(0)
	for seq := range v.known {
		furthest = max(furthest, seq)
	}
	if furthest > v.last.Seq {
		v.tell(v.last.Seq, Cut, "%s after it %s missing", span(v.last.Seq+1, furthest), are(furthest-v.last.Seq))
	}
	v.proof.Head = v.last
	return v.proof
}

func (v *Verifier) tell(seq int64, kind Kind, words string, args ...any) {
	if len(v.proof.Breaks) < mostBreaks {
		v.proof.Breaks = append(v.proof.Breaks, Break{seq, kind, fmt.Sprintf(words, args...)})
	}
}

func span(from, to int64) string {
	if from == to {
		return fmt.Sprintf("line %d", from)
	}
	return fmt.Sprintf("lines %d to %d", from, to)
}

func are(n int64) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// Copy verifies an export: one line of the trail per line, oldest first. The error is only about reading.
func (v *Verifier) Copy(r io.Reader) (Proof, error) {
	lines := json.NewDecoder(r)
	for {
		var l Line
		switch err := lines.Decode(&l); {
		case errors.Is(err, io.EOF):
			return v.End(), nil
		case err != nil:
			return Proof{}, fmt.Errorf("read the line behind line %d: %w", v.last.Seq, err)
		}
		v.Add(l)
	}
}
