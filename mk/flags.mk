# SPDX-License-Identifier: Apache-2.0
# Modes, warnings, hardening. A changed flag or compiler rebuilds: see the .flags stamp in build.mk.

MODES := debug asan release tsan clang fuzz cover
ifeq ($(filter $(MODE),$(MODES)),)
$(error MODE must be one of: $(MODES))
endif

ifneq ($(filter clang fuzz,$(MODE)),)
ifeq ($(origin CC),default)
CC := clang
endif
endif
ifeq ($(origin CC),default)
CC := gcc
endif
CLANG ?= clang
AR := ar
B := build/$(MODE)
ROOT := $(CURDIR)
JOBS ?= $(shell nproc 2>/dev/null || echo 1)

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wvla \
	-Wformat=2 -Wwrite-strings -Wundef -Werror
CSTD := -std=c17
CPPFLAGS_COMMON := -D_GNU_SOURCE -DFSC_VERSION='"$(VERSION)"' \
	-iquote lib -iquote server -iquote .

SAN_ADDR := -fsanitize=address,undefined -fno-sanitize-recover=all
CFLAGS.debug := -O1 -g -fno-omit-frame-pointer -fstack-protector-strong
CFLAGS.asan := -O1 -g -fno-omit-frame-pointer $(SAN_ADDR) -DFSC_SANITIZED=1
CFLAGS.tsan := -O1 -g -fno-omit-frame-pointer -fsanitize=thread -DFSC_SANITIZED=1
CFLAGS.clang := $(CFLAGS.debug)
# The indexer's sandbox lets a run that counts lines write its counters no more than a sanitizer its report.
CFLAGS.cover := -O0 -g --coverage -fprofile-update=atomic -DFSC_SANITIZED=1
CFLAGS.fuzz := -O1 -g -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=all -DFSC_SANITIZED=1
CFLAGS.release := -O2 -g -D_FORTIFY_SOURCE=3 -ftrivial-auto-var-init=zero -fstack-protector-strong \
	-fstack-clash-protection -fcf-protection -fno-omit-frame-pointer
LDFLAGS.debug :=
LDFLAGS.asan := $(SAN_ADDR)
LDFLAGS.tsan := -fsanitize=thread
LDFLAGS.clang :=
LDFLAGS.cover := --coverage
LDFLAGS.fuzz := -fsanitize=address,undefined
LDFLAGS.release := -Wl,-z,relro -Wl,-z,now
CFLAGS_ALL := $(CSTD) $(WARN) -fPIE -pthread $(CFLAGS.$(MODE)) $(EXTRA_CFLAGS)
ifeq ($(filter -DFSC_SANITIZED=1,$(CFLAGS_ALL)),)
CFLAGS_ALL += -DFSC_SANITIZED=0
endif
LDFLAGS_ALL := -pie -pthread -Wl,--as-needed $(LDFLAGS.$(MODE)) $(EXTRA_LDFLAGS)

# Modules that compute with sizes and offsets from input also compile with -Wconversion.
CONVERSION_DIRS := lib/base lib/facts lib/model lib/formats lib/segment

Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-8s %s\n' '$(1)' '$(2)')
