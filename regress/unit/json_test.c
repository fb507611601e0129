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
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compat.h"
#include "json.h"

#define S(s)	(s), sizeof(s) - 1

/* A text and what json_check() says of it; NULL: nothing. */
struct check_case {
	const char	*cc_text;
	size_t		 cc_len;
	const char	*cc_error;
	size_t		 cc_members;
};

/* An object and what json-c prints of its tree. */
struct round_case {
	const char	*rc_text;
	const char	*rc_printed;
};

#define VALUE		"a value was expected"
#define KEY		"a key in quotes was expected"
#define COLON		"a colon was expected"
#define COMMA		"a comma or the end of the object or array was expected"
#define INSTRING	"the text ends inside a string"
#define CONTROL		"control character in a string"
#define ESCAPE		"unknown escape in a string"
#define HEX		"\\u without four hex digits"
#define LONE		"lone surrogate in a string"
#define UTF8		"invalid UTF-8 in a string"
#define NUMBER		"malformed number"
#define RANGE		"number out of range"
#define FOLLOWS		"something follows the value"

static const struct check_case cases_values[] = {
	{ S("null"), NULL, 0 },
	{ S("true"), NULL, 0 },
	{ S("false"), NULL, 0 },
	{ S("{}"), NULL, 0 },
	{ S("[]"), NULL, 0 },
	{ S(" \t\r\n{ \t\r\n} \t\r\n"), NULL, 0 },
	{ S("[ ]"), NULL, 0 },
	{ S("[1,[2,[3]],{}]"), NULL, 0 },
	{ S("{\"a\":1}"), NULL, 1 },
	{ S("{ \"a\" : 1 , \"b\" : [ { \"c\" : null } ] }"), NULL, 3 },
	{ S("{\"a\":{\"a\":{\"a\":{}}}}"), NULL, 3 },
	{ S("[{\"a\":[]},{\"a\":{}}]"), NULL, 2 },
	{ S(""), VALUE, 0 },
	{ S(" \n"), VALUE, 0 },
	{ S("nul"), VALUE, 0 },
	{ S("nulL"), VALUE, 0 },
	{ S("True"), VALUE, 0 },
	{ S("fals"), VALUE, 0 },
	{ S("NaN"), VALUE, 0 },
	{ S("Infinity"), VALUE, 0 },
	{ S("-Infinity"), NUMBER, 0 },
	{ S("undefined"), VALUE, 0 },
	{ S("'a'"), VALUE, 0 },
	{ S("\xef\xbb\xbf{}"), VALUE, 0 },
	{ S("// c\n{}"), VALUE, 0 },
	{ S("\0"), VALUE, 0 },
	{ S("\f{}"), VALUE, 0 },
	{ S("{}x"), FOLLOWS, 0 },
	{ S("{}{}"), FOLLOWS, 0 },
	{ S("{}\0"), FOLLOWS, 0 },
	{ S("{},"), FOLLOWS, 0 },
	{ S("1 2"), FOLLOWS, 0 },
	{ S("{}/**/"), FOLLOWS, 0 },
	{ S("nullx"), FOLLOWS, 0 },
};

static const struct check_case cases_structure[] = {
	{ S("{"), KEY, 0 },
	{ S("["), VALUE, 0 },
	{ S("[1"), COMMA, 0 },
	{ S("[1,"), VALUE, 0 },
	{ S("[1,]"), VALUE, 0 },
	{ S("[,1]"), VALUE, 0 },
	{ S("[1 2]"), COMMA, 0 },
	{ S("[1}"), COMMA, 0 },
	{ S("[}"), VALUE, 0 },
	{ S("{]"), KEY, 0 },
	{ S("]"), VALUE, 0 },
	{ S("}"), VALUE, 0 },
	{ S("{\"a\"}"), COLON, 0 },
	{ S("{\"a\""), COLON, 0 },
	{ S("{\"a\":"), VALUE, 0 },
	{ S("{\"a\":}"), VALUE, 0 },
	{ S("{\"a\"=1}"), COLON, 0 },
	{ S("{\"a\":1"), COMMA, 0 },
	{ S("{\"a\":1]"), COMMA, 0 },
	{ S("{\"a\":1,}"), KEY, 0 },
	{ S("{\"a\":1,,\"b\":1}"), KEY, 0 },
	{ S("{\"a\":1;\"b\":1}"), COMMA, 0 },
	{ S("{a:1}"), KEY, 0 },
	{ S("{'a':1}"), KEY, 0 },
	{ S("{1:1}"), KEY, 0 },
	{ S("{null:1}"), KEY, 0 },
	{ S("{\"a\":1/* c */}"), COMMA, 0 },
	{ S("[[1]"), COMMA, 0 },
	{ S("[{\"a\":[1}]"), COMMA, 0 },
};

static const struct check_case cases_strings[] = {
	{ S("\"\""), NULL, 0 },
	{ S("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\\uABcd\""), NULL, 0 },
	{ S("\"\\u0000\""), NULL, 0 },
	{ S("\"\x7f\""), NULL, 0 },
	{ S("\"\xc2\x80\xe0\xa0\x80\xed\x9f\xbf\xf0\x90\x80\x80"
	    "\xf4\x8f\xbf\xbf\""), NULL, 0 },
	{ S("\"\\ud83d\\ude00\""), NULL, 0 },
	{ S("\"\\uD800\\uDC00\\uDBFF\\uDFFF\""), NULL, 0 },
	{ S("\"\\ud7ff\\ue000\""), NULL, 0 },
	{ S("\""), INSTRING, 0 },
	{ S("\"a"), INSTRING, 0 },
	{ S("\"\\"), INSTRING, 0 },
	{ S("\"\\\""), INSTRING, 0 },
	{ S("\"\n\""), CONTROL, 0 },
	{ S("\"\0\""), CONTROL, 0 },
	{ S("\"\x1f\""), CONTROL, 0 },
	{ S("\"\\x41\""), ESCAPE, 0 },
	{ S("\"\\'\""), ESCAPE, 0 },
	{ S("\"\\0\""), ESCAPE, 0 },
	{ S("\"\\U0041\""), ESCAPE, 0 },
	{ S("\"\\\0\""), ESCAPE, 0 },
	{ S("\"\\u\""), HEX, 0 },
	{ S("\"\\u12\""), HEX, 0 },
	{ S("\"\\u123"), HEX, 0 },
	{ S("\"\\u12g4\""), HEX, 0 },
	{ S("\"\\u+123\""), HEX, 0 },
	{ S("\"\\udc00\""), LONE, 0 },
	{ S("\"\\ud800\""), LONE, 0 },
	{ S("\"\\ud800"), LONE, 0 },
	{ S("\"\\ud800\\"), LONE, 0 },
	{ S("\"\\ud800\\n\""), LONE, 0 },
	{ S("\"\\ud800x\\udc00\""), LONE, 0 },
	{ S("\"\\ud800\\u\""), LONE, 0 },
	{ S("\"\\ud800\\u0041\""), LONE, 0 },
	{ S("\"\\ud800\\ud800\""), LONE, 0 },
	{ S("\"\\ud800\\ue000\""), LONE, 0 },
	{ S("\"\x80\""), UTF8, 0 },
	{ S("\"\xc0\x80\""), UTF8, 0 },
	{ S("\"\xc1\xbf\""), UTF8, 0 },
	{ S("\"\xc3\""), UTF8, 0 },
	{ S("\"\xe0\x9f\xbf\""), UTF8, 0 },
	{ S("\"\xed\xa0\x80\""), UTF8, 0 },
	{ S("\"\xf0\x8f\xbf\xbf\""), UTF8, 0 },
	{ S("\"\xf4\x90\x80\x80\""), UTF8, 0 },
	{ S("\"\xf5\x80\x80\x80\""), UTF8, 0 },
	{ S("\"\xff\""), UTF8, 0 },
	{ S("\"\xe2\x82"), UTF8, 0 },
	{ S("{\"\\u0000\":1}"), "NUL in a key", 0 },
	{ S("{\"cmd\\u0000x\":1}"), "NUL in a key", 0 },
	{ S("{\"a\":\"\\u0000\",\"b\":1}"), NULL, 2 },
};

static const struct check_case cases_numbers[] = {
	{ S("0"), NULL, 0 },
	{ S("-0"), NULL, 0 },
	{ S("-0.0e-0"), NULL, 0 },
	{ S("10"), NULL, 0 },
	{ S("1.5e+7"), NULL, 0 },
	{ S("1E007"), NULL, 0 },
	{ S("1e308"), NULL, 0 },
	{ S("1e-999999"), NULL, 0 },
	{ S("0e999999"), NULL, 0 },
	{ S("9223372036854775808"), NULL, 0 },
	{ S("18446744073709551615"), NULL, 0 },
	{ S("-9223372036854775808"), NULL, 0 },
	{ S("18446744073709551616"), RANGE, 0 },
	{ S("-9223372036854775809"), RANGE, 0 },
	{ S("100000000000000000000000000000"), RANGE, 0 },
	{ S("100000000000000000000000000000.0"), NULL, 0 },
	{ S("1e309"), RANGE, 0 },
	{ S("9e308"), RANGE, 0 },
	{ S("-1e999999"), RANGE, 0 },
	{ S("1e99999999999999999999999999"), RANGE, 0 },
	{ S("-"), NUMBER, 0 },
	{ S("--1"), NUMBER, 0 },
	{ S("+1"), VALUE, 0 },
	{ S(".5"), VALUE, 0 },
	{ S("1."), NUMBER, 0 },
	{ S("1.e5"), NUMBER, 0 },
	{ S("-.5"), NUMBER, 0 },
	{ S("1e"), NUMBER, 0 },
	{ S("1e+"), NUMBER, 0 },
	{ S("1e-"), NUMBER, 0 },
	{ S("01"), FOLLOWS, 0 },
	{ S("-01"), FOLLOWS, 0 },
	{ S("00"), FOLLOWS, 0 },
	{ S("0x10"), FOLLOWS, 0 },
	{ S("1_000"), FOLLOWS, 0 },
	{ S("1f"), FOLLOWS, 0 },
	{ S("1e5.5"), FOLLOWS, 0 },
	{ S("1.5.5"), FOLLOWS, 0 },
};

static const struct round_case cases_round[] = {
	{ "{}", "{}" },
	{ " {\"a\" : [ 1 , 2.50, -3e5, true, false, null ]}\n",
	    "{\"a\":[1,2.50,-3e5,true,false,null]}" },
	{ "{\"a\":-0}", "{\"a\":0}" },
	{ "{\"a\":-0.0}", "{\"a\":-0.0}" },
	{ "{\"a\":18446744073709551615,\"b\":-9223372036854775808}",
	    "{\"a\":18446744073709551615,\"b\":-9223372036854775808}" },
	{ "{\"\":\"\"}", "{\"\":\"\"}" },
	{ "{\"\\u00e4\":\"\\ud83d\\ude00\"}",
	    "{\"\xc3\xa4\":\"\xf0\x9f\x98\x80\"}" },
	{ "{\"a\":\"x\\u0000y\\n\"}", "{\"a\":\"x\\u0000y\\n\"}" },
	{ "{\"a\":{\"a\":1},\"A\":[{\"a\":1}]}",
	    "{\"a\":{\"a\":1},\"A\":[{\"a\":1}]}" },
};

static const struct check_case cases_refused[] = {
	{ S("[]"), "not an object", 0 },
	{ S("null"), "not an object", 0 },
	{ S("\"a\""), "not an object", 0 },
	{ S("5"), "not an object", 0 },
	{ S("{\"a\":1,\"a\":1}"), "a key is given twice", 0 },
	{ S("{\"a\":1,\"b\":2,\"\\u0061\":3}"), "a key is given twice", 0 },
	{ S("{\"\":1,\"\":1}"), "a key is given twice", 0 },
	{ S("{\"\\u00e4\":1,\"\xc3\xa4\":1}"), "a key is given twice", 0 },
	{ S("{\"x\":[{\"y\":{\"a\":1,\"a\":{}}}]}"), "a key is given twice",
	    0 },
	{ S("{\"a\":{\"b\":1,\"c\":2},\"a\":null}"), "a key is given twice",
	    0 },
	{ S("{\"a\":1}{"), FOLLOWS, 0 },
};

static void	 check_cases(const struct check_case *, size_t);
static char	*repeat(const char *, const char *, size_t, const char *,
		    size_t *);

static void
check_cases(const struct check_case *cases, size_t n)
{
	const struct check_case	*cc;
	const char		*errstr;
	char			*copy;
	size_t			 i, members;
	int			 rv;

	for (i = 0; i < n; i++) {
		cc = &cases[i];
		/* Of its own size, so that a read beyond it is seen. */
		copy = malloc(cc->cc_len == 0 ? 1 : cc->cc_len);
		assert_non_null(copy);
		memcpy(copy, cc->cc_text, cc->cc_len);
		errstr = NULL;
		members = 0;
		rv = json_check(copy, cc->cc_len, &members, &errstr);
		free(copy);
		if (cc->cc_error == NULL ? rv != 0 || members !=
		    cc->cc_members : rv != -1 || strcmp(errstr,
		    cc->cc_error) != 0)
			fail_msg("case %zu: %s: %d, %zu, %s", i, cc->cc_text,
			    rv, members, errstr == NULL ? "-" : errstr);
	}
}

static void
test_values(void **state __unused)
{
	check_cases(cases_values, nitems(cases_values));
}

static void
test_structure(void **state __unused)
{
	check_cases(cases_structure, nitems(cases_structure));
}

static void
test_strings(void **state __unused)
{
	check_cases(cases_strings, nitems(cases_strings));
}

static void
test_numbers(void **state __unused)
{
	check_cases(cases_numbers, nitems(cases_numbers));
}

static void
test_round(void **state __unused)
{
	struct json_object	*jo;
	const char		*errstr;
	size_t			 i;

	for (i = 0; i < nitems(cases_round); i++) {
		jo = json_decode(cases_round[i].rc_text,
		    strlen(cases_round[i].rc_text), &errstr);
		assert_non_null(jo);
		assert_null(errstr);
		assert_string_equal(json_object_to_json_string_ext(jo,
		    JSON_C_TO_STRING_PLAIN), cases_round[i].rc_printed);
		json_object_put(jo);
	}
}

static void
test_refused(void **state __unused)
{
	const char	*errstr;
	size_t		 i;

	for (i = 0; i < nitems(cases_refused); i++) {
		errstr = NULL;
		assert_null(json_decode(cases_refused[i].cc_text,
		    cases_refused[i].cc_len, &errstr));
		assert_string_equal(errstr, cases_refused[i].cc_error);
	}
}

/* head, n times unit, tail */
static char *
repeat(const char *head, const char *unit, size_t n, const char *tail,
    size_t *len)
{
	size_t	 i, hlen = strlen(head), ulen = strlen(unit);
	char	*p, *text;

	*len = hlen + n * ulen + strlen(tail);
	assert_non_null(text = malloc(*len + 1));
	memcpy(text, head, hlen);
	for (i = 0, p = text + hlen; i < n; i++, p += ulen)
		memcpy(p, unit, ulen);
	memcpy(p, tail, strlen(tail) + 1);
	return (text);
}

/* Objects and arrays in turn, as deep as is allowed and one more. */
static void
test_depth(void **state __unused)
{
	struct json_object	*jo;
	const char		*errstr;
	char			*text;
	size_t			 depth, i, len, members;

	for (depth = 62; depth < 67; depth++) {
		assert_non_null(text = malloc(depth * 8));
		for (i = 0, len = 0; i < depth; i++)
			len += (size_t)snprintf(text + len, depth * 8 - len,
			    "%s", i % 2 ? "[" : i == depth - 1 ? "{" :
			    "{\"a\":");
		while (i-- > 0)
			text[len++] = i % 2 ? ']' : '}';
		jo = json_decode(text, len, &errstr);
		if (depth <= JSON_MAXDEPTH)
			assert_non_null(jo);
		else {
			assert_null(jo);
			assert_string_equal(errstr, "nested too deeply");
		}
		json_object_put(jo);
		free(text);
	}
	text = repeat("", "[", 1000000, "", &len);
	assert_int_equal(json_check(text, len, &members, &errstr), -1);
	assert_string_equal(errstr, "nested too deeply");
	free(text);
}

/* Few bytes that become a large tree. */
static void
test_cost(void **state __unused)
{
	static const char *const units[] = { "{},", "[],", "0,", "\"\"," };
	const char	*errstr;
	char		*text;
	size_t		 i, len, members;

	for (i = 0; i < nitems(units); i++) {
		text = repeat("[", units[i], 100000, "0]", &len);
		assert_int_equal(json_check(text, len, &members, &errstr), 0);
		free(text);
		text = repeat("[", units[i], 3000000, "0]", &len);
		assert_int_equal(json_check(text, len, &members, &errstr),
		    -1);
		assert_string_equal(errstr, "too many values");
		free(text);
	}
}

static void
test_number_length(void **state __unused)
{
	const char	*errstr;
	char		*text;
	size_t		 len, members, n;

	for (n = 1021; n < 1025; n++) {
		text = repeat("0.", "3", n, "", &len);
		assert_int_equal(json_check(text, len, &members, &errstr),
		    len <= 1024 ? 0 : -1);
		free(text);
	}
	text = repeat("", "9", 1000000, "", &len);
	assert_int_equal(json_check(text, len, &members, &errstr), -1);
	assert_string_equal(errstr, "number too long");
	free(text);
}

int
main(void)
{
	const struct CMUnitTest	 tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_structure),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_round),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_cost),
		cmocka_unit_test(test_number_length)
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
