# SPDX-License-Identifier: Apache-2.0
# The browser part (TypeScript, bundled by esbuild) and what the server embeds as C tables.

NPM ?= npm
NODE ?= node
GUIDE_SRC := $(wildcard docs/*.md docs/guide/*.md docs/formats/*.md docs/images/*.png)
WEB_SRC := $(if $(wildcard web/package.json),$(shell find web -path web/node_modules -prune -o -type f -print))
MIGRATIONS := $(sort $(wildcard migrations/*.sql))
OPENAPI := $(wildcard server/api/openapi.json)

.PHONY: web web-bundle web-deps tsc
web: ## bundle the browser part into build/web
	@scripts/install-deps.sh
	@$(MAKE) --no-print-directory web-bundle
web-bundle: build/web/.stamp
web-deps: web/node_modules/.stamp

web/node_modules/.stamp: $(wildcard web/package.json web/package-lock.json)
	$(call say,NPM,web/node_modules)
	$(Q)if [ -f web/package-lock.json ]; then \
		cd web && $(NPM) ci --ignore-scripts --no-audit --no-fund --loglevel=error; fi
	$(Q)mkdir -p $(@D) && touch $@

# build.mjs writes build/web (and .br/.gz beside what is worth it).
build/web/.stamp: $(WEB_SRC) $(GUIDE_SRC) | web/node_modules/.stamp
	$(call say,WEB,build/web)
	$(Q)mkdir -p build/web
	$(Q)if [ -f web/build.mjs ]; then cd web && $(NODE) build.mjs; fi
	$(Q)touch $@

tsc: web/node_modules/.stamp
	$(Q)if [ -f web/tsconfig.json ]; then cd web && node_modules/.bin/tsc --noEmit -p .; fi
	$(Q)if [ -f tests/tsconfig.json ]; then web/node_modules/.bin/tsc --noEmit -p tests; fi

# ---- embedding: a small host program turns files into `const struct fsc_embed NAME[]` ----
build/tools/embed: scripts/embed.c
	$(call say,HOSTCC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)gcc $(CSTD) -D_GNU_SOURCE $(WARN) -O1 -o $@ $<

build/gen/assets.c: build/tools/embed build/web/.stamp
	$(call say,EMBED,$@)
	$(Q)mkdir -p $(@D)
	$(Q)build/tools/embed fsc_ui_assets build/web > $@.tmp && mv $@.tmp $@

build/gen/openapi.c: build/tools/embed $(OPENAPI)
	$(call say,EMBED,$@)
	$(Q)mkdir -p $(@D)
	$(Q)build/tools/embed fsc_api_openapi $(OPENAPI) > $@.tmp && mv $@.tmp $@

build/gen/migrations.c: build/tools/embed $(MIGRATIONS)
	$(call say,EMBED,$@)
	$(Q)mkdir -p $(@D)
	$(Q)build/tools/embed fsc_store_migrations $(MIGRATIONS) > $@.tmp && mv $@.tmp $@
