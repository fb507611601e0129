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

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "log.h"
#include "utf8.h"

#define ESCAPE_MAX	8	/* bytes that one character can become */

static int	 escape_text(char [ESCAPE_MAX], const char *, size_t);
static int	 escape_json(char [ESCAPE_MAX], const char *, size_t);
static size_t	 escape(char *, size_t, const char *, size_t,
		    int (*)(char [ESCAPE_MAX], const char *, size_t));

/*
 * Character by character; n is 0 for a byte that belongs to none.  Writes
 * at most size - 1 bytes and a NUL, never cuts an escape or a character in
 * two, and returns the number of bytes written.
 */
static size_t
escape(char *dst, size_t size, const char *src, size_t len,
    int (*one)(char [ESCAPE_MAX], const char *, size_t))
{
	char	 esc[ESCAPE_MAX];
	size_t	 i, k, n, out;

	if (size == 0)
		return (0);
	for (i = 0, out = 0; i < len; i += n == 0 ? 1 : n) {
		n = utf8_length(src + i, len - i);
		k = (size_t)one(esc, src + i, n);
		if (out + k >= size)
			break;
		memcpy(dst + out, esc, k);
		out += k;
	}
	dst[out] = '\0';
	return (out);
}

static int
escape_text(char esc[ESCAPE_MAX], const char *p, size_t n)
{
	if (n == 1 && *p == '\\')
		return (snprintf(esc, ESCAPE_MAX, "\\\\"));
	/* A control of two bytes is shown by its second, its code. */
	if (n == 0 || utf8_is_control(p, n))
		return (snprintf(esc, ESCAPE_MAX, "\\%03o",
		    (unsigned char)p[n == 0 ? 0 : n - 1]));
	memcpy(esc, p, n);
	return ((int)n);
}

static int
escape_json(char esc[ESCAPE_MAX], const char *p, size_t n)
{
	if (n == 0)
		return (snprintf(esc, ESCAPE_MAX, "\xef\xbf\xbd"));
	if (n == 1 && (*p == '"' || *p == '\\'))
		return (snprintf(esc, ESCAPE_MAX, "\\%c", *p));
	if (n == 1 && *p == '\n')
		return (snprintf(esc, ESCAPE_MAX, "\\n"));
	if (utf8_is_control(p, n))
		return (snprintf(esc, ESCAPE_MAX, "\\u%04x",
		    (unsigned char)p[n - 1]));
	memcpy(esc, p, n);
	return ((int)n);
}

/* Lines for people: vis(3) style octal for what a terminal would act on. */
size_t
log_escape_text(char *dst, size_t size, const char *src, size_t len)
{
	return (escape(dst, size, src, len, escape_text));
}

/* The inside of a JSON string; each invalid byte becomes U+FFFD. */
size_t
log_escape_json(char *dst, size_t size, const char *src, size_t len)
{
	return (escape(dst, size, src, len, escape_json));
}
