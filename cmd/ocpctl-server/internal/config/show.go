package config

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"strings"
	"text/tabwriter"

	"go.yaml.in/yaml/v3"
)

// mask is printed in place of a secret.
const mask = "***"

// WriteYAML writes the effective values as a configuration file, each with its origin as a comment. Secrets are masked.
func (l Loaded) WriteYAML(w io.Writer) error {
	root, err := l.toTree()
	if err != nil {
		return err
	}
	eachNode("", root, func(field string, n *yaml.Node) (inside bool) {
		if isLeaf(n) {
			n.LineComment = l.Origin(field)
		}
		return !isLeaf(n)
	})
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(root); err != nil {
		return fmt.Errorf("write the configuration: %w", err)
	}
	_, err = w.Write(out.Bytes())
	return err
}

// WriteTable writes a line for each effective value: field, value, origin. Secrets are masked.
func (l Loaded) WriteTable(w io.Writer) error {
	root, err := l.toTree()
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "FIELD\tVALUE\tORIGIN")
	eachNode("", root, func(field string, n *yaml.Node) (inside bool) {
		if isLeaf(n) {
			fmt.Fprintf(table, "%s\t%s\t%s\n", field, showLeaf(n), l.Origin(field))
		}
		return !isLeaf(n)
	})
	return table.Flush()
}

// toTree returns the configuration as a YAML document in which secrets are masked.
func (l Loaded) toTree() (*yaml.Node, error) {
	var root yaml.Node
	if err := root.Encode(l.Config); err != nil {
		return nil, fmt.Errorf("write the configuration: %w", err)
	}
	eachNode("", &root, func(field string, n *yaml.Node) bool {
		if n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
			n.SetString(maskValue(field, n.Value))
		}
		if n.Kind == yaml.SequenceNode && isLeaf(n) {
			n.Style = yaml.FlowStyle
		}
		return true
	})
	return &root, nil
}

// isLeaf reports whether a node is printed on one line: a value, an empty section, or a list of values.
func isLeaf(n *yaml.Node) bool {
	for _, child := range n.Content {
		if n.Kind == yaml.MappingNode || child.Kind != yaml.ScalarNode {
			return false
		}
	}
	return n.Kind != yaml.DocumentNode
}

// showLeaf returns a leaf in the form of the table.
func showLeaf(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		if n.Value == "" {
			return "-"
		}
		return n.Value
	}
	var values []string
	for _, child := range n.Content {
		values = append(values, child.Value)
	}
	if len(values) == 0 {
		return "-"
	}
	return strings.Join(values, ",")
}

// maskValue hides what may be a secret: text in the place of a reference, credentials inside an address, and keys in runner.env.
func maskValue(field, value string) string {
	switch env, ofRunner := strings.CutPrefix(field, "runner.env."); {
	case value == "":
		return ""
	case strings.HasSuffix(field, "_ref") && !isRef(value):
		return mask
	case ofRunner && mayBeSecret(env):
		return mask
	}
	return maskURL(value)
}

// mayBeSecret reports whether a variable's value may be a secret: AWS_SECRET_ACCESS_KEY, but not AWS_WEB_IDENTITY_TOKEN_FILE.
func mayBeSecret(variable string) bool {
	variable = strings.ToUpper(variable)
	for _, word := range []string{"KEY", "SECRET", "TOKEN", "PASSW", "CREDENTIAL"} {
		if strings.Contains(variable, word) && !strings.HasSuffix(variable, "_FILE") {
			return true
		}
	}
	return false
}

// maskURL hides the user, password and query of an address.
func maskURL(value string) string {
	u, err := url.Parse(value)
	switch {
	case !strings.Contains(value, "://"):
		return value
	case err != nil:
		return mask
	case u.User == nil && u.RawQuery == "":
		return value
	}
	rest, user := u.Host+u.EscapedPath(), ""
	if u.User != nil {
		user = mask + "@"
	}
	if u.RawQuery != "" {
		rest += "?" + mask
	}
	return u.Scheme + "://" + user + rest
}
