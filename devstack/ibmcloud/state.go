package ibmcloud

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/ocpctl/ocpctl/devstack/meter"
	"github.com/ocpctl/ocpctl/devstack/statefile"
)

// meta is everything of a world that is no resource and was not used.
type meta struct {
	Account   string            `json:"account"`
	Pinned    map[string]bool   `json:"pinned"`
	Protected map[string]string `json:"protected,omitempty"`
	Limits    map[string]int    `json:"limits"`
}

func (w *world) meta() meta { return meta{w.Account, w.Pinned, w.Protected, w.Limits} }

// load reads the state file, or creates a new world.
func (s *Server) load() error {
	w := &world{Account: s.cfg.Account, Pinned: map[string]bool{}, Protected: map[string]string{}, Limits: map[string]int{}}
	w.settle, w.now = s.cfg.Settle, s.cfg.Now
	all := func() []*Resource { return slices.Concat(w.Resources, w.Dead) }
	w.file = statefile.New(s.cfg.StatePath, &s.mu, func() (any, []*Resource) { return w, all() })
	s.world = w
	records, found, err := w.file.Read(w, all, w.other)
	if err != nil {
		return fmt.Errorf("start the ibm cloud stand-in: %w", err)
	}
	if !found {
		s.furnish()
		s.admit()
		return w.file.Save(true)
	}
	w.Resources, w.Dead = nil, nil
	for _, r := range records {
		r.prepare()
		w.LastSeq = max(w.LastSeq, r.Seq)
		if r.Alive() {
			w.Resources = append(w.Resources, r)
		} else {
			w.Dead = append(w.Dead, r)
		}
	}
	slices.SortStableFunc(w.Dead, func(a, b *Resource) int { return a.Gone.Compare(b.Gone) })
	s.admit()
	return w.file.Save(true) // an incomplete last line is removed before new lines are added
}

// other reads a change that is no resource.
func (w *world) other(rest, used json.RawMessage) error {
	if used != nil {
		var u meter.Used
		err := json.Unmarshal(used, &u)
		w.Meter.Add(u)
		return err
	}
	var m meta
	err := json.Unmarshal(rest, &m)
	w.Account, w.Pinned, w.Limits = m.Account, m.Pinned, m.Limits
	w.Protected = map[string]string{}
	maps.Copy(w.Protected, m.Protected)
	return err
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
		if err != nil || s.world.first(func(r *Resource) bool { return r.Type == "policy" && r.Attrs["policy"] == string(raw) }) != nil {
			return // strings always encode
		}
		s.world.add(Resource{Account: account, Service: "iam", Type: "policy", ID: newUUID(), State: "active", Stands: true, Attrs: map[string]string{"policy": string(raw), "type": "access"}})
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
		w.add(Resource{Account: account, Service: manager, Type: "resource-group", ID: hexes(32), Name: "Default", State: "ACTIVE", Stands: true, Attrs: map[string]string{"default": "true"}})
	}
	group := w.first(func(r *Resource) bool { return r.Type == "resource-group" }).ID
	cis := w.add(Resource{Service: "internet-svcs", Type: "instance", ID: newUUID(), Name: "internet-services", Group: group, State: "active", Stands: true})
	w.add(Resource{Service: "internet-svcs", Type: "zone", ID: hexes(32), Name: s.cfg.Zone, Parent: cis.ID, State: "active", Stands: true})
	dns := w.add(Resource{Service: "dns-svcs", Type: "instance", ID: newUUID(), Name: "dns-services", Group: group, State: "active", Stands: true})
	w.add(Resource{Service: "dns-svcs", Type: "zone", ID: newUUID(), Name: s.cfg.PrivateDNS, Parent: dns.ID, Stands: true})
	for _, region := range s.cfg.Regions {
		for i := range 60 {
			w.add(Resource{
				Account: "811f8abfbd32425597dc7ba40da98fa6", Service: "is", Type: "image", ID: newVPCID(region, ""), Name: fmt.Sprintf("ibm-redhat-9-%d-minimal-amd64-%d", i/10, 1+i%10),
				Region: region, State: "available", Stands: true, Attrs: map[string]string{"visibility": "public"},
			})
		}
	}
}
