package oc

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ocpctl/ocpctl/devstack/installer/act"
	"github.com/ocpctl/ocpctl/devstack/installer/resources"
	"github.com/ocpctl/ocpctl/devstack/must"
	"github.com/ocpctl/ocpctl/devstack/pick"
)

// This file is the API of the cluster's own OAuth (config.openshift.io/v1 OAuth, user.openshift.io, oauth.openshift.io), and what its operator does:
// it copies each htpasswd file for the OAuth server, and starts the server anew.

const (
	configNamespace = "openshift-config"
	loginNamespace  = "openshift-authentication"
	copyPrefix      = "v4-0-config-user-idp-"
)

// identityProvider is one of the OAuth configuration, as far as the stand-in knows it.
type identityProvider struct {
	Name, Type, MappingMethod string
	Htpasswd                  struct{ FileData struct{ Name string } }
	OpenID                    openIDProvider
}

func providersOf(l *resources.Living) (all []identityProvider) {
	for _, raw := range l.Providers() {
		var p identityProvider
		_ = json.Unmarshal([]byte(raw), &p) // written by replaceOAuth
		all = append(all, p)
	}
	return all
}

func (r *run) oauthCommands(root *cobra.Command) {
	replace := &cobra.Command{Use: "replace -f -", Args: cobra.NoArgs, RunE: r.inCluster("oc-replace", r.replaceOAuth)}
	replace.Flags().StringSliceVarP(&r.files, "filename", "f", nil, "The files to use")
	root.AddCommand(replace)
}

// getOAuth returns an object of OAuth by its name, or all of a kind; it reports false for other kinds. Nothing: there is none of that name.
func (r *run) getOAuth(l *resources.Living, kind, name string) (document object, known bool) {
	switch kind {
	case "oauths", "oauth":
		providers := []any{}
		for _, raw := range l.Providers() {
			var p any
			_ = json.Unmarshal([]byte(raw), &p) // written by replaceOAuth
			providers = append(providers, p)
		}
		return object{"apiVersion": "config.openshift.io/v1", "kind": "OAuth", "metadata": object{"name": "cluster", "resourceVersion": strconv.Itoa(l.Configured())},
			"spec": object{"identityProviders": providers}}, true
	case "clusteroperator", "clusteroperators":
		return authenticationOperator(l), name == "authentication"
	case "configmap", "configmaps":
		return r.signersAs(l), name == signersName && r.namespace == configNamespace
	case "secret", "secrets":
		if name == "" {
			return nil, false
		}
		return r.fileSecret(l, name), true
	case "deployments", "deployment":
		if name != "oauth-openshift" || r.namespace != loginNamespace {
			return nil, false
		}
		const replicas = 3
		return object{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{"name": name, "namespace": loginNamespace, "generation": l.Configured()}, "spec": object{"replicas": replicas},
			"status": object{"observedGeneration": l.Configured(), "replicas": replicas, "updatedReplicas": replicas, "readyReplicas": replicas, "availableReplicas": replicas}}, true
	case "oauthaccesstokens", "oauthauthorizetokens", "users", "identities":
		items := []any{}
		for _, s := range l.Sessions() {
			items = append(items, sessionAs(kind, s)...)
		}
		return object{"apiVersion": "v1", "kind": "List", "items": items}, true
	}
	return nil, false
}

// fileSecret is the Secret with an htpasswd file, or the operator's copy of one for the OAuth server.
func (r *run) fileSecret(l *resources.Living, name string) object {
	file := name
	if r.namespace == loginNamespace {
		place, _, _ := strings.Cut(strings.TrimPrefix(name, copyPrefix), "-")
		at, err := strconv.Atoi(place)
		if providers := providersOf(l); err == nil && at < len(providers) {
			file = cmp.Or(providers[at].Htpasswd.FileData.Name, providers[at].OpenID.ClientSecret.Name)
		}
	}
	if key := l.Kept("Secret/" + file); key != "" {
		return object{"apiVersion": "v1", "kind": "Secret", "metadata": object{"name": name, "namespace": r.namespace}, "data": object{"clientSecret": []byte(key)}}
	}
	if _, there := l.Object("Secret", configNamespace, file); !there {
		return nil
	}
	return object{"apiVersion": "v1", "kind": "Secret", "metadata": object{"name": name, "namespace": r.namespace}, "data": object{"htpasswd": []byte(formatFile(l.Passwords(file)))}}
}

// formatFile writes a file in the order and with the first line of the runner's. The stand-in stores its lines only.
func formatFile(lines map[string]string) string {
	text := "# ocpctl makes and removes the accounts in this file\n"
	users := make([]string, 0, len(lines))
	for user := range lines {
		users = append(users, user)
	}
	slices.Sort(users)
	for _, user := range users {
		text += user + ":" + lines[user] + "\n"
	}
	return text
}

// sessionAs returns what a session is in the API.
func sessionAs(kind string, s resources.Session) []any {
	switch kind {
	case "oauthaccesstokens":
		if strings.HasPrefix(s.Hash, noToken) {
			return nil
		}
		return []any{object{"apiVersion": "oauth.openshift.io/v1", "kind": "OAuthAccessToken", "metadata": object{"name": s.Hash}, "userName": s.User}}
	case "users":
		return []any{object{"apiVersion": "user.openshift.io/v1", "kind": "User", "metadata": object{"name": s.User}, "identities": []string{s.Provider + ":" + s.Subject}}}
	case "identities":
		return []any{object{"apiVersion": "user.openshift.io/v1", "kind": "Identity", "metadata": object{"name": s.Provider + ":" + s.Subject}, "providerName": s.Provider, "providerUserName": s.Subject}}
	}
	return nil
}

// removeSession deletes what a name means, and what of a session hangs on it: a token whose user is gone opens nothing.
func (r *run) removeSession(ctx context.Context, l *resources.Living, kind, name string) (there bool, err error) {
	for _, s := range l.Sessions() {
		if name == s.Hash && kind == "oauthaccesstokens" || name == s.User && kind == "users" || name == s.Provider+":"+s.Subject && kind == "identities" {
			there = true
			err = errors.Join(err, l.End(ctx, s))
		}
	}
	return there, err
}

// applyFile applies a Secret with an htpasswd file; it reports false for any other object.
func (r *run) applyFile(ctx context.Context, l *resources.Living, m manifest, raw []byte) (applied bool, err error) {
	if m.Metadata.Namespace != configNamespace {
		return false, nil
	}
	var config struct{ Data map[string]string }
	if m.Kind == "ConfigMap" && json.Unmarshal(raw, &config) == nil && config.Data["ca.crt"] != "" {
		return true, l.Keep(ctx, "ConfigMap/"+m.Metadata.Name, config.Data["ca.crt"])
	}
	var s struct {
		Data struct{ Htpasswd, ClientSecret []byte }
	}
	if m.Kind != "Secret" || json.Unmarshal(raw, &s) != nil || s.Data.Htpasswd == nil && s.Data.ClientSecret == nil {
		return false, nil
	}
	if where, key := "Secret/"+m.Metadata.Name, string(s.Data.ClientSecret); key != "" {
		if l.Kept(where) == key {
			return true, nil
		}
		return true, cmp.Or(l.Keep(ctx, where, key), l.Configure(ctx))
	}
	lines := map[string]string{}
	for line := range strings.Lines(string(s.Data.Htpasswd)) {
		if user, hash, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			lines[user] = hash
		}
	}
	object := resources.Object{APIVersion: m.APIVersion, Kind: m.Kind, Namespace: m.Metadata.Namespace, Name: m.Metadata.Name, Manager: r.manager}
	return true, cmp.Or(l.Apply(ctx, object, nil), l.SetPasswords(ctx, m.Metadata.Name, lines), l.Configure(ctx))
}

// replaceOAuth replaces the OAuth configuration, if nobody else did meanwhile.
func (r *run) replaceOAuth(ctx context.Context, l *resources.Living, _ []string) (err error) {
	defer must.Catch(&err)
	must.FailIf(!slices.Equal(r.files, []string{"-"}), "the stand-in replaces what it reads from -f - only")
	var config struct {
		Kind     string
		Metadata struct{ Name, ResourceVersion string }
		Spec     struct{ IdentityProviders []json.RawMessage }
	}
	must.Do(json.Unmarshal(must.Get(io.ReadAll(os.Stdin)), &config))
	must.FailIf(config.Kind != "OAuth" || config.Metadata.Name != "cluster", "the stand-in replaces the OAuth configuration only")
	if config.Metadata.ResourceVersion != strconv.Itoa(l.Configured()) {
		return act.Fail(1, "Error from server (Conflict): error when replacing \"STDIN\": Operation cannot be fulfilled on oauths.config.openshift.io \"cluster\": the object has been modified")
	}
	must.Do(r.authorize("update", "oauths", ""))
	all := pick.Map(config.Spec.IdentityProviders, func(p json.RawMessage) string { return string(p) })
	must.Do(l.SetProviders(ctx, all))
	l = must.Get(l.Again(ctx))
	degraded := observeProviders(ctx, l)
	must.Do(l.Keep(ctx, degradedNote, degraded))
	if degraded == "" {
		must.Do(l.Configure(ctx))
	}
	_, err = fmt.Fprintln(r.stdout, "oauth.config.openshift.io/cluster replaced")
	return err
}

// degradedNote keeps why the operator does not give the OAuth server its configuration; nothing: it does.
const degradedNote = "authentication/degraded"

// observeProviders returns why the operator cannot use a provider; empty: it can use all.
func observeProviders(ctx context.Context, l *resources.Living) string {
	for _, p := range providersOf(l) {
		if p.Type != "OpenID" {
			continue
		}
		if err := observeProvider(ctx, l, p); err != nil {
			return "OAuthServerConfigObservationDegraded: " + err.Error()
		}
	}
	return ""
}

// authenticationOperator is the cluster operator that keeps the OAuth server.
func authenticationOperator(l *resources.Living) object {
	condition := object{"type": "Degraded", "status": "False", "reason": "AsExpected"}
	if why := l.Kept(degradedNote); why != "" {
		condition = object{"type": "Degraded", "status": "True", "reason": "OAuthServerConfigObservation_Error", "message": why}
	}
	return object{"apiVersion": "config.openshift.io/v1", "kind": "ClusterOperator", "metadata": object{"name": "authentication"}, "status": object{"conditions": []object{condition}}}
}

// hashToken returns the name under which the API keeps a token (openshift/oauth-apiserver: sha256~ and the hash of what follows it in the token).
func hashToken(token string) string {
	sum := sha256.Sum256([]byte(strings.TrimPrefix(token, "sha256~")))
	return "sha256~" + base64.RawURLEncoding.EncodeToString(sum[:])
}
