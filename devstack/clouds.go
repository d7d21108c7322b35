package devstack

import (
	"context"
	"strings"
	"time"

	ibmpolicies "github.com/ocpctl/ocpctl/deploy/ibmcloud/policies"
	"github.com/ocpctl/ocpctl/devstack/aws"
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
		}, h.Callers...),
		Roles: []aws.Role{{Name: bucketRole, Policy: parts}}, Boundaries: limits, Buckets: h.S3.URL(), TagBuckets: h.Real != "",
	})
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

// Left returns what both clouds have that mentions a text, one line each; empty: everything.
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
