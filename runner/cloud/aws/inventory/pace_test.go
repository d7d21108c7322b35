package inventory

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	"github.com/stretchr/testify/require"
)

// calls makes some calls of a service in a region, answered with an error or without one, and returns how long they took.
func calls(t *testing.T, p *pace, service, region string, n int, answer error) time.Duration {
	t.Helper()
	ctx := awsmiddleware.SetServiceID(t.Context(), service)
	stack := middleware.NewStack("test", func() any { return nil })
	require.NoError(t, stack.Initialize.Add(&awsmiddleware.RegisterServiceMetadata{ServiceID: service, Region: region}, middleware.Before))
	require.NoError(t, stack.Finalize.Add(middleware.FinalizeMiddlewareFunc("Retry", func(
		ctx context.Context, in middleware.FinalizeInput, next middleware.FinalizeHandler,
	) (middleware.FinalizeOutput, middleware.Metadata, error) {
		return next.HandleFinalize(ctx, in)
	}), middleware.After))
	require.NoError(t, p.addTo(stack))
	began := time.Now()
	for range n {
		_, _, err := middleware.DecorateHandler(middleware.HandlerFunc(func(context.Context, any) (any, middleware.Metadata, error) {
			return nil, middleware.Metadata{}, answer
		}), stack).Handle(ctx, nil)
		require.Equal(t, answer, err)
	}
	return time.Since(began)
}

func TestEachServiceInEachRegionHasItsOwnRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPace(10, 0)
		require.Equal(t, time.Second, calls(t, p, "EC2", "us-east-1", 11, nil).Round(time.Millisecond))
		require.Zero(t, calls(t, p, "EC2", "eu-west-1", 1, nil))
		require.Zero(t, calls(t, p, "Elastic Load Balancing v2", "us-east-1", 1, nil))
		require.Equal(t, 2*time.Second, calls(t, p, "Route 53", "us-east-1", 7, nil).Round(time.Millisecond), "an account has five a second")
		require.Equal(t, map[string]int{"ec2": 12, "elasticloadbalancing": 1, "route53": 7}, p.counts())
		require.Equal(t, 11, p.countOf("us-east-1/ec2"))
		require.Equal(t, 7, p.countOf("global/route53"))
	})
}

func TestThrottlingHalvesTheRateAndAnswersRaiseItAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPace(10, 0)
		slow := &smithy.GenericAPIError{Code: "RequestLimitExceeded"}
		calls(t, p, "EC2", "us-east-1", 2, slow)
		l := p.lane("EC2", "us-east-1")
		require.InDelta(t, 2.5, float64(l.limiter.Limit()), 0.001)
		require.Equal(t, 2, p.throttled())
		require.InDelta(t, 10, float64(p.lane("EC2", "eu-west-1").limiter.Limit()), 0.001, "other regions are not slowed")
		calls(t, p, "EC2", "us-east-1", 10, slow)
		require.InDelta(t, slowest, float64(l.limiter.Limit()), 0.001)
		calls(t, p, "EC2", "us-east-1", 100, nil)
		require.InDelta(t, 10, float64(l.limiter.Limit()), 0.001)
		calls(t, p, "EC2", "us-east-1", 1, &smithy.GenericAPIError{Code: "UnauthorizedOperation"})
		require.InDelta(t, 10, float64(l.limiter.Limit()), 0.001, "a refusal is an answer")
	})
}
