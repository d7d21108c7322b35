package aws_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	r53types "github.com/aws/aws-sdk-go-v2/service/route53/types"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/installer/installertest"
	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/aws"
)

// scene is a cloud, a client for it and one cluster in it.
type scene struct {
	*installertest.World
	client *aws.Client
	target cloud.Target
	dir    string
}

func newScene(t *testing.T, name, region string) *scene {
	t.Helper()
	w := installertest.Start(t)
	client, err := aws.New(t.Context(), region)
	require.NoError(t, err)
	return &scene{World: w, client: client, target: cloud.Target{
		Region: region, Name: name, BaseDomain: "labs.example.com", Cluster: "clu_" + name, Account: account,
	}}
}

// render makes the install directory and records its identity, as the runner does before anything is created.
func (s *scene) render(t *testing.T) {
	t.Helper()
	s.dir = installertest.Dir(t, installertest.InstallConfig(s.target.Name, s.target.Region, 0))
	s.recorded(t)
}

// recorded completes the install directory and records its identity.
func (s *scene) recorded(t *testing.T) {
	t.Helper()
	s.Must(t, s.dir, "create ignition-configs")
	raw, err := os.ReadFile(filepath.Join(s.dir, "metadata.json"))
	require.NoError(t, err)
	var m struct{ InfraID, ClusterID string }
	require.NoError(t, json.Unmarshal(raw, &m))
	s.target.Identities = append(s.target.Identities, contract.Identity{
		InfraID: m.InfraID, ClusterUUID: m.ClusterID, Account: account, Region: s.target.Region, Metadata: string(raw),
	})
}

func (s *scene) config(t *testing.T) awssdk.Config {
	t.Helper()
	cfg, err := config.LoadDefaultConfig(t.Context(), config.WithRegion(s.target.Region))
	require.NoError(t, err)
	return cfg
}

func (s *scene) ec2(t *testing.T) *ec2.Client {
	t.Helper()
	return ec2.NewFromConfig(s.config(t))
}

// record writes a public record.
func (s *scene) record(t *testing.T, name string) {
	t.Helper()
	s.write(t, r53types.ResourceRecordSet{
		Name: &name, Type: "A", AliasTarget: s.balancer(),
	})
}

// balancer is what the installer lets the cluster's records point to.
func (s *scene) balancer() *r53types.AliasTarget {
	infraID := s.target.Name + "-c9772"
	if len(s.target.Identities) > 0 {
		infraID = s.target.Identities[0].InfraID
	}
	return &r53types.AliasTarget{DNSName: awssdk.String(infraID + "-ext-0123.elb.us-east-1.amazonaws.com."), HostedZoneId: awssdk.String("Z26RNL4JYFTOTI")}
}

// alias writes a public record that leads to a load balancer.
func (s *scene) alias(t *testing.T, name, host string) {
	t.Helper()
	s.write(t, r53types.ResourceRecordSet{Name: &name, Type: "A", AliasTarget: &r53types.AliasTarget{
		DNSName: &host, HostedZoneId: awssdk.String("Z26RNL4JYFTOTI"),
	}})
}

func (s *scene) write(t *testing.T, record r53types.ResourceRecordSet) {
	t.Helper()
	_, zone := s.dns(t)
	s.change(t, zone, record)
}

// writeTo writes a record into one zone.
func (s *scene) writeTo(t *testing.T, zone, name string) {
	t.Helper()
	s.change(t, zone, r53types.ResourceRecordSet{
		Name: &name, Type: "A", AliasTarget: s.balancer(),
	})
}

func (s *scene) change(t *testing.T, zone string, record r53types.ResourceRecordSet) {
	t.Helper()
	api, _ := s.dns(t)
	_, err := api.ChangeResourceRecordSets(t.Context(), &route53.ChangeResourceRecordSetsInput{HostedZoneId: &zone, ChangeBatch: &r53types.ChangeBatch{
		Changes: []r53types.Change{{Action: "CREATE", ResourceRecordSet: &record}},
	}})
	require.NoError(t, err)
}

// zone makes the cluster's private zone, untagged.
func (s *scene) zone(t *testing.T, callerReference string) string {
	t.Helper()
	return s.zoneOf(t, s.target.Domain(), callerReference)
}

// zoneOf makes a private zone of any name.
func (s *scene) zoneOf(t *testing.T, name, callerReference string) string {
	t.Helper()
	vpc, err := s.ec2(t).CreateVpc(t.Context(), &ec2.CreateVpcInput{CidrBlock: awssdk.String("10.9.0.0/16")})
	require.NoError(t, err)
	api, _ := s.dns(t)
	out, err := api.CreateHostedZone(t.Context(), &route53.CreateHostedZoneInput{
		Name: &name, CallerReference: &callerReference, HostedZoneConfig: &r53types.HostedZoneConfig{PrivateZone: true},
		VPC: &r53types.VPC{VPCId: vpc.Vpc.VpcId, VPCRegion: r53types.VPCRegion(s.target.Region)},
	})
	require.NoError(t, err)
	return strings.TrimPrefix(*out.HostedZone.Id, "/hostedzone/")
}

func (s *scene) dns(t *testing.T) (api *route53.Client, publicZone string) {
	t.Helper()
	cfg, err := config.LoadDefaultConfig(t.Context(), config.WithRegion("us-east-1"))
	require.NoError(t, err)
	api = route53.NewFromConfig(cfg)
	zones, err := api.ListHostedZonesByName(t.Context(), &route53.ListHostedZonesByNameInput{DNSName: awssdk.String("labs.example.com.")})
	require.NoError(t, err)
	return api, strings.TrimPrefix(*zones.HostedZones[0].Id, "/hostedzone/")
}
