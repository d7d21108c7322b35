package aws

import (
	"cmp"
	"strconv"
)

func runInstances(c *call) ([]node, error) {
	kind, subnetID, groups := c.params.get("InstanceType"), c.params.get("SubnetId"), c.params.list("SecurityGroupId")
	for _, face := range c.params.each("NetworkInterface") {
		subnetID = cmp.Or(subnetID, face.get("SubnetId"))
		groups = append(groups, face.list("SecurityGroupId")...)
	}
	if subnetID == "" {
		return nil, fault("VPCIdNotSpecified", "No default VPC for this user. GroupName is only supported for EC2-Classic and default VPC.")
	}
	sub, err := c.get("subnet", subnetID)
	if err != nil {
		return nil, err
	}
	for _, id := range groups {
		if _, err := c.get("security-group", id); err != nil {
			return nil, err
		}
	}
	if !offered(sub.Attrs["availability-zone"], kind) {
		return nil, fault("Unsupported", "Your requested instance type (%s) is not supported in your requested Availability Zone (%s).", kind, sub.Attrs["availability-zone"])
	}
	profile := c.params.get("IamInstanceProfile.Name")
	if profile != "" && c.named("instance-profile", profile) == nil {
		return nil, fault("InvalidParameterValue", "Value (%s) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name", profile)
	}
	reservation := newID("r-")
	var items [][]node
	for range max(1, min(c.params.number("MaxCount"), 100)) {
		attrs := map[string]string{"instance-type": kind, "image-id": c.params.get("ImageId"), "subnet-id": sub.ID,
			"availability-zone": sub.Attrs["availability-zone"], "reservation-id": reservation, "profile": profile}
		r := c.made("instance", Resource{VPC: sub.VPC, Attrs: attrs})
		r.Values["groups"] = groups
		c.move(r, "pending", "running")
		face := c.face(r, sub, "interface", "", groups, "")
		r.Attrs["private-ip-address"] = face.Attrs["private-ip-address"]
		size, _ := strconv.Atoi(c.params.get("BlockDeviceMapping.1.Ebs.VolumeSize")) // absent: the image's size
		c.made("volume", Resource{Parent: r.ID, State: "in-use", Attrs: map[string]string{"size": strconv.Itoa(cmp.Or(size, 120)),
			"type": cmp.Or(c.params.get("BlockDeviceMapping.1.Ebs.VolumeType"), "gp3"), "availability-zone": sub.Attrs["availability-zone"], "attachment.instance-id": r.ID}})
		items = append(items, renderInstance(c, r))
	}
	return []node{el("reservationId", reservation), el("ownerId", c.Account), list("instancesSet", "item", items)}, nil
}

func stateOf(name, state string) node {
	code := map[string]int{"pending": 0, "running": 16, "shutting-down": 32, "terminated": 48}[state]
	return group(name, el("code", code), el("name", state))
}

func renderInstance(_ *call, r *Resource) []node {
	out := []node{el("instanceId", r.ID), el("imageId", r.Attrs["image-id"]), el("instanceType", r.Attrs["instance-type"]), stateOf("instanceState", r.State),
		el("launchTime", r.Created), group("placement", el("availabilityZone", r.Attrs["availability-zone"])), tagSet(r)}
	if !r.Alive() {
		return append(out, el("reason", "User initiated ("+r.Gone.Format("2006-01-02 15:04:05 GMT")+")"))
	}
	var groups [][]node
	for _, id := range r.vals("groups") {
		groups = append(groups, []node{el("groupId", id)})
	}
	return append(out, el("vpcId", r.VPC), el("subnetId", r.Attrs["subnet-id"]), el("privateIpAddress", r.Attrs["private-ip-address"]), list("groupSet", "item", groups))
}

// reservations wraps instances launched together.
func reservations(found []*Resource, items [][]node) [][]node {
	var out [][]node
	for i := 0; i < len(found); {
		id, from := found[i].Attrs["reservation-id"], i
		for i < len(found) && found[i].Attrs["reservation-id"] == id {
			i++
		}
		out = append(out, []node{el("reservationId", id), el("ownerId", found[from].Account), list("instancesSet", "item", items[from:i])})
	}
	return out
}

// terminateInstances answers with termination protection where a test pinned an instance.
func terminateInstances(c *call) ([]node, error) {
	var found []*Resource
	for _, id := range c.params.list("InstanceId") {
		r, err := c.get("instance", id)
		if err != nil {
			return nil, err
		}
		if c.Pinned[r.ID] || (r.Name != "" && c.Pinned[r.Name]) {
			return nil, fault("OperationNotPermitted", "The instance '%s' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.", id)
		}
		found = append(found, r)
	}
	var items [][]node
	for _, r := range found {
		before := r.State
		if r.Alive() && r.State != "shutting-down" {
			c.move(r, "shutting-down", "terminated")
		}
		items = append(items, []node{el("instanceId", r.ID), stateOf("currentState", r.State), stateOf("previousState", before)})
	}
	return []node{list("instancesSet", "item", items)}, nil
}

func createVolume(c *call) ([]node, error) {
	zone, err := c.zoneOr(c.params.get("AvailabilityZone"))
	if err != nil {
		return nil, err
	}
	r := c.made("volume", Resource{Attrs: map[string]string{"availability-zone": zone, "size": cmp.Or(c.params.get("Size"), "1"), "type": cmp.Or(c.params.get("VolumeType"), "gp3")}})
	return renderVolume(c, r), nil
}

func renderVolume(_ *call, r *Resource) []node {
	out := []node{el("volumeId", r.ID), el("size", cmp.Or(r.Attrs["size"], "1")), el("volumeType", r.Attrs["type"]), el("availabilityZone", r.Attrs["availability-zone"]),
		el("status", r.State), el("createTime", r.Created), tagSet(r)}
	if id := r.Attrs["attachment.instance-id"]; id != "" {
		out = append(out, list("attachmentSet", "item", [][]node{{el("instanceId", id), el("volumeId", r.ID), el("device", "/dev/xvda"), el("status", "attached"), el("deleteOnTermination", true)}}))
	}
	return out
}

// copyImage makes an image and the snapshot under it. The installer tags both in a second call, which is one of its
// untagged moments.
func copyImage(c *call) ([]node, error) {
	name := c.params.get("Name")
	snap := c.made("snapshot", Resource{Attrs: map[string]string{"description": "Copied for " + name + " from " + c.params.get("SourceImageId")}})
	r := c.made("image", Resource{Name: name, Uses: []string{snap.ID}, Attrs: map[string]string{"name": name, "snapshot-id": snap.ID, "description": c.params.get("Description")}})
	return []node{el("imageId", r.ID)}, nil
}

func renderImage(_ *call, r *Resource) []node {
	device := []node{el("deviceName", "/dev/xvda"), group("ebs", el("snapshotId", r.Attrs["snapshot-id"]))}
	return []node{el("imageId", r.ID), el("name", r.Attrs["name"]), el("imageState", r.State), el("imageOwnerId", r.Account), el("description", r.Attrs["description"]),
		list("blockDeviceMapping", "item", [][]node{device}), tagSet(r)}
}

func renderSnapshot(_ *call, r *Resource) []node {
	return []node{el("snapshotId", r.ID), el("status", r.State), el("ownerId", r.Account), el("description", r.Attrs["description"]), el("startTime", r.Created), tagSet(r)}
}
