package ibmcloud

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ocpctl/ocpctl/devstack/standin"
)

// load reads the state file, or creates a new world.
func (s *Server) load() error {
	w := &world{}
	w.Settle, w.Now, w.ClusterOf = s.cfg.Settle, s.cfg.Now, w.clusterOf
	w.Tombstone = func(*Resource) time.Duration { return w.Lag.Delete }
	s.world, s.Control = w, &standin.Control[[]string, *Resource, Resource]{
		World: &w.World, Mutex: &s.mu, Copy: (*Resource).clone, Ways: slices.Sorted(maps.Keys(protections)),
		Lags: []string{"groups", "create", "delete"}, Quotas: RealLimits(), Given: s.cfg.Limits,
	}
	found, err := s.Open(s.cfg.StatePath, s.cfg.Account)
	if err != nil {
		return fmt.Errorf("start the ibm cloud stand-in: %w", err)
	}
	if !found {
		s.furnish()
	}
	s.admit()
	return w.File.Save(true) // an incomplete last line is removed before new lines are added
}

// admit gives everybody who is configured an access policy, unless an earlier start did: for all resource groups, or for the default one.
func (s *Server) admit() {
	grant := func(account, iamID string, groups []string) {
		account = cmp.Or(account, s.world.Account)
		about := []attribute{{"accountId", "stringEquals", account}, {"resourceType", "stringEquals", "resource-group"}}
		if groups != nil {
			about = append(about, attribute{"resource", "stringEquals", s.world.defaultGroup(account)})
		}
		raw, err := json.Marshal(policy{
			Type: "access", Subject: []attribute{{"iam_id", "stringEquals", iamID}}, Resource: about, Roles: []grantedRole{{"crn:v1:bluemix:public:iam::::role:Viewer"}},
		})
		if err != nil || s.world.First(func(r *Resource) bool { return r.Type == "policy" && r.Attrs["policy"] == string(raw) }) != nil {
			return // strings always encode
		}
		s.world.Add(&Resource{Account: account, Service: "iam", Type: "policy", ID: newUUID(), State: "active", Stands: true, Attrs: map[string]string{"policy": string(raw), "type": "access"}})
	}
	for _, c := range s.cfg.Callers {
		who, _ := s.callerOf(c.APIKey)
		grant(who.account, who.iamID, who.groups)
	}
	for _, p := range s.cfg.Profiles {
		grant(p.Account, "iam-"+p.ID, nil)
	}
}

// furnish puts into a new world what accounts in use have: a default resource group each, the zones of the configuration, and IBM's own
// images, which fill the first page of a list of images.
func (s *Server) furnish() {
	w := s.world
	accounts := []string{s.cfg.Account}
	for _, c := range s.cfg.Callers {
		if c.Account != "" && !contains(accounts, c.Account) {
			accounts = append(accounts, c.Account)
		}
	}
	for _, account := range accounts {
		w.Add(&Resource{Account: account, Service: manager, Type: "resource-group", ID: hexes(32), Name: "Default", State: "ACTIVE", Stands: true, Attrs: map[string]string{"default": "true"}})
	}
	group := w.First(func(r *Resource) bool { return r.Type == "resource-group" }).ID
	cis := w.Add(&Resource{Service: "internet-svcs", Type: "instance", ID: newUUID(), Name: "internet-services", Group: group, State: "active", Stands: true})
	w.Add(&Resource{Service: "internet-svcs", Type: "zone", ID: hexes(32), Name: s.cfg.Zone, Parent: cis.ID, State: "active", Stands: true})
	dns := w.Add(&Resource{Service: "dns-svcs", Type: "instance", ID: newUUID(), Name: "dns-services", Group: group, State: "active", Stands: true})
	w.Add(&Resource{Service: "dns-svcs", Type: "zone", ID: newUUID(), Name: s.cfg.PrivateDNS, Parent: dns.ID, Stands: true})
	for _, region := range s.cfg.Regions {
		for i := range 60 {
			w.Add(&Resource{
				Account: "811f8abfbd32425597dc7ba40da98fa6", Service: "is", Type: "image", ID: newVPCID(region, ""), Name: fmt.Sprintf("ibm-redhat-9-%d-minimal-amd64-%d", i/10, 1+i%10),
				Region: region, State: "available", Stands: true, Attrs: map[string]string{"visibility": "public"},
			})
		}
	}
}
