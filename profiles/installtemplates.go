package profiles

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/kinds"
)

// InstallConfigs renders install-configs as Profile.InstallConfig does, at a tenth of its cost: what all clusters of a
// profile at one place have in common is rendered and checked by Strict once. A cluster's own name and tags are checked each time. The zero value is
// ready to use, and safe for concurrent use.
type InstallConfigs struct {
	mu      sync.Mutex
	hash    string // of the catalogue that the templates are from
	byPlace map[string]installTemplate
}

// mostTemplates bounds the memory: requests choose zones, so there may be many places.
const mostTemplates = 1_000

// installTemplate is an install-config without what differs between clusters: the name stands between the first two parts, and the tags,
// if it has any, between the last two.
type installTemplate struct {
	beforeName, afterName, afterTags string
	indent                           string // of a tag's line; empty: the document has no tags
}

// The name and the tag of the document from which a template is made.
const (
	templateName = "name-of-cluster"
	templateTag  = "tags-of-cluster"
)

// Render renders the install-config for a cluster of a profile; hash is that of the profile's catalogue. Without one nothing is kept.
func (c *InstallConfigs) Render(hash string, p Profile, in InstallInput) ([]byte, error) {
	if hash == "" || !kinds.Can(p.Provisioner, kinds.Installer) || !in.isPlain(p.Platform) || p.offers(in) != nil {
		return p.InstallConfig(in) // which tells what is wrong
	}
	t, err := c.template(hash, p, in)
	if err != nil {
		return nil, err
	}
	return t.fill(in)
}

// isPlain reports whether a template can be used: the name and the tags are valid, and on AWS there is at least one tag.
func (in InstallInput) isPlain(platform string) bool {
	if len(in.Name) > MaxName || !NameForm.MatchString(in.Name) {
		return false
	}
	if platform != "aws" {
		return true // the document has no tags
	}
	for key, value := range in.Tags {
		if TagProblem(platform, key, value) != "" {
			return false
		}
	}
	return len(in.Tags) > 0 && len(in.Tags) <= MaxTags
}

func (c *InstallConfigs) template(hash string, p Profile, in InstallInput) (installTemplate, error) {
	key := strings.Join(append([]string{p.Name, in.BaseDomain, in.Region, in.Version}, in.Zones...), " ")
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hash != hash || len(c.byPlace) >= mostTemplates {
		c.hash, c.byPlace = hash, map[string]installTemplate{}
	}
	if t, made := c.byPlace[key]; made {
		return t, nil
	}
	in.Name, in.Tags = templateName, map[string]string{templateTag: "x"}
	raw, err := p.InstallConfig(in)
	if err != nil {
		return installTemplate{}, err
	}
	t, err := cutTemplate(string(raw))
	if err != nil {
		return installTemplate{}, fmt.Errorf("render install-config of %s: %w", p.Name, err)
	}
	c.byPlace[key] = t
	return t, nil
}

func cutTemplate(document string) (t installTemplate, err error) {
	named := false
	if t.beforeName, t.afterName, named = strings.Cut(document, templateName+"\n"); !named {
		return t, errors.New("the document has no name")
	}
	before, after, tagged := strings.Cut(t.afterName, templateTag+": x\n")
	if !tagged {
		return t, nil
	}
	line := strings.LastIndexByte(before, '\n') + 1
	t.afterName, t.indent, t.afterTags = before[:line], before[line:], after
	return t, nil
}

func (t installTemplate) fill(in InstallInput) ([]byte, error) {
	name, err := yaml.Marshal(in.Name) // quoted where it would be read as something else, such as null
	if err != nil {
		return nil, fmt.Errorf("encode a name: %w", err)
	}
	var out bytes.Buffer
	out.WriteString(t.beforeName)
	out.Write(name)
	out.WriteString(t.afterName)
	if t.indent != "" {
		tags, err := yaml.Marshal(in.Tags)
		if err != nil {
			return nil, fmt.Errorf("encode tags: %w", err)
		}
		for line := range bytes.Lines(tags) {
			out.WriteString(t.indent)
			out.Write(line)
		}
		out.WriteString(t.afterTags)
	}
	return out.Bytes(), nil
}
