# SPDX-License-Identifier: Apache-2.0
# Lint: each check is a script or a target of its own, so that one can be run alone.

.PHONY: lint lint-all format
lint: ## every static check
	@scripts/install-deps.sh
	@$(MAKE) --no-print-directory lint-all

C_FILES = $(shell git ls-files -co --exclude-standard -- '*.c' '*.h')
format: ## rewrite C files with clang-format (FILES=... picks)
	@clang-format-14 -i $(or $(FILES),$(C_FILES))
