// Package card makes the objects by which a cluster says whose it is and when it ends: a ConfigMap that everybody in it may read, and a
// notification in its console. They contain no secret.
package card

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/duration"
)

const (
	// Namespace is where OpenShift's own operators publish what everybody may read, the console's address for one (console-public).
	Namespace = "openshift-config-managed"
	// Name is that of the ConfigMap and of the notification.
	Name = "ocpctl-info"
	// Definition is the notification's kind, which a cluster without a console does not have.
	Definition = "consolenotifications.console.openshift.io"
)

type object map[string]any

// Info returns the ConfigMap with what lets everybody who is signed in read it, as a List.
func Info(cluster string, c contract.Card) ([]byte, error) {
	data := map[string]string{"cluster": cluster, "owner": c.Owner, "team": c.Team, "ends": c.Ends.UTC().Format(time.RFC3339), "extend": extendCommand(cluster)}
	if c.UnusedFor > 0 {
		data["ends-unused-after"] = duration.Typed(c.UnusedFor)
	}
	for key, value := range map[string]string{"pull-request": c.PullRequest, "page": c.Page} {
		if value != "" {
			data[key] = value
		}
	}
	const group = "rbac.authorization.k8s.io"
	return list(
		object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(Namespace), "data": data},
		object{"apiVersion": group + "/v1", "kind": "Role", "metadata": metadata(Namespace),
			"rules": []object{{"apiGroups": []string{""}, "resources": []string{"configmaps"}, "resourceNames": []string{Name}, "verbs": []string{"get", "list", "watch"}}}},
		object{"apiVersion": group + "/v1", "kind": "RoleBinding", "metadata": metadata(Namespace),
			"roleRef":  object{"apiGroup": group, "kind": "Role", "name": Name},
			"subjects": []object{{"apiGroup": group, "kind": "Group", "name": "system:authenticated"}}},
	)
}

// Banner returns the notification. The console takes only https addresses as a link (openshift/api console/v1): another one is part of the text.
func Banner(cluster string, c contract.Card) ([]byte, error) {
	text := fmt.Sprintf("%s belongs to %s", cluster, cmp.Or(c.Owner, "team "+c.Team))
	if c.PullRequest != "" {
		text += " (" + nameOfPull(c.PullRequest) + ")"
	}
	text += " and ends at " + c.Ends.UTC().Format("15:04 MST on 2 January 2006")
	if c.UnusedFor > 0 {
		text += ", or when nobody has used it for " + duration.Format(c.UnusedFor)
	}
	text += ". To extend it, run " + extendCommand(cluster)
	if c.PullRequest != "" {
		text += " or comment /ocp extend 4h on the pull request"
	}
	spec := object{"location": "BannerTop", "color": "#151515", "backgroundColor": "#bee1f4"}
	switch {
	case strings.HasPrefix(c.Page, "https://"):
		spec["link"] = object{"href": c.Page, "text": "Extend it on its page"}
	case c.Page != "":
		text += ", or open " + c.Page
	}
	spec["text"] = text + "."
	return list(object{"apiVersion": "console.openshift.io/v1", "kind": "ConsoleNotification", "metadata": metadata(""), "spec": spec})
}

func extendCommand(cluster string) string { return "ocpctl extend " + cluster + " 4h" }

// nameOfPull shortens the address of a pull request, https://github.com/acme/shop/pull/41, to acme/shop#41.
func nameOfPull(address string) string {
	parts := strings.Split(address, "/")
	if n := len(parts); n > 4 {
		return parts[n-4] + "/" + parts[n-3] + "#" + parts[n-1]
	}
	return address
}

func metadata(namespace string) object {
	m := object{"name": Name, "labels": object{"app.kubernetes.io/managed-by": "ocpctl"}}
	if namespace != "" {
		m["namespace"] = namespace
	}
	return m
}

func list(objects ...object) ([]byte, error) {
	raw, err := json.Marshal(object{"apiVersion": "v1", "kind": "List", "items": objects})
	if err != nil {
		return nil, fmt.Errorf("write the identity card: %w", err)
	}
	return raw, nil
}
