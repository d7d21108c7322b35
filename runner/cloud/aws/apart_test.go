package aws_test

import (
	"context"
	"testing"

	awssdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/route53"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/runner/cloud/aws"
	"github.com/ocpctl/ocpctl/runner/cloud/aws/count"
)

// answers stand in for the cloud's, by operation.
type answers map[string]func() (result any, err error)

// nothing is what somebody hears who sees nothing of the account: no error, and nothing there.
var nothing = answers{
	"DescribeInstances":          func() (any, error) { return &ec2.DescribeInstancesOutput{}, nil },
	"DescribeImages":             func() (any, error) { return &ec2.DescribeImagesOutput{}, nil },
	"ListRoles":                  func() (any, error) { return &iam.ListRolesOutput{}, nil },
	"ListOpenIDConnectProviders": func() (any, error) { return &iam.ListOpenIDConnectProvidersOutput{}, nil },
	"GetRole":                    refused("NoSuchEntity"),
	"GetInstanceProfile":         refused("NoSuchEntity"),
	"ListHostedZonesByName":      func() (any, error) { return &route53.ListHostedZonesByNameOutput{}, nil },
	"ListResourceRecordSets":     func() (any, error) { return &route53.ListResourceRecordSetsOutput{}, nil },
	"ListBuckets":                func() (any, error) { return &s3.ListBucketsOutput{}, nil },
	"HeadBucket":                 refused("NotFound"),
}

func refused(code string) func() (any, error) {
	return func() (any, error) { return nil, &smithy.GenericAPIError{Code: code, Message: "as a test wants it"} }
}

// denied is the same operations, each refused.
func denied() answers {
	out := answers{}
	for operation := range nothing {
		out[operation] = refused("AccessDenied")
	}
	return out
}

// instead answers in the cloud's place whoever is made from the configuration.
func (a answers) instead(cfg awssdk.Config) awssdk.Config {
	cfg.APIOptions = append(cfg.APIOptions, func(stack *middleware.Stack) error {
		answer, ok := a[stack.ID()]
		if !ok {
			return nil
		}
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("instead", func(
			context.Context, middleware.InitializeInput, middleware.InitializeHandler,
		) (middleware.InitializeOutput, middleware.Metadata, error) {
			result, err := answer()
			return middleware.InitializeOutput{Result: result}, middleware.Metadata{}, err
		}), middleware.After)
	})
	return cfg
}

// The removal and the count are given different eyes here: had they one client or one listing between them, a blind removal
// would be proven right by the count.
func TestTheCountSeesWhatABlindRemovalDoesNot(t *testing.T) {
	for _, c := range leaks() {
		if c.removed == 0 {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			s := leaky(t)
			c.ours(t, s)
			blind := aws.NewOf(nothing.instead(s.config(t)), count.New(s.config(t)))
			deleted, err := blind.Remove(t.Context(), s.target)
			require.NoError(t, err, "it believes that nothing is there")
			require.Empty(t, deleted)
			require.Equal(t, c.want, kinds(blind.Verify(t.Context(), s.target)))

			shut := aws.NewOf(denied().instead(s.config(t)), count.New(s.config(t)))
			deleted, err = shut.Remove(t.Context(), s.target)
			require.ErrorContains(t, err, "AccessDenied")
			require.Empty(t, deleted)
			require.Equal(t, c.want, kinds(shut.Verify(t.Context(), s.target)))

			_, err = s.client.Remove(t.Context(), s.target)
			require.NoError(t, err)
			require.True(t, s.client.Verify(t.Context(), s.target).Clean)
		})
	}
}

func TestWhatTheCountMayNotListIsAFindingAlthoughTheRemovalSawNothing(t *testing.T) {
	for operation := range nothing {
		t.Run(operation, func(t *testing.T) {
			s := leaky(t)
			shut := answers{operation: refused("AccessDenied")}
			client := aws.NewOf(s.config(t), count.New(shut.instead(s.config(t))))
			deleted, err := client.Remove(t.Context(), s.target)
			require.NoError(t, err)
			require.Empty(t, deleted, "there is nothing")
			p := client.Verify(t.Context(), s.target)
			require.False(t, p.Clean)
			require.Equal(t, []string{"refused-query"}, kinds(p))
		})
	}
}

// A listing that lags or lies is no proof either: the same role is asked for by its exact name too.
func TestACountHalfBlindStillFindsByAnotherWay(t *testing.T) {
	s := leaky(t)
	s.role(t, mine+"-master-role", kubeKey+mine+"=owned")
	half := answers{"ListRoles": nothing["ListRoles"]}
	require.Equal(t, []string{"role"}, kinds(count.New(half.instead(s.config(t))).Verify(t.Context(), s.target)))
}
