package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes/api"
)

// The cluster roles of deploy/hub.yaml that are bound in a cluster's namespace.
const (
	ViewRole   = "ocpctl-namespace-view"
	EditRole   = "ocpctl-namespace-edit"
	RunnerRole = "ocpctl-namespace-runner" // the runner's own
)

const (
	rolesAt    = "/apis/rbac.authorization.k8s.io/v1/clusterroles/"
	review     = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
	giveRights = "ask an administrator of the hub to apply deploy/hub.yaml, and to use the credentials of its service account"
)

// Right is what a runner has to be allowed in the whole hub.
type Right struct{ Verb, Group, Resource, Name string }

func (r Right) String() string {
	if r.Name != "" {
		return fmt.Sprintf("%s %s %s", r.Verb, r.Resource, r.Name)
	}
	return r.Verb + " " + r.Resource
}

// needed is everything without which no cluster of any kind could be made, or proven gone.
var needed = []Right{
	{"create", "", "namespaces", ""}, {"patch", "", "namespaces", ""}, {"list", "", "namespaces", ""}, {"delete", "", "namespaces", ""},
	{"create", "rbac.authorization.k8s.io", "rolebindings", ""}, {"patch", "rbac.authorization.k8s.io", "rolebindings", ""},
	{"list", "", "persistentvolumes", ""}, {"list", "", "services", ""}, {"list", "networking.k8s.io", "ingresses", ""}, {"list", "route.openshift.io", "routes", ""},
}

// binds are the rights to bind the roles of namespaces.
var binds = []Right{
	{"bind", "rbac.authorization.k8s.io", "clusterroles", ViewRole}, {"bind", "rbac.authorization.k8s.io", "clusterroles", EditRole}, {"bind", "rbac.authorization.k8s.io", "clusterroles", RunnerRole},
}

// Preflight returns what would keep namespaces from being made on the hub, or from being proven gone: another hub, and missing roles and rights.
func (h *Hub) Preflight(ctx context.Context, t cloud.Target, _, _ []string) ([]cloud.Problem, error) {
	return h.PreflightWith(ctx, t, []string{ViewRole, EditRole, RunnerRole}, binds)
}

// PreflightWith is Preflight of another kind, with the roles and rights that it needs besides those of every kind.
func (h *Hub) PreflightWith(ctx context.Context, t cloud.Target, roles []string, rights []Right) ([]cloud.Problem, error) {
	return cloud.RunChecks(ctx, checkTimeout, explainUnanswered,
		func(ctx context.Context) ([]cloud.Problem, error) { return h.checkAccount(ctx, t.Account) },
		func(ctx context.Context) ([]cloud.Problem, error) { return h.checkRoles(ctx, roles) },
		func(ctx context.Context) ([]cloud.Problem, error) {
			return h.checkRights(ctx, slices.Concat(needed, rights))
		})
}

func explainUnanswered(err error) cloud.Problem {
	p := cloud.Problem{Code: "NotAnswered", Message: fmt.Sprintf("the hub could not be asked: %v", err), Whose: contract.WhoseCloud, Next: "see that the hub's API works and that runners can reach it"}
	if errors.Is(err, cloud.ErrCredentials) {
		return cloud.Problem{Code: "CredentialsRefused", Message: err.Error(), Whose: contract.WhoseOurs, Block: true, Next: "ask an administrator of this installation to renew the token behind credentials.ref of the account's document"}
	}
	return p
}

func (h *Hub) checkAccount(ctx context.Context, want string) ([]cloud.Problem, error) {
	got, err := h.Account(ctx)
	if err != nil || want == "" || got == want {
		return nil, err
	}
	return []cloud.Problem{{Code: "WrongAccount", Block: true, Whose: contract.WhoseOurs, Message: fmt.Sprintf("the credentials are for hub %s, but the account's document says %s", got, want),
		Next: "ask an administrator of this installation to correct number or credentials.ref of the account's document"}}, nil
}

func (h *Hub) checkRoles(ctx context.Context, all []string) (problems []cloud.Problem, err error) {
	var missing []string
	for _, role := range all {
		err := h.API.Get(ctx, rolesAt+role, nil)
		switch {
		case api.IsAbsent(err):
			missing = append(missing, role)
		case err != nil:
			return nil, Explain(err)
		}
	}
	return rightsMissing("the hub has no cluster role ", missing), nil
}

func (h *Hub) checkRights(ctx context.Context, all []Right) ([]cloud.Problem, error) {
	var missing []string
	for _, r := range all {
		attributes := map[string]string{"verb": r.Verb, "group": r.Group, "resource": r.Resource, "name": r.Name}
		var answer struct{ Status struct{ Allowed bool } }
		ask := map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": map[string]any{"resourceAttributes": attributes}}
		if err := h.API.Create(ctx, review, ask, &answer); err != nil {
			return nil, Explain(err)
		}
		if !answer.Status.Allowed {
			missing = append(missing, r.String())
		}
	}
	return rightsMissing("the runner's credentials may not: ", missing), nil
}

func rightsMissing(text string, missing []string) []cloud.Problem {
	if len(missing) == 0 {
		return nil
	}
	return []cloud.Problem{{Code: "HubRightsMissing", Block: true, Whose: contract.WhoseOurs, Message: text + strings.Join(missing, ", "), Next: giveRights}}
}
