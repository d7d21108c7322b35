package kube

import (
	"bytes"
	"encoding/base64"
	"errors"
	"slices"

	"go.yaml.in/yaml/v3"
)

// harmless are the parts of a user's credentials that are no secret: names, and how a program is called.
var harmless = []string{"username", "as", "tokenFile", "client-certificate", "client-key", "apiVersion", "command", "args", "installHint", "interactiveMode", "provideClusterInfo", "name"}

// Secrets returns every secret of a kubeconfig, keys and certificates decoded as well, so that a log can be cleared of them. Whatever is
// not known to be harmless below a user counts as one.
func Secrets(raw []byte) (secrets []string, err error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(raw, &doc); err != nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("read the kubeconfig: it is not a valid kubeconfig")
	}
	users := memberOf(doc.Content[0], "users")
	if users == nil {
		return nil, nil
	}
	return addSecrets(users, nil)
}

// addSecrets adds the values in a node that may be secrets.
func addSecrets(n *yaml.Node, secrets []string) ([]string, error) {
	switch n.Kind {
	case yaml.AliasNode: // it could lead back here, and no program writes one
		return nil, errors.New("read the kubeconfig: a user is described with a YAML alias")
	case yaml.ScalarNode:
		secrets = append(secrets, n.Value)
		if decoded, err := base64.StdEncoding.DecodeString(n.Value); err == nil && bytes.HasPrefix(decoded, []byte("-----BEGIN ")) {
			secrets = append(secrets, string(decoded))
		}
		return secrets, nil
	}
	for i, element := range n.Content {
		if n.Kind == yaml.MappingNode && (i%2 == 0 || slices.Contains(harmless, n.Content[i-1].Value)) {
			continue // a key, or the value of one
		}
		var err error
		if secrets, err = addSecrets(element, secrets); err != nil {
			return nil, err
		}
	}
	return secrets, nil
}
