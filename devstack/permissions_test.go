package devstack_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/deploy/terraform/policies"
	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/aws/iampolicy"
	"github.com/ocpctl/ocpctl/lifecycle"
)

// neverCalled are ocpctl's own actions that no call in these lives uses, with the reason why the runners' policies have them all the
// same. Actions of S3 are missing here: another program answers them, and enforces the policies, but keeps no list.
var neverCalled = map[string]string{
	"ec2:DeleteSnapshot":                      "removes the snapshot of an image that a killed install copied and did not tag",
	"ec2:DeregisterImage":                     "removes such an image",
	"ec2:StartInstances":                      "wakes a cluster, in the life of TestAClusterSleepsWakesAndIsDestroyedAsleep",
	"ec2:CreateTags":                          "marks the snapshots of such an image, and gives a claimed cluster its new owner's tags, in TestALabelTakesAClusterThatWaitsInAPool",
	"elasticloadbalancing:AddTags":            "gives them to its load balancers",
	"tag:TagResources":                        "asks for both",
	"ec2:StopInstances":                       "puts it to sleep there",
	"elasticloadbalancing:DescribeTags":       "says whose a load balancer is, if one is left",
	"iam:DetachRolePolicy":                    "removes a managed policy that somebody attached to a cluster's role",
	"iam:GetUser":                             "says whose a user is, if one is left of a cluster in credentials mode Mint",
	"iam:ListAttachedRolePolicies":            "finds managed policies before a role is removed that ccoctl left",
	"servicequotas:GetAWSDefaultServiceQuota": "is asked for limits that were never changed; the stand-in has a value for each",
}

func TestARunnerUsesNoActionThatItsPoliciesDoNotName(t *testing.T) {
	l := newLife(t, time.Hour)
	pr, err := l.GitHub.Open("A whole life", "maya")
	require.NoError(t, err)
	require.NoError(t, l.GitHub.Label(pr, "ocp/aws-minimal-test", "maya"))
	l.runUntil("it is ready", time.Minute, l.every(lifecycle.PhaseReady))
	toCreate := l.AWS.ActionsOf(devstack.RunnerUser)
	l.AWS.ForgetActions()
	require.NoError(t, l.GitHub.Close(pr, "maya"))
	l.runUntil("it is gone", time.Minute, l.every(lifecycle.Released))
	toDestroy := l.AWS.ActionsOf(devstack.RunnerUser)

	// The stand-in's runners have one key with all policies, an installation has a role for each kind of attempt.
	assertAllowed(t, toCreate, policies.Create())
	assertAllowed(t, toDestroy, policies.Destroy())

	listed, own := listedActions(t)
	used := append(toCreate, toDestroy...)
	for _, action := range used {
		if action != "sts:GetCallerIdentity" {
			require.True(t, slices.Contains(listed, action), "%s: deploy/terraform/policies/permissions.json does not say who needs it", action)
		}
	}
	for _, action := range own {
		why, excepted := neverCalled[action]
		switch {
		case strings.HasPrefix(action, "s3:"):
		case excepted:
			assert.NotContains(t, used, action, "%s: it is used after all, so it is no exception: %s", action, why)
		default:
			assert.True(t, slices.Contains(used, action), "no call of a whole life uses %s: take it out of the policies, or say here why it stays", action)
		}
	}
}

// assertAllowed checks that policies name all actions.
func assertAllowed(t *testing.T, used, names []string) {
	t.Helper()
	require.NotEmpty(t, used)
	raw, err := policies.Union(devstack.PolicyValues(), names...)
	require.NoError(t, err)
	document, err := iampolicy.Parse(raw)
	require.NoError(t, err)
	for _, action := range used {
		named := slices.ContainsFunc(document.Statement, func(s iampolicy.Statement) bool {
			return s.Effect == "Allow" && slices.Contains(s.Action, action)
		})
		assert.True(t, named, "no policy of %v allows %s", names, action)
	}
}

// listedActions returns all actions of permissions.json, and those that ocpctl itself calls.
func listedActions(t *testing.T) (all, own []string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "deploy", "terraform", "policies", "permissions.json"))
	require.NoError(t, err)
	var sources map[string]struct{ Groups map[string][]string }
	require.NoError(t, json.Unmarshal(raw, &sources))
	for name, source := range sources {
		for _, actions := range source.Groups {
			all = append(all, actions...)
			if name == "ocpctl" {
				own = append(own, actions...)
			}
		}
	}
	slices.Sort(own)
	return all, slices.Compact(own)
}

// without returns the runners' policies without one action.
func without(t *testing.T, action string) func(string) string {
	return func(policy string) string {
		require.Contains(t, policy, `"`+action+`"`)
		return strings.ReplaceAll(policy, `"`+action+`"`, `"none:None"`)
	}
}

func TestALifeWithoutOneOfItsPermissionsFailsAndNamesTheAction(t *testing.T) {
	l := newLifeOf(t, devstack.Config{Hour: time.Hour, RunnerPolicy: without(t, "ec2:CreateNatGateway")})
	pr, err := l.GitHub.Open("A life without a permission", "maya")
	require.NoError(t, err)
	require.NoError(t, l.GitHub.Label(pr, "ocp/aws-minimal-test", "maya"))
	var reason, message string
	l.runUntil("its install failed", time.Minute, func() bool {
		return l.pool.QueryRow(l.ctx, `SELECT reason, message FROM attempts WHERE reason <> '' AND kind = 'create' LIMIT 1`).Scan(&reason, &message) == nil
	})
	require.Equal(t, "AWSCreateNotPermitted", reason)
	require.Contains(t, message, "ec2:CreateNatGateway")
	require.Contains(t, message, devstack.RunnerUser)
}
