# make alone prints this help.
.DEFAULT_GOAL := help
SHELL := /bin/bash

DEMO_DIR  ?= .demo
# INSTALLER=real uses the real openshift-install and ccoctl for what needs no machines, and INSTALLER=real-create also to create clusters on AWS, see docs/proof.md.
REAL           := $(abspath $(DEMO_DIR))/real
REAL_INSTALLER := $(filter real real-create,$(INSTALLER))
REAL_CREATE    := $(filter real-create,$(INSTALLER))
ifneq ($(REAL_CREATE),)
export OCPCTL_STANDIN_REAL_CREATE := 1
endif
# KUBERNETES=1 makes runners Jobs of a Kubernetes cluster on this machine.
DEMO_BUILD    := build $(if $(KUBERNETES),build-kubernetes) $(if $(REAL_INSTALLER),$(if $(wildcard $(DEMO_DIR)/real/data),,build-installer)) $(if $(REAL_CREATE),$(if $(wildcard $(REAL)/openshift-install-create),,build-cluster-api))
ON_KUBERNETES := $(if $(KUBERNETES),-kubernetes)
ON_REAL       := $(if $(REAL_INSTALLER), -real $(DEMO_DIR)/real)
PROGRAMS  := ./cmd/ocpctl-server ./cmd/ocpctl-runner ./cmd/ocpctl ./devstack/cmd/ocpctl-demo ./devstack/installer/cmd/openshift-install ./devstack/installer/cmd/ccoctl ./devstack/installer/cmd/oc
TOOL      := go tool -modfile=tools/go.mod
# Packages whose tests wait most: make test begins with them, so that the others run beside them.
LONG      := ./store ./runner ./lifecycle ./controller ./app/pulls
# The package of the tests on a whole stack, which make test leaves to make test-stack: they are a third of all.
STACK     := ./devstack
# Tests that both leave to make check, because they take minutes: short forms of make attack, make chaos and make takeover, thousands of changes, and mutants. Random lives are fewer with -short.
HEAVY     := ShortFormOfMakeAttack|SampleOfTheCrashMatrix|TwoServersTakeOver|ThousandChanges|EveryMutantOf
# Selects the packages whose tests start neither PostgreSQL nor the demo, from a list of packages with their dependencies.
QUICK     := awk '$$1 ~ /\.test$$/ && !/devstack\/(postgres|s3)/ {sub(/\.test$$/, "", $$1); print $$1}'
# The packages with fuzz targets.
FUZZED     = $(sort $(addprefix ./,$(patsubst %/,%,$(dir $(shell git grep --untracked -lE '^func Fuzz' -- '*_test.go')))))
# Without debug information, compiling and linking takes a fifth less time. The clients of clouds and of GitHub are generated code that waits
# for the network: without inlining they compile in half the time (EC2's alone in 31 seconds of processor time instead of 59).
GENERATED := github.com/aws/aws-sdk-go-v2/service github.com/IBM github.com/google/go-github
export GOFLAGS := $(GOFLAGS) -gcflags=all=-dwarf=false $(foreach p,$(GENERATED),'-gcflags=$(p)/...=-dwarf=false -l') -ldflags=-w

.PHONY: help
help: ## print this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## build every program into .demo/bin
	@tools/setup.sh postgres
	@mkdir -p $(DEMO_DIR)/bin
	go build -o $(DEMO_DIR)/bin $(PROGRAMS)
	go -C tools/s3gateway build -o $(abspath $(DEMO_DIR))/bin .

.PHONY: build-kubernetes
build-kubernetes: ## build the Kubernetes cluster of the demo into .demo/bin (about ten minutes the first time)
	@mkdir -p $(DEMO_DIR)/bin
	go -C tools/kubernetes build -o $(abspath $(DEMO_DIR))/bin/kubernetes .

.PHONY: build-act
build-act:
	@mkdir -p $(DEMO_DIR)/bin
	@[ -x $(DEMO_DIR)/bin/act ] || echo "building nektos/act, which runs workflows in the demo (a minute the first time) …"
	go -C tools/act build -o $(abspath $(DEMO_DIR))/bin .

.PHONY: test-workflows
test-workflows: ## run workflows in the stand-in GitHub with nektos/act (builds it: a minute the first time)
	go -C tools/act test ./...
	go test -count=1 -tags act ./devstack/github/actions

.PHONY: test-actions
test-actions: ## run the GitHub actions in workflows with nektos/act against a whole stack: download, life of a cluster, results, cancellation
	@go -C tools/act tool -n act >/dev/null # built here, not within the tests' time limit
	go test -count=1 -timeout 10m -tags act -v ./devstack/pipelines

.PHONY: test-kubernetes
test-kubernetes: ## tests on a real Kubernetes control plane: its own program, runners as Jobs, access to a cluster, and ten lives (builds Kubernetes; needs Linux and root)
	go -C tools/kubernetes test -count=1 -timeout 20m .
	@go -C tools/kubernetes tool -n kubernetes >/dev/null # built here, not within the tests' time limit
	go test -count=1 -timeout 20m -tags kubernetes ./internal/dispatch/kubernetes
	go test -count=1 -timeout 20m -tags kubernetes -run InARealCluster ./runner
	@$(MAKE) --no-print-directory soak KUBERNETES=1 REPLICAS=2 N=10

.PHONY: test-tekton
test-tekton: ## check the Tekton documents with Tekton's own code, and the look at PipelineRuns on a real Kubernetes API (builds both: ten minutes the first time; needs Linux and root)
	go -C tools/tekton test -count=1 ./...
	@go -C tools/kubernetes tool -n kubernetes >/dev/null # built here, not within the tests' time limit
	go test -count=1 -timeout 20m -tags kubernetes -run Real ./devstack/pipelines/scripts

.PHONY: test-jenkins
test-jenkins: ## run the Jenkins library in Groovy 2.4, the version in Jenkins, against a real API (needs groovy, e.g. from Debian's package)
	JAVA_HOME="$${JAVA_HOME:-$$(dirname "$$(dirname "$$(readlink -f "$$(command -v java)")")")}" go test -count=1 -tags jenkins -run WithCluster ./devstack/pipelines/scripts

.PHONY: build-installer
build-installer: ## build the real openshift-install and ccoctl, which run behind devstack/gateway (the first time: ten minutes on two cores, 460 MB)
	@mkdir -p $(DEMO_DIR)/real
	go -C tools/installer build -ldflags '-s -w' -o $(abspath $(DEMO_DIR))/real/openshift-install github.com/openshift/installer/cmd/openshift-install
	go -C tools/installer build -ldflags '-s -w' -o $(abspath $(DEMO_DIR))/real/ccoctl ./ccoctl
	go run ./devstack/installer/cmd/pin $(DEMO_DIR)/real/openshift-install
	ln -sfn "$$(go -C tools/installer list -m -f '{{.Dir}}' github.com/openshift/installer)/data/data" $(DEMO_DIR)/real/data

.PHONY: build-cluster-api
build-cluster-api: ## build what the real installer creates a cluster on AWS with, and one that has it within: Cluster API, its provider for AWS, etcd, kube-apiserver (after build-installer: ten minutes the first time, 1.3 GB)
	@rm -rf $(REAL)/source && mkdir -p $(REAL)/source
	go -C tools/installer build -ldflags '-s -w' -o $(REAL)/cluster-api sigs.k8s.io/cluster-api
	go -C tools/installer build -ldflags '-s -w' -o $(REAL)/cluster-api-provider-aws sigs.k8s.io/cluster-api-provider-aws/v2
	go -C tools/kubernetes build -ldflags '-s -w -X k8s.io/component-base/version.gitVersion=v1.34.4' -o $(REAL)/kube-apiserver k8s.io/kubernetes/cmd/kube-apiserver
	go -C tools/kubernetes build -ldflags '-s -w' -o $(REAL)/etcd ./etcd
	from=$$(go -C tools/installer list -m -f '{{.Dir}}' github.com/openshift/installer) && cp -r --no-preserve=mode $$from/go.mod $$from/cmd $$from/pkg $$from/data $(REAL)/source
	go run ./devstack/installer/cmd/pin -archive $(REAL)/source/pkg/clusterapi/mirror/cluster-api.zip $(addprefix $(REAL)/,cluster-api cluster-api-provider-aws kube-apiserver etcd)
	cp tools/installer/go.sum $(REAL)/create.sum && { cat tools/installer/go.mod; echo 'replace github.com/openshift/installer => $(REAL)/source'; } >$(REAL)/create.mod
	go -C tools/installer build -modfile=$(REAL)/create.mod -ldflags '-s -w' -o $(REAL)/openshift-install-create github.com/openshift/installer/cmd/openshift-install
	go run ./devstack/installer/cmd/pin $(REAL)/openshift-install-create
	@rm -rf $(REAL)/source

.PHONY: test-installer
test-installer: ## run a cluster's life on each cloud with the real openshift-install and ccoctl, and compare them with the stand-ins (builds them the first time, see build-installer)
	@[ -e $(DEMO_DIR)/real/data ] || $(MAKE) --no-print-directory build-installer
	go test -count=1 -timeout 20m -tags installer -v ./devstack/installer/real

.PHONY: test-cluster-api
test-cluster-api: ## let the real openshift-install create, and destroy, a cluster on the stand-in AWS, whose API is a real one (builds what it needs the first time, see build-cluster-api; needs Linux)
	@[ -e $(REAL)/data ] || $(MAKE) --no-print-directory build-installer
	@[ -e $(REAL)/openshift-install-create ] || $(MAKE) --no-print-directory build-cluster-api
	go test -count=1 -timeout 20m -tags installer,clusterapi -run Creates -v ./devstack/installer/real

.PHONY: test-auditors
test-auditors: ## let programs of others use the stand-in clouds: Kubernetes' own janitor, and the clouds' clients for Node.js (builds and fetches them: five minutes; needs Node.js 20)
	@tools/setup.sh node
	go test -count=1 -timeout 10m -tags auditors ./devstack/auditors

.PHONY: demo
demo: $(DEMO_BUILD) $(if $(wildcard $(DEMO_DIR)/bin/act),build-act) ## start everything on this machine, to label a pull request and watch (Ctrl-C stops, .demo keeps the state; KUBERNETES=1: runners are Jobs; INSTALLER=real: the real openshift-install and ccoctl)
	@$(DEMO_DIR)/bin/ocpctl-demo -dir $(DEMO_DIR) $(ON_KUBERNETES)$(ON_REAL)

.PHONY: demo-story
demo-story: $(DEMO_BUILD) build-act ## end-to-end test: run a pull request's whole life in a separate demo over HTTP and check every step (KUBERNETES=1: runners are Jobs)
	@$(DEMO_DIR)/bin/ocpctl-demo -dir $(DEMO_DIR) $(ON_KUBERNETES)$(ON_REAL) -story

comma := ,

.PHONY: chaos
chaos: $(DEMO_BUILD) ## crash matrix: kill processes and cut connections at every step of a cluster's life (TIME=10m N=0 SEED= CELL= CLOUD=aws|ibmcloud|kubernetes|hypershift WIDTH=16 at once, INSTALLER=real)
	@$(DEMO_DIR)/bin/ocpctl-demo -dir $(DEMO_DIR)$(ON_REAL) -chaos -clouds $(or $(CLOUD),aws) -time $(or $(TIME),10m) -n $(or $(N),0) -seed $(or $(SEED),0) -cell "$(CELL)" -width $(or $(WIDTH),0)

.PHONY: soak
soak: $(DEMO_BUILD) ## create and destroy N=100 clusters with random faults and print figures on both clouds (CLOUD=aws,ibmcloud,kubernetes,hypershift SEED=, POOLS=1, KUBERNETES=1, INSTALLER=real, REPLICAS=2 servers of which one is killed now and then)
	@$(DEMO_DIR)/bin/ocpctl-demo -dir $(DEMO_DIR) $(ON_KUBERNETES)$(ON_REAL) -soak $(or $(N),100) $(if $(POOLS),-pools) -clouds $(or $(CLOUD),aws$(comma)ibmcloud) -seed $(or $(SEED),0) -replicas $(or $(REPLICAS),1)

.PHONY: soak-hours
soak-hours: build ## let N=200 clusters live for a day and a night with off-hours, sleep and faults, and compare cost with each cloud's meter (CLOUD=aws,ibmcloud, SEED=)
	@$(DEMO_DIR)/bin/ocpctl-demo -dir $(DEMO_DIR) -soak $(or $(N),200) -nights -clouds $(or $(CLOUD),aws$(comma)ibmcloud) -seed $(or $(SEED),0)

.PHONY: takeover
takeover: build ## kill, hang or stop one of two servers N=50 times while its jobs run, and print how long the other takes to do them (SEED=)
	@$(DEMO_DIR)/bin/ocpctl-demo -dir $(DEMO_DIR) -takeover $(or $(N),50) -seed $(or $(SEED),0)

.PHONY: upgrade
upgrade: REF ?= $(or $(shell git describe --tags --abbrev=0 --match 'v*.*.*' HEAD~1 2>/dev/null),HEAD~1)
upgrade: build ## replace the server of the release before (without one, of the commit before) by this one's while installs run, and go back (REF=v0.1.0)
	@echo "the older server is that of $(REF)"
	@rm -rf $(DEMO_DIR)/old && mkdir -p $(DEMO_DIR)/old/source
	@git archive $(REF) | tar -x -C $(DEMO_DIR)/old/source
	go -C $(DEMO_DIR)/old/source build -buildvcs=false -o .. ./cmd/ocpctl-server ./cmd/ocpctl-runner
	@cd $(DEMO_DIR)/old && cp $$(ls source/devstack/server.yaml.tmpl source/internal/devstack/server.yaml.tmpl 2>/dev/null) . && cp -r source/profiles/catalogue . && cd - >/dev/null && rm -rf $(DEMO_DIR)/old/source
	@$(DEMO_DIR)/bin/ocpctl-demo -dir $(DEMO_DIR) -upgrade $(DEMO_DIR)/old

.PHONY: attack
attack: build ## attack a separate demo as a runner, a stranger and a user; print a table of the results (ONLY=prefix)
	@$(DEMO_DIR)/bin/ocpctl-demo -dir $(DEMO_DIR) -attack -only "$(ONLY)"

.PHONY: long-checks
long-checks: test-stack build build-act ## the checks on a whole stack: make test-stack, and each in a folder of its own make attack, make demo-story, and two minutes of make chaos on each cloud (half an hour)
	@for check in attack demo-story chaos-aws chaos-ibmcloud; do \
		mkdir -p $(DEMO_DIR)/checks/$$check && cp -al $(DEMO_DIR)/bin $(DEMO_DIR)/checks/$$check/ || exit 1; done
	$(MAKE) attack DEMO_DIR=$(DEMO_DIR)/checks/attack
	$(MAKE) demo-story DEMO_DIR=$(DEMO_DIR)/checks/demo-story
	$(MAKE) chaos TIME=2m CLOUD=aws DEMO_DIR=$(DEMO_DIR)/checks/chaos-aws
	$(MAKE) chaos TIME=2m CLOUD=ibmcloud DEMO_DIR=$(DEMO_DIR)/checks/chaos-ibmcloud

.PHONY: clean
clean: ## delete the demo's state
	@if [ -f $(DEMO_DIR)/demo.pid ] && kill -0 "$$(cat $(DEMO_DIR)/demo.pid)" 2>/dev/null; then \
		echo "the demo is running (pid $$(cat $(DEMO_DIR)/demo.pid)); stop it with Ctrl-C first"; exit 1; fi
	rm -rf $(DEMO_DIR)

.PHONY: test
test: ## run the tests (make check runs them all)
	@tools/setup.sh postgres node
	@go -C tools/s3gateway tool -n s3gateway >/dev/null # built once here, not by each package that needs it
	@# the module's own tests come last: they read every package as compiled, and would compile all of them beside us. Tests often wait, so three packages at once keep two cores busy. make check vets and looks for races: from a cold cache that takes minutes
	go test -short -vet=off -p 3 -shuffle=on -timeout 30m -skip '$(HEAVY)' $(LONG) $$(go list ./... | grep -vxF "$$(go list . $(LONG) $(STACK))") .

.PHONY: test-stack
test-stack: ## the tests that make test leaves out: clusters' lives on a whole stack, with servers, runners and stand-ins as processes (fifteen minutes)
	@tools/setup.sh postgres
	go test -short -vet=off -shuffle=on -timeout 30m -skip '$(HEAVY)' $(STACK)

.PHONY: test-web
test-web: ## the pages in Chromium on a whole stack: accessibility (axe) of each page as three roles, light and dark, in three widths; and how pages behave (ten minutes)
	@tools/setup.sh postgres node chromium
	go test -count=1 -timeout 30m -tags web -run InABrowser ./devstack

.PHONY: pictures
pictures: ## take the documents' pictures in Chromium on a whole stack, and write them into docs/pictures (two minutes)
	@tools/setup.sh postgres node chromium emoji
	PICTURES=$(abspath docs/pictures) go test -count=1 -tags web -run PicturesOfTheDocumentsInABrowser ./devstack

.PHONY: test-terraform
test-terraform: ## check deploy/terraform with OpenTofu: format, types, its own tests (builds OpenTofu: a minute, or five the first time)
	go -C tools/terraform test -count=1 ./...
.PHONY: test-alerts
test-alerts: ## test the recording rules and alerts with Prometheus' own engine (cold build: a minute)
	@go -C tools/rules run . $(CURDIR)/deploy/alerts.test.yaml

.PHONY: quick
quick: ## the tests that need no database, no demo and no race detector (two minutes)
	@go test -vet=off $$(go list -deps -test -f '{{if not .Standard}}{{.ImportPath}} {{join .Deps " "}}{{end}}' ./... | $(QUICK))

.PHONY: test-newcomer
test-newcomer: ## walk the README in a fresh Debian that has only Go, git, make and gcc, with empty caches: make demo until it is up, then make test (TEST=true leaves it out; needs Linux, root and debootstrap; an hour)
	@tools/newcomer.sh "$(or $(TEST),make test)"

.PHONY: release
release: ## build this commit's programs for all platforms, with SBOMs and checksums, in dist (tag first: git tag v1.2.3)
	@tools/release/release.sh $(or $(OUT),dist)

.PHONY: images
images: ## build the container images of the server and the runner as OCI archives in dist/images (RUNNER_BASE=image@sha256:… for the runner; CLI_BASE=image@sha256:… also for pipelines' steps)
	@mkdir -p dist/images/bin
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o dist/images/bin ./cmd/ocpctl-server ./cmd/ocpctl-runner ./cmd/ocpctl
	@set -e; go -C tools/images build -o $(abspath dist/images/bin)/images .; \
	version=$$(git describe --tags --match 'v[0-9]*.[0-9]*.[0-9]*' --always --dirty); made=$$(date -u -d "@$$(git log -1 --format=%ct)" +%Y-%m-%dT%H:%M:%SZ); \
	build() { name=$$1; program=$$2; shift 2; dist/images/bin/images build -program dist/images/bin/$$program -arch $$(go env GOARCH) -version $$version \
		-revision $$(git rev-parse HEAD) -created $$made -out dist/images/$$name.oci.tar "$$@"; }; \
	build ocpctl-server ocpctl-server; build ocpctl-runner ocpctl-runner -dir /work -dir /installers -base "$(RUNNER_BASE)"; \
	[ -z "$(CLI_BASE)" ] || build ocpctl-cli ocpctl -base "$(CLI_BASE)"

.PHONY: test-images
test-images: ## build the images, unpack them, and start their programs as the image's user
	go -C tools/images test -count=1 .

.PHONY: test-install
test-install: build build-kubernetes images ## install the chart with Helm on the test cluster and walk docs/install.md: doctor, a pull request's cluster, upgrade, uninstall
	@mkdir -p dist/images/standins
	CGO_ENABLED=0 go build -o dist/images/standins ./devstack/installer/cmd/openshift-install ./devstack/installer/cmd/ccoctl ./devstack/installer/cmd/oc
	go -C tools/helm build -o $(abspath .demo)/bin/helm helm.sh/helm/v3/cmd/helm
	go test -tags install -count=1 -timeout 30m -v ./devstack/install

.PHONY: fuzz
fuzz: ## fuzz the parsers of untrusted input (comments, repository files, deliveries, Slack's requests), TIME=1m for each target
	@set -eo pipefail; for package in $(FUZZED); do \
		go test -list '^Fuzz' $$package | { grep '^Fuzz' || true; } | while read -r target; do \
			echo "$$package $$target"; go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(or $(TIME),1m) -fuzzminimizetime 100x $$package </dev/null; done; done

.PHONY: seeds
seeds: ## run the fault tests with SEEDS different seeds (200), and as many random lives of pull requests and of a workspace in Slack
	SEEDS=$(or $(SEEDS),200) go test -count=1 -timeout 4h -run Fault ./devstack/...
	go test -count=1 -timeout 4h -run 'WhateverHappens|WhateverBefalls' ./app/pulls ./app/hooks ./devstack/slackstory -rapid.checks=$(or $(SEEDS),200)

.PHONY: check
check: format vet lint names generated race test test-web test-alerts bench-gate ## check format, vet, lint, names and generated code, run all tests under the race detector, and make test; compare costs

.PHONY: format
format:
	@bad=$$(git ls-files '*.go' | grep -v '\.gen\.go$$' | xargs gofmt -l); if [ -n "$$bad" ]; then echo "gofmt -w these: $$bad"; exit 1; fi

.PHONY: vet
vet:
	go vet -composites=false ./... # names of fields say nothing where a type is our own
	go vet -composites=false -tags act,web,kubernetes,jenkins,install,installer,clusterapi,auditors ./...
	go -C tools/s3gateway vet ./...
	go -C tools/act vet ./...
	go -C tools/tekton vet ./...
	go -C tools/terraform/provider vet ./...
	go -C tools/rules vet ./...
	go -C tools/benchgate vet ./...

.PHONY: lint
lint:
	$(TOOL) staticcheck ./...

.PHONY: names
names: # at most a fifth of the functions has a name of one word, and none is named by a participle
	@cd tools && go run ./names -max 20

.PHONY: generate
generate: ## regenerate the code from app/api/openapi.yaml
	go generate ./...

.PHONY: github-shapes
github-shapes: ## regenerate the shapes of GitHub's API from its published description (npm, GITHUB_SHAPES=version)
	@version=$(or $(GITHUB_SHAPES),23.0.2); dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	(cd $$dir && npm pack --silent @octokit/openapi@$$version >/dev/null && tar xzf *.tgz package/generated/api.github.com.json) && \
	cd tools && go run ./githubshapes -in $$dir/package/generated/api.github.com.json -version $$version -out ../devstack/github/testdata/github.json \
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

.PHONY: bench-gate
bench-gate: ## fail if an operation costs more processor time or allocations than in the last tag (BASE=commit, ONLY=benchmark), by turns in one run (ten minutes)
	@cd tools/benchgate && go test ./... && go run . compare -root ../.. -base "$(BASE)" -only "$(ONLY)"

.PHONY: bench-gate-calibrate
bench-gate-calibrate: ## measure the noise of each operation of bench-gate on this machine, and write the ranges (half an hour; ONLY=benchmark)
	@cd tools/benchgate && go run . calibrate -root ../.. -only "$(ONLY)"

.PHONY: performance
performance: ## run the benchmarks of docs/performance.md and write the page (half an hour; FROM=output of an earlier run)
	@cd tools/benchgate && go run . page -root ../.. -from "$(if $(FROM),$(abspath $(FROM)))"

.PHONY: test-chart
test-chart: ## lint and render the Helm chart, and check it against the API's types and the golden files (two minutes the first time)
	go -C tools/helm test -count=1 ./... # the chart is outside its module

.PHONY: chart-golden
chart-golden: ## render the Helm chart's golden files again
	go -C tools/helm test ./... -update
