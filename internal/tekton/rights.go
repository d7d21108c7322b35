package tekton

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

// Right is what a service account may do in every namespace.
type Right struct{ Verb, Group, Resource string }

// Rights are those that matter: the one that is needed, and one that nobody who watches PipelineRuns should have.
var (
	GetPipelineRuns = Right{"get", "tekton.dev", "pipelineruns"}
	GetSecrets      = Right{"get", "", "secrets"}
)

// Has asks whether the token of an issuer's cluster has a right. It stores nothing there: the API answers a SelfSubjectAccessReview
// and forgets it.
// https://kubernetes.io/docs/reference/kubernetes-api/authorization-resources/self-subject-access-review-v1/
func (c *Client) Has(ctx context.Context, issuer string, right Right) (bool, error) {
	if !c.Knows(issuer) {
		return false, fmt.Errorf("%w %s", ErrUnknownCluster, issuer)
	}
	doing := fmt.Sprintf("ask whether the token may %s %s", right.Verb, right.Resource)
	content, err := json.Marshal(map[string]any{
		"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
		"spec": map[string]any{"resourceAttributes": map[string]string{"verb": right.Verb, "group": right.Group, "resource": right.Resource}},
	})
	if err != nil {
		return false, fmt.Errorf("%s: %w", doing, err)
	}
	code, body, err := c.clusters[issuer].sendRequest(ctx, http.MethodPost, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", content, false)
	if err == nil && code != http.StatusCreated {
		err = judgeResponse(code, body, "")
		if err == nil {
			err = fmt.Errorf("the response was %s", orCode("", code))
		}
	}
	var review struct {
		Kind   string `json:"kind"`
		Status *struct {
			Allowed bool `json:"allowed"`
		} `json:"status"`
	}
	if err == nil {
		err = json.Unmarshal(body, &review)
	}
	if err == nil && (review.Kind != "SelfSubjectAccessReview" || review.Status == nil) {
		err = errors.New("the answer is no SelfSubjectAccessReview")
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", doing, err)
	}
	return review.Status.Allowed, nil
}
