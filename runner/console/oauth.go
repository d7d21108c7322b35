package console

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ocpctl/ocpctl/internal/names"
)

// newProvider returns our identity provider in the OAuth configuration (openshift/api config/v1 IdentityProvider). With the mapping claim, nobody
// becomes a user whom another provider has.
func newProvider() object {
	return object{"name": names.ConsoleProvider, "mappingMethod": "claim", "type": "HTPasswd", "htpasswd": object{"fileData": object{"name": fileSecret}}}
}

// conflictTries is how often the configuration is read and written again because somebody else wrote it meanwhile.
const conflictTries = 5

// addProvider adds our provider to the configuration, unless it is there. It keeps all others: the list is written as it was read, with
// its resourceVersion. It reports whether it wrote: then the OAuth server has to start anew, since it reads its providers once.
func (c *Changer) addProvider(ctx context.Context) (added bool, err error) {
	for range conflictTries {
		if added, err = c.addProviderOnce(ctx); err == nil || !strings.Contains(err.Error(), "(Conflict)") {
			return added, err
		}
	}
	return false, err
}

func (c *Changer) addProviderOnce(ctx context.Context) (bool, error) {
	config, providers, err := c.readProviders(ctx)
	if err != nil {
		return false, err
	}
	at := indexOfOurs(providers)
	if at >= 0 && isOurs(providers[at]) {
		return false, nil
	}
	spec, _ := config["spec"].(map[string]any)
	if spec == nil {
		spec = map[string]any{}
	}
	if at >= 0 {
		providers[at] = map[string]any(newProvider())
	} else {
		providers = append(providers, map[string]any(newProvider()))
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

func indexOfOurs(providers []any) int {
	return slices.IndexFunc(providers, func(p any) bool {
		one, _ := p.(map[string]any)
		return one["name"] == names.ConsoleProvider
	})
}

// isOurs reports that a provider of our name reads our file.
func isOurs(p any) bool {
	one, _ := p.(map[string]any)
	htpasswd, _ := one["htpasswd"].(map[string]any)
	file, _ := htpasswd["fileData"].(map[string]any)
	return one["type"] == "HTPasswd" && one["mappingMethod"] == "claim" && file["name"] == fileSecret
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

// awaitServer waits until the OAuth server works with the file. Its operator copies each file, and starts the pods anew
// when a copy has changed (cluster-authentication-operator, the deployment's rvs-hash). before is the server before the change.
func (c *Changer) awaitServer(ctx context.Context, content string, before server, changed, added bool) error {
	until, copied := time.Now().Add(c.Patience), time.Time{}
	for {
		is, err := c.isCopied(ctx, content)
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
		restarted := now.isRolledOut() && (!changed && !added || now.Metadata.Generation > before.Metadata.Generation)
		if is && (restarted || !added && time.Since(copied) > mountedAfter) {
			return nil
		}
		if time.Now().Add(c.Poll).After(until) {
			return errUnread
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(c.Poll):
		}
	}
}

// isCopied reports that the operator has given the file to the OAuth server. The copy is named after the provider's place in the list.
func (c *Changer) isCopied(ctx context.Context, content string) (bool, error) {
	_, providers, err := c.readProviders(ctx)
	if err != nil {
		return false, err
	}
	at := indexOfOurs(providers)
	if at < 0 {
		return true, nil // nobody signs in by our file
	}
	raw, err := c.readData(ctx, fmt.Sprintf("v4-0-config-user-idp-%d-file-data", at), loginNamespace)
	return raw == content, err
}
