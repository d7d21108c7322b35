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

// protections are the ways in which AWS refuses to delete one resource, with its own words.
var protections = map[string]func(*call, *Resource) *Fault{
	"termination": func(_ *call, r *Resource) *Fault {
		return fault("OperationNotPermitted", "The instance '%s' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.", r.ID)
	},
	"deletion": func(_ *call, r *Resource) *Fault {
		return fault("OperationNotPermitted", "Load balancer '%s' cannot be deleted because deletion protection is enabled", r.ID)
	},
	"backup": func(_ *call, r *Resource) *Fault {
		if r.Type == "image" {
			return fault("AuthFailure", "This image is managed by AWS Backup and cannot be deleted via EC2 APIs. To delete this image, please use the AWS Backup APIs, CLI, or console.")
		}
		return fault("InvalidParameterValue", "This snapshot is managed by the AWS Backup service and cannot be deleted via EC2 APIs. If you wish to delete this snapshot, please do so via the Backup console.")
	},
	"scp":             denial("with an explicit deny in a service control policy"),
	"boundary":        denial("with an explicit deny in a permissions boundary"),
	"resource-policy": denial("with an explicit deny in a resource-based policy"),
	"permission":      denial("because no identity-based policy allows the action"),
	"broken":          func(*call, *Resource) *Fault { return fault("InternalError", "An internal error has occurred") },
}

func denial(why string) func(*call, *Resource) *Fault {
	return func(c *call, r *Resource) *Fault {
		return c.denied(fmt.Sprintf("User: %s is not authorized to perform: %s:%s on resource: %s %s", c.who.arn, c.service, c.action, r.ARN(), why))
	}
}

// protected refuses to delete a resource that a test protects.
func (c *call) protected(r *Resource) error {
	how := c.ProtectionOf(r)
	if how == "" {
		return nil
	}
	return protections[how](c, r)
}
