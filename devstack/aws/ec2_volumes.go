package aws

import (
	"github.com/ocpctl/ocpctl/devstack/must"
)

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
