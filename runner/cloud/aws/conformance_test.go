package aws_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stretchr/testify/require"

	standin "github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/runner"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/aws"
	"github.com/ocpctl/ocpctl/runner/cloud/cloudtest"
)

func TestAWSIsACloud(t *testing.T) {
	cloudtest.Run(t, func(t *testing.T) cloudtest.Scene {
		return &conforming{scene: newScene(t, "shop", "us-east-2"), t: t, dirs: map[string]string{}}
	})
}

// conforming is a scene as the suite of all clouds needs it.
type conforming struct {
	*scene
	t    *testing.T
	dirs map[string]string // install directories by infraID
}

func (c *conforming) Client() runner.Cloud { return c.client }

func (c *conforming) Stranger(t *testing.T) runner.Cloud {
	client, err := aws.New(t.Context(), c.target.Region, config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider("AKIANOBODY0000000000", "wrong", "")))
	require.NoError(t, err)
	return client
}

func (c *conforming) Target(name string) cloud.Target {
	target := c.target
	target.Name, target.Cluster, target.Identities = name, "clu_"+name, nil
	return target
}

func (c *conforming) Plan() cloud.Plan {
	return cloud.Plan{Zones: []string{"us-east-2a"}, Machines: []cloud.Machines{{Type: "m6i.xlarge", Lasting: 3, Transient: 1}}}
}

func (c *conforming) Create(t *testing.T, target cloud.Target) cloud.Target {
	one := &scene{World: c.World, client: c.client, target: target}
	one.render(t)
	id := &one.target.Identities[0]
	id.CCOName = target.Name + "-abcdefghij"
	out := c.Tool(t, "ccoctl", t.TempDir(), "aws", "create-all", "--name", id.CCOName, "--region", target.Region, "--credentials-requests-dir", requests(t, one), "--output-dir", "cc")
	require.Zero(t, out.Code, out.Stderr)
	c.Must(t, one.dir, "create cluster")
	c.dirs[id.InfraID] = one.dir
	return one.target
}

func (c *conforming) Destroy(t *testing.T, target cloud.Target, destroyer bool) {
	for _, id := range target.Identities {
		if destroyer {
			work := filepath.Join(t.TempDir(), "destroy")
			require.NoError(t, os.MkdirAll(work, 0o750))
			require.NoError(t, os.WriteFile(filepath.Join(work, "metadata.json"), []byte(id.Metadata), 0o600))
			c.Must(t, work, "destroy cluster")
		}
		out := c.Tool(t, "ccoctl", t.TempDir(), "aws", "delete", "--name", id.CCOName, "--region", id.Region)
		require.Zero(t, out.Code, out.Stderr)
	}
}

func (c *conforming) LookAlikes(t *testing.T, target cloud.Target) (ids []string) {
	infraID, ccoName := target.Identities[0].InfraID, target.Identities[0].CCOName
	for _, r := range []standin.Resource{
		{Service: "ec2", Type: "volume", Name: infraID + "x-vol", Tags: map[string]string{kubeKey + infraID + "x": "owned"}},
		{Service: "ec2", Type: "vpc", Name: "my-" + infraID + "-vpc"},
		{Service: "iam", Type: "role", ID: ccoName + "-x7-openshift-ingress", Tags: map[string]string{ccoKey + ccoName + "-x7": "owned"}},
	} {
		if r.Service == "ec2" {
			r.Region = target.Region
		}
		ids = append(ids, c.plant(t, r).ID)
	}
	return ids
}

// PlantOlder forges tags. What is in a network with the cluster's tags goes with it, tagged or not.
func (c *conforming) PlantOlder(t *testing.T, target cloud.Target, made time.Time) (ids []string) {
	forged := map[string]string{kubeKey + target.Identities[0].InfraID: "owned", "ClusterId": target.Cluster, "ManagedBy": "cluster-control-plane"}
	network := c.plant(t, standin.Resource{Service: "ec2", Type: "vpc", Region: target.Region, Tags: forged, Created: made})
	inside := c.plant(t, standin.Resource{Service: "elasticloadbalancing", Type: "loadbalancer", Region: target.Region, Name: "shop", VPC: network.ID, Created: made,
		ID: "arn:aws:elasticloadbalancing:" + target.Region + ":" + account + ":loadbalancer/net/shop/1", Attrs: map[string]string{"scheme": "internal", "type": "network"}})
	ids = append(ids, inside.ID)
	for _, r := range []standin.Resource{
		{Service: "ec2", Type: "instance", State: "running", Attrs: map[string]string{"started": time.Now().UTC().Format(time.RFC3339)}}, // it was started again since
		{Service: "ec2", Type: "volume"}, {Service: "ec2", Type: "snapshot"}, {Service: "ec2", Type: "image", Attrs: map[string]string{"name": "base"}},
		{Service: "ec2", Type: "natgateway"}, {Service: "ec2", Type: "vpc-endpoint"}, {Service: "iam", Type: "role", Name: "payroll"},
	} {
		r.Tags, r.Created = forged, made
		if r.Service == "ec2" {
			r.Region = target.Region
		}
		planted := c.plant(t, r)
		id := planted.ID
		if planted.Type == "role" {
			id = planted.ARN()
		}
		ids = append(ids, id)
	}
	return ids
}

// PlantElsewhere also leaves the snapshot of an image without tags, with which the image stays.
func (c *conforming) PlantElsewhere(t *testing.T, target cloud.Target, made time.Time) (deleted, left []string) {
	exact := map[string]string{kubeKey + target.Identities[0].InfraID: "owned", "ClusterId": target.Cluster, "InstallationId": target.Installation}
	in := func(kind string, tags map[string]string, attrs map[string]string) string {
		return c.plant(t, standin.Resource{Service: "ec2", Type: kind, Region: zonesElsewhere, Tags: tags, Attrs: attrs}).ID
	}
	of := in("snapshot", exact, nil)
	deleted = []string{in("snapshot", exact, nil), of, in("image", exact, map[string]string{"name": "golden", "snapshot-id": of})}
	untagged := in("snapshot", nil, nil)
	old := c.plant(t, standin.Resource{Service: "ec2", Type: "snapshot", Region: zonesElsewhere, Tags: exact, Created: made}).ID
	left = []string{
		untagged, in("image", exact, map[string]string{"name": "half", "snapshot-id": untagged}), old,
		in("snapshot", map[string]string{"ClusterId": target.Cluster}, nil), in("volume", exact, nil),
	}
	return deleted, left
}

// zonesElsewhere is a region in which the tests' clusters never are.
const zonesElsewhere = "us-west-2"

func (c *conforming) Left(text string) []string { return c.World.Left(c.t, text) }

func (c *conforming) Refuse() { c.AWS.Refuse("ec2:DescribeInstances", -1, "UnauthorizedOperation") }
func (c *conforming) Answer() { c.AWS.Lift("ec2:DescribeInstances") }

// Busy also has an index that remembers everything.
func (c *conforming) Busy() {
	c.AWS.SetLag(standin.Lag{Delete: time.Hour})
	c.AWS.Pages(2)
	c.AWS.Throttle("*", 0, 7)
}
