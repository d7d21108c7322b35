package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
)

const (
	accessLabel = "ocpctl.io/access"      // marks what the runner makes for access; its value is the account, or editorsBinding
	roleLabel   = "ocpctl.io/access-role" // of an account

	editorsBinding = "ocpctl-access-edit" // the binding in each namespace of all accounts with the role edit

	mostNamed = 100 // objects in one command
)

// The kinds are named in full: OpenShift has bindings of the same names in a group of its own.
const (
	clusterBindings = "clusterrolebindings.rbac.authorization.k8s.io"
	roleBindings    = "rolebindings.rbac.authorization.k8s.io"
)

// clusterRolesOf returns the cluster roles that a role has in the whole cluster: those of Kubernetes, and OpenShift's cluster-reader, which may
// read what belongs to no namespace, and self-provisioner, which makes projects. A cluster without such a role ignores its binding.
// None of them but cluster-admin reads secrets. The cluster role edit is bound in namespaces only, see bindNamespaces.
func clusterRolesOf(role string) []string {
	switch role {
	case "view":
		return []string{"view", "cluster-reader"}
	case "edit":
		return []string{"view", "cluster-reader", "self-provisioner"}
	case "admin":
		return []string{"cluster-admin"}
	}
	return nil
}

func bindingName(account, role string) string { return "ocpctl-access-" + account + "-" + role }

// accessObject is a service account, a binding or a namespace, as far as access needs it.
type accessObject struct {
	Kind     string
	Metadata struct {
		Name, Namespace   string
		Labels            map[string]string
		Annotations       map[string]string
		Finalizers        []string
		DeletionTimestamp *time.Time
	}
	RoleRef  struct{ Kind, Name string }
	Subjects []accessSubject
}

type accessSubject struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

func subjectOf(account string) accessSubject {
	return accessSubject{"ServiceAccount", account, names.AccessNamespace}
}

// listAccessObjects gets objects from the cluster.
func (a *attempt) listAccessObjects(ctx context.Context, args ...string) ([]accessObject, error) {
	var document []byte
	err := a.retryUntil(ctx, time.Now().Add(a.cfg.Timings.Reach), func() (err error) {
		document, err = a.askCluster(ctx, append(append([]string{"get"}, args...), "-o", "json")...)
		return err
	})
	if err != nil {
		return nil, err
	}
	var list struct{ Items []accessObject }
	if err := json.Unmarshal(document, &list); err != nil {
		return nil, fmt.Errorf("oc get %s: the answer is not a list", args[0])
	}
	return list.Items, nil
}

// access is what a cluster has for access.
type access struct{ accounts, bindings []accessObject }

func (a *attempt) readAccess(ctx context.Context) (there access, err error) {
	// Not by label: whoever is cluster-admin could take theirs away.
	if there.accounts, err = a.listAccessObjects(ctx, "serviceaccounts", "-n", names.AccessNamespace); err != nil {
		return there, err
	}
	there.bindings, err = a.listAccessObjects(ctx, clusterBindings+","+roleBindings, "-A", "-l", accessLabel)
	return there, err
}

// isRemoved reports that an account's tokens open nothing: it is gone, or it is being deleted and nothing of ours gives it a right.
// Kubernetes accepts no token of an account that began to be deleted a minute ago, whatever its finalizers wait for.
func (there access) isRemoved(account string) bool {
	for _, one := range there.accounts {
		if one.Metadata.Name == account {
			return one.Metadata.DeletionTimestamp != nil && !slices.ContainsFunc(there.bindings, func(b accessObject) bool {
				return (b.Kind == "ClusterRoleBinding" || b.Metadata.Name == editorsBinding) && slices.Contains(b.Subjects, subjectOf(account))
			})
		}
	}
	return true
}

// deleteGone deletes every account of ours that is not to stay: what was revoked or has expired, what an earlier attempt began to make, and
// what no row names. Their rights in the whole cluster go first. It returns the accounts with the role edit that stay.
func (a *attempt) deleteGone(ctx context.Context, there access, work contract.AccessWork) (editors []accessSubject, trouble error) {
	stays, taken := map[accessSubject]bool{}, map[string]bool{}
	for _, account := range work.Keep {
		stays[subjectOf(account)] = true
	}
	for _, one := range work.Take {
		taken[one.Account] = true
	}
	var accounts, bindings []accessObject
	for _, one := range there.accounts {
		name, labels := one.Metadata.Name, one.Metadata.Labels
		switch {
		case stays[subjectOf(name)]:
			if labels[roleLabel] == "edit" {
				editors = append(editors, subjectOf(name))
			}
		case labels[accessLabel] != "", taken[name]:
			accounts = append(accounts, one)
		}
	}
	for _, b := range there.bindings {
		if b.Kind == "ClusterRoleBinding" && !slices.ContainsFunc(b.Subjects, func(s accessSubject) bool { return stays[s] }) {
			bindings = append(bindings, b)
		}
	}
	trouble = a.deleteAll(ctx, bindings, clusterBindings)
	trouble = cmp.Or(trouble, a.deleteAll(ctx, accounts, "serviceaccounts", "-n", names.AccessNamespace))
	trouble = cmp.Or(trouble, a.takeFinalizers(ctx, accounts, "serviceaccounts", "-n", names.AccessNamespace), a.takeFinalizers(ctx, bindings, clusterBindings))
	return editors, trouble
}

// reportTaken looks again, and reports for each account whether it is removed. The error is the first that is not.
func (a *attempt) reportTaken(ctx context.Context, take []contract.Access, trouble error) (first error) {
	if ctx.Err() != nil || len(take) == 0 {
		return trouble
	}
	there, err := a.readAccess(ctx)
	if err != nil {
		a.reportAccess(contract.AccessState{}, err, take...)
		return err
	}
	var removed, left []contract.Access
	for _, one := range take {
		if !there.isRemoved(one.Account) {
			left = append(left, one)
			continue
		}
		removed = append(removed, one)
		a.noteLine("the access of %s as %s is removed", one.Reader, one.Role)
	}
	a.reportAccess(contract.AccessState{Removed: true}, nil, removed...)
	for _, one := range left {
		err := cmp.Or(trouble, fmt.Errorf("the cluster still has the account %s, although it was deleted", one.Account))
		a.reportAccess(contract.AccessState{}, err, one)
		first = cmp.Or(first, err)
	}
	return first
}

// deleteAll deletes objects of a kind, and does not wait until they are gone: finalizers may keep them.
func (a *attempt) deleteAll(ctx context.Context, objects []accessObject, kind string, where ...string) (trouble error) {
	until := time.Now().Add(a.cfg.Timings.Reach)
	for part := range slices.Chunk(objects, mostNamed) {
		args := append([]string{"delete", kind}, where...)
		args = append(args, "--ignore-not-found", "--wait=false")
		for _, one := range part {
			args = append(args, one.Metadata.Name)
		}
		trouble = cmp.Or(trouble, a.retryUntil(ctx, until, func() error { return a.runOC(ctx, nil, args...) }))
	}
	return trouble
}

// takeFinalizers removes the finalizers of objects that were deleted. Only a reader who is cluster-admin can have put any there.
func (a *attempt) takeFinalizers(ctx context.Context, objects []accessObject, kind string, where ...string) (trouble error) {
	for _, one := range objects {
		if len(one.Metadata.Finalizers) == 0 || ctx.Err() != nil {
			continue
		}
		args := append([]string{"patch", kind, one.Metadata.Name}, where...)
		err := a.runOC(ctx, nil, append(args, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)...)
		if err != nil && !strings.Contains(err.Error(), "(NotFound)") {
			trouble = cmp.Or(trouble, err)
		}
	}
	return trouble
}

// makeAccounts makes the namespace, and an account for each access with its bindings in the whole cluster. It returns what failed, by the
// access's id.
func (a *attempt) makeAccounts(ctx context.Context, give []contract.Access) map[string]error {
	failed := map[string]error{}
	objects := []any{object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": names.AccessNamespace, "labels": object{"app.kubernetes.io/managed-by": "ocpctl"}}}}
	for _, one := range give {
		if clusterRolesOf(one.Role) == nil {
			failed[one.ID] = fmt.Errorf("%q is not a role in a cluster: this runner is older than the server", one.Role)
			continue
		}
		objects = append(objects, accountWithBindings(one)...)
	}
	if len(failed) == len(give) {
		return failed
	}
	err := a.applyObjects(ctx, objects)
	for _, one := range give {
		switch {
		case err == nil || failed[one.ID] != nil:
		case len(give) > 1 && errors.Is(err, errRefusedByOC): // perhaps one of them only
			if err := a.applyObjects(ctx, accountWithBindings(one)); err != nil {
				failed[one.ID] = err
			}
		default:
			failed[one.ID] = err
		}
	}
	return failed
}

func accountWithBindings(one contract.Access) []any {
	about := object{
		"labels":      object{"app.kubernetes.io/managed-by": "ocpctl", accessLabel: one.Account, roleLabel: one.Role},
		"annotations": object{"ocpctl.io/reader": one.Reader, "ocpctl.io/access-id": one.ID},
	}
	objects := []any{object{"apiVersion": "v1", "kind": "ServiceAccount", "automountServiceAccountToken": false,
		"metadata": about.withField("name", one.Account).withField("namespace", names.AccessNamespace)}}
	for _, role := range clusterRolesOf(one.Role) {
		objects = append(objects, object{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
			"metadata": about.withField("name", bindingName(one.Account, role)),
			"roleRef":  object{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
			"subjects": []accessSubject{subjectOf(one.Account)}})
	}
	return objects
}

func (a *attempt) applyObjects(ctx context.Context, objects []any) error {
	if len(objects) == 0 {
		return nil
	}
	manifests, err := json.Marshal(object{"apiVersion": "v1", "kind": "List", "items": objects})
	if err != nil {
		return fmt.Errorf("write the accounts: %w", err)
	}
	return a.retryUntil(ctx, time.Now().Add(a.cfg.Timings.Reach), func() error {
		return a.runOC(ctx, manifests, "apply", "--server-side", "--force-conflicts", "--field-manager=ocpctl", "-f", "-")
	})
}
