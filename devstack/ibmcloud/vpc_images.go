package ibmcloud

import (
	"net/http"
	"slices"
	"strings"
)

// newImage imports a file of Object Storage: cos://us-east/bucket/object, which VPC may read only by an authorization.
func newImage(c *call, in input, r *Resource) error {
	href := in.at("file", "href")
	path := strings.SplitN(strings.TrimPrefix(href, "cos://"), "/", 3)
	if !strings.HasPrefix(href, "cos://") || len(path) != 3 {
		return refuse(http.StatusBadRequest, "image_file_invalid", "file.href must be cos://region/bucket/object, not %q.", href)
	}
	bucket := c.First(func(o *Resource) bool { return o.Type == "bucket" && o.Name == path[1] && o.Account == c.who.account })
	if bucket == nil || c.First(func(o *Resource) bool { return o.Type == "object" && o.Parent == bucket.ID && o.Name == path[2] }) == nil {
		return refuse(http.StatusBadRequest, "image_file_not_found", "The file %s cannot be found.", href)
	}
	allowed := c.First(func(o *Resource) bool {
		p := policyOf(o)
		return o.Type == "policy" && o.Account == c.who.account && p.Type == "authorization" && has(p.Subject, "serviceName", "is") && has(p.Resource, "serviceInstance", bucket.Parent)
	})
	if allowed == nil {
		return refuse(http.StatusBadRequest, "image_file_unauthorized", "VPC is not authorized to read the Object Storage instance of the file %s.", href)
	}
	r.Attrs["visibility"], r.Attrs["file"], r.Attrs["os"] = "private", href, in.at("operating_system", "name")
	return nil
}

func has(all []attribute, key, value string) bool {
	return slices.ContainsFunc(all, func(a attribute) bool { return a.Key == key && a.Value == value })
}

func viewImage(_ *call, r *Resource, out object) {
	out["visibility"], out["file"], out["minimum_provisioned_size"], out["encryption"] = "private", object{"size": 1}, 10, "none"
	if r.Attrs["visibility"] != "" {
		out["visibility"] = r.Attrs["visibility"]
	}
	name := r.Attrs["os"]
	if name == "" {
		name = "red-9-amd64"
	}
	out["operating_system"] = object{"name": name, "architecture": "amd64", "family": "Red Hat Enterprise Linux", "vendor": "Red Hat", "version": "9", "display_name": name, "dedicated_host_only": false, "href": "https://cloud.ibm.com/operating_systems/" + name}
}

// keepImage refuses a deletion while the import runs.
func keepImage(_ *call, r *Resource) error {
	if r.State == "pending" {
		return refuse(http.StatusConflict, "image_in_use", "The image is being imported and cannot be deleted.")
	}
	return nil
}

func newKey(c *call, in input, r *Resource) error {
	r.Attrs["public_key"] = in.at("public_key")
	if r.Attrs["public_key"] == "" {
		return refuse(http.StatusBadRequest, "missing_field", "A key needs public_key.")
	}
	return c.room("keys", c.within("key", anything), 1)
}

func viewKey(_ *call, r *Resource, out object) {
	out["public_key"], out["fingerprint"], out["length"], out["type"] = r.Attrs["public_key"], "SHA256:"+r.ID, 4096, "rsa"
}

func viewHost(c *call, r *Resource, out object) {
	out["instance_placement_enabled"], out["state"], out["instances"] = true, "available", []object{}
	if groups := c.refs(r.Uses); len(groups) > 0 {
		out["group"] = groups[0]
	}
}
