// Package v1 has the types of the REST API as openapi.yaml describes them: the server answers with them, and programs that call it read
// them. It imports nothing else of ocpctl.
package v1

//go:generate go tool -modfile=../../../tools/go.mod oapi-codegen --config=oapi-codegen.yaml ../openapi.yaml
