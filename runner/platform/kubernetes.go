package platform

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// hub is the platform of clusters that are made on another one. No installer runs there.
type hub struct{}

const hubForm = `a kubeconfig with a token, or {"server":"https://…","token":"…","ca":"PEM"}`

// ParseKeys implements Platform: {"server": …, "token": …, "ca": …}, whose ca is optional, or a kubeconfig whose current context has a token.
func (h hub) ParseKeys(document secret.Text) (cloud.Keys, error) {
	var all map[string]any
	if json.Unmarshal([]byte(document.Reveal()), &all) == nil && all["server"] != nil {
		ca, isText := all["ca"].(string)
		if _, there := all["ca"]; there && !isText {
			return cloud.Keys{}, errors.New("ca of the hub's credentials is no string of PEM certificates")
		}
		values, err := stringsOf(document, hubForm, "server", "token")
		if err != nil {
			return cloud.Keys{}, err
		}
		return h.checkKeys(cloud.Keys{ID: values[0], Secret: secret.New(values[1]), CA: ca})
	}
	return h.parseKubeconfig(document)
}

func (hub) checkKeys(k cloud.Keys) (cloud.Keys, error) {
	if u, err := url.Parse(k.ID); err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return cloud.Keys{}, errors.New("server of the hub's credentials is not an https address")
	}
	return k, nil
}

// parseKubeconfig reads the current context. Programs, files and client certificates are refused: the pod has none of them, and only a token can be
// taken back.
func (h hub) parseKubeconfig(document secret.Text) (cloud.Keys, error) {
	type named[T any] struct {
		Name string
		Of   T `yaml:",inline"`
	}
	var k struct {
		Current  string `yaml:"current-context"`
		Clusters []named[struct {
			Cluster struct {
				Server string
				CA     string `yaml:"certificate-authority-data"`
			}
		}]
		Contexts []named[struct {
			Context struct{ Cluster, User string }
		}]
		Users []named[struct{ User struct{ Token string } }]
	}
	if yaml.Unmarshal([]byte(document.Reveal()), &k) != nil || len(k.Contexts) == 0 {
		return cloud.Keys{}, errors.New("the hub's credentials are not of the form " + hubForm)
	}
	keys := cloud.Keys{}
	for _, context := range k.Contexts {
		if context.Name != k.Current && len(k.Contexts) > 1 {
			continue
		}
		for _, c := range k.Clusters {
			if c.Name == context.Of.Context.Cluster {
				ca, err := base64.StdEncoding.DecodeString(c.Of.Cluster.CA)
				if err != nil {
					return cloud.Keys{}, errors.New("certificate-authority-data of the hub's kubeconfig is not base64")
				}
				keys.ID, keys.CA = c.Of.Cluster.Server, string(ca)
			}
		}
		for _, u := range k.Users {
			if u.Name == context.Of.Context.User {
				keys.Secret = secret.New(strings.TrimSpace(u.Of.User.Token))
			}
		}
	}
	if keys.ID == "" || keys.Secret.Empty() {
		return cloud.Keys{}, fmt.Errorf("the current context of the hub's kubeconfig has no server, or its user has no token; give %s", hubForm)
	}
	return h.checkKeys(keys)
}

// TestCredentials implements Platform.
func (hub) TestCredentials() string {
	return "kubectl get namespace kube-system -o jsonpath={.metadata.uid}"
}

// LimitsAt implements Platform.
func (hub) LimitsAt(string, contract.Quota) string { return "the hub's administrators" }

// A hub has nothing of the following.

// DefaultType implements Platform.
func (hub) DefaultType() string { return "" }

// KeyFile implements Platform.
func (hub) KeyFile([]string, cloud.Keys) (name string, content secret.Text) { return "", secret.Text{} }

// Environment implements Platform.
func (hub) Environment([]string, cloud.Keys, string) map[string]string { return nil }

// CreateCredentials implements Platform.
func (hub) CreateCredentials(Credentials) []string { return nil }

// DeleteCredentials implements Platform.
func (hub) DeleteCredentials(Credentials) []string { return nil }

// DeleteNeedsRequests implements Platform.
func (hub) DeleteNeedsRequests() bool { return false }

// SigningKey implements Platform.
func (hub) SigningKey() bool { return false }

// ReplaceControlPlane implements Platform.
func (hub) ReplaceControlPlane(string) string { return "" }
