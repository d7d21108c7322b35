package ibmcloud

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ocpctl/ocpctl/internal/devstack/file"
)

// load reads the state file, or creates a new world.
func (s *Server) load() error {
	w := &world{Account: s.cfg.Account, Pinned: map[string]bool{}, Limits: map[string]int{}}
	w.settle, w.now = s.cfg.Settle, s.cfg.Now
	s.world = w
	if s.cfg.StatePath == "" {
		s.furnish()
		return nil
	}
	raw, err := os.ReadFile(s.cfg.StatePath)
	if errors.Is(err, fs.ErrNotExist) {
		s.furnish()
		return s.save()
	}
	if err == nil {
		err = json.Unmarshal(raw, w)
	}
	if err != nil {
		return fmt.Errorf("read the ibm cloud stand-in's state %s: %w", s.cfg.StatePath, err)
	}
	return nil
}

// save writes the whole world. The server's mutex is held.
func (s *Server) save() error {
	if s.cfg.StatePath == "" {
		return nil
	}
	raw, err := json.Marshal(s.world)
	if err == nil {
		err = file.Replace(s.cfg.StatePath, raw)
	}
	if err != nil {
		return fmt.Errorf("write the ibm cloud stand-in's state: %w", err)
	}
	return nil
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
