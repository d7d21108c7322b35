package count

import (
	"context"
	"fmt"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancing"
	"github.com/aws/aws-sdk-go-v2/service/elasticloadbalancingv2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/ocpctl/ocpctl/runner/cloud"
)

const (
	// globalRegion is where the tagging API answers for global services.
	globalRegion = "us-east-1"
	// callTimeout bounds one question with all its pages and retries.
	callTimeout = time.Minute
	// parallel questions; Route 53 allows five requests a second per account.
	parallel = 6
	// attempts of one request and the longest wait between two: an account whose other users exhaust its request rate
	// answers within seconds, while one that is not there at all must not cost every question its whole timeout.
	attempts   = 6
	maxBackoff = 4 * time.Second
)

// Client counts in the regions of a cluster and in the global services. It is safe for concurrent use.
type Client struct {
	Now func() time.Time

	cfg awssdk.Config
	sts *sts.Client
	iam *iam.Client
	r53 *route53.Client
	s3  *s3.Client // in globalRegion, where every bucket name can be asked for
}

// New takes region, credentials and addresses from cfg, and how often a request is repeated from nobody. It asks the cloud
// nothing yet.
func New(cfg awssdk.Config) *Client {
	cfg.Retryer = retryer
	return &Client{
		Now: time.Now,
		cfg: cfg,
		sts: sts.NewFromConfig(cfg),
		iam: iam.NewFromConfig(cfg),
		r53: route53.NewFromConfig(cfg),
		s3: s3.NewFromConfig(cfg, func(o *s3.Options) {
			// AWS takes path style too, and addresses without DNS need it. A bucket store that is away is asked no
			// oftener than the SDK does by itself: S3 does not throttle questions as few as ours.
			o.UsePathStyle, o.Region, o.Retryer = true, globalRegion, retry.NewStandard()
		}),
	}
}

// retryer repeats what was throttled more often than the SDK's three times: a question that was not answered is a
// finding, and a finding keeps a cluster from being released.
func retryer() awssdk.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = attempts, maxBackoff })
}

// account is the id of the account our credentials belong to.
func (c *Client) account(ctx context.Context) (string, error) {
	out, err := c.sts.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	switch {
	case err != nil && refusedCredentials(err):
		return "", fmt.Errorf("%w: %w", cloud.ErrCredentials, err)
	case err != nil:
		return "", fmt.Errorf("ask whose credentials these are: %w", err)
	}
	return awssdk.ToString(out.Account), nil
}

func (c *Client) ec2In(region string) *ec2.Client {
	return ec2.NewFromConfig(c.cfg, func(o *ec2.Options) { o.Region = region })
}

func (c *Client) elbIn(region string) *elasticloadbalancingv2.Client {
	return elasticloadbalancingv2.NewFromConfig(c.cfg, func(o *elasticloadbalancingv2.Options) { o.Region = region })
}

func (c *Client) classicIn(region string) *elasticloadbalancing.Client {
	return elasticloadbalancing.NewFromConfig(c.cfg, func(o *elasticloadbalancing.Options) { o.Region = region })
}

func (c *Client) taggingIn(region string) *resourcegroupstaggingapi.Client {
	return resourcegroupstaggingapi.NewFromConfig(c.cfg, func(o *resourcegroupstaggingapi.Options) { o.Region = region })
}
