package ibmcloud

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// input is the body of a request that creates something.
type input map[string]any

// at returns a text inside nested objects; a number as text.
func (in input) at(path ...string) string {
	var v any = map[string]any(in)
	for _, p := range path {
		o, ok := v.(map[string]any)
		if !ok {
			return ""
		}
		v = o[p]
	}
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

// ids returns the ids of a list of references.
func (in input) ids(path ...string) (out []string) {
	var v any = map[string]any(in)
	for _, p := range path {
		o, _ := v.(map[string]any)
		v = o[p]
	}
	list, _ := v.([]any)
	for _, item := range list {
		o, _ := item.(map[string]any)
		if id := input(o).at("id"); id != "" {
			out = append(out, id)
		}
	}
	return out
}

// post creates a resource in the requested resource group, or the account's default.
func (k *kind) post(c *call) (any, error) {
	must.Do(c.versioned())
	in := input{}
	d := json.NewDecoder(strings.NewReader(string(c.body)))
	d.UseNumber()
	if err := d.Decode(&in); err != nil {
		return nil, refuse(http.StatusBadRequest, "bad_request", "The request body is not valid JSON: %s", err)
	}
	group, err := c.group(in.at("resource_group", "id"))
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "invalid_resource_group", "The resource group %s cannot be found.", in.at("resource_group", "id"))
	}
	r := Resource{
		Account: c.who.account, Service: "is", Type: k.typ, Name: in.at("name"), Group: group.ID, Region: c.region, State: k.ready,
		Attrs: map[string]string{}, Values: map[string][]string{},
	}
	if r.Name == "" {
		r.Name = newName()
	}
	if c.within(k.typ, func(o *Resource) bool { return o.Name == r.Name }) > 0 && k.typ != "security-group" {
		out := refuse(http.StatusBadRequest, "provided_name_not_unique", "Provided Name (%s) is not unique", r.Name)
		out.target = "name"
		return nil, out
	}
	if k.zonal {
		if r.Zone = in.at("zone", "name"); r.Zone != "" && !strings.HasPrefix(r.Zone, c.region+"-") {
			return nil, refuse(http.StatusBadRequest, "invalid_zone", "There is no zone %s in %s.", r.Zone, c.region)
		}
	}
	must.Do(k.create(c, in, &r))
	if k.typ == "subnet" || k.typ == "instance" {
		r.ID = newVPCID(c.region, r.Zone)
	} else {
		r.ID = newVPCID(c.region, "")
	}
	made := c.Add(&r)
	if k.begins != "" {
		c.Move(made, k.begins, k.ready)
	}
	if k.created != nil {
		must.Do(k.created(c, in, made))
	}
	c.status = http.StatusCreated
	return k.show(c, made), nil
}

// needs finds what a new resource refers to by id, and says what is missing.
func (c *call) needs(in input, typ string, path ...string) (*Resource, error) {
	r, err := c.find(typ, in.at(path...))
	if err != nil {
		out := refuse(http.StatusBadRequest, "invalid_reference", "%s: the %s %q cannot be found.", strings.Join(path, "."), typ, in.at(path...))
		out.target = strings.Join(path, ".")
		return nil, out
	}
	return r, nil
}

func newInVPC(c *call, in input, r *Resource) error {
	vpc, err := c.needs(in, "vpc", "vpc", "id")
	if err != nil {
		return err
	}
	r.VPC, r.Uses = vpc.ID, []string{vpc.ID}
	return nil
}

func newVPC(c *call, _ input, _ *Resource) error {
	return c.room("vpcs", c.within("vpc", anything), 1)
}

// furnishVPC adds what comes with a VPC and goes with it.
func furnishVPC(c *call, _ input, r *Resource) error {
	for _, typ := range []string{"security-group", "network-acl", "routing-table"} {
		o := c.Add(&Resource{
			Account: r.Account, Service: "is", Type: typ, ID: newVPCID(c.region, ""), Name: newName(), Group: r.Group, Region: r.Region, VPC: r.ID, Parent: r.ID,
			State: "available", Attrs: map[string]string{"default": "true"},
		})
		r.Attrs["default_"+strings.ReplaceAll(typ, "-", "_")] = o.ID
	}
	return nil
}

func viewVPC(c *call, r *Resource, out object) {
	out["classic_access"], out["health_state"], out["health_reasons"] = false, "ok", []object{}
	for _, field := range []string{"default_security_group", "default_network_acl", "default_routing_table"} {
		if refs := c.refs([]string{r.Attrs[field]}); len(refs) > 0 {
			out[field] = refs[0]
		}
	}
}

func newSubnet(c *call, in input, r *Resource) (err error) {
	defer must.Catch(&err)
	must.Do(newInVPC(c, in, r))
	must.Do(c.room("subnets", c.within("subnet", func(o *Resource) bool { return o.VPC == r.VPC }), 1))
	n := c.within("subnet", func(o *Resource) bool { return o.VPC == r.VPC })
	r.Attrs["cidr"] = in.at("ipv4_cidr_block")
	if r.Attrs["cidr"] == "" {
		r.Attrs["cidr"] = fmt.Sprintf("10.%d.%d.0/24", 240+n/250, n%250)
	}
	if r.Zone == "" {
		r.Zone = c.region + "-1"
	}
	if in.at("public_gateway", "id") != "" {
		gateway := must.Get(c.needs(in, "public-gateway", "public_gateway", "id"))
		r.Attrs["gateway"] = gateway.ID
		r.Uses = append(r.Uses, gateway.ID)
	}
	return nil
}

func viewSubnet(c *call, r *Resource, out object) {
	out["ipv4_cidr_block"], out["ip_version"], out["total_ipv4_address_count"], out["available_ipv4_address_count"] = r.Attrs["cidr"], "ipv4", 256, 251
	if refs := c.refs([]string{r.Attrs["gateway"]}); len(refs) > 0 {
		out["public_gateway"] = refs[0]
	}
	if of := c.First(func(o *Resource) bool { return o.ID == r.VPC }); of != nil {
		if refs := c.refs([]string{of.Attrs["default_network_acl"]}); len(refs) > 0 {
			out["network_acl"] = refs[0]
		}
	}
}

func newGateway(c *call, in input, r *Resource) (err error) {
	defer must.Catch(&err)
	must.Do(newInVPC(c, in, r))
	must.EndIf(r.Zone == "", refuse(http.StatusBadRequest, "missing_field", "A public gateway needs a zone."))
	must.EndIf(c.within("public-gateway", func(o *Resource) bool { return o.VPC == r.VPC && o.Zone == r.Zone }) > 0,
		refuse(http.StatusConflict, "public_gateway_zone_conflict", "The VPC already has a public gateway in zone %s.", r.Zone))
	if in.at("floating_ip", "id") != "" {
		return nil
	}
	return c.room("floating-ips", c.addresses(r.Zone), 1)
}

// addressGateway gives a gateway its address: the requested one, or a new one with an invented name that goes with the gateway.
func addressGateway(c *call, in input, r *Resource) error {
	if id := in.at("floating_ip", "id"); id != "" {
		address, err := c.needs(in, "floating-ip", "floating_ip", "id")
		if err != nil {
			return err
		}
		address.Attrs["target"] = r.ID
		return nil
	}
	c.Add(&Resource{
		Account: r.Account, Service: "is", Type: "floating-ip", ID: newVPCID(c.region, ""), Name: newName(), Group: r.Group, Region: r.Region, Zone: r.Zone,
		Parent: r.ID, State: "available", Attrs: map[string]string{"address": c.address(), "target": r.ID},
	})
	return nil
}

func viewGateway(c *call, r *Resource, out object) {
	address := c.First(func(o *Resource) bool { return o.Type == "floating-ip" && o.Attrs["target"] == r.ID })
	if address != nil {
		ref := c.ref(address)
		ref["address"] = address.Attrs["address"]
		out["floating_ip"] = ref
	}
}

func (c *call) addresses(zone string) int {
	return c.within("floating-ip", func(o *Resource) bool { return o.Zone == zone })
}

// address is the next public address; they are from a block that is reserved for documentation, and repeat.
func (c *call) address() string { return fmt.Sprintf("203.0.113.%d", 1+c.LastSeq%254) }

func newAddress(c *call, in input, r *Resource) error {
	if target := in.at("target", "id"); target != "" {
		r.Attrs["target"] = target
		if of := c.First(func(o *Resource) bool { return o.ID == target || o.Attrs["nic"] == target }); of != nil {
			r.Zone = of.Zone
		}
	}
	if r.Zone == "" {
		return refuse(http.StatusBadRequest, "missing_field", "A floating IP needs a zone or a target that exists.")
	}
	r.Attrs["address"] = c.address()
	return c.room("floating-ips", c.addresses(r.Zone), 1)
}

func viewAddress(c *call, r *Resource, out object) {
	out["address"] = r.Attrs["address"]
	of := c.First(func(o *Resource) bool {
		return r.Attrs["target"] != "" && (o.ID == r.Attrs["target"] || o.Attrs["nic"] == r.Attrs["target"])
	})
	if of == nil {
		return
	}
	ref := c.ref(of)
	if of.Type == "instance" {
		ref["id"], ref["resource_type"] = of.Attrs["nic"], "network_interface"
	}
	out["target"] = ref
}

// keepAddress refuses to release the address of a public gateway.
func keepAddress(c *call, r *Resource) error {
	if of := c.First(func(o *Resource) bool { return o.Type == "public-gateway" && o.ID == r.Attrs["target"] }); of != nil {
		return refuse(http.StatusConflict, "floating_ip_in_use", "The floating IP is in use by the public gateway %s and cannot be released.", of.ID)
	}
	return nil
}
