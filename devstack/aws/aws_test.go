package aws_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	ec2types "github.com/aws/aws-sdk-go-v2/service/ec2/types"
	classic "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	elb "github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	tagging "github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/devstack/aws"
)

const (
	key    = "AKIADEMO0000EXAMPLE1"
	secret = "demo-secret-access-key"
	infra  = "demo-c9772"
	owned  = "kubernetes.io/cluster/" + infra
)

// cloud is the stand-in and the official clients for it.
type cloud struct {
	*aws.Server
	sts     *sts.Client
	ec2     *ec2.Client
	elb     *elb.Client
	iam     *iam.Client
	route53 *route53.Client
	tagging *tagging.Client
	quotas  *servicequotas.Client
	classic *classic.Client
}

func start(t *testing.T, cfg aws.Config) *cloud {
	t.Helper()
	cfg.AccessKey, cfg.SecretKey = key, secret
	if cfg.Settle == 0 {
		cfg.Settle = 5 * time.Millisecond
	}
	if cfg.StatePath == "" {
		cfg.StatePath = filepath.Join(t.TempDir(), "aws.json")
	}
	s, err := aws.Start(context.Background(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		if !t.Failed() {
			sameAgain(t, s, cfg)
		}
		_ = s.Stop()
	})
	return clients(t, s, "us-east-1", key, secret)
}

// sameAgain requires that a stand-in which starts from the state file as it is now, without a goodbye of the first,
// knows everything the first one does.
func sameAgain(t *testing.T, s *aws.Server, cfg aws.Config) {
	t.Helper()
	raw, err := os.ReadFile(cfg.StatePath)
	require.NoError(t, err)
	cfg.StatePath = filepath.Join(t.TempDir(), "again.json")
	require.NoError(t, os.WriteFile(cfg.StatePath, raw, 0o600))
	again, err := aws.Start(context.Background(), cfg)
	require.NoError(t, err)
	defer func() { require.NoError(t, again.Stop()) }()
	asJSON := func(s *aws.Server) string {
		raw, err := json.MarshalIndent(s.All(), "", " ")
		require.NoError(t, err)
		return string(raw)
	}
	require.EventuallyWithT(t, func(c *assert.CollectT) { require.Equal(c, asJSON(s), asJSON(again)) }, 5*time.Second, time.Millisecond)
}

// clients try once, unless they are given another patience.
func clients(t *testing.T, s *aws.Server, region, key, secret string, patience ...func() sdk.Retryer) *cloud {
	t.Helper()
	patience = append(patience, func() sdk.Retryer { return sdk.NopRetryer{} })
	cfg, err := config.LoadDefaultConfig(t.Context(), config.WithRegion(region), config.WithBaseEndpoint(s.URL()),
		config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(key, secret, "")), config.WithRetryer(patience[0]))
	require.NoError(t, err)
	cfg.HTTPClient = readsAlone{cfg.HTTPClient}
	return &cloud{Server: s, sts: sts.NewFromConfig(cfg), ec2: ec2.NewFromConfig(cfg), elb: elb.NewFromConfig(cfg), iam: iam.NewFromConfig(cfg),
		route53: route53.NewFromConfig(cfg), tagging: tagging.NewFromConfig(cfg), quotas: servicequotas.NewFromConfig(cfg),
		classic: classic.NewFromConfig(cfg)}
}

// readsAlone hides that a request's body can write itself. The SDK closes the body as soon as an answer begins, and a
// closed body that is asked to write itself says EOF, which net/http takes for a failed write: it cuts the connection
// under the answer (aws-sdk-go-v2 #2737). The standard retryer tries that again; these clients must not.
type readsAlone struct{ sdk.HTTPClient }

func (c readsAlone) Do(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		r.Body = struct{ io.ReadCloser }{r.Body}
	}
	return c.HTTPClient.Do(r)
}

// refused requires an API error of the code.
func refused(t *testing.T, err error, code string) {
	t.Helper()
	var api smithy.APIError
	require.ErrorAs(t, err, &api)
	require.Equal(t, code, api.ErrorCode(), err.Error())
}

func spec(kind ec2types.ResourceType, name string) []ec2types.TagSpecification {
	return []ec2types.TagSpecification{{ResourceType: kind, Tags: []ec2types.Tag{
		{Key: sdk.String(owned), Value: sdk.String("owned")}, {Key: sdk.String("Name"), Value: sdk.String(name)}}}}
}

func byTag() []ec2types.Filter {
	return []ec2types.Filter{{Name: sdk.String("tag:" + owned), Values: []string{"owned"}}}
}

func (c *cloud) vpc(t *testing.T) string {
	t.Helper()
	out, err := c.ec2.CreateVpc(t.Context(), &ec2.CreateVpcInput{CidrBlock: sdk.String("10.0.0.0/16"), TagSpecifications: spec("vpc", infra+"-vpc")})
	require.NoError(t, err)
	return *out.Vpc.VpcId
}

func (c *cloud) subnet(t *testing.T, vpc, cidr, zone string) string {
	t.Helper()
	out, err := c.ec2.CreateSubnet(t.Context(), &ec2.CreateSubnetInput{VpcId: &vpc, CidrBlock: &cidr, AvailabilityZone: &zone, TagSpecifications: spec("subnet", infra+"-subnet-"+zone)})
	require.NoError(t, err)
	return *out.Subnet.SubnetId
}
