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
		r.object(doc, "", installFields(r, &c)...)
		compareInstall(r, c)
	}
	if len(r.problems) > 0 {
		return r.sorted()
	}
	return nil
}

// installFields is the part of the installer's schema that ocpctl renders (pkg/types/installconfig.go, pkg/types/aws).
func installFields(r *reader, c *installConfig) []field {
	aws := &c.Platform.AWS
	pull, ssh := pullSecret(r), sshKeys()
	tags, balancer := userTags(r, &aws.UserTags), choice("lbType", &aws.LBType, "Classic", "NLB")
	pull.optional, ssh.optional, tags.optional, balancer.optional = true, true, true, true
	return []field{
		choice("apiVersion", &c.APIVersion, "v1"),
		text("baseDomain", &c.BaseDomain, "a lowercase DNS domain, at most 253 characters", func(s string) bool { return len(s) <= maxDomain && strictDomain.MatchString(s) }),
		r.inner("metadata", text("name", &c.Metadata.Name, nameText, func(s string) bool { return len(s) <= MaxName && NameForm.MatchString(s) })),
		choice("credentialsMode", &c.CredentialsMode, "Manual", "Mint", "Passthrough"), // if empty, the installer would simulate permissions and select one itself
		r.inner("controlPlane", poolFields(r, "master", 1, &c.ControlPlane)...),
		r.items("compute", "a pool named worker", func(n *yaml.Node, path string) bool {
			var pool machinePool
			r.object(n, path, poolFields(r, "worker", 0, &pool)...)
			c.Compute = append(c.Compute, pool)
			return true
		}),
		r.inner("networking",
			choice("networkType", &c.Networking.NetworkType, "OVNKubernetes"),
			r.items("machineNetwork", "a mapping with cidr", func(n *yaml.Node, path string) bool {
				var m machineNetwork
				r.object(n, path, text("cidr", &m.CIDR, cidrText, cidr))
				c.Networking.MachineNetwork = append(c.Networking.MachineNetwork, m)
				return true
			}),
			r.items("clusterNetwork", "a mapping with cidr and hostPrefix", func(n *yaml.Node, path string) bool {
				var m clusterNetwork
				r.object(n, path, text("cidr", &m.CIDR, cidrText, cidr), whole("hostPrefix", &m.HostPrefix, 16, 28))
				c.Networking.ClusterNetwork = append(c.Networking.ClusterNetwork, m)
				return true
			}),
			r.items("serviceNetwork", cidrText, func(n *yaml.Node, _ string) bool {
				c.Networking.ServiceNetwork = append(c.Networking.ServiceNetwork, n.Value)
				return scalar(n, "!!str") && cidr(n.Value)
			})),
		r.inner("platform", r.inner("aws",
			text("region", &aws.Region, "a region such as us-east-1", regionForm.MatchString),
			r.inner("defaultMachinePlatform", zones(r, &aws.Default.Zones)),
			tags, boolean("propagateUserTags", &aws.PropagateUserTags), balancer)),
		choice("publish", &c.Publish, "External", "Internal"),
		pull, ssh,
	}
}

func poolFields(r *reader, name string, least int, into *machinePool) []field {
	return []field{
		choice("name", &into.Name, name), whole("replicas", &into.Replicas, least, 500),
		r.inner("platform", r.inner("aws",
			text("type", &into.Platform.AWS.Type, "an instance type such as m6i.xlarge", instanceForm.MatchString),
			zones(r, &into.Platform.AWS.Zones))),
	}
}

// zones are always named: without them the installer builds a pair of subnets, a gateway and an address in every zone.
func zones(r *reader, into *[]string) field {
	return r.items("zones", "a zone such as us-east-1a", func(n *yaml.Node, _ string) bool {
		*into = append(*into, n.Value)
		return scalar(n, "!!str") && zoneForm.MatchString(n.Value)
	})
}

// userTags checks the installer's limits and AWS's own (pkg/types/aws/validation/platform.go).
func userTags(r *reader, into *map[string]string) field {
	accept := fmt.Sprintf("a mapping of at most %d tags", MaxTags)
	return field{name: "userTags", accept: accept, read: func(n *yaml.Node, path string) bool {
		if n.Kind != yaml.MappingNode {
			return false
		}
		*into = map[string]string{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			_, again := (*into)[key.Value]
			switch {
			case again:
				r.fail(key.Line, join(path, key.Value), "given twice", "each key once")
			case !scalar(key, "!!str") || !scalar(value, "!!str"):
				r.fail(value.Line, join(path, key.Value), r.show(value), "a string")
			default:
				if problem := TagProblem(key.Value, value.Value); problem != "" {
					r.fail(key.Line, join(path, key.Value), r.show(value)+": "+problem, "another key or value")
				}
			}
			(*into)[key.Value] = value.Value
		}
		if len(*into) > MaxTags {
			r.fail(n.Line, path, fmt.Sprintf("%d tags", len(*into)), accept)
		}
		return true
	}}
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
func compareInstall(r *reader, c installConfig) {
	if domain := c.Metadata.Name + "." + c.BaseDomain; r.good("metadata.name", "baseDomain") && len(domain) > maxDomain {
		r.failAt("baseDomain", fmt.Sprintf("%d characters including the name", len(domain)), fmt.Sprintf("at most %d", maxDomain))
	}
	compareZones(r, c)
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
func compareZones(r *reader, c installConfig) {
	check := func(path string, zones []string) {
		for i, zone := range zones {
			at := fmt.Sprintf("%s[%d]", path, i)
			rest, inside := strings.CutPrefix(zone, c.Platform.AWS.Region)
			if r.good("platform.aws.region", at) && (!inside || len(rest) != 1 || slices.Index(zones, zone) != i) {
				r.failAt(at, fmt.Sprintf("%q", zone), "zones of "+c.Platform.AWS.Region+", each once")
			}
		}
	}
	check("platform.aws.defaultMachinePlatform.zones", c.Platform.AWS.Default.Zones)
	check("controlPlane.platform.aws.zones", c.ControlPlane.Platform.AWS.Zones)
	for i, pool := range c.Compute {
		check(fmt.Sprintf("compute[%d].platform.aws.zones", i), pool.Platform.AWS.Zones)
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
