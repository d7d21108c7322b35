package auditchain_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/store/auditchain"
)

// chain makes a whole trail.
func chain(n int) []auditchain.Line {
	last := auditchain.Start
	var lines []auditchain.Line
	for i := range n {
		lines = append(lines, link(auditchain.Line{
			Actor: "saml:maya@acme.example", Action: fmt.Sprintf("act-%d", i), Source: "api", Cluster: "clu_1",
			Metadata: fmt.Sprintf(`{"n": %d, "why": "grün <b> & \"co\""}`, i),
			At:       time.Date(2026, 11, 20, 12, 0, i, 123456000, time.UTC),
		}, last))
		last = lines[i].Head()
	}
	return lines
}

// link gives a line its place behind a head.
func link(l auditchain.Line, last auditchain.Head) auditchain.Line {
	l.Seq, l.Previous = last.Seq+1, last.Hash
	l.Hash = l.Sum()
	return l
}

func verify(lines []auditchain.Line, known ...auditchain.Head) auditchain.Proof {
	v := auditchain.After(auditchain.Start)
	v.Know(known...)
	for _, l := range lines {
		v.Add(l)
	}
	return v.End()
}

func sha(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func TestTheHashIsTakenOverTextsWithTheirLengths(t *testing.T) {
	l := auditchain.Line{Seq: 7, Previous: "ab", Actor: "ö", Action: "x", Metadata: "{}", At: time.Unix(0, 1000).UTC()}
	text := "1:7" + "2:ab" + "2:ö" + "1:x" + "0:" + "0:" + "2:{}" + "27:1970-01-01T00:00:00.000001Z"
	require.Equal(t, sha(text), l.Sum())
	moved := l
	moved.Actor, moved.Action = "öx", ""
	require.NotEqual(t, l.Sum(), moved.Sum(), "no text can pass for the end of another")
}

func TestAWholeTrailIsWhole(t *testing.T) {
	lines := chain(10)
	proof := verify(lines, auditchain.Head{}, lines[3].Head(), lines[9].Head())
	require.True(t, proof.Whole(), proof.Text())
	require.Equal(t, int64(10), proof.Lines)
	require.Equal(t, lines[9].Head(), proof.Head)
	require.Contains(t, proof.Text(), "All 10 lines")
	require.True(t, verify(nil).Whole())
	require.Equal(t, auditchain.Start, verify(nil).Head)

	part := auditchain.Anywhere()
	for _, l := range lines[4:] {
		part.Add(l)
	}
	require.True(t, part.End().Whole())
}

func TestABreakSaysWhichLineAndHow(t *testing.T) {
	for name, c := range map[string]struct {
		tamper func([]auditchain.Line) []auditchain.Line
		want   []string // "seq kind"
	}{
		"a changed text": {func(l []auditchain.Line) []auditchain.Line {
			l[4].Metadata = `{"n": 5}`
			return l
		}, []string{"5 changed"}},
		"details that are not the metadata": {func(l []auditchain.Line) []auditchain.Line {
			l[3].Details = json.RawMessage(l[3].Metadata)
			l[4].Details = json.RawMessage(`{"n": 5}`)
			return l
		}, []string{"5 changed"}},
		"a changed text with a hash of its own": {func(l []auditchain.Line) []auditchain.Line {
			l[4].Actor = "nobody"
			l[4].Hash = l[4].Sum()
			return l
		}, []string{"6 rewritten"}},
		"a line taken out": {func(l []auditchain.Line) []auditchain.Line {
			return slices.Delete(l, 4, 5)
		}, []string{"6 missing"}},
		"lines taken out and the rest renumbered": {func(l []auditchain.Line) []auditchain.Line {
			l = slices.Delete(l, 4, 6)
			for i := 4; i < len(l); i++ {
				l[i].Seq = int64(i + 1)
			}
			return l
		}, []string{"5 reordered", "6 reordered", "7 reordered", "8 reordered", "8 cut"}},
		"two lines in each other's place": {func(l []auditchain.Line) []auditchain.Line {
			l[4], l[5] = l[5], l[4]
			l[4].Seq, l[5].Seq = 5, 6
			return l
		}, []string{"5 reordered", "6 reordered"}},
		"two lines of a copy in the wrong order": {func(l []auditchain.Line) []auditchain.Line {
			l[4], l[5] = l[5], l[4]
			return l
		}, []string{"6 reordered"}},
		"a line twice": {func(l []auditchain.Line) []auditchain.Line {
			return slices.Insert(l, 5, l[4])
		}, []string{"5 reordered"}},
		"the tail cut off": {func(l []auditchain.Line) []auditchain.Line {
			return l[:7]
		}, []string{"7 cut"}},
		"everything gone": {func([]auditchain.Line) []auditchain.Line { return nil }, []string{"0 cut"}},
		"the whole trail written anew": {func([]auditchain.Line) []auditchain.Line {
			last, lines := auditchain.Start, chain(10)
			for i := range lines {
				lines[i].Actor = "nobody"
				lines[i] = link(lines[i], last)
				last = lines[i].Head()
			}
			return lines
		}, []string{"10 rewritten"}},
	} {
		t.Run(name, func(t *testing.T) {
			lines := chain(10)
			proof := verify(c.tamper(slices.Clone(lines)), lines[9].Head())
			var got []string
			for _, b := range proof.Breaks {
				got = append(got, fmt.Sprintf("%d %s", b.Seq, b.Kind))
			}
			require.Equal(t, c.want, got, proof.Text())
			require.False(t, proof.Whole())
		})
	}
}

func TestACopyIsVerifiedOffline(t *testing.T) {
	var file bytes.Buffer
	out := json.NewEncoder(&file)
	for _, l := range chain(100) {
		require.NoError(t, out.Encode(l))
	}
	whole := file.String()
	proof, err := auditchain.After(auditchain.Start).Copy(strings.NewReader(whole))
	require.NoError(t, err)
	require.True(t, proof.Whole(), proof.Text())
	require.Equal(t, int64(100), proof.Lines)

	proof, err = auditchain.After(auditchain.Start).Copy(strings.NewReader(strings.Replace(whole, "act-41", "act-42", 1)))
	require.NoError(t, err)
	require.Contains(t, proof.Text(), "Broken at line 42 (changed)")

	_, err = auditchain.After(auditchain.Start).Copy(strings.NewReader("{}\nnonsense"))
	require.ErrorContains(t, err, "read the line behind line")
}

func TestAProofListsNotEverything(t *testing.T) {
	lines := chain(300)
	for i := range lines {
		lines[i].Actor = "nobody"
	}
	require.Len(t, verify(lines).Breaks, 100)
}

func BenchmarkSum(b *testing.B) {
	l := chain(1)[0]
	for b.Loop() {
		l.Sum()
	}
}
