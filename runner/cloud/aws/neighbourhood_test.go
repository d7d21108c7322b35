package aws_test

import (
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	elbtypes "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2/types"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	r53types "github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/deploy/terraform/policies"
	"github.com/ocpctl/ocpctl/devstack/aws/session"
	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
	"github.com/ocpctl/ocpctl/devstack/installer/release"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/aws"
)

const boundary = "arn:aws:iam::" + account + ":policy/ocpctl-cluster-boundary"

// neighbourhood is an account with two clusters of different people, made as a runner makes them.
type neighbourhood struct {
	*installertest.World
	t             *testing.T
	ours, theirs  *livingCluster
	administrator awssdk.Config
}

// livingCluster is a cluster with its operators' roles and the key that signs their tokens.
type livingCluster struct {
	target           cloud.Target
	infraID, ccoName string
	key              *rsa.PrivateKey
	master, volume   string // an instance of the control plane, and its disk
	zone, balancer   string // the private zone; ARN of the load balancer in front of the API
	registry         string // the bucket of the image registry
}

func newNeighbourhood(t *testing.T) *neighbourhood {
	t.Helper()
	limit, err := policies.Render("cluster-boundary", policies.Values{
		"partition": {"aws"}, "dns_suffix": {"amazonaws.com"}, "account": {account}, "installation": {"test"}, "regions": {"us-east-1", "us-east-2"}, "bucket": {"artifacts"},
	})
	require.NoError(t, err)
	n := &neighbourhood{World: installertest.StartWithin(t, map[string]string{boundary: limit}), t: t}
	n.administrator = (&scene{target: cloud.Target{Region: "us-east-2"}}).config(t)
	n.ours, n.theirs = n.install("shop"), n.install("bank")
	return n
}

// install makes a cluster in credentials mode Manual: ccoctl, the roles' tags, the installer, the nodes' boundary.
func (n *neighbourhood) install(name string) *livingCluster {
	t := n.t
	c := &livingCluster{ccoName: name + "-0123456789"}
	dir, pull := t.TempDir(), filepath.Join(t.TempDir(), "pull")
	require.NoError(t, os.WriteFile(pull, []byte(installertest.PullSecret), 0o600))
	config := strings.Replace(installertest.InstallConfig(name, "us-east-2", 0), "credentialsMode: Mint", "credentialsMode: Manual", 1)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(config), 0o600))
	for _, step := range [][]string{
		{"oc", "adm", "release", "extract", "--credentials-requests", "--included", "--install-config=config.yaml", "--from=" + release.Image("4.20.3"), "--registry-config=" + pull, "--to=requests"},
		{"ccoctl", "aws", "create-all", "--name", c.ccoName, "--region", "us-east-2", "--credentials-requests-dir", "requests", "--output-dir", "cc", "--permissions-boundary-arn", boundary},
	} {
		out := n.Tool(t, step[0], dir, step[1:]...)
		require.Zero(t, out.Code, out.Stderr)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "cc", "serviceaccount-signer.private"))
	require.NoError(t, err)
	block, _ := pem.Decode(raw)
	c.key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	require.NoError(t, err)

	s := &scene{World: n.World, target: cloud.Target{Region: "us-east-2", Name: name, BaseDomain: "labs.example.com", Cluster: "clu_" + name, Account: account}}
	s.dir = installertest.Dir(t, config)
	s.Must(t, s.dir, "create manifests")
	for _, folder := range []string{"manifests", "tls"} {
		require.NoError(t, os.MkdirAll(filepath.Join(s.dir, folder), 0o700))
		files, err := filepath.Glob(filepath.Join(dir, "cc", folder, "*"))
		require.NoError(t, err)
		for _, file := range files {
			content, err := os.ReadFile(file)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(s.dir, folder, filepath.Base(file)), content, 0o600))
		}
	}
	s.recorded(t)
	client, err := aws.New(t.Context(), "us-east-2")
	require.NoError(t, err)
	require.NoError(t, client.LimitRoles(t.Context(), s.target, n.roles(c), boundary))
	s.Must(t, s.dir, "create cluster")
	require.NoError(t, client.LimitRoles(t.Context(), s.target, n.roles(c), boundary))
	c.target, c.infraID = s.target, s.target.Identities[0].InfraID
	for _, r := range n.AWS.Resources(c.infraID) {
		switch {
		case r.Type == "instance" && r.Name == c.infraID+"-master-0":
			c.master = r.ID
		case r.Type == "volume" && r.Name == c.infraID+"-master-0":
			c.volume = r.ID
		case r.Type == "hostedzone" && r.Tags["ClusterId"] == c.target.Cluster:
			c.zone = r.ID
		case r.Type == "loadbalancer" && r.Name == c.infraID+"-ext":
			c.balancer = r.ID
		}
	}
	buckets, err := n.S3.Client().ListBuckets(t.Context(), &s3.ListBucketsInput{})
	require.NoError(t, err)
	for _, b := range buckets.Buckets {
		if strings.HasPrefix(*b.Name, c.infraID+"-image-registry-") {
			c.registry = *b.Name
		}
	}
	require.NotContains(t, []string{c.master, c.volume, c.zone, c.balancer, c.registry}, "")
	ignition := "openshift-bootstrap-data-" + c.infraID // as while the bootstrap machine runs
	require.NoError(t, n.S3.CreateBucket(t.Context(), ignition))
	_, err = n.S3.Client().PutObject(t.Context(), &s3.PutObjectInput{Bucket: &ignition, Key: awssdk.String("bootstrap.ign"), Body: strings.NewReader("{}")})
	require.NoError(t, err)
	return c
}

// roles are the names of the operators' roles.
func (n *neighbourhood) roles(c *livingCluster) (names []string) {
	for _, r := range n.AWS.Resources(c.ccoName) {
		if r.Type == "role" {
			names = append(names, r.Name)
		}
	}
	require.Len(n.t, names, 7)
	return names
}

// token is what the cluster's API signs for whoever administers it.
func (n *neighbourhood) token(c *livingCluster, subject string, more map[string]any) string {
	n.t.Helper()
	public, err := x509.MarshalPKIXPublicKey(&c.key.PublicKey)
	require.NoError(n.t, err)
	id := sha256.Sum256(public)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: c.key, KeyID: base64.RawURLEncoding.EncodeToString(id[:])}}, nil)
	require.NoError(n.t, err)
	claims := map[string]any{"iss": "https://" + c.ccoName + "-oidc.s3.us-east-2.amazonaws.com", "sub": subject, "aud": []string{"openshift"},
		"iat": time.Now().Unix(), "exp": time.Now().Add(time.Hour).Unix()}
	maps.Copy(claims, more)
	raw, err := jwt.Signed(signer).Claims(claims).Serialize()
	require.NoError(n.t, err)
	return raw
}

type tokenText string

func (t tokenText) GetIdentityToken() ([]byte, error) { return []byte(t), nil }

// operator is what one operator of our cluster is in AWS.
func (n *neighbourhood) operator(c *livingCluster, request release.Request) awssdk.Config {
	n.t.Helper()
	role := fmt.Sprintf("arn:aws:iam::%s:role/%.64s", account, c.ccoName+"-"+request.Namespace+"-"+request.Secret)
	cfg := n.administrator.Copy()
	token := n.token(c, "system:serviceaccount:"+request.Namespace+":"+request.ServiceAccounts[0], nil)
	cfg.Credentials = stscreds.NewWebIdentityRoleProvider(sts.NewFromConfig(n.administrator), role, tokenText(token))
	return cfg
}

func (n *neighbourhood) with(s session.Session, token string, err error) awssdk.Config {
	n.t.Helper()
	require.NoError(n.t, err)
	cfg := n.administrator.Copy()
	cfg.Credentials = credentials.NewStaticCredentialsProvider(s.AccessKey, s.SecretKey, token)
	return cfg
}

// anyRole is a role of a cluster that may do everything within the boundary, as a runner that was taken over could make one.
func (n *neighbourhood) anyRole(c *livingCluster, tagged bool) awssdk.Config {
	name := c.ccoName + "-openshift-everything"
	api := iam.NewFromConfig(n.administrator)
	_, err := api.CreateRole(n.t.Context(), &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: awssdk.String("{}"), PermissionsBoundary: awssdk.String(boundary)})
	require.NoError(n.t, err)
	_, err = api.PutRolePolicy(n.t.Context(), &iam.PutRolePolicyInput{RoleName: &name, PolicyName: awssdk.String("all"),
		PolicyDocument: awssdk.String(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`)})
	require.NoError(n.t, err)
	if tagged {
		client, err := aws.New(n.t.Context(), "us-east-2")
		require.NoError(n.t, err)
		require.NoError(n.t, client.LimitRoles(n.t.Context(), c.target, []string{name}, boundary))
	}
	return n.with(n.AWS.RoleCredentials(name))
}

// acts are what a cluster's roles do to a cluster, each on its own.
func (n *neighbourhood) acts(to *livingCluster) map[string]func(awssdk.Config) error {
	ctx := n.t.Context()
	records := func(zone, name string) func(awssdk.Config) error {
		return func(as awssdk.Config) error {
			_, err := route53.NewFromConfig(as).ChangeResourceRecordSets(ctx, &route53.ChangeResourceRecordSetsInput{HostedZoneId: &zone, ChangeBatch: &r53types.ChangeBatch{
				Changes: []r53types.Change{{Action: "UPSERT", ResourceRecordSet: &r53types.ResourceRecordSet{Name: &name, Type: "CNAME", TTL: awssdk.Int64(30),
					ResourceRecords: []r53types.ResourceRecord{{Value: awssdk.String("x.example.org")}}}}},
			}})
			return err
		}
	}
	_, public := (&scene{World: n.World}).dns(n.t)
	bucket := func(as awssdk.Config) *s3.Client {
		return s3.NewFromConfig(as, func(o *s3.Options) { o.UsePathStyle, o.Region = true, "us-east-1" })
	}
	put := func(name, key string) func(awssdk.Config) error {
		return func(as awssdk.Config) error {
			_, err := bucket(as).PutObject(ctx, &s3.PutObjectInput{Bucket: &name, Key: &key, Body: strings.NewReader("{}")})
			return err
		}
	}
	get := func(name, key string) func(awssdk.Config) error {
		return func(as awssdk.Config) error {
			_, err := bucket(as).GetObject(ctx, &s3.GetObjectInput{Bucket: &name, Key: &key})
			return err
		}
	}
	ec := func(do func(*ec2.Client) error) func(awssdk.Config) error {
		return func(as awssdk.Config) error { return do(ec2.NewFromConfig(as)) }
	}
	made := to.infraID + "-image-registry-us-east-2-test"
	return map[string]func(awssdk.Config) error{
		"write api": records(public, "api."+to.target.Domain()), "write apps": records(public, "*.apps."+to.target.Domain()),
		"write private": records(to.zone, "api-int."+to.target.Domain()),
		"forge keys":    put(to.ccoName+"-oidc", "keys.json"), "forge discovery": put(to.ccoName+"-oidc", ".well-known/openid-configuration"),
		"read ignition": get("openshift-bootstrap-data-"+to.infraID, "bootstrap.ign"),
		"make registry": func(as awssdk.Config) error {
			_, err := bucket(as).CreateBucket(ctx, &s3.CreateBucketInput{Bucket: &made})
			return err
		},
		"push image": put(to.registry, "docker/registry/v2/repositories/a-oidc/keys.json/link"),
		"tag registry": func(as awssdk.Config) error {
			_, err := bucket(as).PutBucketTagging(ctx, &s3.PutBucketTaggingInput{Bucket: &to.registry, Tagging: &s3types.Tagging{TagSet: []s3types.Tag{{Key: awssdk.String("a"), Value: awssdk.String("b")}}}})
			return err
		},
		"snapshot": ec(func(api *ec2.Client) error {
			_, err := api.CreateSnapshot(ctx, &ec2.CreateSnapshotInput{VolumeId: &to.volume})
			return err
		}),
		"tag": ec(func(api *ec2.Client) error {
			_, err := api.CreateTags(ctx, &ec2.CreateTagsInput{Resources: []string{to.master}, Tags: []ec2types.Tag{{Key: awssdk.String("a"), Value: awssdk.String("b")}}})
			return err
		}),
		"detach": ec(func(api *ec2.Client) error {
			_, err := api.DetachVolume(ctx, &ec2.DetachVolumeInput{VolumeId: &to.volume})
			return err
		}),
		"attach": ec(func(api *ec2.Client) error {
			_, err := api.AttachVolume(ctx, &ec2.AttachVolumeInput{VolumeId: &to.volume, InstanceId: &to.master, Device: awssdk.String("/dev/xvdb")})
			return err
		}),
		"pass role": ec(func(api *ec2.Client) error { return n.runMachine(api, to, to.target.Cluster) }),
		"stop": ec(func(api *ec2.Client) error {
			_, err := api.StopInstances(ctx, &ec2.StopInstancesInput{InstanceIds: []string{to.master}})
			return err
		}),
		"tag balancer": func(as awssdk.Config) error {
			_, err := elasticloadbalancingv2.NewFromConfig(as).AddTags(ctx, &elasticloadbalancingv2.AddTagsInput{ResourceArns: []string{to.balancer}, Tags: []elbtypes.Tag{{Key: awssdk.String("a")}}})
			return err
		},
		"terminate": ec(func(api *ec2.Client) error {
			_, err := api.TerminateInstances(ctx, &ec2.TerminateInstancesInput{InstanceIds: []string{to.master}})
			return err
		}),
	}
}

// runMachine starts a machine with the master's role of a cluster in its network.
func (n *neighbourhood) runMachine(api *ec2.Client, of *livingCluster, cluster string) error {
	var subnet, profile string
	for _, r := range n.AWS.Resources(of.infraID) {
		if r.Type == "subnet" && strings.Contains(r.Name, "private") {
			subnet = r.ID
		}
	}
	profile = of.infraID + "-master-profile"
	tags := []ec2types.Tag{{Key: awssdk.String("ClusterId"), Value: &cluster}}
	_, err := api.RunInstances(n.t.Context(), &ec2.RunInstancesInput{
		ImageId: awssdk.String("ami-1"), InstanceType: "m6i.large", MinCount: awssdk.Int32(1), MaxCount: awssdk.Int32(1), SubnetId: &subnet,
		IamInstanceProfile: &ec2types.IamInstanceProfileSpecification{Name: &profile},
		TagSpecifications:  []ec2types.TagSpecification{{ResourceType: "instance", Tags: tags}, {ResourceType: "volume", Tags: tags}},
	})
	return err
}

// everyone is every operator's role of a cluster, its node's role, and one that may do everything within the boundary.
func (n *neighbourhood) everyone(c *livingCluster) map[string]awssdk.Config {
	all := map[string]awssdk.Config{"node": n.with(n.AWS.InstanceCredentials(c.master)), "anything": n.anyRole(c, true)}
	for _, request := range release.AWSRequests() {
		all[request.Name] = n.operator(c, request)
	}
	return all
}
