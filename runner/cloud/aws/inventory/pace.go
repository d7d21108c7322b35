package inventory

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"time"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go/middleware"
	"golang.org/x/time/rate"
)

const (
	// tries of one call: a sweep has time, and an unanswered call makes a whole part incomplete.
	tries          = 8
	defaultBackoff = 20 * time.Second
	// slowest is the lowest rate, in calls per second, to which throttling slows a service in a region.
	slowest = 0.5
	// recovery is by how much each answered call raises a lowered rate.
	recovery = 1.05
)

// mostOf limits services below the configured rate: Route 53 allows an account five requests a second, and other programs need some of
// them (https://docs.aws.amazon.com/Route53/latest/DeveloperGuide/DNSLimitations.html).
var mostOf = map[string]int{partRoute53: 3}

// serviceOf are the names in parts of the services that the SDK names otherwise.
var serviceOf = map[string]string{
	"elastic load balancing": partBalancing, "elastic load balancing v2": partBalancing, "resource groups tagging api": partTagging, "route 53": partRoute53,
}

// pace limits, counts and slows down the calls of each service and region.
type pace struct {
	perSecond int
	most      map[string]int // in single services
	backoff   time.Duration

	mu     sync.Mutex
	lanes  map[string]*lane // by service and region
	slowed int
}

// lane is one service in one region.
type lane struct {
	service string
	limiter *rate.Limiter
	most    rate.Limit
	calls   int
}

func newPace(perSecond int, backoff time.Duration) *pace {
	return &pace{perSecond: perSecond, most: mostOf, backoff: cmp.Or(backoff, defaultBackoff), lanes: map[string]*lane{}}
}

// retryer has no limit for all retries together: the lanes limit them.
func (p *pace) retryer() awssdk.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts, o.MaxBackoff, o.RateLimiter = tries, p.backoff, ratelimit.None
	})
}

// addTo puts the pace behind the SDK's retries, so that every try waits and counts.
func (p *pace) addTo(stack *middleware.Stack) error {
	return stack.Finalize.Insert(middleware.FinalizeMiddlewareFunc("Pace", p.try), "Retry", middleware.After)
}

func (p *pace) try(ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler) (middleware.FinalizeOutput, middleware.Metadata, error) {
	l := p.lane(awsmiddleware.GetServiceID(ctx), awsmiddleware.GetRegion(ctx))
	if err := l.limiter.Wait(ctx); err != nil {
		return middleware.FinalizeOutput{}, middleware.Metadata{}, err
	}
	out, metadata, err := next.HandleFinalize(ctx, in)
	p.note(l, err)
	return out, metadata, err
}

// note counts a call, halves the rate of a lane that was throttled and raises it again slowly.
func (p *pace) note(l *lane, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	l.calls++
	now := l.limiter.Limit()
	switch {
	case throttle(err):
		p.slowed++
		l.limiter.SetLimit(max(now/2, slowest))
	case now < l.most:
		l.limiter.SetLimit(min(now*recovery, l.most))
	}
}

// throttle reports that AWS refused a call because there are too many.
func throttle(err error) bool {
	return err != nil && retry.IsErrorThrottles(retry.DefaultThrottles).IsErrorThrottle(err) == awssdk.TrueTernary
}

func (p *pace) lane(id, region string) *lane {
	service := strings.ToLower(id)
	service = cmp.Or(serviceOf[service], service)
	p.mu.Lock()
	defer p.mu.Unlock()
	key := region + "/" + service
	if p.lanes[key] == nil {
		most := p.perSecond
		if limit, ok := p.most[service]; ok {
			most = min(most, limit)
		}
		p.lanes[key] = &lane{service: service, most: rate.Limit(most), limiter: rate.NewLimiter(rate.Limit(most), 1)}
	}
	return p.lanes[key]
}

func (p *pace) counts() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := map[string]int{}
	for _, l := range p.lanes {
		all[l.service] += l.calls
	}
	return all
}

// countOf counts a part's calls. Those of a global service are counted in whatever region they were signed for.
func (p *pace) countOf(part string) (calls int) {
	where, service, _ := strings.Cut(part, "/")
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, l := range p.lanes {
		if key == part || where == Global && l.service == service {
			calls += l.calls
		}
	}
	return calls
}

func (p *pace) throttled() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.slowed
}
