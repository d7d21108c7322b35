package deploy_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/deploy/terraform/policies"
	"github.com/ocpctl/ocpctl/devstack/aws/iampolicy"
	"github.com/ocpctl/ocpctl/internal/tagkey"
)

const (
	account = "210987654321"
	runner  = "arn:aws:iam::" + account + ":role/ocpctl-runner-create"
)

// values are those of an installation called prod, in two regions.
func values() policies.Values {
	return policies.Values{
		"partition": {"aws"}, "dns_suffix": {"amazonaws.com"}, "account": {account}, "platform_account": {"123456789012"}, "name": {"ocpctl"}, "installation": {"prod"},
		"regions": {"us-east-1", "eu-west-1"}, "bucket": {"state"}, "cluster_records": {"*.labs.example.com"},
		"api_records": {"api.*.labs.example.com", "api-int.*.labs.example.com", `\\052.apps.*.labs.example.com`}, "base_zones": {"arn:aws:route53:::hostedzone/ZBASE"},
		"artifacts_key": {"arn:aws:kms:us-east-1:123456789012:key/a"}, "artifact_keys": {"arn:aws:kms:us-east-1:123456789012:key/a", "arn:aws:kms:us-east-1:123456789012:key/o"},
		"secrets_key": {"arn:aws:kms:us-east-1:123456789012:key/s"}, "runner_secrets": {"arn:aws:secretsmanager:us-east-1:" + account + ":secret:ocpctl/pull-secret"},
		"hooks_secrets": {"arn:h"}, "api_secrets": {"arn:a"}, "worker_secrets": {"arn:w"}, "migrate_secrets": {"arn:m"}, "exempt_principals": {"arn:aws:iam::*:role/PlatformAdministrator"},
		"team_roles": {"arn:aws:iam::333344445555:role/ocpctl-team"},
	}
}

// policyNames are the documents in deploy/terraform/policies.
func policyNames(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("terraform/policies/*.json")
	require.NoError(t, err)
	for _, file := range files {
		if name := strings.TrimSuffix(filepath.Base(file), ".json"); name != "permissions" {
			names = append(names, name)
		}
	}
	require.Len(t, names, 17)
	return names
}

func union(t *testing.T, names ...string) iampolicy.Document {
	t.Helper()
	raw, err := policies.Union(values(), names...)
	require.NoError(t, err)
	document, err := iampolicy.Parse(raw)
	require.NoError(t, err)
	return document
}

// AWS's limits without spaces: 6,144 characters for a managed policy, 5,120 for a service control policy, 10,240 for all inline
// policies of a role. Clusters' names and regions make them longer than here, so 20 percent are left.
func TestEveryPolicyCanBeReadAndFits(t *testing.T) {
	longest := map[string]int{"guardrail": 5120, "server-hooks": 3400, "server-api": 3400, "server-worker": 3400, "server-migrate": 3400, "runner-artifacts": 10240}
	for _, name := range policyNames(t) {
		raw, err := policies.Render(name, values())
		require.NoError(t, err)
		_, err = iampolicy.Parse(raw)
		require.NoError(t, err, name)
		most := 6144
		if limit, other := longest[name]; other {
			most = limit
		}
		require.LessOrEqual(t, len(strings.Join(strings.Fields(raw), "")), most*8/10, name)
	}
}

func TestAPlaceholderWithoutAValueIsAnError(t *testing.T) {
	given := values()
	delete(given, "regions")
	_, err := policies.Render("runner-create", given)
	require.ErrorContains(t, err, "no value for ${regions}")
	_, err = policies.Render("runner-creat", values())
	require.ErrorContains(t, err, "runner-creat")
}

// A boundary grants nothing, and a deny takes nothing too much away, so only they may contain wildcards.
func TestWhatIsAllowedIsNamedActionByAction(t *testing.T) {
	for _, name := range policyNames(t) {
		if name == "cluster-boundary" {
			continue
		}
		document := union(t, name)
		for _, s := range document.Statement {
			if s.Effect != "Allow" {
				continue
			}
			require.Empty(t, s.NotAction, "%s %s", name, s.Sid)
			for _, action := range s.Action {
				require.Regexp(t, `^[a-z0-9]+:[A-Z][A-Za-z0-9]+$`, action, "%s %s", name, s.Sid)
			}
			require.NotEmpty(t, s.Sid, name)
		}
	}
}

// What changes something in a region is limited to the regions, and what is global to resources or to what it is about.
func TestNoStatementAllowsChangesEverywhere(t *testing.T) {
	reads := regexp.MustCompile(`:(Describe|Get|List)`)
	unlimited := map[string]string{"CreateZones": "a zone has no id before it exists, and Route 53 no condition for its name"}
	for _, name := range []string{"runner-create", "runner-delete", "runner-identity", "runner-mint"} {
		for _, s := range union(t, name).Statement {
			limited := len(s.Condition) > 0 || !slices.Contains(s.Resource, "*")
			if !limited && unlimited[s.Sid] == "" {
				for _, action := range s.Action {
					require.True(t, reads.MatchString(action), "%s %s allows %s on everything", name, s.Sid, action)
				}
			}
		}
	}
}

func TestThePoliciesHaveExactlyTheListedActions(t *testing.T) {
	raw, err := os.ReadFile("terraform/policies/permissions.json")
	require.NoError(t, err)
	var sources map[string]struct{ Groups map[string][]string }
	require.NoError(t, json.Unmarshal(raw, &sources))
	listed := map[string]bool{}
	for _, source := range sources {
		for _, actions := range source.Groups {
			require.True(t, slices.IsSorted(actions))
			for _, action := range actions {
				listed[action] = true
			}
		}
	}
	require.Greater(t, len(sources["openshift-install"].Groups), 10)
	allowed := map[string]bool{}
	for _, s := range union(t, slices.Concat(policies.Create(), policies.Destroy(), policies.Operate(), policies.Mint(), policies.Scan())...).Statement {
		if s.Effect == "Allow" {
			for _, action := range s.Action {
				allowed[action] = true
			}
		}
	}
	for action := range listed {
		require.True(t, allowed[action], "%s is in permissions.json, but no runner policy allows it", action)
	}
	for action := range allowed {
		require.True(t, listed[action], "a runner policy allows %s, and permissions.json does not say who needs it", action)
	}
}

// request is an action on a resource with its condition keys, and the answer.
type request struct {
	action, resource string
	keys             map[string][]string
	want             iampolicy.Decision
}

func check(t *testing.T, document iampolicy.Document, requests []request) {
	t.Helper()
	for _, r := range requests {
		require.Equal(t, r.want, document.Evaluate(r.action, r.resource, r.keys), "%s on %s with %v", r.action, r.resource, r.keys)
	}
}

func keys(pairs ...string) map[string][]string {
	out := map[string][]string{"aws:RequestedRegion": {"us-east-1"}}
	for i := 0; i < len(pairs); i += 2 {
		out[pairs[i]] = strings.Split(pairs[i+1], ",")
	}
	return out
}

// A runner reaches roles of other accounts if they are named, and no other role of its own.
func TestARunnerAssumesTheRolesOfTeamsAlone(t *testing.T) {
	check(t, union(t, append(policies.Create(), "runner-teams")...), []request{
		{"sts:AssumeRole", "arn:aws:iam::333344445555:role/ocpctl-team", keys(), iampolicy.Allow},
		{"sts:AssumeRole", "arn:aws:iam::333344445555:role/Administrator", keys(), iampolicy.NoMatch},
		{"sts:AssumeRole", "arn:aws:iam::" + account + ":role/ocpctl-runner-destroy", keys(), iampolicy.Deny},
	})
	check(t, union(t, policies.Create()...), []request{{"sts:AssumeRole", "arn:aws:iam::333344445555:role/ocpctl-team", keys(), iampolicy.NoMatch}})
}

func TestACreatingRunnerIsLimitedToItsInstallation(t *testing.T) {
	const (
		instance = "arn:aws:ec2:us-east-1:" + account + ":instance/*"
		operator = "arn:aws:iam::" + account + ":role/shop-ab12-openshift-ingress-operator-cloud-credentials"
		boundary = "arn:aws:iam::" + account + ":policy/ocpctl-cluster-boundary"
	)
	check(t, union(t, policies.Create()...), []request{
		{"ec2:RunInstances", instance, keys("aws:RequestTag/InstallationId", "prod"), iampolicy.Allow},
		{"ec2:RunInstances", instance, keys(), iampolicy.NoMatch},
		{"ec2:RunInstances", instance, keys("aws:RequestTag/InstallationId", "other"), iampolicy.NoMatch},
		{"ec2:RunInstances", instance, keys("aws:RequestTag/InstallationId", "prod", "aws:RequestedRegion", "ap-south-1"), iampolicy.NoMatch},
		{"ec2:RunInstances", "arn:aws:ec2:us-east-1::image/ami-1", keys(), iampolicy.Allow},
		{"ec2:CreateNatGateway", "arn:aws:ec2:us-east-1:" + account + ":elastic-ip/eipalloc-1", keys(), iampolicy.Allow},
		{"ec2:CreateTags", "*", keys("aws:ResourceTag/InstallationId", "other"), iampolicy.Deny},
		{"ec2:CreateTags", "*", keys("aws:ResourceTag/ocpctl-platform", "ocpctl"), iampolicy.Deny},
		{"ec2:DeleteVpc", "*", keys(), iampolicy.NoMatch},
		{"iam:CreateRole", operator, keys("iam:PermissionsBoundary", boundary), iampolicy.Allow},
		{"iam:CreateRole", operator, keys(), iampolicy.NoMatch},
		{"iam:CreateRole", operator, keys("iam:PermissionsBoundary", "arn:aws:iam::aws:policy/AdministratorAccess"), iampolicy.NoMatch},
		{"iam:PutRolePolicy", operator, keys(), iampolicy.NoMatch},
		{"iam:CreateRole", "arn:aws:iam::" + account + ":role/shop-abcde-master-role", keys(), iampolicy.Allow},
		{"iam:CreateRole", "arn:aws:iam::" + account + ":role/Administrator", keys(), iampolicy.NoMatch},
		{"iam:PutRolePolicy", runner, keys(), iampolicy.NoMatch},
		{"iam:TagRole", operator, keys(), iampolicy.Allow}, // what ccoctl makes gets our tags right after it
		{"iam:TagOpenIDConnectProvider", "arn:aws:iam::" + account + ":oidc-provider/shop-ab12-oidc.s3.us-east-1.amazonaws.com", keys(), iampolicy.Allow},
		{"iam:TagOpenIDConnectProvider", "arn:aws:iam::" + account + ":oidc-provider/token.actions.githubusercontent.com", keys(), iampolicy.NoMatch},
		{"s3:PutBucketTagging", "arn:aws:s3:::shop-ab12-oidc", keys(), iampolicy.Allow},
		{"s3:PutBucketTagging", "arn:aws:s3:::payroll", keys(), iampolicy.NoMatch},
		{"iam:PassRole", "arn:aws:iam::" + account + ":role/shop-abcde-master-role", keys("iam:PassedToService", "ec2.amazonaws.com"), iampolicy.Allow},
		{"iam:PassRole", "arn:aws:iam::" + account + ":role/shop-abcde-master-role", keys("iam:PassedToService", "lambda.amazonaws.com"), iampolicy.NoMatch},
		{"iam:CreateUser", "arn:aws:iam::" + account + ":user/eve", keys(), iampolicy.NoMatch},
		{"route53:ChangeResourceRecordSets", "arn:aws:route53:::hostedzone/ZBASE", keys("route53:ChangeResourceRecordSetsNormalizedRecordNames", "api.shop.labs.example.com"), iampolicy.Allow},
		{"route53:ChangeResourceRecordSets", "arn:aws:route53:::hostedzone/ZBASE", keys("route53:ChangeResourceRecordSetsNormalizedRecordNames", "api.shop.labs.example.com,www.example.com"), iampolicy.NoMatch},
		{"s3:GetObject", "arn:aws:s3:::state/operate/clusters/clu_1/x/kubeconfig", keys(), iampolicy.Deny},
		{"s3:GetObject", "arn:aws:s3:::payroll/x", keys(), iampolicy.NoMatch},
		{"s3:PutObject", "arn:aws:s3:::openshift-bootstrap-data-shop-abcde/bootstrap.ign", keys(), iampolicy.Allow},
		{"sts:AssumeRole", "arn:aws:iam::" + account + ":role/ocpctl-runner-destroy", keys(), iampolicy.Deny},
		{"iam:PutRolePermissionsBoundary", "arn:aws:iam::" + account + ":role/shop-abcde-master-role", keys("iam:PermissionsBoundary", boundary), iampolicy.Allow},
		{"iam:PutRolePermissionsBoundary", "arn:aws:iam::" + account + ":role/shop-abcde-master-role", keys("iam:PermissionsBoundary", "arn:aws:iam::aws:policy/AdministratorAccess"), iampolicy.NoMatch},
	})
}

func TestADestroyingRunnerDeletesNothingOfOthersAndCreatesNothing(t *testing.T) {
	const (
		machine  = "arn:aws:ec2:us-east-1:" + account + ":instance/i-1"
		snapshot = "arn:aws:ec2:us-east-1::snapshot/snap-1"
	)
	check(t, union(t, policies.Destroy()...), []request{
		{"ec2:TerminateInstances", "*", keys("aws:ResourceTag/InstallationId", "prod"), iampolicy.Allow},
		{"ec2:TerminateInstances", "*", keys(), iampolicy.Allow}, // a leak without tags
		{"ec2:TerminateInstances", "*", keys("aws:ResourceTag/InstallationId", "other"), iampolicy.Deny},
		{"ec2:DeleteSecurityGroup", "*", keys("aws:ResourceTag/ocpctl-platform", "ocpctl"), iampolicy.Deny},
		{"tag:GetResources", "*", keys("aws:RequestedRegion", "ap-south-1"), iampolicy.Allow}, // a copy may be in any region
		{"ec2:DescribeSnapshots", "*", keys("aws:RequestedRegion", "ap-south-1"), iampolicy.Allow},
		{"ec2:DeleteSnapshot", "*", keys("aws:RequestedRegion", "ap-south-1", "aws:ResourceTag/InstallationId", "prod"), iampolicy.Allow},
		{"ec2:DeregisterImage", "*", keys("aws:RequestedRegion", "ap-south-1", "aws:ResourceTag/InstallationId", "prod"), iampolicy.Allow},
		{"ec2:DeleteSnapshot", "*", keys("aws:RequestedRegion", "ap-south-1"), iampolicy.NoMatch},
		{"ec2:DeleteSnapshot", "*", keys("aws:RequestedRegion", "ap-south-1", "aws:ResourceTag/InstallationId", "other"), iampolicy.Deny},
		{"ec2:TerminateInstances", "*", keys("aws:RequestedRegion", "ap-south-1", "aws:ResourceTag/InstallationId", "prod"), iampolicy.NoMatch},
		{"ec2:RunInstances", "*", keys("aws:RequestTag/InstallationId", "prod"), iampolicy.NoMatch},
		{"ec2:CreateTags", snapshot, keys(), iampolicy.Allow}, // before its image is deleted, which alone leads to it
		{"ec2:CreateTags", snapshot, keys("aws:RequestedRegion", "ap-south-1"), iampolicy.NoMatch},
		{"ec2:CreateTags", snapshot, keys("aws:ResourceTag/InstallationId", "other"), iampolicy.Deny},
		{"ec2:CreateTags", machine, keys("aws:ResourceTag/InstallationId", "prod"), iampolicy.NoMatch},
		{"iam:CreateRole", "arn:aws:iam::" + account + ":role/shop-abcde-master-role", keys(), iampolicy.NoMatch},
		{"iam:DeleteRole", "arn:aws:iam::" + account + ":role/shop-abcde-master-role", keys(), iampolicy.Allow},
		{"iam:DeleteRole", "arn:aws:iam::" + account + ":role/Administrator", keys(), iampolicy.NoMatch},
		{"route53:DeleteHostedZone", "arn:aws:route53:::hostedzone/ZCLUSTER", keys(), iampolicy.Allow},
		{"route53:DeleteHostedZone", "arn:aws:route53:::hostedzone/ZBASE", keys(), iampolicy.Deny},
		{"rds:DeleteDBInstance", "*", keys(), iampolicy.NoMatch},
		{"s3:DeleteObjectVersion", "arn:aws:s3:::state/clusters/clu_1/x", keys(), iampolicy.Deny},
	})
	check(t, union(t, policies.Operate()...), []request{
		{"ec2:DescribeInstances", "*", keys(), iampolicy.Allow},
		{"ec2:TerminateInstances", "*", keys(), iampolicy.NoMatch},
		{"ec2:StopInstances", machine, keys("aws:ResourceTag/InstallationId", "prod", "aws:ResourceTag/ManagedBy", "cluster-control-plane"), iampolicy.Allow},
		{"ec2:StartInstances", machine, keys("aws:ResourceTag/InstallationId", "prod", "aws:ResourceTag/ManagedBy", "cluster-control-plane"), iampolicy.Allow},
		{"ec2:StopInstances", machine, keys("aws:ResourceTag/InstallationId", "other", "aws:ResourceTag/ManagedBy", "cluster-control-plane"), iampolicy.NoMatch},
		{"ec2:StopInstances", machine, keys("aws:ResourceTag/InstallationId", "prod"), iampolicy.NoMatch},
		{"ec2:StopInstances", machine, keys(), iampolicy.NoMatch},
		{"ec2:CreateTags", machine, keys("aws:ResourceTag/InstallationId", "prod", "aws:ResourceTag/ManagedBy", "cluster-control-plane", "aws:TagKeys", strings.Join(tagkey.Claimant, ",")), iampolicy.Allow},
		{"ec2:CreateTags", machine, keys("aws:ResourceTag/InstallationId", "prod", "aws:ResourceTag/ManagedBy", "cluster-control-plane", "aws:TagKeys", "Owner,ClusterId"), iampolicy.NoMatch},
		{"ec2:CreateTags", machine, keys("aws:ResourceTag/InstallationId", "other", "aws:ResourceTag/ManagedBy", "cluster-control-plane", "aws:TagKeys", "Owner"), iampolicy.Deny},
		{"elasticloadbalancing:AddTags", "*", keys("aws:TagKeys", "Owner"), iampolicy.NoMatch}, // not ours
		{"route53:ChangeTagsForResource", "arn:aws:route53:::hostedzone/ZCLUSTER", keys("aws:TagKeys", "Owner"), iampolicy.NoMatch},
	})
}

func TestAScanReadsEverywhereAndDoesNothingElse(t *testing.T) {
	reads := regexp.MustCompile(`:(Describe|Get|List)`)
	scan := union(t, policies.Scan()...)
	for _, s := range scan.Statement {
		for _, action := range s.Action {
			require.True(t, reads.MatchString(action), "%s allows %s", s.Sid, action)
		}
	}
	check(t, scan, []request{
		{"ec2:DescribeInstances", "*", keys("aws:RequestedRegion", "ap-south-1"), iampolicy.Allow}, // a leak may be in any region
		{"ec2:TerminateInstances", "*", keys(), iampolicy.NoMatch},
		{"ec2:CreateTags", "*", keys(), iampolicy.NoMatch},
		{"iam:GetRolePolicy", runner, keys(), iampolicy.NoMatch},
		{"s3:GetBucketTagging", "arn:aws:s3:::openshift-bootstrap-data-shop-abcde", keys(), iampolicy.Allow},
		{"s3:GetObject", "arn:aws:s3:::openshift-bootstrap-data-shop-abcde/bootstrap.ign", keys(), iampolicy.NoMatch},
		{"s3:ListBucket", "arn:aws:s3:::shop-ab12-oidc", keys(), iampolicy.Allow},
		{"s3:ListBucket", "arn:aws:s3:::payroll", keys(), iampolicy.NoMatch},
		{"s3:GetBucketTagging", "arn:aws:s3:::payroll", keys(), iampolicy.NoMatch},
		{"s3:GetObject", "arn:aws:s3:::state/clusters/clu_1/x", keys(), iampolicy.NoMatch},
		{"secretsmanager:GetSecretValue", "*", keys(), iampolicy.NoMatch},
		{"sts:AssumeRole", "*", keys(), iampolicy.NoMatch},
	})
}

func TestTheGuardrailDeniesInstallationsOutsideThePlatform(t *testing.T) {
	const tag = "Name,kubernetes.io/cluster/shop-abcde"
	as := func(who string, pairs ...string) map[string][]string {
		return keys(append(pairs, "aws:PrincipalArn", "arn:aws:iam::"+account+":role/"+who)...)
	}
	check(t, union(t, "guardrail"), []request{
		{"ec2:RunInstances", "*", as("Developer", "aws:TagKeys", tag), iampolicy.Deny},
		{"ec2:CreateVpc", "*", as("Developer", "aws:TagKeys", tag), iampolicy.Deny},
		{"ec2:CreateTags", "*", as("Developer", "aws:TagKeys", tag), iampolicy.Deny},
		{"ec2:RunInstances", "*", as("Developer", "aws:TagKeys", "Name"), iampolicy.NoMatch},
		{"ec2:RunInstances", "*", as("Developer"), iampolicy.NoMatch},
		{"ec2:RunInstances", "*", as("ocpctl-runner-create", "aws:TagKeys", tag), iampolicy.NoMatch},
		{"ec2:RunInstances", "*", as("shop-ab12-openshift-machine-api-aws-cloud-credentials", "aws:TagKeys", tag), iampolicy.NoMatch},
		{"ec2:RunInstances", "*", as("PlatformAdministrator", "aws:TagKeys", tag), iampolicy.NoMatch},
		{"iam:CreateInstanceProfile", "arn:aws:iam::" + account + ":instance-profile/mine-abcde-master-profile", as("Developer"), iampolicy.Deny},
		{"iam:CreateInstanceProfile", "arn:aws:iam::" + account + ":instance-profile/webserver", as("Developer"), iampolicy.NoMatch},
		{"route53:ChangeResourceRecordSets", "*", as("Developer", "route53:ChangeResourceRecordSetsNormalizedRecordNames", "api.mine.labs.example.com"), iampolicy.Deny},
		{"route53:ChangeResourceRecordSets", "*", as("Developer", "route53:ChangeResourceRecordSetsNormalizedRecordNames", `\052.apps.mine.labs.example.com`), iampolicy.Deny},
		{"route53:ChangeResourceRecordSets", "*", as("Developer", "route53:ChangeResourceRecordSetsNormalizedRecordNames", "www.labs.example.com"), iampolicy.NoMatch},
		{"iam:UpdateAssumeRolePolicy", runner, as("Developer"), iampolicy.Deny},
		{"iam:UpdateAssumeRolePolicy", runner, as("PlatformAdministrator"), iampolicy.NoMatch},
	})
	for _, s := range union(t, "guardrail").Statement {
		require.Equal(t, "Deny", s.Effect, "a service control policy that allows would say nothing, and an IAM policy would grant")
	}
}

func TestTheServersRolesReadOnlyWhatIsTheirs(t *testing.T) {
	check(t, union(t, "server-api"), []request{
		{"s3:GetObject", "arn:aws:s3:::state/operate/x", nil, iampolicy.Allow},
		{"s3:DeleteObject", "arn:aws:s3:::state/operate/x", nil, iampolicy.NoMatch},
		{"sts:AssumeRole", "arn:aws:iam::123456789012:role/ocpctl-runner-artifacts", nil, iampolicy.Allow},
		{"sts:AssumeRole", "arn:aws:iam::123456789012:role/other", nil, iampolicy.NoMatch},
		{"secretsmanager:GetSecretValue", "arn:w", nil, iampolicy.NoMatch},
		{"kms:Decrypt", "arn:aws:kms:us-east-1:123456789012:key/o", map[string][]string{"kms:ViaService": {"s3.us-east-1.amazonaws.com"}}, iampolicy.Allow},
	})
	check(t, union(t, "server-worker"), []request{
		{"s3:DeleteObjectVersion", "arn:aws:s3:::state/operate/x", nil, iampolicy.Allow},
		{"s3:PutObject", "arn:aws:s3:::state/clusters/x", nil, iampolicy.NoMatch},
		{"kms:Decrypt", "arn:aws:kms:us-east-1:123456789012:key/o", map[string][]string{"kms:ViaService": {"s3.us-east-1.amazonaws.com"}}, iampolicy.NoMatch},
	})
	check(t, union(t, "server-hooks"), []request{
		{"s3:GetObject", "arn:aws:s3:::state/clusters/x", nil, iampolicy.NoMatch},
		{"secretsmanager:GetSecretValue", "arn:h", nil, iampolicy.Allow},
	})
}

// A role that another service account should assume is of no use. The names are those of a release ocpctl in the namespace ocpctl.
func TestTheRolesAreForTheServiceAccountsOfTheChart(t *testing.T) {
	raw, err := os.ReadFile("terraform/variables.tf")
	require.NoError(t, err)
	named := map[string]bool{}
	for _, found := range regexp.MustCompile(`optional\(string, "(ocpctl[a-z-]*/[a-z-]+)"\)`).FindAllStringSubmatch(string(raw), -1) {
		named[found[1]] = true
	}
	require.Len(t, named, 9)
	chart := map[string]bool{}
	for _, example := range []string{"eks", "openshift"} { // roles apart and together
		for _, o := range rendered(t, example) {
			if o.Kind == "ServiceAccount" {
				chart[o.Metadata.Namespace+"/"+o.Metadata.Name] = true
			}
		}
	}
	require.Equal(t, chart, named)
}

func TestTheReadmeListsEveryInputAndOutput(t *testing.T) {
	readme, err := os.ReadFile("terraform/README.md")
	require.NoError(t, err)
	for _, file := range []string{"variables.tf", "outputs.tf"} {
		raw, err := os.ReadFile(filepath.Join("terraform", file))
		require.NoError(t, err)
		found := regexp.MustCompile(`(?m)^(?:variable|output) "(\w+)"`).FindAllStringSubmatch(string(raw), -1)
		require.NotEmpty(t, found)
		for _, name := range found {
			require.Contains(t, string(readme), "`"+name[1]+"`", file)
		}
	}
}
