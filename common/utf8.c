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

#include "utf8.h"

/*
 * Bytes of the character at s, 0 if it is not well-formed (overlong,
 * surrogate, past U+10FFFF, cut short).
 */
size_t
utf8_length(const char *s, size_t len)
{
	const unsigned char	*p = (const unsigned char *)s;
	size_t			 i, n;
	unsigned char		 lo = 0x80, hi = 0xbf;

	if (len == 0)
		return (0);
	if (p[0] < 0x80)
		return (1);
	if (p[0] >= 0xc2 && p[0] <= 0xdf)
		n = 2;
	else if (p[0] >= 0xe0 && p[0] <= 0xef) {
		n = 3;
		if (p[0] == 0xe0)
			lo = 0xa0;
		else if (p[0] == 0xed)
			hi = 0x9f;
	} else if (p[0] >= 0xf0 && p[0] <= 0xf4) {
		n = 4;
		if (p[0] == 0xf0)
			lo = 0x90;
		else if (p[0] == 0xf4)
			hi = 0x8f;
	} else
		return (0);

	if (len < n || p[1] < lo || p[1] > hi)
		return (0);
	for (i = 2; i < n; i++) {
		if (p[i] < 0x80 || p[i] > 0xbf)
			return (0);
	}
	return (n);
}

/* C0, DEL and C1: what a terminal may act on. */
int
utf8_is_control(const char *s, size_t n)
{
	const unsigned char	*p = (const unsigned char *)s;

	if (n == 1)
		return (p[0] < 0x20 || p[0] == 0x7f);
	return (n == 2 && p[0] == 0xc2 && p[1] < 0xa0);
}
