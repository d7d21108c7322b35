// Package lifecycle is the heart of ocpctl: what should happen next to one cluster.
//
// It is pure. Decide and Sweep read what they are given and return what should be; they do no I/O, read no clock,
// take no context and write no log. Everything that acts (the store, the controller, the runner) asks here first,
// so that the eleven rules in docs/lifecycle.md hold whatever is lost, late, doubled or killed around them.
package lifecycle
