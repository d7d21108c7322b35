// Package install walks an installation as docs/install.md describes it: the chart, installed by Helm into a cluster with a real API
// server, controllers and kubelets, with the images that make images builds, beside the development stack's PostgreSQL, S3, AWS and
// GitHub. It has tests alone, behind the build tag install: make test-install builds what they need and runs them.
//
// Pods are processes that share the machine's network (tools/kubernetes). Services, NetworkPolicies and Ingresses therefore have no
// effect; the tests lead the public and the private address to the pods themselves, and every pod listens at its node's address alone.
package install
