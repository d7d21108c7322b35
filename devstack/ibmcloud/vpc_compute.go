package ibmcloud

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// profile is a size of machines, by its name: bx2-4x16.
type profile struct {
	name         string
	vcpu, memory int
}

// profiles are the sizes that can be requested: three families, each with its ratio of memory to processors.
func profiles() (out []profile) {
	for _, f := range []struct {
		family string
		ratio  int
	}{{"bx2", 4}, {"cx2", 2}, {"mx2", 8}, {"bx3d", 5}} {
		for _, n := range []int{2, 4, 8, 16, 32, 48} {
			out = append(out, profile{fmt.Sprintf("%s-%dx%d", f.family, n, n*f.ratio), n, n * f.ratio})
		}
	}
	return out
}

func profileOf(name string) (profile, bool) {
	all := profiles()
	i := slices.IndexFunc(all, func(p profile) bool { return p.name == name })
	if i < 0 {
		return profile{name: name}, false
	}
	return all[i], true
}

func newInstance(c *call, in input, r *Resource) (err error) {
	defer must.Catch(&err)
	p, known := profileOf(in.at("profile", "name"))
	if !known {
		return refuse(http.StatusBadRequest, "invalid_profile", "There is no instance profile %q.", in.at("profile", "name"))
	}
	subnet := must.Get(c.needs(in, "subnet", "primary_network_interface", "subnet", "id"))
	if r.Zone == "" {
		r.Zone = subnet.Zone
	}
	r.VPC, r.Uses = subnet.VPC, []string{subnet.ID, subnet.VPC}
	r.Attrs["profile"], r.Attrs["image"], r.Attrs["nic"] = p.name, in.at("image", "id"), newVPCID(c.region, r.Zone)
	r.Attrs["ip"] = fmt.Sprintf("10.240.%d.%d", c.LastSeq/250%250, 4+c.LastSeq%250)
	r.Values["security_groups"] = in.ids("primary_network_interface", "security_groups")
	must.Do(c.room("volumes", c.within("volume", anything), 1))
	used := 0
	c.within("instance", func(o *Resource) bool {
		p, _ := profileOf(o.Attrs["profile"])
		used += p.vcpu
		return false
	})
	return c.room("vcpu", used, p.vcpu)
}

// diskInstance gives a machine its first disk, which goes with it unless the request says otherwise.
func diskInstance(c *call, in input, r *Resource) error {
	v := Resource{
		Account: r.Account, Service: "is", Type: "volume", ID: newVPCID(c.region, ""), Name: in.at("boot_volume_attachment", "volume", "name"), Group: r.Group, Region: r.Region, Zone: r.Zone,
		State: "available", Attrs: map[string]string{"attached": r.ID, "boot": "true", "profile": "general-purpose", "capacity": in.at("boot_volume_attachment", "volume", "capacity")},
	}
	if v.Name == "" {
		v.Name = newName()
	}
	if v.Attrs["capacity"] == "" {
		v.Attrs["capacity"] = "100"
	}
	if in.at("boot_volume_attachment", "delete_volume_on_instance_delete") != "false" {
		v.Parent = r.ID
	}
	r.Attrs["boot_volume"] = c.Add(&v).ID
	return nil
}

func viewInstance(c *call, r *Resource, out object) {
	p, _ := profileOf(r.Attrs["profile"])
	out["profile"] = object{"name": p.name, "href": c.server.URL("vpc", c.region) + "/instance/profiles/" + p.name, "resource_type": "instance_profile"}
	out["vcpu"], out["memory"] = object{"count": p.vcpu, "architecture": "amd64", "manufacturer": "intel"}, p.memory
	out["lifecycle_state"], out["status_reasons"], out["bandwidth"], out["startable"] = "stable", []object{}, 4000, true
	if r.Attrs["cannot-start"] != "" && r.State == "stopped" {
		out["status_reasons"] = []object{{"code": "cannot_start_capacity", "message": r.Attrs["cannot-start"]}}
	}
	if refs := c.refs([]string{r.Attrs["image"]}); len(refs) > 0 {
		out["image"] = refs[0]
	}
	nic := object{"id": r.Attrs["nic"], "name": "eth0", "primary_ip": object{"address": r.Attrs["ip"]}, "resource_type": "network_interface"}
	if subnets := c.refs(r.Uses); len(subnets) > 0 {
		nic["subnet"] = subnets[0]
	}
	out["primary_network_interface"], out["network_interfaces"] = nic, []object{nic}
	attachments := []object{}
	for _, v := range c.all(func(o *Resource) bool { return o.Type == "volume" && o.Attrs["attached"] == r.ID }) {
		one := object{"id": v.ID + "-attachment", "name": "attachment", "volume": c.ref(v)}
		attachments = append(attachments, one)
		if v.Attrs["boot"] == "true" {
			out["boot_volume_attachment"] = one
		}
	}
	out["volume_attachments"] = attachments
}

func actOnInstance(c *call) (any, error) {
	must.Do(c.versioned())
	r := must.Get(c.find("instance", c.path("id")))
	var in struct {
		Type  string `json:"type"`
		Force bool   `json:"force"`
	}
	must.Do(c.decode(&in))
	steps := map[string]struct{ from, through, to string }{
		"stop": {"running", "stopping", "stopped"}, "start": {"stopped", "starting", "running"}, "reboot": {"running", "restarting", "running"},
	}
	step, known := steps[in.Type]
	must.EndIf(!known,
		refuse(http.StatusBadRequest, "invalid_action", "An instance can be started, stopped and rebooted; %q is none of these.", in.Type))
	must.EndIf(r.State != step.to && r.State != step.from || in.Type == "reboot" && r.State != step.from,
		refuse(http.StatusConflict, "instance_action_conflict", "The action %s is not possible while the instance is %s.", in.Type, r.State))
	delete(r.Attrs, "cannot-start")
	switch {
	case r.State != step.from:
	case in.Type == "start" && c.full:
		r.Attrs["cannot-start"] = fmt.Sprintf("The instance cannot be started because zone %s has no capacity for profile %s.", r.Zone, r.Attrs["profile"])
	default:
		c.Move(r, step.through, step.to)
		if in.Type == "start" {
			r.Attrs["started"] = stamp(c.Now()) // for the stand-in of its cluster, whose nodes need new certificates now
		}
	}
	c.status = http.StatusCreated
	return object{"id": newUUID(), "type": in.Type, "force": in.Force, "status": "pending", "created_at": stamp(c.Now()), "href": c.server.URL("vpc", c.region) + "/instances/" + r.ID + "/actions"}, nil
}

func newVolume(c *call, in input, r *Resource) error {
	r.Attrs["capacity"], r.Attrs["profile"] = in.at("capacity"), in.at("profile", "name")
	if r.Zone == "" || r.Attrs["profile"] == "" {
		return refuse(http.StatusBadRequest, "missing_field", "A volume needs a zone and a profile.")
	}
	tags, _ := in["user_tags"].([]any)
	for _, tag := range tags {
		r.Tags = append(r.Tags, strings.ToLower(fmt.Sprint(tag)))
		c.tagged(r.Account, strings.ToLower(fmt.Sprint(tag)))
	}
	return c.room("volumes", c.within("volume", anything), 1)
}

func viewVolume(c *call, r *Resource, out object) {
	capacity, err := strconv.Atoi(r.Attrs["capacity"])
	if err != nil {
		capacity = 10 // a planted volume without one
	}
	out["capacity"], out["iops"], out["encryption"], out["bandwidth"] = capacity, 3000, "provider_managed", 393
	out["profile"] = object{"name": r.Attrs["profile"]}
	out["user_tags"] = append([]string{}, r.Tags...)
	out["attachment_state"], out["volume_attachments"] = "unattached", []object{}
	if of := c.attachedTo(r); of != nil {
		out["attachment_state"], out["volume_attachments"] = "attached", []object{{"id": r.ID + "-attachment", "instance": c.ref(of)}}
	}
}

func (c *call) attachedTo(volume *Resource) *Resource {
	return c.First(func(o *Resource) bool { return o.Type == "instance" && o.ID == volume.Attrs["attached"] })
}

func keepVolume(c *call, r *Resource) error {
	if of := c.attachedTo(r); of != nil {
		return refuse(http.StatusConflict, "volume_in_use", "The volume is attached to the instance %s and cannot be deleted.", of.ID)
	}
	return nil
}

func newSnapshot(c *call, in input, r *Resource) error {
	volume, err := c.needs(in, "volume", "source_volume", "id")
	if err == nil {
		r.Attrs["source"] = volume.ID
	}
	return err
}

func viewSnapshot(c *call, r *Resource, out object) {
	out["user_tags"] = append([]string{}, r.Tags...)
	out["source_volume"] = object{"id": r.Attrs["source"]}
}
