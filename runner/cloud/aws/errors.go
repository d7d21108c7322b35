package aws

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// absent reports that AWS answered and what was asked for is not there.
func absent(err error) bool {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return false
	}
	switch code := api.ErrorCode(); code {
	case "NoSuchEntity", "NoSuchBucket", "NoSuchTagSet", "NoSuchHostedZone", "NotFound", "LoadBalancerNotFound":
		return true
	default: // EC2's: InvalidSnapshot.NotFound, InvalidAMIID.NotFound …
		return strings.HasSuffix(code, ".NotFound")
	}
}

// httpStatus is the status of a refused call, zero when there was no answer.
func httpStatus(err error) int {
	var response *smithyhttp.ResponseError
	if !errors.As(err, &response) {
		return 0
	}
	return response.HTTPStatusCode()
}

// refusedCredentials reports that AWS does not know whoever asked. Only for GetCallerIdentity, which needs no permission.
func refusedCredentials(err error) bool {
	status := httpStatus(err)
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// expiredCredentials tells the codes with which AWS's services refuse temporary credentials whose time is over.
// https://docs.aws.amazonaws.com/STS/latest/APIReference/CommonErrors.html
func expiredCredentials(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && slices.Contains([]string{"ExpiredToken", "ExpiredTokenException", "RequestExpired"}, api.ErrorCode())
}

// forbidden reports that the call was refused for want of permission.
func forbidden(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && accessDenied(api.ErrorCode())
}

// accessDenied tells the codes with which AWS's services refuse a call for want of permission.
func accessDenied(code string) bool {
	switch code {
	case "AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError":
		return true
	}
	return false
}
