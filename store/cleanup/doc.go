// Package cleanup plans how an orphan is removed: which cluster's teardown does it, which names that teardown searches for, and which calls
// it makes. The dry run shows the same plan that the removal then follows.
//
// It asks nobody and deletes nothing. Only what carries this installation's own marks is ever planned for: nothing of another
// installation, of a person, or of nobody.
package cleanup
