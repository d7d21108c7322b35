// Package devstack runs the whole of ocpctl on one machine without any account: a private PostgreSQL, an S3 server, small stand-ins
// for AWS, GitHub, an OIDC issuer and openshift-install, each with a folder of its own, and with them the real ocpctl-server and
// ocpctl-runner programs, started as processes with production code paths.
//
// make demo, make demo-story and the end-to-end tests use it. The server never imports it. A stand-in identifies itself wherever
// people see it.
package devstack
