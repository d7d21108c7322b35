package web

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/admin"
	"github.com/ocpctl/ocpctl/internal/price"
	"github.com/ocpctl/ocpctl/lifecycle"
	"github.com/ocpctl/ocpctl/profiles"
	"github.com/ocpctl/ocpctl/store/attempts"
	"github.com/ocpctl/ocpctl/store/clusters"
	"github.com/ocpctl/ocpctl/store/db"
)

func TestPeopleAreCalledByTheirNames(t *testing.T) {
	for id, want := range map[string]string{
		"github:maya": "maya (GitHub)", "oidc:http://127.0.0.1:8087#maya": "maya (OIDC)", db.Lifecycle: "", "someone": "someone",
		"saml:maya@acme.example": "maya@acme.example (SAML)", "aws:arn:aws:iam::123456789012:role/ci": "role/ci (AWS)",
	} {
		require.Equal(t, want, actorFormatter(nil)(id))
	}
}

func TestAPullRequestIsLinkedWhereItIsLookedAt(t *testing.T) {
	d := details(func(r *clusters.Row) { r.PR = &clusters.PRRef{Repo: "acme/shop", Number: 41} })
	p := &pages{Config: Config{Now: func() time.Time { return noon }, GitHub: "https://github.com"}, views: parseTemplates(nil, readAssets())}
	require.Contains(t, shown(t, p, "detail", detailView{Details: d}), `href="https://github.com/acme/shop/pull/41"`)
}

func TestTheCostIsCountedToItsEnd(t *testing.T) {
	d := details(func(r *clusters.Row) {
		r.Desired, r.DestroyAt, r.Meter = lifecycle.Present, noon.Add(4*time.Hour), price.Meter{Since: noon, Rate: 75, ToCome: 75}
	})
	require.Equal(t, "about $1.50 so far, $3.00 until its planned end", describeCost(d.Row, noon.Add(2*time.Hour)))
	d.Row.Desired = lifecycle.Absent
	require.Equal(t, "about $1.50 so far", describeCost(d.Row, noon.Add(2*time.Hour)))
	d.Row.ReleasedAt = noon.Add(time.Hour)
	require.Equal(t, "about $0.75 in all", describeCost(d.Row, noon.Add(2*time.Hour)))
	waits := details(func(r *clusters.Row) {
		r.Desired, r.Status, r.DestroyAt, r.Meter = lifecycle.Present, lifecycle.Pending, noon.Add(4*time.Hour), price.Meter{ToCome: 75}
	})
	require.Equal(t, "about $0.00 so far, $1.50 until its planned end", describeCost(waits.Row, noon.Add(2*time.Hour)), "what waits costs nothing")
}

func TestAPassShowsItsQuestions(t *testing.T) {
	d := details(func(r *clusters.Row) { r.Status, r.Phase = lifecycle.Destroyed, lifecycle.Released })
	d.Verifications = []attempts.VerificationRow{{
		Attempt: 2, Number: 1, At: noon, Clean: true, Control: "the zone is visible",
		Queries: json.RawMessage(`[{"service":"ec2","call":"DescribeVpcs","region":"us-east-1","asked":"tag","at":"2025-03-01T12:00:05Z","count":0},{"service":"s3","call":"HeadBucket","err":"AccessDenied"}]`),
	}}
	html := page(t, "detail", detailView{Details: d})
	for _, want := range []string{"2 queries", "1 refused or unanswered", "DescribeVpcs", "AccessDenied", "12:00:05", "<details>"} {
		require.Contains(t, html, want)
	}
	require.Nil(t, parseQueries(attempts.VerificationRow{Queries: json.RawMessage(`{}`)}))
}

func TestAMoveIsDescribed(t *testing.T) {
	for to, want := range map[string]string{"PENDING/awaiting_approval": "PENDING, awaiting approval", "READY/ready": "READY", "x": "x"} {
		require.Equal(t, want, describeMove(to))
	}
}

func TestWhoWaitsIsShownAtEveryBoundTheyCountFor(t *testing.T) {
	var quota admin.QuotaState
	quota.Scope, quota.Live, quota.Creating, quota.NodeHours = profiles.ScopeEverywhere, 4, 1, 100
	quota.Used.Live, quota.Used.Creating, quota.Used.Waiting = 1, 1, 2
	var waiting []int
	for _, b := range quotaLines(quota) {
		waiting = append(waiting, b.Waiting)
	}
	require.Equal(t, []int{2, 2, 0}, waiting)
}
