package profiles

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxDomain is the longest name in DNS.
const maxDomain = 253

var (
	strictDomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)+$`)
	nameText     = fmt.Sprintf("lowercase letters, digits and dashes, at most %d, starting with a letter and ending in a letter or digit", MaxName)
)

// Strict parses an install-config strictly; the installer itself only warns about unknown fields. It knows what InstallConfig
// renders, pullSecret and sshKey, and nothing else. Everything that is wrong comes back at once as Problems, each with the field and
// what would be accepted. A pull secret is never quoted.
func Strict(config []byte) error {
	r := &reader{file: "install-config.yaml", lines: map[string]int{}}
	if doc := r.document(config, "install-config"); doc != nil {
		var c installConfig
		cloud := platformOf(r, doc)
		r.object(doc, "", installFields(r, cloud, &c)...)
		compareInstall(r, cloud, c)
	}
	if len(r.problems) > 0 {
		return r.sortProblems()
	}
	return nil
}

// installFields is the part of the installer's schema that ocpctl renders (pkg/types/installconfig.go). cloud is the platform of the file;
// empty: it names none or several, and any is read.
func installFields(r *reader, cloud string, c *installConfig) []field {
	pull, ssh := pullSecret(r), sshKeys()
	pull.optional, ssh.optional = true, true
	return []field{
		choice("apiVersion", &c.APIVersion, "v1"),
		text("baseDomain", &c.BaseDomain, "a lowercase DNS domain, at most 253 characters", func(s string) bool { return len(s) <= maxDomain && strictDomain.MatchString(s) }),
		r.inner("metadata", text("name", &c.Metadata.Name, nameText, func(s string) bool { return len(s) <= MaxName && NameForm.MatchString(s) })),
		choice("credentialsMode", &c.CredentialsMode, modes(cloud)...),
		r.inner("controlPlane", machinePoolFields(r, cloud, "master", 1, &c.ControlPlane)...),
		r.items("compute", "a pool named worker", func(n *yaml.Node, path string) bool {
			var pool machinePool
			r.object(n, path, machinePoolFields(r, cloud, "worker", 0, &pool)...)
			c.Compute = append(c.Compute, pool)
			return true
		}),
		networkFields(r, &c.Networking),
		r.inner("platform", ofPlatform(cloud, func(on platform, _ string) field { return on.config(r, on, c) })...),
		choice("publish", &c.Publish, "External", "Internal"),
		pull, ssh,
	}
}

// modes returns the credentials modes of a cloud, or of all of them.
func modes(cloud string) []string {
	if on, known := platforms[cloud]; known {
		return on.modes
	}
	return platforms["aws"].modes
}

// ofPlatform returns the field of one cloud, or of all of them, of which none is required.
func ofPlatform(cloud string, of func(on platform, name string) field) (fields []field) {
	if on, known := platforms[cloud]; known {
		return []field{of(on, cloud)}
	}
	for _, name := range installPlatforms {
		fields = append(fields, optional(of(platforms[name], name)))
	}
	return fields
}

func networkFields(r *reader, into *networking) field {
	return r.inner("networking",
		choice("networkType", &into.NetworkType, "OVNKubernetes"),
		r.items("machineNetwork", "a mapping with cidr", func(n *yaml.Node, path string) bool {
			var m machineNetwork
			r.object(n, path, text("cidr", &m.CIDR, cidrText, cidr))
			into.MachineNetwork = append(into.MachineNetwork, m)
			return true
		}),
		r.items("clusterNetwork", "a mapping with cidr and hostPrefix", func(n *yaml.Node, path string) bool {
			var m clusterNetwork
			r.object(n, path, text("cidr", &m.CIDR, cidrText, cidr), whole("hostPrefix", &m.HostPrefix, 16, 28))
			into.ClusterNetwork = append(into.ClusterNetwork, m)
			return true
		}),
		r.items("serviceNetwork", cidrText, func(n *yaml.Node, _ string) bool {
			into.ServiceNetwork = append(into.ServiceNetwork, n.Value)
			return scalar(n, "!!str") && cidr(n.Value)
		}))
}

func machinePoolFields(r *reader, cloud, name string, least int, into *machinePool) []field {
	return []field{
		choice("name", &into.Name, name), whole("replicas", &into.Replicas, least, 500),
		r.inner("platform", ofPlatform(cloud, func(on platform, name string) field {
			pool := &poolMachines{}
			into.Platform = poolPlatform{name: pool}
			return r.inner(name, text("type", &pool.Type, on.instance.text, on.instance.MatchString), zones(r, on.zone, &pool.Zones))
		})...),
	}
}

// zones are always named: without them the installer builds a subnet and a gateway in every zone of the region.
func zones(r *reader, of form, into *[]string) field {
	return r.items("zones", of.text, func(n *yaml.Node, _ string) bool {
		*into = append(*into, n.Value)
		return scalar(n, "!!str") && of.MatchString(n.Value)
	})
}

// pullSecret checks only the shape. The installer's error prints the whole secret; this one does not.
func pullSecret(r *reader) field {
	const accept = `a JSON object {"auths":{"host":{"auth":"…"}}}`
	return field{name: "pullSecret", accept: accept, read: func(n *yaml.Node, path string) bool {
		var shape struct {
			Auths map[string]map[string]any `json:"auths"`
		}
		if !scalar(n, "!!str") || json.Unmarshal([]byte(n.Value), &shape) != nil || len(shape.Auths) == 0 {
			r.fail(n.Line, path, "of another form", accept)
		}
		return true
	}}
}

func sshKeys() field {
	var keys string
	return text("sshKey", &keys, sshText, func(s string) bool {
		lines := strings.Split(strings.TrimSpace(s), "\n")
		return !slices.ContainsFunc(lines, func(line string) bool { return !SSHKey(line) })
	})
}

// compareInstall makes the checks that need more than one field, if those fields have no problem of their own.
func compareInstall(r *reader, cloud string, c installConfig) {
	if domain := c.Metadata.Name + "." + c.BaseDomain; r.good("metadata.name", "baseDomain") && len(domain) > maxDomain {
		r.failAt("baseDomain", fmt.Sprintf("%d characters including the name", len(domain)), fmt.Sprintf("at most %d", maxDomain))
	}
	if on, known := platforms[cloud]; known {
		compareZones(r, cloud, on, c)
	}
	nodes := compareReplicas(r, c)
	var all []network
	for i, n := range c.Networking.MachineNetwork {
		all = append(all, network{fmt.Sprintf("networking.machineNetwork[%d].cidr", i), n.CIDR})
	}
	for i, n := range c.Networking.ClusterNetwork {
		all = append(all, network{fmt.Sprintf("networking.clusterNetwork[%d].cidr", i), n.CIDR})
	}
	for i, n := range c.Networking.ServiceNetwork {
		all = append(all, network{fmt.Sprintf("networking.serviceNetwork[%d]", i), n})
	}
	apart(r, all)
	for i, n := range c.Networking.ClusterNetwork {
		at := fmt.Sprintf("networking.clusterNetwork[%d]", i)
		if r.good(at+".cidr", at+".hostPrefix") {
			checkHostPrefix(r, at+".hostPrefix", n.CIDR, n.HostPrefix, nodes)
		}
	}
}

// compareZones checks that every zone belongs to the region and that no pool names one twice.
func compareZones(r *reader, cloud string, on platform, c installConfig) {
	region, zones := c.place()
	check := func(path string, zones []string) {
		for i, zone := range zones {
			at := fmt.Sprintf("%s[%d]", path, i)
			if r.good("platform."+cloud+".region", at) && (!on.inside(region, zone) || slices.Index(zones, zone) != i) {
				r.failAt(at, fmt.Sprintf("%q", zone), "zones of "+region+", each once")
			}
		}
	}
	check("platform."+cloud+".defaultMachinePlatform.zones", zones)
	check("controlPlane.platform."+cloud+".zones", c.ControlPlane.zones(cloud))
	for i, pool := range c.Compute {
		check(fmt.Sprintf("compute[%d].platform.%s.zones", i, cloud), pool.zones(cloud))
	}
}

// compareReplicas allows only topologies that the installer builds as intended, and counts the nodes.
func compareReplicas(r *reader, c installConfig) (nodes int) {
	if n := c.ControlPlane.Replicas; r.good("controlPlane.replicas") && n != 1 && n != 3 {
		r.failAt("controlPlane.replicas", fmt.Sprintf("%d", n), "1 or 3")
	}
	workers := 0
	for _, pool := range c.Compute {
		workers += pool.Replicas
	}
	if r.good("compute") && len(c.Compute) > 1 {
		r.failAt("compute", fmt.Sprintf("a list of %d", len(c.Compute)), "the one pool named worker")
	}
	if r.good("compute") && workers == 1 {
		r.failAt("compute[0].replicas", "1, which makes the infrastructure a single-replica one", "0, or 2 or more")
	}
	return c.ControlPlane.Replicas + workers
}
