// Package platform says what differs between the clouds before one of them is called: how keys are written down, what the installer's
// programs find in their environment, how ccoctl is run, and what people are told to do.
//
// It makes no calls; runner/cloud/<name> makes them. It must never put a secret anywhere but where the platform's programs read it.
package platform

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ocpctl/ocpctl/internal/contract"
	"github.com/ocpctl/ocpctl/internal/names"
	"github.com/ocpctl/ocpctl/internal/secret"
	"github.com/ocpctl/ocpctl/runner/cloud"
)

// Platform is a kind of cloud.
type Platform interface {
	// DefaultType is the instance type that the installer takes for machines without one.
	DefaultType() string
	// ParseKeys parses the document behind a reference to the cloud's keys. Its errors name fields and quote no value.
	ParseKeys(document secret.Text) (cloud.Keys, error)
	// KeyFile is what the programs read their keys from, and which role they assume with these or with the runner's own. An empty name: they read no
	// file.
	KeyFile(own []string, keys cloud.Keys) (name string, content secret.Text)
	// Environment returns the platform's variables for the programs: of the runner's own environment what concerns this platform, and the
	// keys, as the path of their file if there is one. Empty keys: the programs find the runner's own as the runner does.
	Environment(own []string, keys cloud.Keys, keyFile string) map[string]string

	// CreateCredentials and DeleteCredentials are arguments of ccoctl.
	CreateCredentials(c Credentials) []string
	DeleteCredentials(c Credentials) []string
	// DeleteNeedsRequests reports that ccoctl deletes only with the credentials requests at hand.
	DeleteNeedsRequests() bool
	// SigningKey reports that ccoctl writes the key with which the cluster signs its service accounts' tokens.
	SigningKey() bool

	// TestCredentials is a command with which an administrator tests credentials.
	TestCredentials() string
	// ReplaceControlPlane is how a machine of a control plane is replaced that does not exist any more.
	ReplaceControlPlane(machine string) string
	// LimitsAt is where an account's owner has a limit raised. A quota without a code: any.
	LimitsAt(region string, q contract.Quota) string
}

// Credentials is one run of ccoctl.
type Credentials struct {
	Name     string // names.Scope.CCOName
	Region   string
	Requests string // directory of credentials requests
	Out      string // directory for what it writes
	Boundary string // ARN of a permissions boundary for roles (AWS); empty: none
}

var platforms = map[string]Platform{names.AWS: aws{}, names.IBMCloud: ibmCloud{}, names.Kubernetes: hub{}}

// Of returns the platform of a name, as a spec has it. Its error says which names are known.
func Of(name string) (Platform, error) {
	p, known := platforms[name]
	if !known {
		return nil, fmt.Errorf("there is no platform %q; known: %s", name, strings.Join(slices.Sorted(maps.Keys(platforms)), ", "))
	}
	return p, nil
}

// stringsOf parses a JSON object of strings and returns the values of the fields, each without spaces: they would become another line of a
// file. form is shown if the document has another form.
func stringsOf(document secret.Text, form string, fields ...string) ([]string, error) {
	var all map[string]any
	if json.Unmarshal([]byte(document.Reveal()), &all) != nil || all == nil {
		return nil, errors.New("the cloud credentials are not of the form " + form)
	}
	values := make([]string, len(fields))
	for i, name := range fields {
		name, optional := strings.CutPrefix(name, "?")
		value, isText := all[name].(string)
		if _, there := all[name]; there && !isText {
			return nil, errors.New("the cloud credentials are not of the form " + form)
		}
		if value == "" && !optional {
			return nil, fmt.Errorf("the cloud credentials have no string %s", name)
		}
		if strings.ContainsAny(value, " \t\r\n") {
			return nil, fmt.Errorf("%s of the cloud credentials contains a space or a line break", name)
		}
		values[i] = value
	}
	return values, nil
}

// valueOf returns the value of a variable in KEY=value pairs; empty: it is not set.
func valueOf(env []string, key string) string {
	for _, pair := range env {
		if value, ok := strings.CutPrefix(pair, key+"="); ok {
			return value
		}
	}
	return ""
}
