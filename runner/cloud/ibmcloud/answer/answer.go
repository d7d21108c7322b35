// Package answer reads what IBM Cloud answers: errors, tokens, resource names, and lists of several pages, for which IBM's SDKs have a pager
// in some services only. It makes no call.
//
// It must never take for an empty list what is none. The count and the account scan use it, and what deletes does not.
package answer

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/IBM/go-sdk-core/v5/core"
)

// ErrNoList is the error of an answer that has no list where one belongs.
var ErrNoList = errors.New("the answer has no list")

// Refusal is an answer with an error.
type Refusal struct {
	Status int
	Token  bool // IBM gave no token for the credentials
	text   string
}

func (r Refusal) Error() string { return r.text }

// getToken is the operation of IAM that gives tokens, as IBM's SDK names it.
const getToken = "get_token"

// noTokenText begins the error of a call for which there was no token: with several SDKs nothing else tells.
var noTokenText, _, _ = strings.Cut(core.ERRORMSG_AUTHENTICATE_ERROR, "%s")

// Explain reads what IBM answered to a call that failed. Several of its SDKs keep neither status nor text in their errors, so both are read
// from the response. Without a response the error is returned as it is.
func Explain(response *core.DetailedResponse, err error) error {
	if err == nil {
		return nil
	}
	var problem *core.HTTPProblem
	var noToken *core.AuthenticationError
	if errors.As(err, &noToken) {
		problem = noToken.HTTPProblem
	} else {
		errors.As(err, &problem)
	}
	if response == nil && problem != nil {
		response = problem.Response
	}
	if response == nil {
		return err
	}
	text := fmt.Sprintf("status %d", response.StatusCode)
	if said := errorText(response); said != "" {
		text += ": " + said
	}
	return Refusal{response.StatusCode, problem != nil && problem.OperationID == getToken || strings.HasPrefix(err.Error(), noTokenText), text}
}

// errorText is the code and the message in the body of an error, in any of the shapes that IBM's services use.
func errorText(response *core.DetailedResponse) string {
	var body struct {
		Errors []struct {
			Code    any    `json:"code"`
			Message string `json:"message"`
		} `json:"errors"`
		ErrorCode    string `json:"error_code"`
		Message      string `json:"message"`
		Code         string `json:"errorCode"`
		ErrorMessage string `json:"errorMessage"`
	}
	raw := response.RawResult
	if raw == nil {
		raw, _ = json.Marshal(response.Result)
	}
	if json.Unmarshal(raw, &body) != nil {
		return ""
	}
	if len(body.Errors) > 0 {
		return strings.TrimSpace(fmt.Sprintf("%v %s", body.Errors[0].Code, body.Errors[0].Message))
	}
	return strings.Join(strings.Fields(strings.Join([]string{body.ErrorCode, body.Message, body.Code, body.ErrorMessage}, " ")), " ")
}

// StatusOf returns the HTTP status of a refused call, zero if there was no response.
func StatusOf(response *core.DetailedResponse, err error) int {
	var r Refusal
	if errors.As(Explain(response, err), &r) {
		return r.Status
	}
	return 0
}

// Caller returns the id of the account that a token is for, and the IAM id of whoever it was given to. Both are read from the token, because a
// pod with a trusted profile has no API key that could be asked about.
func Caller(auth core.Authenticator) (account, iamID string, err error) {
	request, err := http.NewRequest(http.MethodGet, "https://iam.cloud.ibm.com", nil) // it is never sent
	if err != nil {
		return "", "", err
	}
	if err := auth.Authenticate(request); err != nil {
		return "", "", err
	}
	_, token, _ := strings.Cut(request.Header.Get("Authorization"), " ")
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", "", errNoAccount
	}
	var claims struct {
		IAMID   string `json:"iam_id"`
		Account struct {
			BSS string `json:"bss"`
		} `json:"account"`
	}
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil || json.Unmarshal(raw, &claims) != nil || claims.Account.BSS == "" {
		return "", "", errNoAccount
	}
	return claims.Account.BSS, claims.IAMID, nil
}

var errNoAccount = errors.New("the token does not say which account it is for")

// RefusesCredentials reports that IBM answered a request for a token and does not accept the credentials.
func RefusesCredentials(err error) bool {
	var r Refusal
	return errors.As(Explain(nil, err), &r) && r.Token && (r.Status == http.StatusBadRequest || r.Status == http.StatusUnauthorized || r.Status == http.StatusForbidden)
}

// Patient makes a client that repeats what IBM throttled or failed to answer: so often, and with so much time between two tries at most,
// whatever IBM asks for. It must not be used for what changes something.
func Patient(web *http.Client, retries int, longest time.Duration) *http.Client {
	patient := core.NewRetryableClientWithHTTPClient(web)
	patient.RetryMax, patient.RetryWaitMax = retries, longest
	patient.RetryWaitMin = min(patient.RetryWaitMin, longest)
	backoff := patient.Backoff
	patient.Backoff = func(least, most time.Duration, try int, response *http.Response) time.Duration {
		return min(backoff(least, most, try, response), longest)
	}
	return patient.StandardClient()
}

// Text returns the first of some texts that is not empty. The SDKs give nil for what an answer does not have.
func Text(all ...*string) string {
	for _, s := range all {
		if s != nil && *s != "" {
			return *s
		}
	}
	return ""
}
