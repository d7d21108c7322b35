package devstack_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/aws"
)

// Two accounts of AWS. When the first one is full as measured, the next cluster goes to the second, which is then removed from the catalogue: its
// cluster is still destroyed there, with proof.
func TestAFullAccountSendsTheNextClusterToAnother(t *testing.T) {
	t.Parallel()
	l := newLifeOf(t, devstack.Config{Hour: time.Hour, Accounts: true})
	file := filepath.Join(l.Dir, "catalogue", "accounts", "aws-two.yaml")
	const vpcs = "L-F678F1CE"
	require.NoError(t, l.AWS.SetLimitIn(devstack.Account, vpcs, 1))
	in := func(number int) (account string) {
		require.NoError(t, l.pool.QueryRow(l.ctx, `SELECT account FROM clusters WHERE pr_number = $1`, number).Scan(&account))
		return account
	}
	create := func(title string) (number int) {
		number = l.labelledWith(label, title)
		l.runUntil(title+" is ready", 90*time.Second, func() bool {
			return l.count(`SELECT count(*) FROM clusters WHERE pr_number = $1 AND status = 'READY'`, number) == 1
		})
		return number
	}
	first := create("The first one")
	require.Equal(t, "aws-one", in(first), "both have room of their caps, and the first has more")

	second := create("The second one")
	require.Equal(t, "aws-two", in(second), "the first has room for one VPC")
	var id, infraID string
	require.NoError(t, l.pool.QueryRow(l.ctx, `SELECT c.id, a.infra_id FROM clusters c JOIN attempts a ON a.cluster_id = c.id
		WHERE c.pr_number = $1 AND a.infra_id <> ''`, second).Scan(&id, &infraID))
	resources := l.AWS.Resources(infraID)
	require.NotEmpty(t, resources)
	for _, r := range resources {
		require.Equal(t, devstack.SecondAccount, r.Account, "%s %s", r.Type, r.ID)
	}
	require.Zero(t, l.AWS.Exceeded())

	require.NoError(t, os.Remove(file))
	l.runUntil("the account is gone from the catalogue", time.Minute, func() bool {
		list := ask[v1.Accounts](l.as("admin"), http.MethodGet, "/api/v1/accounts", nil, http.StatusOK).Items
		return len(list) == 2 && list[1].State == v1.AccountStateGone && list[1].Live == 1
	})
	require.Equal(t, "aws-two", ask[v1.Cluster](l.as("requester"), http.MethodGet, "/api/v1/clusters/"+id, nil, http.StatusOK).Account)
	require.NoError(t, l.GitHub.Unlabel(second, label, "maya"))
	l.runUntil("its cluster is destroyed", 2*time.Minute, func() bool {
		return l.count(`SELECT count(*) FROM clusters WHERE id = $1 AND status = 'DESTROYED'`, id) == 1
	})
	require.Equal(t, 2, l.count(`SELECT count(*) FROM verifications v JOIN attempts a ON a.id = v.attempt_id
		WHERE a.cluster_id = $1 AND v.clean AND v.account = $2`, id, devstack.SecondAccount), "it was counted in its account")
	require.NoError(t, l.GitHub.Unlabel(first, label, "maya"))
	l.runUntil("both are released", 2*time.Minute, l.every("released"))
	l.assertNothingLeft()
	l.assertSettled()
}

// A team's account that has a role instead of keys. Its first proof says what the role has to demand, and with that a cluster lives there.
func TestATeamsAccountIsUsedByItsRole(t *testing.T) {
	t.Parallel()
	l := newLifeOf(t, devstack.Config{Hour: time.Hour, Accounts: true})
	role := "arn:aws:iam::" + devstack.SecondAccount + ":role/ocpctl-team"
	file := filepath.Join(l.Dir, "catalogue", "accounts", "aws-two.yaml")
	document, err := os.ReadFile(file)
	require.NoError(t, err)
	changed := strings.Replace(string(document), "credentials: {", `credentials: {role: "`+role+`", `, 1)
	require.NotEqual(t, string(document), changed)
	require.NoError(t, os.WriteFile(file, []byte(changed), 0o600))
	show := func() v1.Account {
		return ask[v1.Account](l.as("admin"), http.MethodGet, "/api/v1/accounts/aws-two", nil, http.StatusOK)
	}
	l.runUntil("its role is refused", time.Minute, func() bool {
		return show().State == v1.AccountStateUnproven && show().Proof.Reason == "RoleRefused"
	})
	id := show().ExternalID
	require.Contains(t, show().Proof.Next, "with the external id "+id)
	l.AWS.AddRole(aws.Role{Account: devstack.SecondAccount, Name: "ocpctl-team", Policy: `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`,
		Trust: `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":{"AWS":"` + devstack.SecondUser + `"},"Action":"sts:AssumeRole","Condition":{"StringEquals":{"sts:ExternalId":"` + id + `"}}}]}`})
	ask[v1.Account](l.as("admin"), http.MethodPost, "/api/v1/accounts/aws-two/prove", struct{}{}, http.StatusAccepted)
	l.runUntil("it is proven", time.Minute, func() bool { return show().State == v1.AccountStateOpen })

	cluster := l.as("admin").create(v1.CreateRequest{Name: "teams", Profile: "aws-minimal-test", Team: "platform", Account: "aws-two"}, "teams").ClusterID
	l.runUntil("it is ready", 90*time.Second, func() bool {
		return l.count(`SELECT count(*) FROM clusters WHERE id = $1 AND status = 'READY'`, cluster) == 1
	})
	by := "arn:aws:sts::" + devstack.SecondAccount + ":assumed-role/ocpctl-team/ocpctl-" + cluster
	require.Contains(t, l.AWS.ActionsOf(by), "ec2:RunInstances", "the installer works with the role, too")
	require.NotContains(t, l.AWS.ActionsOf(devstack.SecondUser), "ec2:RunInstances")
	ask[v1.Accepted](l.as("admin"), http.MethodPost, "/api/v1/clusters/"+cluster+"/destroy", v1.MaybeReason{}, http.StatusAccepted)
	l.runUntil("it is released", 2*time.Minute, l.every("released"))
	l.assertNothingLeft()
	l.assertSettled()
}

// Credentials that stop working are found when an account is proven again. Nobody is sent there until they work.
func TestAnAccountWhoseProofFailsGetsNoCluster(t *testing.T) {
	t.Parallel()
	l := newLifeOf(t, devstack.Config{Hour: time.Hour, Accounts: true})
	prove := func(name string) {
		ask[v1.Account](l.as("admin"), http.MethodPost, "/api/v1/accounts/"+name+"/prove", struct{}{}, http.StatusAccepted)
	}
	show := func(name string) v1.Account {
		return ask[v1.Account](l.as("requester"), http.MethodGet, "/api/v1/accounts/"+name, nil, http.StatusOK)
	}
	l.AWS.Refuse("route53:ListHostedZonesByName", -1, aws.Denied)
	prove("aws-one")
	l.runUntil("its proof failed", time.Minute, func() bool { return show("aws-one").State == v1.AccountStateUnproven })
	found := show("aws-one").Proof
	require.Equal(t, []any{v1.AccountProofVerdictLacking, "NotAnswered"}, []any{found.Verdict, found.Reason}, "%+v", found)
	require.Contains(t, found.Next, "route53:ListHostedZonesByName")
	l.AWS.Lift("route53:ListHostedZonesByName")
	number := l.labelledWith(label, "Where it works")
	l.runUntil("it is made in the other account", 90*time.Second, func() bool {
		return l.count(`SELECT count(*) FROM clusters WHERE pr_number = $1 AND account = 'aws-two'`, number) == 1
	})
	prove("aws-one")
	l.runUntil("it is proven again", time.Minute, func() bool { return show("aws-one").State == v1.AccountStateOpen })
}
