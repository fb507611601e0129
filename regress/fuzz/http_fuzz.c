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
 * Any bytes as what a client sends, and any split of them.  The first byte
 * chooses how the rest is cut: what the parser says must not depend on it.
 * A head that is accepted has one meaning: one length, each line of it one
 * field, nothing in a string that a log or another reader could stumble
 * over.
 */

#include <sys/types.h>

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http_parse.h"

#define FUZZ_FIELDS	20

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static size_t	 fuzz_piece(uint32_t *, size_t);
static enum http_scan_result fuzz_scan(const char *, size_t, uint32_t,
		    size_t *);
static enum http_chunk_state fuzz_chunks(const char *, size_t, uint32_t,
		    char *, size_t *, size_t *);
static void	 fuzz_clean(const char *);
static unsigned int fuzz_count(const char *, size_t, const char *);
static int	 fuzz_head(const char *, size_t);
static void	 fuzz_body(const char *, size_t, uint32_t);

/* The length of the next piece; in one piece if there is no seed. */
static size_t
fuzz_piece(uint32_t *seed, size_t left)
{
	if (*seed == 0)
		return (left);
	*seed = *seed * 1103515245 + 12345;
	return (1 + (*seed >> 16) % (left < 7 ? left : 7));
}

static enum http_scan_result
fuzz_scan(const char *p, size_t len, uint32_t seed, size_t *total)
{
	struct http_scan	 sc;
	enum http_scan_result	 result = SCAN_MORE;
	size_t			 n, used;

	*total = 0;
	http_scan_init(&sc);
	while (result == SCAN_MORE && *total < len) {
		n = fuzz_piece(&seed, len - *total);
		result = http_scan(&sc, p + *total, n, &used);
		if (result != SCAN_BAD) {
			if (used > n || (result == SCAN_MORE && used != n))
				abort();
			*total += used;
		}
	}
	return (result);
}

static enum http_chunk_state
fuzz_chunks(const char *p, size_t len, uint32_t seed, char *data,
    size_t *datalen, size_t *total)
{
	struct http_chunks	 ck;
	size_t			 n, off, dlen, used, end;

	*total = *datalen = end = 0;
	http_chunks_init(&ck);
	while (*total < len && ck.ck_state != CHUNK_DONE &&
	    ck.ck_state != CHUNK_BAD) {
		if (*total == end)
			end += fuzz_piece(&seed, len - *total);
		n = end - *total;
		used = http_chunks_feed(&ck, p + *total, n, &off, &dlen);
		if (used > n || off + dlen > used ||
		    (used == 0 && ck.ck_state != CHUNK_BAD))
			abort();
		memcpy(data + *datalen, p + *total + off, dlen);
		*datalen += dlen;
		*total += used;
	}
	return (ck.ck_state);
}

static void
fuzz_clean(const char *s)
{
	for (; *s != '\0'; s++) {
		if (((unsigned char)*s < ' ' && *s != '\t') || *s == 0x7f)
			abort();
	}
}

/* Lines of the head that begin with the name, or all if it is NULL. */
static unsigned int
fuzz_count(const char *p, size_t len, const char *name)
{
	const char	*end = p + len, *eol;
	unsigned int	 n = 0;

	for (; p < end; p = eol + 2) {
		if ((eol = memmem(p, (size_t)(end - p), "\r\n", 2)) == NULL)
			abort();
		if (eol != p && (name == NULL ||
		    ((size_t)(eol - p) >= strlen(name) &&
		    strncasecmp(p, name, strlen(name)) == 0)))
			n++;
	}
	return (n);
}

/* 1 if a chunked body follows. */
static int
fuzz_head(const char *p, size_t len)
{
	struct http_head	 hd;
	const char		*reason;
	char			*buf;
	unsigned int		 i, ncoding, nlength;
	int			 status;

	if ((buf = malloc(len + 1)) == NULL)
		abort();
	memcpy(buf, p, len);
	buf[len] = '\0';
	status = http_head_parse(buf, len, FUZZ_FIELDS, &hd, &reason);
	if (status != 0) {
		if (status != 400 && status != 431 && status != 505)
			abort();
		if (reason == NULL || reason[0] == '\0')
			abort();
		free(buf);
		return (0);
	}
	ncoding = fuzz_count(p, len, "Transfer-Encoding:");
	nlength = fuzz_count(p, len, "Content-Length:");
	if (ncoding + nlength > 1 || (ncoding == 1) != hd.hd_chunked ||
	    (nlength == 1) != hd.hd_has_length ||
	    (!hd.hd_has_length && hd.hd_length != 0) ||
	    (hd.hd_chunked && hd.hd_minor == 0))
		abort();
	if (hd.hd_nfields > FUZZ_FIELDS ||
	    fuzz_count(p, len, NULL) != hd.hd_nfields + 1 ||
	    fuzz_count(p, len, "Host:") > 1)
		abort();
	if (hd.hd_path[0] != '/' || strpbrk(hd.hd_path, " ?#\t") != NULL ||
	    (hd.hd_query != NULL && strpbrk(hd.hd_query, " #\t") != NULL) ||
	    strlen(hd.hd_method_text) > HTTP_MAXMETHOD ||
	    hd.hd_method_text[0] == '\0')
		abort();
	fuzz_clean(hd.hd_method_text);
	fuzz_clean(hd.hd_path);
	for (i = 0; i < hd.hd_nfields; i++) {
		fuzz_clean(hd.hd_fields[i].hf_name);
		fuzz_clean(hd.hd_fields[i].hf_value);
		if (hd.hd_fields[i].hf_name[0] == '\0' ||
		    strpbrk(hd.hd_fields[i].hf_name, " \t:") != NULL ||
		    isblank((unsigned char)hd.hd_fields[i].hf_value[0]))
			abort();
	}
	status = hd.hd_chunked;
	free(buf);
	return (status);
}

static void
fuzz_body(const char *p, size_t len, uint32_t seed)
{
	enum http_chunk_state	 state1, state2;
	char			*data1, *data2;
	size_t			 len1, len2, total1, total2;

	data1 = malloc(len + 1);
	data2 = malloc(len + 1);
	if (data1 == NULL || data2 == NULL)
		abort();
	state1 = fuzz_chunks(p, len, 0, data1, &len1, &total1);
	state2 = fuzz_chunks(p, len, seed, data2, &len2, &total2);
	if (state1 != state2 || len1 != len2 || memcmp(data1, data2, len1) !=
	    0 || (state1 != CHUNK_BAD && total1 != total2))
		abort();
	/* The end is the last thing that was read. */
	if (state1 == CHUNK_DONE && (total1 < 5 || memcmp(p + total1 - 2,
	    "\r\n", 2) != 0))
		abort();
	free(data1);
	free(data2);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	enum http_scan_result	 result;
	char			*buf;
	uint32_t		 seed;
	size_t			 total, total2;

	if (len < 1)
		return (0);
	seed = data[0] * 7919U + 1;
	/* A copy of its own size, so that a read beyond it is seen. */
	len--;
	if ((buf = malloc(len == 0 ? 1 : len)) == NULL)
		abort();
	memcpy(buf, data + 1, len);

	result = fuzz_scan(buf, len, 0, &total);
	if (fuzz_scan(buf, len, seed, &total2) != result ||
	    (result != SCAN_BAD && total != total2))
		abort();
	if (result != SCAN_DONE)
		fuzz_body(buf, len, seed);
	else if (fuzz_head(buf, total))
		fuzz_body(buf + total, len - total, seed);
	free(buf);
	return (0);
}
