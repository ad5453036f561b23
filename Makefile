# The manual of this project: `make help` lists what one can do. meson and ninja do the work.
#
# Data sets are looked for in $TACIT_DATA; ../shared/data serves where it exists and nobody chose.
ifndef TACIT_DATA
ifneq ($(wildcard ../shared/data),)
export TACIT_DATA := $(abspath ../shared/data)
endif
endif

BUILD := build
SHELL := /bin/bash

.DEFAULT_GOAL := build
.PHONY: help build run live test check check-long mutate bench bench-growth instructions format install deb sbom check-packages clean \
	python dependencies dependencies-python dependencies-live dependencies-test dependencies-check

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

dependencies:
	@tools/install_dependencies.sh build

dependencies-live:
	@tools/install_dependencies.sh build live

dependencies-test:
	@tools/install_dependencies.sh build live test

dependencies-python:
	@tools/install_dependencies.sh build python

dependencies-check:
	@tools/install_dependencies.sh build live test check python

build: dependencies ## build the program: build/tacit
	@tools/build.sh $(BUILD) -Dtests=false

run: build ## three hospitals learn together, privately: result on the terminal, report in out/hospital
	$(BUILD)/tacit run experiments/hospital/hospital.yaml --out out/hospital
	@echo; echo "The same beside a paper's method (elimination; its confidence is 0.999999), all at epsilon 1 per reward:"
	$(BUILD)/tacit compare experiments/hospital/hospital.yaml --over 'protocol={kind: phased-index, confidence: 0.95},{kind: phased-index, confidence: 0.999999},{kind: elimination}' --out out/hospital-paper
	@echo; echo "Why the phased index loses less: its confidence bounds are exact for sums with noise, the paper's are rough; and a round asks only about the leader and its closest challengers."

live: dependencies-live build ## a live federation on this machine: broker, coordinator, three agents; PROTOCOL=WORD, TRUST=2; ends by itself
	@python3 examples/live/demo.py $(BUILD)/tacit --protocol $(or $(PROTOCOL),elimination) --trust $(or $(TRUST),1)

test: dependencies-test ## build and run all tests
	@tools/build.sh build-test -Dtests=true
	@tools/run_tests.sh build-test

python: dependencies-python ## build and test the Python package: wheel in build-python/wheel
	@tools/build.sh build-python -Dtests=false -Dpython=true -Dwheel=true --buildtype=release
	@tools/build_python.sh build-python

check: dependencies-check ## the gates: compilers, sanitizers, valgrind, purity, layers, format, function length, Python
	@tools/check.sh

check-long: dependencies-check ## the gates, then long statistics, a large swarm and 30 s of each fuzz target
	@tools/check.sh
	@tools/check_long.sh

mutate: dependencies-test ## change COUNT places of the sources, one at a time (SEED, PLACE), and count what no quick test notices
	@python3 tools/mutate.py $(if $(PLACE),--place '$(PLACE)',--count $(or $(COUNT),20) --seed $(or $(SEED),1))

bench: dependencies-live ## measure the workloads of bench/README.md
	@tools/build.sh build-bench -Dtests=false -Dbench=true --buildtype=release
	@bench/run.sh build-bench

bench-growth: dependencies-check ## how work grows with arms, agents, slots and dimensions: exponents over a decade
	@tools/build.sh build-bench -Dtests=false -Dbench=true --buildtype=release
	@python3 bench/growth.py build-bench

instructions: dependencies-check ## count the instructions of fixed workloads; REASON='why they moved' [WORKLOADS=...] writes new numbers
	@tools/build.sh build-gate -Dtests=false -Dbench=true -Dpython=true --buildtype=release
	@tools/build.sh build-test -Dtests=true
	@python3 bench/instructions.py build-gate build-test $(if $(REASON),--record '$(REASON)') $(WORKLOADS)

format: dependencies-check ## put all C files into the house's format
	@git ls-files '*.c' '*.h' | xargs clang-format -i

install: build ## install the program, the pure library and its headers (PREFIX by meson)
	@rm -f $(BUILD)/meson-logs/install-log.txt # root's, after "sudo make install": others could not write it
	@meson install -C $(BUILD)

deb: ## Debian packages of what is committed: tacit, tacitd, libtacit-dev, in build
	@tools/install_dependencies.sh build package
	@tools/make_deb.sh $(BUILD)

sbom: build ## what tacit and tacitd are made of, as SPDX 2.3: build/tacit.spdx.json
	@python3 tools/make_sbom.py $(BUILD) $(BUILD)/tacit.spdx.json

check-packages: dependencies-check ## packages, containers and what a security team asks for, on the real things (root; some 20 minutes)
	@tools/install_dependencies.sh build package containers
	@tools/check_packages.sh

clean: ## remove what was built
	rm -rf build build-* out
