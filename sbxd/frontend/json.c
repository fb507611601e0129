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

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "utf8.h"

#define JSON_MAXNUMBER	1024	/* digits; more is not a number */

/*
 * Bytes that json-c allocates, beside the texts: "[{},{},..." would make
 * gigabytes of a few megabytes.
 */
#define JSON_COST_OBJECT	800
#define JSON_COST_ARRAY		160
#define JSON_COST_SCALAR	104
#define JSON_COST_MEMBER	112

/* Where the text is being read. */
struct json_scan {
	const char	*js_p;
	const char	*js_end;
	const char	*js_error;
	size_t		 js_members;	/* keys of all objects */
	size_t		 js_cost;
	int		 js_nul;	/* the last string has a \u0000 */
	unsigned int	 js_depth;
	uint64_t	 js_object;	/* bit n: level n is an object */
};

static int	json_scan_value(struct json_scan *);
static int	json_scan_string(struct json_scan *);
static int	json_scan_number(struct json_scan *);
static size_t	json_members(struct json_object *);

static int
json_fail(struct json_scan *js, const char *error)
{
	js->js_error = error;
	return (-1);
}

static void
json_skip(struct json_scan *js)
{
	while (js->js_p < js->js_end && (*js->js_p == ' ' ||
	    *js->js_p == '\t' || *js->js_p == '\n' || *js->js_p == '\r'))
		js->js_p++;
}

static int
json_peek(const struct json_scan *js)
{
	return (js->js_p < js->js_end ? (unsigned char)*js->js_p : -1);
}

/* Four hex digits behind \u, or -1. */
static long
json_hex4(struct json_scan *js)
{
	long	 v = 0;
	int	 i, c;

	if (js->js_end - js->js_p < 4)
		return (-1);
	for (i = 0; i < 4; i++) {
		c = (unsigned char)*js->js_p++;
		if (!isxdigit(c))
			return (-1);
		v = v << 4 | (isdigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
	}
	return (v);
}

static int
json_scan_escape(struct json_scan *js)
{
	long	 hi, lo;
	int	 c;

	if ((c = json_peek(js)) == -1)
		return (json_fail(js, "the text ends inside a string"));
	js->js_p++;
	if (c != 'u') {
		if (strchr("\"\\/bfnrt", c) == NULL || c == '\0')
			return (json_fail(js, "unknown escape in a string"));
		return (0);
	}
	if ((hi = json_hex4(js)) == -1)
		return (json_fail(js, "\\u without four hex digits"));
	if (hi == 0)
		js->js_nul = 1;
	if (hi >= 0xdc00 && hi <= 0xdfff)
		return (json_fail(js, "lone surrogate in a string"));
	if (hi < 0xd800 || hi > 0xdbff)
		return (0);
	if (js->js_end - js->js_p < 2 || js->js_p[0] != '\\' ||
	    js->js_p[1] != 'u')
		return (json_fail(js, "lone surrogate in a string"));
	js->js_p += 2;
	lo = json_hex4(js);
	if (lo < 0xdc00 || lo > 0xdfff)
		return (json_fail(js, "lone surrogate in a string"));
	return (0);
}

static int
json_scan_string(struct json_scan *js)
{
	size_t	 n;
	int	 c;

	js->js_p++;
	js->js_nul = 0;
	while ((c = json_peek(js)) != '"') {
		if (c == -1)
			return (json_fail(js,
			    "the text ends inside a string"));
		if (c < 0x20)
			return (json_fail(js,
			    "control character in a string"));
		if (c == '\\') {
			js->js_p++;
			if (json_scan_escape(js) == -1)
				return (-1);
			continue;
		}
		if (c < 0x80) {
			js->js_p++;
			continue;
		}
		n = utf8_length(js->js_p, (size_t)(js->js_end - js->js_p));
		if (n == 0)
			return (json_fail(js, "invalid UTF-8 in a string"));
		js->js_p += n;
	}
	js->js_p++;
	return (0);
}

static int
json_scan_digits(struct json_scan *js)
{
	const char	*start = js->js_p;

	while (js->js_p < js->js_end && isdigit((unsigned char)*js->js_p))
		js->js_p++;
	return (js->js_p > start ? 0 : json_fail(js, "malformed number"));
}

/* json-c would take the nearest that fits, or infinity. */
static int
json_number_fits(const char *p, size_t len, int integer)
{
	char	 text[JSON_MAXNUMBER + 1];

	memcpy(text, p, len);
	text[len] = '\0';
	errno = 0;
	if (!integer)
		return (isfinite(strtod(text, NULL)));
	if (text[0] == '-')
		(void)strtoll(text, NULL, 10);
	else
		(void)strtoull(text, NULL, 10);
	return (errno == 0);
}

static int
json_scan_number(struct json_scan *js)
{
	const char	*start = js->js_p;
	size_t		 len;
	int		 integer = 1;

	if (json_peek(js) == '-')
		js->js_p++;
	if (json_peek(js) == '0')
		js->js_p++;
	else if (json_scan_digits(js) == -1)
		return (-1);
	if (json_peek(js) == '.') {
		integer = 0;
		js->js_p++;
		if (json_scan_digits(js) == -1)
			return (-1);
	}
	if (json_peek(js) == 'e' || json_peek(js) == 'E') {
		integer = 0;
		js->js_p++;
		if (json_peek(js) == '+' || json_peek(js) == '-')
			js->js_p++;
		if (json_scan_digits(js) == -1)
			return (-1);
	}
	len = (size_t)(js->js_p - start);
	if (len > JSON_MAXNUMBER)
		return (json_fail(js, "number too long"));
	if (!json_number_fits(start, len, integer))
		return (json_fail(js, "number out of range"));
	return (0);
}

static int
json_scan_word(struct json_scan *js, const char *word)
{
	size_t	 len = strlen(word);

	if ((size_t)(js->js_end - js->js_p) < len ||
	    memcmp(js->js_p, word, len) != 0)
		return (json_fail(js, "a value was expected"));
	js->js_p += len;
	return (0);
}

static int
json_scan_key(struct json_scan *js)
{
	json_skip(js);
	if (json_peek(js) != '"')
		return (json_fail(js, "a key in quotes was expected"));
	if (json_scan_string(js) == -1)
		return (-1);
	/* To json-c a key ends there, and may become another's. */
	if (js->js_nul)
		return (json_fail(js, "NUL in a key"));
	js->js_members++;
	js->js_cost += JSON_COST_MEMBER;
	json_skip(js);
	if (json_peek(js) != ':')
		return (json_fail(js, "a colon was expected"));
	js->js_p++;
	return (0);
}

/* 0: a whole value, 1: an object or array has been opened. */
static int
json_scan_value(struct json_scan *js)
{
	int	 c, object;

	json_skip(js);
	c = json_peek(js);
	js->js_cost += c == '{' ? JSON_COST_OBJECT : c == '[' ?
	    JSON_COST_ARRAY : JSON_COST_SCALAR;
	if (js->js_cost > JSON_MAXCOST)
		return (json_fail(js, "too many values"));
	switch (c) {
	case '{':
	case '[':
		object = c == '{';
		if (js->js_depth >= JSON_MAXDEPTH)
			return (json_fail(js, "nested too deeply"));
		js->js_p++;
		json_skip(js);
		if (json_peek(js) == (object ? '}' : ']')) {
			js->js_p++;
			return (0);
		}
		js->js_object &= ~(1ULL << js->js_depth);
		js->js_object |= (uint64_t)object << js->js_depth;
		js->js_depth++;
		if (object && json_scan_key(js) == -1)
			return (-1);
		return (1);
	case '"':
		return (json_scan_string(js));
	case 't':
		return (json_scan_word(js, "true"));
	case 'f':
		return (json_scan_word(js, "false"));
	case 'n':
		return (json_scan_word(js, "null"));
	default:
		if (c == '-' || isdigit(c))
			return (json_scan_number(js));
		return (json_fail(js, "a value was expected"));
	}
}

/* Behind a value: a comma, or the end of what it stands in. */
static int
json_scan_after(struct json_scan *js)
{
	int	 c, object;

	while (js->js_depth > 0) {
		object = (js->js_object >> (js->js_depth - 1)) & 1;
		json_skip(js);
		c = json_peek(js);
		if (c == ',') {
			js->js_p++;
			return (object ? json_scan_key(js) : 0);
		}
		if (c != (object ? '}' : ']'))
			return (json_fail(js, "a comma or the end of the "
			    "object or array was expected"));
		js->js_p++;
		js->js_depth--;
	}
	return (0);
}

/* One value and nothing but blanks around it; counts its keys. */
int
json_check(const char *text, size_t len, size_t *members,
    const char **errstr)
{
	struct json_scan	 js;
	int			 opened;

	memset(&js, 0, sizeof(js));
	js.js_p = text;
	js.js_end = text + len;
	do {
		if ((opened = json_scan_value(&js)) == -1 ||
		    (!opened && json_scan_after(&js) == -1)) {
			*errstr = js.js_error;
			return (-1);
		}
	} while (js.js_depth > 0);
	json_skip(&js);
	if (js.js_p != js.js_end) {
		*errstr = "something follows the value";
		return (-1);
	}
	*members = js.js_members;
	return (0);
}

/* Recursion is bounded by JSON_MAXDEPTH. */
static size_t
json_members(struct json_object *jo)
{
	struct json_object_iterator	 it, end;
	size_t				 i, n = 0;

	switch (json_object_get_type(jo)) {
	case json_type_object:
		n = (size_t)json_object_object_length(jo);
		it = json_object_iter_begin(jo);
		end = json_object_iter_end(jo);
		for (; !json_object_iter_equal(&it, &end);
		    json_object_iter_next(&it))
			n += json_members(json_object_iter_peek_value(&it));
		break;
	case json_type_array:
		for (i = 0; i < json_object_array_length(jo); i++)
			n += json_members(json_object_array_get_idx(jo, i));
		break;
	default:
		break;
	}
	return (n);
}

/* The object in a request body, or NULL and what is wrong with it. */
struct json_object *
json_decode(const char *text, size_t len, const char **errstr)
{
	struct json_tokener	*tok;
	struct json_object	*jo;
	size_t			 members;

	if (json_check(text, len, &members, errstr) == -1)
		return (NULL);
	*errstr = "out of memory";
	if (len > INT_MAX || (tok = json_tokener_new_ex(JSON_MAXDEPTH + 2)) ==
	    NULL)
		return (NULL);
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
	jo = json_tokener_parse_ex(tok, text, (int)len);
	json_tokener_free(tok);
	if (json_object_get_type(jo) != json_type_object)
		*errstr = "not an object";
	/* json-c keeps the last of two alike: then some are missing. */
	else if (json_members(jo) != members)
		*errstr = "a key is given twice";
	else {
		*errstr = NULL;
		return (jo);
	}
	json_object_put(jo);
	return (NULL);
}
