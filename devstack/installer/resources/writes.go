package resources

import (
	"context"
	"slices"
	"strings"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go/middleware"
)

// services maps the SDK's service names to ours.
var services = map[string]string{
	"EC2": "ec2", "Elastic Load Balancing": "elb", "Elastic Load Balancing v2": "elb", "IAM": "iam", "Route 53": "route53", "S3": "s3",
}

// counting reports every operation that changed something in the cloud, once, after it succeeded.
func counting(wrote func(service, action string) error) func(*middleware.Stack) error {
	return func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("CountWrites", func(
			ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
		) (out middleware.InitializeOutput, metadata middleware.Metadata, err error) {
			out, metadata, err = next.HandleInitialize(ctx, in)
			service, known := services[awsmiddleware.GetServiceID(ctx)]
			action := awsmiddleware.GetOperationName(ctx)
			if err == nil && known && !reads(action) {
				err = wrote(service, action)
			}
			return out, metadata, err
		}), middleware.After)
	}
}

func reads(action string) bool {
	return slices.ContainsFunc([]string{"Describe", "Get", "Head", "List"}, func(verb string) bool { return strings.HasPrefix(action, verb) })
}
