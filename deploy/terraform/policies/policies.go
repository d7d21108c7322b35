// Package policies holds the IAM policies of an installation on AWS, as Terraform applies them. The stand-in AWS enforces the same
// documents in tests, so that a permission that is missing here fails a life there.
//
// A document is JSON with placeholders such as ${account}. A list of values is written as one placeholder in quotes, ["${regions}"]. A
// variable of IAM itself is written with a second dollar sign, $${aws:PrincipalTag/ClusterId}, as Terraform needs it.
package policies

import (
	"embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

//go:embed *.json
var files embed.FS

// Values are the values of the placeholders, by name. A placeholder with several values stands alone in its quotes.
type Values map[string][]string

var placeholder = regexp.MustCompile(`\$\{([a-z_]+)\}`)

// Render returns the document with the name ("runner-create") and its placeholders replaced. It fails if a placeholder has no value.
func Render(name string, values Values) (string, error) {
	raw, err := files.ReadFile(name + ".json")
	if err != nil {
		return "", fmt.Errorf("policy %s: %w", name, err)
	}
	var missing []string
	out := placeholder.ReplaceAllStringFunc(string(raw), func(found string) string {
		given := values[found[2:len(found)-1]]
		if len(given) == 0 {
			missing = append(missing, found)
		}
		return strings.Join(given, `","`)
	})
	if len(missing) > 0 {
		return "", fmt.Errorf("policy %s: no value for %s", name, strings.Join(missing, ", "))
	}
	return strings.ReplaceAll(out, "$${", "${"), nil
}

// Union returns one document with the statements of several, which means what a role with all of them may do.
func Union(values Values, names ...string) (string, error) {
	var all struct {
		Version   string
		Statement []json.RawMessage
	}
	for _, name := range names {
		raw, err := Render(name, values)
		if err != nil {
			return "", err
		}
		one := all
		one.Statement = nil
		if err := json.Unmarshal([]byte(raw), &one); err != nil {
			return "", fmt.Errorf("policy %s: %w", name, err)
		}
		all.Version, all.Statement = one.Version, append(all.Statement, one.Statement...)
	}
	out, err := json.Marshal(all)
	return string(out), err
}

// Create names the policies of runners that create clusters. The guard denies, and belongs to every role.
func Create() []string {
	return []string{"runner-read", "runner-create", "runner-identity", "runner-guard"}
}

// Destroy names the policies of runners that destroy clusters, and count what is left.
func Destroy() []string { return []string{"runner-read", "runner-delete", "runner-guard"} }

// Operate names the policies of runners that scale and configure clusters, change access to them, put them to sleep, wake them and prepare them for
// their claimants: they reach the cluster's API, and in the cloud they stop and start machines of the installation, replace the tags of an owner on its
// resources, and change nothing else.
func Operate() []string { return []string{"runner-read", "runner-power", "runner-guard"} }

// Scan names the policies of runners that look through a whole account: they read in every region, and nothing else.
func Scan() []string { return []string{"scan-read"} }

// Mint names what create and destroy need in addition for clusters in credentials mode Mint.
func Mint() []string { return []string{"runner-mint"} }
