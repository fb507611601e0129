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

/*
 * Both functions write at most size - 1 bytes and a NUL, never cut an
 * escape or a character in two, and return the number of bytes written.
 */

/* Lines for people: vis(3) style octal for what a terminal would act on. */
size_t
log_escape_text(char *dst, size_t size, const char *src, size_t len)
{
	char		 esc[8];
	size_t		 i, n, out;
	int		 k;

	if (size == 0)
		return (0);
	for (i = 0, out = 0; i < len; i += n) {
		n = utf8_length(src + i, len - i);
		if (n == 1 && src[i] == '\\')
			k = snprintf(esc, sizeof(esc), "\\\\");
		else if (n == 0 || utf8_is_control(src + i, n)) {
			n = n == 0 ? 1 : n;
			/* A control of two bytes (U+0080-9F) is shown by
			 * its second one, which is its code. */
			k = snprintf(esc, sizeof(esc), "\\%03o",
			    (unsigned char)src[i + n - 1]);
		} else {
			memcpy(esc, src + i, n);
			k = (int)n;
		}
		if (out + (size_t)k >= size)
			break;
		memcpy(dst + out, esc, (size_t)k);
		out += (size_t)k;
	}
	dst[out] = '\0';
	return (out);
}

/* The inside of a JSON string; each invalid byte becomes U+FFFD. */
size_t
log_escape_json(char *dst, size_t size, const char *src, size_t len)
{
	char		 esc[8];
	size_t		 i, n, out;
	int		 k;

	if (size == 0)
		return (0);
	for (i = 0, out = 0; i < len; i += n) {
		n = utf8_length(src + i, len - i);
		if (n == 0) {
			n = 1;
			k = snprintf(esc, sizeof(esc), "\xef\xbf\xbd");
		} else if (n == 1 && (src[i] == '"' || src[i] == '\\'))
			k = snprintf(esc, sizeof(esc), "\\%c", src[i]);
		else if (n == 1 && src[i] == '\n')
			k = snprintf(esc, sizeof(esc), "\\n");
		else if (utf8_is_control(src + i, n))
			k = snprintf(esc, sizeof(esc), "\\u%04x",
			    (unsigned char)src[i + n - 1]);
		else {
			memcpy(esc, src + i, n);
			k = (int)n;
		}
		if (out + (size_t)k >= size)
			break;
		memcpy(dst + out, esc, (size_t)k);
		out += (size_t)k;
	}
	dst[out] = '\0';
	return (out);
}
