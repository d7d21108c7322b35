package ibmcloud

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/installer/resources"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// live is a running cluster in IBM Cloud.
type live struct{ *Build }

// Locate finds the cluster of a domain by the record of its API, and reads it with a token of its account. resources.ErrNoCluster: there is
// none.
func (c *Cloud) Locate(ctx context.Context, domain string) (_ *resources.Living, err error) {
	defer must.Catch(&err)
	records := must.Get(c.everything(ctx, "api."+domain))
	var all []kept
	for _, r := range records {
		content := r.Attrs["content"]
		if r.Type != "dns-record" || r.Name != "api."+domain {
			continue
		}
		if all == nil {
			all = must.Get(c.everything(ctx, ""))
		}
		for _, b := range all {
			if b.Type == "load-balancer" && b.Account == r.Account && (b.Attrs["hostname"] == content || strings.Contains(r.Attrs["rdata"], `"`+b.Attrs["hostname"]+`"`)) {
				infraID, _, _ := strings.Cut(b.Name, "-kubernetes-api-")
				in := *c
				in.Region, in.Account = b.Region, b.Account
				must.Do(in.operate(ctx))
				return in.living(ctx, infraID)
			}
		}
	}
	return nil, fmt.Errorf("lookup api.%s: %w", domain, resources.ErrNoCluster)
}

// operate gets a token of the account, as the operators of a cluster have API keys.
func (c *Cloud) operate(ctx context.Context) error {
	return c.do(ctx, call{op: "standin:token", path: "/_standin/token", query: url.Values{"account": {c.Account}}}, &c.token)
}

// kept is a resource as the stand-in cloud keeps it.
type kept struct {
	ID, Name, Type, Account, Region, Zone, Group, State, VPC string
	Attrs                                                    map[string]string
	Values                                                   map[string][]string
	Gone                                                     string
}

// everything reads the stand-in's own list: the notes of a cluster are in no call of IBM Cloud.
func (c *Cloud) everything(ctx context.Context, match string) (all []kept, err error) {
	path := "/_standin/resources"
	err = c.do(ctx, call{op: "standin:resources", path: path, query: url.Values{"match": {match}}}, &all)
	return all, err
}

const notePrefix = "note/"

func notes(attrs map[string]string) map[string]string {
	out := map[string]string{}
	for key, value := range attrs {
		if key, ok := strings.CutPrefix(key, notePrefix); ok {
			out[key] = value
		}
	}
	return out
}

func (c *Cloud) living(ctx context.Context, infraID string) (_ *resources.Living, err error) {
	defer must.Catch(&err)
	b := live{c.NewBuild(Spec{InfraID: infraID})}
	l := &resources.Living{InfraID: infraID, Region: c.Region, Subnets: map[string]string{}, Notes: map[string]map[string]string{}, On: b}
	all := must.Get(c.everything(ctx, infraID))
	for _, r := range all {
		switch {
		case r.Account != c.Account:
		case r.Type == "vpc" && r.Name == infraID+"-vpc":
			l.Network, l.Notes[r.ID] = r.ID, notes(r.Attrs)
			b.vpc.ID, b.group = r.ID, r.Group
		case r.Type == "image" && r.Name == infraID+"-rhcos":
			b.image = r.ID
		case r.Type == "security-group":
			b.groups[strings.TrimPrefix(r.Name, infraID+"-")] = r.ID
		case r.Type == "subnet" && strings.HasPrefix(r.Name, infraID+"-subnet-compute-"):
			l.Subnets[r.Zone], l.Notes[r.ID], l.Zones = r.ID, notes(r.Attrs), append(l.Zones, r.Zone)
			b.subnets[r.Name] = r.ID
		case r.Type == "instance" && r.Zone != "" && r.State != "deleting":
			l.Add(resources.Machine{
				ID: r.ID, Name: r.Name, Zone: r.Zone, Type: r.Attrs["profile"], Running: r.State == "running", IP: r.Attrs["ip"],
				Started: r.Attrs["started"], Restarted: r.Attrs["started"] != "",
			}, notes(r.Attrs))
		}
	}
	must.EndIf(l.Network == "" || l.MasterType == "", resources.ErrNoCluster)
	return l, nil
}

// Launch creates a worker.
func (b live) Launch(ctx context.Context, l *resources.Living, zone, _ string) (string, error) {
	made, err := b.machine(ctx, b.SetName(l, zone)+"-"+random(5), l.WorkerType, "compute", zone, "sg-cluster-wide", "sg-openshift-net")
	if err != nil {
		return "", err
	}
	return made.ID, b.ready(ctx, "get_instance", "instances/"+made.ID, "running")
}

// SetName ends in the zone's number.
func (live) SetName(l *resources.Living, zone string) string {
	return l.InfraID + "-worker-" + zoneNumber(zone)
}

func zoneNumber(zone string) string { return zone[strings.LastIndex(zone, "-")+1:] }

// Terminate deletes workers.
func (b live) Terminate(ctx context.Context, ids []string) error {
	for _, one := range ids {
		if err := b.deleteVPC(ctx, "delete_instance", "instances/"+one); err != nil {
			return err
		}
	}
	return nil
}

// Note keeps a value with a resource of the cluster.
func (b live) Note(ctx context.Context, id, key, value string) error {
	raw, err := json.Marshal(map[string]string{"id": id, "name": key, "body": value})
	if err != nil {
		return err
	}
	return b.do(ctx, call{op: "standin:note", method: http.MethodPost, path: "/_standin/note", body: raw, reads: true}, nil)
}

// ProviderID names a machine as its node does.
func (b live) ProviderID(l *resources.Living, m resources.Machine) string {
	return fmt.Sprintf("ibm://%s///%s/%s", b.Account, l.InfraID, m.ID)
}

// Again reads the cluster's current state.
func (b live) Again(ctx context.Context) (*resources.Living, error) {
	return b.living(ctx, b.InfraID)
}
