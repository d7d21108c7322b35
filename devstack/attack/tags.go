package attack

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/ec2/types"

	"github.com/ocpctl/ocpctl/app/api/v1"
	"github.com/ocpctl/ocpctl/devstack"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// tagAttacks use tags to make the teardown of one cluster delete another's resources.
func tagAttacks() []attack {
	return []attack{
		{name: "person/tag-uuid", who: "requester", tried: "have the victim ask for a cluster with the own openshiftClusterID, then destroy the own", play: steeringTag(func(v prey) (string, string) {
			return "openshiftClusterID", v.UUID
		})},
		{name: "person/tag-capa", who: "requester", tried: "have the victim ask for a cluster with the own tag of the AWS provider, then destroy the own", play: steeringTag(func(v prey) (string, string) {
			return "sigs.k8s.io/cluster-api-provider-aws/cluster/" + v.InfraID, "owned"
		})},
		{name: "person/tag-reserved", who: "requester", tried: "ask for clusters with each tag that a teardown, scan or installer looks at", short: true, play: reservedTags},
		{name: "person/two-marks", who: "a tagger in the account", tried: "mark the victim's network as the own cluster's too, then destroy the own", play: twoMarks},
	}
}

// steeringTag makes the victim request a cluster with a tag of the attacker's cluster, as a link that fills in the form would, and
// destroys the attacker's: whatever has its tag would be deleted.
func steeringTag(tag func(own prey) (key, value string)) func(context.Context, *target) (result, error) {
	return func(ctx context.Context, t *target) (result, error) {
		own := must.Get(t.newPrey(ctx, attacker, t.unique("steer")))
		c := must.Get(t.as(victim))
		key, value := tag(own)
		name := t.unique("tagged")
		request := v1.CreateRequest{Name: name, Profile: smallProfile, ExtraTags: map[string]string{key: value}}
		got := must.Get(c.ask(ctx, http.MethodPost, "/api/v1/clusters", request, "Idempotency-Key", name))
		if got.status != http.StatusAccepted {
			must.Do(t.endOf(ctx, own.ID))
			return held("the tag %s was answered %d", key, got.status)
		}
		must.Get(t.becomes(ctx, idIn(got), "ready"))
		v := must.Get(t.preyOf(ctx, victim, idIn(got)))
		must.Do(t.endOf(ctx, own.ID))
		must.Get(t.becomes(ctx, own.ID, "released", "destroy_blocked"))
		harm := must.Get(t.harm(ctx, v))
		return through("the tag %s=%s was accepted; %s", key, value, cmp.Or(harm, "the victim lost nothing this time"))
	}
}

// idIn returns the id of the cluster in a create's response.
func idIn(a answer) string {
	_, id, _ := strings.Cut(string(a.body), `"clusterId":"`)
	id, _, _ = strings.Cut(id, `"`)
	return id
}

// reservedTags tries every family of keys that is used by code that deletes or counts.
func reservedTags(ctx context.Context, t *target) (result, error) {
	c := must.Get(t.as(attacker))
	keys := []string{
		"openshiftClusterID", "openshift_creationDate", "openshift-anything", "kubernetes.io/cluster/x-abcde", "kubernetes.io/anything",
		"sigs.k8s.io/cluster-api-provider-aws/cluster/x-abcde", "sigs.k8s.io/cluster-api-provider-aws/role", "red-hat-managed", "red-hat-clustertype",
		"ocpctl", "ocpctl-anything", "ocpctl/x", "expirationDate", "ClusterId", "ClusterName", "InstallationId", "TTLExpiry", "aws:cloudformation:stack-name", "AWS:x",
	}
	var taken []string
	for _, key := range keys {
		got := must.Get(patient(ctx, func() (answer, error) {
			return c.ask(ctx, http.MethodPost, "/api/v1/clusters", v1.CreateRequest{Name: t.unique("reserved"), Profile: smallProfile, ExtraTags: map[string]string{key: "x"}}, "Idempotency-Key", "reserved-"+key)
		}))
		if got.status == http.StatusAccepted {
			taken = append(taken, key)
			must.Do(c.destroy(ctx, idIn(got)))
		}
	}
	throughIf(len(taken) > 0, "%d of %d reserved keys were accepted: %s", len(taken), len(keys), strings.Join(taken, ", "))
	return held("%d reserved keys, all refused", len(keys))
}

// cloud returns a client of the stand-in AWS with the control plane's own keys, as somebody else in the account would use it.
func (t *target) cloud() *ec2.Client {
	return ec2.New(ec2.Options{
		Region: "us-east-1", BaseEndpoint: awssdk.String(t.AWS.URL()),
		Credentials: credentials.NewStaticCredentialsProvider(devstack.AccessKey, t.Secrets.CloudKey, ""),
	})
}

// twoMarks puts the attacker's ownership tag on the victim's VPC and instances, besides the victim's own.
func twoMarks(ctx context.Context, t *target) (result, error) {
	v := must.Get(t.victimOf(ctx))
	id := must.Get(t.ready(ctx, attacker, "two-marks"))
	var infra string
	must.Do(t.pool.QueryRow(ctx, "SELECT infra_id FROM attempts WHERE cluster_id = $1 AND infra_id <> ''", id).Scan(&infra))
	var marked []string
	for _, r := range t.AWS.Resources(v.InfraID) {
		if r.Service == "ec2" && r.Tags["kubernetes.io/cluster/"+v.InfraID] != "" {
			marked = append(marked, r.ID)
		}
	}
	must.FailIf(len(marked) == 0, "the victim has no network")
	tags := []types.Tag{{Key: awssdk.String("kubernetes.io/cluster/" + infra), Value: awssdk.String("owned")}}
	must.Get(t.cloud().CreateTags(ctx, &ec2.CreateTagsInput{Resources: marked, Tags: tags}))
	must.Do(t.endOf(ctx, id))
	seen := must.Get(t.tornDown(ctx, id, marked[0]))
	harm := must.Get(t.harm(ctx, v))
	_, untag := t.cloud().DeleteTags(ctx, &ec2.DeleteTagsInput{Resources: marked, Tags: tags})
	must.FailIf(untag != nil && harm == "", "take the marks off again: %w", untag)
	throughIf(harm != "", "%d resources carried both marks; %s", len(marked), harm)
	return held("%d resources carried both marks; %s; %s", len(marked), v.unharmed(), seen)
}
