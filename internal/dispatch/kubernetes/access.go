package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ocpctl/ocpctl/internal/dispatch"
)

// Right is what somebody may do with one kind of object.
type Right struct {
	Group, Resource string
	Verbs           []string
}

// Rights returns what the server's service account needs in the runners' namespace, and nothing more. The chart's Role grants these.
func Rights() []Right {
	return []Right{
		{"batch", "jobs", []string{"create", "get", "list", "watch", "patch", "delete"}},
		{"", "pods", []string{"list", "watch", "delete"}},
		{"", "events", []string{"list"}},
		{"", "secrets", []string{"create"}},
	}
}

// dangerousRights are rights that nothing here uses and that would be worth a theft: tokens and keys in secrets, other programs in the
// runners' identities, more rights, and any right in other namespaces.
func dangerousRights(namespace string) []authorizationv1.ResourceAttributes {
	return []authorizationv1.ResourceAttributes{
		{Namespace: namespace, Resource: "secrets", Verb: "get"},
		{Namespace: namespace, Resource: "secrets", Verb: "list"},
		{Namespace: namespace, Resource: "pods", Verb: "create"},
		{Namespace: namespace, Resource: "pods", Subresource: "exec", Verb: "create"},
		{Namespace: namespace, Resource: "serviceaccounts", Subresource: "token", Verb: "create"},
		{Namespace: namespace, Group: "rbac.authorization.k8s.io", Resource: "rolebindings", Verb: "create"},
		{Resource: "secrets", Verb: "list"},
		{Resource: "secrets", Verb: "create"},
		{Resource: "pods", Verb: "delete"},
		{Resource: "nodes", Verb: "list"},
		{Group: "batch", Resource: "jobs", Verb: "create"},
	}
}

// Access is what this process finds at the Kubernetes API.
type Access struct {
	Version   string        // of the API server, such as v1.34.4
	Clock     time.Time     // the API server's, to the second
	Namespace string        // the runners'
	Own       string        // the namespace of this process's pod; empty: it is no pod, or does not know
	Missing   []string      // rights of Rights that it lacks
	Excess    []string      // rights that it should not have
	Refused   []KindOutcome // kinds of attempts whose Job is not accepted as it is
	Unread    []string      // objects that pods need, and that it may not read
}

// KindOutcome is what the API server answers to the Job of a kind of attempt.
type KindOutcome struct {
	Kind   string
	Err    error    // nil: it would be created
	Warned []string // the API server's warnings, for example of Pod Security
}

// Access asks the API what this process may do, and has it check a Job of each kind without creating it: a dry run passes validation
// and admission. It changes nothing. The error says that the API does not answer; everything else is in the result.
func (d *Dispatcher) Access(ctx context.Context) (found Access, err error) {
	found = Access{Namespace: d.cfg.Namespace, Own: ownNamespace(), Unread: d.cfg.unreadReferences()}
	if found.Version, found.Clock, err = d.api.serverVersion(ctx); err != nil {
		return found, fmt.Errorf("ask the Kubernetes API for its version: %w", err)
	}
	for _, right := range Rights() {
		for _, verb := range right.Verbs {
			asked := authorizationv1.ResourceAttributes{Namespace: d.cfg.Namespace, Group: right.Group, Resource: right.Resource, Verb: verb}
			if err := d.addRight(ctx, asked, false, &found.Missing); err != nil {
				return found, err
			}
		}
	}
	for _, asked := range dangerousRights(d.cfg.Namespace) {
		if err := d.addRight(ctx, asked, true, &found.Excess); err != nil {
			return found, err
		}
	}
	for _, kind := range d.cfg.listServedKinds() {
		if outcome := d.tryJob(ctx, kind); outcome.Err != nil || len(outcome.Warned) > 0 {
			found.Refused = append(found.Refused, outcome)
		}
	}
	return found, nil
}

// addRight adds a right to a list if the API server's answer is the one that is listed.
func (d *Dispatcher) addRight(ctx context.Context, asked authorizationv1.ResourceAttributes, listed bool, list *[]string) error {
	allowed, err := d.api.isAllowed(ctx, asked)
	if err != nil {
		return fmt.Errorf("ask the Kubernetes API for the right to %s: %w", describeRight(asked), err)
	}
	if allowed == listed {
		*list = append(*list, describeRight(asked))
	}
	return nil
}

// describeRight says which right is meant, as kubectl auth can-i does: create jobs.batch.
func describeRight(a authorizationv1.ResourceAttributes) string {
	text := a.Verb + " " + a.Resource
	if a.Group != "" {
		text += "." + a.Group
	}
	if a.Subresource != "" {
		text += "/" + a.Subresource
	}
	if a.Namespace == "" {
		text += " in every namespace"
	}
	return text
}

// tryJob has the API server check the Job of a first attempt.
func (d *Dispatcher) tryJob(ctx context.Context, kind string) KindOutcome {
	asked := dispatch.Job{Attempt: "att_doctor", Cluster: "clu_doctor", Number: 1, Kind: kind}
	if dispatch.IsOfAccount(kind) {
		asked.Attempt, asked.Cluster = "scn_doctor", ""
	}
	job, err := d.cfg.jobOf(asked)
	if err != nil {
		return KindOutcome{Kind: kind, Err: err}
	}
	var warned warnings
	err = d.api.tryJob(ctx, job, &warned)
	return KindOutcome{Kind: kind, Err: err, Warned: warned}
}

// unreadReferences lists what a pod refers to besides its token.
func (s *Settings) unreadReferences() (names []string) {
	for _, kind := range s.listServedKinds() {
		names = append(names, "service account "+s.serviceAccount(kind))
	}
	for _, name := range s.ImagePullSecrets {
		names = append(names, "Secret "+name)
	}
	for _, m := range s.Mounts {
		if m.Secret != "" {
			names = append(names, "Secret "+m.Secret)
		} else {
			names = append(names, "ConfigMap "+m.ConfigMap)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ownNamespace is that of this process's pod, as kubelets write it beside a service account's token.
func ownNamespace() string {
	raw, _ := os.ReadFile("/var/run/secrets/kubernetes.io/serviceaccount/namespace") // outside a pod there is none
	return strings.TrimSpace(string(raw))
}

// serverVersion returns the API server's version and clock, which every authenticated client may read.
func (a *api) serverVersion(ctx context.Context) (version string, clock time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.core.Get().AbsPath("/version").URL().String(), nil)
	if err != nil {
		return "", time.Time{}, err
	}
	response, err := a.core.Client.Do(request)
	if err != nil {
		return "", time.Time{}, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return "", time.Time{}, fmt.Errorf("it answers %s", response.Status)
	}
	var said struct{ GitVersion string }
	if err := json.NewDecoder(response.Body).Decode(&said); err != nil {
		return "", time.Time{}, err
	}
	clock, err = http.ParseTime(response.Header.Get("Date"))
	return said.GitVersion, clock, err
}

// isAllowed asks whether this process has a right. Every authenticated client may ask about itself.
func (a *api) isAllowed(ctx context.Context, asked authorizationv1.ResourceAttributes) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	body, err := json.Marshal(authorizationv1.SelfSubjectAccessReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SelfSubjectAccessReview"},
		Spec:     authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &asked},
	})
	if err != nil {
		return false, err
	}
	raw, err := a.core.Post().AbsPath("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews").
		SetHeader("Content-Type", "application/json").Body(body).Do(ctx).Raw()
	if err != nil {
		return false, err
	}
	var review authorizationv1.SelfSubjectAccessReview
	err = json.Unmarshal(raw, &review)
	return review.Status.Allowed, err
}

// tryJob is createJob without its effect. The API server warns of fields that it does not know.
func (a *api) tryJob(ctx context.Context, job *batchv1.Job, warned *warnings) error {
	ctx, cancel := context.WithTimeout(ctx, a.timeout)
	defer cancel()
	return a.jobs.Post().Namespace(a.namespace).Resource("jobs").Param("dryRun", metav1.DryRunAll).
		Param("fieldValidation", metav1.FieldValidationWarn).WarningHandler(warned).Body(job).Do(ctx).Error()
}

// warnings collects what the API server warns of.
type warnings []string

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(_ int, _ string, text string) { *w = append(*w, text) }
