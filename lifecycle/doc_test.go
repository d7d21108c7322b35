package lifecycle

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "draw the picture and the table in testdata anew")

// The page has the picture, and each transition with its reasons.
const transitions = "testdata/transitions.md"

const (
	transitionsHead = "# The transitions of a cluster, and their reasons\n\nA test draws this page from simulated lives.\n\n"
	pictureHead     = "The phases within each status, and the transitions between statuses:\n\n"
)

// The transitions on the page are the ones that really happen: drawn from seeded lives in the hostile outside
// and from one blow of every kind at every moment of a quiet life.
func TestTheGuideShowsTheTransitionsThatHappen(t *testing.T) {
	moves := map[move]bool{}
	for seed := range uint64(lives(drawnLives)) {
		w := newWorld(Decide, seeded(seed))
		w.moves = moves
		require.Nil(t, caught(func() { w.live(hostileSteps) }))
	}
	breaches, more := explored()
	require.Empty(t, breaches)
	maps.Copy(moves, more)
	moves = plain(moves)

	want := transitionsHead + pictureHead + picture(moves) + "\n" + table(moves)
	if *update {
		require.False(t, testing.Short(), "too few lives to draw the page from")
		require.NoError(t, os.WriteFile(transitions, []byte(want), 0o644))
		return
	}
	have, err := os.ReadFile(transitions)
	require.NoError(t, err)
	if testing.Short() { // a transition that happens seldom may be missing
		for m := range moves {
			require.Regexp(t, regexp.QuoteMeta(m.row())+".*"+regexp.QuoteMeta(m.why), string(have), "%s is stale: go test ./lifecycle -run Guide -update", transitions)
		}
		return
	}
	require.Equal(t, want, string(have), "%s is stale: go test ./lifecycle -run Guide -update", transitions)
}

// drawnLives is enough for every transition to be seen many times over.
const drawnLives = 9000

// What differs from life to life is taken out of a reason.
var variable = []struct {
	pattern *regexp.Regexp
	text    string
}{
	{regexp.MustCompile(`\d\d:\d\d(:\d\d)? UTC on \d+ \w+`), "‹time›"},
	{regexp.MustCompile(`attempt \d+ of \d+`), "attempt ‹k› of ‹m›"},
	{regexp.MustCompile(`^teardown \d+`), "teardown ‹n›"},
	{regexp.MustCompile(`\d+ teardowns`), "‹n› teardowns"},
	{regexp.MustCompile(`still there: [^.;]*|the count of what is left was incomplete`), "‹message›"},
	{regexp.MustCompile(`the install failed: [^;]*|somebody asked for its end|the end of its time to live|the pull request was closed|` +
		`its label was removed|its workflow run finished|its claim ended|the profile's maximum lifetime|nobody approved it by ‹time›`), "‹why it ends›"},
	{regexp.MustCompile(`‹why it ends›, postponed by a hold`), "‹why it ends›"},
	{regexp.MustCompile(`\d+ of its profile's \d+ workers?`), "‹k› of its profile's ‹n› workers"},
	{regexp.MustCompile(`it has \d+ workers? again`), "it has ‹n› workers again"},
	{regexp.MustCompile(`; waiting for a free runner: .*`), ""}, // it can follow any reason
	{regexp.MustCompile(notObserved), ""},                       // it can follow each reason that nobody used it
	{regexp.MustCompile(`waiting for a free runner: .*`), "waiting for a free runner: ‹which cap is full›"},
	{regexp.MustCompile(`the queue: .*`), "the queue: ‹which quota is full›"},
	{regexp.MustCompile(`(woken again|tried again): .*`), "$1: ‹message›"},
	{regexp.MustCompile(`the (install|destroy)er ended with an error|the runner was told to stop|something is left|the account is full|` +
		`(the runner ended (without a result|before it began)|no runner claimed it within \w+)(: the runner's pod was evicted)?|‹why it ends› before a runner began`), "‹message›"},
}

func plain(moves map[move]bool) map[move]bool {
	all := map[move]bool{}
	for m := range moves {
		for _, v := range variable {
			m.why = v.pattern.ReplaceAllString(m.why, v.text)
		}
		all[m] = true
	}
	return all
}

func table(moves map[move]bool) string {
	var b strings.Builder
	b.WriteString("| from | to | why (‹…› differs from life to life) |\n|---|---|---|\n")
	var rows []move
	whys := map[move][]string{}
	for m := range moves {
		row := m
		row.why = ""
		if whys[row] == nil {
			rows = append(rows, row)
		}
		whys[row] = append(whys[row], m.why)
	}
	slices.SortFunc(rows, inOrderOfLife)
	for _, r := range rows {
		slices.Sort(whys[r])
		fmt.Fprintf(&b, "%s%s |\n", r.row(), strings.Join(whys[r], " — or — "))
	}
	return b.String()
}

// row is how the transition's row of the table begins.
func (m move) row() string {
	return fmt.Sprintf("| %s · %s | %s · %s | ", m.fromStatus, m.fromPhase, m.toStatus, m.toPhase)
}

// lifeOrder is where a phase stands in a life.
func lifeOrder(s Status, p Phase) int {
	order := []Status{Pending, Creating, Ready, Destroying, Failed, Destroyed}
	return 100*slices.Index(order, s) + slices.Index(Phases[s], p)
}

func inOrderOfLife(a, b move) int {
	return cmp.Or(
		cmp.Compare(lifeOrder(a.fromStatus, a.fromPhase), lifeOrder(b.fromStatus, b.fromPhase)),
		cmp.Compare(lifeOrder(a.toStatus, a.toPhase), lifeOrder(b.toStatus, b.toPhase)),
	)
}

// picture draws the phases inside each status, and between two statuses one arrow.
func picture(moves map[move]bool) string {
	inside, across := map[string]int{}, map[string]int{}
	var reached []Phase
	for m := range moves {
		reached = append(reached, m.fromPhase, m.toPhase)
		if m.fromStatus == m.toStatus {
			inside[fmt.Sprintf("%s --> %s", m.fromPhase, m.toPhase)] = lifeOrder(m.fromStatus, m.fromPhase)
		} else {
			across[fmt.Sprintf("%s --> %s", m.fromStatus, m.toStatus)] = lifeOrder(m.fromStatus, "")
		}
	}
	var b strings.Builder
	b.WriteString("```mermaid\nstateDiagram-v2\n  [*] --> PENDING\n")
	for _, s := range []Status{Pending, Creating, Ready, Destroying, Failed, Destroyed} {
		fmt.Fprintf(&b, "  state %s {\n", s)
		for _, p := range Phases[s] {
			if slices.Contains(reached, p) {
				fmt.Fprintf(&b, "    %s\n", p)
			}
			for _, arrow := range sorted(inside) {
				if strings.HasPrefix(arrow, string(p)+" ") {
					fmt.Fprintf(&b, "    %s\n", arrow)
				}
			}
		}
		b.WriteString("  }\n")
	}
	for _, arrow := range sorted(across) {
		fmt.Fprintf(&b, "  %s\n", arrow)
	}
	b.WriteString("  DESTROYED --> [*]\n```\n")
	return b.String()
}

func sorted(arrows map[string]int) []string {
	var all []string
	for a := range arrows {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(arrows[a], arrows[b]), cmp.Compare(a, b)) })
	return all
}
