# SPDX-License-Identifier: Apache-2.0
# Libraries through pkg-config, asked once and cached in build/deps.mk. Nothing is vendored.
# Goals that must work on a bare machine (they install the libraries first) do not read the cache.

PKGS := libmicrohttpd sqlite3 jansson libarchive libcurl libisal zlib libzstd libcrypto libxxhash \
	inih libseccomp cmocka
# libisal makes it quicker; cmocka is for the unit tests only. What was left out and has come since is taken in.
PKGS_OPTIONAL := libisal cmocka

BARE_GOALS := help deps run test lint clean format install-deps dist check asan tsan valgrind fuzz bench \
	web docker-check cover analyze
NEED_DEPS := $(filter-out $(BARE_GOALS),$(or $(MAKECMDGOALS),all))

ifneq ($(NEED_DEPS),)
$(shell for p in $$(sed -n 's/^HAVE_\(.*\) := 0$$/\1/p' build/deps.mk 2>/dev/null); do \
	! pkg-config --exists $$p || rm -f build/deps.mk; done)
include build/deps.mk
endif

build/deps.mk: mk/deps.mk
	@mkdir -p $(@D)
	@missing=; for p in $(filter-out $(PKGS_OPTIONAL),$(PKGS)); do \
		pkg-config --exists $$p 2>/dev/null || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then echo "missing libraries:$$missing (run: make deps)" >&2; exit 1; fi
	@{ for p in $(PKGS); do \
		if pkg-config --exists $$p; then \
			echo "PC_CFLAGS_$$p := $$(pkg-config --cflags $$p)"; \
			echo "PC_LIBS_$$p := $$(pkg-config --libs $$p)"; \
			echo "HAVE_$$p := 1"; \
		else echo "HAVE_$$p := 0"; echo "left out: $$p" >&2; fi; done; } > $@.tmp
	@mv $@.tmp $@

PC_CFLAGS := $(sort $(foreach p,$(PKGS),$(PC_CFLAGS_$(p))))
FSC_HAVE := -DFSC_HAVE_ISAL=$(or $(HAVE_libisal),0)
