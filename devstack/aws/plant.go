package aws

import (
	"cmp"
	"fmt"
	"strings"
)

// Plant adds a resource to the world as it is given. Service and Type are required; a missing EC2 id, account, region (the first one)
// and creation time are filled in. A resource of any service can be planted with an ARN as its ID, which determines the rest; if it
// has tags, the tagging API lists it until Free.
func (s *Server) Plant(r Resource) (Resource, error) {
	if strings.HasPrefix(r.ID, "arn:") {
		service, region, account, kind := arnParts(r.ID)
		r.Service, r.Type = cmp.Or(r.Service, service), cmp.Or(r.Type, kind)
		r.Region, r.Account = cmp.Or(r.Region, region), cmp.Or(r.Account, account)
	}
	if r.Service == "" || r.Type == "" {
		return Resource{}, fmt.Errorf("plant a resource: it needs a service and a type")
	}
	var out Resource
	err := s.change(func(w *world) {
		if k, ok := kinds[r.Type]; ok && r.Service == "ec2" {
			r.ID = cmp.Or(r.ID, newID(k.prefix))
			r.State = cmp.Or(r.State, k.state)
		}
		if r.Service == "iam" {
			r.ID = cmp.Or(r.ID, r.Type+"/"+r.Name)
			if r.Attrs == nil {
				r.Attrs = map[string]string{"path": "/"}
			}
		}
		if r.Service == "s3" {
			r.ID = cmp.Or(r.ID, "bucket/"+r.Name)
		}
		if r.Service == "ec2" || r.Service == "elasticloadbalancing" || r.Service == "s3" {
			r.Region = cmp.Or(r.Region, s.cfg.Regions[0])
		}
		out = w.Add(&r).clone()
	})
	return out, err
}

// Retag sets a tag of everything for which it is true, as whoever may tag does.
func (s *Server) Retag(is func(Resource) bool, key, value string) error {
	return s.change(func(w *world) {
		for _, r := range w.Every(func(r *Resource) bool { return is(*r) }) {
			r.Tags[key] = value
		}
	})
}

// Note keeps a value with a resource for the stand-ins of what runs on it, as a tag; an empty one removes it.
func (s *Server) Note(id, key, value string) error {
	return s.change(func(w *world) {
		for _, r := range w.Every(func(r *Resource) bool { return r.ID == id }) {
			if r.Tags[key] = value; value == "" {
				delete(r.Tags, key)
			}
		}
	})
}

func (s *Server) change(do func(*world)) error { return s.Change(func() { do(s.world) }) }
