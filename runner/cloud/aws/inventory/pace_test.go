package inventory

import (
	"context"
	"testing"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	"github.com/stretchr/testify/require"
)

// call makes one call of a service in a region, answered with an error or without one.
func call(t *testing.T, p *paced, service, region string, answer error) {
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
	_, _, err := middleware.DecorateHandler(middleware.HandlerFunc(func(context.Context, any) (any, middleware.Metadata, error) {
		return nil, middleware.Metadata{}, answer
	}), stack).Handle(ctx, nil)
	require.Equal(t, answer, err)
}

func TestCallsAreCountedByTheServiceOfTheirPart(t *testing.T) {
	p := newPaced(10, 0)
	call(t, p, "EC2", "us-east-1", nil)
	call(t, p, "Elastic Load Balancing v2", "us-east-1", nil)
	call(t, p, "Elastic Load Balancing", "us-east-1", nil)
	call(t, p, "Route 53", "us-east-1", nil)
	require.Equal(t, map[string]int{"ec2": 1, "elasticloadbalancing": 2, "route53": 1}, p.Calls())
	require.Equal(t, 1, p.callsOf("us-east-1/ec2"))
	require.Equal(t, 1, p.callsOf("global/route53"))
	require.Zero(t, p.callsOf("eu-west-1/ec2"))
	require.InDelta(t, 3, p.Lane("us-east-1", partRoute53).Rate(), 0.001, "an account has five a second")
}

func TestOnlyThrottlingSlowsAService(t *testing.T) {
	p := newPaced(10, 0)
	call(t, p, "EC2", "us-east-1", &smithy.GenericAPIError{Code: "UnauthorizedOperation"})
	require.Zero(t, p.Slowed(), "a refusal is an answer")
	call(t, p, "EC2", "us-east-1", &smithy.GenericAPIError{Code: "RequestLimitExceeded"})
	require.Equal(t, 1, p.Slowed())
	require.InDelta(t, 5, p.Lane("us-east-1", partEC2).Rate(), 0.001)
}
