package devstack_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/github"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// standIn sets a fault of a stand-in over HTTP, as people do in the demo.
func (l *life) standIn(base, act string, in map[string]any) {
	l.t.Helper()
	raw, err := json.Marshal(in)
	require.NoError(l.t, err)
	answer, err := http.Post(base+"/_standin/"+act, "application/json", bytes.NewReader(raw))
	require.NoError(l.t, err)
	defer answer.Body.Close()
	require.Equal(l.t, http.StatusOK, answer.StatusCode)
}

// refusedTeardown is a teardown that the cloud refuses until somebody acts.
type refusedTeardown struct {
	label, base   string
	reason, whose string // of the attempt's result
	protect, lift func(infra string)
	leftover      string // begins the blocker that the refusal stands with
	says          []string
	next          string // what people read of the next step
	heals         bool   // the advice of the count stands beside it
}

// blocks sees that the teardown ends early with the cloud's words, that people read who must act and how, and that it ends once they did.
func (l *life) blocks(c refusedTeardown) {
	l.t.Helper()
	pr := l.labelledWith(c.label, "Refused "+c.reason)
	l.runUntil("it is ready", 3*time.Minute, func() bool {
		return l.count("SELECT count(*) FROM clusters WHERE pr_number = $1 AND phase = 'ready'", pr) == 1
	})
	var id string
	require.NoError(l.t, l.pool.QueryRow(l.ctx, "SELECT id FROM clusters WHERE pr_number = $1", pr).Scan(&id))
	c.protect(l.infraOf(pr))
	l.destroy(id)
	l.runUntil("it is blocked", 3*time.Minute, func() bool {
		return l.count("SELECT count(*) FROM clusters WHERE id = $1 AND phase = 'destroy_blocked'", id) == 1
	})
	var reason, whose, next, stuck string
	var blockers []lifecycle.Blocker
	require.NoError(l.t, l.pool.QueryRow(l.ctx, `
		SELECT a.reason, a.whose, a.next, c.stuck_whose, c.blockers FROM clusters c
		JOIN LATERAL (SELECT reason, whose, next FROM attempts WHERE cluster_id = c.id AND closed_at IS NOT NULL AND kind = 'destroy' ORDER BY number DESC LIMIT 1) a ON true
		WHERE c.id = $1`, id).Scan(&reason, &whose, &next, &stuck, &blockers))
	l.t.Logf("| %s | `%s`. Next: %s. Beside it: %s", c.leftover, reason, next, lifecycle.DescribeBlockers(blockers))
	require.Equal(l.t, []string{c.reason, c.whose, c.whose}, []string{reason, whose, stuck})
	require.Contains(l.t, next, c.next)
	require.Zero(l.t, l.count(logged, pr, "%destroy did not finish within its deadline%"))
	found := false
	for _, b := range blockers {
		if !strings.HasPrefix(b.Name, c.leftover) {
			continue
		}
		found = true
		if c.heals {
			continue
		}
		for _, words := range append(c.says, c.next, c.reason) {
			require.Contains(l.t, b.String(), words)
		}
	}
	require.True(l.t, found, lifecycle.DescribeBlockers(blockers))
	l.runUntil("the comment says how", 20*time.Second, func() bool {
		for _, said := range l.GitHub.Comments(pr) {
			if said.Author == github.Bot && strings.Contains(said.Body, c.next) {
				return true
			}
		}
		return false
	})
	c.lift(l.infraOf(pr))
	l.runUntil("it is released", 3*time.Minute, func() bool {
		return l.count("SELECT count(*) FROM clusters WHERE id = $1 AND phase = 'released'", id) == 1
	})
	require.Zero(l.t, l.count("SELECT count(*) FROM clusters WHERE id = $1 AND stuck_reason <> ''", id))
}

func TestAProtectedInstanceEndsTheTeardownWithTheCommandThatHelps(t *testing.T) {
	t.Parallel()
	l := newLife(t, time.Hour)
	instance := ""
	l.blocks(refusedTeardown{
		label: label, reason: "TerminationProtected", whose: "user", leftover: "instance ", next: "--no-disable-api-termination", says: []string{"may not be terminated"},
		protect: func(infra string) {
			for _, r := range l.AWS.Resources(infra) {
				if r.Type == "instance" && strings.HasSuffix(r.Tags["Name"], "-master-0") {
					instance = r.ID
				}
			}
			require.NotEmpty(t, instance)
			l.standIn(l.AWS.URL(), "protect", map[string]any{"id": instance, "code": "termination"})
		},
		lift: func(string) { l.standIn(l.AWS.URL(), "unpin", map[string]any{"id": instance}) },
	})
	l.assertNothingLeft()
}

func TestAProtectedLoadBalancerEndsTheTeardownWithTheCommandThatHelps(t *testing.T) {
	t.Parallel()
	l := newLife(t, time.Hour)
	balancer := ""
	l.blocks(refusedTeardown{
		label: label, reason: "DeletionProtected", whose: "user", leftover: "load-balancer ", next: "--attributes Key=deletion_protection.enabled,Value=false", says: []string{"deletion protection is enabled"},
		protect: func(infra string) {
			for _, r := range l.AWS.Resources(infra) {
				if r.Type == "loadbalancer" && strings.HasSuffix(r.Name, "-int") {
					balancer = r.ID
				}
			}
			require.NotEmpty(t, balancer)
			l.standIn(l.AWS.URL(), "protect", map[string]any{"id": balancer, "code": "deletion"})
		},
		lift: func(string) { l.standIn(l.AWS.URL(), "unpin", map[string]any{"id": balancer}) },
	})
	l.assertNothingLeft()
}

func TestAServiceControlPolicyEndsTheTeardownWithTheActionThatItDenies(t *testing.T) {
	t.Parallel()
	l := newLife(t, time.Hour)
	l.blocks(refusedTeardown{
		label: label, reason: "DeniedByPolicy", whose: "ocpctl", leftover: "role ", next: "to allow iam:DeleteRole on", says: []string{"service control policy"},
		protect: func(string) {
			l.standIn(l.AWS.URL(), "refuse", map[string]any{"call": "iam:DeleteRole", "times": -1, "code": "DeniedBySCP"})
		},
		lift: func(string) { l.standIn(l.AWS.URL(), "lift", map[string]any{"call": "iam:DeleteRole"}) },
	})
	l.assertNothingLeft()
}

func TestAReclamationWithoutARoleEndsTheTeardownOnIBMCloud(t *testing.T) {
	t.Parallel()
	l := newLife(t, time.Hour)
	l.blocks(refusedTeardown{
		label: ibmLabel, reason: "PermissionMissing", whose: "ocpctl", leftover: "reclamation ", next: "ask an administrator of this installation to allow", says: []string{"(403)"},
		protect: func(string) {
			l.standIn(l.IBMCloud.Base(), "refuse", map[string]any{"call": "rc:run_reclamation_action", "times": -1})
		},
		lift: func(string) {
			l.standIn(l.IBMCloud.Base(), "lift", map[string]any{"call": "rc:run_reclamation_action"})
		},
	})
	l.assertNothingLeft()
}

func TestAnUntaggedRoleWithTheClustersPrefixIsKeptAndSaysWhoMustAct(t *testing.T) {
	t.Parallel()
	l := newLife(t, time.Hour)
	role := ""
	l.blocks(refusedTeardown{
		label: label, reason: "KeptUntagged", whose: "ocpctl", leftover: "role ", next: "ask an administrator of the account whose", says: []string{"does not have the tag"},
		protect: func(infra string) {
			require.NoError(t, l.pool.QueryRow(l.ctx, "SELECT cco_name || '-admins' FROM attempts WHERE infra_id = $1 AND cco_name <> ''", infra).Scan(&role))
			l.plant(aws.Resource{Service: "iam", Type: "role", Name: role})
		},
		lift: func(string) { l.standIn(l.AWS.URL(), "free", map[string]any{"id": role}) },
	})
	l.assertNothingLeft()
}

func TestAnErrorOfIBMCloudItselfIsRepeatedAndNobodyElseIsBlamed(t *testing.T) {
	t.Parallel()
	l := newLife(t, time.Hour)
	l.blocks(refusedTeardown{
		label: ibmLabel, reason: "LeftoversFound", whose: "cloud", leftover: "vpc ", next: "ocpctl removes and counts them again", heals: true,
		protect: func(infra string) {
			l.standIn(l.IBMCloud.Base(), "protect", map[string]any{"id": infra + "-vpc", "code": "broken"})
		},
		lift: func(infra string) { l.standIn(l.IBMCloud.Base(), "unpin", map[string]any{"id": infra + "-vpc"}) },
	})
	l.assertNothingLeft()
}
