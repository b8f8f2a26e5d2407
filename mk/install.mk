# SPDX-License-Identifier: Apache-2.0
# help, run, install, clean.

prefix ?= /usr/local
DESTDIR ?=
RUN_PORT ?= 8080

.PHONY: help deps run install uninstall clean docker-check
help: ## this list
	@echo 'usage: make [TARGET] [MODE=debug|asan|release|tsan|clang] [V=1]'
	@cat Makefile mk/*.mk | sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/  \1|\2/p' | sort | \
		awk -F'|' '{ printf "%-16s %s\n", $$1, $$2 }'

deps: ## install the Debian packages that are missing (apt) and nothing else
	@scripts/install-deps.sh

run: ## build, then serve demo data on a free loopback port
	@scripts/install-deps.sh
	@$(MAKE) --no-print-directory MODE=debug -j$(JOBS) programs
	@RUN_PORT=$(RUN_PORT) scripts/run-demo.sh build/debug

BINARIES := $(foreach p,server indexer collector,fleetscope-$(p))
unitdir ?= $(prefix)/lib/systemd/system
sysconfdir ?= /etc
install: ## install the release build, the systemd unit and a config file (DESTDIR, prefix, sysconfdir)
	@$(MAKE) --no-print-directory MODE=release -j$(JOBS) programs
	install -d $(DESTDIR)$(prefix)/bin $(DESTDIR)$(unitdir)
	install -m 755 $(addprefix build/release/,$(BINARIES)) $(DESTDIR)$(prefix)/bin/
	sed 's|@prefix@|$(prefix)|; s|@sysconfdir@|$(sysconfdir)|' scripts/fleetscope-server.service \
		> $(DESTDIR)$(unitdir)/fleetscope-server.service
	install -d $(DESTDIR)$(sysconfdir)/fleetscope
	[ -e $(DESTDIR)$(sysconfdir)/fleetscope/server.ini ] || \
		install -m 644 deploy/server.ini $(DESTDIR)$(sysconfdir)/fleetscope/server.ini
uninstall:
	rm -f $(addprefix $(DESTDIR)$(prefix)/bin/,$(BINARIES)) $(DESTDIR)$(unitdir)/fleetscope-server.service

docker-check: ## build the Dockerfile with buildah and start the image (root; minutes; not part of test)
	@scripts/docker-check.sh

clean: ## remove build/ (keeps web/node_modules)
	rm -rf build
