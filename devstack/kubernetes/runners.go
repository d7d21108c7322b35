package kubernetes

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/ocpctl/ocpctl/devstack/must"
)

// What Runners makes.
const (
	Namespace      = "ocpctl-runners" // of the runners
	CreateAccount  = "ocpctl-create"  // service accounts of the runners
	DestroyAccount = "ocpctl-destroy"
	ScanAccount    = "ocpctl-scan"

	serverNamespace = "ocpctl"
	serverAccount   = "ocpctl-server"
	tokenLife       = 365 * 24 * time.Hour
)

//go:embed runners.yaml
var runners []byte

// paths are where objects of a kind are made.
var paths = map[string]string{
	"Namespace": "/api/v1/namespaces", "ServiceAccount": "/api/v1/namespaces/%s/serviceaccounts",
	"Role":        "/apis/rbac.authorization.k8s.io/v1/namespaces/%s/roles",
	"RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/%s/rolebindings",
}

// Runners prepares the cluster for runners as the Helm chart does: a namespace with Pod Security restricted, service accounts, and for the
// server a role with the chart's rights. It writes a kubeconfig with the server's own token. What exists already stays.
func (s *Server) Runners(ctx context.Context, kubeconfig string) (err error) {
	defer must.Catch(&err)
	for document := range bytes.SplitSeq(runners, []byte("\n---\n")) {
		var object struct {
			Kind     string
			Metadata struct{ Namespace string }
		}
		raw, err := yaml.YAMLToJSON(document)
		if err == nil {
			err = json.Unmarshal(raw, &object)
		}
		must.Wrap(err, "prepare for runners")
		path := paths[object.Kind]
		if strings.Contains(path, "%s") {
			path = fmt.Sprintf(path, object.Metadata.Namespace)
		}
		if err := s.Admin(ctx, http.MethodPost, path, json.RawMessage(raw), nil); err != nil && !isCode(err, http.StatusConflict) {
			return fmt.Errorf("prepare for runners: %w", err)
		}
	}
	token := must.Get(s.ServerToken(ctx))
	return s.writeKubeconfig(kubeconfig, token)
}

// ServerToken returns a token of the server's service account, which has the rights of the chart's role and no others.
func (s *Server) ServerToken(ctx context.Context) (string, error) {
	path := "/api/v1/namespaces/" + serverNamespace + "/serviceaccounts/" + serverAccount + "/token"
	var made struct{ Status struct{ Token string } }
	request := map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": map[string]any{"expirationSeconds": int64(tokenLife / time.Second)}}
	if err := s.Admin(ctx, http.MethodPost, path, request, &made); err != nil {
		return "", fmt.Errorf("get a token for the server: %w", err)
	}
	return made.Status.Token, nil
}

func (s *Server) writeKubeconfig(path, token string) (err error) {
	defer must.Catch(&err)
	url := must.Get(s.URL())
	one := func(key string, value map[string]any) []any {
		return []any{map[string]any{"name": serverAccount, key: value}}
	}
	raw := must.Get(yaml.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": serverAccount,
		"clusters": one("cluster", map[string]any{"server": url, "certificate-authority": s.CA()}),
		"users":    one("user", map[string]any{"token": token}),
		"contexts": one("context", map[string]any{"cluster": serverAccount, "user": serverAccount, "namespace": Namespace}),
	}))
	return os.WriteFile(path, raw, 0o600)
}

// SetSecret makes a secret in the runners' namespace, or replaces its values.
func (s *Server) SetSecret(ctx context.Context, name string, values map[string][]byte) error {
	path := "/api/v1/namespaces/" + Namespace + "/secrets"
	secret := map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name}, "data": values}
	err := s.Admin(ctx, http.MethodPost, path, secret, nil)
	if isCode(err, http.StatusConflict) {
		err = s.Admin(ctx, http.MethodPut, path+"/"+name, secret, nil)
	}
	if err != nil {
		return fmt.Errorf("set the secret %s: %w", name, err)
	}
	return nil
}
