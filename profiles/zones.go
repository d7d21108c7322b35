package profiles

import (
	"slices"

	"go.yaml.in/yaml/v3"
)

// ZonesWithout returns the zones of an install after some had no capacity: spare ones in their place, or fewer zones if too few are spare. If all
// had none, nobody knows a better one, and the zones stay as they are.
func ZonesWithout(zones, spare, short []string) []string {
	left := slices.DeleteFunc(slices.Concat(zones, spare), func(zone string) bool { return slices.Contains(short, zone) })
	if len(left) == 0 {
		return zones
	}
	return left[:min(len(left), len(zones))]
}

// MoveZones returns an install-config with other zones wherever it names zones. Everything else stays as it was written. What is not YAML is not
// changed: the runner says what is wrong with it.
func MoveZones(config string, zones []string) string {
	var document yaml.Node
	if yaml.Unmarshal([]byte(config), &document) != nil {
		return config
	}
	replaceZones(&document, zones)
	raw, err := yaml.Marshal(&document)
	if err != nil {
		return config
	}
	return string(raw)
}

func replaceZones(n *yaml.Node, zones []string) {
	for i, inner := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 && n.Content[i-1].Value == "zones" && inner.Kind == yaml.SequenceNode {
			inner.Content = nil
			for _, zone := range zones {
				inner.Content = append(inner.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: zone})
			}
			continue
		}
		replaceZones(inner, zones)
	}
}
