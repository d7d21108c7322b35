// Package objects describes objects of a hub and applies them with server-side apply under one field manager, so that everything may be repeated.
package objects

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes/api"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes/kinds"
	"github.com/ocpctl/ocpctl/runner/provision"
)

// rightsLag is how long a hub may take to know of a binding. Its API servers watch them.
const rightsLag = 10 * time.Second

// Object is a Kubernetes object, or a part of one.
type Object = map[string]any

// Manifest is one object to apply.
type Manifest struct {
	Path, File string
	Object     Object
}

// NewNamespace returns the namespace of a cluster, with its labels.
func NewNamespace(o provision.Order) Manifest {
	tags, _ := json.Marshal(o.Tags) // strings always encode
	return Manifest{kinds.Namespaces + "/" + o.InfraID, "namespace", Object{"apiVersion": "v1", "kind": "Namespace", "metadata": Object{
		"name": o.InfraID, "labels": Object{kinds.ClusterLabel: o.Cluster, kinds.InfraLabel: o.InfraID, kinds.PodSecurityLabel: "baseline"},
		"annotations": Object{kinds.TagsNote: string(tags), "openshift.io/display-name": o.Name},
	}}}
}

// Within returns an object of a namespace. resource is the last part of its list's path; rest is everything but its identity.
func Within(namespace, version, kind, resource, name string, rest Object) Manifest {
	o := Object{"apiVersion": version, "kind": kind, "metadata": Object{"name": name, "namespace": namespace}}
	for key, value := range rest {
		o[key] = value
	}
	return Manifest{PathIn(namespace, version, resource) + "/" + name, strings.ToLower(kind) + "-" + name, o}
}

// PathIn is the path of a list in a namespace. version is the group's, such as apps/v1, or v1.
func PathIn(namespace, version, resource string) string {
	if strings.Contains(version, "/") {
		return "/apis/" + version + "/namespaces/" + namespace + "/" + resource
	}
	return kinds.Namespaces + "/" + namespace + "/" + resource
}

// Bind binds a cluster role in the namespace: it gives no right anywhere else.
func Bind(namespace, name, role string, subject Object) Manifest {
	return Within(namespace, "rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", name, Object{
		"roleRef": Object{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role}, "subjects": []Object{subject},
	})
}

// Render writes manifests as files, by name, in their order.
func Render(all []Manifest) (map[string][]byte, error) {
	files := map[string][]byte{}
	for i, m := range all {
		raw, err := yaml.Marshal(m.Object)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", m.File, err)
		}
		files[fmt.Sprintf("%02d-%s.yaml", i+1, m.File)] = raw
	}
	return files, nil
}

// MakeNamespace makes the namespace, or brings the cluster's own up to date. One that somebody else has under this name is not touched.
func MakeNamespace(ctx context.Context, hub *kubernetes.Hub, o provision.Order, m Manifest) error {
	err := hub.API.Create(ctx, kinds.Namespaces, m.Object, nil)
	if !api.HasCode(err, http.StatusConflict) {
		return Wrap(err, "make the namespace")
	}
	var there kinds.Object
	if err := hub.API.Get(ctx, m.Path, &there); err != nil {
		return Wrap(err, "read the namespace")
	}
	if there.Metadata.Labels[kinds.ClusterLabel] != o.Cluster {
		return fmt.Errorf("the hub has a namespace %s already, which is not the cluster's", o.InfraID)
	}
	return Apply(ctx, hub, m)
}

// Apply applies an object.
func Apply(ctx context.Context, hub *kubernetes.Hub, m Manifest) error {
	return Wrap(OnceAllowed(ctx, func() error { return hub.API.Apply(ctx, m.Path, m.Object) }), "apply "+m.File)
}

// OnceAllowed repeats a call while it is forbidden: a right that was bound a moment ago may not be known everywhere.
func OnceAllowed(ctx context.Context, call func() error) error {
	for until := time.Now().Add(rightsLag); ; {
		err := call()
		if !api.HasCode(err, http.StatusForbidden) || time.Now().After(until) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// Wrap says what was being done, and gives the hub's error its meaning.
func Wrap(err error, doing string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, kubernetes.Explain(err))
}

// Enter binds the runner's own rights in the namespace to whoever the hub says that it is.
func Enter(ctx context.Context, hub *kubernetes.Hub, namespace, role string) error {
	var self struct {
		Status struct{ UserInfo struct{ Username string } }
	}
	ask := Object{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
	if err := hub.API.Create(ctx, "/apis/authentication.k8s.io/v1/selfsubjectreviews", ask, &self); err != nil {
		return Wrap(err, "ask the hub who the runner is")
	}
	user := Object{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": self.Status.UserInfo.Username}
	return Apply(ctx, hub, Bind(namespace, "ocpctl-runner", role, user))
}
