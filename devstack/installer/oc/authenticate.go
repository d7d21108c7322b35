package oc

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/devstack/installer/act"
	"github.com/ocpctl/ocpctl/devstack/installer/resources"
	"github.com/ocpctl/ocpctl/devstack/must"
)

// login is how a kubeconfig's user proves who they are.
type login struct {
	Certificate string `yaml:"client-certificate-data"`
	Key         string `yaml:"client-key-data"`
	Token       string
	Exec        *struct {
		Command string
		Args    []string
		Env     []struct{ Name, Value string }
	}
}

// user is who speaks to the cluster.
type user struct {
	account, namespace string                          // empty: the installer's admin, by certificate
	rolesIn            func(namespace string) []string // its cluster roles there; empty: in the whole cluster
}

func (u user) name() string {
	switch {
	case u.account == "":
		return "system:admin"
	case u.namespace == "":
		return u.account // of the cluster's own OAuth
	}
	return "system:serviceaccount:" + u.namespace + ":" + u.account
}

var errUnauthorized = act.Fail(1, "error: You must be logged in to the server (Unauthorized)")

// token returns the login's token, from its exec plugin if it has one; empty: it has none.
func (l login) token(ctx context.Context) (string, error) {
	if l.Exec == nil {
		return l.Token, nil
	}
	cmd := exec.CommandContext(ctx, l.Exec.Command, l.Exec.Args...)
	cmd.Env, cmd.Stderr = os.Environ(), os.Stderr
	for _, e := range l.Exec.Env {
		cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
	}
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return "", act.Fail(1, "Unable to connect to the server: getting credentials: exec: executable %s failed: %v", l.Exec.Command, err)
	}
	var credential struct {
		APIVersion, Kind string
		Status           struct {
			Token               string
			ExpirationTimestamp time.Time
		}
	}
	if err := json.Unmarshal(out.Bytes(), &credential); err != nil || credential.Kind != "ExecCredential" || credential.APIVersion != "client.authentication.k8s.io/v1" {
		return "", act.Fail(1, "Unable to connect to the server: getting credentials: decoding stdout: no ExecCredential")
	}
	return credential.Status.Token, nil
}

// claims is what a token says.
type claims struct {
	Subject    string           `json:"sub"`
	Issuer     string           `json:"iss"`
	Audience   []string         `json:"aud"`
	IssuedAt   int64            `json:"iat"`
	Expires    int64            `json:"exp"`
	Kubernetes kubernetesClaims `json:"kubernetes.io"`
}

type kubernetesClaims struct {
	Namespace      string `json:"namespace"`
	ServiceAccount struct {
		Name string `json:"name"`
		UID  string `json:"uid"`
	} `json:"serviceaccount"`
}

// sign makes a token of a service account. The real API server signs with RS256; the stand-in has one process for both sides.
func sign(key []byte, a resources.Account, now, expires time.Time) (string, error) {
	said := claims{
		Subject: "system:serviceaccount:" + a.Namespace + ":" + a.Name, Issuer: "https://kubernetes.default.svc", Audience: []string{"https://kubernetes.default.svc"},
		IssuedAt: now.Unix(), Expires: expires.Unix(), Kubernetes: kubernetesClaims{Namespace: a.Namespace},
	}
	said.Kubernetes.ServiceAccount.Name, said.Kubernetes.ServiceAccount.UID = a.Name, a.UID
	payload, err := json.Marshal(said)
	if err != nil {
		return "", err
	}
	body := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","kid":"stand-in"}`)) + "." + base64.RawURLEncoding.EncodeToString(payload)
	return body + "." + seal(key, body), nil
}

func seal(key []byte, body string) string {
	sum := hmac.New(sha256.New, key)
	sum.Write([]byte(body))
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil))
}

// authenticate finds out who speaks. A token counts if this cluster signed it, it has not expired, and its account is the one it was made
// for.
func (r *run) authenticate(ctx context.Context, l *resources.Living) (err error) {
	defer must.Catch(&err)
	token, err := r.login.token(ctx)
	switch {
	case err != nil:
		return err
	case token == "" && r.login.Key != "":
		if !r.isSigned(l) {
			return errUnauthorized
		}
		return nil // the certificate of system:admin
	case token == "":
		return errUnauthorized
	}
	if strings.HasPrefix(token, "sha256~") {
		return r.authenticateSession(l, token)
	}
	key := must.Get(l.Signer(ctx))
	at := strings.LastIndex(token, ".")
	must.EndIf(at < 0 || !hmac.Equal([]byte(seal(key, token[:at])), []byte(token[at+1:])), errUnauthorized)
	_, encoded, _ := strings.Cut(token[:at], ".")
	payload, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return errUnauthorized
	}
	var said claims
	if err := json.Unmarshal(payload, &said); err != nil {
		return errUnauthorized
	}
	account, there := l.Account(said.Kubernetes.Namespace, said.Kubernetes.ServiceAccount.Name)
	must.EndIf(!there || account.UID != said.Kubernetes.ServiceAccount.UID || !time.Now().Before(time.Unix(said.Expires, 0)), errUnauthorized)
	r.who = user{account: account.Name, namespace: account.Namespace, rolesIn: func(in string) []string { return l.RolesOf(account.Namespace, account.Name, in) }}
	return nil
}

// authenticateSession finds out who has a token of the cluster's OAuth. It counts until it expires or is deleted.
func (r *run) authenticateSession(l *resources.Living, token string) error {
	for _, s := range l.Sessions() {
		if s.Hash == hashToken(token) && time.Now().Before(s.Expires) {
			r.who = user{account: s.User, rolesIn: func(in string) []string { return l.RolesOf("", s.User, in) }}
			return nil
		}
	}
	return errUnauthorized
}

// The cluster's own kinds, which belong to no namespace. A role that is bound in the whole cluster reads them only if it is cluster-reader
// or cluster-admin.
var clusterScoped = []string{"node", "scheduler", "clusterrolebinding", "customresourcedefinition", "namespace", "certificatesigningrequest", "clusteroperator", "apirequestcount", "oauth", "user", "identitie", "oauthaccesstoken", "oauthauthorizetoken"}

// notEdited are kinds of namespaces that the role edit does not change.
var notEdited = []string{"machineset", "machine", "subscription", "operatorgroup", "rolebinding"}

// authorize refuses what the user's cluster roles do not allow in a namespace, or with an empty one in all of them, in the API server's words.
func (r *run) authorize(verb, resource, in string) error {
	resource, _, _ = strings.Cut(resource, ".")
	one := strings.TrimSuffix(strings.ToLower(resource), "s")
	wide := slices.Contains(clusterScoped, one)
	allowed := func(role string) bool {
		reads := verb == "get" || verb == "list" || verb == "watch"
		switch role {
		case "cluster-admin":
			return true
		case "cluster-reader":
			return reads && one != "secret"
		case "view":
			return reads && !wide && one != "secret"
		case "edit":
			return !wide && !slices.Contains(notEdited, one)
		}
		return false
	}
	if r.who.account == "" || slices.ContainsFunc(r.who.rolesIn(in), allowed) || verb == "list" && one == "configmap" && in == infoNamespace && r.infoForAll {
		return nil
	}
	where := "in the namespace \"" + in + "\""
	if wide || in == "" {
		where = "at the cluster scope"
	}
	return act.Fail(1, "Error from server (Forbidden): %s is forbidden: User %q cannot %s resource %q in API group \"\" %s", one+"s", r.who.name(), verb, one+"s", where)
}

// in is the namespace that a command works in; empty: all of them.
func (r *run) in() string {
	if r.everywhere {
		return ""
	}
	return r.namespace
}

// verbs are what the commands do, for authorize; resource names the kind where the arguments do not.
var verbs = map[string]struct{ verb, resource string }{
	"oc-get": {"list", ""}, "oc-scale": {"patch", "machinesets"}, "oc-patch": {"patch", ""}, "oc-wait": {"list", ""}, "oc-token": {"create", "serviceaccounts/token"},
	"oc-delete": {"delete", ""}, "oc-replace": {"update", "oauths"}, "oc-must-gather": {"create", "clusterrolebindings"}, "oc-approve": {"update", "certificatesigningrequests"},
}

// allow judges a command by its arguments. What apply may do depends on each object; whoami may be asked by everybody.
func (r *run) allow(command string, args []string) (err error) {
	defer must.Catch(&err)
	does, known := verbs[command]
	if !known {
		return nil
	}
	resource := does.resource
	if resource == "" && len(args) > 0 {
		resource, _, _ = strings.Cut(args[0], "/")
	}
	must.FailIf(resource == "", "the stand-in does not know what %s works on", command)
	for one := range strings.SplitSeq(resource, ",") {
		must.Do(r.authorize(does.verb, one, r.in()))
	}
	return nil
}
