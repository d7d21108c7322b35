package aws_test

import (
	"slices"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	iamtypes "github.com/aws/aws-sdk-go-v2/service/iam/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/deploy/terraform/policies"
	standin "github.com/ocpctl/ocpctl/devstack/aws"
	"github.com/ocpctl/ocpctl/devstack/aws/iampolicy"
	"github.com/ocpctl/ocpctl/internal/contract"
)

const (
	mine      = "demo-abcde"
	neighbour = "demo-abcdef"      // begins as ours does
	namesake  = "demo-abcde-q8w2z" // of a cluster that is called like our infraID
	myCCO     = "demo-k3j2"        // ccoctl's name
	theirCCO  = "demo-k3j2-x7"     // makes roles that begin with ours
	kubeKey   = "kubernetes.io/cluster/"
	ccoKey    = "openshift.io/cloud-credential-operator/"
	oidcHost  = ".s3.us-east-1.amazonaws.com"
	bootstrap = "openshift-bootstrap-data-"

	targetGroup = "arn:aws:elasticloadbalancing:us-east-1:" + account + ":targetgroup/"
	balancer    = "arn:aws:elasticloadbalancing:us-east-1:" + account + ":loadbalancer/"
)

// leaky is a scene with the cluster of the leak table in it.
func leaky(t *testing.T) *scene {
	t.Helper()
	s := newScene(t, "demo", "us-east-1")
	s.target.Identities = []contract.Identity{{InfraID: mine, CCOName: myCCO, Account: account, Region: "us-east-1"}}
	return s
}

func (s *scene) iam(t *testing.T) *iam.Client {
	t.Helper()
	cfg, err := config.LoadDefaultConfig(t.Context(), config.WithRegion("us-east-1"))
	require.NoError(t, err)
	return iam.NewFromConfig(cfg)
}

// role makes a role with an inline policy; tag is key=value, or nothing.
func (s *scene) role(t *testing.T, name, tag string) {
	t.Helper()
	api := s.iam(t)
	in := &iam.CreateRoleInput{RoleName: &name, AssumeRolePolicyDocument: awssdk.String("{}")}
	if key, value, ok := strings.Cut(tag, "="); ok {
		in.Tags = []iamtypes.Tag{{Key: &key, Value: &value}}
	}
	_, err := api.CreateRole(t.Context(), in)
	require.NoError(t, err)
	_, err = api.PutRolePolicy(t.Context(), &iam.PutRolePolicyInput{RoleName: &name, PolicyName: awssdk.String(name + "-policy"), PolicyDocument: awssdk.String("{}")})
	require.NoError(t, err)
}

// profile makes an instance profile with a role in it.
func (s *scene) profile(t *testing.T, infraID, kind, tag string) {
	t.Helper()
	s.role(t, infraID+"-"+kind+"-role", tag)
	name, role := infraID+"-"+kind+"-profile", infraID+"-"+kind+"-role"
	_, err := s.iam(t).CreateInstanceProfile(t.Context(), &iam.CreateInstanceProfileInput{InstanceProfileName: &name})
	require.NoError(t, err)
	_, err = s.iam(t).AddRoleToInstanceProfile(t.Context(), &iam.AddRoleToInstanceProfileInput{InstanceProfileName: &name, RoleName: &role})
	require.NoError(t, err)
}

// bucket makes a bucket with an object in it; tag is key=value, or nothing.
func (s *scene) bucket(t *testing.T, name, tag string) {
	t.Helper()
	require.NoError(t, s.S3.CreateBucket(t.Context(), name))
	_, err := s.S3.Client().PutObject(t.Context(), &s3.PutObjectInput{Bucket: &name, Key: awssdk.String("a/b"), Body: strings.NewReader("{}")})
	require.NoError(t, err)
	if key, value, ok := strings.Cut(tag, "="); ok {
		_, err := s.S3.Client().PutBucketTagging(t.Context(), &s3.PutBucketTaggingInput{Bucket: &name, Tagging: &s3types.Tagging{TagSet: []s3types.Tag{{Key: &key, Value: &value}}}})
		require.NoError(t, err)
	}
}

func (s *scene) plant(t *testing.T, r standin.Resource) standin.Resource {
	t.Helper()
	planted, err := s.AWS.Plant(r)
	require.NoError(t, err)
	return planted
}

// image plants a copied AMI whose snapshot bears neither name nor tag.
func (s *scene) image(t *testing.T, name string, tags map[string]string) {
	t.Helper()
	snapshot := s.plant(t, standin.Resource{Service: "ec2", Type: "snapshot", Name: "of-" + name})
	s.plant(t, standin.Resource{Service: "ec2", Type: "image", Name: name, Uses: []string{snapshot.ID}, Tags: tags, Attrs: map[string]string{"name": name, "snapshot-id": snapshot.ID}})
}

// leak is one class of leaks: what is planted, what of it is foreign, and who takes the rest away.
type leak struct {
	name    string
	ours    func(*testing.T, *scene)
	foreign func(*testing.T, *scene)
	want    []string // kinds that Verify counts
	removed int      // how many things Remove deletes; 0: it names them to people or leaves them to the installer
	stays   []string // texts that must be left after the removal
}

func leaks() []leak {
	return []leak{
		{
			name:    "a private zone the install had no time to tag",
			ours:    func(t *testing.T, s *scene) { s.zone(t, mine+"-x7k2p") },
			foreign: func(t *testing.T, s *scene) { s.zoneOf(t, "other.labs.example.com", mine+"-b2c3d") },
			want:    []string{"hosted-zone"}, removed: 1, stays: []string{"other.labs.example.com"},
		}, {
			name: "public records whose private twins never came or went",
			ours: func(t *testing.T, s *scene) {
				s.record(t, "api.demo.labs.example.com.")
				s.record(t, `\052.apps.demo.labs.example.com.`)
			},
			foreign: func(t *testing.T, s *scene) {
				s.record(t, "api.other.labs.example.com.")
				s.record(t, "api.notdemo.labs.example.com.")
				s.record(t, "demo-2.labs.example.com.")
			},
			want: []string{"record"}, removed: 2, stays: []string{"api.other.labs", "api.notdemo.labs", "demo-2.labs"},
		}, {
			name:    "the bootstrap bucket, untagged",
			ours:    func(t *testing.T, s *scene) { s.bucket(t, bootstrap+mine, "") },
			foreign: func(t *testing.T, s *scene) { s.bucket(t, bootstrap+neighbour, "") },
			want:    []string{"bucket"}, removed: 1, stays: []string{bootstrap + neighbour},
		}, {
			name: "a copied image and its snapshot, untagged",
			ours: func(t *testing.T, s *scene) { s.image(t, mine+"-master", nil) },
			foreign: func(t *testing.T, s *scene) {
				s.image(t, neighbour+"-master", nil)
				s.image(t, namesake+"-master", map[string]string{kubeKey + namesake: "owned"})
			},
			want: []string{"image", "snapshot"}, removed: 2, stays: []string{neighbour + "-master", "of-" + neighbour, namesake + "-master", "of-" + namesake},
		}, {
			name: "instance profiles and roles by name",
			ours: func(t *testing.T, s *scene) { s.profile(t, mine, "worker", kubeKey+mine+"=owned") },
			foreign: func(t *testing.T, s *scene) {
				s.profile(t, neighbour, "worker", kubeKey+neighbour+"=owned")
				s.role(t, namesake+"-worker-role", kubeKey+namesake+"=owned")
			},
			want: []string{"instance-profile", "role"}, removed: 2, stays: []string{neighbour + "-worker-role", neighbour + "-worker-profile", namesake + "-worker-role"},
		}, {
			name: "what ccoctl made",
			ours: func(t *testing.T, s *scene) {
				s.role(t, myCCO+"-openshift-image-registry-installer-cloud-credentials", ccoKey+myCCO+"=owned")
				s.plant(t, standin.Resource{Service: "iam", Type: "oidc-provider", Name: myCCO + "-oidc" + oidcHost})
				s.bucket(t, myCCO+"-oidc", ccoKey+myCCO+"=owned")
			},
			foreign: func(t *testing.T, s *scene) {
				s.role(t, theirCCO+"-openshift-image-registry-installer-cloud-credentials", ccoKey+theirCCO+"=owned")
				s.plant(t, standin.Resource{Service: "iam", Type: "oidc-provider", Name: theirCCO + "-oidc" + oidcHost})
				s.bucket(t, theirCCO+"-oidc", ccoKey+theirCCO+"=owned")
			},
			want: []string{"bucket", "oidc-provider", "role"}, removed: 3,
			stays: []string{theirCCO + "-openshift", "oidc-provider/" + theirCCO, "bucket " + theirCCO + "-oidc"},
		}, {
			name: "the image registry's bucket, tagged",
			ours: func(t *testing.T, s *scene) {
				s.bucket(t, mine+"-image-registry-us-east-1-aaaa", kubeKey+mine+"=owned")
			},
			foreign: func(t *testing.T, s *scene) { s.bucket(t, neighbour+"-image-registry-us-east-1-aaaa", "") },
			want:    []string{"bucket"}, removed: 1, stays: []string{neighbour + "-image-registry"},
		}, {
			name: "a minted user is the installer's to delete",
			ours: func(t *testing.T, s *scene) {
				s.plant(t, standin.Resource{Service: "iam", Type: "user", Name: mine + "-openshift-ingress-x7k2p", Tags: map[string]string{kubeKey + mine: "owned"}, Attrs: map[string]string{"path": "/"}})
			},
			foreign: func(t *testing.T, s *scene) {
				s.plant(t, standin.Resource{Service: "iam", Type: "user", Name: namesake + "-openshift-ingress-b2c3d", Tags: map[string]string{kubeKey + namesake: "owned"}, Attrs: map[string]string{"path": "/"}})
			},
			want: []string{"user"}, stays: []string{mine + "-openshift-ingress", namesake + "-openshift-ingress"},
		}, {
			name: "a workload's volume and its retained snapshot are people's",
			ours: func(t *testing.T, s *scene) {
				s.plant(t, standin.Resource{Service: "ec2", Type: "volume", Name: "pvc-1", Tags: map[string]string{kubeKey + mine: "owned"}})
				s.plant(t, standin.Resource{Service: "ec2", Type: "snapshot", Name: "pvc-1-snap", Tags: map[string]string{kubeKey + mine: "owned"}})
			},
			foreign: func(t *testing.T, s *scene) {
				s.plant(t, standin.Resource{Service: "ec2", Type: "volume", Name: "pvc-2", Tags: map[string]string{kubeKey + neighbour: "owned", "Name": neighbour + "-pvc"}})
				s.plant(t, standin.Resource{Service: "ec2", Type: "volume", Name: "pvc-3", Tags: map[string]string{kubeKey + namesake: "owned", "Name": namesake + "-pvc"}})
			},
			want: []string{"snapshot", "volume"}, stays: []string{"pvc-1", "pvc-2", "pvc-3"},
		}, {
			name: "a Service's classic load balancer outlived its cluster",
			ours: func(t *testing.T, s *scene) {
				s.plant(t, standin.Resource{Service: "elasticloadbalancing", Type: "classic", ID: balancer + "a1b2c3", Name: "a1b2c3", Tags: map[string]string{kubeKey + mine: "owned"}})
			},
			foreign: func(t *testing.T, s *scene) {
				s.plant(t, standin.Resource{Service: "elasticloadbalancing", Type: "classic", ID: balancer + "d4e5f6", Name: "d4e5f6", Tags: map[string]string{kubeKey + neighbour: "owned"}})
			},
			want: []string{"classic-load-balancer"}, stays: []string{"a1b2c3", "d4e5f6"},
		}, {
			name: "a target group and a security group whose tags went",
			ours: func(t *testing.T, s *scene) {
				s.plant(t, standin.Resource{Service: "elasticloadbalancing", Type: "targetgroup", ID: targetGroup + mine + "-aint/1", Name: mine + "-aint"})
				s.plant(t, standin.Resource{Service: "ec2", Type: "security-group", Name: mine + "-lb", Attrs: map[string]string{"group-name": mine + "-lb"}})
			},
			foreign: func(t *testing.T, s *scene) {
				s.plant(t, standin.Resource{Service: "elasticloadbalancing", Type: "targetgroup", ID: targetGroup + neighbour + "-aint/1", Name: neighbour + "-aint"})
				s.plant(t, standin.Resource{Service: "elasticloadbalancing", Type: "targetgroup", ID: targetGroup + namesake + "-aint/1", Name: namesake + "-aint", Tags: map[string]string{kubeKey + namesake: "owned"}})
				s.plant(t, standin.Resource{Service: "ec2", Type: "security-group", Name: namesake + "-lb", Attrs: map[string]string{"group-name": namesake + "-lb"}, Tags: map[string]string{kubeKey + namesake: "owned"}})
			},
			want: []string{"security-group", "target-group"}, stays: []string{mine + "-aint", neighbour + "-aint", namesake + "-lb"},
		}, {
			name: "kinds that no install makes and its destroy may choke on",
			ours: func(t *testing.T, s *scene) {
				for _, kind := range []string{"launch-template", "placement-group", "dhcp-options", "carrier-gateway", "egress-only-internet-gateway", "vpc-peering-connection"} {
					s.plant(t, standin.Resource{Service: "ec2", Type: kind, Name: "rare-" + kind, Tags: map[string]string{kubeKey + mine: "owned"}})
				}
			},
			foreign: func(t *testing.T, s *scene) {
				s.plant(t, standin.Resource{Service: "ec2", Type: "launch-template", Name: "theirs", Tags: map[string]string{kubeKey + neighbour: "owned"}})
			},
			want:  []string{"carrier-gateway", "dhcp-options", "egress-only-gateway", "launch-template", "peering-connection", "placement-group"},
			stays: []string{"rare-launch-template", "theirs"},
		},
	}
}

func TestEveryLeakClassIsFoundAndRemovedOrNamedAndNothingForeignIsTouched(t *testing.T) {
	for _, c := range leaks() {
		t.Run(c.name, func(t *testing.T) {
			s := leaky(t)
			c.foreign(t, s)
			require.Empty(t, s.client.Verify(t.Context(), s.target).Leftovers, "what merely looks alike is not ours")
			c.ours(t, s)
			found := s.client.Verify(t.Context(), s.target)
			require.Equal(t, c.want, kinds(found), found.Leftovers)
			for _, l := range found.Leftovers {
				require.Contains(t, l.Advice(), "aws ", "who can free it and by which command")
			}

			s.AWS.ForgetActions()
			deleted, err := s.client.Remove(t.Context(), s.target)
			require.NoError(t, err)
			require.Len(t, deleted, c.removed, deleted)
			destroyerMay(t, s.AWS.ActionsOf("arn:aws:iam::"+account+":user/demo-admin"))
			left := strings.Join(s.Left(t, ""), "\n")
			for _, text := range c.stays {
				require.Contains(t, left, text)
			}
			require.Equal(t, c.removed > 0, s.client.Verify(t.Context(), s.target).Clean)
		})
	}
}

// destroyerMay checks that the policies of the runners' role that destroys allow the actions on something.
func destroyerMay(t *testing.T, used []string) {
	t.Helper()
	values := policies.Values{}
	for _, name := range []string{"partition", "account", "regions", "installation", "bucket", "base_zones", "cluster_records"} {
		values[name] = []string{"*"}
	}
	raw, err := policies.Union(values, policies.Destroy()...)
	require.NoError(t, err)
	document, err := iampolicy.Parse(raw)
	require.NoError(t, err)
	require.NotEmpty(t, used)
	for _, action := range used {
		require.True(t, slices.ContainsFunc(document.Statement, func(s iampolicy.Statement) bool {
			return s.Effect == "Allow" && slices.Contains(s.Action, action)
		}), action)
	}
}

// What bears our exact name or begins with it and is not proven ours is told, named by the count, and left alone.
func TestWhatIsNotProvenOursIsLeftAndTold(t *testing.T) {
	for name, c := range map[string]struct {
		plant func(*testing.T, *scene)
		says  string
		want  string // kind that Verify counts
	}{
		"a private zone of our name with another's caller reference": {func(t *testing.T, s *scene) { s.zone(t, "terraform-1") }, "was not created for this cluster", "hosted-zone"},
		"a role of our exact name without a tag":                     {func(t *testing.T, s *scene) { s.role(t, mine+"-master-role", "") }, "has no tag of this cluster", "role"},
		"a role that begins with ccoctl's name":                      {func(t *testing.T, s *scene) { s.role(t, myCCO+"-backup", "") }, "does not have the tag", "role"},
		"a registry bucket without a tag":                            {func(t *testing.T, s *scene) { s.bucket(t, mine+"-image-registry-us-east-1-bbbb", "") }, "does not have this cluster's tag", "bucket"},
		"a bucket of our exact name with another's tags":             {func(t *testing.T, s *scene) { s.bucket(t, myCCO+"-oidc", "team=payments") }, "has tags that do not belong to this cluster", "bucket"},
	} {
		t.Run(name, func(t *testing.T) {
			s := leaky(t)
			c.plant(t, s)
			before := s.Left(t, "")
			deleted, err := s.client.Remove(t.Context(), s.target)
			require.ErrorContains(t, err, c.says)
			require.Empty(t, deleted)
			require.Equal(t, before, s.Left(t, ""))
			require.Equal(t, []string{c.want}, kinds(s.client.Verify(t.Context(), s.target)))
		})
	}
}

func TestACcoNameAloneIsCountedAndRemoved(t *testing.T) {
	s := leaky(t)
	s.target.Identities = []contract.Identity{{CCOName: myCCO, Account: account, Region: "us-east-1"}}
	s.role(t, myCCO+"-openshift-ingress-operator-cloud-credentials", ccoKey+myCCO+"=owned")
	s.bucket(t, myCCO+"-oidc", "")
	s.record(t, "api.demo.labs.example.com.") // somebody else's: this cluster came to no infraID
	require.Equal(t, []string{"bucket", "role"}, kinds(s.client.Verify(t.Context(), s.target)))
	deleted, err := s.client.Remove(t.Context(), s.target)
	require.NoError(t, err)
	require.Len(t, deleted, 2)
	require.True(t, s.client.Verify(t.Context(), s.target).Clean)
	require.NotEmpty(t, s.Left(t, "api.demo.labs"))
}

func TestAKilledRemovalLeavesASnapshotThatIsFound(t *testing.T) {
	s := leaky(t)
	s.image(t, mine+"-master", nil)
	s.AWS.Refuse("ec2:DeleteSnapshot", -1, "")
	deleted, err := s.client.Remove(t.Context(), s.target)
	require.ErrorContains(t, err, "delete snapshot")
	require.Len(t, deleted, 1, "the image went first")
	require.Equal(t, []string{"snapshot"}, kinds(s.client.Verify(t.Context(), s.target)), "its snapshot carries the cluster's tag by now")
}

func TestThrottledQuestionsAreAskedAgain(t *testing.T) {
	s := leaky(t)
	s.AWS.Refuse("ec2:DescribeVpcs", 3, "RequestLimitExceeded")
	s.AWS.Refuse("route53:ListResourceRecordSets", 2, "Throttling")
	p := s.client.Verify(t.Context(), s.target)
	require.True(t, p.Clean, p.Leftovers)
}

func TestATaggedThingOfAServiceNobodyDeletesIsNamed(t *testing.T) {
	s := leaky(t)
	arn := "arn:aws:rds:us-east-1:" + account + ":db:orders"
	s.plant(t, standin.Resource{ID: arn, Tags: map[string]string{kubeKey + mine: "owned"}})
	p := s.client.Verify(t.Context(), s.target)
	require.Equal(t, []string{"tagged-resource"}, kinds(p))
	require.Contains(t, p.Leftovers[0].Advice(), arn)
	require.Contains(t, p.Leftovers[0].Advice(), "openshift-install never deletes this kind")
}

func TestEverythingThatKeepsAVPCIsNamed(t *testing.T) {
	s := leaky(t)
	vpc := s.plant(t, standin.Resource{Service: "ec2", Type: "vpc", Tags: map[string]string{kubeKey + mine: "owned"}})
	other := s.plant(t, standin.Resource{Service: "ec2", Type: "vpc"})
	for _, id := range []string{vpc.ID, other.ID} {
		for _, kind := range []string{"carrier-gateway", "egress-only-internet-gateway", "vpc-peering-connection"} {
			s.plant(t, standin.Resource{Service: "ec2", Type: kind, VPC: id, Attrs: map[string]string{"vpc-id": id, "requester-vpc-info.vpc-id": id}})
		}
		s.plant(t, standin.Resource{Service: "elasticloadbalancing", Type: "classic", ID: balancer + id, Name: "lb-" + id, VPC: id})
	}
	p := s.client.Verify(t.Context(), s.target)
	require.Equal(t, []string{"carrier-gateway", "classic-load-balancer", "egress-only-gateway", "peering-connection", "vpc"}, kinds(p))
	require.Len(t, p.Leftovers, 5, "the neighbouring VPC's are not ours")
}
