# SPDX-License-Identifier: Apache-2.0
# Lint: each check is a target of its own (make lint-layers), all of them together are `make lint`.

.PHONY: lint lint-all format
LINT_CHECKS := layers symbols headers banned sql api lists house docs deploy length format clang cppcheck shellcheck tsc

lint: ## every static check (one alone: lint-layers, lint-cppcheck, ...)
	@scripts/install-deps.sh
	@$(MAKE) --no-print-directory MODE=debug lint-all

lint-all:
	@scripts/run-lint.sh '$(MAKE)' '$(T)' $(LINT_CHECKS)

on_disk = $(wildcard $(shell git ls-files -co --exclude-standard -- $(1)))
C_ALL = $(call on_disk,'*.c' '*.h')
C_SHIPPED = $(filter-out tests/% scripts/%,$(C_ALL))
LINT_FLAGS = $(CPPFLAGS_ALL) $(CSTD) $(WARN) -DFSC_SANITIZED=0 -pthread

.PHONY: $(addprefix lint-,$(LINT_CHECKS))
lint-layers:
	@awk -f scripts/check-layers.awk scripts/layers.txt $(C_SHIPPED)
lint-symbols: libs
	@scripts/check-symbols.sh $(B)
lint-headers:
	@scripts/check-headers.sh $(CC) $(LINT_FLAGS)
lint-banned:
	@awk -f scripts/check-banned.awk $(filter-out scripts/embed.c,$(C_ALL))
lint-sql:
	@awk -f scripts/check-sql.awk $(C_ALL)
lint-api:
	@$(NODE) scripts/check-api.mjs
lint-lists:
	@scripts/check-lists.sh $(ALL_SRC) $(ALL_TESTS) $(ALL_FUZZ) $(BENCH)
lint-house:
	@scripts/check-house.sh
lint-docs:
	@scripts/check-docs.sh
	@scripts/check-places.sh
lint-deploy:
	@scripts/check-deploy.sh
lint-length:
	@awk -f scripts/check-length.awk $(C_ALL)
lint-format:
	@clang-format-14 --dry-run -Werror $(C_ALL) 2>&1 | grep -E 'error:' | cut -d: -f1 | sort | uniq -c | \
		awk '{ print $$2 ": " $$1 " places differ (make format FILES=" $$2 ")"; n++ } END { exit n > 0 }'
# A second compiler reads everything; it only parses, so it is quick.
lint-clang:
	@printf '%s\n' $(filter-out scripts/% tests/store/%,$(filter %.c,$(C_ALL))) | \
		xargs -r -P $(JOBS) -n 8 $(CLANG) $(LINT_FLAGS) -fsyntax-only
lint-cppcheck:
	@mkdir -p build/cppcheck
	@cppcheck -q -j $(JOBS) --enable=warning,portability --std=c11 --inline-suppr --error-exitcode=1 \
		--suppressions-list=scripts/cppcheck.txt --cppcheck-build-dir=build/cppcheck \
		--template='{file}:{line}: {severity}: {message} [{id}]' -D_GNU_SOURCE -DFSC_HAVE_ISAL=1 \
		-DFSC_SANITIZED=0 -I lib -I server -I . $(filter-out scripts/%,$(filter %.c,$(C_SHIPPED))) </dev/null
lint-shellcheck:
	@shellcheck $(call on_disk,'*.sh' .ci/run)
lint-tsc: tsc

format: ## rewrite C files with clang-format (FILES=... picks)
	@clang-format-14 -i $(or $(FILES),$(C_ALL))
