package inventory

import (
	"cmp"
	"context"
	"strings"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"

	"github.com/ocpctl/ocpctl/runner/cloud/pace"
)

const (
	// tries of one call: a scan has time, and an unanswered call makes a whole part incomplete.
	tries          = 8
	defaultBackoff = 20 * time.Second
)

// mostOf limits services below the configured rate: Route 53 allows an account five requests a second, and other programs need some of
// them (https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/DNSLimitations.html).
var mostOf = map[string]int{partRoute53: 3}

// serviceOf are the names in parts of the services that the SDK names otherwise.
var serviceOf = map[string]string{
	"elastic load balancing": partBalancing, "elastic load balancing v2": partBalancing, "resource groups tagging api": partTagging, "route 53": partRoute53,
}

// paced puts the pace behind the SDK's retries, so that every try waits and counts.
type paced struct {
	*pace.Pace
	backoff time.Duration
}

func newPaced(perSecond int, backoff time.Duration) *paced {
	return &paced{pace.New(perSecond, mostOf), cmp.Or(backoff, defaultBackoff)}
}

// newRetryer has no limit for all retries together: the pace limits them.
func (p *paced) newRetryer() awssdk.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts, o.MaxBackoff, o.RateLimiter = tries, p.backoff, ratelimit.None
	})
}

func (p *paced) addTo(stack *middleware.Stack) error {
	return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("Pace", p.tryPaced), "Retry", middleware.After)
}

func (p *paced) tryPaced(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
	service := strings.ToLower(awsmiddleware.GetServiceID(ctx))
	lane := p.Lane(awsmiddleware.GetRegion(ctx), cmp.Or(serviceOf[service], service))
	if err := lane.Wait(ctx); err != nil {
		return middleware.FinalizeOutput{}, middleware.Metadata{}, err
	}
	out, metadata, err := next.HandleFinalize(ctx, in)
	lane.Note(isThrottle(err))
	return out, metadata, err
}

// isThrottle reports that AWS refused a call because there are too many.
func isThrottle(err error) bool {
	return err != nil && retry.IsErrorThrottles(retry.DefaultThrottles).IsErrorThrottle(err) == awssdk.TrueTernary
}

// callsOf counts a part's calls. Those of a global service are counted in whatever region they were signed for.
func (p *paced) callsOf(part string) int {
	region, service, _ := strings.Cut(part, "/")
	if region == Global {
		region = ""
	}
	return p.CallsIn(region, service)
}
