package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The roles of a process.
const (
	hooksRole  = "hooks"
	apiRole    = "api"
	workerRole = "worker"
)

// roles are the roles of this process.
type roles []string

func (r roles) has(name string) bool { return slices.Contains(r, name) }

// among returns those of the names that this process has.
func (r roles) among(names roles) roles {
	var mine roles
	for _, name := range names {
		if r.has(name) {
			mine = append(mine, name)
		}
	}
	return mine
}

// need returns the beginning of a sentence about what the roles need.
func (r roles) need() string {
	if len(r) == 1 {
		return "the role " + r[0] + " needs"
	}
	last := len(r) - 1
	return "the roles " + strings.Join(r[:last], ", ") + " and " + r[last] + " need"
}

func parseRoles(list string) (roles, error) {
	var r roles
	for _, name := range strings.Split(list, ",") {
		switch name = strings.TrimSpace(name); {
		case name == "" || r.has(name): // empty or a duplicate
		case name == hooksRole || name == apiRole || name == workerRole:
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
