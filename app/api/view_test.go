package api

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app"
	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/policy"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/reports"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a document with its file byte by byte.
func golden(t *testing.T, name string, body any) {
	t.Helper()
	raw, err := json.MarshalIndent(body, "", "  ")
	require.NoError(t, err)
	raw = append(raw, '\n')
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, raw, 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), string(raw))
}

var noon = time.Date(2025, 3, 1, 12, 0, 0, 0, time.FixedZone("CET", 3600))

func full() app.Details {
	row := clusters.Row{
		CostCenter: "sandbox", Environment: "test", Source: string(policy.SourceLabel),
		PR:   &clusters.PRRef{Installation: 5001, Repo: "acme/shop", Number: 41, Head: "6dcb09b5b57875f334f61aebed695e2e4193db5e"},
		Tags: map[string]string{"Owner": "maya"},
		Spec: clusters.Spec{InstallConfig: "frozen", PullSecretRef: "file:/run/pull-secret"},
		Outputs: &clusters.Outputs{
			APIURL: "https://api.pr41-shop.labs.example.com:6443", ConsoleURL: "https://console.apps.pr41-shop.labs.example.com",
			KubeconfigRef: "s3://artifacts/kubeconfig", KubeadminRef: "s3://artifacts/kubeadmin-password", MetadataRef: "s3://artifacts/metadata.json",
		},
	}
	row.ID, row.JobID, row.Name = "clu_01J9ZQ0M7V3N6WZ6M4C8Q2K5RT", "job_01J9ZQ0M7V3N6WZ6M4C8Q2K5RU", "pr41-shop"
	row.Status, row.Phase, row.Why.Words, row.Desired = lifecycle.Failed, lifecycle.DestroyBlocked, "two things are still there", lifecycle.Absent
	row.DesiredWhy, row.Platform, row.Profile, row.Release = lifecycle.Reason{Code: lifecycle.ReasonPRClosed}, "aws", "aws-minimal-test", "4.20.3"
	row.Region, row.BaseDomain, row.Generation, row.Owner, row.Team = "us-east-1", "labs.example.com", 2, "maya", "platform"
	row.RequestedBy, row.TTL, row.HourlyCents = "github:will", 24*time.Hour, 75
	row.AcceptedAt, row.DestroyAt, row.UpdatedAt, row.ReadyAt = noon, noon.Add(2*time.Hour), noon.Add(3*time.Hour), noon.Add(time.Hour)
	row.Ends = lifecycle.Ends{TTL: noon.Add(24 * time.Hour), Max: noon.Add(72 * time.Hour), PRClosed: noon.Add(2 * time.Hour)}
	row.Blockers, row.Identities = []lifecycle.Blocker{{Name: "vpc vpc-1", Free: "delete it"}}, []string{"pr41-shop-x7k2p"}
	row.Progress = lifecycle.Progress{Percent: 80, Step: "verifying", ETA: noon.Add(4 * time.Hour), Late: noon.Add(5 * time.Hour)}
	row.FailReason, row.FailMessage, row.FailWhose, row.FailNext = "VPCLimitExceeded", "there are 5 of 5 VPCs", "quota", "raise L-F678F1CE or delete a VPC"
	row.RetryAt = noon.Add(6 * time.Hour)
	began, ended, code := noon.Add(2*time.Hour), noon.Add(3*time.Hour), 0
	return app.Details{
		Row: row,
		Job: reports.Job{
			ID: row.JobID, Cluster: row.ID, Type: lifecycle.JobJanitorDestroy, Status: lifecycle.JobFailed, Attempt: 3,
			ErrorCode: "LeftoversFound", ErrorMessage: "one thing is left", CreatedAt: noon.Add(2 * time.Hour), StartedAt: &began, EndedAt: &ended,
		},
		Attempts: []attempts.AttemptRow{
			{
				Number: 2, Kind: lifecycle.Create, Phase: lifecycle.Installing, OpenedAt: noon, ClaimedAt: &began, RecordedAt: &began, ClosedAt: &ended,
				Outcome: lifecycle.Failure, Reason: "VPCLimitExceeded", Message: "there are 5 of 5 VPCs", Whose: "quota", Next: "raise L-F678F1CE or delete a VPC",
			},
			{Number: 3, Kind: lifecycle.Destroy, Phase: lifecycle.Verifying, OpenedAt: began, ClaimedAt: &began, ToolExitedAt: &ended, ToolExitCode: &code},
		},
		Conditions: []clusters.Condition{{Type: "Ready", Status: "False", Reason: "Destroying", Message: "it is going", At: noon}},
		Verifications: []attempts.VerificationRow{{
			Attempt: 3, Number: 1, At: noon.Add(3 * time.Hour), Account: "123456789012", Identities: []string{"pr41-shop-x7k2p"}, Control: "the zone is visible",
			Queries:   json.RawMessage(`[{"service":"ec2","call":"DescribeVpcs","region":"us-east-1","asked":"tag","at":"2025-03-01T14:00:00Z","count":1}]`),
			Leftovers: json.RawMessage(`[{"type":"vpc","id":"vpc-1","free":"delete it"}]`), Blockers: row.Blockers,
		}},
		Timeline: []store.Event{
			{At: noon, Actor: "github:will", Action: "accepted", To: "PENDING/queued", Why: "accepted"},
			{At: noon.Add(time.Minute), Actor: "lifecycle", Action: "decided", From: "PENDING/queued", To: "CREATING/preflight", Why: "an attempt was opened"},
		},
	}
}

func TestTheDocumentsOfTheAPI(t *testing.T) {
	body, err := toDetail(full(), profiles.UnlinkedName)
	require.NoError(t, err)
	golden(t, "cluster.json", body)

	bare := clusters.Row{}
	bare.ID, bare.Status, bare.Phase, bare.Desired, bare.AcceptedAt = "clu_1", lifecycle.Pending, lifecycle.Queued, lifecycle.Present, noon
	bare.Ends.Max = noon.Add(time.Hour)
	golden(t, "clusters.json", v1.ClusterPage{Items: []v1.Cluster{toCluster(bare, profiles.UnlinkedName)}, NextCursor: "clu_1"})
	golden(t, "job.json", v1.JobDetail{Job: job(full().Job), Log: []string{"level=info msg=\"Destroying\""}})
	golden(t, "outputs.json", outputs(full().Row))
}

func TestAStoredDocumentThatCannotBeReadIsAnErrorWithItsName(t *testing.T) {
	d := full()
	d.Verifications[0].Queries = json.RawMessage(`{`)
	_, err := toDetail(d, profiles.UnlinkedName)
	require.ErrorContains(t, err, "queries of pass 1 of attempt 3")
}
