package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/must"
)

type object = map[string]any

// kind is a kind of OpenShift's that the installer reads.
type kind struct {
	group, plural, name string
	namespaced          bool
}

func (k kind) path(namespace string) string {
	if namespace != "" {
		return "/apis/" + k.group + "/v1/namespaces/" + namespace + "/" + k.plural
	}
	return "/apis/" + k.group + "/v1/" + k.plural
}

var (
	versions  = kind{"config.openshift.io", "clusterversions", "ClusterVersion", false}
	operators = kind{"config.openshift.io", "clusteroperators", "ClusterOperator", false}
	etcds     = kind{"operator.openshift.io", "etcds", "Etcd", false}
	routes    = kind{"route.openshift.io", "routes", "Route", true}
)

// operatorNames are operators that every cluster has.
var operatorNames = strings.Fields("authentication cloud-credential console etcd image-registry ingress kube-apiserver machine-api machine-config network storage")

// define makes the API know a kind, and waits until it does.
func (c *Cluster) define(ctx context.Context, k kind) (err error) {
	defer must.Catch(&err)
	scope := map[bool]string{true: "Namespaced", false: "Cluster"}[k.namespaced]
	must.Do(c.create(ctx, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", object{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": object{"name": k.plural + "." + k.group},
		"spec": object{"group": k.group, "scope": scope, "names": object{"plural": k.plural, "singular": strings.ToLower(k.name), "kind": k.name, "listKind": k.name + "List"},
			"versions": []object{{"name": "v1", "served": true, "storage": true, "schema": object{"openAPIV3Schema": object{"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}},
	}))
	return until(ctx, func() (bool, error) { return c.api.call(ctx, http.MethodGet, k.path(""), nil) == nil, nil })
}

// create makes an object. One that exists is left as it is.
func (c *Cluster) create(ctx context.Context, path string, o object) error {
	err := c.api.call(ctx, http.MethodPost, path, o)
	var refused *refusal
	if errors.As(err, &refused) && refused.status == http.StatusConflict {
		return nil
	}
	return err
}

// condition is one in the form of both Kubernetes and OpenShift.
func condition(of string, holds bool, message string) object {
	status := map[bool]string{true: "True", false: "False"}[holds]
	return object{"type": of, "status": status, "message": message, "reason": "AsExpected", "lastTransitionTime": time.Now().UTC().Format(time.RFC3339)}
}

func (k kind) object(namespace, name string, spec, status object) object {
	metadata := object{"name": name}
	if namespace != "" {
		metadata["namespace"] = namespace
	}
	return object{"apiVersion": k.group + "/v1", "kind": k.name, "metadata": metadata, "spec": spec, "status": status}
}

func configMap(namespace, name string, data object) object {
	return object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"namespace": namespace, "name": name}, "data": data}
}

// progress is the state of a ClusterVersion.
func progress(available, progressing bool, message string) object {
	return object{"conditions": []object{condition("Available", available, message), condition("Progressing", progressing, message), condition("Failing", false, "")}}
}

// bootstrap is what the bootstrap machine and the first operators do.
func (c *Cluster) bootstrap(ctx context.Context) (err error) {
	defer must.Catch(&err)
	for _, k := range []kind{versions, operators, etcds, routes} {
		must.Do(c.define(ctx, k))
	}
	for _, namespace := range []string{"openshift-config-managed", "openshift-console"} {
		must.Do(c.create(ctx, "/api/v1/namespaces", object{"metadata": object{"name": namespace}}))
	}
	must.Do(c.nodes(ctx))
	must.Do(c.create(ctx, versions.path(""), versions.object("", "version", object{"channel": "candidate-4.19", "clusterID": "00000000-0000-4000-8000-000000000000"},
		progress(false, true, fmt.Sprintf("Working towards %s: 312 of 903 done (34%% complete)", c.Version)))))
	must.Do(c.create(ctx, etcds.path(""), etcds.object("", "cluster", object{"managementState": "Managed"},
		object{"conditions": []object{condition("EtcdBootstrapMemberRemoved", true, "etcd bootstrap member is removed")}})))
	must.Do(c.create(ctx, "/api/v1/namespaces/kube-system/configmaps", configMap("kube-system", "bootstrap", object{"status": "complete"})))
	c.Log("bootstrapping is complete")
	return nil
}

// nodes makes an object for each of the cluster's machines.
func (c *Cluster) nodes(ctx context.Context) (err error) {
	defer must.Catch(&err)
	for name, is := range must.Get(c.Cloud.Nodes(ctx)) {
		provider, kind, _ := strings.Cut(is, " ")
		must.Do(c.create(ctx, "/api/v1/nodes", object{
			"apiVersion": "v1", "kind": "Node", "metadata": object{"name": name, "labels": object{"node-role.kubernetes.io/" + kind: ""}},
			"spec":   object{"providerID": provider},
			"status": object{"conditions": []object{{"type": "Ready", "status": "True", "reason": "KubeletReady"}}},
		}))
	}
	return nil
}

// complete is what the operators tell when their work is done.
func (c *Cluster) complete(ctx context.Context) (err error) {
	defer must.Catch(&err)
	must.Do(c.nodes(ctx))
	for _, name := range operatorNames {
		must.Do(c.create(ctx, operators.path(""), operators.object("", name, object{},
			object{"conditions": []object{condition("Available", true, ""), condition("Progressing", false, ""), condition("Degraded", false, "")}})))
	}
	host := "console-openshift-console.apps." + c.Cloud.Domain()
	must.Do(c.create(ctx, routes.path("openshift-console"), routes.object("openshift-console", "console",
		object{"host": host, "to": object{"kind": "Service", "name": "console"}, "tls": object{"termination": "reencrypt"}},
		object{"ingress": []object{{"host": host, "routerName": "default", "conditions": []object{condition("Admitted", true, "")}}}})))
	must.Do(c.create(ctx, "/api/v1/namespaces/openshift-config-managed/configmaps",
		configMap("openshift-config-managed", "default-ingress-cert", object{"ca-bundle.crt": string(c.files["/opt/openshift/tls/kube-apiserver-lb-ca-bundle.crt"])})))
	c.Log("the operators are done")
	return c.report(ctx, progress(true, false, "Cluster version is "+c.Version))
}

// fail tells the installer what keeps the operators from their work.
func (c *Cluster) fail(ctx context.Context, why string) error {
	return c.report(ctx, object{"conditions": []object{condition("Available", false, why), condition("Progressing", true, why), condition("Failing", true, why)}})
}

func (c *Cluster) report(ctx context.Context, status object) error {
	return c.api.call(ctx, http.MethodPatch, versions.path("")+"/version", object{"status": status})
}
