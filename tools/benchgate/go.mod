// The gate on the cost of operations, kept out of the product's own dependencies and out of the other tools'.
module github.com/ocpctl/ocpctl/tools/benchgate

go 1.26.0

require (
	github.com/stretchr/testify v1.12.1
	go.yaml.in/yaml/v3 v3.0.6
	golang.org/x/perf v0.0.0-20260908200009-22c9c6c9d4da
)

require github.com/aclements/go-moremath v0.0.0-20210112150236-f10218a38794 // indirect
