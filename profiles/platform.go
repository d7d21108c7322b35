package profiles

import (
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// platform is what differs between the clouds in a profile and in an install-config.
type platform struct {
	modes    []string // credentialsMode
	account  form     // the id of an account
	region   form
	instance form
	zone     form
	inside   func(region, zone string) bool // the zone is one of the region's; both have their forms
	config   func(r *reader, on platform, c *installConfig) field
}

// form is a pattern and its text for people.
type form struct {
	*regexp.Regexp
	text string
}

// platforms are the clouds, by their names in a profile and in an install-config.
var platforms = map[string]platform{
	"aws": {
		modes:    []string{"Manual", "Mint", "Passthrough"}, // if empty, the installer would simulate permissions and select one itself
		account:  form{regexp.MustCompile(`^[0-9]{12}$`), "an AWS account's 12 digits"},
		region:   form{regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-[0-9]$`), "a region such as us-east-1"},
		instance: form{regexp.MustCompile(`^[a-z0-9][-a-z0-9]*\.[-a-z0-9]+$`), "an instance type such as m6i.xlarge"},
		zone:     form{regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-[0-9][a-z]$`), "a zone such as us-east-1a"},
		inside:   func(region, zone string) bool { return zone[:len(zone)-1] == region },
		config:   awsFields,
	},
	"ibmcloud": {
		modes:    []string{"Manual"}, // an empty mode passes the installer's checks, and its documentation requires Manual
		account:  form{regexp.MustCompile(`^[0-9a-f]{32}$`), "the id of an account on IBM Cloud, 32 digits and letters a-f (ibmcloud account show)"},
		region:   form{regexp.MustCompile(`^[a-z]{2}-[a-z]+$`), "a region such as us-south"},
		instance: form{regexp.MustCompile(`^[a-z]+[0-9]+[a-z]*-[0-9]+x[0-9]+(x[0-9a-z]+)*$`), "an instance type such as bx2-4x16"},
		zone:     form{regexp.MustCompile(`^[a-z]{2}-[a-z]+-[1-9]$`), "a zone such as us-south-1"},
		inside:   func(region, zone string) bool { return zone[:len(zone)-2] == region },
		config:   ibmFields,
	},
	"kubernetes": { // hubs
		account: form{regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`), "the UID of the hub's namespace kube-system (kubectl get namespace kube-system -o jsonpath={.metadata.uid})"},
		region:  form{regexp.MustCompile(`^[a-z][-a-z0-9]{0,39}$`), "a name such as lab: lowercase letters, digits and dashes, at most 40, starting with a letter"},
	},
}

// platformNames are the keys of platforms, in the order in which people read them. An install-config has one of installPlatforms.
var (
	platformNames    = []string{"aws", "ibmcloud", "kubernetes"}
	installPlatforms = []string{"aws", "ibmcloud"}
)

// platformOf returns the one cloud that an install-config names below platform. Otherwise it reports what is wrong.
func platformOf(r *reader, doc *yaml.Node) string {
	at := valueOf(doc, "platform")
	if at == nil || at.Kind != yaml.MappingNode {
		return "" // the caller reports that platform is missing, or no mapping
	}
	var named []string
	for _, name := range installPlatforms {
		if valueOf(at, name) != nil {
			named = append(named, name)
		}
	}
	accept := "one of " + strings.Join(installPlatforms, ", ")
	switch {
	case len(named) > 1:
		r.failOn(at, "platform", strings.Join(named, " and "), accept)
	case len(named) == 0 && len(at.Content) == 0:
		r.failOn(at, "platform", r.show(at), accept)
	case len(named) == 1:
		return named[0]
	}
	return ""
}

// AccountForm returns the form of a platform's account ids, and its text for people.
func AccountForm(platform string) (*regexp.Regexp, string) {
	of := platforms[platform].account
	return of.Regexp, of.text
}

// valueOf returns the value of a mapping's key; nil: there is none.
func valueOf(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}
