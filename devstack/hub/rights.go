package hub

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/deploy"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// token is a service account's, as long as the account with that UID is there.
type token struct {
	Namespace, Account, UID string
	Expires                 time.Time // zero: never
}

func (t token) user() string { return "system:serviceaccount:" + t.Namespace + ":" + t.Account }

// applyDeploy makes the namespaces that every cluster has, and what deploy/hub.yaml applies.
func (h *Hub) applyDeploy() (err error) {
	defer must.Catch(&err)
	for _, name := range []string{"kube-system", "default"} {
		must.Get(h.create(namespaces+"/"+name, object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": name}}))
	}
	decoder := yaml.NewDecoder(bytes.NewReader(deploy.Hub))
	for {
		var o object
		if err := decoder.Decode(&o); errors.Is(err, io.EOF) {
			break
		} else {
			must.Do(err)
		}
		o = clone(o)
		path := pathOf(o)
		must.FailIf(path == "", "deploy/hub.yaml has a kind that the stand-in does not know: %s", text(o, "kind"))
		must.Do(checkFields(parse(path), o))
		must.Get(h.create(path, o))
	}
	account := h.world.Objects[namespaces+"/ocpctl/serviceaccounts/ocpctl-runner"]
	h.world.Runner = newToken("system:serviceaccount:ocpctl:ocpctl-runner", time.Now().AddDate(10, 0, 0))
	h.world.Tokens[h.world.Runner] = token{Namespace: "ocpctl", Account: "ocpctl-runner", UID: text(account.Object, "metadata", "uid")}
	return nil
}

// newToken looks like a JWT of a service account, and is signed by nobody: the hub remembers those that it gave.
func newToken(subject string, expires time.Time) string {
	part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	return part(`{"alg":"RS256"}`) + "." + part(fmt.Sprintf(`{"sub":%q,"exp":%d}`, subject, expires.Unix())) + "." + part(rand.Text())
}

// authenticate returns who asks.
func (h *Hub) authenticate(r *http.Request) (token, error) {
	given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	t, known := h.world.Tokens[given]
	account := h.world.Objects[namespaces+"/"+t.Namespace+"/serviceaccounts/"+t.Account]
	if h.refuses || !known || account == nil || text(account.Object, "metadata", "uid") != t.UID || !t.Expires.IsZero() && time.Now().After(t.Expires) {
		return t, refuse(http.StatusUnauthorized, "Unauthorized", "Unauthorized")
	}
	return t, nil
}

// may judges by RBAC: the cluster roles that are bound everywhere, and those that are bound in the namespace.
func (h *Hub) may(user, verb, group, resource, namespace, name string) bool {
	for path, one := range h.world.Objects {
		where := parse(path)
		everywhere := where.resource == "clusterrolebindings"
		if !everywhere && (where.resource != "rolebindings" || where.namespace != namespace) || !isSubject(one.Object, user) {
			continue
		}
		role := h.world.Objects["/apis/rbac.authorization.k8s.io/v1/clusterroles/"+text(one.Object, "roleRef", "name")]
		if role == nil {
			continue
		}
		rules, _ := role.Object["rules"].([]any)
		for _, raw := range rules {
			rule, _ := raw.(object)
			if matches(rule, "verbs", verb) && matches(rule, "apiGroups", group) && matches(rule, "resources", resource) &&
				(len(texts(rule, "resourceNames")) == 0 || slices.Contains(texts(rule, "resourceNames"), name)) {
				return true
			}
		}
	}
	return false
}

func matches(rule object, field, value string) bool {
	all := texts(rule, field)
	return slices.Contains(all, value) || slices.Contains(all, "*")
}

func isSubject(binding object, user string) bool {
	subjects, _ := binding["subjects"].([]any)
	return slices.ContainsFunc(subjects, func(raw any) bool {
		s, _ := raw.(object)
		return text(s, "kind") == "User" && text(s, "name") == user ||
			text(s, "kind") == "ServiceAccount" && "system:serviceaccount:"+text(s, "namespace")+":"+text(s, "name") == user
	})
}

// authorize refuses what the user may not. Whoever binds a role has to have the right to bind it.
func (h *Hub) authorize(who token, verb string, where place, body object) error {
	if where.review() || h.may(who.user(), verb, where.group, where.full(), where.namespace, where.name) {
		role := text(body, "roleRef", "name")
		if where.resource == "rolebindings" && role != "" && !h.may(who.user(), "bind", where.group, "clusterroles", where.namespace, role) {
			return refuse(http.StatusForbidden, "Forbidden", "rolebindings %q is forbidden: user %q is attempting to grant RBAC permissions not currently held", where.name, who.user())
		}
		return nil
	}
	in := " at the cluster scope"
	if where.namespace != "" {
		in = fmt.Sprintf(" in the namespace %q", where.namespace)
	}
	return refuse(http.StatusForbidden, "Forbidden", "%s %q is forbidden: User %q cannot %s resource %q in API group %q%s", where.resource, where.name, who.user(), verb, where.full(), where.group, in)
}
