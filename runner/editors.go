package runner

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/names"
)

// bindNamespaces gives the cluster role edit to these accounts, and to no others, in every namespace that offers it: one binding in each.
// Whoever may edit a namespace can use the accounts in it. In the system's namespaces and in those of operators these have more rights than
// any reader, so that nothing is bound where nobody said so. A namespace that refuses its binding keeps nobody from the others.
//
// requesters are the users whose own projects get the label.
func (a *attempt) bindNamespaces(ctx context.Context, there access, editors []accessSubject, requesters map[string]bool) error {
	bound := slices.DeleteFunc(slices.Clone(there.bindings), func(b accessObject) bool { return b.Kind != "RoleBinding" || b.Metadata.Name != editorsBinding })
	if len(editors) == 0 && len(bound) == 0 && len(requesters) == 0 {
		return nil
	}
	namespaces, err := a.listAccessObjects(ctx, "namespaces")
	if err != nil {
		return err
	}
	trouble := a.offerProjects(ctx, namespaces, requesters)
	if len(editors) == 0 {
		return cmp.Or(trouble, a.deleteEditorsBindings(ctx, bound))
	}
	lacking := map[string]bool{} // whether a namespace that offers the role lacks the binding
	for _, n := range namespaces {
		if n.offersEdit() {
			lacking[n.Metadata.Name] = true
		}
	}
	subjects := slices.SortedFunc(slices.Values(editors), func(a, b accessSubject) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	for _, b := range bound {
		in := b.Metadata.Namespace
		if _, offered := lacking[in]; !offered {
			trouble = cmp.Or(trouble, a.deleteAll(ctx, []accessObject{b}, roleBindings, "-n", in))
		} else if b.givesEdit(subjects) {
			lacking[in] = false
		}
	}
	return cmp.Or(a.bindIn(ctx, lacking, subjects), trouble)
}

// deleteEditorsBindings deletes the bindings of all namespaces.
func (a *attempt) deleteEditorsBindings(ctx context.Context, bound []accessObject) error {
	if len(bound) == 0 {
		return nil
	}
	return a.retryUntil(ctx, time.Now().Add(a.cfg.Timings.Reach), func() error {
		return a.runOC(ctx, nil, "delete", roleBindings, "-A", "-l", accessLabel+"="+editorsBinding, "--wait=false")
	})
}

// editingUsers returns the users of the accounts with the role edit, also of those that this attempt removes.
func (there access) editingUsers() map[string]bool {
	users := map[string]bool{}
	for _, one := range there.accounts {
		if one.Metadata.Labels[roleLabel] == "edit" {
			users[names.AccessUser(one.Metadata.Name)] = true
		}
	}
	return users
}

// requesterAnnotation is OpenShift's, on a project that somebody made for themselves, with the user's name.
const requesterAnnotation = "openshift.io/requester"

// offerProjects sets the label on projects that readers with the role edit made for themselves. OpenShift made them admins of their projects,
// so this gives them nothing new; it keeps a project accessible when its reader gets another account. The accounts are looked at
// before any of them is removed.
func (a *attempt) offerProjects(ctx context.Context, namespaces []accessObject, requesters map[string]bool) (trouble error) {
	for i, n := range namespaces {
		_, decided := n.Metadata.Labels[names.EditLabel]
		if decided || ofSystem(n.Metadata.Name) || n.Metadata.DeletionTimestamp != nil || !requesters[n.Metadata.Annotations[requesterAnnotation]] {
			continue
		}
		err := a.runOC(ctx, nil, "label", "namespaces", n.Metadata.Name, names.EditLabel+"=true")
		if err != nil {
			if !strings.Contains(err.Error(), "(NotFound)") {
				trouble = cmp.Or(trouble, err)
			}
			continue
		}
		namespaces[i].Metadata.Labels = map[string]string{names.EditLabel: "true"}
	}
	return trouble
}

// offersEdit reports a namespace in which readers with the role edit have it.
func (o accessObject) offersEdit() bool {
	return o.Metadata.DeletionTimestamp == nil && o.Metadata.Labels[names.EditLabel] == "true" && !ofSystem(o.Metadata.Name)
}

// givesEdit reports that a binding gives the role edit to exactly these accounts.
func (o accessObject) givesEdit(subjects []accessSubject) bool {
	return o.Metadata.DeletionTimestamp == nil && o.RoleRef.Kind == "ClusterRole" && o.RoleRef.Name == "edit" && slices.Equal(o.Subjects, subjects)
}

// bindIn makes the binding in those of the namespaces that lack it. If some refuse it, that is noted; an error means that none has it.
func (a *attempt) bindIn(ctx context.Context, namespaces map[string]bool, subjects []accessSubject) error {
	var objects []any
	for _, in := range slices.Sorted(maps.Keys(namespaces)) {
		if namespaces[in] {
			objects = append(objects, object{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
				"metadata": object{"name": editorsBinding, "namespace": in, "labels": object{"app.kubernetes.io/managed-by": "ocpctl", accessLabel: editorsBinding}},
				"roleRef":  object{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"}, "subjects": subjects})
		}
	}
	var trouble error
	for part := range slices.Chunk(objects, mostNamed) {
		trouble = cmp.Or(trouble, a.applyObjects(ctx, part))
	}
	if trouble == nil || ctx.Err() != nil {
		return trouble
	}
	there, err := a.listAccessObjects(ctx, roleBindings, "-A", "-l", accessLabel)
	if err != nil {
		return trouble
	}
	if !slices.ContainsFunc(there, func(b accessObject) bool {
		_, offered := namespaces[b.Metadata.Namespace]
		return offered && b.Metadata.Name == editorsBinding && b.givesEdit(subjects)
	}) {
		return trouble
	}
	a.noteLine("some namespaces refused the role edit, and the next attempt tries again: %s", strings.ReplaceAll(trouble.Error(), a.cfg.WorkDir, "…"))
	return nil
}

// ofSystem reports a namespace of Kubernetes, OpenShift or ocpctl, in which nobody gets the role edit whatever its labels say.
func ofSystem(name string) bool {
	for _, prefix := range []string{"kube-", "openshift-", "ocpctl-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return name == "default" || name == "openshift"
}
