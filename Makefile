# setup    installs missing dependencies (apt, pip); the other targets run it for those they need
# example  runs the example app: make example ARGS="--page-size 5"
# test     runs all tests, with nginx, httpbin and other servers: make test ARGS="--filter SecurityTests"
# quick    checks one module in two minutes: formatting, module graph, its tests alone: make quick MODULE=Session ARGS="--filter Retry"
# check    checks formatting, module graph, single products, linked libraries, documentation
# bench    runs the benchmarks: make bench, or make bench SCENARIO=get-1k-c32 ROUNDS=3
# check-allocations  compares the allocations of a small GET with Benchmarks/Thresholds.json
# soak     checks that memory does not grow over many exchanges of every kind: make soak ARGS="2000 h2 unread"
# docs     builds the documentation into .build/docs
# api      writes the public interface of each module into Docs/API, with which `make check` compares it
# sanitize runs the tests with the thread sanitizer, then with the address sanitizer, which also detects leaks
# scaling  checks in a release build that twice the input takes twice the time
# fuzz     runs the fuzz targets (Tests/Fuzz): make fuzz ARGS="10", or make fuzz ARGS="600 FuzzXML"
# kills    kills programs at random while they transfer files from nginx: make kills ROUNDS=200
# queues   two programs add 10,000 transfers each, while the one that transfers changes, and for four workers with PostgreSQL
# clean    removes all build products

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup example test quick check bench check-allocations soak docs api sanitize scaling fuzz kills queues clean

ARGS ?=
SCENARIO ?=
ROUNDS ?= 5
MODULE ?=
WITH_SERVERS := Tests/IntegrationTests/Servers/with

help:
	@sed -n 's/^# \([a-z-]*  *.*\)/make \1/p' Makefile

setup:
	@.ci/setup build test bench allocations

# Only the app writes to standard output.
example:
	@.ci/setup build
	@swift build --product ExampleApp >&2
	@.build/debug/ExampleApp $(ARGS)

test:
	@.ci/setup build test
	@.ci/test $(ARGS)

quick:
	@.ci/setup build
	@.ci/quick "$(MODULE)" $(ARGS)

check:
	@.ci/setup build
	@.ci/check

bench:
	@.ci/setup build bench
	@Benchmarks/run --scenario "$(SCENARIO)" --rounds "$(ROUNDS)"

check-allocations:
	@.ci/setup build allocations
	@Benchmarks/allocations $(ARGS)

soak:
	@.ci/setup build
	@swift build -c release --package-path Benchmarks --scratch-path .build-bench --product linnet-leaks >&2
	@GLIBC_TUNABLES=glibc.malloc.tcache_count=0 .build-bench/release/linnet-leaks $(ARGS)

docs:
	@.ci/setup build
	@swift build
	@.ci/check-docs
	@echo "The documentation archives are in .build/docs"

api:
	@.ci/setup build
	@swift build >&2
	@.ci/api

sanitize:
	@.ci/setup build test
	@for sanitizer in thread address; do \
		$(WITH_SERVERS) swift test --sanitize=$$sanitizer --scratch-path .build-$$sanitizer --disable-xctest --no-parallel $(ARGS); \
	done

scaling:
	@.ci/setup build
	@.ci/scaling $(ARGS)

fuzz:
	@.ci/setup build
	@Tests/Fuzz/run $(ARGS)

kills:
	@.ci/setup build test
	@LINNET_TESTS=BackgroundTests swift build --product linnetPackageTests >&2
	@LINNET_BACKGROUND_NGINX=1 LINNET_BACKGROUND_KILLS=$(ROUNDS) LINNET_TESTS=BackgroundTests \
		swift test --skip-build --disable-xctest --no-parallel --filter BackgroundTests.KillTests $(ARGS)

queues:
	@.ci/setup build test
	@LINNET_TESTS=BackgroundTests,BackgroundPostgresTests swift build --product linnetPackageTests >&2
	@LINNET_BACKGROUND_TASKS=10000 LINNET_TESTS=BackgroundTests,BackgroundPostgresTests \
		swift test --skip-build --disable-xctest --no-parallel \
		--filter 'BackgroundTests.ManyTasksTests|BackgroundPostgresTests.FleetTests|TransferStoreTests/aLongQueue' $(ARGS)

clean:
	rm -rf .build .build-release .build-thread .build-address .build-fuzz .build-bench .build-bench-static .build-gtk
