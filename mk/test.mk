# SPDX-License-Identifier: Apache-2.0
# Tests. Every C test is one program; T=pattern (extended regular expression) picks by path.

T ?=
TESTDATA_DEFAULT := $(wildcard ../shared/testdata)
export FLEETSCOPE_TESTDATA ?= $(if $(TESTDATA_DEFAULT),$(abspath $(TESTDATA_DEFAULT)))
export FSC_SRC := $(ROOT)
export FSC_BUILD := $(ROOT)/$(B)
export FSC_BUILD_PLAIN := $(ROOT)/build/debug
TEST_MODE ?= asan

# ---- unit tests and corpus replay programs ----
define unit_rules
UNIT_$(1) := $$(patsubst %.c,$$(B)/%,$$(TESTS_$(1)))
MAYTEST_$(1) := $$(sort $$(MAY_$(1)) $$(foreach x,$$(TESTMAY_$(1)),$$(MAY_$$(x))))
$$(UNIT_$(1)): $$(B)/%: $$(B)/%.o $$(call libs_of,$$(MAYTEST_$(1)))
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(LDFLAGS_ALL) -o $$@ $$(filter %.o,$$^) $$(filter %.a,$$^) $$(call ldlibs_of,$$(MAYTEST_$(1))) $$(PC_LIBS_cmocka)
FUZZBIN_$(1) := $$(patsubst tests/fuzz/fuzz_%.c,$$(B)/tests/fuzz/replay_%,$$(FUZZ_$(1)))
$$(FUZZBIN_$(1)): $$(B)/tests/fuzz/replay_%: $$(B)/tests/fuzz/fuzz_%.o $$(B)/tests/fuzz/replay_main.o $$(call libs_of,$$(MAYTEST_$(1)))
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(LDFLAGS_ALL) -o $$@ $$^ $$(call ldlibs_of,$$(MAYTEST_$(1)))
FUZZLIVE_$(1) := $$(patsubst tests/fuzz/%.c,$$(B)/tests/fuzz/%,$$(FUZZ_$(1)))
$$(FUZZLIVE_$(1)): $$(B)/tests/fuzz/%: $$(B)/tests/fuzz/%.o $$(call libs_of,$$(MAYTEST_$(1)))
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(LDFLAGS_ALL) -fsanitize=fuzzer -o $$@ $$^ $$(call ldlibs_of,$$(MAYTEST_$(1)))
$$(UNIT_$(1)): $$(patsubst %.c,$$(B)/%.o,$$(TESTHELP_$(1)))
endef
$(foreach m,$(MODULES),$(eval $(call unit_rules,$(m))))
# Torture tests have tests/support/faults.c in front of the C library.
UNIT_TORTURE := $(filter %/test_torture,$(foreach m,$(MODULES),$(UNIT_$(m))))
$(UNIT_TORTURE): $(B)/tests/support/faults.o
$(B)/tests/support/faults.o: WMOD := -fno-sanitize=all
$(UNIT_TORTURE): LDFLAGS_ALL += -rdynamic
UNIT_ALL := $(foreach m,$(MODULES),$(UNIT_$(m)))
REPLAY_ALL := $(foreach m,$(MODULES),$(FUZZBIN_$(m)))
FUZZLIVE_ALL := $(foreach m,$(MODULES),$(FUZZLIVE_$(m)))
pick = $(if $(T),$(shell printf '%s\n' $(1) | grep -E -e '$(T)'),$(1))

.PHONY: test plain-bins unit unit-run unit-bins golden replay replay-run node-tests node-bundles lint-tests asan tsan valgrind fuzz bench bench-bins
test: ## install what is missing, then lint, build and run every test; T=pattern picks
	@scripts/install-deps.sh
	@MAKE='$(MAKE)' scripts/test-all.sh '$(T)'

unit-bins: $(call pick,$(UNIT_ALL) $(REPLAY_ALL))

plain-bins: $(patsubst %.c,$(B)/%,$(TESTS_PLAIN))

unit: unit-bins ## C unit tests of MODE (T=pattern picks)
	@$(MAKE) --no-print-directory unit-run
unit-run: # what was built; a program that is missing counts as failed
	@scripts/run-unit.sh $(call pick,$(UNIT_ALL))

golden: ## writes tests/golden anew from what is read and written today; read the diff
	@FSC_GOLDEN_WRITE=1 $(MAKE) --no-print-directory unit T=export/test_golden

replay: $(call pick,$(REPLAY_ALL)) ## replay the fuzz corpora (T=pattern picks)
	@$(MAKE) --no-print-directory replay-run
replay-run:
	@scripts/run-replay.sh $(call pick,$(REPLAY_ALL))

node-bundles: web/node_modules/.stamp
	@$(NODE) scripts/build-tests.mjs

node-tests: node-bundles ## black-box tests (tests/api, tests/e2e, tests/browser)
	@scripts/run-node.sh '$(T)'

lint-tests: ## tests of the lint scripts themselves
	@scripts/run-lint-tests.sh '$(T)'

asan: ## unit tests and corpora under ASan and UBSan
	@scripts/install-deps.sh
	@$(MAKE) --no-print-directory MODE=asan -j$(JOBS) unit replay
tsan: ## unit tests under ThreadSanitizer
	@scripts/install-deps.sh
	@$(MAKE) --no-print-directory MODE=tsan -j$(JOBS) unit

valgrind: ## unit tests under valgrind (leaks of memory and descriptors)
	@scripts/install-deps.sh valgrind
	@$(MAKE) --no-print-directory MODE=debug -j$(JOBS) unit-bins
	@$(MAKE) --no-print-directory MODE=debug valgrind-run
.PHONY: valgrind-run
valgrind-run:
	@FSC_WRAP='valgrind -q --error-exitcode=9 --leak-check=full --track-fds=yes' \
		scripts/run-unit.sh $(call pick,$(UNIT_ALL))

COVER_NODE ?= api/|e2e/
.PHONY: cover cover-run analyze analyze-run
cover: ## lines and functions that the tests run, by module (unit tests, corpora, COVER_NODE of the black-box tests)
	@scripts/install-deps.sh
	@$(MAKE) --no-print-directory MODE=debug -j$(JOBS) programs plain-bins
	@$(MAKE) --no-print-directory MODE=cover -j$(JOBS) all unit-bins
	@find build/cover -name '*.gcda' -delete
	@$(MAKE) --no-print-directory MODE=cover cover-run
cover-run: node-bundles
	-@scripts/run-unit.sh $(UNIT_ALL)
	-@scripts/run-replay.sh $(REPLAY_ALL)
	-@scripts/run-node.sh '$(COVER_NODE)'
	@$(NODE) scripts/cover.mjs build/cover

analyze: ## gcc -fanalyzer over everything that ships; a finding is mended or silenced by name
	@scripts/install-deps.sh
	@$(MAKE) --no-print-directory MODE=release analyze-run
analyze-run:
	@scripts/analyze.sh '$(JOBS)' "$(subst ",\",$(filter-out -Werror,$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL)))" $(ALL_SRC)

TORTURE ?= all
.PHONY: torture
torture: ## the n-th allocation or file operation fails, over upload and index (TORTURE=all, every or a number)
	@scripts/install-deps.sh
	@$(MAKE) --no-print-directory MODE=asan -j$(JOBS) $(filter %/test_torture,$(UNIT_ALL:$(B)/%=build/asan/%))
	@FSC_TORTURE=$(TORTURE) FSC_TEST_TIMEOUT=20000 $(MAKE) --no-print-directory MODE=asan unit-run T=/test_torture

KILLS ?= 200
FLIPS ?= 10000
.PHONY: soak
soak: node-bundles ## the kill -9 tests with KILLS=200 kills (20 in make test), FLIPS=10000 changed bytes of a file of each format
	@$(MAKE) --no-print-directory MODE=debug -j$(JOBS) programs
	@FSC_KILLS=$(KILLS) $(MAKE) --no-print-directory MODE=debug unit T=jobs/test_kill9
	@FSC_KILLS=$(KILLS) scripts/run-node.sh e2e/kill9
	@FSC_FLIPS=$(FLIPS) FSC_TEST_TIMEOUT=3000 $(MAKE) --no-print-directory MODE=asan -j$(JOBS) unit T=formats/test_flips

SECS ?= 20
fuzz: ## libFuzzer on each target for SECS seconds (F=name picks one)
	@scripts/install-deps.sh
	@$(MAKE) --no-print-directory MODE=fuzz -j$(JOBS) fuzz-run
.PHONY: fuzz-run
fuzz-run: $(if $(F),$(filter %/fuzz_$(F),$(FUZZLIVE_ALL)),$(FUZZLIVE_ALL))
	@SECS=$(SECS) scripts/run-fuzz.sh $^

# ---- benchmarks: programs that may use every pure module and the HTTP front ----
MAY_bench := $(filter-out collector,$(ORDER))
BENCH_BINS := $(patsubst %.c,$(B)/%,$(BENCH))
$(BENCH_BINS): $(B)/%: $(B)/%.o $(call libs_of,$(MAY_bench))
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS_ALL) -o $@ $^ $(call ldlibs_of,$(MAY_bench))
bench-bins: $(BENCH_BINS)
bench: ## measure the targets beside their peers (release build; not part of test)
	@scripts/install-deps.sh nginx-light valgrind
	@$(MAKE) --no-print-directory MODE=release -j$(JOBS) all bench-bins
	@$(MAKE) --no-print-directory MODE=release bench-run
.PHONY: bench-run
BENCH_NODE := build/tests/bench/browser.bench.mjs
bench-run: node-bundles
	@scripts/run-bench.sh $(call pick,$(BENCH_BINS) $(BENCH_NODE))
