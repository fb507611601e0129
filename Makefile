# make              build everything into build/
# make run          install what is missing, build, start sbxd on loopback
# make check        install what is missing, build, run every test
# make check SAN=1  the same under ASan and UBSan
# make bench        ratios against baselines of the same run
# make install      DESTDIR= PREFIX=/usr/local
# make uninstall, make clean

PREFIX		?= /usr/local
SBINDIR		= $(PREFIX)/sbin
LIBEXECDIR	= $(PREFIX)/libexec/sbxd
MANDIR		= $(PREFIX)/share/man
UNITDIR		?= $(PREFIX)/lib/systemd/system
SYSUSERSDIR	?= $(PREFIX)/lib/sysusers.d

CC		= gcc
YACC		= bison -y
INSTALL		= install
PYTHON		= /usr/bin/python3

WARN		= -Wall -Wextra -Werror -Wstrict-prototypes \
		  -Wmissing-prototypes -Wmissing-declarations -Wshadow \
		  -Wpointer-arith -Wsign-compare -Wcast-qual
DEFS		= -D_GNU_SOURCE -DLIBBSD_OVERLAY -isystem /usr/include/bsd \
		  -Icommon
HARDEN		= -fstack-protector-strong -fstack-clash-protection \
		  -D_FORTIFY_SOURCE=2 -fPIE
LDHARDEN	= -pie -Wl,-z,relro,-z,now -Wl,--as-needed

ifdef SAN
B		= build-san
OPT		= -O1 -g -fno-omit-frame-pointer -DSBXD_SANITIZE \
		  -fsanitize=address,undefined -fno-sanitize-recover=all
LDOPT		= -fsanitize=address,undefined
HARDEN		= -fPIE
LDHARDEN	= -pie -Wl,--as-needed
else
B		= build
OPT		= -O2 -g
LDOPT		=
endif

CFLAGS		?=
LDFLAGS		?=
ALLCFLAGS	= -std=gnu11 $(OPT) $(HARDEN) $(WARN) $(DEFS) $(CFLAGS)
ALLLDFLAGS	= $(LDOPT) $(LDHARDEN) $(LDFLAGS)

COMMON_SRC	= $(wildcard common/*.c)
PARENT_SRC	= $(wildcard sbxd/parent/*.c)
FRONTEND_SRC	= $(wildcard sbxd/frontend/*.c)
SPAWNER_SRC	= $(wildcard sbxd/spawner/*.c)
REPORTER_SRC	= $(wildcard sbxd/reporter/*.c)
SBXCTL_SRC	= $(wildcard sbxctl/*.c)
UNIT_SRC	= $(wildcard regress/unit/*_test.c)
TOOL_SRC	= $(wildcard regress/tools/*.c)
BENCH_SRC	= $(wildcard regress/bench/*.c)
ALL_SRC		= $(COMMON_SRC) $(PARENT_SRC) $(FRONTEND_SRC) \
		  $(SPAWNER_SRC) $(REPORTER_SRC) $(SBXCTL_SRC) $(UNIT_SRC) \
		  regress/unit/config_util.c $(TOOL_SRC) $(BENCH_SRC)

obj		= $(patsubst %.c,$(B)/obj/%.o,$(1))

PROGRAMS	= $(B)/sbin/sbxd $(B)/sbin/sbxctl \
		  $(B)/libexec/sbxd/frontend $(B)/libexec/sbxd/spawner \
		  $(B)/libexec/sbxd/reporter
UNITS		= $(patsubst regress/unit/%.c,$(B)/unit/%,$(UNIT_SRC))
TOOLS		= $(patsubst regress/tools/%.c,$(B)/tools/%,$(TOOL_SRC)) \
		  $(patsubst regress/bench/%.c,$(B)/tools/%,$(BENCH_SRC))
FUZZERS		= $(patsubst regress/fuzz/%.c,build/fuzz/%, \
		  $(wildcard regress/fuzz/*_fuzz.c))

LIBS_CHILD	= -levent_core -lseccomp -lbsd -lmd

all: $(PROGRAMS)

$(B)/sbin/sbxd: $(call obj,$(PARENT_SRC)) $(B)/obj/parse.o $(B)/libcommon.a
	@mkdir -p $(@D)
	$(CC) $(ALLLDFLAGS) -o $@ $^ $(LIBS_CHILD)

$(B)/sbin/sbxctl: $(call obj,$(SBXCTL_SRC)) $(B)/libcommon.a
	@mkdir -p $(@D)
	$(CC) $(ALLLDFLAGS) -o $@ $^ $(LIBS_CHILD)

$(B)/libexec/sbxd/frontend: $(call obj,$(FRONTEND_SRC)) $(B)/libcommon.a
	@mkdir -p $(@D)
	$(CC) $(ALLLDFLAGS) -o $@ $^ $(LIBS_CHILD) -ljson-c

$(B)/libexec/sbxd/spawner: $(call obj,$(SPAWNER_SRC)) $(B)/libcommon.a
	@mkdir -p $(@D)
	$(CC) $(ALLLDFLAGS) -o $@ $^ $(LIBS_CHILD)

$(B)/libexec/sbxd/reporter: $(call obj,$(REPORTER_SRC)) $(B)/libcommon.a
	@mkdir -p $(@D)
	$(CC) $(ALLLDFLAGS) -o $@ $^ $(LIBS_CHILD) -lcurl

$(B)/libcommon.a: $(call obj,$(COMMON_SRC))
	@rm -f $@
	ar rcs $@ $^

# Each process's own headers are on its path and on no other's.
$(B)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALLCFLAGS) -I$(<D) -MMD -MP -c -o $@ $<

build/parse.c: sbxd/parent/parse.y
	@mkdir -p $(@D)
	$(YACC) -o $@ $<

$(B)/obj/parse.o: build/parse.c
	@mkdir -p $(@D)
	$(CC) $(ALLCFLAGS) -Isbxd/parent -MMD -MP -c -o $@ $<

# The tests.  A unit test is linked with the part that it tests.
UNIT_config	= $(filter-out %/sbxd.o,$(call obj,$(wildcard \
		  sbxd/parent/config*.c sbxd/parent/printconf.c))) \
		  $(B)/obj/parse.o $(B)/obj/regress/unit/config_util.o
UNIT_config_errors = $(UNIT_config)
UNIT_config_files = $(UNIT_config)
UNIT_parser	= $(call obj,sbxctl/parser.c)
UNIT_http_parse	= $(call obj,sbxd/frontend/http_parse.c)
UNIT_json	= $(call obj,sbxd/frontend/json.c)

$(B)/obj/regress/unit/%.o: regress/unit/%.c
	@mkdir -p $(@D)
	$(CC) $(ALLCFLAGS) -Isbxd/parent -Isbxd/frontend -Isbxctl -MMD -MP \
	    -c -o $@ $<

.SECONDEXPANSION:
$(B)/unit/%_test: $(B)/obj/regress/unit/%_test.o $$(UNIT_$$*) \
    $(B)/libcommon.a
	@mkdir -p $(@D)
	$(CC) $(ALLLDFLAGS) -o $@ $^ -lcmocka $(LIBS_CHILD) -ljson-c

TOOL_echod	= $(call obj,$(filter-out %/frontend.c %/control.c \
		  %/routes.c %/proxy.c,$(FRONTEND_SRC)))

$(B)/obj/regress/tools/%.o: regress/tools/%.c
	@mkdir -p $(@D)
	$(CC) $(ALLCFLAGS) -Isbxd/frontend -MMD -MP -c -o $@ $<

$(B)/tools/%: $(B)/obj/regress/tools/%.o $$(TOOL_$$*) $(B)/libcommon.a
	@mkdir -p $(@D)
	$(CC) $(ALLLDFLAGS) -o $@ $^ $(LIBS_CHILD) -ljson-c

$(B)/tools/%: $(B)/obj/regress/bench/%.o
	@mkdir -p $(@D)
	$(CC) $(ALLLDFLAGS) -o $@ $^ -levent

# libFuzzer is clang's; the whole target is compiled by it, sanitized.
FUZZ_config	= $(wildcard sbxd/parent/config*.c) sbxd/parent/printconf.c \
		  build/parse.c
FUZZ_http	= sbxd/frontend/http_parse.c
FUZZ_json	= sbxd/frontend/json.c
FUZZ_imsg	=

build/fuzz/%_fuzz: regress/fuzz/%_fuzz.c $$(FUZZ_$$*) $(COMMON_SRC) \
    $(wildcard common/*.h sbxd/*/*.h)
	@mkdir -p $(@D)
	clang -std=gnu11 -O1 -g -fsanitize=fuzzer,address,undefined \
	    -fno-sanitize-recover=all -DSBXD_SANITIZE $(DEFS) \
	    -Isbxd/parent -Isbxd/frontend -o $@ $(filter %.c,$^) \
	    $(LIBS_CHILD) -ljson-c

tests: all $(UNITS) $(TOOLS)
fuzzers: $(FUZZERS)

# Sources alone, for the analyzers.
analyze-objects: $(call obj,$(COMMON_SRC) $(PARENT_SRC) $(FRONTEND_SRC) \
    $(SPAWNER_SRC) $(REPORTER_SRC) $(SBXCTL_SRC))

deps-run:
	@etc/install-deps run

deps-check:
	@etc/install-deps check

run: deps-run
	@$(MAKE) --no-print-directory -s all
	@$(B)/sbin/sbxd -d || test $$? -eq 143

check: deps-check
	@$(MAKE) --no-print-directory -s -j2 tests $(if $(SAN),,fuzzers)
	@$(PYTHON) regress/run $(if $(SAN),--san) --build $(B)

bench: deps-check
	@$(MAKE) --no-print-directory -s tests
	@$(PYTHON) regress/bench/bench --build $(B)

install: all
	$(INSTALL) -d $(DESTDIR)$(SBINDIR) $(DESTDIR)$(LIBEXECDIR) \
	    $(DESTDIR)$(MANDIR)/man5 $(DESTDIR)$(MANDIR)/man8 \
	    $(DESTDIR)$(UNITDIR) $(DESTDIR)$(SYSUSERSDIR) \
	    $(DESTDIR)$(PREFIX)/share/sbxd
	$(INSTALL) -m 755 $(B)/sbin/sbxd $(B)/sbin/sbxctl \
	    $(DESTDIR)$(SBINDIR)
	$(INSTALL) -m 755 $(B)/libexec/sbxd/frontend \
	    $(B)/libexec/sbxd/spawner $(B)/libexec/sbxd/reporter \
	    $(DESTDIR)$(LIBEXECDIR)
	$(INSTALL) -m 644 sbxd.conf.5 $(DESTDIR)$(MANDIR)/man5
	$(INSTALL) -m 644 sbxd/sbxd.8 sbxctl/sbxctl.8 \
	    $(DESTDIR)$(MANDIR)/man8
	sed 's|@SBINDIR@|$(SBINDIR)|' etc/sbxd.service.in \
	    > $(DESTDIR)$(UNITDIR)/sbxd.service
	chmod 644 $(DESTDIR)$(UNITDIR)/sbxd.service
	$(INSTALL) -m 644 etc/sbxd.sysusers \
	    $(DESTDIR)$(SYSUSERSDIR)/sbxd.conf
	$(INSTALL) -m 644 etc/sbxd.conf $(DESTDIR)$(PREFIX)/share/sbxd

uninstall:
	rm -f $(DESTDIR)$(SBINDIR)/sbxd $(DESTDIR)$(SBINDIR)/sbxctl
	rm -f $(DESTDIR)$(LIBEXECDIR)/frontend \
	    $(DESTDIR)$(LIBEXECDIR)/spawner $(DESTDIR)$(LIBEXECDIR)/reporter
	rm -f $(DESTDIR)$(MANDIR)/man5/sbxd.conf.5 \
	    $(DESTDIR)$(MANDIR)/man8/sbxd.8 $(DESTDIR)$(MANDIR)/man8/sbxctl.8
	rm -f $(DESTDIR)$(UNITDIR)/sbxd.service \
	    $(DESTDIR)$(SYSUSERSDIR)/sbxd.conf \
	    $(DESTDIR)$(PREFIX)/share/sbxd/sbxd.conf
	-rmdir $(DESTDIR)$(LIBEXECDIR) $(DESTDIR)$(PREFIX)/share/sbxd

clean:
	rm -rf build build-san

.PHONY: all analyze-objects bench check clean deps-check deps-run fuzzers \
    install run tests uninstall
.SECONDARY:

-include $(patsubst %.c,$(B)/obj/%.d,$(ALL_SRC)) $(B)/obj/parse.d
