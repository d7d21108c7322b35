package hooks

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/credentials"
	"github.com/ocpctl/ocpctl/app/pulls"
	slackapp "github.com/ocpctl/ocpctl/app/slack"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/slack"
	"github.com/ocpctl/ocpctl/internal/devstack/github"
	"github.com/ocpctl/ocpctl/internal/devstack/servicetest"
	standin "github.com/ocpctl/ocpctl/internal/devstack/slack"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/profiles"
)

// inTown are people of two teams in Slack. Requests come over HTTP, Slack's Web API fails now and then, and the worker's process dies.
type inTown struct {
	*front
	slackd *standin.Server
	begin  func() *InboxWorker // a new process
	worker *InboxWorker
	life   int
	sent   []message // everything that anybody sent in this life
}

// message is one request as it is sent, once or several times.
type message struct {
	id, user, verb, cluster string
	body                    string
}

func (m message) cause() string { return "slack:" + standin.Workspace + ":" + m.id }

// Who may ask for clusters of the team platform, and who may not.
var (
	mates    = []string{"U0DEMOMAYA", "U0DEMOWILL"}
	outsider = "U0DEMOROBB"
)

func newTown(t *testing.T) *inTown {
	town := &inTown{front: newFront(t)}
	var err error
	town.slackd, err = standin.Start(t.Context(), standin.Config{Token: "demo-bot", SigningSecret: slackSecret, CommandURL: town.Server.URL + "/webhooks/slack"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, town.slackd.Stop()) })
	client, err := slack.New(slack.Config{Token: secret.New("demo-bot"), BaseURL: town.slackd.API()})
	require.NoError(t, err)
	terms := servicetest.Catalogue(t, map[string]string{"quotas/quotas.yaml": "quotas: [{name: team, scope: team, live: 100000, creating: 100000}]\n"})
	for user, team := range map[string]string{mates[0]: "platform", mates[1]: "platform", outsider: "payments"} {
		terms.Identities = append(terms.Identities, profiles.Identity{
			Name: "slack-" + strings.ToLower(user), Source: profiles.SourceSlack, Role: "requester", Teams: []string{team},
			Match: map[string][]string{"workspace": {standin.Workspace}, "user": {user}},
		})
	}
	terms.Teams = []profiles.Team{
		{Name: "platform", CostCenters: []string{"sandbox"}, Environments: []string{"test"}}, {Name: "payments", CostCenters: []string{"cc-9"}, Environments: []string{"test"}},
	}
	town.begin = func() *InboxWorker {
		cfg := app.Config{
			Store: town.store, Catalogue: func() catalogue.Catalogue { return terms }, GitHub: &writers{seen: town.store}, Policy: policy.Settings{Grace: time.Minute, Installation: "test"},
			Runs: app.Runs{PullSecretRef: "file:/run/pull-secret"},
		}
		core := app.New(cfg)
		links := credentials.New(core, cfg)
		return NewInboxWorker(town.store, pulls.New(core, links, cfg), slackapp.New(core, links, admin.New(core, cfg), client, cfg), github.AppID, nil)
	}
	town.worker = town.begin()
	return town
}

// command is a typed command of somebody.
func (town *inTown) command(user, verb, cluster, rest string) message {
	id := fmt.Sprintf("13345224609.%d.%d", town.life, len(town.sent))
	form := typed(id, user, strings.TrimSpace(strings.Join([]string{verb, cluster, rest}, " ")))
	form.Set("team_id", standin.Workspace)
	form.Set("channel_id", standin.Clusters)
	return message{id, user, verb, cluster, form.Encode()}
}

// press is a button that somebody pressed in a message.
func (town *inTown) press(user string, p blocks.Press, cluster string) message {
	trigger, at := fmt.Sprintf("13345224610.%d.%d", town.life, len(town.sent)), fmt.Sprintf("1710000000.%06d", len(town.sent))
	payload, err := json.Marshal(map[string]any{
		"type": "block_actions", "team": map[string]string{"id": standin.Workspace}, "user": map[string]string{"id": user, "team_id": standin.Workspace},
		"channel": map[string]string{"id": standin.Clusters}, "trigger_id": trigger, "response_url": "https://hooks.slack.com/actions/1/2/3", "token": "abc",
		"container": map[string]string{"type": "message", "message_ts": "1710000000.000100", "channel_id": standin.Clusters},
		"message":   map[string]string{"ts": "1710000000.000100"},
		"actions":   []map[string]any{{"type": "button", "action_id": "ocp_" + string(p.Verb), "block_id": "b", "value": p.Encode(), "action_ts": at}},
	})
	require.NoError(town, err)
	body := url.Values{"payload": {string(payload)}}.Encode()
	return message{trigger + "/" + at, user, string(p.Verb), cluster, body}
}

// send posts a request so many times, as Slack does when an answer is late.
func (town *inTown) send(m message, times int) {
	for range times {
		status, _ := town.post("/webhooks/slack", []byte(m.body), slackSigned(m.body, time.Now()))
		require.Equal(town, http.StatusOK, status)
	}
}

func (town *inTown) undone() (rows []int64) {
	for _, id := range town.query(`SELECT id::text FROM deliveries WHERE state = 'received' ORDER BY id`) {
		row, err := strconv.ParseInt(id, 10, 64)
		require.NoError(town, err)
		rows = append(rows, row)
	}
	return rows
}

// name is one of a few clusters of this life, so that people mean the same ones.
func (town *inTown) name(t *rapid.T) string {
	return fmt.Sprintf("l%dc%d", town.life, rapid.IntRange(0, 2).Draw(t, "cluster"))
}

func anybody(t *rapid.T) string {
	return rapid.SampledFrom([]string{mates[0], mates[1], outsider}).Draw(t, "who")
}

// acts are what people do.
var acts = map[string]func(*inTown, *rapid.T) message{
	"create": func(town *inTown, t *rapid.T) message {
		return town.command(anybody(t), "create", "", "aws-minimal-test --ttl 4h --name "+town.name(t))
	},
	"extend":  func(town *inTown, t *rapid.T) message { return town.command(anybody(t), "extend", town.name(t), "1h") },
	"destroy": func(town *inTown, t *rapid.T) message { return town.command(anybody(t), "destroy", town.name(t), "") },
	"share": func(town *inTown, t *rapid.T) message {
		return town.command(anybody(t), "share", town.name(t), "<@"+outsider+"|rob>")
	},
	"status": func(town *inTown, t *rapid.T) message { return town.command(anybody(t), "status", town.name(t), "") },
	"list":   func(town *inTown, t *rapid.T) message { return town.command(anybody(t), "list", "", "") },
	"offer": func(town *inTown, t *rapid.T) message {
		return town.command(anybody(t), "transfer", town.name(t), "<@"+rapid.SampledFrom(mates).Draw(t, "to")+">")
	},
	"accept": func(town *inTown, t *rapid.T) message {
		offers := append(town.query(`SELECT id FROM handovers ORDER BY id DESC LIMIT 2`), "hnd_none")
		return town.press(anybody(t), blocks.Press{Verb: chatops.VerbAcceptHandover, Value: rapid.SampledFrom(offers).Draw(t, "offer")}, "")
	},
	"press extend": func(town *inTown, t *rapid.T) message {
		name := town.name(t)
		ids := append(town.query(`SELECT id FROM clusters WHERE name = '`+name+`'`), "clu_none")
		return town.press(anybody(t), blocks.Press{Verb: chatops.VerbExtend, Cluster: ids[0], Value: "1h"}, name)
	},
	"nonsense": func(town *inTown, t *rapid.T) message { return town.command(anybody(t), "exetnd", "", "") },
}

// troubles are what goes wrong with Slack's Web API.
var troubles = []standin.Fault{{Code: "internal_error"}, {RetryAfter: 1}, {LoseAnswer: true}, {Code: "fatal_error"}}

// work processes a delivery in a process that may die at any moment: then its database connections end too.
func (town *inTown) work(t *rapid.T, row int64) {
	ctx := town.Context()
	if rapid.IntRange(0, 2).Draw(t, "dies") == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, time.Duration(rapid.IntRange(0, 25_000).Draw(t, "after"))*time.Microsecond)
		defer cancel()
		defer func() { town.worker = town.begin() }()
	}
	_ = town.worker.Process(ctx, row) // what fails is tried again
}

// TestWhateverBefallsRequestsInSlackEachIsDoneOnceAndAnsweredOnce lives random lives: people of two teams type and press, Slack sends
// things twice, its Web API fails, and the worker dies anywhere. At last the clusters are what the answers say.
func TestWhateverBefallsRequestsInSlackEachIsDoneOnceAndAnsweredOnce(t *testing.T) {
	if old := flag.Lookup("rapid.checks").Value.String(); old == "100" {
		require.NoError(t, flag.Set("rapid.checks", "15"))
		t.Cleanup(func() { require.NoError(t, flag.Set("rapid.checks", old)) })
	}
	town := newTown(t)
	rapid.Check(t, func(t *rapid.T) {
		town.life++
		town.sent = nil
		actions := map[string]func(*rapid.T){}
		for name, act := range acts {
			actions[name] = func(t *rapid.T) {
				m := act(town, t)
				town.sent = append(town.sent, m)
				town.send(m, rapid.IntRange(1, 3).Draw(t, "times"))
			}
		}
		actions["again"] = func(t *rapid.T) {
			if len(town.sent) > 0 {
				town.send(rapid.SampledFrom(town.sent).Draw(t, "which"), 1)
			}
		}
		actions["trouble"] = func(t *rapid.T) {
			method := rapid.SampledFrom([]string{"users.info", "conversations.info", "conversations.open"}).Draw(t, "method")
			town.slackd.Break(method, rapid.SampledFrom(troubles).Draw(t, "fault"))
		}
		for _, often := range []string{"work", "work more"} {
			actions[often] = func(t *rapid.T) {
				if rows := town.undone(); len(rows) > 0 {
					town.work(t, rapid.SampledFrom(rows).Draw(t, "row"))
				}
			}
		}
		t.Repeat(actions)
		for range 20 { // Slack's last troubles fail a try each
			for _, row := range town.undone() {
				_ = town.worker.Process(town.Context(), row)
			}
		}
		town.check(t)
	})
}

// answer is what a request was answered, once.
func (town *inTown) answer(t *rapid.T, m message) string {
	said := town.query(`SELECT body FROM replies WHERE cause = '` + m.cause() + `'`)
	require.Len(t, said, 1, "%+v is answered once", m)
	return said[0]
}

func (town *inTown) check(t *rapid.T) {
	require.Empty(t, town.query(`SELECT concat_ws(' ', delivery_id, event, note) FROM deliveries WHERE state <> 'done'`), "all of it is done")
	require.Empty(t, town.query(`SELECT delivery_id FROM deliveries WHERE convert_from(body, 'UTF8') ~ 'response_url|hooks.slack.com|"token"|gIkuvaNzQ'`))
	created, extended, destroyed, shared := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	asked := map[string]bool{} // names that somebody who may asked for
	for _, m := range town.sent {
		said := town.answer(t, m)
		name := m.cluster
		if m.verb == "create" {
			_, name, _ = strings.Cut(readForm(t, m.body).Get("text"), "--name ")
		}
		switch {
		case m.verb == "create" && strings.Contains(said, "is accepted"):
			created[name]++
		case m.verb == "extend" && strings.HasPrefix(said, "The lifetime of "):
			extended[name]++
		case m.verb == "destroy" && strings.Contains(said, "is being destroyed (job"):
			destroyed[name]++
		case m.verb == "share" && strings.Contains(said, "is shared with"):
			shared[name]++
		}
		asked[name] = asked[name] || m.verb == "create"
	}
	for i := range 3 {
		town.checkCluster(t, fmt.Sprintf("l%dc%d", town.life, i), asked, created, extended, destroyed, shared)
	}
	for _, over := range town.query(`SELECT h.id || ' ' || h.state FROM handovers h WHERE h.state = 'accepted' GROUP BY h.id HAVING count(*) > 1`) {
		require.Fail(t, "accepted twice", over)
	}
}

func (town *inTown) checkCluster(t *rapid.T, name string, asked map[string]bool, created, extended, destroyed, shared map[string]int) {
	rows := town.query(`SELECT id FROM clusters WHERE name = '` + name + `'`)
	require.Len(t, rows, created[name], "%s: one cluster for each request that was accepted", name)
	if !asked[name] {
		require.Empty(t, rows)
		return
	}
	require.Len(t, rows, 1, "%s: whoever asked first has it, and nothing else has its name", name)
	id := rows[0]
	count := func(sql string) int {
		n, err := strconv.Atoi(town.query(sql)[0])
		require.NoError(t, err)
		return n
	}
	audited := func(action string) int {
		return count(`SELECT count(*)::text FROM audit_events WHERE target_cluster_id = '` + id + `' AND action = '` + action + `'`)
	}
	require.Equal(t, extended[name], audited("extended"), "%s: each extension that was answered, and no other", name)
	moved := count(`SELECT round(extract(epoch FROM least(end_max - created_at, end_ttl - created_at) - ttl) / 3600)::int::text FROM clusters WHERE id = '` + id + `'`)
	require.LessOrEqual(t, moved, extended[name], "%s: an hour for each extension", name)
	absent := count(`SELECT count(*)::text FROM clusters WHERE id = '` + id + `' AND desired = 'absent'`)
	require.Equal(t, min(destroyed[name], 1), absent, "%s: destroyed if somebody was told so", name)
	require.LessOrEqual(t, destroyed[name], 1, "%s: it is destroyed once", name)
	require.Equal(t, min(shared[name], 1), count(`SELECT count(*)::text FROM shares WHERE cluster_id = '`+id+`'`), "%s: shared if somebody was told so", name)
	places := town.query(`SELECT kind || ' ' || channel FROM subscribers WHERE cluster_id = '` + id + `' ORDER BY kind`)
	require.Len(t, places, 2, "%s: one message and its thread: %v", name, places)
	require.False(t, slices.Contains(town.query(`SELECT DISTINCT actor FROM audit_events WHERE target_cluster_id = '`+id+`' AND action IN ('extended', 'destroyed', 'shared')
		AND EXISTS (SELECT FROM clusters WHERE id = '`+id+`' AND team = 'platform')`), "slack:"+standin.Workspace+"/"+outsider), "%s: nobody else's hands", name)
}

func readForm(t *rapid.T, body string) url.Values {
	form, err := url.ParseQuery(body)
	require.NoError(t, err)
	return form
}
