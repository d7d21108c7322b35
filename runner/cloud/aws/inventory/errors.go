package inventory

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/aws/smithy-go"

	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/aws/kinds"
)

// requestID is what differs in every answer, so that the same refusal always has the same text.
var requestID = regexp.MustCompile(`,? ?\b(RequestID|HostID|request id|host id): [^\s,]*,?`)

// explainError returns what AWS answered, or why there was no answer, in one line. Credentials that AWS does not accept give
// cloud.ErrCredentials, expired ones cloud.ErrCredentialsExpired.
func explainError(err error) error {
	var call *smithy.OperationError
	name := "the call"
	if errors.As(err, &call) {
		name = call.Service() + " " + call.Operation()
	}
	var api smithy.APIError
	if !errors.As(err, &api) {
		return fmt.Errorf("%s was not answered: %s", name, requestID.ReplaceAllString(rootOf(err).Error(), ""))
	}
	text := fmt.Errorf("%s was refused with %s: %s", name, api.ErrorCode(), api.ErrorMessage())
	switch {
	case slices.Contains([]string{"ExpiredToken", "ExpiredTokenException", "RequestExpired"}, api.ErrorCode()):
		return fmt.Errorf("%w: %w", cloud.ErrCredentialsExpired, text)
	case slices.Contains([]string{"InvalidClientTokenId", "SignatureDoesNotMatch", "UnrecognizedClientException"}, api.ErrorCode()), isRoleRefusal(err):
		return fmt.Errorf("%w: %w", cloud.ErrCredentials, text)
	}
	return text
}

// isRoleRefusal reports that a call was not made because the role of the credentials could not be assumed.
func isRoleRefusal(err error) bool {
	for call := (*smithy.OperationError)(nil); errors.As(err, &call); err = call.Unwrap() {
		if call.Operation() == "AssumeRole" {
			return true
		}
	}
	return false
}

// rootOf returns the innermost cause of an error that is no answer.
func rootOf(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}

// isAnswer reports that AWS answered, with whatever. Without an answer the rest of a part is not asked for: every list would cost all
// its tries.
func isAnswer(err error) bool {
	return kinds.CodeOf(err) != ""
}
