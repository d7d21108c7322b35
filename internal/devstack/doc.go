// Package stack is the whole of ocpctl on one machine with nothing to sign up for: a private PostgreSQL, an S3 server, a
// small AWS, a GitHub, an OIDC issuer and a scripted openshift-install, each in a folder of its own, and around them the
// real ocpctl-server and ocpctl-runner programs, started as processes with production code paths.
//
// It stands behind make demo, make demo-story and the end-to-end tests. The server never imports it. What stands in for
// something real says so wherever people see it.
package devstack
