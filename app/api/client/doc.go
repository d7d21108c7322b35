// Package client is a client of the REST API, generated from openapi.yaml. It imports nothing else of ocpctl, so that a program that
// only talks to a server stays small.
package client

//go:generate go tool -modfile=../../../tools/go.mod oapi-codegen --config=oapi-codegen.yaml ../openapi.yaml
