// Package app is the application service: one method per use case, used by every entry point.
//
// The service asks policy, freezes the profile into the cluster's spec and lets the store write the request, its verdict and its
// audit line in one transaction. It never talks to a cloud, starts nothing and changes no status: the controller acts on what
// was requested, and the two share only the store. Nothing here holds a secret; a kubeconfig passes through Kubeconfig once,
// after an audit line was written.
package app
