package ibmcloud

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/IBM/go-sdk-core/v5/core"
	"github.com/IBM/platform-services-go-sdk/globalsearchv2"
	"github.com/oklog/ulid/v2"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/tagkey"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

const (
	// apiBalancers are two for the API, one of them private, and one for the ingress.
	apiBalancers = 3
	// searchPage is the largest page of Global Search.
	searchPage = 1000
)

// demand is one limit that an install of a plan touches.
type demand struct {
	code          string   // of limits
	scopes        []string // the zones of a limit per zone; empty: one limit for the region
	need, lasting int      // in each scope; of the first one, extra is needed for a while
	extra         int
	usage         func(context.Context, string) ([]holding, error)
}

// holding is a resource that counts against a limit.
type holding struct {
	crn    string
	group  string // the name of its resource group
	scope  string // the zone, if the limit is per zone
	amount int
}

// Quotas measures every limit that an install of the plan touches: IBM Cloud's standard limit, everybody's current usage with the share of each of
// our clusters by its ClusterId tag, and the need. What could not be queried is Unknown and says why. The error is for a context that ended.
//
// A cluster has its tags when it is installed. Until then its resource group tells whose its share is, which only the server knows: what has
// no tag of a cluster is also listed by its resource group.
// Needed are a public gateway's floating IP per zone, and one for the bootstrap machine (openshift/installer pkg/infrastructure/ibmcloud).
func (c *Client) Quotas(ctx context.Context, t cloud.Target, plan cloud.Plan) ([]contract.Quota, error) {
	clusters, clustersErr := c.findClusters(ctx)
	var out []contract.Quota
	types, typesErr := c.listProfiles(ctx, t.Region)
	demands, planErr := c.sumDemands(plan, types)
	for _, d := range demands {
		out = append(out, c.measureQuota(ctx, t.Region, d, clusters, clustersErr)...)
	}
	if err := errors.Join(typesErr, planErr); err != nil {
		for _, code := range []string{"vcpu", "memory"} {
			out = append(out, contract.Quota{Service: "vpc", Code: code, Name: c.limits[code].name, Limit: c.limits[code].value, Unknown: "the needed amount is unknown: " + err.Error(), Denied: isForbidden(err)})
		}
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("measure quotas: %w", ctx.Err())
	}
	return out, nil
}

// sumDemands are the demands of every install and, if the instance types are known, those of the plan's machines.
func (c *Client) sumDemands(plan cloud.Plan, types map[string]profile) ([]demand, error) {
	vcpus, memory, disks := demand{code: "vcpu"}, demand{code: "memory"}, demand{code: "volume", usage: c.countKind(volumes)}
	vcpus.usage = c.machinesHeld(func(p profile) int { return p.VCPU.Value })
	memory.usage = c.machinesHeld(func(p profile) int { return p.Memory.Value })
	var unknown []error
	for _, m := range plan.Machines {
		p, there := types[m.Type]
		if !there || p.VCPU.Value == 0 || p.Memory.Value == 0 {
			unknown = append(unknown, fmt.Errorf("IBM Cloud does not say how large %s is", m.Type))
		}
		for _, each := range []struct {
			of     *demand
			amount int
		}{{&vcpus, p.VCPU.Value}, {&memory, p.Memory.Value}, {&disks, 1}} {
			each.of.need += each.amount * (m.Lasting + m.Transient)
			each.of.lasting += each.amount * m.Lasting
		}
	}
	demands := []demand{
		{code: "vpc", need: 1, lasting: 1, usage: c.countKind(vpcs)},
		{code: "load-balancer", need: apiBalancers, lasting: apiBalancers, usage: c.countKind(loadBalancers)},
		{code: "floating-ip", scopes: plan.Zones, need: 1, lasting: 1, extra: 1, usage: c.countKind(floatingIPs)},
		disks,
	}
	if len(unknown) > 0 {
		return demands, errors.Join(unknown...)
	}
	return append(demands, vcpus, memory), nil
}

// measureQuota returns the quotas of one demand, one for each scope; none if nothing is needed.
func (c *Client) measureQuota(ctx context.Context, region string, d demand, clusters map[string]string, clustersErr error) []contract.Quota {
	if d.need == 0 {
		return nil
	}
	held, err := d.usage(ctx, region)
	denied := isForbidden(err) || isForbidden(clustersErr)
	if err != nil || clustersErr != nil {
		err = fmt.Errorf("the usage could not be counted: %w", errors.Join(err, clustersErr))
	}
	scopes := d.scopes
	if len(scopes) == 0 {
		scopes = []string{""}
	}
	var out []contract.Quota
	for i, scope := range scopes {
		l := c.limits[d.code]
		q := contract.Quota{Service: "vpc", Code: d.code, Scope: scope, Name: l.name, Limit: l.value, Need: d.need, Lasting: d.lasting, UsedBy: map[string]int{}, UsedIn: map[string]int{}}
		if i == 0 {
			q.Need += d.extra
		}
		if err != nil {
			q.Unknown, q.Denied = err.Error(), denied
		}
		for _, h := range held {
			if h.scope != scope && len(d.scopes) > 0 {
				continue
			}
			q.Used += h.amount
			switch cluster := clusters[h.crn]; {
			case cluster != "":
				q.UsedBy[cluster] += h.amount
			case h.group != "":
				q.UsedIn[h.group] += h.amount
			}
		}
		out = append(out, q)
	}
	return out
}

// countKind counts the objects of a kind, each once.
func (c *Client) countKind(k kind) func(context.Context, string) ([]holding, error) {
	return func(ctx context.Context, region string) ([]holding, error) {
		all, err := c.objectsIn(ctx, region, k)
		held := make([]holding, 0, len(all))
		for _, obj := range all {
			held = append(held, holding{crn: obj.CRN, group: obj.Group.Name, scope: obj.Zone.Name, amount: 1})
		}
		return held, err
	}
}

// machinesHeld sums up what instances have, stopped ones too: their limit is for all that exist.
func (c *Client) machinesHeld(of func(profile) int) func(context.Context, string) ([]holding, error) {
	return func(ctx context.Context, region string) ([]holding, error) {
		types, err := c.listProfiles(ctx, region)
		if err != nil {
			return nil, err
		}
		all, err := c.objectsIn(ctx, region, instances)
		if err != nil {
			return nil, err
		}
		held := make([]holding, 0, len(all))
		for _, i := range all {
			n := of(types[i.Profile.Name])
			if n == 0 {
				return nil, fmt.Errorf("IBM Cloud does not say how large %s is, the type of instance %s", i.Profile.Name, i.Name)
			}
			held = append(held, holding{crn: i.CRN, group: i.Group.Name, amount: n})
		}
		return held, nil
	}
}

// findClusters finds the cluster of every tagged resource of the VPC service, by CRN. The search index is behind by some minutes, which only
// makes a share smaller than it is.
func (c *Client) findClusters(ctx context.Context) (map[string]string, error) {
	items, err := c.searchIndex(ctx, "family:is")
	byCRN := map[string]string{}
	for _, item := range items {
		for _, tag := range item.Tags {
			if id, ours := strings.CutPrefix(strings.ToLower(tag), strings.ToLower(tagkey.ClusterID)+":"); ours {
				byCRN[item.CRN] = clusterID(id)
			}
		}
	}
	return byCRN, err
}

// hit is a resource as the search index has it.
type hit struct {
	CRN  string   `json:"crn"`
	Tags []string `json:"tags"`
}

// searchIndex searches the index of the whole account.
func (c *Client) searchIndex(ctx context.Context, query string) ([]hit, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return readAll[hit](list{
		what: "tagged resources", array: "items",
		get: func(cursor string) (any, *core.DetailedResponse, error) {
			options := &globalsearchv2.SearchOptions{Limit: core.Int64Ptr(searchPage)}
			if cursor == "" {
				options.Query, options.Fields = &query, []string{"crn", "tags"}
			} else {
				options.SearchCursor = &cursor // with anything beside it, it is ignored
			}
			return c.search.SearchWithContext(ctx, options)
		},
		next: func(page any, _ string, items int) (string, error) {
			result := page.(*globalsearchv2.ScanResult)
			if int64(items) < max(zeroOrValue(result.Limit), 1) {
				return "", nil
			}
			return zeroOrValue(result.SearchCursor), nil
		},
	})
}

// clusterID returns an id as ocpctl writes it, from a tag, which is in lower case: the part after the prefix is a ULID in capitals.
func clusterID(tag string) string {
	prefix, rest, _ := strings.Cut(tag, "_")
	if len(rest) != ulid.EncodedSize {
		return tag
	}
	return prefix + "_" + strings.ToUpper(rest)
}
