package hub

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	admission "k8s.io/api/admissionregistration/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	rbac "k8s.io/api/rbac/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// place is what a path names.
type place struct {
	group, version, namespace, resource, name, sub string
}

func (p place) full() string {
	if p.sub != "" {
		return p.resource + "/" + p.sub
	}
	return p.resource
}

// review reports what everybody may ask: who they are and what they may.
func (p place) review() bool {
	return p.resource == "selfsubjectreviews" || p.resource == "selfsubjectaccessreviews"
}

// parse reads /api/v1/… and /apis/group/version/….
func parse(path string) (p place) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch {
	case len(parts) > 2 && parts[0] == "api":
		p.version, parts = parts[1], parts[2:]
	case len(parts) > 3 && parts[0] == "apis":
		p.group, p.version, parts = parts[1], parts[2], parts[3:]
	default:
		return p
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		p.namespace, parts = parts[1], parts[2:]
	}
	p.resource = parts[0]
	if len(parts) > 1 {
		p.name = parts[1]
	}
	if len(parts) > 2 {
		p.sub = parts[2]
	}
	return p
}

// route is a Route of OpenShift, as far as it is used here.
type route struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Host string `json:"host"`
		To   struct {
			Kind string `json:"kind"`
			Name string `json:"name"`
		} `json:"to"`
	} `json:"spec"`
}

// known is a kind that the stand-in has, with Kubernetes' own type.
type known struct {
	kind, group string
	inNamespace bool
	new         func() any
}

const rbacGroup, networkGroup, admissionGroup = "rbac.authorization.k8s.io", "networking.k8s.io", "admissionregistration.k8s.io"

var resources = map[string]known{
	"namespaces":                        {"Namespace", "", false, func() any { return &core.Namespace{} }},
	"serviceaccounts":                   {"ServiceAccount", "", true, func() any { return &core.ServiceAccount{} }},
	"secrets":                           {"Secret", "", true, func() any { return &core.Secret{} }},
	"configmaps":                        {"ConfigMap", "", true, func() any { return &core.ConfigMap{} }},
	"resourcequotas":                    {"ResourceQuota", "", true, func() any { return &core.ResourceQuota{} }},
	"limitranges":                       {"LimitRange", "", true, func() any { return &core.LimitRange{} }},
	"persistentvolumes":                 {"PersistentVolume", "", false, func() any { return &core.PersistentVolume{} }},
	"persistentvolumeclaims":            {"PersistentVolumeClaim", "", true, func() any { return &core.PersistentVolumeClaim{} }},
	"services":                          {"Service", "", true, func() any { return &core.Service{} }},
	"pods":                              {"Pod", "", true, func() any { return &core.Pod{} }},
	"ingresses":                         {"Ingress", networkGroup, true, func() any { return &networking.Ingress{} }},
	"networkpolicies":                   {"NetworkPolicy", networkGroup, true, func() any { return &networking.NetworkPolicy{} }},
	"clusterroles":                      {"ClusterRole", rbacGroup, false, func() any { return &rbac.ClusterRole{} }},
	"clusterrolebindings":               {"ClusterRoleBinding", rbacGroup, false, func() any { return &rbac.ClusterRoleBinding{} }},
	"rolebindings":                      {"RoleBinding", rbacGroup, true, func() any { return &rbac.RoleBinding{} }},
	"validatingadmissionpolicies":       {"ValidatingAdmissionPolicy", admissionGroup, false, func() any { return &admission.ValidatingAdmissionPolicy{} }},
	"validatingadmissionpolicybindings": {"ValidatingAdmissionPolicyBinding", admissionGroup, false, func() any { return &admission.ValidatingAdmissionPolicyBinding{} }},
	"routes":                            {"Route", "route.openshift.io", true, func() any { return &route{} }},
	"hostedclusters":                    {"HostedCluster", hostedGroup, true, func() any { return &hostedCluster{} }},
	"nodepools":                         {"NodePool", hostedGroup, true, func() any { return &nodePool{} }},
	"virtualmachines":                   {"VirtualMachine", machineGroup, true, func() any { return &virtualMachine{} }},
}

// pathOf returns where an object is; empty: its kind is not known.
func pathOf(o object) string {
	for resource, k := range resources {
		if k.kind != text(o, "kind") {
			continue
		}
		path := "/api/v1"
		if k.group != "" {
			path = "/apis/" + k.group + "/v1"
		}
		if k.inNamespace {
			path += "/namespaces/" + text(o, "metadata", "namespace")
		}
		return path + "/" + resource + "/" + text(o, "metadata", "name")
	}
	return ""
}

// checkFields refuses an object with a field that Kubernetes does not know, or of another kind than its path says.
func checkFields(where place, o object) error {
	k, has := resources[where.resource]
	if !has || k.group != where.group {
		return refuse(http.StatusNotFound, "NotFound", "the server could not find the requested resource")
	}
	if text(o, "kind") != k.kind || text(o, "metadata", "name") != where.name || k.inNamespace && text(o, "metadata", "namespace") != where.namespace {
		return refuse(http.StatusBadRequest, "BadRequest", "the object (%s %s) does not match the path", text(o, "kind"), text(o, "metadata", "name"))
	}
	raw, err := json.Marshal(o)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(k.new()); err != nil {
		return refuse(http.StatusBadRequest, "BadRequest", "strict decoding error: %v", err)
	}
	return nil
}
