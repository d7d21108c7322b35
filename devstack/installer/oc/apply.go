package oc

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/devstack/installer/act"
	"github.com/ocpctl/ocpctl/devstack/installer/resources"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/internal/names"
)

// applyCommands are the commands that apply objects to a cluster and wait for them. The objects are tags in the stand-in AWS; what an
// operator would create for its Subscription exists as soon as the Subscription does.
func (r *run) applyCommands(root *cobra.Command) {
	apply := &cobra.Command{Use: "apply -f -", Args: cobra.NoArgs, RunE: r.inCluster("oc-apply", r.apply)}
	apply.Flags().BoolVar(&r.serverSide, "server-side", false, "If true, apply runs in the server instead of the client")
	apply.Flags().BoolVar(&r.force, "force-conflicts", false, "If true, server-side apply will force the changes against conflicts")
	apply.Flags().StringVar(&r.manager, "field-manager", "kubectl", "Name of the manager used to track field ownership")
	apply.Flags().StringSliceVarP(&r.files, "filename", "f", nil, "The files that contain the configurations to apply")
	wait := &cobra.Command{Use: "wait RESOURCE/NAME", Args: cobra.ExactArgs(1), RunE: r.inCluster("oc-wait", r.wait)}
	wait.Flags().StringVar(&r.condition, "for", "", "The condition to wait on")
	wait.Flags().String("timeout", "30s", "The length of time to wait before giving up")
	root.AddCommand(apply, wait)
}

// operators is what some packages' operators add: kinds, and deployments as namespace/name.
var operators = map[string]struct{ kinds, deployments []string }{
	"openshift-cert-manager-operator": {
		kinds: []string{
			"certificaterequests.cert-manager.io", "certificates.cert-manager.io", "challenges.acme.cert-manager.io", "clusterissuers.cert-manager.io",
			"issuers.cert-manager.io", "orders.acme.cert-manager.io", "certmanagers.operator.openshift.io",
		},
		deployments: []string{
			"cert-manager-operator/cert-manager-operator-controller-manager", "cert-manager/cert-manager", "cert-manager/cert-manager-cainjector", "cert-manager/cert-manager-webhook",
		},
	},
}

// builtIn are the API groups that every cluster has.
var builtIn = []string{
	"", "apps", "batch", "policy", "networking.k8s.io", "rbac.authorization.k8s.io", "storage.k8s.io", "apiextensions.k8s.io", "operators.coreos.com",
	"config.openshift.io", "operator.openshift.io", "cloudcredential.openshift.io", "route.openshift.io", "machine.openshift.io", "security.openshift.io", "console.openshift.io",
}

// manifest is a part of an applied object.
type manifest struct {
	APIVersion, Kind string
	Metadata         struct {
		Name, Namespace string
		Labels          map[string]string
	}
	Items []json.RawMessage
}

func (r *run) apply(ctx context.Context, l *resources.Living, _ []string) (err error) {
	defer must.Catch(&err)
	must.FailIf(!r.serverSide || !slices.Equal(r.files, []string{"-"}), "the stand-in applies with --server-side, what it reads from -f - only")
	raw := must.Get(io.ReadAll(os.Stdin))
	objects, err := documents(raw)
	must.Wrap(err, "error parsing STDIN")
	must.FailIf(len(objects) == 0, "no objects passed to apply")
	for _, object := range objects {
		must.Do(r.applyOne(ctx, l, object))
		if l, err = l.Again(ctx); err != nil { // so that the following objects see the applied one
			return err
		}
	}
	return nil
}

// documents splits YAML documents or JSON into objects, also those in Lists.
func documents(raw []byte) (all [][]byte, err error) {
	defer must.Catch(&err)
	for docs := yaml.NewDecoder(bytes.NewReader(raw)); ; {
		var doc any
		if err := docs.Decode(&doc); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		one := must.Get(json.Marshal(doc))
		var m manifest
		must.Do(json.Unmarshal(one, &m))
		if m.Kind != "List" {
			all = append(all, one)
			continue
		}
		for _, item := range m.Items {
			all = append(all, item)
		}
	}
}

func (r *run) applyOne(ctx context.Context, l *resources.Living, raw []byte) (err error) {
	defer must.Catch(&err)
	var m manifest
	must.Do(json.Unmarshal(raw, &m))
	group := ""
	if before, _, ok := strings.Cut(m.APIVersion, "/"); ok {
		group = before
	}
	must.FailIf(m.APIVersion == "" || m.Kind == "", `unable to decode "STDIN": Object 'Kind' is missing in '%s'`, raw)
	must.FailIf(m.Metadata.Name == "", "error when retrieving current configuration: resource name may not be empty")
	if !slices.Contains(builtIn, group) && !slices.ContainsFunc(kinds(l), func(kind string) bool { return strings.HasSuffix(kind, "."+group) }) {
		return act.Fail(1, "error: resource mapping not found for name: %q namespace: %q from \"STDIN\": no matches for kind %q in version %q", m.Metadata.Name, m.Metadata.Namespace, m.Kind, m.APIVersion)
	}
	if _, there := l.Object("Namespace", "", m.Metadata.Namespace); m.Metadata.Namespace != "" && !there && !ofThePlatform(m.Metadata.Namespace) {
		return act.Fail(1, "Error from server (NotFound): namespaces %q not found", m.Metadata.Namespace)
	}
	must.Do(r.authorize("patch", strings.ToLower(m.Kind)+"s", cmp.Or(m.Metadata.Namespace, r.namespace)))
	applied, err := r.applyAccount(ctx, l, m, raw)
	if !applied && err == nil {
		applied, err = r.applyFile(ctx, l, m, raw)
	}
	if applied || err != nil {
		if err == nil {
			_, err = fmt.Fprintf(r.stdout, "%s/%s serverside-applied\n", strings.ToLower(m.Kind), m.Metadata.Name)
		}
		return err
	}
	if problem := invalid(m.Kind, raw); problem != "" {
		return act.Fail(1, "Error from server (Invalid): %s.%s %q is invalid: %s", strings.ToLower(m.Kind)+"s", group, m.Metadata.Name, problem)
	}
	before, there := l.Object(m.Kind, m.Metadata.Namespace, m.Metadata.Name)
	must.EndIf(there && before.Manager != r.manager && !r.force,
		act.Fail(1, "error: Apply failed with 1 conflict: conflict with %q using %s: .spec", before.Manager, m.APIVersion))
	object := resources.Object{APIVersion: m.APIVersion, Kind: m.Kind, Namespace: m.Metadata.Namespace, Name: m.Metadata.Name, Manager: r.manager}
	if m.Kind == "Namespace" {
		object.Edit = m.Metadata.Labels[names.EditLabel]
	}
	store := l.Apply
	if isKept(m.Kind) {
		store = l.ApplyWhole
	}
	if m.Kind == "Route" {
		raw = must.Get(r.admit(l, m, raw))
	}
	must.Do(store(ctx, object, raw))
	called := strings.ToLower(m.Kind)
	if group != "" {
		called += "." + group
	}
	_, err = fmt.Fprintf(r.stdout, "%s/%s serverside-applied\n", called, m.Metadata.Name)
	return err
}

// ofThePlatform reports a namespace that every cluster has.
func ofThePlatform(namespace string) bool {
	return namespace == "default" || strings.HasPrefix(namespace, "openshift-") || strings.HasPrefix(namespace, "kube-")
}

// kinds returns the kinds that the cluster's operators added, by their CustomResourceDefinitions' names. The stand-in identifies an
// operator by its Subscription's name, which is its package's.
func kinds(l *resources.Living) (all []string) {
	for name, o := range operators {
		if subscribed(l, name) {
			all = append(all, o.kinds...)
		}
	}
	return all
}

func subscribed(l *resources.Living, name string) bool {
	return slices.ContainsFunc(l.Objects(), func(o resources.Object) bool { return o.Kind == "Subscription" && o.Name == name })
}

// wait checks once, and takes time if it waits in vain. What never happens is set by faults at the steps "established", for a kind,
// and "available", for a deployment.
func (r *run) wait(ctx context.Context, l *resources.Living, args []string) error {
	resource, name, ok := strings.Cut(args[0], "/")
	condition, asked := strings.CutPrefix(r.condition, "condition=")
	if !ok || !asked {
		return errors.New("the stand-in waits for one RESOURCE/NAME and --for=condition= only")
	}
	switch resource, _, _ = strings.Cut(resource, "."); resource {
	case "crd", "crds", "customresourcedefinition", "customresourcedefinitions":
		return r.await(ctx, "established", "customresourcedefinition", "apiextensions.k8s.io", name, slices.Contains(kinds(l), name), condition == "Established")
	case "deployment", "deployments", "deploy":
		_, there := l.Object("Deployment", r.namespace, name)
		for called, o := range operators {
			there = there || subscribed(l, called) && slices.Contains(o.deployments, r.namespace+"/"+name)
		}
		return r.await(ctx, "available", "deployment", "apps", name, there, condition == "Available")
	case "certificate", "certificates":
		_, there := l.Object("Certificate", r.namespace, name)
		if there {
			if err := issueCertificate(ctx, l, r.namespace, name); err != nil {
				return act.Fail(1, "error: timed out waiting for the condition on certificates/%s: %v", name, err)
			}
		}
		return r.await(ctx, "issued", "certificate", "cert-manager.io", name, there, r.condition == "condition=Ready=True")
	case "ingresscontroller", "ingresscontrollers":
		_, there := l.Object("IngressController", r.namespace, name)
		return r.await(ctx, "rolled-out", "ingresscontroller", "operator.openshift.io", name, there, r.condition == "condition=Progressing=False")
	case "subscription", "subscriptions":
		_, there := l.Object("Subscription", r.namespace, name)
		return r.await(ctx, "healthy", "subscription", "operators.coreos.com", name, there, condition == "CatalogSourcesUnhealthy=False")
	}
	return act.Fail(1, "error: the server doesn't have a resource type %q", resource)
}

func (r *run) await(ctx context.Context, step, kind, group, name string, there, met bool) (err error) {
	defer must.Catch(&err)
	never := r.Mark(ctx, step, 0) != nil
	must.EndIf(!there, act.Fail(1, "Error from server (NotFound): %ss.%s %q not found", kind, group, name))
	if never || !met {
		must.Do(r.Mark(ctx, "timeout", 1))
		return act.Fail(1, "error: timed out waiting for the condition on %ss/%s", kind, name)
	}
	_, err = fmt.Fprintf(r.stdout, "%s.%s/%s condition met\n", kind, group, name)
	return err
}

// applied returns the objects of a resource in the namespace, as oc get prints them.
func (r *run) applied(l *resources.Living, resource string) (items []any) {
	for _, o := range l.Objects() {
		kind := strings.ToLower(o.Kind)
		if resource != kind && resource != kind+"s" && resource != strings.TrimSuffix(kind, "y")+"ies" || o.Namespace != "" && o.Namespace != r.namespace && !r.everywhere {
			continue
		}
		metadata := object{"name": o.Name, "generation": o.Applied, "managedFields": []object{{"manager": o.Manager, "operation": "Apply"}}}
		if o.Namespace != "" {
			metadata["namespace"] = o.Namespace
		}
		if o.Edit != "" {
			metadata["labels"] = object{names.EditLabel: o.Edit}
		}
		items = append(items, object{"apiVersion": o.APIVersion, "kind": o.Kind, "metadata": metadata})
	}
	return items
}
