package slackstory_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/slack"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store/clusters"
)

const aTime = `<!date\^(\d+)\^[^>]*>`

// What answers promise. A time is one of Slack's, by its Unix time.
var (
	saidExtended = regexp.MustCompile("The lifetime of `([^`]+)` now ends " + aTime + ` \(it was ` + aTime)
	saidHeld     = regexp.MustCompile("`([^`]+)` is held until " + aTime + "|`([^`]+)` is held\\. The hold lasts until " + aTime)
	saidReleased = regexp.MustCompile("(?m)^([a-z0-9-]+) is no longer held")
	saidShared   = regexp.MustCompile("`([^`]+)` is shared with `@([^`]+)`")
	saidUnshared = regexp.MustCompile("`([^`]+)` is no longer shared with `@")
	saidDestroys = regexp.MustCompile("`([^`]+)` is being destroyed \\(job")
	saidVoted    = regexp.MustCompile("^You (approved|refused) `([^`]+)`")
	saidAccepted = regexp.MustCompile("^`([^`]+)` is accepted")
	saidAgain    = regexp.MustCompile("was already requested again by .*, as `([^`]+)`")
	saidTaken    = regexp.MustCompile(`its owner is now ([a-z]+)`)
)

// change is a line of the audit trail about a cluster.
type change struct {
	Cluster, Action, Actor string
	At                     *time.Time
	Before, After          json.RawMessage
}

// trail returns the lines about clusters, oldest first.
func (w *world) trail() []change {
	rows, err := w.store.Pool().Query(w.Context(), `
		SELECT coalesce(target_cluster_id, '') AS cluster, action, actor, (metadata ->> 'at')::timestamptz AS at,
			coalesce(metadata -> 'before', 'null') AS before, coalesce(metadata -> 'after', 'null') AS after FROM audit_events ORDER BY seq`)
	require.NoError(w, err)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[change])
	require.NoError(w, err)
	return list
}

// promises are what people were told about a cluster, by its name.
type promises struct {
	extended, held             []int64 // Unix times
	unshared, shared, released int
	destroys                   bool
}

// told returns what all answers promise.
func (w *world) told() map[string]*promises {
	by := map[string]*promises{}
	of := func(name string) *promises {
		if by[name] == nil {
			by[name] = &promises{}
		}
		return by[name]
	}
	unix := func(text string) int64 {
		n, err := strconv.ParseInt(text, 10, 64)
		require.NoError(w, err)
		return n
	}
	for _, body := range w.query(`SELECT body FROM replies`) {
		if m := saidExtended.FindStringSubmatch(body); m != nil && m[2] != m[3] {
			of(m[1]).extended = append(of(m[1]).extended, unix(m[2]))
		}
		if m := saidHeld.FindStringSubmatch(body); m != nil {
			of(m[1] + m[3]).held = append(of(m[1]+m[3]).held, unix(m[2]+m[4]))
		}
		if m := saidReleased.FindStringSubmatch(body); m != nil {
			of(m[1]).released++
		}
		if m := saidShared.FindStringSubmatch(body); m != nil {
			of(m[1]).shared++
		}
		if m := saidUnshared.FindStringSubmatch(body); m != nil {
			of(m[1]).unshared++
		}
		if m := saidDestroys.FindStringSubmatch(body); m != nil {
			of(m[1]).destroys = true
		}
	}
	return by
}

// nothingLost: what people were told was done was done, exactly so, and nothing undid it but what somebody asked for.
func (w *world) nothingLost() {
	told, trail := w.told(), w.trail()
	rows := w.rows()
	known, done := map[string]bool{}, map[string]*promises{} // a name's next cluster may come after a retry, and answers tell the name alone
	for _, row := range rows {
		known[row.Name] = true
		of := slices.DeleteFunc(slices.Clone(trail), func(c change) bool { return c.Cluster != row.ID })
		if done[row.Name] == nil {
			done[row.Name] = &promises{}
		}
		p := done[row.Name]
		w.endsMoved(row, of, p)
		w.holdsKept(row, of, p)
		w.sharesKept(row, of, p)
		p.destroys = p.destroys || row.Desired == lifecycle.Absent
	}
	for name, p := range done {
		w.toldAsDone(name, p, told[name])
	}
	for name := range told {
		require.True(w, known[name], "somebody was told of %s, which does not exist", name)
	}
	votes := map[string]int{}
	for _, body := range w.query(`SELECT body FROM replies`) {
		if m := saidVoted.FindStringSubmatch(body); m != nil {
			votes[m[1]]++
		}
		for _, said := range []*regexp.Regexp{saidAccepted, saidAgain} {
			if m := said.FindStringSubmatch(body); m != nil {
				require.True(w, known[m[1]], "%s was accepted, and does not exist", m[1])
			}
		}
	}
	require.Len(w, w.query(`SELECT principal FROM approval_votes WHERE approves`), votes["approved"])
	require.Len(w, w.query(`SELECT principal FROM approval_votes WHERE NOT approves`), votes["refused"])
	taken := len(w.query(`SELECT id FROM handovers WHERE state = 'accepted'`))
	require.Len(w, slices.DeleteFunc(w.query(`SELECT body FROM replies`), func(body string) bool { return !saidTaken.MatchString(body) }), taken)
}

// toldAsDone: what people were told of the clusters of a name is what was done to them.
func (w *world) toldAsDone(name string, done, told *promises) {
	if told == nil {
		told = &promises{}
	}
	require.ElementsMatch(w, done.extended, told.extended, "%s: the extensions, and what people were told of them", name)
	for _, until := range told.held {
		require.Contains(w, done.held, until, "%s: somebody was told that it is held until then", name)
	}
	require.Equal(w, done.released, told.released, "%s: the releases, and what people were told of them", name)
	require.Equal(w, done.unshared, told.unshared, "%s: what was taken back, and what people were told of it", name)
	require.LessOrEqual(w, done.shared, told.shared, "%s: shared more often than somebody was told", name)
	if told.shared > 0 {
		require.NotZero(w, done.shared, "%s: somebody was told that it is shared", name)
	}
	if told.destroys {
		require.True(w, done.destroys, "%s was to be destroyed", name)
	}
}

// endsMoved: each extension moved the lifetime's end from where it was.
func (w *world) endsMoved(row clusters.Row, of []change, p *promises) {
	end := row.AcceptedAt.Add(row.TTL)
	for _, c := range of {
		if c.Action != "extended" {
			continue
		}
		var before, after time.Time
		require.NoError(w, json.Unmarshal(c.Before, &before))
		require.NoError(w, json.Unmarshal(c.After, &after))
		require.True(w, before.Equal(end), "%s was extended from %s, and ended %s", row.Name, before, end)
		require.True(w, after.After(before), row.Name)
		end, p.extended = after, append(p.extended, after.Unix())
	}
	require.True(w, row.Ends.TTL.Equal(end), "%s ends %s, and was extended to %s", row.Name, row.Ends.TTL, end)
}

// holdsKept: a hold stands unless another or a release followed.
func (w *world) holdsKept(row clusters.Row, of []change, p *promises) {
	var hold time.Time
	for _, c := range of {
		switch c.Action {
		case "hold_set":
			require.NotNil(w, c.At)
			hold, p.held = *c.At, append(p.held, c.At.Unix())
		case "hold_lifted":
			hold = time.Time{}
			p.released++
		}
	}
	require.True(w, row.Ends.Hold.Equal(hold), "%s is held until %s, and was to be until %s", row.Name, row.Ends.Hold, hold)
}

// sharesKept: a cluster is shared with those with whom somebody shared it last.
func (w *world) sharesKept(row clusters.Row, of []change, p *promises) {
	with := map[string]bool{}
	for _, c := range of {
		var grantee struct{ With string }
		switch c.Action {
		case "shared":
			require.NoError(w, json.Unmarshal(c.After, &grantee))
			with[grantee.With] = true
			p.shared++
		case "unshared":
			require.NoError(w, json.Unmarshal(c.Before, &grantee))
			delete(with, grantee.With)
			p.unshared++
		}
	}
	var want []string
	for id := range with {
		want = append(want, id)
	}
	require.ElementsMatch(w, want, w.query(`SELECT grantee FROM shares WHERE cluster_id = $1`, row.ID), row.Name)
}

// threadsTellActs: the thread of a cluster tells each extension once, unless somebody deleted a part of it.
func (w *world) threadsTellActs() {
	by := map[string]int{} // lines by the channel and timestamp of the thread's first message
	for _, m := range w.slack.Messages() {
		if m.Thread != "" && m.From == slack.Bot && m.Kind == slack.KindChannel && !m.Deleted {
			by[m.Channel+" "+m.Thread] += strings.Count(m.Text, "*extended by ")
		}
	}
	if len(w.deleted) > 0 {
		return
	}
	for _, row := range w.rows() {
		var channel string
		var ts int64
		require.NoError(w, w.store.Pool().QueryRow(w.Context(), `
			SELECT channel, external_id FROM subscribers WHERE cluster_id = $1 AND kind = 'slack_message'`, row.ID).Scan(&channel, &ts))
		if !strings.HasPrefix(channel, "C") {
			continue
		}
		extended := len(w.query(`SELECT actor FROM audit_events WHERE action = 'extended' AND target_cluster_id = $1`, row.ID))
		require.Equal(w, extended, by[fmt.Sprintf("%s %d.%06d", channel, ts/1_000_000, ts%1_000_000)], "%s: what its thread tells", row.Name)
	}
}
