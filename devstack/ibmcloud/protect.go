package ibmcloud

import "net/http"

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
