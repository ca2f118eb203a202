# SPDX-License-Identifier: BSD-3-Clause
# The product's face. Each target is complete on a fresh Debian 12: it installs what is missing,
# builds and runs. `make help` lists them. WERROR=true: a compiler's warning is an error, as in the project's CI.

BUILD ?= build
SUITES_FAST := unit property check ^mutation
# What these targets run (suite check: what shows most of replay and pipeline in little time); the whole tree takes minutes.
DEMO := app/hp3d/hp3d app/hp3ctl/hp3ctl p4-testbed/fabric/hp3-fabric p4-testbed/roce-gen/roce-gen
BENCH := bench/hp3-bench bench/hp3-bench-lcores bench/hp3-events-bench p4-testbed/fabric/hp3-fabric sim/hp3-sim

.PHONY: all help deps build everything aarch64 demo test check lint analyze bench bench-compare install uninstall deb clean test-long soak fuzz coverage

all: build

help:
	@echo 'make demo        P4 fabric: two elephants on one spine part, one elephant takes all spines; view, pages, figures'
	@echo 'make demo RNIC=rxe  the same with real RNIC stacks (Soft-RoCE) in virtual machines'
	@echo 'make test        lint, gcc, clang with sanitizers, testbed, harm, lab, package (10 to 16 minutes on 2 cores)'
	@echo 'make check       the fast ring: unit, property, some of replay and pipeline (2 minutes)'
	@echo 'make build       build/app/hp3d/hp3d, build/app/hp3ctl/hp3ctl, and the other programs; make everything: tests, too'
	@echo 'make aarch64     the same for a DPU, in build-aarch64 (docs/guide/dpu.md)'
	@echo 'make lint        format, licence lines, spelling, forbidden words, functions without a caller'
	@echo 'make analyze     cppcheck, clang-tidy, gcc -fanalyzer, of all C that is no test (long)'
	@echo 'make bench       cycles per packet beside testpmd (QUICK=1: within a minute)'
	@echo 'make bench-compare BASE=REV   this tree and another revision, in one run'
	@echo 'make install     to PREFIX (default /usr/local), configuration to /etc/hp3; make uninstall removes all but the configuration'
	@echo 'make deb         Debian packages hp3, hp3-sim, hp3-tools, hp3-doc, libhp3x0, libhp3x-dev, hp3x-tools, in the folder above this one'
	@echo 'make test-long   wide matrices; make soak: hours'
	@echo 'make coverage    lines of the library and config that unit tests run, per directory'
	@echo 'make fuzz        libFuzzer on all that reads what others wrote (HOURS=1, ONLY=config: one of tests/fuzz)'

deps:
	@scripts/install-deps.sh

$(BUILD)/build.ninja: | deps
	meson setup $(BUILD) $(if $(PREFIX),--prefix $(PREFIX)) $(if $(WERROR),-Dwerror=$(WERROR))

build: deps $(BUILD)/build.ninja
	ninja -C $(BUILD) programs

everything: deps $(BUILD)/build.ninja
	ninja -C $(BUILD)

aarch64: deps
	scripts/aarch64/build $(BUILD)-aarch64

# RNIC=rxe: virtual machines with Linux Soft-RoCE and perftest instead of roce-gen's hosts.
demo: deps $(BUILD)/build.ninja
	ninja -C $(BUILD) $(DEMO)
ifeq ($(RNIC),rxe)
	p4-testbed/demo-rxe --build $(BUILD) --out hp3-demo
else
	p4-testbed/hp3-testbed --name demo --build $(BUILD) run micro-collision --modes off,on --out hp3-demo
	for scenario in one-elephant one-elephant-read; do \
		p4-testbed/hp3-testbed --name demo --build $(BUILD) run $$scenario --modes off,on --out hp3-demo \
			--set 'probes.probe_key=""' || exit 1; \
	done
endif

check: deps $(BUILD)/build.ninja
	HP3_SEED_BASE= scripts/run-tests.py $(BUILD) $(SUITES_FAST)

lint: deps
	scripts/lint.sh

analyze: deps $(BUILD)/build.ninja
	scripts/analyze.py --build $(BUILD)

test: deps
	scripts/test-all.sh $(BUILD)

test-long: everything
	scripts/test-long.sh $(BUILD)

soak: everything
	scripts/soak.sh $(BUILD)

# Lines of the library that its unit tests run, per directory (docs/internals/testing.md).
coverage: deps
	scripts/coverage.sh $(BUILD)

fuzz: deps
	scripts/fuzz.sh $(BUILD)

bench: deps $(BUILD)/build.ninja
	ninja -C $(BUILD) $(BENCH)
	bench/run --build $(BUILD) $(if $(QUICK),--quick) $(if $(JSON),--json $(JSON)) \
		$(if $(HISTORY),--history $(HISTORY))
	bench/switch --build $(BUILD) $(if $(QUICK),--quick) $(if $(JSON),--json $(JSON:.json=-switch.json))
	bench/sim --build $(BUILD) $(if $(QUICK),--quick) $(if $(JSON),--json $(JSON:.json=-sim.json))

bench-compare: everything
	bench/compare --build $(BUILD) --base $(or $(BASE),HEAD) $(if $(QUICK),--quick)

install: build
	meson install -C $(BUILD) --no-rebuild

# Only what `make install` of this build put there. The configuration in /etc/hp3 stays.
uninstall:
	ninja -C $(BUILD) uninstall

deb: deps
	DEB_BUILD_OPTIONS="nocheck noddebs parallel=$(shell nproc)" dpkg-buildpackage -us -uc -b

clean:
	rm -rf $(BUILD) $(BUILD)-clang $(BUILD)-san $(BUILD)-gcc-san $(BUILD)-tsan $(BUILD)-aarch64 $(BUILD)-fuzz $(BUILD)-cov
