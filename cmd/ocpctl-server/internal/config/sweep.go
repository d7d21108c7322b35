package config

import (
	"fmt"
	"slices"

	"github.com/ocpctl/ocpctl/lifecycle"
)

// Sweep says what is done about what sweeps find in cloud accounts.
type Sweep struct {
	Delete []string `yaml:"delete"` // classes of orphans that are removed without a person's approval; empty: none
}

// deletable are the classes that a setting may remove: what is certainly this installation's own, and what nobody uses.
var deletable = []lifecycle.OrphanClass{lifecycle.ClassReleased, lifecycle.ClassUnknown}

// Classes returns what is removed without a person's approval.
func (s Sweep) Classes() (classes []lifecycle.OrphanClass) {
	for _, class := range s.Delete {
		classes = append(classes, lifecycle.OrphanClass(class))
	}
	return classes
}

func (s Sweep) check() (bad []error) {
	for _, class := range s.Delete {
		if !slices.Contains(deletable, lifecycle.OrphanClass(class)) {
			bad = append(bad, fmt.Errorf("sweep.delete has %q; give a list of released and unknown, or omit it", class))
		}
	}
	return bad
}
