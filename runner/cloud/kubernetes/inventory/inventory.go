// Package inventory lists what a hub has that may belong to a cluster. It only reads, and shares nothing with what deletes.
package inventory

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes/api"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes/kinds"
)

// Inventory looks through one hub.
type Inventory struct {
	hub    *api.Client
	region string

	mu    sync.Mutex
	calls map[string]int // by part
}

// New makes no call. region is the name under which the hub's parts are reported.
func New(region string, keys cloud.Keys) (*Inventory, error) {
	hub, err := api.New(keys.ID, keys.Secret, keys.CA)
	return &Inventory{hub: hub, region: region, calls: map[string]int{}}, err
}

// Account returns the UID of the hub's namespace kube-system.
func (i *Inventory) Account(ctx context.Context) (string, error) {
	var system kinds.Object
	err := i.hub.Get(ctx, kinds.Namespaces+"/kube-system", &system)
	switch {
	case api.HasCode(err, 401):
		err = fmt.Errorf("%w: %w", cloud.ErrCredentials, err)
	case err == nil && system.Metadata.UID == "":
		err = errors.New("the hub's namespace kube-system has no UID")
	}
	return system.Metadata.UID, err
}

// Regions returns the hub's one name.
func (i *Inventory) Regions(context.Context) ([]string, error) { return []string{i.region}, nil }

const partNamespaces = "namespaces"

// everything is what is listed in namespaces.
var everything = slices.Concat(kinds.Inside, kinds.Hosted)

// Parts implements scan.Inventory.
func (i *Inventory) Parts([]string) []string {
	parts := []string{i.region + "/" + partNamespaces, i.region + "/" + kinds.Volumes.Part}
	for _, k := range everything {
		parts = append(parts, i.region+"/"+k.Part)
	}
	return parts
}

// recordedForm is the form of the names that clusters have on hubs.
var recordedForm = regexp.MustCompile(`^[a-z][-a-z0-9]{0,20}-[a-z0-9]{5}$`)

// List lists one part. Of namespaces, those with our label; of everything else, what is in a namespace whose name a cluster can have.
func (i *Inventory) List(ctx context.Context, part string, emit func([]contract.SeenResource) error) error {
	before, _ := i.hub.Calls()
	defer func() {
		after, _ := i.hub.Calls()
		i.mu.Lock()
		defer i.mu.Unlock()
		i.calls[part] += max(after-before, 0)
	}()
	switch part {
	case i.region + "/" + partNamespaces:
		all, err := api.List[kinds.Object](ctx, i.hub, kinds.Namespaces, kinds.ClusterLabel)
		if err != nil {
			return err
		}
		return emit(i.seeAll(all, func(o kinds.Object) contract.SeenResource {
			name := o.Metadata.Name
			tags := o.Tags()
			if tags == nil {
				tags = map[string]string{}
			}
			tags[tagkey.ClusterID], tags[tagkey.KubernetesCluster+name] = o.Metadata.Labels[kinds.ClusterLabel], tagkey.Owned
			return contract.SeenResource{ID: idOf(name), Type: "namespace", Name: name, Tags: tags}
		}))
	case i.region + "/" + kinds.Volumes.Part:
		all, err := api.List[kinds.Object](ctx, i.hub, kinds.Volumes.Path, "")
		if err != nil {
			return err
		}
		return emit(i.seeAll(all, func(o kinds.Object) contract.SeenResource {
			return within(kinds.Volumes.Type, o.Spec.ClaimRef.Namespace, o)
		}))
	}
	for _, k := range everything {
		if part != i.region+"/"+k.Part {
			continue
		}
		all, err := api.ListServed[kinds.Object](ctx, i.hub, k.Path, k.Group)
		if k.Separate && api.HasCode(err, 403) {
			return nil // a hub that does not give these rights has no such clusters: a preflight refuses them
		}
		if err != nil {
			return err
		}
		return emit(i.seeAll(all, func(o kinds.Object) contract.SeenResource {
			if !k.Counts(o) {
				return contract.SeenResource{}
			}
			return within(k.Type, o.Metadata.Namespace, o)
		}))
	}
	return fmt.Errorf("there is no part %s", part)
}

func idOf(namespace string) string { return "namespace/" + namespace }

// within is something in a namespace, or of it; the zero value: no cluster's namespace has such a name.
func within(kind, namespace string, o kinds.Object) contract.SeenResource {
	id := kind + "/" + namespace + "/" + o.Metadata.Name
	if namespace = kinds.OwnerOf(namespace); !recordedForm.MatchString(namespace) {
		return contract.SeenResource{}
	}
	return contract.SeenResource{ID: id, Type: kind, Name: namespace, Within: idOf(namespace)}
}

func (i *Inventory) seeAll(all []kinds.Object, see func(kinds.Object) contract.SeenResource) (out []contract.SeenResource) {
	for _, o := range all {
		if seen := see(o); seen.ID != "" {
			seen.Region, seen.MadeAt = i.region, o.Metadata.CreationTimestamp
			out = append(out, seen)
		}
	}
	return out
}

// Calls implements scan.Inventory.
func (i *Inventory) Calls() map[string]int {
	made, _ := i.hub.Calls()
	return map[string]int{"kubernetes": made}
}

// CallsOf implements scan.Inventory.
func (i *Inventory) CallsOf(part string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.calls[part]
}

// Slowed implements scan.Inventory.
func (i *Inventory) Slowed() int {
	_, slowed := i.hub.Calls()
	return slowed
}
