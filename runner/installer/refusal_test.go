package installer

import (
	"errors"
	"fmt"
	"testing"

	"github.com/aws/smithy-go"
	"github.com/stretchr/testify/require"

	"github.com/ocpctl/ocpctl/internal/contract"
)

func TestEverySampleOfARefusalIsItsOwnClass(t *testing.T) {
	for _, c := range teardownClasses() {
		for _, sample := range c.Samples {
			require.Equal(t, c.Reason, newRefusal("r", sample).Reason, sample)
		}
	}
}

func TestAnErrorOfACloudNamesWhoMustActAndTheCommand(t *testing.T) {
	err := fmt.Errorf("operation error EC2: %w", &smithy.GenericAPIError{
		Code: "OperationNotPermitted", Message: "The instance 'i-0a1' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.",
	})
	got, ok := RefusalOf("arn:aws:ec2:us-east-1:1:instance/i-0a1", err)
	require.True(t, ok)
	require.Equal(t, "TerminationProtected", got.Reason)
	require.Equal(t, contract.WhoseUser, got.Whose)
	require.False(t, got.Retryable)
	require.Contains(t, got.Next, "--instance-id i-0a1 --no-disable-api-termination")
	require.Equal(t, "OperationNotPermitted: The instance 'i-0a1' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.", got.Words)

	got, ok = RefusalOf("i-1", &smithy.GenericAPIError{Code: "UnauthorizedOperation", Message: "User: x is not authorized to perform: ec2:StopInstances on resource: y with an explicit deny in a service control policy"})
	require.True(t, ok)
	require.Equal(t, "DeniedByPolicy", got.Reason)
	require.Contains(t, got.Next, "allow ec2:StopInstances on i-1")

	_, ok = RefusalOf("i-1", errors.New("dial tcp: connection refused"))
	require.False(t, ok, "the cloud did not answer")
}
