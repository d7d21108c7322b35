// Package kubernetes is the platform of hubs: Kubernetes or OpenShift clusters that are there already, on which clusters of several kinds are made.
//
// It knows a hub as other packages know a cloud account: by the UID of its namespace kube-system. What a cluster is there is a matter of its kind;
// this package finds its namespace again, counts what is left of it and deletes it. A namespace is the cluster's if its name was recorded and its label
// says so.
package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes/api"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes/count"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes/kinds"
)

const (
	accountTimeout = 30 * time.Second
	checkTimeout   = time.Minute
	removeTimeout  = 2 * time.Minute
)

// Hub is one hub, seen for one region.
type Hub struct {
	API    *api.Client
	CA     string // certificates in PEM; empty: those that the system trusts
	region string
}

// New makes no call.
func New(region string, keys cloud.Keys) (*Hub, error) {
	client, err := api.New(keys.ID, keys.Secret, keys.CA)
	if err != nil {
		return nil, err
	}
	return &Hub{API: client, CA: keys.CA, region: region}, nil
}

// Explain gives an error of the hub the meaning that the runner knows.
func Explain(err error) error {
	if api.HasCode(err, 401) {
		return fmt.Errorf("%w: %w", cloud.ErrCredentials, err)
	}
	return err
}

// Account returns the UID of the hub's namespace kube-system.
func (h *Hub) Account(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, accountTimeout)
	defer cancel()
	var system kinds.Object
	if err := h.API.Get(ctx, kinds.Namespaces+"/kube-system", &system); err != nil {
		return "", Explain(err)
	}
	if system.Metadata.UID == "" {
		return "", errors.New("the hub's namespace kube-system has no UID")
	}
	return system.Metadata.UID, nil
}

// Quotas measures nothing: what fits on a hub is what its account's document says.
func (h *Hub) Quotas(context.Context, cloud.Target, cloud.Plan) ([]contract.Quota, error) {
	return nil, nil
}

// Verify counts once what is left.
func (h *Hub) Verify(ctx context.Context, t cloud.Target) contract.Pass {
	return count.Verify(ctx, h.API, t)
}

// VerifyHosted is Verify of hosted clusters.
func (h *Hub) VerifyHosted(ctx context.Context, t cloud.Target) contract.Pass {
	return count.VerifyHosted(ctx, h.API, t)
}

// Contested lists the recorded namespaces that are not the cluster's.
func (h *Hub) Contested(ctx context.Context, t cloud.Target) (contested []cloud.Contested, err error) {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	for _, name := range listNames(t) {
		found, err := h.findNamespace(ctx, name)
		switch {
		case err != nil:
			return nil, err
		case found == nil:
		default:
			if mark := foreignMark(*found, t); mark != "" {
				contested = append(contested, cloud.Contested{ID: "namespace/" + name, Mark: mark})
			}
		}
	}
	return contested, nil
}

// Remove deletes the recorded namespaces, with everything in them. The hub does the rest; a count tells when it is done.
func (h *Hub) Remove(ctx context.Context, t cloud.Target) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, removeTimeout)
	defer cancel()
	r := &cloud.Removal{IsAbsent: api.IsAbsent}
	for _, name := range listNames(t) {
		id := name
		found, err := h.findNamespace(ctx, name)
		switch {
		case err != nil:
			r.NoteFailure(id, "look for namespace "+name, err)
		case found == nil || found.Metadata.DeletionTimestamp != nil:
		case foreignMark(*found, t) != "":
			r.Keep(cloud.KeptAnothers, id, "namespace %s was left alone: %s", name, foreignMark(*found, t))
		default:
			r.NoteDeletion(id, "namespace "+name, h.API.Delete(ctx, kinds.Namespaces+"/"+name, found.Metadata.UID))
		}
	}
	return r.Deleted, errors.Join(r.Errs...)
}

// findNamespace returns a namespace; nil: the hub answered that there is none.
func (h *Hub) findNamespace(ctx context.Context, name string) (*kinds.Object, error) {
	var found kinds.Object
	err := h.API.Get(ctx, kinds.Namespaces+"/"+name, &found)
	if api.IsAbsent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, Explain(err)
	}
	return &found, nil
}

// foreignMark says why a namespace is not the target's; empty: it is.
func foreignMark(o kinds.Object, t cloud.Target) string {
	if of := o.Metadata.Labels[kinds.ClusterLabel]; of != t.Cluster {
		return fmt.Sprintf("label %s=%s", kinds.ClusterLabel, of)
	}
	return t.AgeMark(o.Metadata.CreationTimestamp)
}

func listNames(t cloud.Target) (all []string) {
	for _, id := range t.Identities {
		if id.InfraID != "" {
			all = append(all, id.InfraID)
		}
	}
	return all
}

// A hub has nothing of the following. Its namespace is made with its labels, and has no machines of its own.

// Detach implements runner.Cloud.
func (h *Hub) Detach(context.Context, cloud.Target) ([]string, error) { return nil, nil }

// Machines implements runner.Cloud.
func (h *Hub) Machines(context.Context, cloud.Target) ([]cloud.Machine, error) { return nil, nil }

// SetRunning implements runner.Cloud.
func (h *Hub) SetRunning(context.Context, cloud.Target, []string, bool) error { return nil }

// Prepare implements runner.Cloud.
func (h *Hub) Prepare(context.Context, cloud.Target, string) (string, error) { return "", nil }

// TagCredentials implements runner.Cloud.
func (h *Hub) TagCredentials(context.Context, cloud.Target, []string) error { return nil }

// LimitRoles implements runner.Cloud.
func (h *Hub) LimitRoles(context.Context, cloud.Target, []string, string) error { return nil }

// Found implements runner.Cloud.
func (h *Hub) Found(context.Context, cloud.Target) (names.Found, error) { return names.Found{}, nil }

// Tag implements runner.Cloud.
func (h *Hub) Tag(context.Context, cloud.Target, map[string]string) (int, error) { return 0, nil }
