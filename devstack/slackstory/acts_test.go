package slackstory_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/devstack/slack"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

var (
	persons  = []string{"maya", "rob", "gwen", "will", "ada", "gus", "sam"} // gwen's account is linked, gus is a guest, and sam is of another company
	channels = []string{slack.Clusters, slack.Payments, slack.Admins, slack.Shared}
)

// gwen is the account of somebody who linked it while signed in as linked.
const gwen, linked = "W0DEMOGWEN", "saml:gwen"

func one[T any](t *rapid.T, what string, list []T) T { return rapid.SampledFrom(list).Draw(t, what) }

// types has somebody type a command, mention the bot, or write to it.
func (w *world) types(t *rapid.T, who, text string) {
	where := one(t, "channel", channels)
	switch one(t, "how", []string{"command", "command", "mention", "direct"}) {
	case "command":
		_, _ = w.slack.Command(w.Context(), who, where, text) // who is not in the channel, or whose channel is archived, cannot
	case "mention":
		_, _ = w.slack.Mention(w.Context(), who, where, text)
	default:
		_, _ = w.slack.DirectMessage(w.Context(), who, text)
	}
}

func (w *world) create(t *rapid.T) {
	w.named++
	name := fmt.Sprintf("%s%d", one(t, "name", []string{"quick", "quick", "careful"}), w.named)
	w.types(t, one(t, "who", persons), "create aws-minimal-test --name "+name+" --ttl "+one(t, "ttl", []string{"2h", "4h"}))
}

// command has somebody type a command about a cluster.
func (w *world) command(t *rapid.T) {
	name := "nothing"
	if rows := w.rows(); len(rows) > 0 {
		name = one(t, "cluster", rows).Name
	}
	text := one(t, "command", []string{
		"extend %s 1h", "extend %s 1h", "destroy %s", "hold %s 2h", "unhold %s", "share %s @rob", "unshare %s @rob", "share %s @gwen", "status %s", "explain %s", "list", "approvals",
		"approve %s", "refuse %s no room", "transfer %s @rob", "retry %s", "help", "extend 1h", "exten %s", "kubeconfig %s", "notify ready,failed,expiring",
	})
	w.types(t, one(t, "who", persons), strings.ReplaceAll(text, "%s", name))
}

// owner has whoever asked for a cluster change it and take that back.
func (w *world) owner(t *rapid.T) {
	rows := slices.DeleteFunc(w.rows(), func(r clusters.Row) bool { return r.Desired != lifecycle.Present })
	if len(rows) == 0 {
		return
	}
	row := one(t, "cluster", rows)
	_, who, _ := strings.Cut(row.RequestedBy, "/")
	for _, verbs := range one(t, "what", [][]string{{"share %s @rob", "unshare %s @rob"}, {"hold %s 2h", "unhold %s"}, {"extend %s 1h", "extend %s 1h"}}) {
		w.types(t, who, strings.ReplaceAll(verbs, "%s", row.Name))
		if rapid.Bool().Draw(t, "worked") {
			w.run(3, "inbox")
		}
	}
}

// button is a button that somebody sees.
type button struct{ at, id string }

// click presses a button that somebody sees; now and then two or three people press it at once.
func (w *world) click(t *rapid.T) {
	who := one(t, "who", persons)
	var seen []button
	for _, c := range w.slack.Channels(who) {
		for _, m := range w.slack.Visible(who, c.ID) {
			if m.Deleted || m.From != slack.Bot {
				continue
			}
			for _, b := range buttonsIn(m.Blocks) {
				seen = append(seen, button{m.TS, b.id})
			}
		}
	}
	if home := w.slack.Home(who); home != nil {
		for _, b := range buttonsIn(home.Blocks) {
			seen = append(seen, button{home.ID, b.id})
		}
	}
	if len(seen) == 0 {
		return
	}
	w.presses(one(t, "button", seen), append([]string{who}, persons[:rapid.IntRange(0, 2).Draw(t, "others")]...))
}

// presses has people press a button at once.
func (w *world) presses(pressed button, people []string) {
	var together errgroup.Group
	for _, person := range people {
		together.Go(func() error {
			_ = w.slack.Click(w.Context(), person, pressed.at, pressed.id) // not everybody sees it
			return nil
		})
	}
	require.NoError(w, together.Wait())
}

type placed struct {
	id    string
	press blocks.Press
}

// buttonsIn are the buttons of a message or view that are pressed for ocpctl; links lead elsewhere.
func buttonsIn(raw json.RawMessage) (list []placed) {
	var found []struct {
		Elements  []json.RawMessage
		Accessory json.RawMessage
	}
	_ = json.Unmarshal(raw, &found) // a message without blocks
	for _, b := range found {
		for _, e := range append(b.Elements, b.Accessory) {
			var el struct {
				Type, Value, URL string
				ActionID         string `json:"action_id"`
			}
			if json.Unmarshal(e, &el) != nil || el.Type != "button" || el.URL != "" {
				continue
			}
			p, _ := blocks.DecodePress(el.Value)
			list = append(list, placed{el.ActionID, p})
		}
	}
	return list
}

// form opens a form, or goes on with the one that somebody sees.
func (w *world) form(t *rapid.T) {
	who := one(t, "who", persons[:3])
	v := w.slack.Modal(who)
	if v == nil || v.Submit == "" {
		if v != nil {
			_ = w.slack.CloseView(w.Context(), who) // Slack's answer to it is not ours
		}
		_ = w.slack.UseShortcut(w.Context(), who, "ocp_create", "")
		w.run(3, "inbox") // a trigger lives three seconds
		return
	}
	switch one(t, "in the form", []string{"change", "change", "name", "submit", "submit", "close"}) {
	case "change":
		_ = w.slack.ChangeField(w.Context(), who, v.ID, "ttl", one(t, "ttl", []string{"2h", "90m", "soon"}))
	case "name":
		w.named++
		_ = w.slack.ChangeField(w.Context(), who, v.ID, "name", fmt.Sprintf("form%d", w.named))
	case "submit":
		_, _ = w.slack.SubmitView(w.Context(), who)
	default:
		_ = w.slack.CloseView(w.Context(), who)
	}
}

func (w *world) home(t *rapid.T) { _ = w.slack.OpenHome(w.Context(), one(t, "who", persons)) }

// admin changes the workspace.
func (w *world) admin(t *rapid.T) {
	c, ctx := one(t, "channel", channels), w.Context()
	switch one(t, "what", []string{"archive", "unarchive", "unarchive", "kick", "invite", "invite", "delete"}) {
	case "archive":
		_ = w.slack.Archive(ctx, c)
	case "unarchive":
		_ = w.slack.Unarchive(ctx, c)
	case "kick":
		_ = w.slack.Kick(ctx, c)
	case "invite":
		_ = w.slack.Invite(ctx, slack.Bot, c)
	default:
		list := slices.DeleteFunc(w.slack.Messages(), func(m slack.Message) bool { return m.Kind != slack.KindChannel || m.Deleted })
		if len(list) > 0 {
			m := one(t, "message", list)
			require.NoError(w, w.slack.DeleteMessage(m.Channel, m.TS))
			w.deleted[m.ID] = true
		}
	}
}

// trouble lets the next calls and requests fail.
func (w *world) trouble(t *rapid.T) {
	methods := []string{"chat.postMessage", "chat.postMessage", "chat.update", "chat.postEphemeral", "conversations.open", "conversations.history", "users.info", "views.open", "views.update"}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch one(t, "trouble", []string{"fault", "fault", "request", "death"}) {
	case "fault":
		w.slack.Break(one(t, "method", methods), one(t, "fault", []slack.Fault{
			{LoseAnswer: true}, {LoseAnswer: true}, {RetryAfter: 3}, {RetryAfter: 30}, {Code: "internal_error"},
		}))
	case "request":
		w.fates = append(w.fates, one(t, "fate", []string{"is lost", "answer is lost", "comes twice", "comes twice"}))
	default:
		w.deaths = rapid.IntRange(1, 6).Draw(t, "call that is the last")
	}
}

// run works on up to n due jobs, one after the other; of one kind if that is given.
func (w *world) run(n int, kind string) {
	for _, j := range w.jobs() {
		if n > 0 && (kind == "" || j.Kind == kind) {
			n--
			w.work(j)
		}
	}
}

// works has workers take jobs, some of them at once.
func (w *world) works(t *rapid.T) {
	list := w.jobs()
	if len(list) == 0 {
		return
	}
	from := rapid.IntRange(0, len(list)-1).Draw(t, "job")
	list = list[from:min(len(list), from+rapid.IntRange(1, 6).Draw(t, "jobs"))]
	if rapid.Bool().Draw(t, "at once") {
		if rapid.IntRange(0, 3).Draw(t, "twice") == 0 { // a process that counted as dead goes on
			list = append(list, list...)
		}
		var together errgroup.Group
		for _, j := range list {
			together.Go(func() error { w.work(j); return nil })
		}
		require.NoError(w, together.Wait())
		return
	}
	for _, j := range list {
		w.work(j)
	}
}

func (w *world) time(t *rapid.T) {
	w.pass(one(t, "time", []time.Duration{time.Second, 2 * time.Second, 10 * time.Second, time.Minute, 20 * time.Minute, 50 * time.Minute}))
	w.wake()
}

// ages brings a cluster to where its end is near, and somebody or several people press the button in the warning.
func (w *world) ages(t *rapid.T) {
	w.run(100, "")
	w.runner(t)
	w.run(100, "")
	w.pass(65 * time.Minute)
	w.wake()
	for range rapid.IntRange(1, 3).Draw(t, "rounds") {
		w.run(100, "")
		w.pass(2 * time.Second)
	}
	var warnings []button
	for _, m := range w.slack.Messages() {
		for _, b := range buttonsIn(m.Blocks) {
			if b.press.Verb == chatops.VerbExtend && b.press.Notice != "" && !m.Deleted {
				warnings = append(warnings, button{m.TS, b.id})
			}
		}
	}
	if len(warnings) > 0 {
		w.presses(one(t, "button", warnings), persons[:rapid.IntRange(0, 3).Draw(t, "people")])
	}
}

// outage loses the answers to some of the next posts.
func (w *world) outage(t *rapid.T) {
	w.slack.Break("chat.postMessage", slack.Fault{LoseAnswer: true, Times: rapid.IntRange(1, 3).Draw(t, "posts")})
	w.run(100, "")
}

func (w *world) wake() {
	_, err := w.store.WakeDue(w.Context(), 1000)
	require.NoError(w, err)
	require.NoError(w, w.current().homes.Work(w.Context(), nil))
}

func (w *world) rows() []clusters.Row {
	rows, _, err := w.store.List(w.Context(), store.Filter{Limit: 500})
	require.NoError(w, err)
	slices.SortFunc(rows, func(a, b clusters.Row) int { return strings.Compare(a.ID, b.ID) })
	return rows
}

// runner has a runner that was started go on: it claims its attempt, records what it will make, and ends.
func (w *world) runner(t *rapid.T) {
	rows := slices.DeleteFunc(w.rows(), func(r clusters.Row) bool { return r.Status == lifecycle.Destroyed })
	if len(rows) == 0 {
		return
	}
	row, ctx := one(t, "cluster", rows), w.Context()
	attempt, err := w.store.Attempts.OpenAttempt(ctx, row.ID)
	if errors.Is(err, db.ErrNotFound) {
		return
	}
	require.NoError(w, err)
	if attempt.Kind != lifecycle.Create {
		return
	}
	if _, err = w.store.Attempts.Claim(ctx, attempt.Attempt, attempt.Token, "pod-1"); err != nil {
		return // it was told to stop
	}
	infra := strings.ToLower(row.ID[len(row.ID)-8:])
	lease, err := w.store.Record(ctx, attempt.Attempt, attempt.Token, attempts.IdentityRow{
		InfraID: infra, ClusterUUID: "uuid-" + infra, Account: "123456789012", Region: "us-east-1", ReleaseDigest: "sha256:1",
		Metadata: `{"infraID":"` + infra + `"}`, InstallerSHA256: strings.Repeat("2", 64),
	}, []attempts.ArtifactRow{{
		Type: "INSTALL_DIR_SNAPSHOT", Key: infra, ManifestKey: infra + ".json", Size: 10, InfraID: infra, SHA256: strings.Repeat("1", 64), TakenAt: w.now(),
	}})
	if err != nil || lease.Stop != "" {
		return
	}
	_, err = w.store.Attempts.Result(ctx, attempt.Attempt, attempt.Token, attempts.ResultRow{
		Outcome: one(t, "outcome", []lifecycle.Outcome{lifecycle.Succeeded, lifecycle.Succeeded, lifecycle.Failure}), Reason: "InstallFailed", Message: "no quota",
	})
	require.NoError(w, err)
}
