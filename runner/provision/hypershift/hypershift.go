// Package hypershift makes OpenShift clusters whose control planes are hosted on a hub, by its operator of HyperShift: a namespace for each, with a
// HostedCluster and NodePools of virtual machines (KubeVirt).
//
// It applies objects and looks at what the operator says of them; the operator makes and removes everything else. It never takes a finalizer away.
package hypershift

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes/api"
	"github.com/ocpctl/ocpctl/runner/provision"
	"github.com/ocpctl/ocpctl/runner/provision/objects"
)

// Provisioner makes hosted clusters on a hub.
type Provisioner struct {
	*kubernetes.Hub
	// Settling is how long the operator has to say the same before it is believed that something can never work.
	Settling time.Duration
}

// New makes no call.
func New(on *kubernetes.Hub) *Provisioner { return &Provisioner{on, time.Minute} }

// role is the cluster role of deploy/hub.yaml with the runner's own rights in a hosted cluster's namespace.
const role = "ocpctl-hypershift-runner"

// rights are what a runner needs in the whole hub besides what every kind needs.
var rights = []kubernetes.Right{
	{Verb: "bind", Group: "rbac.authorization.k8s.io", Resource: "clusterroles", Name: role}, {Verb: "get", Resource: "configmaps", Name: versionsName},
	{Verb: "get", Group: "config.openshift.io", Resource: "ingresses", Name: "cluster"},
	{Verb: "list", Group: group, Resource: clusters}, {Verb: "list", Group: group, Resource: pools}, {Verb: "list", Group: "kubevirt.io", Resource: "virtualmachines"},
}

// Preflight implements runner.Cloud.
func (p *Provisioner) Preflight(ctx context.Context, t cloud.Target, _, _ []string) ([]cloud.Problem, error) {
	return p.PreflightWith(ctx, t, []string{role}, rights)
}

// The ConfigMap in which the operator says what it makes (openshift/hypershift, support/supportedversion).
const (
	operatorNamespace = "hypershift"
	versionsName      = "supported-versions"
)

// CheckOrder implements runner.Hosted: the operator has to be there and to make the version, and apps are below the hub's own.
func (p *Provisioner) CheckOrder(ctx context.Context, o provision.Order) ([]cloud.Problem, error) {
	versions, err := p.checkVersion(ctx, o.Version)
	if err != nil {
		return nil, err
	}
	domain, err := p.checkDomain(ctx, o.Domain)
	return append(versions, domain...), err
}

func (p *Provisioner) checkVersion(ctx context.Context, wanted string) ([]cloud.Problem, error) {
	var found struct{ Data map[string]string }
	err := p.API.Get(ctx, objects.PathIn(operatorNamespace, "v1", "configmaps")+"/"+versionsName, &found)
	switch {
	case api.IsAbsent(err):
		return []cloud.Problem{{Code: "HyperShiftMissing", Block: true, Whose: contract.WhoseOurs, Message: "the hub has no operator of HyperShift that says which versions it makes",
			Next: "ask an administrator of the hub to install it (hypershift install, or the multicluster engine)"}}, nil
	case err != nil:
		return nil, objects.Wrap(err, "ask which versions the hub makes")
	}
	var window struct{ Versions []string }
	if err := json.Unmarshal([]byte(found.Data[versionsName]), &window); err != nil || len(window.Versions) == 0 {
		return nil, fmt.Errorf("the hub's ConfigMap %s/%s names no versions", operatorNamespace, versionsName)
	}
	parts := strings.SplitN(wanted, ".", 3)
	if len(parts) == 3 && slices.Contains(window.Versions, parts[0]+"."+parts[1]) {
		return nil, nil
	}
	return []cloud.Problem{{Code: "VersionUnsupported", Block: true, Whose: contract.WhoseUser, Message: fmt.Sprintf("the hub makes no OpenShift %s, but %s", wanted, strings.Join(window.Versions, ", ")),
		Next: "choose one of these versions, or ask an administrator of the hub to upgrade HyperShift"}}, nil
}

// checkDomain compares the base domain with that of the hub's own apps, below which the operator publishes those of its clusters.
func (p *Provisioner) checkDomain(ctx context.Context, wanted string) ([]cloud.Problem, error) {
	var found struct{ Spec struct{ Domain string } }
	if err := p.API.Get(ctx, "/apis/config.openshift.io/v1/ingresses/cluster", &found); err != nil {
		return nil, objects.Wrap(err, "ask for the domain of the hub's apps")
	}
	if found.Spec.Domain == wanted {
		return nil, nil
	}
	return []cloud.Problem{{Code: "BaseDomainForeign", Block: true, Whose: contract.WhoseOurs, Message: fmt.Sprintf("the base domain is %s, but apps on the hub are below %s", wanted, found.Spec.Domain),
		Next: "ask an administrator of this installation to give the profile that base domain"}}, nil
}

// Render implements runner.Provisioner.
func (p *Provisioner) Render(o provision.Order) (map[string][]byte, error) {
	all, err := manifests(o)
	if err != nil {
		return nil, err
	}
	return objects.Render(all)
}

// NeedsPull implements runner.Provisioner.
func (p *Provisioner) NeedsPull(provision.Order) bool { return true }

// Create implements runner.Provisioner.
func (p *Provisioner) Create(ctx context.Context, o provision.Order, pull secret.Text) error {
	all, err := manifests(o)
	if err == nil {
		err = objects.MakeNamespace(ctx, p.Hub, o, all[0])
	}
	if err == nil {
		err = objects.Enter(ctx, p.Hub, o.InfraID, role)
	}
	if err == nil {
		err = objects.Apply(ctx, p.Hub, newPullSecret(o.InfraID, pull))
	}
	if err == nil {
		err = p.makeEtcdKey(ctx, o.InfraID)
	}
	if err != nil {
		return err
	}
	for _, m := range all[1:] {
		if err := objects.Apply(ctx, p.Hub, m); err != nil {
			return err
		}
	}
	return nil
}

// makeEtcdKey makes the key with which etcd's secrets are encrypted, unless there is one.
func (p *Provisioner) makeEtcdKey(ctx context.Context, namespace string) error {
	key := newEtcdKey(namespace).Object
	err := objects.OnceAllowed(ctx, func() error { return p.API.Create(ctx, objects.PathIn(namespace, "v1", "secrets"), key, nil) })
	if api.HasCode(err, http.StatusConflict) {
		return nil
	}
	return objects.Wrap(err, "make the key of etcd")
}

// Access implements runner.Hosted.
func (p *Provisioner) Access(ctx context.Context, o provision.Order) (out provision.Access, err error) {
	found, err := p.readCluster(ctx, o)
	if err == nil {
		out.Kubeconfig, err = p.readSecret(ctx, o.InfraID, found.Status.Kubeconfig.Name, "kubeconfig")
	}
	if err == nil {
		out.Password, err = p.readSecret(ctx, o.InfraID, found.Status.KubeadminPassword.Name, "password")
	}
	return out, err
}

// errNoSecret means that the operator has not made a secret yet.
var errNoSecret = errors.New("the operator has made no secret yet")

func (p *Provisioner) readSecret(ctx context.Context, namespace, name, key string) (value secret.Text, err error) {
	if name == "" {
		return value, fmt.Errorf("%w with the %s", errNoSecret, key)
	}
	var found struct{ Data map[string][]byte }
	err = p.API.Get(ctx, objects.PathIn(namespace, "v1", "secrets")+"/"+name, &found)
	if api.IsAbsent(err) || err == nil && len(found.Data[key]) == 0 {
		return value, fmt.Errorf("%w: %s with %s", errNoSecret, name, key)
	}
	return secret.New(string(found.Data[key])), objects.Wrap(err, "read the secret "+name)
}
