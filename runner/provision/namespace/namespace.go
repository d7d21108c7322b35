// Package namespace makes clusters that are a namespace on a hub: with a quota, limits, a network policy, and accounts that cannot leave it.
//
// It applies objects with server-side apply under one field manager, so that everything may be repeated. What is left of them is counted, and
// deleted, by the platform.
package namespace

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/kinds"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes/api"
	hub "github.com/ocpctl/ocpctl/runner/cloud/kubernetes/kinds"
	"github.com/ocpctl/ocpctl/runner/provision"
)

// Provisioner makes namespaces on a hub.
type Provisioner struct {
	*kubernetes.Hub
}

// New makes no call.
func New(hub *kubernetes.Hub) *Provisioner { return &Provisioner{hub} }

// object is a Kubernetes object, or a part of one.
type object = map[string]any

// rightsLag is how long a hub may take to know of a binding. Its API servers watch them.
const rightsLag = 10 * time.Second

// manifest is one object to apply.
type manifest struct {
	path, file string
	object     object
}

// Render implements runner.Provisioner.
func (p *Provisioner) Render(o provision.Order) (map[string][]byte, error) {
	all, err := manifests(o)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for i, m := range all {
		raw, err := yaml.Marshal(m.object)
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", m.file, err)
		}
		files[fmt.Sprintf("%02d-%s.yaml", i+1, m.file)] = raw
	}
	return files, nil
}

// NeedsPull implements runner.Provisioner.
func (p *Provisioner) NeedsPull(o provision.Order) bool {
	order, err := read(o)
	return err == nil && order.Pull
}

// Create implements runner.Provisioner. The runner's own rights in the namespace are bound there, so that it needs none in others.
func (p *Provisioner) Create(ctx context.Context, o provision.Order, pull secret.Text) error {
	all, err := manifests(o)
	if err == nil {
		err = p.makeNamespace(ctx, o, all[0])
	}
	if err == nil {
		err = p.enter(ctx, o.InfraID)
	}
	if err != nil {
		return err
	}
	for _, m := range all[1:] {
		if err := p.apply(ctx, m); err != nil {
			return err
		}
	}
	if p.NeedsPull(o) {
		return p.addPullSecret(ctx, o.InfraID, pull)
	}
	return nil
}

// makeNamespace makes the namespace, or brings the cluster's own up to date. One that somebody else has under this name is not touched.
func (p *Provisioner) makeNamespace(ctx context.Context, o provision.Order, m manifest) error {
	err := p.API.Create(ctx, hub.Namespaces, m.object, nil)
	if !api.HasCode(err, http.StatusConflict) {
		return wrap(err, "make "+m.file)
	}
	var there hub.Object
	if err := p.API.Get(ctx, m.path, &there); err != nil {
		return wrap(err, "read "+m.file)
	}
	if there.Metadata.Labels[hub.ClusterLabel] != o.Cluster {
		return fmt.Errorf("the hub has a namespace %s already, which is not the cluster's", o.InfraID)
	}
	return p.apply(ctx, m)
}

// apply applies an object.
func (p *Provisioner) apply(ctx context.Context, m manifest) error {
	return wrap(onceAllowed(ctx, func() error { return p.API.Apply(ctx, m.path, m.object) }), "apply "+m.file)
}

// onceAllowed repeats a call while it is forbidden: a right that was bound a moment ago may not be known everywhere.
func onceAllowed(ctx context.Context, call func() error) error {
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

func wrap(err error, doing string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", doing, kubernetes.Explain(err))
}

// enter binds the runner's own rights in the namespace to whoever the hub says that it is.
func (p *Provisioner) enter(ctx context.Context, namespace string) error {
	var self struct {
		Status struct{ UserInfo struct{ Username string } }
	}
	ask := object{"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
	if err := p.API.Create(ctx, "/apis/authentication.k8s.io/v1/selfsubjectreviews", ask, &self); err != nil {
		return wrap(err, "ask the hub who the runner is")
	}
	user := object{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": self.Status.UserInfo.Username}
	return p.apply(ctx, binding(namespace, "ocpctl-runner", kubernetes.RunnerRole, user))
}

// addPullSecret lets the namespace's pods pull with the installation's pull secret. Whoever may read secrets there can read it.
func (p *Provisioner) addPullSecret(ctx context.Context, namespace string, pull secret.Text) error {
	encoded := base64.StdEncoding.EncodeToString([]byte(pull.Reveal()))
	if err := p.apply(ctx, within(namespace, "v1", "Secret", "secrets", "ocpctl-pull", object{"type": "kubernetes.io/dockerconfigjson", "data": object{".dockerconfigjson": encoded}})); err != nil {
		return err
	}
	return p.apply(ctx, within(namespace, "v1", "ServiceAccount", "serviceaccounts", "default", object{"imagePullSecrets": []object{{"name": "ocpctl-pull"}}}))
}

// Accounts implements runner.Provisioner.
func (p *Provisioner) Accounts(ctx context.Context, o provision.Order) (accounts []string, err error) {
	var all []hub.Object
	if err = p.enter(ctx, o.InfraID); err == nil {
		err = onceAllowed(ctx, func() (err error) {
			all, err = api.List[hub.Object](ctx, p.API, inNamespace(o.InfraID, "serviceaccounts"), accessLabel)
			return err
		})
	}
	for _, one := range all {
		accounts = append(accounts, one.Metadata.Name)
	}
	return accounts, p.unlessGone(ctx, o.InfraID, wrap(err, "list accounts"))
}

// unlessGone is err, unless the hub says that the namespace does not exist: then nobody has an account there.
func (p *Provisioner) unlessGone(ctx context.Context, namespace string, err error) error {
	if err != nil && api.IsAbsent(p.API.Get(ctx, hub.Namespaces+"/"+namespace, nil)) {
		return nil
	}
	return err
}

// accessLabel marks the accounts that Give made. Nobody but the runner may change an account in the namespace.
const accessLabel = "ocpctl.io/access"

func newAccount(namespace, account string) manifest {
	return within(namespace, "v1", "ServiceAccount", "serviceaccounts", account, object{"metadata": object{"name": account, "namespace": namespace, "labels": object{accessLabel: account}}})
}

// roleOf returns the cluster role that a role is in a namespace. Whoever may run pods there can use every account in it, so more than edit would be
// no more.
func roleOf(role string) string {
	if role == "view" {
		return kubernetes.ViewRole
	}
	return kubernetes.EditRole
}

// Give implements runner.Provisioner.
func (p *Provisioner) Give(ctx context.Context, o provision.Order, account, role string, lifetime time.Duration) (t provision.Token, err error) {
	subject := object{"kind": "ServiceAccount", "name": account, "namespace": o.InfraID}
	for _, m := range []manifest{
		newAccount(o.InfraID, account), binding(o.InfraID, "ocpctl-access-"+account, roleOf(role), subject),
	} {
		if err := p.apply(ctx, m); err != nil {
			return t, err
		}
	}
	var answer struct {
		Status struct {
			Token               string
			ExpirationTimestamp time.Time
		}
	}
	ask := object{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": object{"expirationSeconds": int(lifetime / time.Second), "audiences": []string{}}}
	if err := onceAllowed(ctx, func() error {
		return p.API.Create(ctx, inNamespace(o.InfraID, "serviceaccounts")+"/"+account+"/token", ask, &answer)
	}); err != nil {
		return t, wrap(err, "request a token")
	}
	if answer.Status.Token == "" || answer.Status.ExpirationTimestamp.IsZero() {
		return t, errors.New("the hub's answer to a request for a token has none")
	}
	return provision.Token{Secret: secret.New(answer.Status.Token), Expires: answer.Status.ExpirationTimestamp, CA: p.CA}, nil
}

// Take implements runner.Provisioner.
func (p *Provisioner) Take(ctx context.Context, o provision.Order, account string) error {
	for _, path := range []string{
		rbacIn(o.InfraID, "rolebindings") + "/ocpctl-access-" + account, inNamespace(o.InfraID, "serviceaccounts") + "/" + account,
	} {
		if err := p.API.Delete(ctx, path, ""); err != nil && !api.IsAbsent(err) {
			return p.unlessGone(ctx, o.InfraID, wrap(err, "remove the account "+account))
		}
	}
	return nil
}

// read reads the frozen document.
func read(o provision.Order) (order kinds.NamespaceOrder, err error) {
	if err := yaml.Unmarshal([]byte(o.Text), &order); err != nil || order.Quota.Pods == 0 {
		return order, errors.New("what was accepted of the namespace cannot be read")
	}
	return order, nil
}

// tagsNote is the annotation with the cluster's tags.
func tagsNote(tags map[string]string) string {
	raw, _ := json.Marshal(tags) // strings always encode
	return string(raw)
}
