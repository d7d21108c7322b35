package house_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/house"
	"github.com/ocpctl/ocpctl/internal/house/aws"
	"github.com/ocpctl/ocpctl/internal/house/github"
)

const label = "ocp/aws-minimal-test"

// begin puts the label on, perhaps told twice, perhaps followed by an older event that comes late.
func (l *life) begin(number int, p plan) {
	if p.Twice {
		l.GitHub.DuplicateNext(1)
	}
	require.NoError(l.t, l.GitHub.Label(number, label, "maya"))
	if !p.Late {
		return
	}
	pr, ok := l.GitHub.PullRequest(number)
	require.True(l.t, ok)
	pr.Labels, pr.UpdatedAt = nil, pr.UpdatedAt.Add(-time.Hour)
	body, err := github.Payload(github.Event{Name: "pull_request", Action: "unlabeled", Sender: "maya", PR: pr, Label: label})
	require.NoError(l.t, err)
	status, answer, err := github.Post(l.ctx, github.Hook{URL: l.PublicURL() + "/webhooks/github", Secret: house.WebhookSecret}, "pull_request", github.GUID(), body)
	require.NoError(l.t, err)
	require.Equal(l.t, 202, status, answer)
}

// end is how the life is brought to its end; "ttl" needs nobody.
func (l *life) end(number int, how string) {
	switch how {
	case "close", "close mid-install":
		require.NoError(l.t, l.GitHub.Close(number, "maya"))
	case "command":
		_, err := l.GitHub.Comment(number, "/ocp destroy", "will")
		require.NoError(l.t, err)
	}
}

// commentsOfClusters counts the comments that show a cluster.
func (l *life) commentsOfClusters(number int) int {
	n := 0
	for _, c := range l.GitHub.Comments(number) {
		if c.Author == github.Bot && strings.Contains(c.Body, "<!-- ocpctl:cluster:") {
			n++
		}
	}
	return n
}

// plantLeak puts something into the cloud that carries the cluster's name and that no installer would find.
func (l *life) plantLeak() string {
	var infra string
	err := l.pool.QueryRow(l.ctx, "SELECT infra_id FROM attempts WHERE infra_id <> '' ORDER BY number DESC LIMIT 1").Scan(&infra)
	if err != nil {
		return "" // nothing was recorded, so nothing can be named after it
	}
	name := infra + "-planted"
	_, err = l.AWS.Plant(aws.Resource{Service: "iam", Type: "user", ID: name, Name: name})
	require.NoError(l.t, err)
	return name
}

func (l *life) freeLeak(name string) { require.NoError(l.t, l.AWS.Free(name)) }

// runnerPID reads what the dispatcher wrote down of a living runner.
func (l *life) runnerPID(attempt string) (int, bool) {
	raw, err := os.ReadFile(filepath.Join(l.Dir, "work", attempt, "process.json"))
	if err != nil {
		return 0, false
	}
	var process struct{ PID int }
	require.NoError(l.t, json.Unmarshal(raw, &process))
	return process.PID, process.PID > 0
}
