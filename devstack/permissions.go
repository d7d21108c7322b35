package devstack

import (
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/deploy/terraform/policies"
)

// Runners have keys of their own, with the permissions of the runner roles that deploy/terraform creates: a permission that is missing
// there fails a life here. The state of all clusters is denied to them. For their part of the bucket they ask the server, which assumes
// the role below and restricts it. Scans have a second key, which only reads.
const (
	RunnerKey    = "AKIADEMO00000RUNNER1"
	RunnerSecret = "demo/runner+secret/not-a-secret-0000001"
	RunnerUser   = "arn:aws:iam::" + Account + ":user/ocpctl-runner"

	ScanKey    = "AKIADEMO000000SCANS1"
	ScanSecret = "demo/scan+secret/not-a-secret-00000001"
	ScanUser   = "arn:aws:iam::" + Account + ":user/ocpctl-scan"

	bucketRole = "ocpctl-runner-artifacts"

	boundaryARN = "arn:aws:iam::" + Account + ":policy/ocpctl-cluster-boundary"
)

// PolicyValues are the placeholders' values of an installation in the stand-in AWS.
func PolicyValues() policies.Values {
	return policies.Values{
		"partition": {"aws"}, "dns_suffix": {"amazonaws.com"}, "account": {Account}, "platform_account": {Account}, "name": {"ocpctl"}, "installation": {"demo"},
		"regions": {"us-east-1", "us-east-2", "us-west-2"}, "bucket": {Bucket}, "artifact_keys": {"arn:aws:kms:us-east-1:" + Account + ":key/artifacts"},
		"cluster_records": {"*.labs.example.com"}, "base_zones": {"arn:aws:route53:::hostedzone/ZBASEDOMAIN"},
	}
}

// runnerPolicy returns the policies of the runners' one key: those of all runner roles together, except for that of scans.
func (c Config) runnerPolicy() (string, error) {
	names := slices.Concat(policies.Create(), policies.Destroy(), policies.Operate(), policies.Mint())
	policy, err := policies.Union(PolicyValues(), names...)
	if err != nil {
		return "", fmt.Errorf("the runners' policies: %w", err)
	}
	if c.RunnerPolicy != nil {
		policy = c.RunnerPolicy(policy)
	}
	return policy, nil
}

// scanPolicy returns the policy of the key that looks through the account.
func scanPolicy() (string, error) { return policies.Union(PolicyValues(), policies.Scan()...) }

// boundaries are the permissions boundaries of the account: that of the clusters' roles.
func boundaries() (map[string]string, error) {
	policy, err := policies.Render("cluster-boundary", PolicyValues())
	return map[string]string{boundaryARN: policy}, err
}

// bucketPolicy is the policy of the role for the runners' parts of the bucket.
func bucketPolicy() (string, error) { return policies.Render("runner-artifacts", PolicyValues()) }
