// Package policies holds the access that an installation needs on IBM Cloud, as administrators give it to a service ID or to a trusted
// profile. The stand-in IBM Cloud enforces the same documents in tests, so that a role that is missing here fails there.
package policies

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
)

//go:embed *.json
var files embed.FS

// Document is what somebody may do in an account.
type Document struct {
	Roles    []Role   `json:"roles"` // roles that the account has to get first
	Policies []Policy `json:"policies"`
}

// Role is a custom role: some actions of one service.
type Role struct {
	Name    string   `json:"name"`
	Display string   `json:"display_name"` // the name by which policies give it
	Service string   `json:"service"`
	Actions []string `json:"actions"`
}

// Policy gives roles on a service in the whole account, on all resource groups or, if it names neither, on every service except for those that
// manage the account.
type Policy struct {
	Service string   `json:"service"`       // as in CRNs: is, cloud-object-storage
	Type    string   `json:"resource_type"` // resource-group
	Roles   []string `json:"roles"`         // names for display
	Why     string   `json:"why"`
}

// On is the service or the type that the policy is for; empty: every service.
func (p Policy) On() string { return p.Service + p.Type }

// Runner is for whoever installs, changes and destroys clusters.
func Runner() (Document, error) { return read("runner.json") }

// Scan is for whoever looks through an account and changes nothing.
func Scan() (Document, error) { return read("scan.json") }

func read(name string) (d Document, err error) {
	raw, err := files.ReadFile(name)
	if err != nil {
		return d, fmt.Errorf("policies on IBM Cloud: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&d); err != nil {
		return d, fmt.Errorf("policies on IBM Cloud, %s: %w", name, err)
	}
	return d, nil
}
