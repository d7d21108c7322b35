package devstack

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	ibmpolicies "github.com/ocpctl/ocpctl/deploy/ibmcloud/policies"
	"github.com/ocpctl/ocpctl/deploy/terraform/policies"
	"github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/hub"
	"github.com/ocpctl/ocpctl/devstack/ibmcloud"
	"github.com/ocpctl/ocpctl/devstack/meter"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/profiles"
)

func (h *Stack) startAWS(ctx context.Context) (err error) {
	defer must.Catch(&err)
	policy := must.Get(h.runnerPolicy())
	scans := must.Get(scanPolicy())
	parts := must.Get(bucketPolicy())
	limits := must.Get(boundaries())
	h.AWS, err = aws.Start(ctx, aws.Config{
		Addr: addr(h.Ports.AWS), AccessKey: AccessKey, SecretKey: h.Secrets.CloudKey, Account: Account, StatePath: h.state("aws.json"), Tombstone: h.tombstone(),
		Callers: append([]aws.Caller{
			{AccessKey: CLIKey, SecretKey: CLISecret, ARN: CLIUser},
			{AccessKey: RunnerKey, SecretKey: h.Secrets.RunnerKey, ARN: RunnerUser, Policy: policy},
			{AccessKey: ScanKey, SecretKey: h.Secrets.ScanKey, ARN: ScanUser, Policy: scans},
			{AccessKey: SecondKey, SecretKey: SecondSecret, ARN: SecondUser},
		}, h.Callers...),
		Roles: []aws.Role{{Name: bucketRole, Policy: parts}}, Boundaries: limits, Buckets: h.S3.URL(), TagBuckets: h.Real != "", Others: []string{SecondAccount},
	})
	if h.Scarce && err == nil {
		for _, zone := range []string{"a", "b", "c", "d"} {
			h.AWS.Refuse("ec2:RunInstances/us-west-2"+zone, -1, aws.NoCapacity)
		}
	}
	return err
}

// awaitProofs waits until the catalogue's accounts are proven, so that the first label gets a cluster. If one is not within a minute, the pages say why.
func (h *Stack) awaitProofs(ctx context.Context) (err error) {
	documents := 0
	if h.Accounts {
		documents = 2
	}
	if h.Hub != nil {
		documents++
	}
	if documents == 0 || h.NoServer || h.Old != "" {
		return nil
	}
	defer must.Catch(&err)
	database := must.Get(pgx.Connect(ctx, h.DatabaseURL()))
	defer database.Close(ctx)
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(100 * time.Millisecond) {
		var open bool
		must.Do(database.QueryRow(ctx, `SELECT count(*) FILTER (WHERE verdict <> '') < $1 FROM proofs`, documents).Scan(&open))
		if !open {
			return nil
		}
	}
	return nil
}

// startHub starts the hub. Its state is there before the folders are laid out, because its credentials are a secret of them.
func (h *Stack) startHub(ctx context.Context) (err error) {
	if !h.Hubs || h.Old != "" {
		return nil
	}
	defer must.Catch(&err)
	must.Do(os.MkdirAll(h.Dir, 0o711))
	delay := time.Second
	if h.Fast {
		delay = 100 * time.Millisecond
	}
	h.Hub, err = hub.Start(ctx, hub.Config{Addr: addr(h.Ports.Hub), StatePath: h.state("hub.json"), Delay: delay})
	return err
}

// tombstone is how long the cloud lists deleted resources: an hour as in AWS, or, for stacks with hundreds of clusters, just long
// enough to mislead code that ignores states.
func (h *Stack) tombstone() time.Duration {
	if h.Fast {
		return 20 * time.Second
	}
	return time.Hour
}

func (h *Stack) startIBMCloud(ctx context.Context) (err error) {
	access, err := ibmpolicies.Runner()
	if err != nil {
		return err
	}
	h.IBMCloud, err = ibmcloud.Start(ctx, ibmcloud.Config{
		Addr: addr(h.Ports.IBMCloud), Account: IBMAccount, StatePath: h.state("ibmcloud.json"), Callers: []ibmcloud.Caller{{APIKey: h.Secrets.IBMKey, Access: &access}},
	})
	return err
}

// Left returns what the clouds and the hub have that mentions a text, one line each; empty: everything.
func (h *Stack) Left(text string) (lines []string) {
	for _, r := range h.AWS.Resources(text) {
		lines = append(lines, strings.Join([]string{"aws", r.Type, r.ID, r.Name}, " "))
	}
	for _, r := range h.IBMCloud.Resources(text) {
		if r.Type == "tag" && !ofOneCluster(r.Name) { // a tag like owner:maya stays in the account's list for the next cluster
			continue
		}
		lines = append(lines, strings.Join([]string{"ibmcloud", r.Type, r.ID, r.Name}, " "))
	}
	if h.Hub != nil {
		for _, path := range h.Hub.Left(text) {
			lines = append(lines, "hub "+path)
		}
	}
	return lines
}

// Elapse lets time pass for the meters of both clouds alone.
func (h *Stack) Elapse(by time.Duration) {
	h.AWS.Elapse(by)
	h.IBMCloud.Elapse(by)
}

// Metered returns what was used in each cloud until now, in cents at the prices of its built-in list, by the id of the cluster in lower case,
// which is how IBM Cloud keeps tags. What is no cluster's has no id.
func (h *Stack) Metered() (_ map[string]map[string]float64, err error) {
	defer must.Catch(&err)
	catalogue := must.Get(profiles.Embedded())
	cents := map[string]map[string]float64{}
	for cloud, used := range map[string][]meter.Used{"aws": h.AWS.Meter(), "ibmcloud": h.IBMCloud.Meter()} {
		prices, _ := catalogue.PriceList(cloud) // without a list no price is known
		cents[cloud] = map[string]float64{}
		for _, u := range used {
			more, known := u.Cents(prices)
			must.FailIf(!known, "the price list of %s has no price for %+v", cloud, u)
			cents[cloud][strings.ToLower(u.Cluster)] += more
		}
	}
	return cents, nil
}

// ofOneCluster reports that no two clusters have a tag.
func ofOneCluster(tag string) bool {
	for _, key := range []string{tagkey.Owner, tagkey.Team, tagkey.CostCenter, tagkey.Environment, tagkey.Installation, tagkey.ManagedBy} {
		if strings.HasPrefix(tag, strings.ToLower(key)+":") {
			return false
		}
	}
	return true
}

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

	// A second account, whose runners may do everything in it.
	SecondAccount = "210987654321"
	SecondKey     = "AKIADEMO00000SECOND1"
	SecondSecret  = "demo/second+secret/not-a-secret-000001"
	SecondUser    = "arn:aws:iam::" + SecondAccount + ":user/ocpctl-runner"

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
	return map[string]string{boundaryARN: policy, strings.Replace(boundaryARN, Account, SecondAccount, 1): policy}, err
}

// bucketPolicy is the policy of the role for the runners' parts of the bucket.
func bucketPolicy() (string, error) { return policies.Render("runner-artifacts", PolicyValues()) }
