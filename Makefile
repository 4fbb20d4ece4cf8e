# setup    installs what is missing (apt, pip); the others call it for what they need
# example  runs the example app: make example ARGS="--page-size 5"
# test     runs all tests, with nginx, nghttpd and httpbin beside them: make test ARGS="--filter SecurityTests"
# check    formatting, module graph, products alone, what is linked, documentation
# bench    runs the benchmarks: make bench, or make bench SCENARIO=get-1k-c32 ROUNDS=3
# check-allocations  counts what a small GET allocates, against Benchmarks/Thresholds.json
# soak     many exchanges of every kind, after which memory must be flat: make soak ARGS="2000 h2 unread"
# docs     builds the documentation into .build/docs
# sanitize runs the tests under the thread sanitizer, then under the address sanitizer, which also looks for leaks
# fuzz     feeds made-up bytes to what reads bytes (Tests/Fuzz): make fuzz ARGS="10", or make fuzz ARGS="600 FuzzXML"
# clean    removes all that was built

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup example test check bench check-allocations soak docs sanitize fuzz clean

ARGS ?=
SCENARIO ?=
ROUNDS ?= 5
WITH_SERVERS := Tests/IntegrationTests/Servers/with

help:
	@sed -n 's/^# \([a-z-]*  *.*\)/make \1/p' Makefile

setup:
	@.ci/setup build test bench

# Standard output is the app's alone.
example:
	@.ci/setup build
	@swift build --product ExampleApp >&2
	@.build/debug/ExampleApp $(ARGS)

test:
	@.ci/setup build test
	@swift build --build-tests
	@.ci/check-readme
	@$(WITH_SERVERS) swift test --skip-build --disable-xctest --no-parallel $(ARGS)

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
	@echo "The archives are in .build/docs"

sanitize:
	@.ci/setup build test
	@for sanitizer in thread address; do \
		$(WITH_SERVERS) swift test --sanitize=$$sanitizer --scratch-path .build-$$sanitizer --disable-xctest --no-parallel $(ARGS); \
	done

fuzz:
	@.ci/setup build
	@Tests/Fuzz/run $(ARGS)

clean:
	rm -rf .build .build-thread .build-address .build-fuzz .build-bench .build-bench-static
