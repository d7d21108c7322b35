package aws

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// isAbsent reports that AWS answered and the requested object does not exist.
func isAbsent(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && isAbsentCode(api.ErrorCode())
}

func isAbsentCode(code string) bool {
	switch code {
	case "NoSuchEntity", "NoSuchBucket", "NoSuchTagSet", "NoSuchHostedZone", "NotFound", "LoadBalancerNotFound":
		return true
	default: // for EC2: InvalidSnapshot.NotFound, InvalidAMIID.NotFound …
		return strings.HasSuffix(code, ".NotFound")
	}
}

// httpStatus returns the status of a refused call, zero if there was no response.
func httpStatus(err error) int {
	var response *smithyhttp.ResponseError
	if !errors.As(err, &response) {
		return 0
	}
	return response.HTTPStatusCode()
}

// isCredentialsRefusal reports that AWS does not know the caller. Only for GetCallerIdentity, which needs no permission.
func isCredentialsRefusal(err error) bool {
	status := httpStatus(err)
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// isCredentialsExpiry recognises the codes with which AWS's services refuse expired temporary credentials.
// https://docs.aws.amazonaws.com/STS/latest/APIReference/CommonErrors.html
func isCredentialsExpiry(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && slices.Contains([]string{"ExpiredToken", "ExpiredTokenException", "RequestExpired"}, api.ErrorCode())
}

// isForbidden reports that the call was refused because a permission is missing.
func isForbidden(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && accessDenied(api.ErrorCode())
}

// accessDenied recognises the codes with which AWS's services refuse a call because a permission is missing.
func accessDenied(code string) bool {
	switch code {
	case "AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError":
		return true
	}
	return false
}

// missingAction returns the IAM action whose permission is missing; empty: the error has another cause. EC2's message does not always
// name it.
func missingAction(err error) string {
	var call *smithy.OperationError
	if !isForbidden(err) {
		return ""
	}
	if !errors.As(err, &call) {
		return "the refused call"
	}
	service := strings.ToLower(strings.ReplaceAll(call.Service(), " ", ""))
	switch call.Service() {
	case "Resource Groups Tagging API":
		service = "tag"
	case "Elastic Load Balancing v2":
		service = "elasticloadbalancing"
	}
	switch call.Operation() { // S3 names some actions otherwise
	case "HeadBucket", "ListObjectsV2":
		return "s3:ListBucket"
	case "ListBuckets":
		return "s3:ListAllMyBuckets"
	case "ListObjectVersions":
		return "s3:ListBucketVersions"
	}
	return service + ":" + call.Operation()
}
