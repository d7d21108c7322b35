package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The roles of a process.
const (
	HooksRole  = "hooks"
	APIRole    = "api"
	WorkerRole = "worker"
)

// Roles are the roles of a process.
type Roles []string

func (r Roles) Has(name string) bool { return slices.Contains(r, name) }

// commonRoles returns those of the names that this process has.
func (r Roles) commonRoles(names Roles) Roles {
	var mine Roles
	for _, name := range names {
		if r.Has(name) {
			mine = append(mine, name)
		}
	}
	return mine
}

// describeNeed returns the beginning of a sentence about what the roles need.
func (r Roles) describeNeed() string {
	if len(r) == 1 {
		return "the role " + r[0] + " needs"
	}
	last := len(r) - 1
	return "the roles " + strings.Join(r[:last], ", ") + " and " + r[last] + " need"
}

func ParseRoles(list string) (Roles, error) {
	var r Roles
	for name := range strings.SplitSeq(list, ",") {
		switch name = strings.TrimSpace(name); {
		case name == "" || r.Has(name): // empty or a duplicate
		case name == HooksRole || name == APIRole || name == WorkerRole:
			r = append(r, name)
		default:
			return nil, fmt.Errorf("-roles: %q is not a role; give one or more of hooks, api, worker", name)
		}
	}
	if len(r) == 0 {
		return nil, errors.New("-roles: give one or more of hooks, api, worker")
	}
	return r, nil
}
