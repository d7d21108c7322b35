package profiles

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Addon is something a cluster can get besides OpenShift: Kubernetes objects, and the conditions that show that they work. It holds
// no secret.
type Addon struct {
	Name, Description string
	Manifests         string // a JSON List of the objects, in file order
	Waits             []AddonWait
}

// AddonWait is a condition that must hold for the add-on to count as working, in the form that oc wait takes.
type AddonWait struct {
	Kind, Name, Namespace, Condition string
	Timeout                          time.Duration
}

// Addons are the add-ons of a profile's clusters: Default unless others are selected, which must come from Default and Allowed.
type Addons struct {
	Default []string // names
	Allowed []string // names or globs
}

// MostAddons is how many add-ons a cluster may have.
const MostAddons = 10

// The bounds of one add-on, including the longest wait for it.
const (
	mostManifests     = 64 << 10 // bytes, as JSON
	mostObjects       = 50
	mostWaits         = 10
	mostWait          = 15 * time.Minute
	mostManifestDepth = 40
)

// Has reports whether a cluster may have the add-on.
func (a Addons) Has(name string) bool {
	return slices.Contains(a.Default, name) || FitsAny(a.Allowed, name)
}

// Addon looks an add-on up by its exact name.
func (c Catalogue) Addon(name string) (Addon, bool) {
	for _, a := range c.Addons {
		if a.Name == name {
			return a, true
		}
	}
	return Addon{}, false
}

// AddonsOf lists the names of the add-ons that a cluster of the profile may have, in alphabetical order.
func (c Catalogue) AddonsOf(p Profile) (names []string) {
	for _, a := range c.Addons {
		if p.Addons.Has(a.Name) {
			names = append(names, a.Name)
		}
	}
	return names
}

// Forms of the parts that identify an object in a cluster. None begins with a dash, because they become arguments of oc.
var (
	apiVersionForm = regexp.MustCompile(`^([a-z0-9][-a-z0-9.]{0,252}/)?v[0-9][a-z0-9]{0,30}$`)
	kindForm       = regexp.MustCompile(`^[A-Z][A-Za-z0-9]{0,62}$`)
	objectForm     = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.:]{0,251}[A-Za-z0-9])?$`)
	namespaceForm  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)
	resourceForm   = regexp.MustCompile(`^[a-z][a-z0-9]{0,62}(\.[a-z0-9][-a-z0-9.]{0,200})?$`)
	conditionForm  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{0,62}(=[A-Za-z]{1,20})?$`)
)

func readAddon(r *reader, body []byte) Addon {
	var a Addon
	doc := r.document(body, "add-on")
	if doc == nil {
		return a
	}
	var objects []any
	r.object(doc, "", addonFields(r, &a, &objects)...)
	checkName(r, a.Name)
	if len(a.Waits) > mostWaits {
		r.failAt("wait", fmt.Sprintf("a list of %d", len(a.Waits)), fmt.Sprintf("at most %d", mostWaits))
	}
	if len(objects) > mostObjects {
		r.failAt("manifests", fmt.Sprintf("a list of %d", len(objects)), fmt.Sprintf("at most %d", mostObjects))
	}
	list, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": objects})
	switch {
	case err != nil:
		r.failAt("manifests", "what JSON cannot represent: "+err.Error(), "Kubernetes objects")
	case len(list) > mostManifests:
		r.failAt("manifests", fmt.Sprintf("%d bytes as JSON", len(list)), fmt.Sprintf("at most %d", mostManifests))
	}
	a.Manifests = string(list)
	for _, found := range placeholder.FindAllString(a.Manifests, -1) {
		if !slices.Contains(placeholders, found) {
			r.failAt("manifests", fmt.Sprintf("%q", found), strings.Join(placeholders, ", "))
		}
	}
	return a
}

// placeholders stand for values of the cluster in an add-on's objects. Other texts with a dollar are left alone.
var (
	placeholders = []string{"${cluster.name}", "${cluster.domain}", "${cluster.region}"}
	placeholder  = regexp.MustCompile(`\$\{cluster\.[^}"]*\}?`)
)

// ManifestsFor returns the objects for a cluster. Its values are names of DNS and of a region, which need no quotes in JSON.
func (a Addon) ManifestsFor(name, domain, region string) string {
	var pairs []string
	for n, value := range []string{name, domain, region} {
		pairs = append(pairs, placeholders[n], value)
	}
	return strings.NewReplacer(pairs...).Replace(a.Manifests)
}

// addonFields describes the fields of an add-on's file.
func addonFields(r *reader, a *Addon, objects *[]any) []field {
	return []field{
		text("name", &a.Name, nameAccept, nameForm.MatchString),
		text("description", &a.Description, "a text", isFilled),
		manifests(r, objects),
		optional(r.objects("wait", "a condition to wait for", func(string) []field {
			a.Waits = append(a.Waits, AddonWait{})
			return waitFields(&a.Waits[len(a.Waits)-1])
		})),
		kind("Addon"),
	}
}

func waitFields(w *AddonWait) []field {
	return []field{
		text("kind", &w.Kind, "a resource such as crd, deployment or subscriptions.operators.coreos.com", resourceForm.MatchString),
		text("name", &w.Name, objectText, objectForm.MatchString),
		optional(text("namespace", &w.Namespace, namespaceText, namespaceForm.MatchString)),
		text("condition", &w.Condition, "a condition such as Established, Available or Ready=True", conditionForm.MatchString),
		only(span("timeout", &w.Timeout, mostWait), "a duration such as 5m, above 0 and at most 15m"),
	}
}

const (
	objectText    = "an object's name: letters, digits, - _ . and :, at most 253"
	namespaceText = "a namespace: lowercase letters, digits and dashes, at most 63"
)

// manifests reads the objects one by one. They are sent to the cluster as JSON, so that YAML's implicit types are resolved here.
func manifests(r *reader, objects *[]any) field {
	seen := map[string]bool{}
	return r.items("manifests", "a Kubernetes object with apiVersion, kind and metadata.name", func(n *yaml.Node, path string) bool {
		if n.Kind != yaml.MappingNode {
			return false
		}
		if !r.asJSON(n, path, 0) {
			return true
		}
		id, ok := r.identity(n, path)
		if ok && seen[id] {
			r.failOn(n, path, id+" again", "each object once")
		}
		seen[id] = true
		var object map[string]any
		if err := n.Decode(&object); err != nil {
			r.failOn(n, path, strings.TrimPrefix(err.Error(), "yaml: "), "a Kubernetes object")
			return true
		}
		*objects = append(*objects, object)
		return true
	})
}

// identity checks the fields that identify an object, and returns its identity.
func (r *reader) identity(n *yaml.Node, path string) (id string, ok bool) {
	ok = true
	look := func(at string, in *yaml.Node, key, accept string, good func(string) bool) string {
		switch value := child(in, key); {
		case value == nil:
			ok = false
			r.failOn(in, join(at, key), "missing", accept)
		case !scalar(value, "!!str") || !good(value.Value):
			ok = false
			r.failOn(value, join(at, key), r.show(value), accept)
		default:
			return value.Value
		}
		return ""
	}
	api := look(path, n, "apiVersion", "a version such as v1 or apps/v1", apiVersionForm.MatchString)
	what := look(path, n, "kind", "a kind such as Namespace; Secret is not allowed, because a catalogue must not contain secrets, nor is List", func(s string) bool {
		return kindForm.MatchString(s) && s != "Secret" && !strings.HasSuffix(s, "List")
	})
	metadata := child(n, "metadata")
	if metadata == nil || metadata.Kind != yaml.MappingNode {
		r.failOn(n, join(path, "metadata"), "missing", "a mapping with name")
		return "", false
	}
	at := join(path, "metadata")
	name := look(at, metadata, "name", objectText, objectForm.MatchString)
	namespace := ""
	if child(metadata, "namespace") != nil {
		namespace = look(at, metadata, "namespace", namespaceText, namespaceForm.MatchString)
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s", api, what, namespace, name)), ok
}

func child(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// asJSON refuses what JSON cannot express or YAML can express in two ways.
func (r *reader) asJSON(n *yaml.Node, path string, depth int) bool {
	fine := true
	switch {
	case depth > mostManifestDepth:
		r.failOn(n, path, "nested mappings or lists", fmt.Sprintf("at most %d deep", mostManifestDepth))
		return false
	case n.Kind == yaml.AliasNode || n.Anchor != "" || n.Tag == "!!merge":
		r.failOn(n, path, "an anchor, alias or merge key", "the value itself")
		return false
	case n.Kind == yaml.ScalarNode && !slices.Contains([]string{"!!str", "!!int", "!!float", "!!bool", "!!null"}, n.ShortTag()):
		r.failOn(n, path, r.show(n), "a string in quotes, a number, true or false")
		fine = false
	}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && c.Tag != "!!merge" && !scalar(c, "!!str") {
			r.failOn(c, path, r.show(c), "a key in quotes")
			fine = false
			continue
		}
		fine = r.asJSON(c, path, depth+1) && fine
	}
	return fine
}

// addonsField reads a profile's add-ons.
func addonsField(r *reader, a *Addons) field {
	return optional(r.inner("addons",
		optional(r.texts("default", &a.Default, "an add-on's name", nameForm.MatchString)),
		optional(r.texts("allowed", &a.Allowed, "an add-on's name, or a glob such as *", profileGlob))))
}

// agreeAddons checks that a profile names existing add-ons.
func (l *loader) agreeAddons(p entry[Profile]) {
	names := listNames(l.addons)
	accept := "one of " + strings.Join(names, ", ")
	if len(names) == 0 {
		accept = "none: the catalogue has no add-ons"
	}
	for path, list := range map[string][]string{"addons.default": p.value.Addons.Default, "addons.allowed": p.value.Addons.Allowed} {
		for i, glob := range list {
			open := strings.Contains(glob, "*") && len(names) == 0 // allows whatever is added later
			if at := fmt.Sprintf("%s[%d]", path, i); p.from.good(at) && !fit(glob, names) && !open {
				p.from.failAt(at, fmt.Sprintf("%q, which is not an add-on", glob), accept)
			}
		}
	}
	if n := len(p.value.Addons.Default); n > MostAddons {
		p.from.failAt("addons.default", fmt.Sprintf("a list of %d", n), fmt.Sprintf("at most %d", MostAddons))
	}
}

// doubtAddons reports add-ons in a repository's file that no cluster of the repository could have.
func (c Catalogue) doubtAddons(r *reader, f RepositoryFile, could []string) {
	var all []string
	for _, name := range could {
		if p, _ := c.Get(name); len(f.Profiles) == 0 || FitsAny(f.Profiles, name) {
			all = append(all, c.AddonsOf(p)...)
		}
	}
	all = slices.Compact(slices.Sorted(slices.Values(all)))
	for i, name := range f.Addons {
		if !slices.Contains(all, name) {
			r.failAt(fmt.Sprintf("addons[%d]", i), fmt.Sprintf("%q, which no profile allows", name), "one of "+strings.Join(all, ", "))
		}
	}
}
