package credentials

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/store/access"
	"github.com/ocpctl/ocpctl/store/clusters"
)

// tokenSlack is how far a token may outlive its row: the clocks of cluster and database differ.
const tokenSlack = 5 * time.Minute

// accessKubeconfig returns the kubeconfig of an access, written anew from the only parts that it may consist of: the cluster's address and
// certificate, and a token of the account that was made for this reader, which does not outlive the row. The runner stored it, and a runner
// may be hostile. The error says what is wrong with it, without its values.
func accessKubeconfig(raw []byte, row clusters.Row, a access.Row) ([]byte, error) {
	k, err := parseKubeconfig(raw, row.Outputs.APIURL)
	switch {
	case err != nil:
		return nil, err
	case len(k.Clusters) != 1 || len(k.Users) != 1:
		return nil, errors.New("it names more than one cluster or user")
	}
	user := k.Users[0].User
	switch {
	case user.Certificate != "" || user.Key != "":
		return nil, errors.New("it has a certificate, and only a token can be revoked")
	case user.Token == "":
		return nil, errors.New("it has no token")
	}
	namespace := row.HubNamespace()
	if err := checkToken(user.Token, namespace, a); err != nil {
		return nil, err
	}
	return writeKubeconfig(k.Clusters[0].Cluster.Server, k.Clusters[0].Cluster.CA, row.Name, namespace, user.Token)
}

// checkToken compares a service account's token (a JWT) with the row that it was made for. Whether the cluster signed it, only the cluster
// knows: one that it did not sign opens nothing.
func checkToken(token, namespace string, a access.Row) error {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return errors.New("its token is no token of a service account")
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return errors.New("its token is no token of a service account")
	}
	var said struct {
		Subject string `json:"sub"`
		Expires *int64 `json:"exp"`
	}
	if err := json.Unmarshal(payload, &said); err != nil {
		return errors.New("its token is no token of a service account")
	}
	switch {
	case said.Subject != names.AccessUserOn(cmp.Or(namespace, names.AccessNamespace), a.Account):
		return errors.New("its token is another account's")
	case said.Expires == nil || a.ExpiresAt == nil || time.Unix(*said.Expires, 0).After(a.ExpiresAt.Add(tokenSlack)):
		return fmt.Errorf("its token is valid for longer than it may be")
	}
	return nil
}

// writeKubeconfig writes a kubeconfig with one cluster, user and context of the same name. namespace is what it works in; empty: the usual one.
func writeKubeconfig(server, ca, name, namespace, token string) ([]byte, error) {
	type named map[string]any
	within := named{"cluster": name, "user": name}
	if namespace != "" {
		within["namespace"] = namespace
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	err := encoder.Encode(named{
		"apiVersion": "v1", "kind": "Config", "current-context": name,
		"clusters": []named{{"name": name, "cluster": named{"certificate-authority-data": ca, "server": server}}},
		"contexts": []named{{"name": name, "context": within}},
		"users":    []named{{"name": name, "user": named{"token": token}}},
	})
	if err != nil {
		return nil, fmt.Errorf("write the kubeconfig: %w", err)
	}
	return out.Bytes(), nil
}

// parseKubeconfig reads a kubeconfig that only says how to reach apiURL and with which certificate or token.
func parseKubeconfig(raw []byte, apiURL string) (k kubeconfig, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	decoder.KnownFields(true)
	var wrong *yaml.TypeError
	switch err := decoder.Decode(&k); {
	case errors.As(err, &wrong):
		return k, errors.New("it has fields other than addresses and certificates")
	case err != nil:
		return k, errors.New("it is not YAML")
	}
	if err := decoder.Decode(&struct{}{}); !errors.Is(err, io.EOF) {
		return k, errors.New("it contains more than one document")
	}
	if len(k.Clusters) == 0 || len(k.Users) == 0 {
		return k, errors.New("it names no cluster or no user")
	}
	for _, c := range k.Clusters {
		if c.Cluster.Server != apiURL {
			return k, fmt.Errorf("its server is not %s", apiURL)
		}
	}
	return k, nil
}
