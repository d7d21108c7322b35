// Package count counts what is left of a cluster on a hub. It only reads, and shares nothing with what deletes.
package count

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/runner/cloud"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes/api"
	"github.com/ocpctl/ocpctl/runner/cloud/kubernetes/kinds"
)

const (
	service     = "kubernetes"
	passTimeout = 2 * time.Minute
)

// Verify counts once. What could not be queried is a finding. It begins with a positive control: the hub is the recorded one, and tells about a
// namespace, so that a wrong hub or a token without rights cannot look like an empty one. If it fails, nothing else is asked.
func Verify(ctx context.Context, hub *api.Client, t cloud.Target) contract.Pass {
	return countAll(ctx, hub, t, nil, kinds.Inside)
}

// VerifyHosted is Verify of a hosted cluster: it counts its objects, too, and the same in the namespaces of its control planes, with the virtual machines.
func VerifyHosted(ctx context.Context, hub *api.Client, t cloud.Target) contract.Pass {
	var controlPlanes []string
	for _, id := range t.Identities {
		if id.InfraID != "" {
			controlPlanes = append(controlPlanes, kinds.ControlPlane(id.InfraID, t.Name))
		}
	}
	return countAll(ctx, hub, t, controlPlanes, slices.Concat(kinds.Hosted, kinds.Inside))
}

func countAll(ctx context.Context, hub *api.Client, t cloud.Target, more []string, all []kinds.Kind) contract.Pass {
	ctx, cancel := context.WithTimeout(ctx, passTimeout)
	defer cancel()
	p := &pass{hub: hub, region: t.Region}
	for _, id := range t.Identities {
		if id.InfraID != "" && !slices.Contains(p.Identities, id.InfraID) {
			p.Identities = append(p.Identities, id.InfraID)
		}
	}
	p.places = slices.Concat(p.Identities, more)
	if !p.control(ctx, t) {
		return p.Pass
	}
	p.namespaces(ctx, t.Cluster)
	p.volumes(ctx)
	for _, name := range p.places {
		for _, k := range all {
			p.inside(ctx, k, name)
		}
	}
	p.Clean = len(p.Leftovers) == 0
	return p.Pass
}

// pass is one pass that is being made.
type pass struct {
	contract.Pass
	hub    *api.Client
	region string
	places []string // the namespaces of the identities, and those of their control planes
}

// note records a question and its answer. It reports whether it was answered.
func (p *pass) note(call, asked string, count int, err error) bool {
	q := contract.Query{Service: service, Call: call, Region: p.region, Asked: asked, At: time.Now().UTC(), Count: count}
	if err != nil {
		q.Err = err.Error()
		p.Leftovers = append(p.Leftovers, contract.Leftover{Type: "refused-query", ID: call + " " + asked, Free: "an administrator of the hub: " + nextOf(err)})
	}
	p.Queries = append(p.Queries, q)
	return err == nil
}

func nextOf(err error) string {
	if api.HasCode(err, 401) || api.HasCode(err, 403) {
		return "give the runner's credentials the rights in deploy/hub.yaml"
	}
	return "see that the hub's API works and that runners can reach it"
}

func (p *pass) control(ctx context.Context, t cloud.Target) bool {
	var system kinds.Object
	err := p.hub.Get(ctx, kinds.Namespaces+"/kube-system", &system)
	if err == nil && system.Metadata.UID == "" {
		err = errors.New("the hub's namespace kube-system has no UID")
	}
	if !p.note("get namespaces", "kube-system", 1, err) {
		return false
	}
	p.Account = system.Metadata.UID
	if want := t.RecordedAccount(p.Account); want != p.Account {
		last := &p.Queries[len(p.Queries)-1]
		last.Err = fmt.Sprintf("the credentials are for hub %s, but the cluster is on hub %s", p.Account, want)
		p.Leftovers = append(p.Leftovers, contract.Leftover{Type: "wrong-account", ID: p.Account, Free: "an administrator of this installation: give the runner credentials for hub " + want})
		return false
	}
	p.Control = fmt.Sprintf("hub %s answers, namespace kube-system is visible", p.Account)
	return true
}

// namespaces looks for each recorded one by its name, and for others that say that they are the cluster's.
func (p *pass) namespaces(ctx context.Context, cluster string) {
	var seen []string
	for _, name := range p.places {
		var found kinds.Object
		err := p.hub.Get(ctx, kinds.Namespaces+"/"+name, &found)
		switch {
		case api.IsAbsent(err):
			p.note("get namespaces", name, 0, nil)
		case p.note("get namespaces", name, 1, err):
			p.addNamespace(found)
			seen = append(seen, name)
		}
	}
	all, err := api.List[kinds.Object](ctx, p.hub, kinds.Namespaces, kinds.ClusterLabel+"="+cluster)
	p.note("list namespaces", kinds.ClusterLabel+"="+cluster, len(all), err)
	for _, found := range all {
		if !slices.Contains(seen, found.Metadata.Name) {
			p.addNamespace(found)
		}
	}
}

func (p *pass) addNamespace(found kinds.Object) {
	l := contract.Leftover{Type: "namespace", ID: found.Metadata.Name, Region: p.region, Remark: found.Holders(),
		Free: "ocpctl, or an administrator of the hub", Command: "kubectl delete namespace " + found.Metadata.Name}
	if l.Remark != "" {
		l.Free, l.Command = "whoever set the finalizer: have what it waits for cleaned up, and then removed from the object", "kubectl get namespace "+found.Metadata.Name+" -o yaml"
	}
	p.Leftovers = append(p.Leftovers, l)
}

func (p *pass) volumes(ctx context.Context) {
	all, err := api.List[kinds.Object](ctx, p.hub, kinds.Volumes.Path, "")
	count := 0
	for _, v := range all {
		if !slices.Contains(p.places, v.Spec.ClaimRef.Namespace) {
			continue
		}
		count++
		l := contract.Leftover{Type: kinds.Volumes.Type, ID: v.Metadata.Name, Name: v.Spec.ClaimRef.Namespace + "/" + v.Spec.ClaimRef.Name, Region: p.region, Remark: v.Holders(),
			Free: "an administrator of the hub: remove its disk, too, if nothing else does", Command: "kubectl delete persistentvolume " + v.Metadata.Name}
		if v.Spec.Reclaim == "Delete" {
			l.Free = "the storage driver of the hub removes it by itself, or an administrator of the hub"
		}
		p.Leftovers = append(p.Leftovers, l)
	}
	p.note("list persistentvolumes", strings.Join(p.places, ","), count, err)
}

func (p *pass) inside(ctx context.Context, k kinds.Kind, namespace string) {
	all, err := api.ListServed[kinds.Object](ctx, p.hub, k.In(namespace), k.Group)
	count := 0
	for _, one := range all {
		if k.Counts(one) {
			count++
			p.Leftovers = append(p.Leftovers, contract.Leftover{Type: k.Type, ID: namespace + "/" + one.Metadata.Name, Region: p.region, Remark: one.Holders(),
				Free: "the hub removes it with its namespace, or an administrator of the hub", Command: fmt.Sprintf("kubectl delete %s %s -n %s", strings.TrimSuffix(kindWord(k.In("")), "s"), one.Metadata.Name, namespace)})
		}
	}
	p.note("list "+kindWord(k.In("")), namespace, count, err)
}

// kindWord is the last part of a path.
func kindWord(path string) string { return path[strings.LastIndex(path, "/")+1:] }
