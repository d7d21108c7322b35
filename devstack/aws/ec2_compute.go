package aws

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// launch is a checked RunInstances request.
type launch struct {
	kind, profile string
	spot          bool
	subnet        *Resource
	public        bool // it gets an address on the Internet
	groups        []string
	count, gib    int
	disk          string
}

// launching reads and checks a RunInstances call: everything that it names exists, is offered, and is within the quotas.
func (c *call) launching() (launch, error) {
	size, _ := strconv.Atoi(c.params.get("BlockDeviceMapping.1.Ebs.VolumeSize")) // absent: the image's size
	l := launch{kind: c.params.get("InstanceType"), groups: c.params.list("SecurityGroupId"), profile: c.params.get("IamInstanceProfile.Name"),
		spot: c.params.get("InstanceMarketOptions.MarketType") == "spot", count: max(1, min(c.params.number("MaxCount"), 100)), gib: cmp.Or(size, 120), disk: cmp.Or(c.params.get("BlockDeviceMapping.1.Ebs.VolumeType"), "gp3")}
	subnetID := c.params.get("SubnetId")
	for _, face := range c.params.each("NetworkInterface") {
		subnetID = cmp.Or(subnetID, face.get("SubnetId"))
		l.groups = append(l.groups, face.list("SecurityGroupId")...)
		l.public = face.get("AssociatePublicIpAddress") == "true"
	}
	if subnetID == "" {
		return l, fault("VPCIdNotSpecified", "No default VPC for this user. GroupName is only supported for EC2-Classic and default VPC.")
	}
	var err error
	if l.subnet, err = c.get("subnet", subnetID); err != nil {
		return l, err
	}
	for _, id := range l.groups {
		if _, err := c.get("security-group", id); err != nil {
			return l, err
		}
	}
	if zone := l.subnet.Attrs["availability-zone"]; !offered(zone, l.kind) {
		return l, fault("Unsupported", "Your requested instance type (%s) is not supported in your requested Availability Zone (%s).", l.kind, zone)
	}
	if code := c.noSpot(l); code != nil {
		return l, code
	}
	if zone := l.subnet.Attrs["availability-zone"]; c.server.HitZone(c.name(), zone) != "" {
		return l, fault(NoCapacity, "We currently do not have sufficient %s capacity in the Availability Zone you requested (%s).", l.kind, zone)
	}
	if l.profile != "" && c.named("instance-profile", l.profile) == nil {
		return l, fault("InvalidParameterValue", "Value (%s) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name", l.profile)
	}
	if err := c.checkQuota(vcpuQuota(l.spot), "", l.count*vcpus(l.kind)); err != nil {
		return l, err
	}
	return l, c.disks(l.disk, l.count*l.gib)
}

// noSpot is the refusal of spot machines that a test asked for in the subnet's zone: "ec2:RunInstances/spot/us-east-1a". Nil: there is none.
func (c *call) noSpot(l launch) error {
	if !l.spot {
		return nil
	}
	switch code := c.server.HitZone(c.name(), "spot/"+l.subnet.Attrs["availability-zone"]); code {
	case "":
		return nil
	case NoCapacity:
		return fault(code, "There is no Spot capacity available that matches your request.")
	default:
		return fault(code, "Your Spot request cannot be fulfilled.")
	}
}

// vcpuQuota is the code of the quota for standard machines.
func vcpuQuota(spot bool) string {
	if spot {
		return "L-34B43A08"
	}
	return "L-1216C47A"
}

// disks refuses volumes above the quota of their type.
func (c *call) disks(kind string, gib int) error {
	if kind != "gp3" {
		return nil
	}
	return c.checkQuota("L-7A658B76", "", gib)
}

func runInstances(c *call) ([]node, error) {
	l := must.Get(c.launching())
	reservation, zone := newID("r-"), l.subnet.Attrs["availability-zone"]
	var items [][]node
	for range l.count {
		attrs := map[string]string{"instance-type": l.kind, "image-id": c.params.get("ImageId"), "subnet-id": l.subnet.ID,
			"availability-zone": zone, "reservation-id": reservation, "profile": l.profile, "user-data": c.params.get("UserData")}
		if l.spot {
			attrs["instance-lifecycle"] = "spot"
		}
		r := c.made("instance", Resource{VPC: l.subnet.VPC, Attrs: attrs})
		r.Values["groups"] = l.groups
		c.Move(r, "pending", "running")
		r.setMetadataOptions(c.params, "MetadataOptions.")
		if l.public {
			r.Attrs["public-ip"] = fmt.Sprintf("198.18.%d.%d", r.Seq/250%250, 1+r.Seq%250)
		}
		face := c.face(r, l.subnet, "interface", "", l.groups, r.Attrs["public-ip"])
		r.Attrs["private-ip-address"] = face.Attrs["private-ip-address"]
		disk := c.made("volume", Resource{Parent: r.ID, State: "in-use", Attrs: map[string]string{"size": strconv.Itoa(l.gib), "type": l.disk,
			"availability-zone": zone, "attachment.instance-id": r.ID}})
		r.Values["interfaces"], r.Values["disks"] = []string{face.ID}, []string{disk.ID}
		items = append(items, renderInstance(c, r))
	}
	return []node{el("reservationId", reservation), el("ownerId", c.Account), list("instancesSet", "item", items)}, nil
}

func stateOf(name, state string) node {
	code := map[string]int{"pending": 0, "running": 16, "shutting-down": 32, "terminated": 48, "stopping": 64, "stopped": 80}[state]
	return group(name, el("code", code), el("name", state))
}

func renderInstance(_ *call, r *Resource) []node {
	out := []node{el("instanceId", r.ID), el("imageId", r.Attrs["image-id"]), el("instanceType", r.Attrs["instance-type"]), stateOf("instanceState", r.State),
		el("launchTime", cmp.Or(r.Attrs["started"], el("", r.Created).text)), group("placement", el("availabilityZone", r.Attrs["availability-zone"])), tagSet(r)}
	if !r.Alive() {
		return append(out, el("reason", "User initiated ("+r.Gone.Format("2006-01-02 15:04:05 GMT")+")"))
	}
	if lifecycle := r.Attrs["instance-lifecycle"]; lifecycle != "" {
		out = append(out, el("instanceLifecycle", lifecycle))
	}
	groups := pick.Map(r.vals("groups"), func(id string) []node { return []node{el("groupId", id)} })
	out = append(out, el("vpcId", r.VPC), el("subnetId", r.Attrs["subnet-id"]), el("privateIpAddress", r.Attrs["private-ip-address"]), list("groupSet", "item", groups),
		el("usageOperationUpdateTime", r.Created), renderMetadataOptions(r))
	if r.Attrs["profile"] != "" {
		out = append(out, group("iamInstanceProfile", el("arn", "arn:aws:iam::"+r.Account+":instance-profile/"+r.Attrs["profile"])))
	}
	return append(out, renderAttached(r, groups)...)
}

// renderAttached returns the interface and the root volume that a machine was started with.
func renderAttached(r *Resource, groups [][]node) (out []node) {
	ip := r.Attrs["private-ip-address"]
	name := "ip-" + strings.ReplaceAll(ip, ".", "-") + "." + r.Region + ".compute.internal"
	for _, id := range r.vals("interfaces") {
		face := []node{el("networkInterfaceId", id), el("status", "in-use"), el("privateIpAddress", ip), el("privateDnsName", name), list("groupSet", "item", groups)}
		if public := r.Attrs["public-ip"]; public != "" {
			face = append(face, group("association", el("publicIp", public), el("publicDnsName", "ec2-"+strings.ReplaceAll(public, ".", "-")+"."+r.Region+".compute.amazonaws.com")))
			out = append(out, el("ipAddress", public))
		}
		out = append(out, el("privateDnsName", name), list("networkInterfaceSet", "item", [][]node{face}))
	}
	for _, id := range r.vals("disks") {
		out = append(out, list("blockDeviceMapping", "item", [][]node{{el("deviceName", "/dev/xvda"), group("ebs", el("volumeId", id), el("status", "attached"), el("deleteOnTermination", true))}}))
	}
	return out
}

// reservations groups instances that were launched together.
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

// terminateInstances reports termination protection if a test pinned an instance.
func terminateInstances(c *call) ([]node, error) {
	var found []*Resource
	for _, id := range c.params.list("InstanceId") {
		r := must.Get(c.get("instance", id))
		must.Do(c.protected(r))
		must.EndIf(c.Pinned[r.ID] || (r.Name != "" && c.Pinned[r.Name]),
			fault("OperationNotPermitted", "The instance '%s' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again.", id))
		found = append(found, r)
	}
	var items [][]node
	for _, r := range found {
		before := r.State
		if r.Alive() && r.State != "shutting-down" {
			c.Move(r, "shutting-down", "terminated")
		}
		items = append(items, []node{el("instanceId", r.ID), stateOf("currentState", r.State), stateOf("previousState", before)})
	}
	return []node{list("instancesSet", "item", items)}, nil
}

// stopInstances stops running instances. One that is stopped, or on its way, stays so; one that ends cannot be stopped.
func stopInstances(c *call) ([]node, error) {
	return c.power("stop", "running", "stopping", "stopped", func(r *Resource) error {
		if r.Attrs["instance-lifecycle"] == "spot" {
			return fault("UnsupportedOperation", "You can't stop the Spot Instance '%s' because it is associated with a one-time Spot Instance request. You can only stop Spot Instances associated with persistent Spot Instance requests.", r.ID)
		}
		return nil
	})
}

// startInstances starts stopped instances, within the quota. The launch time of an instance is that of its last start.
func startInstances(c *call) ([]node, error) {
	return c.power("start", "stopped", "pending", "running", func(r *Resource) error {
		if err := c.checkQuota("L-1216C47A", "", vcpus(r.Attrs["instance-type"])); err != nil {
			return err
		}
		r.Attrs["started"] = el("", c.Now()).text
		return nil
	})
}

func (c *call) power(verb, from, through, to string, before func(*Resource) error) ([]node, error) {
	var found []*Resource
	for _, id := range c.params.list("InstanceId") {
		r := must.Get(c.get("instance", id))
		if r.State != from && r.State != through && r.State != to {
			return nil, fault("IncorrectInstanceState", "The instance '%s' is not in a state from which it can be %sed.", id, map[string]string{"stop": "stopp", "start": "start"}[verb])
		}
		found = append(found, r)
	}
	var items [][]node
	for _, r := range found {
		was := r.State
		if was == from {
			must.Do(before(r))
			c.Move(r, through, to)
		}
		items = append(items, []node{el("instanceId", r.ID), stateOf("currentState", r.State), stateOf("previousState", was)})
	}
	return []node{list("instancesSet", "item", items)}, nil
}

func createVolume(c *call) ([]node, error) {
	zone := must.Get(c.zoneOr(c.params.get("AvailabilityZone")))
	kind, gib := cmp.Or(c.params.get("VolumeType"), "gp3"), max(1, c.params.number("Size"))
	must.Do(c.disks(kind, gib))
	r := c.made("volume", Resource{Attrs: map[string]string{"availability-zone": zone, "size": strconv.Itoa(gib), "type": kind}})
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

// copyImage creates an image and its snapshot. The installer tags both in a second call, so they are untagged for a moment.
func copyImage(c *call) ([]node, error) {
	name := c.params.get("Name")
	snap := c.made("snapshot", Resource{Attrs: map[string]string{"size": "16"}})
	r := c.made("image", Resource{Name: name, Uses: []string{snap.ID}, Attrs: map[string]string{"name": name, "snapshot-id": snap.ID, "description": c.params.get("Description")}})
	c.Move(r, "pending", "available")
	snap.Attrs["description"] = fmt.Sprintf("Copied for DestinationAmi %s from SourceAmi %s. Task created on %d.", r.ID, c.params.get("SourceImageId"), c.Now().UnixMilli())
	return []node{el("imageId", r.ID)}, nil
}

// deregisterImage leaves the snapshot behind, unless told otherwise.
func deregisterImage(c *call) ([]node, error) {
	r := must.Get(c.get("image", c.params.get("ImageId")))
	out, err := remove("image")(c)
	if err == nil && c.params.get("DeleteAssociatedSnapshots") == "true" {
		if snap, err := c.get("snapshot", r.Attrs["snapshot-id"]); err == nil {
			c.world.Remove(snap)
		}
	}
	return out, err
}

func renderImage(_ *call, r *Resource) []node {
	device := []node{el("deviceName", "/dev/xvda"), group("ebs", el("snapshotId", r.Attrs["snapshot-id"]), el("volumeSize", 16))}
	return []node{el("imageId", r.ID), el("rootDeviceName", "/dev/xvda"), el("name", r.Attrs["name"]), el("imageState", r.State), el("imageOwnerId", r.Account), el("description", r.Attrs["description"]),
		el("creationDate", r.Created.Format("2006-01-02T15:04:05.000Z")), list("blockDeviceMapping", "item", [][]node{device}), tagSet(r)}
}

func createSnapshot(c *call) ([]node, error) {
	volume := must.Get(c.get("volume", c.params.get("VolumeId")))
	return renderSnapshot(c, c.made("snapshot", Resource{Attrs: map[string]string{"volume-id": volume.ID, "description": c.params.get("Description")}})), nil
}

func renderSnapshot(_ *call, r *Resource) []node {
	return []node{el("snapshotId", r.ID), el("status", r.State), el("ownerId", r.Account), el("description", r.Attrs["description"]), el("startTime", r.Created),
		el("volumeId", cmp.Or(r.Attrs["volume-id"], "vol-ffffffff")), el("volumeSize", cmp.Or(r.Attrs["size"], "1")), tagSet(r)}
}

// attachVolume gives a volume to an instance.
func attachVolume(c *call) ([]node, error) {
	volume := must.Get(c.get("volume", c.params.get("VolumeId")))
	instance := must.Get(c.get("instance", c.params.get("InstanceId")))
	must.EndIf(volume.Attrs["attachment.instance-id"] != "", fault("VolumeInUse", "%s is already attached to an instance", volume.ID))
	volume.State, volume.Attrs["attachment.instance-id"] = "in-use", instance.ID
	return attachment(volume, instance.ID, "attached"), nil
}

// detachVolume takes a volume from its instance.
func detachVolume(c *call) ([]node, error) {
	volume := must.Get(c.get("volume", c.params.get("VolumeId")))
	from := volume.Attrs["attachment.instance-id"]
	must.EndIf(from == "", fault("IncorrectState", "Volume '%s' is in the 'available' state.", volume.ID))
	volume.State, volume.Parent = "available", ""
	delete(volume.Attrs, "attachment.instance-id")
	return attachment(volume, from, "detached"), nil
}

func attachment(volume *Resource, instance, status string) []node {
	return []node{el("volumeId", volume.ID), el("instanceId", instance), el("device", "/dev/xvdb"), el("status", status)}
}
