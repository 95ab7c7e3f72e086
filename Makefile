# `make` or `make help` lists the targets; CI runs these same ones (.ci/run).

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --warn-undefined-variables --no-builtin-rules
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

FUZZTIME   ?= 10s
BENCHCOUNT ?= 6
SEEDS      ?= 20
WORLDS     ?= 500
COVER      ?= 90
REDIS      ?= $(shell command -v redis-server || echo redis-server)
POSTGRES   ?= $(or $(shell command -v postgres || ls -d /usr/lib/postgresql/*/bin/postgres 2>/dev/null | sort -V | tail -n 1),postgres)
PLANT      ?=
LIVE       ?=
LONGEST    ?= 2m

# Packages whose tests start goroutines, or whose code must be safe with several. The scenarios
# themselves run in a binary with the race detector for the digests (.ci/run).
RACEPKGS ?= ./sim/... ./fakes/... ./engine/... ./scenarios ./ports/... ./cmd/orchestra

# Layers that must behave the same in every run of a seed.
PURELAYERS := engine,fakes,sim,scenarios/wire,properties

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## compile every package
	go build ./...

.PHONY: test
test: ## run the tests, offline
	go test ./...

.PHONY: race
race: ## run the tests with the race detector (RACEPKGS=./... for all)
	go test -race -skip '^TestScenarios$$' $(RACEPKGS)

.PHONY: conformance
conformance: ## hold the fakes to a real Redis (REDIS=path), PostgreSQL (POSTGRES=path) and docs/hub.openapi.yaml; PLANT=ttl, empty-on-outage, settle or scope-echo shows how it fails
	go test -count=1 ./internal/conformance -redis-server=$(REDIS) -postgres=$(POSTGRES) -plant=$(PLANT)

.PHONY: live
live: ## run the service for real: with kill -9 and restarts, and every scenario that can be and takes no longer than LONGEST (2m; REDIS=path, POSTGRES=path; LIVE='-count=10 -race-build')
	go test -count=1 -timeout=60m ./internal/live -redis-server=$(REDIS) -postgres=$(POSTGRES) $(LIVE)
	go run ./cmd/sim run --live --redis-server=$(REDIS) --postgres=$(POSTGRES) --longest=$(LONGEST) scenarios/...

.PHONY: run
run: ## run every scenario
	go run ./cmd/sim run scenarios/...

.PHONY: lua
lua: ## run every scenario with the Lua scripts instead of their twins in Go
	go run ./cmd/sim run scenarios/... --lua

.PHONY: twice
twice: ## run every scenario twice for SEEDS seeds and compare the traces
	go run ./cmd/sim run scenarios/... --twice --seeds $(SEEDS)

.PHONY: worlds
worlds: ## run WORLDS random worlds of each kind, with every property; a third of them are new each time
	go test -count=1 -timeout 1h -run 'InWorlds|InRandomWorlds' ./properties/worlds -worlds.seeds=$(WORLDS) -worlds.replicas=$(WORLDS) -rapid.seed=0 -rapid.checks=$(WORLDS)

.PHONY: sweep
sweep: SEEDS := $(if $(filter file,$(origin SEEDS)),200,$(SEEDS))
sweep: ## run a whole book under faults of every service, for SEEDS seeds (200)
	go test -count=1 -timeout 1h -run InSweeps ./properties/worlds -worlds.sweeps=$(SEEDS)

.PHONY: lint
lint: ## check format, go.mod, vet, simcheck and staticcheck
	unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "run gofmt -w on: $$unformatted"; exit 1; }
	go mod tidy -diff
	go vet ./...
	go run ./internal/lint/cmd/simcheck -layers $(PURELAYERS) ./...
	go tool -modfile=tools.mod staticcheck ./...

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME
	targets=$$(grep -rHo --include='*_test.go' --exclude-dir=testdata '^func Fuzz[A-Za-z0-9_]*' .) \
		|| { echo "there is no fuzz target"; exit 1; }; \
	while IFS=: read -r file func; do \
		name=$${func#func }; \
		echo "$$name in $$file"; \
		go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$(dirname "$$file")" </dev/null; \
	done <<<"$$targets"

.PHONY: bench
bench: ## run the benchmarks BENCHCOUNT times, for benchstat
	go test -run '^$$' -bench . -benchmem -count $(BENCHCOUNT) ./...

.PHONY: cover
cover: ## list the functions of engine/ that scenarios and properties do not run whole; fail below COVER percent
	data=$$(mktemp -d); trap 'rm -rf "$$data"' EXIT; mkdir "$$data/cover"; \
	go build -cover -coverpkg=./engine/...,./cmd/sim -o "$$data/sim" ./cmd/sim; \
	GOCOVERDIR="$$data/cover" "$$data/sim" run scenarios/... | tail -n 1; \
	go test -count=1 -timeout 1h -run PropertiesHold -coverpkg=./engine/... ./properties/worlds -args -test.gocoverdir="$$data/cover"; \
	go tool covdata textfmt -i="$$data/cover" -o "$$data/all"; grep -v /cmd/sim/ "$$data/all" >coverage.out; \
	go tool cover -func=coverage.out | awk -v least=$(COVER) '$$3 != "100.0%" { print } /^total:/ { bad = $$3 + 0 < least } END { exit bad }'

.PHONY: docs
docs: ## rewrite the generated pages of docs/
	@grep -rq --include='*.go' '^//go:generate' . || { echo "no package has a go:generate line"; exit 1; }
	go generate ./...

.PHONY: verify-docs
verify-docs: ## rewrite the generated pages and fail if one was stale
	before=$$(mktemp -d); trap 'rm -rf "$$before"' EXIT; \
	cp -r docs "$$before"; \
	$(MAKE) docs; \
	diff -ru "$$before/docs" docs

.PHONY: readme
readme: ## print the commands of the README that CI runs
	@go run ./internal/house/cmd/readme README.md

.PHONY: ci
ci: ## do everything that CI does
	CI=true bash .ci/run
