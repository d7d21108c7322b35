package slackstory_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/devstack/slack"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// TestWhateverHappensInSlackEachThingIsDoneAndToldOnce lives random lives of a workspace. -rapid.checks makes more of them than make test
// does, and -rapid.seed one again.
func TestWhateverHappensInSlackEachThingIsDoneAndToldOnce(t *testing.T) {
	if old := flag.Lookup("rapid.checks").Value.String(); old == "100" {
		require.NoError(t, flag.Set("rapid.checks", "12"))
		t.Cleanup(func() { require.NoError(t, flag.Set("rapid.checks", old)) })
	}
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(t, r)
		r.Repeat(map[string]func(*rapid.T){
			"create": w.create, "create another": w.create, "command": w.command, "command more": w.command, "owner": w.owner, "owner more": w.owner, "click": w.click, "click more": w.click,
			"click again": w.click, "form": w.form, "form on": w.form, "form more": w.form, "home": w.home, "admin": w.admin, "trouble": w.trouble,
			"trouble more": w.trouble, "restart": func(*rapid.T) { w.restart() }, "works": w.works, "works more": w.works, "works on": w.works,
			"works all": func(*rapid.T) { w.run(100, "") }, "time": w.time, "runner": w.runner, "runner more": w.runner,
			"ages": w.ages, "ages more": w.ages, "outage": w.outage, "outage more": w.outage,
		})
		w.settle()
		w.inspect()
		w.rest()
	})
}

// settle puts the workspace right and works until nothing waits.
func (w *world) settle() {
	ctx := w.Context()
	w.mu.Lock()
	w.fates, w.deaths = nil, 0
	w.mu.Unlock()
	for _, c := range channels {
		require.NoError(w, w.slack.Unarchive(ctx, c))
		require.NoError(w, w.slack.Invite(ctx, slack.Bot, c))
	}
	for round := range 150 {
		w.wake()
		w.run(1000, "")
		if len(w.waiting()) == 0 {
			return
		}
		w.pass(2 * time.Second)
		if round%20 == 19 { // where something was wrong, the next try comes after ten minutes, and later after an hour
			w.pass(11 * time.Minute)
		}
		if round%50 == 49 {
			w.pass(61 * time.Minute)
		}
	}
	require.Fail(w, "it never comes to rest", "%v\n%v", w.waiting(), w.failed)
}

// waiting are the rows of which something is not done yet.
func (w *world) waiting() []string {
	return w.query(`
		SELECT 'delivery ' || event || ' ' || note FROM deliveries WHERE state = 'received'
		UNION ALL SELECT 'reply ' || body FROM replies WHERE external_id = 0
		UNION ALL SELECT 'subscriber ' || s.kind || ' ' || c.name FROM subscribers s JOIN clusters c ON c.id = s.cluster_id WHERE NOT s.muted AND s.shown_version < s.wanted_version
		UNION ALL SELECT 'announcement ' || cause FROM announcements WHERE done_at IS NULL
		UNION ALL SELECT 'notice ' || cause FROM notices WHERE shown_version < wanted_version AND given_up = ''`)
}

func (w *world) query(sql string, args ...any) []string {
	w.Helper()
	rows, err := w.store.Pool().Query(w.Context(), sql, args...)
	require.NoError(w, err)
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(w, err)
	return list
}

// strangersDidNothing: guests and people of other organizations changed nothing and learnt of no cluster, and a linked account counts for
// the person who linked it.
func (w *world) strangersDidNothing() {
	for _, name := range []string{"gus", "sam"} {
		p, _ := slack.By(name)
		account := "slack:" + slack.Workspace + "/" + p.ID
		require.Empty(w, w.query(`SELECT action FROM audit_events WHERE actor = $1`, account), name)
		for _, row := range w.rows() {
			require.Empty(w, w.query(`SELECT body FROM replies WHERE person = $1 AND position($2 IN body) > 0`, p.ID, row.ID), "%s was told of %s", name, row.Name)
		}
		require.Empty(w, w.query(`SELECT body FROM replies WHERE person = $1 AND body LIKE '%/links/%'`, p.ID), name)
	}
	require.Equal(w, []string{linked}, w.query(`SELECT person_of($1)`, "slack:"+slack.Workspace+"/"+gwen))
}

// inspect compares what is stored and what people see with what was done.
func (w *world) inspect() {
	w.deliveriesDone()
	w.clustersShownOnce()
	w.noticesToldOnce()
	w.changesMadeOnce()
	w.nothingLost()
	w.threadsTellActs()
	w.strangersDidNothing()
	w.nothingSecret()
}

// marked are the messages of the bot that are not deleted, by their marker.
func (w *world) marked() (by map[string][]slack.Message, answers int) {
	by = map[string][]slack.Message{}
	for _, m := range w.slack.Messages() {
		var meta struct {
			Payload struct{ ID string } `json:"event_payload"`
		}
		if m.From != slack.Bot || m.Kind == slack.KindAck {
			continue
		}
		if len(m.Metadata) == 0 {
			answers++
			continue
		}
		require.NoError(w, json.Unmarshal(m.Metadata, &meta))
		if !m.Deleted {
			by[meta.Payload.ID] = append(by[meta.Payload.ID], m)
		}
	}
	for marker, list := range by {
		require.Len(w, list, 1, "%s stands more than once in Slack", marker)
	}
	return by, answers
}

// deliveriesDone: what Slack got an answer for was processed, and whoever asked in words has one answer.
func (w *world) deliveriesDone() {
	for id, r := range w.accepted {
		require.Equal(w, []string{"done"}, w.query(`SELECT state FROM deliveries WHERE source = 'slack' AND delivery_id = $1`, id), "%s %s: %s", r.Kind, r.Text,
			strings.Join(w.query(`SELECT note FROM deliveries WHERE delivery_id = $1`, id), " "))
		answered := len(w.query(`SELECT body FROM replies WHERE cause = $1`, "slack:"+r.Workspace+":"+id))
		switch r.Kind {
		case inbound.Command, inbound.Mention, inbound.Direct:
			require.Equal(w, 1, answered, "%s by %s", r.Text, r.User)
		case inbound.Change, inbound.HomeOpened, inbound.Lifecycle:
			require.Zero(w, answered)
		}
	}
	_, answers := w.marked()
	posted := len(w.query(`SELECT id FROM replies WHERE external_id > 0`))
	require.GreaterOrEqual(w, answers, posted)
	require.LessOrEqual(w, answers, posted+w.unsure, "an answer is repeated only after a call of which nobody knows whether it arrived")
}

// clustersShownOnce: each cluster has one message where it was asked for, unless a person deleted it, and the message shows its state.
func (w *world) clustersShownOnce() {
	by, _ := w.marked()
	for _, row := range w.rows() {
		var id, channel string
		var shown, ts int64
		var muted bool
		require.NoError(w, w.store.Pool().QueryRow(w.Context(), `
			SELECT id, channel, shown_version, external_id, muted FROM subscribers WHERE cluster_id = $1 AND kind = 'slack_message'`, row.ID).
			Scan(&id, &channel, &shown, &ts, &muted))
		if muted {
			require.Empty(w, by[id], "%s was deleted", row.Name)
			require.NotEmpty(w, w.deleted)
			continue
		}
		require.Equal(w, row.Cluster.Version, shown)
		if w.deleted[ts] && len(by[id]) == 0 {
			continue // since its last change
		}
		require.Len(w, by[id], 1, row.Name)
		m := by[id][0]
		require.Equal(w, []any{channel, ts}, []any{m.Channel, m.ID}, row.Name)
		require.Contains(w, m.Text, row.Name)
		verbs := []chatops.Verb{}
		for _, b := range buttonsIn(m.Blocks) {
			verbs = append(verbs, b.press.Verb)
			if b.press.Verb != chatops.VerbApprove && b.press.Verb != chatops.VerbRefuse {
				require.Equal(w, row.ID, b.press.Cluster)
			}
		}
		about := fmt.Sprintf("%s is %s, %s", row.Name, row.Status, row.Desired)
		if row.Status == lifecycle.Destroyed || row.Desired != lifecycle.Present {
			require.NotContains(w, verbs, chatops.VerbExtend, about)
			require.NotContains(w, verbs, chatops.VerbApprove, about)
			require.NotContains(w, verbs, chatops.VerbDestroy, about)
		} else {
			require.Contains(w, verbs, chatops.VerbDestroy, about)
		}
		require.Equal(w, row.NeedsApproval && row.Desired == lifecycle.Present, slices.Contains(verbs, chatops.VerbApprove), about)
	}
}

// noticesToldOnce: each place heard once of each thing.
func (w *world) noticesToldOnce() {
	by, _ := w.marked()
	rows, err := w.store.Pool().Query(w.Context(), `SELECT id, given_up, external_id, cause FROM notices`)
	require.NoError(w, err)
	var id, gone, cause string
	var ts int64
	known := map[int64]bool{}
	_, err = pgx.ForEachRow(rows, []any{&id, &gone, &ts, &cause}, func() error {
		if gone == "" {
			require.NotZero(w, ts, cause)
			known[ts] = true
		} else if ts == 0 {
			require.Empty(w, by[id], "%s was given up (%s), and stands in Slack", cause, gone)
		}
		return nil
	})
	require.NoError(w, err)
	require.Empty(w, w.query(`SELECT min(cause) FROM notices GROUP BY cause, workspace, channel, person HAVING count(*) > 1`))
	for marker, list := range by {
		if strings.HasPrefix(marker, "not_") {
			require.True(w, known[list[0].ID], "%s stands in Slack, and no notice knows it", marker)
		}
	}
}

// changesMadeOnce: nothing was changed more often than somebody asked for it, and every cluster is its asker's.
func (w *world) changesMadeOnce() {
	asked, pressed := map[string]int{}, map[string]int{}
	creates := map[string]inbound.Request{}
	for id, r := range w.accepted {
		switch r.Kind {
		case inbound.Command, inbound.Mention, inbound.Direct:
			c, _ := chatops.ParseSlack(r.Text)
			if c == nil {
				continue
			}
			asked[string(c.Verb)]++
			asked[string(c.Verb)+" by "+r.User]++
			if c.Verb == chatops.VerbCreate {
				creates[c.Name] = r
			}
		case inbound.Press:
			p, err := blocks.DecodePress(r.Value)
			require.NoError(w, err)
			asked[string(p.Verb)]++
			asked[string(p.Verb)+" by "+r.User]++
			said := w.query(`SELECT body FROM replies WHERE cause = $1`, "slack:"+r.Workspace+":"+id)
			if p.Notice != "" && p.Verb == chatops.VerbExtend && len(said) == 1 && strings.Contains(said[0], "now ends") {
				pressed[p.Notice]++
			}
		case inbound.Submission:
			asked[map[string]string{
				blocks.FormReason: "refuse", blocks.FormShare: "share", blocks.FormTransfer: "transfer", blocks.FormCreate: "form",
			}[r.View.Callback]]++
		}
	}
	for _, warning := range w.query(`SELECT id FROM notices WHERE kind = 'expiring'`) { // a button elsewhere extends each time
		require.LessOrEqual(w, pressed[warning], 1, "the buttons of %s extended more than once", warning)
	}
	for action, verb := range map[string]string{"extended": "extend", "shared": "share", "unshared": "unshare", "held": "hold"} {
		made := len(w.query(`SELECT action FROM audit_events WHERE action = $1`, action))
		require.LessOrEqual(w, made, asked[verb], "%s more often than asked for", action)
	}
	forms := 0
	for _, row := range w.rows() {
		r, typed := creates[row.Name]
		if !typed {
			forms++
			continue
		}
		if by := strings.TrimPrefix(row.RequestedBy, "slack:"+slack.Workspace+"/"); by != r.User {
			taken := asked["retry by "+by] + asked[string(chatops.VerbAcceptHandover)+" by "+by]
			require.NotZero(w, taken, "%s asked for %s, and not %s", r.User, row.Name, by)
			forms++
		}
	}
	require.LessOrEqual(w, forms, asked["form"]+asked["retry"], "clusters of forms, and those asked for again")
	for _, name := range []string{"gus", "ada", "sam"} {
		p, _ := slack.By(name)
		require.Empty(w, w.query(`SELECT name FROM clusters WHERE requested_by = $1`, "slack:"+slack.Workspace+"/"+p.ID), "%s may not", name)
	}
	require.Empty(w, w.query(`SELECT approval_id FROM approval_votes GROUP BY approval_id, principal HAVING count(*) > 1`))
	require.Empty(w, w.query(`SELECT principal FROM approval_votes WHERE principal <> $1`, "slack:"+slack.Workspace+"/U0DEMOWILL"))
}

// nothingSecret looks for what must not be kept in everything that is stored or shown.
func (w *world) nothingSecret() {
	var all strings.Builder
	for _, table := range []string{
		"replies", "notices", "announcements", "subscribers", "audit_events", "slack_people", "slack_homes", "slack_channels", "clusters", "request_keys", "handovers",
	} {
		all.WriteString(strings.Join(w.query(`SELECT to_jsonb(t)::text FROM `+table+` t`), "\n"))
	}
	all.WriteString(strings.Join(w.query(`SELECT convert_from(body, 'UTF8') || note FROM deliveries`), "\n"))
	for _, m := range w.slack.Messages() {
		all.WriteString(m.Text + string(m.Blocks) + string(m.Metadata))
	}
	for _, never := range []string{botToken, signingSecret, slack.DefaultAppToken, "response_url", w.slack.URL() + "/hooks", "verification-token"} {
		require.False(w, strings.Contains(all.String(), never), "%q is stored or shown", never)
	}
}

// rest: where nothing happens, nothing is posted. App Homes may follow what was posted last.
func (w *world) rest() {
	w.quiet(3)
	before, version := total(w.calls), w.versions()
	w.quiet(5)
	if slices.Equal(version, w.versions()) {
		require.Equal(w, before, total(w.calls), "%v", w.calls)
	}
	changes := len(w.query(`SELECT id::text FROM audit_events`))
	require.Less(w, before, 100+20*(len(w.accepted)+changes+w.unsure), "a storm of calls: %v", w.calls)
}

func (w *world) quiet(rounds int) {
	for range rounds {
		w.pass(10 * time.Second)
		w.wake()
		w.run(1000, "")
	}
}

func (w *world) versions() []string {
	return w.query(`SELECT coalesce(sum(row_version), 0)::text FROM clusters`)
}

func total(of map[string]int) (n int) {
	for _, each := range of {
		n += each
	}
	return n
}
