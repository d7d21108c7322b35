// Package app is the service: one method per use case, and every door goes through it.
//
// The service asks policy, freezes the profile into the cluster's spec and lets the store write the wish, its verdict and
// its audit line in one transaction. It never talks to a cloud, never starts anything, never moves a status: what a
// wish leads to is the controller's, and the two meet in the store alone. Nothing here holds a secret; a kubeconfig
// passes through Kubeconfig once, audited before it is read.
package app
