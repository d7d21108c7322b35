package ibmcloud

import (
	"net/http"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

func newBalancer(c *call, in input, r *Resource) (err error) {
	defer must.Catch(&err)
	subnets := in.ids("subnets")
	must.EndIf(len(subnets) == 0, refuse(http.StatusBadRequest, "missing_field", "A load balancer needs subnets."))
	for _, id := range subnets {
		subnet := must.Get(c.find("subnet", id))
		r.VPC = subnet.VPC
	}
	r.Uses, r.Values["subnets"], r.Values["security_groups"] = subnets, subnets, in.ids("security_groups")
	r.Attrs["is_public"] = in.at("is_public")
	r.Attrs["hostname"] = strings.ToLower(hexes(8)+"-"+c.region) + ".lb.appdomain.cloud"
	r.Attrs["profile"] = in.at("profile", "name")
	if r.Attrs["profile"] == "" {
		r.Attrs["profile"] = "dynamic"
	}
	return c.room("load-balancers", c.within("load-balancer", anything), 1)
}

func viewBalancer(c *call, r *Resource, out object) {
	delete(out, "vpc")
	out["hostname"], out["is_public"], out["operating_status"] = r.Attrs["hostname"], r.Attrs["is_public"] == "true", "offline"
	if r.State == "active" {
		out["operating_status"] = "online"
	}
	out["profile"] = object{"name": r.Attrs["profile"], "family": r.family(), "href": c.server.URL("vpc", c.region) + "/load_balancer/profiles/" + r.Attrs["profile"]}
	out["subnets"], out["security_groups"] = c.refs(r.Values["subnets"]), c.refs(r.Values["security_groups"])
	out["pools"], out["listeners"], out["public_ips"], out["private_ips"] = []object{}, []object{}, []object{}, []object{}
}

// family is a load balancer's kind.
func (r *Resource) family() string {
	if strings.HasPrefix(r.Attrs["profile"], "network") {
		return "network"
	}
	return "application"
}

func keepBalancer(_ *call, r *Resource) error {
	if strings.HasSuffix(r.State, "_pending") {
		return refuse(http.StatusConflict, "load_balancer_update_conflict", "The load balancer with ID '%s' cannot be updated because its status is '%s'.", r.ID, strings.ToUpper(r.State))
	}
	return nil
}
