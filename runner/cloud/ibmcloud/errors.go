package ibmcloud

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/IBM/go-sdk-core/v5/core"
)

// refusal is an answer that is no success, as the service words it. The SDKs lose the texts of some services, and the status of some.
type refusal struct {
	status     int
	code, text string
}

func (r *refusal) Error() string {
	said := strings.TrimSuffix(strings.TrimSpace(r.code+": "+r.text), ":")
	return fmt.Sprintf("%s (%d)", strings.TrimPrefix(said, ": "), r.status)
}

// ErrorCode and ErrorMessage are what the service said, in the form that AWS's errors have.
func (r *refusal) ErrorCode() string    { return r.code }
func (r *refusal) ErrorMessage() string { return fmt.Sprintf("%s (%d)", r.text, r.status) }

// unauthenticated is a failure to get a token, before the service was called. Its status is not the service's: a 404 of it must never
// mean that a resource is gone.
type unauthenticated struct{ cause error }

func (u *unauthenticated) Error() string { return u.cause.Error() }
func (u *unauthenticated) Unwrap() error { return u.cause }

var errEmpty = errors.New("the response is empty")

// explainRefusal turns what a call of an SDK returned into our error. No response means that the service was not reached.
func explainRefusal(response *core.DetailedResponse, err error) error {
	if err == nil {
		return nil
	}
	var problem *core.HTTPProblem
	isProblem := errors.As(err, &problem)
	if strings.Contains(err.Error(), "'authenticate' step") || isProblem && problem.OperationID == "get_token" {
		return &unauthenticated{err}
	}
	if response == nil && isProblem {
		response = problem.Response
	}
	if response == nil || response.StatusCode < 300 { // a success that could not be decoded
		return err
	}
	r := &refusal{status: response.StatusCode, text: err.Error()}
	if body, ok := response.GetResultAsMap(); ok {
		r.readBody(body)
	}
	return r
}

// resultOrRefusal is done for a call that returns something.
func resultOrRefusal[T any](result *T, response *core.DetailedResponse, err error) (*T, error) {
	if err := explainRefusal(response, err); err != nil {
		return nil, err
	}
	if result == nil {
		return nil, errEmpty
	}
	return result, nil
}

// readBody takes code and text from the forms of body that the services use.
func (r *refusal) readBody(body map[string]any) {
	if list, ok := body["errors"].([]any); ok && len(list) > 0 {
		if first, ok := list[0].(map[string]any); ok {
			body = first
		}
	}
	for _, key := range []string{"code", "error_code", "errorCode"} {
		if value, there := body[key]; there && r.code == "" {
			r.code = fmt.Sprint(value)
		}
	}
	for _, key := range []string{"message", "errorMessage"} {
		if value, ok := body[key].(string); ok && value != "" {
			r.text = value
			return
		}
	}
}

// statusOf returns the status of a refused call, zero if the service did not answer.
func statusOf(err error) int {
	var r *refusal
	if !errors.As(err, &r) {
		return 0
	}
	return r.status
}

// isAbsent reports that the service answered and the requested object does not exist.
func isAbsent(err error) bool {
	return statusOf(err) == http.StatusNotFound || statusOf(err) == http.StatusGone
}

// isForbidden reports that the call was refused because a permission is missing.
func isForbidden(err error) bool { return statusOf(err) == http.StatusForbidden }

// isUnreadable reports that the service will not show one resource to these credentials. The list that named it has everybody's: what we may not
// read is not what we made, and must not stop what is ours.
func isUnreadable(err error) bool {
	switch statusOf(err) {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusUnprocessableEntity:
		return true
	}
	return false
}
