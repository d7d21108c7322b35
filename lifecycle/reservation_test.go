package lifecycle

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func eips(limit, used, need, lasting int, by map[string]int) Quota {
	return Quota{Service: "ec2", Code: "L-0263D0A3", Name: "Elastic IPs", Limit: limit, Used: used, Need: need, Lasting: lasting, UsedBy: by}
}

func holds(cluster string, ready bool, need, lasting int) Holding {
	return Holding{Cluster: cluster, Ready: ready, Quotas: []Quota{eips(0, 0, need, lasting, nil)}}
}

func TestWhatIsInAClustersGroupIsThatClusters(t *testing.T) {
	q := eips(6, 5, 3, 3, map[string]int{"b": 1})
	q.UsedIn = map[string]int{"a-group": 2, "b-group": 1, "default": 1}
	held := []Holding{holds("a", false, 3, 1), holds("b", true, 3, 2)}
	wait, _ := Fits([]Quota{q}, held, nil)
	require.Equal(t, "Elastic IPs: 3 needed, 9 of 6 are in use or reserved", wait, "what nobody attributed counts twice")
	got := q.Attribute(map[string]string{"a-group": "a", "b-group": "b", "c-group": "c"})
	require.Equal(t, eips(6, 5, 3, 3, map[string]int{"a": 2, "b": 2}), got)
	require.Equal(t, map[string]int{"b": 1}, q.UsedBy, "the measured quota stays as it is")
	wait, _ = Fits([]Quota{got}, held, nil)
	require.Equal(t, "Elastic IPs: 3 needed, 6 of 6 are in use or reserved", wait, "three and two of the clusters, and one of somebody else")
	require.Equal(t, eips(6, 5, 3, 3, nil), eips(6, 5, 3, 3, nil).Attribute(nil), "on AWS nothing is told by groups")
}

func TestWhetherADemandFits(t *testing.T) {
	zoned := eips(5, 5, 1, 1, nil)
	zoned.Scope = "us-east-1a"
	unknown := eips(0, 0, 3, 3, nil)
	unknown.Unknown = "AccessDenied"
	for name, c := range map[string]struct {
		demand      Quota
		held, ahead []Holding
		wait, never string
	}{
		"an empty account":                                {demand: eips(5, 0, 5, 5, nil)},
		"strangers use it":                                {demand: eips(5, 3, 3, 3, nil), wait: "Elastic IPs: 3 needed, 3 of 5 are in use or reserved"},
		"more than the limit":                             {demand: eips(5, 0, 6, 6, nil), never: "Elastic IPs: 6 needed, but the limit is 5"},
		"what could not be measured blocks nobody":        {demand: unknown, held: []Holding{holds("a", false, 9, 9)}},
		"what is not needed blocks nobody":                {demand: eips(5, 9, 0, 0, nil)},
		"one installs beside and made nothing yet":        {demand: eips(5, 0, 3, 3, nil), held: []Holding{holds("a", false, 3, 1)}, wait: "Elastic IPs: 3 needed, 3 of 5 are in use or reserved"},
		"a ready one is visible and counted once":         {demand: eips(6, 3, 3, 3, map[string]int{"a": 3}), held: []Holding{holds("a", true, 4, 3)}},
		"one that installs counts with what it needs":     {demand: eips(6, 1, 3, 3, map[string]int{"a": 1}), held: []Holding{holds("a", false, 4, 3)}, wait: "Elastic IPs: 3 needed, 4 of 6 are in use or reserved"},
		"one that uses more than it asked for":            {demand: eips(6, 5, 2, 2, map[string]int{"a": 5}), held: []Holding{holds("a", true, 3, 3)}, wait: "Elastic IPs: 2 needed, 5 of 6 are in use or reserved"},
		"a ready one holds what lasts":                    {demand: eips(6, 0, 3, 3, nil), held: []Holding{holds("a", true, 4, 3)}},
		"one that nothing is set aside for is a stranger": {demand: eips(5, 3, 3, 3, map[string]int{"a": 3}), wait: "Elastic IPs: 3 needed, 3 of 5 are in use or reserved"},
		"others wait longer":                              {demand: eips(5, 0, 3, 3, nil), ahead: []Holding{holds("b", false, 3, 3)}, wait: "Elastic IPs: 3 needed, 0 of 5 are in use or reserved, and clusters ahead in the queue need 3"},
		"others wait longer and both fit":                 {demand: eips(6, 0, 3, 3, nil), ahead: []Holding{holds("b", false, 3, 3)}},
		"another zone is another quota":                   {demand: zoned, held: []Holding{holds("a", false, 3, 3)}, wait: "Elastic IPs in us-east-1a: 1 needed, 5 of 5 are in use or reserved"},
		"a listing that lags counts no stranger twice":    {demand: eips(5, 1, 2, 2, map[string]int{"a": 3}), held: []Holding{holds("a", true, 3, 3)}},
	} {
		t.Run(name, func(t *testing.T) {
			wait, never := Fits([]Quota{c.demand}, c.held, c.ahead)
			require.Equal(t, []string{c.wait, c.never}, []string{wait, never})
		})
	}
	wait, never := Fits([]Quota{eips(5, 5, 1, 1, nil), {Service: "vpc", Code: "L-F678F1CE", Limit: 5, Used: 5, Need: 1}}, nil, nil)
	require.Equal(t, "Elastic IPs: 1 needed, 5 of 5 are in use or reserved; vpc L-F678F1CE: 1 needed, 5 of 5 are in use or reserved", wait)
	require.Empty(t, never)
}

// A run of installs, each growing to what it asked for, never passes the limit, whoever asks in whatever order; and
// nobody is granted what one that waits longer would need.
func TestWhatIsGrantedNeverPassesTheLimit(t *testing.T) {
	set(t, "rapid.checks", "300")
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 20).Draw(t, "limit")
		strangers := rapid.IntRange(0, limit).Draw(t, "strangers")
		var held, line []Holding
		exists := map[string]int{} // what each has made
		used := func() int {
			n := strangers
			for _, made := range exists {
				n += made
			}
			return n
		}
		for i := range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "what") {
			case 0: // somebody new asks
				need := rapid.IntRange(1, 6).Draw(t, "need")
				line = append(line, holds(fmt.Sprint("c", i), false, need, rapid.IntRange(0, need).Draw(t, "lasting")))
			case 1: // somebody installs on
				if len(held) > 0 {
					h := held[rapid.IntRange(0, len(held)-1).Draw(t, "who")]
					exists[h.Cluster] = rapid.IntRange(0, h.of("ec2 L-0263D0A3 ")).Draw(t, "made")
				}
			case 2: // somebody is ready
				if len(held) > 0 {
					h := &held[rapid.IntRange(0, len(held)-1).Draw(t, "who")]
					h.Ready = true
					exists[h.Cluster] = h.Quotas[0].Lasting
				}
			case 3: // somebody is released
				if len(held) > 0 {
					delete(exists, held[0].Cluster)
					held = held[1:]
				}
			}
			if len(line) == 0 {
				continue
			}
			at := rapid.IntRange(0, len(line)-1).Draw(t, "asks")
			q := line[at].Quotas[0]
			wait, never := Fits([]Quota{eips(limit, used(), q.Need, q.Lasting, exists)}, held, line[:at])
			switch {
			case never != "":
				require.Greater(t, q.Need, limit)
				line = slices.Delete(line, at, at+1)
			case wait == "":
				held = append(held, line[at])
				line = slices.Delete(line, at, at+1)
				most := strangers
				for _, h := range held {
					most += max(h.of("ec2 L-0263D0A3 "), exists[h.Cluster])
				}
				for _, before := range line[:at] {
					most += before.Quotas[0].Need
				}
				require.LessOrEqual(t, most, limit, "strangers, everybody granted and everybody before it fit together")
			}
		}
	})
}
