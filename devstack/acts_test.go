package devstack_test

import (
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/github"
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
	status, answer, err := github.Post(l.ctx, github.Hook{URL: l.PublicURL() + "/webhooks/github", Secret: devstack.WebhookSecret}, "pull_request", github.GUID(), body)
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

// plantLeak puts a record under the cluster's name into the public zone, as somebody's external-dns would: no installer
// takes it away, and nothing deletes what it does not know by its exact name.
func (l *life) plantLeak() string {
	name := "external." + l.clusters()[0].Name + ".labs.example.com"
	l.changeRecord(types.ChangeActionCreate, name)
	return name
}

func (l *life) freeLeak(name string) { l.changeRecord(types.ChangeActionDelete, name) }

func (l *life) changeRecord(action types.ChangeAction, name string) {
	client := route53.New(route53.Options{
		Region: "us-east-1", BaseEndpoint: awssdk.String(l.AWS.URL()),
		Credentials: credentials.NewStaticCredentialsProvider(devstack.AccessKey, devstack.SecretKey, ""),
	})
	zones, err := client.ListHostedZonesByName(l.ctx, &route53.ListHostedZonesByNameInput{DNSName: awssdk.String("labs.example.com.")})
	require.NoError(l.t, err)
	require.NotEmpty(l.t, zones.HostedZones)
	_, err = client.ChangeResourceRecordSets(l.ctx, &route53.ChangeResourceRecordSetsInput{
		HostedZoneId: zones.HostedZones[0].Id,
		ChangeBatch: &types.ChangeBatch{Changes: []types.Change{{Action: action, ResourceRecordSet: &types.ResourceRecordSet{
			Name: awssdk.String(name), Type: types.RRTypeTxt, TTL: awssdk.Int64(60),
			ResourceRecords: []types.ResourceRecord{{Value: awssdk.String(`"planted"`)}},
		}}}},
	})
	require.NoError(l.t, err)
}

// runnerPID returns the process of a living runner.
func (l *life) runnerPID(attempt string) (int, bool) {
	pid, err := l.RunnerPID(attempt)
	return pid, err == nil
}
