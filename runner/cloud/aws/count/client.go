package count

import (
	"context"
	"fmt"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/resourcegroupstaggingapi"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/ocpctl/ocpctl/runner/cloud"
)

const (
	// globalRegion is where the tagging API covers global services.
	globalRegion = "us-east-1"
	// callTimeout limits one query with all its pages and retries.
	callTimeout = time.Minute
	// concurrent queries; Route 53 allows five requests a second per account.
	parallel = 6
	// attempts of one request and the longest wait between two: in an account whose request rate others exhaust, a response comes
	// within seconds, while an unreachable service must not cost every query its whole timeout.
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
	s3  *s3.Client // in globalRegion, where every bucket name can be queried
}

// New takes region, credentials and endpoints from cfg, but not the number of retries. It makes no call yet.
func New(cfg awssdk.Config) *Client {
	cfg.Retryer = newRetryer
	return &Client{
		Now: time.Now,
		cfg: cfg,
		sts: sts.NewFromConfig(cfg),
		iam: iam.NewFromConfig(cfg),
		r53: route53.NewFromConfig(cfg),
		s3: s3.NewFromConfig(cfg, func(o *s3.Options) {
			// AWS accepts path style too, and endpoints without DNS need it. The SDK's own number of retries is enough: S3 does not
			// throttle as few calls as ours.
			o.UsePathStyle, o.Region, o.Retryer = true, globalRegion, retry.NewStandard()
		}),
	}
}

// newRetryer repeats throttled calls more often than the SDK's three times: an unanswered query is a finding, and a finding keeps a
// cluster from being released.
func newRetryer() awssdk.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = attempts, maxBackoff })
}

// lookUpAccount returns the id of the account that our credentials belong to.
func (c *Client) lookUpAccount(ctx context.Context) (string, error) {
	out, err := c.sts.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	switch {
	case err != nil && isCredentialsRefusal(err):
		return "", fmt.Errorf("%w: %w", cloud.ErrCredentials, err)
	case err != nil:
		return "", fmt.Errorf("look up the account of the credentials: %w", err)
	}
	return awssdk.ToString(out.Account), nil
}

func (c *Client) ec2In(region string) *ec2.Client {
	return ec2.NewFromConfig(c.cfg, func(o *ec2.Options) { o.Region = region })
}

func (c *Client) taggingIn(region string) *resourcegroupstaggingapi.Client {
	return resourcegroupstaggingapi.NewFromConfig(c.cfg, func(o *resourcegroupstaggingapi.Options) { o.Region = region })
}
