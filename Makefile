# make alone prints this help.
.DEFAULT_GOAL := help
SHELL := /bin/bash

DEMO_DIR  ?= .demo
PROGRAMS  := ./cmd/ocpctl-server ./cmd/ocpctl-runner ./cmd/ocpctl-demo ./internal/devstack/installer/cmd/openshift-install ./internal/devstack/installer/cmd/ccoctl ./internal/devstack/installer/cmd/oc
TOOL      := go tool -modfile=tools/go.mod
# Rooms whose tests run under the race detector in make test; make check runs all of them under it.
RACED     := ./policy/... ./profiles/... ./chatops ./store
# Packages whose tests start neither PostgreSQL nor the demo, from a list of packages with all that they and their tests import.
QUICK     := awk '$$1 ~ /\.test$$/ && !/internal\/devstack\/(postgres|s3)/ {sub(/\.test$$/, "", $$1); print $$1}'
# Without what a debugger needs, programs and tests are compiled and linked in four fifths of the time.
export GOFLAGS := $(GOFLAGS) -gcflags=all=-dwarf=false -ldflags=-w

.PHONY: help
help: ## print this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build every program into .demo/bin
	@mkdir -p $(DEMO_DIR)/bin
	go build -o $(DEMO_DIR)/bin $(PROGRAMS)
	go -C tools/s3gateway build -o $(abspath $(DEMO_DIR))/bin .
	go build -trimpath -ldflags "-s -w" -o $(DEMO_DIR)/bin ./cmd/ocpctl # people carry this one around

.PHONY: demo
demo: build ## start everything on this machine; label a pull request and watch (Ctrl-C stops, state stays in .demo)
	@$(DEMO_DIR)/bin/ocpctl-demo -dir $(DEMO_DIR)

.PHONY: demo-story
demo-story: build ## start everything, play a pull request's whole life over HTTP, check every step, stop
	@$(DEMO_DIR)/bin/ocpctl-demo -dir $(DEMO_DIR) -story

.PHONY: chaos
chaos: build ## the crash matrix: kill and cut at every boundary of a cluster's life (TIME=10m N=0 SEED= CELL=)
	@$(DEMO_DIR)/bin/ocpctl-demo -dir $(DEMO_DIR) -chaos -time $(or $(TIME),10m) -n $(or $(N),0) -seed $(or $(SEED),0) -cell "$(CELL)"

.PHONY: soak
soak: build ## let N=100 clusters come and go with random faults; figures at the end (SEED=)
	@$(DEMO_DIR)/bin/ocpctl-demo -dir $(DEMO_DIR) -soak $(or $(N),100) -seed $(or $(SEED),0)

.PHONY: attack
attack: build ## attack a demo of its own as a runner, a stranger and a person would; a table of what held (ONLY=prefix)
	@$(DEMO_DIR)/bin/ocpctl-demo -dir $(DEMO_DIR) -attack -only "$(ONLY)"

.PHONY: clean
clean: ## forget the demo's state
	@if [ -f $(DEMO_DIR)/demo.pid ] && kill -0 "$$(cat $(DEMO_DIR)/demo.pid)" 2>/dev/null; then \
		echo "the demo is running (pid $$(cat $(DEMO_DIR)/demo.pid)); stop it with Ctrl-C first"; exit 1; fi
	rm -rf $(DEMO_DIR)

.PHONY: test
test: ## run all tests with what the machine has
	@go -C tools/s3gateway tool -n s3gateway >/dev/null # built once here, not by each package that needs it
	go test -shuffle=on -race $(RACED)
	LIVES=300 go test -shuffle=on -race -skip 'Mutant|Guide' ./lifecycle/... # what is left out needs thousands of lives, and runs below
	@# tests spend much of their time waiting: three packages at once keep two cores busy
	go test -p 3 -shuffle=on -timeout 14m $$(go list ./... | grep -vxF "$$(go list $(RACED))")

.PHONY: quick
quick: ## the tests that need no database, no demo and no race detector (two minutes)
	@go test -vet=off $$(go list -deps -test -f '{{if not .Standard}}{{.ImportPath}} {{join .Deps " "}}{{end}}' ./... | $(QUICK))

.PHONY: release
release: ## programs of this commit for all platforms with SBOMs and checksums, in dist (tag first: git tag v1.2.3)
	@tools/release/release.sh $(or $(OUT),dist)

.PHONY: fuzz
fuzz: ## fuzz what strangers write (comments, repository files, deliveries), TIME=1m for each target
	@set -eo pipefail; for package in ./chatops ./profiles ./app/hooks; do \
		go test -list '^Fuzz' $$package | { grep '^Fuzz' || true; } | while read -r target; do \
			echo "$$package $$target"; go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(or $(TIME),1m) -fuzzminimizetime 100x $$package </dev/null; done; done

.PHONY: seeds
seeds: ## run the fault tests with SEEDS different seeds (200), and let as many pull requests live
	SEEDS=$(or $(SEEDS),200) go test -count=1 -timeout 4h -run Fault ./internal/devstack/...
	go test -count=1 -timeout 4h -run 'WhateverHappens|WhateverBefalls' ./app ./app/hooks -rapid.checks=$(or $(SEEDS),200)

.PHONY: check
check: format vet lint generated race test ## format, vet, lint, generated code up to date, all tests under the race detector, and make test

.PHONY: format
format:
	@bad=$$(git ls-files '*.go' | grep -v '\.gen\.go$$' | xargs gofmt -l); if [ -n "$$bad" ]; then echo "gofmt -w these: $$bad"; exit 1; fi

.PHONY: vet
vet:
	go vet ./...
	go -C tools/s3gateway vet ./...

.PHONY: lint
lint:
	$(TOOL) staticcheck ./...

.PHONY: generate
generate: ## write the code that is generated from app/api/openapi.yaml
	go generate ./...

.PHONY: github-shapes
github-shapes: ## write the shapes of GitHub's API anew, from its published description (npm, GITHUB_SHAPES=version)
	@version=$(or $(GITHUB_SHAPES),23.0.2); dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	(cd $$dir && npm pack --silent @octokit/openapi@$$version >/dev/null && tar xzf *.tgz package/generated/api.github.com.json) && \
	cd tools && go run ./githubshapes -in $$dir/package/generated/api.github.com.json -version $$version -out ../internal/devstack/github/shapes/github.json \
		-fields ../app/hooks/fields.json

.PHONY: generated
generated:
	go generate ./...
	@if [ -n "$$(git status --porcelain -- '*.gen.go')" ]; then echo "generated code is not up to date; commit what make generate wrote"; exit 1; fi

.PHONY: race
race:
	go test -shuffle=on -race -timeout 60m ./...

.PHONY: bench
bench: ## run the benchmarks
	go test -run '^$$' -bench . -benchmem -timeout 30m ./...
