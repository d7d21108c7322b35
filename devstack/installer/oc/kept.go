package oc

import (
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/installer/resources"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// This file is the API of the objects that are read with their content: ConfigMaps, Routes (route.openshift.io/v1), ConsoleNotifications
// (console.openshift.io/v1) and those of certmanager.go, with what openshift/api refuses of them and what the router does.

// keptKinds are their kinds by the name in a command.
var keptKinds = map[string]string{
	"configmap": "ConfigMap", "route": "Route", "consolenotification": "ConsoleNotification",
	"clusterissuer": "ClusterIssuer", "certificate": "Certificate", "ingresscontroller": "IngressController",
}

// consoleKinds are the definitions that the console brings.
var consoleKinds = []string{"consolelinks.console.openshift.io", "consolenotifications.console.openshift.io", "consoleplugins.console.openshift.io"}

const (
	infoNamespace = "openshift-config-managed"
	infoName      = "ocpctl-info"
)

// isKept says whether the stand-in stores the content of objects of a kind.
func isKept(kind string) bool { return keptKinds[strings.ToLower(kind)] == kind }

// invalid says what the API server refuses in a ConsoleNotification or a Route; empty: nothing.
func invalid(kind string, raw []byte) string {
	var o struct {
		Spec struct {
			Text, Location, Path string
			Link                 *struct{ Href, Text string }
			To                   struct{ Kind, Name string }
		}
	}
	if kind != "ConsoleNotification" && kind != "Route" {
		return ""
	}
	switch err := json.Unmarshal(raw, &o); {
	case err != nil:
		return err.Error()
	case kind == "ConsoleNotification" && o.Spec.Text == "":
		return "spec.text: Required value"
	case kind == "ConsoleNotification" && !slices.Contains([]string{"", "BannerTop", "BannerBottom", "BannerTopBottom"}, o.Spec.Location):
		return fmt.Sprintf("spec.location: Invalid value: %q: spec.location in body should match '^(BannerTop|BannerBottom|BannerTopBottom)$'", o.Spec.Location)
	case kind == "ConsoleNotification" && o.Spec.Link != nil && !strings.HasPrefix(o.Spec.Link.Href, "https://"):
		return fmt.Sprintf("spec.link.href: Invalid value: %q: spec.link.href in body should match '^https://'", o.Spec.Link.Href)
	case kind == "Route" && o.Spec.To.Name == "":
		return "spec.to.name: Required value"
	case kind == "Route" && o.Spec.Path != "" && !strings.HasPrefix(o.Spec.Path, "/"):
		return fmt.Sprintf("spec.path: Invalid value: %q: path must begin with /", o.Spec.Path)
	}
	return ""
}

// routeHost is the host of a Route.
func routeHost(raw []byte) string {
	var o struct{ Spec struct{ Host string } }
	_ = json.Unmarshal(raw, &o) // written by admit
	return o.Spec.Host
}

// admit does what the API server and the router do with a Route: one without a host gets <name>-<namespace>.apps.<domain>, and a host belongs to the
// namespace that asked for it first. A host outside the cluster's domain is admitted too.
func (r *run) admit(l *resources.Living, m manifest, raw []byte) (_ []byte, err error) {
	defer must.Catch(&err)
	var route map[string]any
	must.Do(json.Unmarshal(raw, &route))
	domain := must.Get(r.domain())
	spec, _ := route["spec"].(map[string]any)
	must.FailIf(spec == nil, "the Route has no spec")
	host, _ := spec["host"].(string)
	if host == "" {
		host = m.Metadata.Name + "-" + m.Metadata.Namespace + ".apps." + domain
		spec["host"] = host
	}
	condition := object{"type": "Admitted", "status": "True", "lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}
	for _, o := range l.Objects() {
		if o.Kind == "Route" && o.Namespace != m.Metadata.Namespace && routeHost(l.Content(o)) == host {
			condition["status"], condition["reason"], condition["message"] = "False", "HostAlreadyClaimed", "a route in another namespace holds "+host
		}
	}
	route["status"] = object{"ingress": []object{{"host": host, "routerName": "default", "routerCanonicalHostname": "router-default.apps." + domain, "wildcardPolicy": "None", "conditions": []object{condition}}}}
	return json.Marshal(route)
}

// getKept returns an object by its name, or all of a kind; it reports false for other kinds. Nothing: there is none of that name.
func (r *run) getKept(l *resources.Living, resource, name string) (document object, known bool) {
	if one := strings.TrimSuffix(resource, "s"); (one == "customresourcedefinition" || one == "crd") && name != "" {
		if !slices.Contains(consoleKinds, name) && !slices.Contains(kinds(l), name) {
			return nil, true
		}
		return object{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": object{"name": name}}, true
	}
	kind, known := keptKinds[strings.TrimSuffix(resource, "s")]
	if !known {
		return nil, false
	}
	items := []any{}
	for _, o := range l.Objects() {
		if o.Kind != kind || o.Namespace != "" && o.Namespace != r.namespace && !r.everywhere || name != "" && o.Name != name {
			continue
		}
		var full object
		if json.Unmarshal(l.Content(o), &full) != nil {
			continue
		}
		metadata, _ := full["metadata"].(map[string]any)
		if metadata == nil || !r.selectsMap(metadata["labels"]) {
			continue
		}
		metadata["generation"], metadata["managedFields"] = o.Applied, []object{{"manager": o.Manager, "operation": "Apply"}}
		if name != "" {
			return full, true
		}
		items = append(items, full)
	}
	if name != "" {
		return nil, true
	}
	return object{"apiVersion": "v1", "kind": "List", "items": items, "metadata": object{"resourceVersion": ""}}, true
}

// selectsMap is selects for labels as JSON has them.
func (r *run) selectsMap(labels any) bool {
	of, _ := labels.(map[string]any)
	var all []string
	for key, value := range of {
		all = append(all, fmt.Sprintf("%s=%v", key, value))
	}
	return r.selector == "" || slices.ContainsFunc(all, func(label string) bool {
		return label == r.selector || !strings.Contains(r.selector, "=") && strings.HasPrefix(label, r.selector+"=")
	})
}

// infoIsPublic reports that a RoleBinding lets everybody who is signed in read what the cluster says about itself.
func infoIsPublic(l *resources.Living) bool {
	_, role := l.Object("Role", infoNamespace, infoName)
	_, bound := l.Object("RoleBinding", infoNamespace, infoName)
	return role && bound
}

// banners shows the notifications as the console does.
func banners(l *resources.Living) (html string) {
	for _, o := range l.Objects() {
		var n struct {
			Spec struct {
				Text string
				Link struct{ Href, Text string }
			}
		}
		if o.Kind != "ConsoleNotification" || json.Unmarshal(l.Content(o), &n) != nil {
			continue
		}
		html += "<div class=banner>" + template.HTMLEscapeString(n.Spec.Text)
		if n.Spec.Link.Href != "" {
			html += ` <a href="` + template.HTMLEscapeString(n.Spec.Link.Href) + `">` + template.HTMLEscapeString(n.Spec.Link.Text) + "</a>"
		}
		html += "</div>"
	}
	return html
}
