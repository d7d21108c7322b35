package slack_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/app/credentials"
	slackapp "github.com/ocpctl/ocpctl/app/slack"
	"github.com/ocpctl/ocpctl/chatops"
	"github.com/ocpctl/ocpctl/chatops/blocks"
	"github.com/ocpctl/ocpctl/chatops/slack/inbound"
	"github.com/ocpctl/ocpctl/devstack/postgres/pgtest"
	"github.com/ocpctl/ocpctl/devstack/servicetest"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/policy/catalogue"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// BenchmarkPress handles presses of a button that holds a cluster: from the stored request to the changed cluster, the row of the
// answer, and the jobs that post the answer and update the cluster's message. Posting them is not part of it.
func BenchmarkPress(b *testing.B) {
	terms, err := catalogue.Embedded()
	require.NoError(b, err)
	terms.Identities = append(terms.Identities, seats()...)
	c := app.Config{
		Store: servicetest.Store(b, pgtest.New(b)), Catalogue: func() catalogue.Catalogue { return terms }, Policy: policy.Settings{Installation: "test"},
		Installs: app.Installs{PullSecretRef: "file:/run/pull-secret", Clouds: map[string]app.Cloud{"aws": {Account: "123456789012"}}}, UI: "http://127.0.0.1:8080",
	}
	core := app.New(c)
	service := slackapp.New(core, credentials.New(core, c), admin.New(core, c), newWorkspace(), c)
	made, err := core.Create(b.Context(), policy.As("slack:T1/UMATE", "mate", policy.Requester, "platform"), app.CreateRequest{
		Source: policy.SourceSlack, Name: "demo", Team: "platform", CostCenter: "sandbox", Environment: "test", Show: &clusters.SlackPlace{Workspace: "T1", Channel: "C1", Person: "UMATE"},
	})
	require.NoError(b, err)
	value := func(i int) string { // each press changes the cluster
		return blocks.Press{Verb: []chatops.Verb{chatops.VerbHold, chatops.VerbUnhold}[i%2], Cluster: made.Row.ID, Value: []string{"2h", ""}[i%2]}.Encode()
	}
	pressed := 0
	reportCPU := pgtest.MeasureCPU(b, c.Store.Pool())
	for b.Loop() {
		note, err := service.Handle(b.Context(), inbound.Request{
			Kind: inbound.Press, ID: fmt.Sprint(pressed), Workspace: "T1", Channel: "C1", User: "UMATE", Name: "mate", Value: value(pressed),
		})
		require.NoError(b, err)
		require.Contains(b, note, "pressed ")
		pressed++
	}
	reportCPU()
	var answers, changes, posts, publishes int
	require.NoError(b, c.Store.Pool().QueryRow(b.Context(), `
		SELECT (SELECT count(*) FROM replies WHERE body LIKE '%held%'), (SELECT count(*) FROM audit_events WHERE action IN ('hold_set', 'hold_lifted')),
			(SELECT count(*) FROM river_job WHERE kind = 'reply'), (SELECT count(*) FROM river_job WHERE kind = 'publish')`).Scan(&answers, &changes, &posts, &publishes))
	require.Equal(b, []int{pressed, pressed, pressed}, []int{answers, changes, posts}, "every press changed the cluster and was answered once")
	require.GreaterOrEqual(b, publishes, pressed)
}
