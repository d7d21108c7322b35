package ibmcloud

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
)

// Plant adds a resource to the world as it is given. Service and Type are required; a missing id, account, region (the first one),
// resource group (the account's default), state and creation time are filled in.
func (s *Server) Plant(r Resource) (Resource, error) {
	if r.Service == "" || r.Type == "" {
		return Resource{}, fmt.Errorf("plant a resource: it needs a service and a type, as its CRN has them")
	}
	for i := range r.Tags {
		r.Tags[i] = strings.ToLower(r.Tags[i])
	}
	var out Resource
	err := s.change(func(w *world) {
		r.Account = cmp.Or(r.Account, w.Account)
		if k := s.kindOf(r.Type); r.Service == "is" && k != nil {
			r.Region = cmp.Or(r.Region, s.cfg.Regions[0])
			zone := ""
			if k.zonal {
				r.Zone = cmp.Or(r.Zone, r.Region+"-1")
				zone = r.Zone
			}
			r.ID = cmp.Or(r.ID, newVPCID(r.Region, zone))
			r.State = cmp.Or(r.State, k.ready)
		}
		if r.Service == "is" || r.Type == "instance" {
			r.Group = cmp.Or(r.Group, w.defaultGroup(r.Account))
			r.State = cmp.Or(r.State, "active")
		}
		if r.Service == identity && r.Type == "serviceid" {
			r.ID = cmp.Or(r.ID, "ServiceId-"+newUUID())
		}
		r.ID = cmp.Or(r.ID, newUUID())
		for _, tag := range r.Tags {
			w.tagged(r.Account, tag)
		}
		out = w.Add(&r).clone()
	})
	return out, err
}

// Retag attaches a user tag to everything for which it is true, as whoever may tag does.
func (s *Server) Retag(is func(Resource) bool, tag string) error {
	tag = strings.ToLower(tag)
	return s.change(func(w *world) {
		for _, r := range w.Every(func(r *Resource) bool { return is(*r) && !contains(r.Tags, tag) }) {
			r.Tags = append(r.Tags, tag)
			w.tagged(r.Account, tag)
		}
	})
}

// Note keeps a value with a resource for the stand-ins of what runs on it; an empty one removes it. IBM Cloud does not show it.
func (s *Server) Note(id, key, value string) error {
	return s.change(func(w *world) {
		r := w.First(func(r *Resource) bool { return r.ID == id })
		if r == nil {
			return
		}
		if r.Attrs[noted+key] = value; value == "" {
			delete(r.Attrs, noted+key)
		}
	})
}

const noted = "note/"

func (s *Server) change(do func(*world)) error { return s.Change(func() { do(s.world) }) }

// protections are the ways in which IBM Cloud refuses to delete one resource.
var protections = map[string]func(*call, *Resource) error{
	"permission": func(c *call, _ *Resource) error { return c.denied() },
	"broken": func(*call, *Resource) error {
		return refuse(http.StatusInternalServerError, "internal_error", "An internal error occurred. Try again later.")
	},
	"in-use": func(_ *call, r *Resource) error {
		return refuse(http.StatusConflict, r.Type+"_in_use", "The %s %s is in use and cannot be deleted.", r.Type, r.Name)
	},
	"locked": func(_ *call, r *Resource) error {
		return refuse(http.StatusConflict, "BXNIM0125E", "The %s %s is locked.", r.Type, r.ID)
	},
	"retention": func(_ *call, r *Resource) error {
		return refuse(http.StatusForbidden, "AccessDenied", "The object of %s cannot be deleted before its retention period ends.", r.Name)
	},
}

// protected refuses to delete a resource that a test protects.
func (c *call) protected(r *Resource) error {
	how := c.ProtectionOf(r)
	if how == "" {
		return nil
	}
	return protections[how](c, r)
}
