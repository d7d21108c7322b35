package console

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
)

// newFileProvider returns the identity provider in the OAuth configuration (openshift/api config/v1 IdentityProvider) that reads our file. With the
// mapping claim, nobody becomes a user whom another provider has.
func newFileProvider() object {
	return object{"name": names.ConsoleProvider, "mappingMethod": "claim", "type": "HTPasswd", "htpasswd": object{"fileData": object{"name": fileSecret}}}
}

// newOpenIDProvider returns the identity provider that signs readers in through the server.
func newOpenIDProvider(client contract.OpenIDClient) object {
	of := object{
		"clientID": client.ID, "clientSecret": object{"name": clientSecret}, "issuer": client.Issuer,
		"claims": object{"preferredUsername": []string{"preferred_username"}, "name": []string{"name"}, "groups": []string{"groups"}},
	}
	if client.CA != "" {
		of["ca"] = object{"name": clientSecret}
	}
	return object{"name": names.OpenIDProvider, "mappingMethod": "claim", "type": "OpenID", "openID": of}
}

// writeClient writes the Secret with which the OAuth server proves which cluster it is, and the certificates that prove the server to it. It reports
// whether the Secret changed: the OAuth server reads it once.
func (c *Changer) writeClient(ctx context.Context, client contract.OpenIDClient) (changed bool, err error) {
	there, err := c.readData(ctx, "clientSecret", clientSecret, configNamespace)
	if err != nil {
		return false, err
	}
	objects := []any{newSecret(clientSecret, "clientSecret", client.Secret)}
	if client.CA != "" {
		objects = append(objects, object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": newMetadata(clientSecret), "data": object{"ca.crt": client.CA}})
	}
	return there != client.Secret, c.applyObjects(ctx, objects...)
}

// conflictTries is how often the configuration is read and written again because somebody else wrote it meanwhile.
const conflictTries = 5

// addProviders adds providers of ours to the configuration, unless they are there. It keeps all others: the list is written as it was read, with
// its resourceVersion. It reports whether it wrote: then the OAuth server has to start anew, since it reads its providers once.
func (c *Changer) addProviders(ctx context.Context, ours []object) (added bool, err error) {
	for range conflictTries {
		if added, err = c.addProvidersOnce(ctx, ours); err == nil || !strings.Contains(err.Error(), "(Conflict)") {
			return added, err
		}
	}
	return false, err
}

func (c *Changer) addProvidersOnce(ctx context.Context, ours []object) (bool, error) {
	config, providers, err := c.readProviders(ctx)
	if err != nil {
		return false, err
	}
	added := false
	for _, one := range ours {
		at := indexOf(providers, one["name"])
		switch {
		case at >= 0 && isSame(providers[at], one):
			continue
		case at >= 0:
			providers[at] = map[string]any(one)
		default:
			providers = append(providers, map[string]any(one))
		}
		added = true
	}
	if !added {
		return false, nil
	}
	spec, _ := config["spec"].(map[string]any)
	if spec == nil {
		spec = map[string]any{}
	}
	spec["identityProviders"], config["spec"] = providers, spec
	if metadata, ok := config["metadata"].(map[string]any); ok {
		delete(metadata, "managedFields")
	}
	raw, err := json.Marshal(config)
	if err != nil {
		return false, fmt.Errorf("write the OAuth configuration: %w", err)
	}
	return true, c.Cluster.Run(ctx, raw, "replace", "-f", "-")
}

func (c *Changer) readProviders(ctx context.Context) (config map[string]any, providers []any, err error) {
	raw, err := c.Cluster.Get(ctx, "oauths.config.openshift.io", "cluster")
	if err != nil {
		return nil, nil, err
	}
	if raw.Empty() || json.Unmarshal([]byte(raw.Reveal()), &config) != nil {
		return nil, nil, fmt.Errorf("the cluster has no OAuth configuration, so nobody but kubeadmin can sign in to its console")
	}
	spec, _ := config["spec"].(map[string]any)
	providers, _ = spec["identityProviders"].([]any)
	return config, providers, nil
}

func indexOf(providers []any, name any) int {
	return slices.IndexFunc(providers, func(p any) bool {
		one, _ := p.(map[string]any)
		return one["name"] == name
	})
}

// isSame reports that a provider of the configuration says what it should. Other clients add empty fields.
func isSame(is any, should object) bool {
	raw, err := json.Marshal(should)
	var want any
	return err == nil && json.Unmarshal(raw, &want) == nil && holdsFields(is, want)
}

func holdsFields(is, want any) bool {
	fields, ok := want.(map[string]any)
	if !ok {
		return reflect.DeepEqual(is, want)
	}
	have, _ := is.(map[string]any)
	for name, value := range have {
		if _, wanted := fields[name]; !wanted && !isEmpty(value) {
			return false
		}
	}
	for name, value := range fields {
		if !holdsFields(have[name], value) {
			return false
		}
	}
	return true
}

func isEmpty(value any) bool {
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			if !isEmpty(inner) {
				return false
			}
		}
		return true
	case []any:
		return len(v) == 0
	}
	return value == nil || value == ""
}

// server is the OAuth server's Deployment, as far as it says which configuration its pods have read.
type server struct {
	Metadata struct{ Generation int64 }
	Spec     struct{ Replicas int }
	Status   struct {
		ObservedGeneration                                          int64
		Replicas, UpdatedReplicas, AvailableReplicas, ReadyReplicas int
	}
}

func (s server) isRolledOut() bool {
	n := s.Spec.Replicas
	return n > 0 && s.Status.ObservedGeneration == s.Metadata.Generation && s.Status.Replicas == n && s.Status.UpdatedReplicas == n && s.Status.AvailableReplicas == n
}

func (c *Changer) readServer(ctx context.Context) (s server, err error) {
	raw, err := c.Cluster.Get(ctx, "deployments.apps", "oauth-openshift", "-n", loginNamespace)
	if err != nil {
		return s, err
	}
	if raw.Empty() || json.Unmarshal([]byte(raw.Reveal()), &s) != nil {
		return s, fmt.Errorf("the cluster has no OAuth server (Deployment %s/oauth-openshift), so nobody can sign in to its console", loginNamespace)
	}
	return s, nil
}

// mountedAfter is how long a running pod may take until it sees a changed Secret that it mounts: the kubelet looks once a minute. The OAuth
// server reads its file again when it has changed.
const mountedAfter = 2 * time.Minute

// wanted is what the OAuth server has to work with after a change.
type wanted struct {
	file    string // the content of our htpasswd file
	client  string // the cluster's secret at the server; empty: nobody signs in through it
	before  server // the OAuth server before the change
	changed bool   // the file was
	// restarts: the OAuth server has to start anew, since it reads its providers and the client's secret once.
	restarts bool
}

// awaitServer waits until the OAuth server works with the change. Its operator copies each file, and starts the pods anew when a copy has
// changed (cluster-authentication-operator, the deployment's rvs-hash).
func (c *Changer) awaitServer(ctx context.Context, next wanted) error {
	until, copied := time.Now().Add(c.Patience), time.Time{}
	for {
		is, err := c.isCopied(ctx, next)
		if err != nil {
			return err
		}
		now, err := c.readServer(ctx)
		if err != nil {
			return err
		}
		if is && copied.IsZero() {
			copied = time.Now()
		}
		restarted := now.isRolledOut() && (!next.changed && !next.restarts || now.Metadata.Generation > next.before.Metadata.Generation)
		if is && (restarted || !next.restarts && time.Since(copied) > mountedAfter) {
			return nil
		}
		if time.Now().Add(c.Poll).After(until) {
			return c.explainUnread(ctx)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(c.Poll):
		}
	}
}

// explainUnread returns why the OAuth server does not work with the change, if its operator says so.
func (c *Changer) explainUnread(ctx context.Context) error {
	raw, err := c.Cluster.Get(ctx, operators, "authentication")
	if err != nil || raw.Empty() {
		return errUnread
	}
	var operator struct {
		Status struct {
			Conditions []struct{ Type, Status, Message string }
		}
	}
	_ = json.Unmarshal([]byte(raw.Reveal()), &operator) // without conditions nothing is known
	for _, is := range operator.Status.Conditions {
		if is.Type == "Degraded" && is.Status == "True" && is.Message != "" {
			return fmt.Errorf("%w: its operator says %q", errUnread, is.Message)
		}
	}
	return errUnread
}

// isCopied reports that the operator has given our files to the OAuth server. A copy is named after the provider's place in the list.
func (c *Changer) isCopied(ctx context.Context, next wanted) (bool, error) {
	_, providers, err := c.readProviders(ctx)
	if err != nil {
		return false, err
	}
	for _, one := range []struct{ provider, copy, key, want string }{
		{names.ConsoleProvider, "file-data", "htpasswd", next.file}, {names.OpenIDProvider, "client-secret", "clientSecret", next.client},
	} {
		at := indexOf(providers, one.provider)
		if at < 0 || one.want == "" {
			continue // nobody signs in by it
		}
		raw, err := c.readData(ctx, one.key, fmt.Sprintf("v4-0-config-user-idp-%d-%s", at, one.copy), loginNamespace)
		if err != nil || raw != one.want {
			return false, err
		}
	}
	return true, nil
}
