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
 * Any bytes as a request body.  What json_check() accepts json-c must
 * accept too, with as many keys unless some are alike; what json_decode()
 * returns must print as a text that gives the same again.
 */

#include <sys/types.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "utf8.h"

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static size_t	 fuzz_members(struct json_object *);
static size_t	 fuzz_strict(const char *, size_t);
static void	 fuzz_again(struct json_object *);
static void	 fuzz_utf8(const char *, size_t);

static size_t
fuzz_members(struct json_object *jo)
{
	size_t	 i, n = 0;

	if (json_object_is_type(jo, json_type_array)) {
		for (i = 0; i < json_object_array_length(jo); i++)
			n += fuzz_members(json_object_array_get_idx(jo, i));
	} else if (json_object_is_type(jo, json_type_object)) {
		json_object_object_foreach(jo, key, value) {
			(void)key;
			n += 1 + fuzz_members(value);
		}
	}
	return (n);
}

/* json-c's own opinion; in an array, so that a number has an end. */
static size_t
fuzz_strict(const char *text, size_t len)
{
	struct json_tokener	*tok;
	struct json_object	*jo;
	char			*buf;
	size_t			 n;

	if ((buf = malloc(len + 2)) == NULL ||
	    (tok = json_tokener_new_ex(JSON_MAXDEPTH + 3)) == NULL)
		abort();
	buf[0] = '[';
	memcpy(buf + 1, text, len);
	buf[len + 1] = ']';
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
	jo = json_tokener_parse_ex(tok, buf, (int)len + 2);
	if (json_tokener_get_error(tok) != json_tokener_success ||
	    json_tokener_get_parse_end(tok) != len + 2 ||
	    json_object_array_length(jo) != 1)
		abort();
	n = fuzz_members(jo);
	json_object_put(jo);
	json_tokener_free(tok);
	free(buf);
	return (n);
}

static void
fuzz_utf8(const char *text, size_t len)
{
	size_t	 i, n;

	for (i = 0; i < len; i += n) {
		if ((n = utf8_length(text + i, len - i)) == 0)
			abort();
	}
}

static void
fuzz_again(struct json_object *jo)
{
	struct json_object	*again;
	const char		*errstr, *first, *second;
	size_t			 firstlen, secondlen;

	first = json_object_to_json_string_length(jo, JSON_C_TO_STRING_PLAIN,
	    &firstlen);
	fuzz_utf8(first, firstlen);
	if ((again = json_decode(first, firstlen, &errstr)) == NULL)
		abort();
	second = json_object_to_json_string_length(again,
	    JSON_C_TO_STRING_PLAIN, &secondlen);
	if (firstlen != secondlen || memcmp(first, second, firstlen) != 0 ||
	    !json_object_equal(jo, again))
		abort();
	json_object_put(again);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct json_object	*jo;
	const char		*errstr = NULL;
	char			*buf;
	size_t			 distinct, members = 0;
	int			 ok;

	/* A copy of its own size, so that a read beyond it is seen. */
	if ((buf = malloc(len == 0 ? 1 : len)) == NULL)
		abort();
	if (len != 0)
		memcpy(buf, data, len);
	ok = json_check(buf, len, &members, &errstr) == 0;
	if (!ok && (errstr == NULL || errstr[0] == '\0'))
		abort();
	jo = json_decode(buf, len, &errstr);
	if (jo == NULL && (errstr == NULL || errstr[0] == '\0'))
		abort();
	if (!ok) {
		if (jo != NULL)
			abort();
	} else {
		fuzz_utf8(buf, len);
		distinct = fuzz_strict(buf, len);
		if (distinct > members)
			abort();
		if (jo != NULL && (distinct != members || errstr != NULL ||
		    !json_object_is_type(jo, json_type_object)))
			abort();
		if (jo == NULL && distinct == members &&
		    strcmp(errstr, "not an object") != 0)
			abort();
	}
	if (jo != NULL)
		fuzz_again(jo);
	json_object_put(jo);
	free(buf);
	return (0);
}
