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

	"github.com/ocpctl/ocpctl/internal/devstack/installer/act"
	"github.com/ocpctl/ocpctl/internal/devstack/installer/resources"
)

// accountCommands are the commands for service accounts, what binds them to roles, and their tokens.
func (r *run) accountCommands(root *cobra.Command) {
	create := &cobra.Command{Use: "create"}
	token := &cobra.Command{Use: "token SERVICE_ACCOUNT_NAME", Args: cobra.ExactArgs(1), RunE: r.inCluster("oc-token", r.createToken)}
	token.Flags().StringVarP(&r.output, "output", "o", "", "json")
	token.Flags().DurationVar(&r.duration, "duration", time.Hour, "Requested lifetime of the issued token")
	remove := &cobra.Command{Use: "delete TYPE NAME …", Args: cobra.MinimumNArgs(2), RunE: r.inCluster("oc-delete", r.remove)}
	remove.Flags().BoolVar(&r.ignoreMissing, "ignore-not-found", false, "Treat \"resource not found\" as a successful delete")
	whoami := &cobra.Command{Use: "whoami", Args: cobra.NoArgs, RunE: r.inCluster("oc-whoami", func(context.Context, *resources.Living, []string) error {
		_, err := fmt.Fprintln(r.stdout, r.who.name())
		return err
	})}
	create.AddCommand(token)
	root.AddCommand(create, remove, whoami)
}

// createToken is a TokenRequest.
func (r *run) createToken(ctx context.Context, l *resources.Living, args []string) error {
	account, there := l.Account(r.namespace, args[0])
	switch {
	case r.output != "json":
		return errors.New("the stand-in prints JSON only")
	case !there:
		return act.Fail(1, "Error from server (NotFound): serviceaccounts %q not found", args[0])
	case r.duration < resources.LeastToken:
		return act.Fail(1, "error: failed to create token: TokenRequest.authentication.k8s.io %q is invalid: spec.expirationSeconds: Invalid value: %d: may not specify a duration less than 10 minutes",
			args[0], int(r.duration.Seconds()))
	}
	key, err := l.Signer(ctx)
	if err != nil {
		return err
	}
	now := time.Now()
	expires := now.Add(r.duration).Truncate(time.Second)
	signed, err := sign(key, account, now, expires)
	if err != nil {
		return err
	}
	return r.print(object{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
		"metadata": object{"name": account.Name, "namespace": account.Namespace},
		"spec":     object{"expirationSeconds": int(r.duration.Seconds())},
		"status":   object{"expirationTimestamp": expires.UTC().Format(time.RFC3339), "token": signed}})
}

// remove deletes service accounts or bindings by name.
func (r *run) remove(ctx context.Context, l *resources.Living, args []string) error {
	resource, _, _ := strings.Cut(args[0], ".")
	for _, name := range args[1:] {
		var there bool
		var err error
		switch resource {
		case "serviceaccount", "serviceaccounts", "sa":
			if _, there = l.Account(r.namespace, name); there {
				err = l.DeleteAccount(ctx, r.namespace, name)
			}
		case "clusterrolebinding", "clusterrolebindings":
			if there = slices.ContainsFunc(l.Bindings(), func(b resources.Binding) bool { return b.Name == name }); there {
				err = l.DeleteBinding(ctx, name)
			}
		default:
			return errors.New("the stand-in deletes service accounts and bindings to cluster roles only")
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
	for key := range about.Metadata.Labels {
		labels = append(labels, key)
	}
	switch m.Kind {
	case "ServiceAccount":
		return true, l.ApplyAccount(ctx, resources.Account{Namespace: m.Metadata.Namespace, Name: m.Metadata.Name, Labels: labels})
	case "ClusterRoleBinding":
		if len(about.Subjects) == 1 && about.Subjects[0].Kind == "ServiceAccount" {
			s := about.Subjects[0]
			return true, l.ApplyBinding(ctx, resources.Binding{Name: m.Metadata.Name, Role: about.RoleRef.Name, Namespace: s.Namespace, Account: s.Name, Labels: labels})
		}
	}
	return false, nil
}

// accountsAs returns the service accounts of the namespace, or the bindings, as oc get prints them.
func (r *run) accountsAs(l *resources.Living, kind string) (items []any, known bool) {
	selects := func(labels []string) bool { return r.selector == "" || slices.Contains(labels, r.selector) }
	switch kind {
	case "serviceaccount", "serviceaccounts", "sa":
		for _, a := range l.Accounts() {
			if a.Namespace == r.namespace && selects(a.Labels) {
				items = append(items, object{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": object{"name": a.Name, "namespace": a.Namespace, "uid": a.UID}})
			}
		}
		return items, true
	case "clusterrolebinding", "clusterrolebindings":
		for _, b := range l.Bindings() {
			if selects(b.Labels) {
				items = append(items, object{"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": object{"name": b.Name},
					"roleRef": object{"kind": "ClusterRole", "name": b.Role}, "subjects": []object{{"kind": "ServiceAccount", "name": b.Account, "namespace": b.Namespace}}})
			}
		}
		return items, true
	}
	return nil, false
}
