// Package lifecycle decides what should happen next to a cluster.
//
// It is pure: Decide and Judge compute their result from their arguments. They do no I/O, read no clock, take no context and write no
// log. The store, the controller and the runner act only on these decisions, so the thirteen rules in docs/lifecycle.md hold even if
// messages are lost, late or repeated, or processes are killed.
package lifecycle
