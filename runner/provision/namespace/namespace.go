// Package namespace makes clusters that are a namespace on a hub: with a quota, limits, a network policy, and accounts that cannot leave it.
//
// What is left of them is counted, and deleted, by the platform.
package namespace

import (
	"context"
	"encoding/base64"
	"errors"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/kinds"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes/api"
	hub "github.com/ocpctl/ocpctl/runner/cloud/kubernetes/kinds"
	"github.com/ocpctl/ocpctl/runner/provision"
	"github.com/ocpctl/ocpctl/runner/provision/objects"
)

// Provisioner makes namespaces on a hub.
type Provisioner struct {
	*kubernetes.Hub
}

// New makes no call.
func New(hub *kubernetes.Hub) *Provisioner { return &Provisioner{hub} }

// object is a Kubernetes object, or a part of one.
type object = objects.Object

// Render implements runner.Provisioner.
func (p *Provisioner) Render(o provision.Order) (map[string][]byte, error) {
	all, err := manifests(o)
	if err != nil {
		return nil, err
	}
	return objects.Render(all)
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
		err = objects.MakeNamespace(ctx, p.Hub, o, all[0])
	}
	if err == nil {
		err = objects.Enter(ctx, p.Hub, o.InfraID, kubernetes.RunnerRole)
	}
	if err != nil {
		return err
	}
	for _, m := range all[1:] {
		if err := objects.Apply(ctx, p.Hub, m); err != nil {
			return err
		}
	}
	if p.NeedsPull(o) {
		return p.addPullSecret(ctx, o.InfraID, pull)
	}
	return nil
}

// addPullSecret lets the namespace's pods pull with the installation's pull secret. Whoever may read secrets there can read it.
func (p *Provisioner) addPullSecret(ctx context.Context, namespace string, pull secret.Text) error {
	encoded := base64.StdEncoding.EncodeToString([]byte(pull.Reveal()))
	if err := objects.Apply(ctx, p.Hub, objects.Within(namespace, "v1", "Secret", "secrets", "ocpctl-pull", object{"type": "kubernetes.io/dockerconfigjson", "data": object{".dockerconfigjson": encoded}})); err != nil {
		return err
	}
	return objects.Apply(ctx, p.Hub, objects.Within(namespace, "v1", "ServiceAccount", "serviceaccounts", "default", object{"imagePullSecrets": []object{{"name": "ocpctl-pull"}}}))
}

// Accounts implements runner.Provisioner.
func (p *Provisioner) Accounts(ctx context.Context, o provision.Order) (accounts []string, err error) {
	var all []hub.Object
	if err = objects.Enter(ctx, p.Hub, o.InfraID, kubernetes.RunnerRole); err == nil {
		err = objects.OnceAllowed(ctx, func() (err error) {
			all, err = api.List[hub.Object](ctx, p.API, objects.PathIn(o.InfraID, "v1", "serviceaccounts"), accessLabel)
			return err
		})
	}
	for _, one := range all {
		accounts = append(accounts, one.Metadata.Name)
	}
	return accounts, p.unlessGone(ctx, o.InfraID, objects.Wrap(err, "list accounts"))
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

func newAccount(namespace, account string) objects.Manifest {
	return objects.Within(namespace, "v1", "ServiceAccount", "serviceaccounts", account, object{"metadata": object{"name": account, "namespace": namespace, "labels": object{accessLabel: account}}})
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
	for _, m := range []objects.Manifest{
		newAccount(o.InfraID, account), objects.Bind(o.InfraID, "ocpctl-access-"+account, roleOf(role), subject),
	} {
		if err := objects.Apply(ctx, p.Hub, m); err != nil {
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
	if err := objects.OnceAllowed(ctx, func() error {
		return p.API.Create(ctx, objects.PathIn(o.InfraID, "v1", "serviceaccounts")+"/"+account+"/token", ask, &answer)
	}); err != nil {
		return t, objects.Wrap(err, "request a token")
	}
	if answer.Status.Token == "" || answer.Status.ExpirationTimestamp.IsZero() {
		return t, errors.New("the hub's answer to a request for a token has none")
	}
	return provision.Token{Secret: secret.New(answer.Status.Token), Expires: answer.Status.ExpirationTimestamp, CA: p.CA}, nil
}

// Take implements runner.Provisioner.
func (p *Provisioner) Take(ctx context.Context, o provision.Order, account string) error {
	for _, path := range []string{
		objects.PathIn(o.InfraID, "rbac.authorization.k8s.io/v1", "rolebindings") + "/ocpctl-access-" + account, objects.PathIn(o.InfraID, "v1", "serviceaccounts") + "/" + account,
	} {
		if err := p.API.Delete(ctx, path, ""); err != nil && !api.IsAbsent(err) {
			return p.unlessGone(ctx, o.InfraID, objects.Wrap(err, "remove the account "+account))
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
