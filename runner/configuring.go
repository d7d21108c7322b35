package runner

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/artifacts"
	"github.com/ocpctl/ocpctl/internal/contract"
)

// configureCluster stores each credential as an object of its own and returns the cluster's URLs.
func (a *attempt) configureCluster(ctx context.Context) (*contract.Outputs, error) {
	kubeconfig, err := os.ReadFile(filepath.Join(a.dir, "auth", "kubeconfig"))
	if err != nil {
		return nil, fmt.Errorf("read the kubeconfig: %w", err)
	}
	password, err := os.ReadFile(filepath.Join(a.dir, "auth", "kubeadmin-password"))
	if err != nil {
		return nil, fmt.Errorf("read the kubeadmin password: %w", err)
	}
	out := &contract.Outputs{ConsoleURL: a.console}
	if out.APIURL, err = apiURL(kubeconfig); err != nil {
		return nil, err
	}
	if out.ConsoleURL == "" {
		out.ConsoleURL = a.nameScope().ConsoleURL()
	}
	out.StoredAt = a.cfg.Now().UTC()
	metadata := []byte(a.identity.Metadata)
	if a.hosted != nil { // no name tells where its API is, and a recovery may not read the kubeconfig
		if metadata, err = artifacts.WithAPIURL(metadata, out.APIURL); err != nil {
			return nil, err
		}
	}
	for _, each := range []struct {
		key  string
		data []byte
	}{
		{artifacts.CredentialKey(a.spec.Cluster, a.spec.Number, out.StoredAt, artifacts.Kubeconfig), kubeconfig},
		{artifacts.CredentialKey(a.spec.Cluster, a.spec.Number, out.StoredAt, artifacts.Kubeadmin), password},
		{artifacts.MetadataKey(a.spec.Cluster, a.spec.Number, out.StoredAt), metadata},
	} {
		if err := a.keepArtifact(ctx, each.key, each.data, a.cfg.Timings.Save); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// keepArtifact writes one output, with retries. The key belongs to this attempt, so writing it again changes nothing.
func (a *attempt) keepArtifact(ctx context.Context, key string, data []byte, patience time.Duration) error {
	err := a.keepTrying(ctx, patience, key, func(ctx context.Context) error {
		_, err := a.store.PutOnce(ctx, key, data)
		return err
	})
	if err != nil && ctx.Err() == nil {
		err = failure{
			Reason: "ArtifactsUnavailable", Whose: contract.WhoseOurs, Retryable: true,
			Message: fmt.Sprintf("the cluster is up, but its credentials could not be stored in the artifact bucket (%v)", err),
			Next:    "wait: ocpctl tries again; if it happens again, ask an administrator to check the artifact bucket and the runner's permissions for it",
		}
	}
	return err
}

// apiURL reads the API's URL from a kubeconfig.
func apiURL(kubeconfig []byte) (string, error) {
	var parsed struct {
		Clusters []struct {
			Cluster struct {
				Server string `yaml:"server"`
			} `yaml:"cluster"`
		} `yaml:"clusters"`
	}
	if yaml.Unmarshal(kubeconfig, &parsed) != nil || len(parsed.Clusters) == 0 {
		return "", errors.New("the kubeconfig names no cluster")
	}
	server := parsed.Clusters[0].Cluster.Server
	if u, err := url.Parse(server); err != nil || u.Host == "" {
		return "", errors.New("the kubeconfig names no server")
	}
	return server, nil
}
