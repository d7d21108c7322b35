package oc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/devstack/installer/act"
	"github.com/ocpctl/ocpctl/devstack/installer/resources"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// accountCommands are the commands for service accounts, what binds them to roles, and their tokens.
func (r *run) accountCommands(root *cobra.Command) {
	create := &cobra.Command{Use: "create"}
	token := &cobra.Command{Use: "token SERVICE_ACCOUNT_NAME", Args: cobra.ExactArgs(1), RunE: r.inCluster("oc-token", r.createToken)}
	token.Flags().StringVarP(&r.output, "output", "o", "", "json")
	token.Flags().DurationVar(&r.duration, "duration", time.Hour, "Requested lifetime of the issued token")
	remove := &cobra.Command{Use: "delete TYPE NAME …", Args: cobra.MinimumNArgs(1), RunE: r.inCluster("oc-delete", r.remove)}
	remove.Flags().BoolVar(&r.ignoreMissing, "ignore-not-found", false, "Treat \"resource not found\" as a successful delete")
	remove.Flags().StringVarP(&r.selector, "selector", "l", "", "A label's key, or key=value")
	remove.Flags().BoolVarP(&r.everywhere, "all-namespaces", "A", false, "In all namespaces")
	remove.Flags().Bool("wait", true, "If true, wait for resources to be gone; here they are at once")
	whoami := &cobra.Command{Use: "whoami", Args: cobra.NoArgs, RunE: r.inCluster("oc-whoami", func(context.Context, *resources.Living, []string) error {
		_, err := fmt.Fprintln(r.stdout, r.who.name())
		return err
	})}
	create.AddCommand(token)
	root.AddCommand(create, remove, whoami)
}

// createToken is a TokenRequest.
func (r *run) createToken(ctx context.Context, l *resources.Living, args []string) (err error) {
	defer must.Catch(&err)
	account, there := l.Account(r.namespace, args[0])
	must.FailIf(r.output != "json", "the stand-in prints JSON only")
	switch {
	case !there:
		return act.Fail(1, "Error from server (NotFound): serviceaccounts %q not found", args[0])
	case r.duration < resources.LeastToken:
		return act.Fail(1, "error: failed to create token: TokenRequest.authentication.k8s.io %q is invalid: spec.expirationSeconds: Invalid value: %d: may not specify a duration less than 10 minutes",
			args[0], int(r.duration.Seconds()))
	}
	key := must.Get(l.Signer(ctx))
	now := time.Now()
	expires := now.Add(r.duration).Truncate(time.Second)
	signed := must.Get(sign(key, account, now, expires))
	return r.print(object{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
		"metadata": object{"name": account.Name, "namespace": account.Namespace},
		"spec":     object{"expirationSeconds": int(r.duration.Seconds())},
		"status":   object{"expirationTimestamp": expires.UTC().Format(time.RFC3339), "token": signed}})
}

// remove deletes service accounts or bindings by name, or bindings of namespaces by label.
func (r *run) remove(ctx context.Context, l *resources.Living, args []string) error {
	resource, _, _ := strings.Cut(args[0], ".")
	bound := resource == "rolebinding" || resource == "rolebindings"
	switch names := args[1:]; {
	case r.selector == "" && len(names) > 0:
		return r.removeNamed(ctx, l, resource, names)
	case r.selector == "" || len(names) > 0 || !bound:
		return errors.New("the stand-in deletes by name, and bindings of namespaces also by label")
	}
	for _, b := range l.Bindings() {
		if b.In != "" && (r.everywhere || b.In == r.namespace) && r.selects(b.Labels) {
			if err := l.DeleteBinding(ctx, b.In, b.Name); err != nil {
				return err
			}
			fmt.Fprintf(r.stdout, "rolebinding %q deleted from %s namespace\n", b.Name, b.In)
		}
	}
	return nil
}

func (r *run) removeNamed(ctx context.Context, l *resources.Living, resource string, names []string) error {
	for _, name := range names {
		var there bool
		var err error
		bound := func(in string) bool {
			return slices.ContainsFunc(l.Bindings(), func(b resources.Binding) bool { return b.In == in && b.Name == name })
		}
		switch resource {
		case "serviceaccount", "serviceaccounts", "sa":
			if _, there = l.Account(r.namespace, name); there {
				err = l.DeleteAccount(ctx, r.namespace, name)
			}
		case "clusterrolebinding", "clusterrolebindings":
			if there = bound(""); there {
				err = l.DeleteBinding(ctx, "", name)
			}
		case "rolebinding", "rolebindings":
			if there = bound(r.namespace); there {
				err = l.DeleteBinding(ctx, r.namespace, name)
			}
		case "oauthaccesstokens", "oauthauthorizetokens", "users", "identities":
			there, err = r.removeSession(ctx, l, resource, name)
		case "route", "routes", "configmap", "configmaps":
			if o, found := l.Object(keptKinds[strings.TrimSuffix(resource, "s")], r.namespace, name); found {
				there, err = true, l.Drop(ctx, o)
			}
		default:
			return errors.New("the stand-in deletes service accounts, bindings to cluster roles, Routes and ConfigMaps only")
		}
		switch {
		case err != nil:
			return err
		case !there && !r.ignoreMissing:
			return act.Fail(1, "Error from server (NotFound): %s %q not found", resource, name)
		case there:
			fmt.Fprintf(r.stdout, "%s %q deleted\n", strings.TrimSuffix(resource, "s"), name)
		}
	}
	return nil
}

// applyAccount applies a service account or a binding; it reports false for any other object.
func (r *run) applyAccount(ctx context.Context, l *resources.Living, m manifest, raw []byte) (applied bool, err error) {
	var about struct {
		Metadata struct{ Labels map[string]string }
		RoleRef  struct{ Name string }
		Subjects []struct{ Kind, Name, Namespace string }
	}
	if err := json.Unmarshal(raw, &about); err != nil {
		return false, err
	}
	var labels []string
	for key, value := range about.Metadata.Labels {
		labels = append(labels, key+"="+value)
	}
	switch m.Kind {
	case "ServiceAccount":
		return true, l.ApplyAccount(ctx, resources.Account{Namespace: m.Metadata.Namespace, Name: m.Metadata.Name, Labels: labels})
	case "ClusterRoleBinding", "RoleBinding":
		var subjects []resources.Binding
		for _, s := range about.Subjects {
			if s.Kind != "ServiceAccount" && s.Kind != "User" {
				return false, nil
			}
			subjects = append(subjects, resources.Binding{In: m.Metadata.Namespace, Name: m.Metadata.Name, Role: about.RoleRef.Name, Namespace: s.Namespace, Account: s.Name, Labels: labels})
		}
		if len(subjects) > 0 {
			return true, l.ApplyBinding(ctx, subjects...)
		}
	}
	return false, nil
}

// selects reports that labels (key=value) fit the selector.
func (r *run) selects(labels []string) bool {
	return r.selector == "" || slices.ContainsFunc(labels, func(label string) bool { return label == r.selector || strings.HasPrefix(label, r.selector+"=") })
}

func labelled(labels []string) object {
	out := object{}
	for _, label := range labels {
		if key, value, ok := strings.Cut(label, "="); ok {
			out[key] = value
		}
	}
	return out
}

// accountsAs returns the service accounts of the namespace, or the bindings, as oc get prints them.
func (r *run) accountsAs(l *resources.Living, kind string) (items []any, known bool) {
	switch kind {
	case "serviceaccount", "serviceaccounts", "sa":
		for _, a := range l.Accounts() {
			if (r.everywhere || a.Namespace == r.namespace) && r.selects(a.Labels) {
				items = append(items, object{"apiVersion": "v1", "kind": "ServiceAccount",
					"metadata": object{"name": a.Name, "namespace": a.Namespace, "uid": a.UID, "labels": labelled(a.Labels)}})
			}
		}
		return items, true
	case "clusterrolebinding", "clusterrolebindings":
		return r.bindingsAs(l, "ClusterRoleBinding", func(in string) bool { return in == "" }), true
	case "rolebinding", "rolebindings":
		return r.bindingsAs(l, "RoleBinding", func(in string) bool { return in != "" && (r.everywhere || in == r.namespace) }), true
	}
	return nil, false
}

func (r *run) bindingsAs(l *resources.Living, kind string, where func(in string) bool) (items []any) {
	var last object
	var before resources.Binding
	for _, b := range l.Bindings() {
		if !where(b.In) || !r.selects(b.Labels) {
			continue
		}
		subject := object{"kind": "ServiceAccount", "name": b.Account, "namespace": b.Namespace}
		if b.Namespace == "" {
			subject = object{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": b.Account}
		}
		if last != nil && before.In == b.In && before.Name == b.Name {
			last["subjects"] = append(last["subjects"].([]object), subject)
			continue
		}
		metadata := object{"name": b.Name, "labels": labelled(b.Labels)}
		if b.In != "" {
			metadata["namespace"] = b.In
		}
		last, before = object{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata,
			"roleRef": object{"kind": "ClusterRole", "name": b.Role}, "subjects": []object{subject}}, b
		items = append(items, last)
	}
	return items
}
