/*
 * Copyright (c) 2026 The sbxd authors
 *
 * Permission to use, copy, modify, and distribute this software for any
 * purpose with or without fee is hereby granted, provided that the above
 * copyright notice and this permission notice appear in all copies.
 *
 * THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES
 * WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF
 * MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR
 * ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES
 * WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN
 * ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF
 * OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.
 */

/*
 * The configuration: every kind of error, where it is reported, and how
 * long and how many things can be.
 */

#include <sys/types.h>

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compat.h"
#include "config.h"
#include "config_util.h"

static const struct {
	const char	*text;
	const char	*part;
} bad_values[] = {
	{ "listen on localhost", "names are not looked up" },
	{ "listen on 127.1", "must be a numeric IPv4 or IPv6 address" },
	{ "listen on 256.0.0.1", "must be a numeric" },
	{ "listen on 3030", "must be a numeric" },
	{ "listen on \"\"", "must be a numeric" },
	{ "listen on ::ffff:127.0.0.1", "written as an IPv4 address" },
	{ "listen on ::1 port 0", "port 0: must be between 1 and 65535" },
	{ "listen on ::1 port 65536", "port 65536: must be between" },
	{ "listen on ::1 port -1", "port -1: must be between" },
	{ "listen on ::1 port \" 80\"", "must be between 1 and 65535" },
	{ "listen on ::1 port http2", "port http2: must be between" },
	{ "listen on 0.0.0.0 auth none", "must be \"auth none insecure\"" },
	{ "listen on ::2 auth none", "must be \"auth none insecure\"" },
	{ "listen on 128.0.0.1 auth none", "\"auth none insecure\"" },
	{ "listen on socket \"x\"", "must be an absolute path" },
	{ "listen on socket \"/a/../b\"", "must not contain \"..\"" },
	{ "listen on socket \"/a/..\"", "must not contain \"..\"" },
	{ "listen on socket /a mode 1777", "mode 1777: must be octal" },
	{ "listen on socket /a mode 0888", "mode 0888: must be octal" },
	{ "listen on socket /a mode 60", "mode 60: must be octal" },
	{ "listen on socket /a mode rw", "mode rw: must be octal" },
	{ "listen on socket /a group \"a b\"", "group \"a b\": must be" },
	{ "listen on socket /a auth none insecure", "is for addresses" },
	{ "proxy on example.org", "names are not looked up" },
	{ "token \"short\"", "token: must have 8 to 511 characters" },
	{ "token \"has a blank\"", "token: must be printable ASCII" },
	{ "token \"t\303\244ttt\303\244tttt\"", "must be printable ASCII" },
	{ "token file \"relative\"", "must be an absolute path" },
	{ "token file \"/nonexistent/token\"", "No such file" },
	{ "workspace \"relative\"", "workspace \"relative\": must be an abs" },
	{ "workspace \"/\"", "must not be /" },
	{ "workspace \"//./\"", "must not be /" },
	{ "workspace \"/a/../b\"", "must not contain \"..\"" },
	{ "workspace \"\"", "must be an absolute path" },
	{ "isolation bwrap \"bwrap\"", "must be an absolute path" },
	{ "sandbox uid 0 to 65535", "must be between 1000 and 4294967293" },
	{ "sandbox uid 999 to 65535", "must be between 1000" },
	{ "sandbox uid 1000 to 4294967294", "must be between 1000" },
	{ "sandbox uid -5 to 70000", "must be between 1000" },
	{ "sandbox uid 2000 to 2014", "must be at least 16 user ids" },
	{ "sandbox uid 70000 to 2000", "must be at least 16 user ids" },
	{ "user frontend \"\"", "user frontend \"\": must be 1 to 32" },
	{ "user spawner \"-x\"", "not beginning with -" },
	{ "user reporter \"a:b\"", "user reporter \"a:b\": must be" },
	{ "user reporter 123456789012345678901234567890123", "1 to 32" },
	{ "control socket \"x\"", "must be an absolute path" },
	{ "control socket /x group \"/\"", "group \"/\": must be" },
	{ "log format xml", "log format \"xml\": must be auto, json or text" },
	{ "log level loud", "must be debug, info, warning or error" },
	{ "spool \"x\"", "spool \"x\": must be an absolute path" },
	{ "spool /x keep forever", "spool keep forever: must be a time" },
	{ "pool many", "pool many: must be a number between 0 and 1000" },
	{ "mount \"a b\" path /x", "mount \"a b\": must be 1 to 63" },
	{ "mount \"\" path /x", "must be 1 to 63" },
	{ "mount \"m\" path \"x\"", "must be an absolute path" },
	{ "mount \"m\" path \"/\"", "must not be /" },
	{ "include \"/nonexistent/file\"", "No such file" },
	{ "bad-name = \"x\"", "macro \"bad-name\": a name must be" },
	{ "9x = \"x\"", "macro \"9x\": a name must be" },
	{ "pool $nothing", "macro \"nothing\" is not defined" },
	{ "pool $", "$ must be followed by a macro's name" },
	{ "profile \"a/b\" {\n}", "profile \"a/b\": must be 1 to 63" },
	{ "language \"a b\" {\n}", "language \"a b\": must be 1 to 63" },
};

static const struct {
	const char	*text;
	int		 line;
	const char	*part;
} bad_lines[] = {
	{ "profile \"x\" {\nroot \"x\"\n}", 2, "root \"x\": must be an abs" },
	{ "profile \"x\" {\nroot /\n}", 2, "must not be /" },
	{ "profile \"x\" {\nroot /a\nroot /b\n}", 3, "root: already set" },
	{ "profile \"x\" {\nread-only \"x\"\n}", 2, "must be an absolute" },
	{ "profile \"x\" {\nread-only /a\nread-only /a/\n}", 3,
	    "\"/a\": is listed twice" },
	{ "profile \"x\" {\nenvironment \"9A\" \"\"\n}", 2,
	    "environment \"9A\": must be letters" },
	{ "profile \"x\" {\nenvironment \"A=B\" \"\"\n}", 2,
	    "must be letters" },
	{ "profile \"x\" {\nenvironment \"\" \"\"\n}", 2, "must be letters" },
	{ "profile \"x\" {\nenvironment \"LD_PRELOAD\" \"x\"\n}", 2,
	    "begin with SBXD_ or LD_ are reserved" },
	{ "profile \"x\" {\nenvironment \"SBXD_X\" \"x\"\n}", 2, "reserved" },
	{ "profile \"x\" {\nenvironment \"A\" \"\"\nenvironment \"A\" \"b\"\n}",
	    3, "\"A\": is listed twice" },
	{ "profile \"x\" {\nenvironment PATH /a\nenvironment PATH /a\n}", 3,
	    "\"PATH\": is listed twice" },
	{ "profile \"x\" {\nenvironment A a\n}\n"
	    "profile \"x\" {\nenvironment A a\n}", 4,
	    "profile \"x\": already set at " },
	{ "profile \"x\" {\nsystem call add \"nonsense\"\n}", 2,
	    "system call \"nonsense\": must be the name" },
	{ "profile \"x\" {\nsystem call add \"bpf\"\n"
	    "system call remove \"bpf\"\n}", 3, "both added and removed" },
	{ "profile \"x\" {\nlimits {\nmemory 0\n}\n}", 3,
	    "memory 0: must be between 4M and 16T" },
	{ "profile \"x\" {\nlimits {\nmemory 4M\n}\nlimits {\nmemory 5M\n}\n}",
	    6, "memory: already set at " },
	{ "profile \"x\" {\nlimits {\nconnections 4\n}\n}", 3,
	    "unknown setting \"connections\" in limits" },
	{ "profile \"x\" {\n}\nprofile \"x\" {\n}", 3,
	    "profile \"x\": already set at " },
	{ "profile \"x\" {\nlisten on ::1\n}", 2,
	    "unknown setting \"listen\" in profile: expected root" },
	{ "profile \"x\" {\nsystem add \"bpf\"\n}", 2,
	    "syntax error at \"add\": expected system call add | remove" },
	{ "language \"python\" {\ncommand \"x\"\n}", 2, "must be an absolute" },
	{ "language \"python\" {\nwarm 65\n}", 2,
	    "warm 65: must be between 0 and 64" },
	{ "language \"python\" {\nwarm -1\n}", 2, "between 0 and 64" },
	{ "language \"python\" {\nwarm 1\nwarm 1\n}", 3, "already set" },
	{ "language \"python\" {\nstrict yes\n}", 2,
	    "syntax error at \"yes\": expected strict" },
	{ "language \"python\" {\ntimeout 5\n}", 2,
	    "unknown setting \"timeout\" in language: expected command" },
	{ "language \"python\" {\nprofile \"a/b\"\n}", 2, "must be 1 to 63" },
	{ "language \"x\" {\n}", 0, "language \"x\": has no command" },
	{ "language \"python\" {\nprofile \"y\"\n}\nprofile \"z\" {\n}", 0,
	    "language \"python\": unknown profile \"y\": expected default, z" },
	{ "language \"shell\" {\n}\nlanguage \"shell\" {\n}", 3,
	    "language \"shell\": already set" },
	{ "mount \"m\" path /a\nmount \"m\" path /b", 2,
	    "mount \"m\": already set" },
	{ "listen on ::1\n\nlisten on ::1 port 3030", 3,
	    "another listener has this address and port" },
	{ "listen on ::1\nproxy on ::1 port 3030", 2, "another listener" },
	{ "listen on socket /a\nlisten on socket /a/ mode 600", 2,
	    "another listener" },
	{ "listen on 127.0.0.1 port 3031", 0, "proxy on 127.0.0.1 port 3031 "
	    "(the default): another listener" },
	{ "proxy on 127.0.0.1 port 3030", 0, "listen on 127.0.0.1 port 3030 "
	    "(the default): another listener" },
	{ "no proxy\nproxy on ::1", 0, "both \"no proxy\" and \"proxy on\"" },
	{ "no proxy\nno proxy", 2, "no proxy: already set" },
	{ "token \"" SECRET "\"\ntoken \"" SECRET "\"", 2,
	    "token: already set at " },
	{ "pool 1\npool 1", 2, "pool: already set at " },
	{ "http {\nconnections 1\n}\nhttp {\nconnections 1\n}\n", 5,
	    "connections: already set at " },
	{ "log level info\nlog level info", 2, "log level: already set" },
	{ "workspace /a\nworkspace /a", 2, "workspace: already set" },
	{ "execute {\nasync\nasync\n}", 3, "async: already set" },
	{ "execute {\nasync yes\n}", 2, "async: must stand alone" },
	{ "execute {\nartifacts none\n}", 2, "must be all or changed" },
	{ "execute {\nartifacts\n}", 2, "must be all or changed" },
	{ "execute {\ntimeout 10s\ntimeout maximum 5s\n}", 0,
	    "execute: timeout 10s: must be at most the timeout maximum, "
	    "which is 5s" },
	{ "call {\ntimeout maximum 5s\n}", 0, "call: timeout 30s: must be" },
	{ "http {\nconnections\n}", 2, "connections: has no value" },
	{ "http {\nheader timeout\n}", 2, "header timeout: has no value" },
	{ "http {\nfoo 5\n}", 2, "unknown setting \"foo\" in http: expected "
	    "connections, connections per address, header size, " },
	{ "http {\nfoo\n}", 2, "unknown setting \"foo\" in http" },
	{ "http {\na b c d e f g h i j 5\n}", 2, "unknown setting \"a b c" },
	{ "http {\nconnections 5 5\n}", 2,
	    "unknown setting \"connections 5\"" },
	{ "http {\n\"x\" = 5\n}", 2, "syntax error at \"=\"" },
	{ "control plane {\nfoo 5\n}", 2,
	    "unknown setting \"foo\" in control plane: expected url, token, "
	    "container id, pod name, connect timeout" },
	{ "control plane {\nurl \"ftp://x\"\n}", 2,
	    "url \"ftp://x\": must begin with http:// or https://" },
	{ "control plane {\nurl \"http://\"\n}", 2, "must name a host" },
	{ "control plane {\nurl \"http:///x\"\n}", 2, "must name a host" },
	{ "control plane {\nurl \"http://u:p@h/\"\n}", 2,
	    "must not contain a user" },
	{ "control plane {\nurl \"http://u@h/\"\n}", 2,
	    "must not contain a user" },
	{ "control plane {\nurl \"http://h/?q\"\n}", 2, "a query" },
	{ "control plane {\nurl \"http://h/#f\"\n}", 2, "a fragment" },
	{ "control plane {\nurl \"http://h/a b\"\n}", 2, "blanks" },
	{ "control plane {\nurl \"http://h:0/\"\n}", 2, "port must be" },
	{ "control plane {\nurl \"http://h:/\"\n}", 2, "port must be" },
	{ "control plane {\nurl \"http://h:123456789\"\n}", 2, "port must" },
	{ "control plane {\nurl \"http://[::1/\"\n}", 2, "must name a host" },
	{ "control plane {\nurl \"http://[]/\"\n}", 2, "must name a host" },
	{ "control plane {\nurl \"http://h\\\\x\"\n}", 2, "special" },
	{ "control plane {\ncontainer id \"\"\n}", 2, "must not be empty" },
	{ "control plane {\npod \"x\"\n}", 2, "expected pod name" },
	{ "control plane {\ntoken\n}", 2, "syntax error at the end of the "
	    "line: expected token \"secret\", or token file" },
	{ "spool /w/x\nworkspace /w", 0, "spool \"/w/x\": must not be inside" },
	{ "spool /w\nworkspace /w", 0, "must not be inside the workspace" },
	{ "spool /w\nworkspace /w/x", 0, "must not be inside the spool" },
	{ "control socket /w/x\nworkspace /w", 0, "control socket \"/w/x\"" },
	{ "listen on socket /w/x\nworkspace /w", 0, "socket \"/w/x\": must" },
	{ "listen on socket /c\ncontrol socket /c", 0, "is the control" },
	{ "user frontend a\nuser spawner a", 0, "must be different users" },
	{ "user frontend a\nuser frontend b", 2, "user frontend: already" },
	{ "foo", 1, "unknown statement \"foo\": expected call, chroot, "
	    "control plane" },
	{ "http { foo 1 }\npool 1\n", 1, "unknown setting \"foo\" in http" },
	{ "}", 1, "syntax error at \"}\"" },
	{ "foo bar", 1, "unknown statement \"foo\"" },
	{ "foo {\nlisten on nonsense\n{ \"\n} }\n\npool 1\n", 1,
	    "unknown statement \"foo\"" },
	{ "foo \"bar\" {\n}\n", 1, "unknown statement \"foo\"" },
	{ "timeout listen 5 {\nfoo\n}", 1, "unknown statement \"timeout\"" },
	{ "listen", 1, "syntax error at the end of the line: expected listen "
	    "on address" },
	{ "listen on ::1 http", 1, "syntax error at \"http\": expected " },
	{ "listen on ::1 {\nfoo\n}\n", 1, "syntax error at \"{\"" },
	{ "listen on ::1 port 1 auth none none", 1, "expected listen on" },
	{ "token", 1, "expected token \"secret\", or token file" },
	{ "pool = 5", 1, "syntax error at \"=\": expected pool number" },
	{ "http\n", 1, "syntax error at the end of the line: expected http {" },
	{ "}", 1, "syntax error at \"}\": expected call" },
	{ "\"foo\" bar", 1, "syntax error at \"bar\": expected call" },
	{ "http {\nconnections 5\n\n", 1, "the block that begins here has no" },
	{ "\nprofile \"x\" {\nlimits {\n", 2, "the block that begins here" },
	{ "pool \"5", 1, "a string must end in its line" },
	{ "pool \"5\\n\"", 1, "must be followed by \" or \\\\" },
	{ "pool \"\001\"", 1, "control character 0x01 in a string" },
	{ "pool \001", 1, "character 0x01 outside of a string" },
	{ "pool \303\244", 1, "character 0xc3 outside of a string" },
	{ "pool '5'", 1, "unexpected \"'\": must be in a string" },
	{ "pool 5, 6", 1, "unexpected \",\"" },
	{ "pool \\ 5", 1, "unexpected \"\\\\\"" },
	{ "\001", 1, "character 0x01" },
	{ "pool \\\n 5000\n", 2, "pool 5000" },
	{ "# c \\\npool 5000\n", 2, "pool 5000" },
};

static void
test_errors(void **state)
{
	size_t	 i;

	(void)state;
	for (i = 0; i < nitems(bad_values); i++)
		bad(bad_values[i].text, bad_values[i].part);
	for (i = 0; i < nitems(bad_lines); i++)
		bad_line(bad_lines[i].text, bad_lines[i].line,
		    bad_lines[i].part);
}

/* One run reports all of them, and a line only once. */
static void
test_all_errors(void **state)
{
	static const char	 text[] =
	    "listen on nowhere\n"
	    "foo {\n"
	    "\tbar\n"
	    "}\n"
	    "http {\n"
	    "\theader timeout 0s\n"
	    "\tfoo 1\n"
	    "\t= = =\n"
	    "\tconnections 0\n"
	    "}\n"
	    "pool $undefined ' \" $\n"
	    "profile \"x\" {\n"
	    "\tfoo {\n"
	    "\t\tbar\n"
	    "\t}\n"
	    "\troot \"x\"\n"
	    "}\n"
	    "pool 10000\n";
	static const int	 lines[] = { 1, 2, 6, 7, 8, 9, 11, 13, 16, 18 };
	char			 place[PATH_MAX];
	size_t			 i;

	(void)state;
	assert_null(load(text));
	for (i = 0; i < nitems(lines); i++) {
		(void)snprintf(place, sizeof(place), "%s:%d: ",
		    file_path("test.conf"), lines[i]);
		assert_error(text, place);
	}
	if (errors.ce_count != nitems(lines))
		fail_msg("%u errors:\n%s", errors.ce_count, errors.ce_text);
}

/* Neither the number of errors nor their text grows without end. */
static void
test_error_bounds(void **state)
{
	char	*text;
	size_t	 i;

	(void)state;
	text = calloc(100001, 1);
	assert_non_null(text);
	for (i = 0; i < 100000; i += 5)
		memcpy(text + i, "xxxx\n", 5);
	assert_null(load(text));
	assert_true(errors.ce_count > 50 && errors.ce_count < 200);
	assert_true(errors.ce_len < sizeof(errors.ce_text));
	assert_int_equal(strlen(errors.ce_text), errors.ce_len);
	assert_int_equal(errors.ce_text[errors.ce_len - 1], '\n');

	memset(text, 'x', 100000);
	bad(text, "a word must have at most 4095 characters");
	text[0] = '"';
	bad(text, "a string must have at most 4095 characters");
	text[0] = '$';
	bad(text, "a macro's name must have at most 63 characters");
	free(text);

	/* What cannot be shown is not. */
	memset(&errors, 0, sizeof(errors));
	config_error(&errors, "a%sb", "\033[31m\n");
	assert_string_equal(errors.ce_text, "a\\033[31m\\012b\n");
	config_error(NULL, "nobody asked");
}

static void
bad_long(const char *before, size_t len, const char *after, const char *part)
{
	char	 text[8192];
	size_t	 n;

	n = strlcpy(text, before, sizeof(text));
	memset(text + n, 'x', len);
	text[n + len] = '\0';
	(void)strlcat(text, after, sizeof(text));
	if (part == NULL)
		good(text);
	else
		bad_line(text, 0, part);
}

static void
test_lengths(void **state)
{
	(void)state;
	bad_long("workspace /", 1022, "", NULL);
	bad_long("workspace /", 1023, "", "must have at most 1023 characters");
	bad_long("control socket /", 106, "", NULL);
	bad_long("control socket /", 107, "", "at most 107 characters");
	bad_long("listen on socket /", 106, "", NULL);
	bad_long("listen on socket /", 107, "", "at most 107 characters");
	bad_long("token ", 511, "", NULL);
	bad_long("token ", 512, "", "must have 8 to 511 characters");
	bad_long("token ", 8, "", NULL);
	bad_long("token ", 7, "", "must have 8 to 511 characters");
	bad_long("user frontend ", 32, "", NULL);
	bad_long("user frontend ", 33, "", "1 to 32");
	bad_long("profile ", 63, " {\n}", NULL);
	bad_long("profile ", 64, " {\n}", "1 to 63");
	bad_long("language ", 63, " {\ncommand /x\n}", NULL);
	bad_long("language ", 64, " {\ncommand /x\n}", "1 to 63");
	bad_long("mount ", 63, " path /x", NULL);
	bad_long("mount ", 64, " path /x", "1 to 63");
	bad_long("profile \"x\" {\nenvironment A ", 2047, "\n}", NULL);
	bad_long("profile \"x\" {\nenvironment A ", 2048, "\n}",
	    "value must have at most 2047 characters");
	bad_long("profile \"x\" {\nenvironment ", 255, " b\n}", NULL);
	bad_long("profile \"x\" {\nenvironment ", 256, " b\n}", "at most 255");
	bad_long("profile \"x\" {\nsystem call add ", 64, "\n}",
	    "must be the name of a system call");
	bad_long("control plane {\ncontainer id ", 255, "\n}", NULL);
	bad_long("control plane {\ncontainer id ", 256, "\n}",
	    "must have at most 255 characters");
	bad_long("control plane {\nurl http://", 1016, "\n}", NULL);
	bad_long("control plane {\nurl http://", 1017, "\n}",
	    "must have at most 1023 characters");
	bad_long("", 63, " = 5", NULL);
	bad_long("", 64, " = 5", "a name must be");
}

/* Something many times, each with a number of its own. */
static void
many(unsigned int count, const char *before, const char *after,
    const char *part)
{
	FILE		*fp;
	char		*text = NULL;
	size_t		 len;
	unsigned int	 i;

	fp = open_memstream(&text, &len);
	assert_non_null(fp);
	for (i = 1; i <= count; i++)
		fprintf(fp, "%s%u%s\n", before, i, after);
	assert_int_equal(fclose(fp), 0);
	if (part == NULL)
		good(text);
	else
		bad_line(text, 0, part);
	free(text);
}

static void
test_counts(void **state)
{
	(void)state;
	many(CONF_MAX_PROFILES - 1, "profile p", " {\n}", NULL);
	many(CONF_MAX_PROFILES, "profile p", " {\n}",
	    "must be one of at most 64");
	many(CONF_MAX_LANGS - 3, "language l", " {\ncommand /x\n}", NULL);
	many(CONF_MAX_LANGS - 2, "language l", " {\ncommand /x\n}",
	    "must be one of at most 64");
	many(CONF_MAX_LISTEN - 1, "listen on ::1 port ", "", NULL);
	many(CONF_MAX_LISTEN, "listen on ::1 port ", "",
	    "(the default): too many listeners");
	many(CONF_MAX_MOUNTS, "mount m", " path /x", NULL);
	many(CONF_MAX_MOUNTS + 1, "mount m", " path /x",
	    "must be one of at most 256");
	many(1024, "m", " = x", NULL);
	many(1025, "m", " = x", "must be one of at most 1024");
}

/* This many paths, new variables, and others that are built in. */
static void
many_items(unsigned int paths, unsigned int variables, const char *builtin,
    const char *part)
{
	struct config	*conf;
	FILE		*fp;
	char		*text = NULL;
	size_t		 len;
	unsigned int	 i;

	fp = open_memstream(&text, &len);
	assert_non_null(fp);
	fprintf(fp, "profile \"x\" {\n");
	for (i = 1; i <= paths; i++)
		fprintf(fp, "read-only /p%u\n", i);
	for (i = 1; i <= variables; i++)
		fprintf(fp, "environment V%u \"\"\n", i);
	fprintf(fp, "%s}\n", builtin);
	assert_int_equal(fclose(fp), 0);
	if (part == NULL) {
		conf = load_good(text);
		round_trip(conf);
		config_free(conf);
	} else
		bad_line(text, 0, part);
	free(text);
}

/* The four variables that are built in count, however they are set. */
static void
test_items_count(void **state)
{
	static const char	 builtin[] =
	    "environment PATH a\nenvironment HOME b\n"
	    "environment LANG c\nenvironment TMPDIR d\n";

	(void)state;
	many_items(CONF_MAX_ITEMS, CONF_MAX_ITEMS - 4, "", NULL);
	many_items(CONF_MAX_ITEMS, CONF_MAX_ITEMS - 4, builtin, NULL);
	many_items(CONF_MAX_ITEMS + 1, CONF_MAX_ITEMS - 4, "",
	    "\"/p257\": must be one of at most 256");
	many_items(0, CONF_MAX_ITEMS - 3, "",
	    "\"V253\": must be one of at most 256");
	many_items(0, CONF_MAX_ITEMS - 3, builtin,
	    "\"V253\": must be one of at most 256");
}

static void
bad_env(const char *name, const char *value, const char *part)
{
	clean_environment();
	assert_int_equal(setenv(name, value, 1), 0);
	bad_line("", 0, part);
	clean_environment();
}

static void
test_environment_errors(void **state)
{
	char	 text[1100];

	(void)state;
	bad_env("PORT", "abc",
	    "environment: PORT \"abc\": must be between 1 and 65535");
	bad_env("PORT", "0", "environment: PORT \"0\": must be");
	bad_env("EXECUTOR_PORT", "70000", "environment: EXECUTOR_PORT");
	bad_env("PROXY_PORT", "-1", "environment: PROXY_PORT \"-1\": must");
	bad_env("PORT", "3031", "proxy on 127.0.0.1 port 3031 (the default)");
	bad_env("CONTROL_PLANE_URL", "cp:8000",
	    "CONTROL_PLANE_URL \"cp:8000\": must begin with http://");
	bad_env("WORKSPACE_PATH", "work", "must be an absolute path");
	bad_env("LOG_LEVEL", "loud", "must be debug, info, warning or error");
	bad_env("CONTAINER_ID", "a\nb", "CONTAINER_ID \"a\\012b\": must not");
	bad_env("POD_NAME", "\033", "POD_NAME \"\\033\": must not");
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	bad_env("POD_NAME", text, "must have at most 255 characters");
	bad_env("SANDBOX_SECRET", "s3cr3t", "SANDBOX_SECRET: must have 8");
	assert_null(strstr(errors.ce_text, "s3cr3t"));
	bad_env("INTERNAL_API_TOKEN", "s3cr3t s3cr3t",
	    "INTERNAL_API_TOKEN: must be printable");
	assert_null(strstr(errors.ce_text, "s3cr3t"));
	/* Also when there is no file at all. */
	assert_int_equal(setenv("PORT", "x", 1), 0);
	assert_null(config_load(file_path("missing"), 0, NULL));
	clean_environment();
}

/* The longest list of names is not cut. */
static void
test_expected(void **state)
{
	static const char * const	 blocks[] = {
		"http", "limits", "run", "processes", "execute", "call",
		"control plane"
	};
	char				 text[64], *list, *name;
	size_t				 i;
	int				 set;

	(void)state;
	for (i = 0; i < nitems(blocks); i++) {
		(void)snprintf(text, sizeof(text), "%s {\nnonsense 1\n}\n",
		    blocks[i]);
		bad_line(text, 2, "unknown setting \"nonsense\" in ");
		list = strstr(errors.ce_text, ": expected ");
		assert_non_null(list);
		for (set = 0; set < SET_COUNT; set++) {
			if (strcmp(settings[set].sd_block, blocks[i]) != 0)
				continue;
			name = strstr(list, settings[set].sd_name);
			assert_non_null(name);
		}
	}
}

int
main(void)
{
	const struct CMUnitTest	 tests[] = {
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_all_errors),
		cmocka_unit_test(test_error_bounds),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_items_count),
		cmocka_unit_test(test_environment_errors),
		cmocka_unit_test(test_expected),
	};

	return (cmocka_run_group_tests(tests, config_setup,
	    config_teardown));
}
