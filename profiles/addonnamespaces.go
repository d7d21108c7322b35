package profiles

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// EditLabel is the label of a namespace in a cluster that says whether readers with the role edit have it there: "true" or "false". Without
// it they have not. package runner reads it.
const EditLabel = "ocpctl.io/edit"

// Namespaces are those that an add-on makes, with the values of EditLabel (empty: none), and those in which it installs something with rights
// beyond its own namespace.
type Namespaces struct {
	Edit       map[string]string
	Privileged []string // in alphabetical order
}

// Namespaces reads the add-on's objects. What an operator makes by itself is not among them.
func (a Addon) Namespaces() (Namespaces, error) {
	var list struct {
		Items []struct {
			APIVersion, Kind string
			Metadata         struct {
				Name, Namespace string
				Labels          map[string]string
			}
			Subjects []struct{ Kind, Name, Namespace string }
		}
	}
	if err := json.Unmarshal([]byte(a.Manifests), &list); err != nil {
		return Namespaces{}, fmt.Errorf("read the objects of the add-on %s: %w", a.Name, err)
	}
	n := Namespaces{Edit: map[string]string{}}
	for _, o := range list.Items {
		switch {
		case o.APIVersion == "v1" && o.Kind == "Namespace":
			n.Edit[o.Metadata.Name] = o.Metadata.Labels[EditLabel]
		case strings.HasPrefix(o.APIVersion, "operators.coreos.com/"): // whoever can change a Subscription or its group chooses an operator's rights
			n.Privileged = append(n.Privileged, o.Metadata.Namespace)
		case o.Kind == "ClusterRoleBinding" || o.Kind == "RoleBinding":
			for _, s := range o.Subjects {
				if s.Kind == "ServiceAccount" && s.Namespace != "" && s.Namespace != o.Metadata.Namespace {
					n.Privileged = append(n.Privileged, s.Namespace)
				}
			}
		}
	}
	slices.Sort(n.Privileged)
	n.Privileged = slices.Compact(n.Privileged)
	return n, nil
}

// agreeNamespaces checks that no add-on offers the role edit in a namespace in which one of them installs an operator, or something else
// with rights in other namespaces: whoever has edit there has these rights, too.
func (l *loader) agreeNamespaces() {
	offered := map[string]string{} // the add-on that offers edit, by namespace
	all := map[string]Namespaces{}
	for _, a := range l.addons {
		if !a.sound() {
			continue
		}
		n, err := a.value.Namespaces()
		if err != nil {
			a.from.failAt("manifests", err.Error(), "Kubernetes objects")
			continue
		}
		all[a.value.Name] = n
		for name, edit := range n.Edit {
			switch edit {
			case "true":
				offered[name] = a.value.Name
			case "", "false":
			default:
				a.from.failAt("manifests", fmt.Sprintf("the namespace %s with the label %s: %q", name, EditLabel, edit), `"true" or "false"`)
			}
		}
	}
	for _, a := range l.addons {
		for _, name := range all[a.value.Name].Privileged {
			edit, own := all[a.value.Name].Edit[name]
			switch by := offered[name]; {
			case own && edit != "false":
				a.from.failAt("manifests", fmt.Sprintf("the namespace %s has an operator or an account with rights beyond the namespace, and lacks the label %s: \"false\"", name, EditLabel),
					fmt.Sprintf(`a namespace with metadata.labels: {%s: "false"}, because the role edit there would give these rights`, EditLabel))
			case by != "":
				a.from.failAt("manifests", fmt.Sprintf("an operator or an account with rights beyond the namespace %s, in which the add-on %s offers the role edit", name, by),
					"another namespace, because the role edit in this one would give these rights")
			}
		}
	}
}
