package profiles

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// awsPlatform is the installer's platform.aws (pkg/types/aws/platform.go).
type awsPlatform struct {
	Region            string            `yaml:"region"`
	Default           zonesOf           `yaml:"defaultMachinePlatform"`
	UserTags          map[string]string `yaml:"userTags,omitempty"`
	PropagateUserTags bool              `yaml:"propagateUserTags"` // volumes, load balancers and buckets that are created later get them too
	LBType            string            `yaml:"lbType,omitempty"`  // for the ingress; without it the installer makes a Classic one
}

// awsFields are what ocpctl renders of platform.aws.
func awsFields(r *reader, on platform, c *installConfig) field {
	aws := &awsPlatform{}
	c.Platform.AWS = aws
	return r.inner("aws",
		text("region", &aws.Region, on.region.text, on.region.MatchString),
		r.inner("defaultMachinePlatform", zones(r, on.zone, &aws.Default.Zones)),
		optional(userTags(r, &aws.UserTags)),
		boolean("propagateUserTags", &aws.PropagateUserTags),
		optional(choice("lbType", &aws.LBType, "Classic", "NLB")))
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
				if problem := TagProblem("aws", key.Value, value.Value); problem != "" {
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
