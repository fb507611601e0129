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

#ifndef JSON_H
#define JSON_H

#include <json-c/json.h>
#include <stddef.h>

/*
 * Request bodies.  json-c builds the tree; what it is lenient about
 * (duplicate keys, lone surrogates, invalid UTF-8, numbers without end) is
 * refused here before and after.
 */

#define JSON_MAXDEPTH	64
#define JSON_MAXCOST	(256UL * 1024 * 1024)	/* bytes of the tree */

struct json_object	*json_decode(const char *, size_t, const char **);
int			 json_check(const char *, size_t, size_t *,
			    const char **);

#endif /* JSON_H */
