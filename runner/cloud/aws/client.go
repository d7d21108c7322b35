package aws

import (
	"context"
	"fmt"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/servicequotas"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/aws/smithy-go/logging"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/aws/count"
)

const (
	// globalRegion is where the tagging API covers global services.
	globalRegion = "us-east-1"
	// callTimeout limits one query with all its pages and retries.
	callTimeout = time.Minute
	// removalTimeout limits one removal; what it did not reach is counted, and deleted by the next one.
	removalTimeout = 10 * time.Minute
	// attempts of one request and the longest wait between two: in an account whose request rate others exhaust, a response comes
	// within seconds, while an unreachable service must not cost every query its whole timeout.
	attempts   = 6
	maxBackoff = 4 * time.Second
)

// Client queries one region and the global services. It is safe for concurrent use.
type Client struct {
	cfg   awssdk.Config
	sts   *sts.Client
	iam   *iam.Client
	r53   *route53.Client
	s3    *s3.Client    // in globalRegion, where every bucket name can be queried
	count *count.Client // only for Verify: nothing else here may use it
}

// New takes credentials and endpoints from the SDK's default chain, unless options say otherwise. It makes no call yet.
func New(ctx context.Context, region string, options ...func(*config.LoadOptions) error) (*Client, error) {
	cfg, err := config.LoadDefaultConfig(ctx, append(options, config.WithRegion(region), config.WithRetryer(newRetryer),
		config.WithLogger(logging.Nop{}))...) // its warnings about cut connections help nobody
	if err != nil {
		return nil, fmt.Errorf("load AWS configuration: %w", err)
	}
	return newClient(cfg, count.New(cfg)), nil
}

func newClient(cfg awssdk.Config, counter *count.Client) *Client {
	return &Client{
		cfg:   cfg,
		sts:   sts.NewFromConfig(cfg),
		iam:   iam.NewFromConfig(cfg),
		r53:   route53.NewFromConfig(cfg),
		s3:    s3In(cfg, globalRegion),
		count: counter,
	}
}

// Verify counts what is left of a cluster, in one pass. It never fails: what could not be queried is a finding in the pass. The
// caller numbers the pass and decides how many clean ones it needs.
func (c *Client) Verify(ctx context.Context, t cloud.Target) contract.Pass {
	return c.count.Verify(ctx, t)
}

// newRetryer repeats throttled calls more often than the SDK's three times: otherwise, in a busy account, a removal would achieve nothing
// and a preflight warn about everything.
func newRetryer() awssdk.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = attempts, maxBackoff })
}

// Account returns the id of the account that our credentials belong to. Credentials that AWS does not accept give
// cloud.ErrCredentials, expired ones cloud.ErrCredentialsExpired.
func (c *Client) Account(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	out, err := c.sts.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil && isCredentialsExpiry(err) {
		return "", fmt.Errorf("%w: %w", cloud.ErrCredentialsExpired, err)
	}
	if err != nil && isCredentialsRefusal(err) {
		return "", fmt.Errorf("%w: %w", cloud.ErrCredentials, err)
	}
	if err != nil {
		return "", fmt.Errorf("look up the account of the credentials: %w", err)
	}
	return awssdk.ToString(out.Account), nil
}

func (c *Client) ec2In(region string) *ec2.Client {
	return ec2.NewFromConfig(c.cfg, func(o *ec2.Options) { o.Region = region })
}

func (c *Client) elbIn(region string) *elasticloadbalancingv2.Client {
	return elasticloadbalancingv2.NewFromConfig(c.cfg, func(o *elasticloadbalancingv2.Options) { o.Region = region })
}

func (c *Client) quotasIn(region string) *servicequotas.Client {
	return servicequotas.NewFromConfig(c.cfg, func(o *servicequotas.Options) { o.Region = region })
}

func (c *Client) taggingIn(region string) *resourcegroupstaggingapi.Client {
	return resourcegroupstaggingapi.NewFromConfig(c.cfg, func(o *resourcegroupstaggingapi.Options) { o.Region = region })
}

// s3In always uses path style: AWS accepts it too, and endpoints without DNS need it. It keeps the SDK's own number of retries: S3
// does not throttle as few calls as ours.
func s3In(cfg awssdk.Config, region string) *s3.Client {
	return s3.NewFromConfig(cfg, func(o *s3.Options) {
		o.UsePathStyle, o.Region, o.Retryer = true, region, retry.NewStandard()
	})
}
