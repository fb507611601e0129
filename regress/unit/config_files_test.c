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
 * The configuration: macros, included files, the bytes, modes and owners of
 * files, and the secrecy of tokens.  Rows T19 and T78 of escape-tests.md
 * are here, too.
 */

#include <sys/types.h>
#include <sys/stat.h>

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "compat.h"
#include "config.h"
#include "config_util.h"

static void
test_macros(void **state)
{
	struct config	*conf;

	(void)state;
	conf = load_good("n = 5\nbig = \"$n\"\nn2 = $n\n"
	    "a = $n\nn = \"6\"\na = $a\n"
	    "pool $n\nhttp {\nconnections $n2\nheader size \\\n\t2K\n}\n"
	    "profile \"x\" {\nenvironment \"A\" $big\nlimits {\n"
	    "processes $a\n}\n}\n");
	assert_true(conf->cf_values[SET_POOL_SANDBOXES] == 6);
	assert_true(conf->cf_values[SET_HTTP_CONNECTIONS] == 5);
	assert_string_equal(item(conf_profile_byname(&conf->cf_profiles, "x"),
	    ITEM_ENV, 4)->it_b, "$n");
	config_free(conf);
	/* Gone with their file. */
	bad("pool $n", "macro \"n\" is not defined");
	/* A value is a string and cannot become anything else. */
	bad_line("x = \"1 {\"\npool $x", 2, "pool 1 {");
	bad_line("x = \"on\"\nlisten $x ::1\n", 2,
	    "syntax error at a string: expected listen");

	assert_int_equal(config_macro("port=4000"), 0);
	assert_int_equal(config_macro("unused=a=b"), 0);
	assert_int_equal(config_macro("empty="), 0);
	assert_int_equal(config_macro("port"), -1);
	assert_int_equal(config_macro("=x"), -1);
	assert_int_equal(config_macro("a b=x"), -1);
	assert_int_equal(config_macro("a=x\ny"), -1);
	assert_int_equal(config_macro("1a=x"), -1);
	conf = load_good("port = 5000\nlisten on ::1 port $port\n"
	    "control plane {\npod name $unused\n}\n");
	assert_inet(listener(conf, 0), "::1", 4000, 0, AUTH_TOKEN);
	assert_string_equal(conf->cf_pod_name, "a=b");
	config_free(conf);
	/* Those stay, and can be set again. */
	assert_int_equal(config_macro("port=4001"), 0);
	conf = load_good("listen on ::1 port $port\n");
	assert_inet(listener(conf, 0), "::1", 4001, 0, AUTH_TOKEN);
	config_free(conf);
}

static void
test_include(void **state)
{
	struct config	*conf;
	char		 text[PATH_MAX + 64], name[32];
	int		 i;

	(void)state;
	/* Relative to the file that says it, and in its place. */
	assert_int_equal(mkdir(file_path("sub"), 0700), 0);
	file_text("sub/a.conf", "include \"b.conf\"\npool $p\n", 0644);
	file_text("sub/b.conf", "p = 7", 0644);
	conf = load_good("p = 6\ninclude \"sub/a.conf\"\n"
	    "http {\nconnections $p\n}\n");
	assert_true(conf->cf_values[SET_POOL_SANDBOXES] == 7);
	assert_true(conf->cf_values[SET_HTTP_CONNECTIONS] == 7);
	config_free(conf);
	(void)snprintf(text, sizeof(text), "include \"%s\" # both\n",
	    file_path("sub/b.conf"));
	good(text);

	/* Errors are where they are, and all of them are found. */
	file_text("sub/a.conf", "\nfoo\nhttp {\n", 0644);
	assert_null(load("include \"sub/a.conf\"\n\npool 5000\n"));
	assert_int_equal(errors.ce_count, 3);
	assert_error("sub", "/sub/a.conf:2: unknown statement");
	assert_error("sub", "/sub/a.conf:3: the block that begins here has");
	assert_error("sub", "/test.conf:3: pool 5000");
	file_text("sub/a.conf", "pool 1\n", 0644);
	bad_line("pool 1\ninclude \"sub/a.conf\"\n", 0,
	    "sub/a.conf:1: pool: already set at ");
	bad_line("pool 5\nhttp {\ninclude \"sub/a.conf\"\n}\n", 3,
	    "unknown setting \"include");
	bad("include sub/a.conf extra", "expected include \"/path\"");

	/* Loops end. */
	bad_line("include \"test.conf\"", 1, "includes itself");
	file_text("sub/a.conf", "include \"../sub/b.conf\"\n", 0644);
	file_text("sub/b.conf", "include \"../sub/a.conf\"\n", 0644);
	bad_line("include \"sub/a.conf\"", 0, "b.conf:1: include");
	for (i = 0; i < 20; i++) {
		(void)snprintf(name, sizeof(name), "sub/%d.conf", i);
		(void)snprintf(text, sizeof(text), "include \"%d.conf\"\n",
		    i + 1);
		file_text(name, text, 0644);
	}
	bad_line("include \"sub/0.conf\"", 0, "must be at most 16 files deep");
	for (i = 0; i < 20; i++) {
		(void)snprintf(name, sizeof(name), "sub/%d.conf", i);
		assert_int_equal(unlink(file_path(name)), 0);
	}
	file_text("sub/a.conf", "x = 1\n", 0644);
	file_text("sub/b.conf", "include \"a.conf\"\ninclude \"a.conf\"\n",
	    0644);
	good("include \"sub/b.conf\"\ninclude \"sub/b.conf\"\n");

	assert_int_equal(unlink(file_path("sub/a.conf")), 0);
	assert_int_equal(unlink(file_path("sub/b.conf")), 0);
	assert_int_equal(rmdir(file_path("sub")), 0);
}

/* The number of files has an end, too. */
static void
test_include_limit(void **state)
{
	char	*text;
	size_t	 i, len;

	(void)state;
	file_text("one.conf", "x = 1\n", 0600);
	text = calloc(257, 21);
	assert_non_null(text);
	for (i = len = 0; i < 257; i++)
		len += strlcpy(text + len, "include \"one.conf\"\n", 20);
	bad_line(text, 257, "256 in all");
	free(text);
	assert_int_equal(unlink(file_path("one.conf")), 0);
}

/* T78: bytes that an editor does not show. */
static void
test_bytes(void **state)
{
	(void)state;
	file_write("b.conf", "\xef\xbb\xbfpool 1\n", 10, 0600);
	bad_file("b.conf", "b.conf:1: a byte order mark");
	file_write("b.conf", "\n\npool 1\0\n", 10, 0600);
	bad_file("b.conf", "b.conf:3: a NUL byte");
	assert_int_equal(errors.ce_count, 1);
	file_write("b.conf", "pool 1\r\n", 8, 0600);
	bad_file("b.conf", "b.conf:1: a carriage return");
	assert_int_equal(unlink(file_path("b.conf")), 0);
}

static void
test_size(void **state)
{
	char	*text;

	(void)state;
	text = malloc(CONFIG_MAXSIZE + 1);
	assert_non_null(text);
	memset(text, '\n', CONFIG_MAXSIZE + 1);
	file_write("b.conf", text, CONFIG_MAXSIZE, 0600);
	config_free(load_file("b.conf"));
	assert_int_equal(errors.ce_count, 0);
	file_write("b.conf", text, CONFIG_MAXSIZE + 1, 0600);
	bad_file("b.conf", "must be at most 1M large");
	free(text);
	assert_int_equal(unlink(file_path("b.conf")), 0);
}

/* T78: who else could have written or could read it. */
static void
test_modes(void **state)
{
	static const char	 token[] = "token \"" SECRET "\"\n";
	static const char	 plane[] =
	    "control plane {\ntoken \"" SECRET "\"\n}\n";
	static const mode_t	 writable[] = { 0660, 0620, 0602, 0606, 0666 };
	static const mode_t	 public[] = { 0604, 0601, 0644, 0444, 0605 };
	static const mode_t	 private[] = { 0600, 0400, 0640, 0440 };
	size_t			 i;

	(void)state;
	for (i = 0; i < nitems(writable); i++) {
		file_text("m.conf", "pool 1\n", writable[i]);
		bad_file("m.conf", "must not be writable by its group or by");
		file_text("m.conf", token, writable[i]);
		bad_file("m.conf", "must not be writable by its group or by");
	}
	for (i = 0; i < nitems(public); i++) {
		file_text("m.conf", "pool 1\n", public[i]);
		config_free(load_file("m.conf"));
		assert_int_equal(errors.ce_count, 0);
		file_text("m.conf", token, public[i]);
		bad_file("m.conf", "m.conf:1: token: the file that holds it");
		file_text("m.conf", plane, public[i]);
		bad_file("m.conf", "m.conf:2: token: the file that holds it");
		/* Nor may a macro carry it out of such a file. */
		file_text("m.conf", "t = \"" SECRET "\"\n", public[i]);
		bad_line("include \"m.conf\"\ntoken $t\n", 2,
		    "token: the file that holds it");
		file_text("m.conf", token, public[i]);
		assert_null(load("include \"m.conf\"\n"));
		assert_error("include", "m.conf:1: token: the file");
	}
	for (i = 0; i < nitems(private); i++) {
		file_text("m.conf", token, private[i]);
		config_free(load_file("m.conf"));
		assert_int_equal(errors.ce_count, 0);
	}
	file_text("m.conf", "pool 1\n", 0666);
	bad("include \"m.conf\"\n", "must not be writable");
	assert_int_equal(unlink(file_path("m.conf")), 0);
	bad_file("", "must be a regular file");
}

/* T19, T78: files and links that another user has put there. */
static void
test_owners(void **state)
{
	struct config	*conf;

	(void)state;
	file_text("real.conf", "pool 1\n", 0600);
	assert_int_equal(symlink("real.conf", file_path("link.conf")), 0);
	conf = load_file("link.conf");
	assert_non_null(conf);
	config_free(conf);
	assert_int_equal(symlink("nowhere", file_path("dangling")), 0);
	memset(&errors, 0, sizeof(errors));
	assert_null(config_load(file_path("dangling"), 0, &errors));

	if (geteuid() == 0) {
		assert_int_equal(lchown(file_path("link.conf"), OTHER_UID,
		    OTHER_UID), 0);
		bad_file("link.conf", "is a link of another user");
		assert_int_equal(chown(file_path("real.conf"), OTHER_UID, 0),
		    0);
		bad_file("real.conf", "must be owned by root or the user");
		bad("include \"real.conf\"\n", "must be owned by root");
		/* An ordinary user may use root's files and his own. */
		assert_int_equal(chmod(testdir, 0755), 0);
		assert_int_equal(seteuid(OTHER_UID), 0);
		conf = load_file("real.conf");
		assert_int_equal(seteuid(0), 0);
		assert_non_null(conf);
		config_free(conf);
		assert_int_equal(chown(file_path("real.conf"), 0, 0), 0);
		assert_int_equal(chmod(file_path("real.conf"), 0644), 0);
		assert_int_equal(seteuid(OTHER_UID), 0);
		conf = load_file("link.conf");
		assert_int_equal(seteuid(0), 0);
		assert_non_null(conf);
		config_free(conf);
	}
	assert_int_equal(unlink(file_path("dangling")), 0);
	assert_int_equal(unlink(file_path("link.conf")), 0);
	assert_int_equal(unlink(file_path("real.conf")), 0);
}

/* Pipes and devices have no owner who would matter. */
static void
test_streams(void **state)
{
	struct config	*conf;
	static const char text[] = "token \"" SECRET "\"\npool 3\n";
	int		 fds[2], saved;

	(void)state;
	config_free(config_load("/dev/null", 1, &errors));
	saved = dup(STDIN_FILENO);
	assert_true(saved != -1);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], text, strlen(text)), strlen(text));
	close(fds[1]);
	assert_int_equal(dup2(fds[0], STDIN_FILENO), STDIN_FILENO);
	close(fds[0]);
	memset(&errors, 0, sizeof(errors));
	conf = config_load("-", 1, &errors);
	assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
	close(saved);
	assert_non_null(conf);
	assert_true(conf->cf_values[SET_POOL_SANDBOXES] == 3);
	config_free(conf);
	memset(&errors, 0, sizeof(errors));
	assert_null(config_load("/dev/zero", 1, &errors));
	assert_error("/dev/zero", "must be at most 1M large");
}

static void
token_file(const char *content, size_t len, mode_t mode, const char *part)
{
	struct config	*conf;
	char		 text[PATH_MAX + 32];

	file_write("token", content, len, mode);
	(void)snprintf(text, sizeof(text), "token file \"%s\"\n",
	    file_path("token"));
	if (part != NULL) {
		bad(text, part);
		assert_null(strstr(errors.ce_text, "s3cr3t"));
		return;
	}
	/* The file that names it may be public. */
	file_text("test.conf", text, 0644);
	conf = load_file("test.conf");
	assert_non_null(conf);
	assert_string_equal(conf->cf_token, SECRET);
	assert_string_equal(conf->cf_token_file, file_path("token"));
	round_trip(conf);
	config_forget_secrets(conf);
	assert_string_equal(conf->cf_token, "");
	config_free(conf);
}

static void
test_token_file(void **state)
{
	struct config	*conf;
	char		 text[PATH_MAX + 64], big[600];

	(void)state;
	token_file(SECRET, 13, 0600, NULL);
	token_file(SECRET "\n", 14, 0640, NULL);
	token_file(SECRET "\nsecond line\n", 26, 0400, NULL);
	token_file(SECRET "\n", 14, 0644, "must not be accessible to others");
	token_file(SECRET "\n", 14, 0601, "must not be accessible to others");
	token_file(SECRET "\n", 14, 0660, "must not be writable");
	token_file("", 0, 0600, "must have 8 to 511 characters");
	token_file("\n" SECRET, 14, 0600, "must have 8 to 511 characters");
	token_file("s3cr3t\n", 7, 0600, "must have 8 to 511 characters");
	token_file(SECRET " \n", 15, 0600, "must be printable ASCII");
	token_file(SECRET "\r\n", 15, 0600, "must be printable ASCII");
	token_file(SECRET "\0\n", 15, 0600, "Invalid argument");
	memset(big, 'x', sizeof(big));
	token_file(big, sizeof(big), 0600, "must have 8 to 511 characters");
	token_file(big, 512, 0600, "must have 8 to 511 characters");

	file_text("token", SECRET "\n", 0600);
	(void)snprintf(text, sizeof(text),
	    "control plane {\ntoken file \"%s\"\n}\n", file_path("token"));
	conf = load_good(text);
	assert_string_equal(conf->cf_cp_token, SECRET);
	assert_string_equal(conf->cf_token, "");
	round_trip(conf);
	config_free(conf);
	(void)snprintf(text, sizeof(text), "token file \"%s\"\n"
	    "workspace \"%s\"\n", file_path("token"), testdir);
	bad_line(text, 0, "must not be inside the workspace");
	(void)snprintf(text, sizeof(text), "token file \"%s\"\n", testdir);
	bad(text, "must be a regular file");
	assert_int_equal(unlink(file_path("token")), 0);
}

/* Whatever is wrong with it, a token is never shown. */
static void
test_token_secrecy(void **state)
{
	static const char * const	 texts[] = {
		"token s3cr3t",
		"token \"s3cr3t\"",
		"token \"s3cr3t s3cr3t\"",
		"token s3cr3t,s3cr3t",
		"token \"s3cr3t-s3cr3t",
		"token \"s3cr3t-s3cr3t\\x\"",
		"token \"s3cr3t-s3cr3t\" s3cr3t",
		"token s3cr3t s3cr3t",
		"token s3cr3t'",
		"token s3cr3t{",
		"token = \"s3cr3t-s3cr3t\"",
		"token file /nowhere s3cr3t",
		"tokn \"s3cr3t-s3cr3t\"",
		"listen \"s3cr3t-s3cr3t\"",
		"token {\ns3cr3t\n}",
		"t = \"s3cr3t\"\ntoken $t",
		"t = \"s3cr3t-s3cr3t\"\ntoken on $t",
		"control plane {\ntoken \"s3cr3t\"\n}",
		"control plane {\ntoken s3cr3t s3cr3t\n}",
	};
	struct config			*conf;
	char				*text;
	size_t				 i;

	(void)state;
	for (i = 0; i < nitems(texts); i++) {
		assert_null(load(texts[i]));
		if (strstr(errors.ce_text, "s3cr3t") != NULL)
			fail_msg("\"%s\" shows it: %s", texts[i],
			    errors.ce_text);
	}
	conf = load_good("token \"" SECRET "\"\n"
	    "control plane {\ntoken \"" SECRET "\"\n}\n");
	text = print(conf, 0);
	assert_null(strstr(text, "s3cr3t"));
	assert_non_null(strstr(text, "\n# token is set, not shown\n"));
	assert_non_null(strstr(text, "\n\t# token is set, not shown\n"));
	free(text);
	config_forget_secrets(conf);
	text = print(conf, 1);
	assert_null(strstr(text, "s3cr3t"));
	assert_non_null(strstr(text, "\n# token is set, not shown\n"));
	free(text);
	config_free(conf);
	/* A comment begins a word, so that it cannot cut one. */
	conf = load_good("token s3cr3t-#s3cr3t#\n");
	assert_string_equal(conf->cf_token, "s3cr3t-#s3cr3t#");
	config_free(conf);
}

static void
test_buffer(void **state)
{
	struct config	*conf;
	char		 text[] = "pool 9\ntoken file /nonexistent";
	char		 include[] = "include \"/etc/passwd\"\n";

	(void)state;
	memset(&errors, 0, sizeof(errors));
	conf = config_parse_buffer("buffer", text, strlen(text), &errors);
	assert_non_null(conf);
	assert_true(conf->cf_values[SET_POOL_SANDBOXES] == 9);
	config_free(conf);
	assert_null(config_parse_buffer("buffer", include, strlen(include),
	    &errors));
	assert_string_equal(errors.ce_text,
	    "buffer:1: include \"/etc/passwd\": is not possible here\n");
	assert_null(config_parse_buffer("buffer", include, strlen(include),
	    NULL));
}

int
main(void)
{
	const struct CMUnitTest	 tests[] = {
		cmocka_unit_test(test_include),
		cmocka_unit_test(test_include_limit),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_owners),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_token_file),
		cmocka_unit_test(test_token_secrecy),
		cmocka_unit_test(test_buffer),
		/* Last, because its macros stay. */
		cmocka_unit_test(test_macros),
	};

	return (cmocka_run_group_tests(tests, config_setup,
	    config_teardown));
}
