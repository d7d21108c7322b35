package kube

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"
)

// execAPI is the version of Kubernetes' interface for programs that get credentials. kubectl and oc know it since 1.22 and 4.9.
const execAPI = "client.authentication.k8s.io/v1"

// Program is how a kubeconfig's reader runs the program that gets its token.
type Program struct {
	Path string
	Args []string
	Env  map[string]string // added to the reader's
}

// Token opens a cluster. It prints as ***.
type Token struct{ text string }

func (Token) String() string   { return "***" }
func (Token) GoString() string { return "***" }

// TokenOf returns the token in a kubeconfig with one user.
func TokenOf(raw []byte) (Token, error) {
	_, user, err := onlyUser(raw)
	if err != nil {
		return Token{}, err
	}
	token := memberOf(user, "token")
	if token == nil || token.Value == "" {
		return Token{}, errors.New("read the cluster's kubeconfig: it has no token")
	}
	return Token{token.Value}, nil
}

// Renewing replaces the token in a kubeconfig with one user by a program that gets one, so that the file holds no secret and does not
// expire.
func Renewing(raw []byte, p Program) ([]byte, error) {
	doc, user, err := onlyUser(raw)
	if err != nil {
		return nil, err
	}
	type variable struct {
		Name  string `yaml:"name"`
		Value string `yaml:"value"`
	}
	var env []variable
	for name, value := range p.Env {
		env = append(env, variable{name, value})
	}
	var exec yaml.Node
	err = exec.Encode(struct {
		APIVersion string     `yaml:"apiVersion"`
		Command    string     `yaml:"command"`
		Args       []string   `yaml:"args"`
		Env        []variable `yaml:"env,omitempty"`
		Mode       string     `yaml:"interactiveMode"`
	}{execAPI, p.Path, p.Args, env, "Never"})
	if err != nil {
		return nil, fmt.Errorf("write the kubeconfig: %w", err)
	}
	user.Content = []*yaml.Node{textNode("exec"), &exec}
	user.Style = 0
	out, err := encodeDocument(doc)
	if err != nil {
		return nil, fmt.Errorf("write the kubeconfig: %w", err)
	}
	return out, nil
}

// onlyUser returns a kubeconfig and how its only user signs in.
func onlyUser(raw []byte) (doc, user *yaml.Node, err error) {
	doc = new(yaml.Node)
	if err := yaml.Unmarshal(raw, doc); err != nil || len(doc.Content) == 0 {
		return nil, nil, errors.New("read the cluster's kubeconfig: it is not a valid kubeconfig")
	}
	users := memberOf(doc.Content[0], "users")
	if users == nil || len(users.Content) != 1 {
		return nil, nil, errors.New("read the cluster's kubeconfig: it must have exactly one user")
	}
	if user = memberOf(users.Content[0], "user"); user == nil || user.Kind != yaml.MappingNode {
		return nil, nil, errors.New("read the cluster's kubeconfig: its user is empty")
	}
	return doc, user, nil
}

// WriteCredential writes a token for kubectl, which called us for it.
func WriteCredential(w io.Writer, token Token, expires time.Time) error {
	type status struct {
		Token   string    `json:"token"`
		Expires time.Time `json:"expirationTimestamp"`
	}
	return json.NewEncoder(w).Encode(struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Status     status `json:"status"`
	}{execAPI, "ExecCredential", status{token.text, expires.UTC()}})
}

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
