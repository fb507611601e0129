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

#include <sys/types.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "compat.h"
#include "parser.h"

#define WORDS_MAX	8

/* One command line, words parted by blanks, and what must come of it. */
struct parse_case {
	const char	*pc_line;
	enum action	 pc_action;	/* ACTION_NONE: an error */
	const char	*pc_error;
};

static int	 parse_line(const char *, struct parse_result *, char *,
		    size_t);
static void	 check_cases(const struct parse_case *, size_t);

static const struct parse_case cases_whole[] = {
	{ "show", ACTION_SHOW, NULL },
	{ "show summary", ACTION_SHOW, NULL },
	{ "show config", ACTION_SHOW_CONFIG, NULL },
	{ "log brief", ACTION_LOG_BRIEF, NULL },
	{ "log verbose", ACTION_LOG_VERBOSE, NULL },
	{ "reload", ACTION_RELOAD, NULL },
	{ "stop", ACTION_STOP, NULL }
};

static const struct parse_case cases_missing[] = {
	{ "", ACTION_NONE,
	    "missing word: expected log, reload, show or stop" },
	{ "log", ACTION_NONE,
	    "missing word after \"log\": expected brief or verbose" },
	{ "l", ACTION_NONE,
	    "missing word after \"log\": expected brief or verbose" }
};

static const struct parse_case cases_unknown[] = {
	{ "frobnicate", ACTION_NONE,
	    "unknown word \"frobnicate\": "
	    "expected log, reload, show or stop" },
	{ "showx", ACTION_NONE,
	    "unknown word \"showx\": expected log, reload, show or stop" },
	{ "Show", ACTION_NONE,
	    "unknown word \"Show\": expected log, reload, show or stop" },
	{ "show jobs", ACTION_NONE,
	    "unknown word \"jobs\" after \"show\": "
	    "expected config or summary" },
	{ "sh configs", ACTION_NONE,
	    "unknown word \"configs\" after \"show\": "
	    "expected config or summary" },
	{ "log quiet", ACTION_NONE,
	    "unknown word \"quiet\" after \"log\": "
	    "expected brief or verbose" }
};

static const struct parse_case cases_toomany[] = {
	{ "reload now", ACTION_NONE,
	    "too many words after \"reload\": \"now\"" },
	{ "r now", ACTION_NONE,
	    "too many words after \"reload\": \"now\"" },
	{ "stop it please", ACTION_NONE,
	    "too many words after \"stop\": \"it\"" },
	{ "show config -v", ACTION_NONE,
	    "too many words after \"config\": \"-v\"" },
	{ "show summary summary", ACTION_NONE,
	    "too many words after \"summary\": \"summary\"" },
	{ "log brief verbose", ACTION_NONE,
	    "too many words after \"brief\": \"verbose\"" }
};

static int
parse_line(const char *line, struct parse_result *res, char *error,
    size_t size)
{
	char	 buf[512], *argv[WORDS_MAX + 1], *p, *word;
	int	 argc = 0;

	assert_true(strlcpy(buf, line, sizeof(buf)) < sizeof(buf));
	p = buf;
	while ((word = strsep(&p, " ")) != NULL) {
		if (*word == '\0')
			continue;
		assert_in_range(argc, 0, WORDS_MAX - 1);
		argv[argc++] = word;
	}
	argv[argc] = NULL;
	error[0] = '\0';
	return (parse_command(argc, argv, res, error, size));
}

static void
check_cases(const struct parse_case *pc, size_t n)
{
	struct parse_result	 res;
	char			 error[512];
	size_t			 i;
	int			 rv;

	for (i = 0; i < n; i++) {
		rv = parse_line(pc[i].pc_line, &res, error, sizeof(error));
		if (pc[i].pc_error != NULL) {
			assert_int_equal(rv, -1);
			assert_string_equal(error, pc[i].pc_error);
		} else {
			assert_int_equal(rv, 0);
			assert_int_equal(res.pr_action, pc[i].pc_action);
			assert_string_equal(error, "");
		}
	}
}

static void
test_whole(void **state __unused)
{
	check_cases(cases_whole, nitems(cases_whole));
}

static void
test_missing(void **state __unused)
{
	check_cases(cases_missing, nitems(cases_missing));
}

static void
test_unknown(void **state __unused)
{
	check_cases(cases_unknown, nitems(cases_unknown));
}

static void
test_toomany(void **state __unused)
{
	check_cases(cases_toomany, nitems(cases_toomany));
}

/* Cuts both words of each command to every length. */
static void
test_prefixes(void **state __unused)
{
	const struct parse_case	*pc;
	struct parse_result	 res;
	const char		*second;
	char			 line[64], error[512];
	size_t			 i, j, k, first;
	int			 rv;

	for (i = 0; i < nitems(cases_whole); i++) {
		pc = &cases_whole[i];
		first = strcspn(pc->pc_line, " ");
		second = pc->pc_line + first;
		if (*second == ' ')
			second++;
		for (j = 1; j <= first; j++)
			for (k = *second != '\0'; k <= strlen(second); k++) {
				(void)snprintf(line, sizeof(line),
				    "%.*s %.*s", (int)j, pc->pc_line, (int)k,
				    second);
				rv = parse_line(line, &res, error,
				    sizeof(error));
				if (j == 1 && pc->pc_line[0] == 's') {
					assert_int_equal(rv, -1);
					continue;
				}
				assert_int_equal(rv, 0);
				assert_int_equal(res.pr_action,
				    pc->pc_action);
			}
	}
}

static void
test_ambiguous(void **state __unused)
{
	static const struct parse_case cases[] = {
		{ "s", ACTION_NONE,
		    "ambiguous word \"s\": could be show or stop" },
		{ "s config", ACTION_NONE,
		    "ambiguous word \"s\": could be show or stop" },
		{ "sh", ACTION_SHOW, NULL },
		{ "st", ACTION_STOP, NULL },
		{ "sh co", ACTION_SHOW_CONFIG, NULL },
		{ "sh su", ACTION_SHOW, NULL }
	};

	check_cases(cases, nitems(cases));
}

/* A shell makes an empty word of an unset variable in quotes. */
static void
test_empty_word(void **state __unused)
{
	struct parse_result	 res;
	char			 error[512], show[] = "show", empty[] = "";
	char			*argv[3];

	argv[0] = empty;
	argv[1] = argv[2] = NULL;
	assert_int_equal(parse_command(1, argv, &res, error, sizeof(error)),
	    -1);
	assert_string_equal(error,
	    "unknown word \"\": expected log, reload, show or stop");

	argv[0] = show;
	argv[1] = empty;
	assert_int_equal(parse_command(2, argv, &res, error, sizeof(error)),
	    -1);
	assert_string_equal(error,
	    "unknown word \"\" after \"show\": expected config or summary");
}

/* However long the word and however short the room for the error. */
static void
test_long_word(void **state __unused)
{
	struct parse_result	 res;
	char			 error[512], word[4096], cut[65];
	char			 want[512], *argv[2];

	memset(word, 'x', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	memset(cut, 'x', sizeof(cut) - 1);
	cut[sizeof(cut) - 1] = '\0';
	argv[0] = word;
	argv[1] = NULL;
	assert_int_equal(parse_command(1, argv, &res, error, sizeof(error)),
	    -1);
	(void)snprintf(want, sizeof(want),
	    "unknown word \"%s\": expected log, reload, show or stop", cut);
	assert_string_equal(error, want);

	memset(error, '#', sizeof(error));
	assert_int_equal(parse_command(1, argv, &res, error, 8), -1);
	assert_string_equal(error, "unknown");
	assert_int_equal(error[8], '#');
}

int
main(void)
{
	const struct CMUnitTest	 tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_prefixes),
		cmocka_unit_test(test_ambiguous),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_toomany),
		cmocka_unit_test(test_empty_word),
		cmocka_unit_test(test_long_word)
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
