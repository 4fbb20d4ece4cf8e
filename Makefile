# setup    installs missing dependencies (apt, pip); the other targets run it for those they need
# example  runs the example app: make example ARGS="--page-size 5"
# desktop  runs the example app in a window of GTK, which the other targets leave out: make desktop ARGS="--bad-pin"
# desktop-test  drives that window under Xvfb, as a screen reader sees it: make desktop-test ARGS=pictures
# test     runs all tests, with nginx, httpbin and other servers: make test ARGS="--filter SecurityTests"
# quick    checks one module in two minutes: formatting, module graph, its tests alone: make quick MODULE=Session ARGS="--filter Retry"
# check    checks formatting, module graph, single products, linked libraries, documentation
# bench    runs the benchmarks: make bench, or make bench SCENARIO=get-1k-c32 ROUNDS=3
# check-allocations  compares the allocations of a small GET with Benchmarks/Thresholds.json
# check-instructions  the same for the instructions in user space, of plain HTTP, TLS, HTTP/2 and an equipped session
# check-files  the same for the files of the package on the way of a small GET down, and of its response up; not a part of CI
# check-switches  the same for the waits of the client's threads; not a part of CI
# soak     checks that memory does not grow over many exchanges of every kind: make soak ARGS="2000 h2 unread", or make soak MINUTES=30 for a mixed load
# gateway  builds and tests Examples/Gateway, which the other targets leave out, since Hummingbird takes minutes
# templates  builds the packages of Examples/Templates, each as a package of its own, and runs their tests
# gateway-soak  loads the gateway, ends it under load, and draws its dashboard: make gateway-soak MINUTES=5
# docs     builds the documentation into .build/docs, and one site of it with the guides into .build/site
# docs-serve  the same, and serves the site on 127.0.0.1: make docs-serve ARGS="8000"
# api      writes the public interface of each module into Docs/API, with which `make check` compares it
# sanitize runs the tests with the thread sanitizer, then with the address sanitizer, which also detects leaks
# scaling  checks in a release build that twice the input takes twice the time
# fuzz     runs the fuzz targets (Tests/Fuzz): make fuzz ARGS="10", or make fuzz ARGS="600 FuzzXML"
# kills    kills programs at random while they transfer files from nginx: make kills ROUNDS=200
# queues   two programs add 10,000 transfers each, while the one that transfers changes, and for four workers with PostgreSQL
# manual   writes the manual page of linnet, Docs/linnet.1, from its help
# coverage prints which lines of the modules their tests run: make coverage ARGS="Cache Cookies"
# mutants  changes the code in small ways, and prints the changes that the tests do not notice: make mutants ARGS="Cookies 100"
# reliability  meets each fault of a server at each point of an exchange, and writes the outcomes to Docs/Reliability.md
# distributions  builds and tests on Debian 12 and 13, bootstrapped into .build-distributions: make distributions ARGS="--keep trixie"
# nightly  runs what is too long for CI: sanitizers, fuzzing, kills, soaks, the gateway, templates, distributions, benchmarks: make nightly ARGS="kills soak"
# release-check  walks the checklist of a release for this commit: make release-check, or make release-check ARGS="--list"
# clean    removes all build products

include .ci/environment

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup example desktop desktop-test test quick check bench check-allocations check-instructions check-files check-switches soak gateway gateway-soak templates docs docs-serve api sanitize scaling fuzz kills queues manual coverage mutants reliability distributions nightly release-check clean

ARGS ?=
SCENARIO ?=
ROUNDS ?= 5
MODULE ?=
# With minutes, the soak is the mixed one. After large bodies are freed, glibc would keep as much in each arena.
SOAK := $(if $(MINUTES),linnet-mix $(MINUTES),linnet-leaks)
KEPT := $(if $(MINUTES),:glibc.malloc.mmap_threshold=131072:glibc.malloc.trim_threshold=131072)
MINUTES ?= 5
DESKTOP := --package-path Examples --scratch-path .build-desktop --product ExampleDesktop
GATEWAY := --package-path Examples/Gateway --scratch-path .build-gateway
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

desktop:
	@.ci/setup build desktop
	@swift build $(DESKTOP) >&2
	@.build-desktop/debug/ExampleDesktop $(ARGS)

desktop-test:
	@.ci/setup build desktop desktop-test
	@swift build $(DESKTOP) >&2
	@Examples/Desktop/test .build-desktop/debug/ExampleDesktop $(ARGS)

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
	@Benchmarks/counts allocations $(ARGS)

check-instructions:
	@.ci/setup build allocations
	@Benchmarks/counts instructions $(ARGS)

check-files:
	@.ci/setup build allocations
	@Benchmarks/counts files $(ARGS)

check-switches:
	@.ci/setup build
	@Benchmarks/counts switches $(ARGS)

soak:
	@.ci/setup build
	@swift build -c release --package-path Benchmarks --scratch-path .build-bench --product $(firstword $(SOAK)) >&2
	@GLIBC_TUNABLES=glibc.malloc.tcache_count=0$(KEPT) .build-bench/release/$(SOAK) $(ARGS)

# The measured build: `swift test` alone would compile everything anew, with other options.
gateway:
	@.ci/setup build
	@swift build -c release $(GATEWAY) --build-tests >&2
	@swift test -c release $(GATEWAY) --skip-build --disable-xctest --no-parallel $(ARGS)

# As a user's package, without the traits that the repository's own builds have.
templates:
	@.ci/setup build
	@unset LINNET_TRAITS; for template in Examples/Templates/*/; do \
		name=$$(basename "$$template"); \
		echo "$$name" >&2; \
		swift build --package-path "$$template" --scratch-path ".build-templates/$$name" --build-tests >&2; \
		if [[ -d $$template/Tests ]]; then \
			swift test --package-path "$$template" --scratch-path ".build-templates/$$name" --skip-build --disable-xctest; \
		fi; \
	done

gateway-soak:
	@.ci/setup build bench
	@swift build -c release $(GATEWAY) --product gateway >&2
	@Examples/Gateway/Load/soak .build-gateway/release/gateway $(MINUTES)

docs:
	@.ci/setup build
	@swift build
	@.ci/check-docs
	@.ci/check-site
	@echo "The documentation archives are in .build/docs, and the site is in .build/site"

docs-serve: docs
	@python3 -m http.server --bind 127.0.0.1 --directory .build/site $(ARGS)

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
	@LINNET_BACKGROUND_ROUNDS=50 LINNET_TESTS=BackgroundTests \
		swift test --skip-build --disable-xctest --no-parallel --filter BackgroundTests.TakeoverTests

queues:
	@.ci/setup build test
	@LINNET_TESTS=BackgroundTests,BackgroundPostgresTests swift build --product linnetPackageTests >&2
	@LINNET_BACKGROUND_TASKS=10000 LINNET_TESTS=BackgroundTests,BackgroundPostgresTests \
		swift test --skip-build --disable-xctest --no-parallel \
		--filter 'BackgroundTests.ManyTasksTests|BackgroundPostgresTests.FleetTests|TransferStoreTests/aLongQueue' $(ARGS)

manual:
	@.ci/setup build
	@LINNET_TESTS=LinnetRequestTests swift build --product linnetPackageTests >&2
	@LINNET_MANUAL=1 LINNET_TESTS=LinnetRequestTests \
		swift test --skip-build --disable-xctest --no-parallel --filter ManualTests $(ARGS)

coverage:
	@.ci/setup build test
	@.ci/coverage $(ARGS)

mutants:
	@.ci/setup build
	@.ci/mutants $(ARGS)

reliability:
	@.ci/setup build
	@LINNET_TESTS=ReliabilityTests swift build --product linnetPackageTests >&2
	@LINNET_RELIABILITY="$(CURDIR)/Docs/Reliability.md" LINNET_TESTS=ReliabilityTests \
		swift test --skip-build --disable-xctest --no-parallel --filter ReliabilityTests $(ARGS)

distributions:
	@.ci/setup distributions
	@.ci/distributions $(ARGS)

nightly:
	@.ci/setup build test bench allocations
	@.ci/nightly $(ARGS)

release-check:
	@.ci/setup build test
	@swift package resolve >&2
	@.ci/check-release $(ARGS)

clean:
	@.ci/distributions --remove
	rm -rf .build .build-release .build-thread .build-address .build-fuzz .build-bench .build-bench-static .build-coverage .build-mutants .build-desktop .build-gateway .build-templates
