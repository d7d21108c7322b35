// Package client speaks the REST API of openapi.yaml. It is generated from it and imports nothing of ours, so that a
// program that only talks to a server stays small.
package client

//go:generate go tool -modfile=../../../tools/go.mod oapi-codegen --config=oapi-codegen.yaml ../openapi.yaml
