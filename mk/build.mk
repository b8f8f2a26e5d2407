# SPDX-License-Identifier: Apache-2.0
# Objects, one archive per module, programs. Objects lie under build/$(MODE)/<path of the source>.o

MODULES := $(ORDER)
CPPFLAGS_ALL := $(CPPFLAGS_COMMON) $(FSC_HAVE) $(PC_CFLAGS)

FLAGS_LINE := $(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(LDFLAGS_ALL)
ifneq ($(NEED_DEPS),)
ifneq ($(strip $(file <$(B)/.flags)),$(strip $(FLAGS_LINE)))
$(shell mkdir -p $(B))
$(file >$(B)/.flags,$(FLAGS_LINE))
endif
endif
$(B)/.flags: ;

# Generated sources belong to a module too; the rules that make them are in web.mk.
GEN_store := build/gen/migrations.c
GEN_api := build/gen/openapi.c
GEN_ui := build/gen/assets.c

obj = $(patsubst %.c,$(B)/%.o,$(patsubst build/%,%,$(1)))
libs_of = $(foreach m,$(filter $(1),$(ORDER)),$(B)/lib$(m).a)
pkgs_of = $(sort $(foreach m,$(filter $(1),$(ORDER)),$(PKG_$(m))))
ldlibs_of = $(foreach p,$(call pkgs_of,$(1)),$(PC_LIBS_$(p))) -lm

define module_rules
OBJ_$(1) := $$(call obj,$$(filter-out %/main.c,$$(SRC_$(1))) $$(GEN_$(1)))
$$(B)/lib$(1).a: $$(OBJ_$(1))
	$$(call say,AR,$$@)
	$$(Q)rm -f $$@ && $$(AR) rcs $$@ $$(OBJ_$(1))
endef
$(foreach m,$(MODULES),$(eval $(call module_rules,$(m))))

$(foreach d,$(CONVERSION_DIRS),$(eval $(B)/$(d)/%.o: WMOD := -Wconversion))

$(B)/%.o: %.c $(B)/.flags
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(WMOD) -MMD -MP -c -o $@ $<

$(B)/gen/%.o: build/gen/%.c $(B)/.flags
	$(call say,CC,$<)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

# ---- programs ----
define program_rules
ifneq ($$(filter %/main.c,$$(SRC_$(1))),)
PROGRAMS += $$(B)/fleetscope-$(1)
endif
$$(B)/fleetscope-$(1): $$(call obj,$$(filter %/main.c,$$(SRC_$(1)))) $$(call libs_of,$$(MAY_$(1)))
	$$(call say,LD,$$@)
	$$(Q)$$(CC) $$(LDFLAGS_ALL) -o $$@ $$^ $$(call ldlibs_of,$$(MAY_$(1)))
endef
PROGRAMS :=
$(foreach p,server indexer collector demo,$(eval $(call program_rules,$(p))))

.PHONY: all programs libs
all: libs programs ## build everything for MODE (debug asan release tsan clang)
programs: $(PROGRAMS)
libs: $(foreach m,$(MODULES),$(if $(SRC_$(m)),$(B)/lib$(m).a))

# For editors and clang tools: what would compile each file, from the same variables that do.
.PHONY: compile_commands.json
compile_commands.json: ## the compilation database of MODE
	@scripts/compile-commands.sh '$(subst ','\'',$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL))' '$(CONVERSION_DIRS)' \
		$(ALL_SRC) $(ALL_TESTS) $(ALL_FUZZ) $(BENCH) $(foreach m,$(MODULES),$(TESTHELP_$(m))) > $@

ALL_SRC := $(foreach m,$(MODULES),$(SRC_$(m)))
ALL_TESTS := $(foreach m,$(MODULES),$(TESTS_$(m)))
ALL_FUZZ := $(foreach m,$(MODULES),$(FUZZ_$(m)))
-include $(patsubst %.o,%.d,$(call obj,$(ALL_SRC) $(ALL_TESTS) $(ALL_FUZZ) $(BENCH) $(GEN_store) $(GEN_api) $(GEN_ui)))
