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
#include "http_parse.h"

#define S(s)		(s), sizeof(s) - 1
#define HOST		"Host: x\r\n"
#define GET(fields)	S("GET / HTTP/1.1\r\n" HOST fields "\r\n")

#define SCANBAD		(-1)	/* the scanner refuses it */
#define SCANMORE	(-2)	/* the scanner wants more */

/* A head and the status that it must get; 0: it is accepted. */
struct head_case {
	const char	*hc_text;
	size_t		 hc_len;
	int		 hc_status;
};

/* A head that is accepted and how its message is framed. */
struct frame_case {
	const char	*fc_text;
	size_t		 fc_len;
	int		 fc_close;
	int		 fc_chunked;
	int		 fc_has_length;
	uint64_t	 fc_length;
	enum http_expect fc_expect;
};

/* A chunked body: its data, or NULL if it is refused, and what is left. */
struct chunk_case {
	const char	*cc_text;
	size_t		 cc_len;
	const char	*cc_data;
	size_t		 cc_rest;
};

static const struct head_case cases_scan[] = {
	{ S(""), SCANMORE },
	{ S("G"), SCANMORE },
	{ S("GET / HTTP/1.1\r\n"), SCANMORE },
	{ S("GET / HTTP/1.1\r\n" HOST "\r"), SCANMORE },
	{ S("\r\n"), SCANMORE },
	{ S("\r\n\r\n"), SCANMORE },
	{ S("\r\n\r\nGET / HTTP/1.1\r\n" HOST "\r\n"), 0 },
	{ S("\r\n\r\n\r\n"), SCANBAD },
	{ S("\n"), SCANBAD },
	{ S("GET / HTTP/1.1\n"), SCANBAD },
	{ S("GET / HTTP/1.1\r\n" HOST "\n"), SCANBAD },
	{ S("GET / HTTP/1.1\r\r\n"), SCANBAD },
	{ S("GET / HTTP/1.1\rHost: x\r\n"), SCANBAD },
	{ S("GET /\0 HTTP/1.1\r\n"), SCANBAD },
	{ S("GET / HTTP/1.1\r\nA\0: x\r\n"), SCANBAD },
	{ S("GET / HTTP/1.1\r\nA: \001\r\n"), SCANBAD },
	{ S("GET / HTTP/1.1\r\nA: \013\r\n"), SCANBAD },
	{ S("GET / HTTP/1.1\r\nA: \033[31m\r\n"), SCANBAD },
	{ S("GET / HTTP/1.1\r\nA: \177\r\n"), SCANBAD },
	{ GET("A: \t\xc3\xa4\x80\xff~\r\n"), 0 },
};

static const struct head_case cases_line[] = {
	{ GET(""), 0 },
	{ S("HEAD / HTTP/1.0\r\n\r\n"), 0 },
	{ S("FROB / HTTP/1.1\r\n" HOST "\r\n"), 0 },
	{ S("!#$%&'*+-.^_`|~x / HTTP/1.1\r\n" HOST "\r\n"), 0 },
	{ S("ABCDEFGHIJKLMNOP / HTTP/1.1\r\n" HOST "\r\n"), 0 },
	{ S("ABCDEFGHIJKLMNOPQ / HTTP/1.1\r\n" HOST "\r\n"), 400 },
	{ S("GET / HTTP/1.2\r\n" HOST "\r\n"), 0 },
	{ S("GET / HTTP/1.9\r\n" HOST "\r\n"), 0 },
	{ S(" / HTTP/1.1\r\n\r\n"), 400 },
	{ S(" GET / HTTP/1.1\r\n\r\n"), 400 },
	{ S("GET\r\n\r\n"), 400 },
	{ S("GET \r\n\r\n"), 400 },
	{ S("GET /\r\n\r\n"), 400 },
	{ S("GET / \r\n\r\n"), 400 },
	{ S("GET\t/ HTTP/1.1\r\n\r\n"), 400 },
	{ S("GET  / HTTP/1.1\r\n\r\n"), 400 },
	{ S("GET /  HTTP/1.1\r\n\r\n"), 400 },
	{ S("GET /\tHTTP/1.1\r\n\r\n"), 400 },
	{ S("GET / HTTP/1.1 \r\n\r\n"), 400 },
	{ S("GET / HTTP/1.1x\r\n\r\n"), 400 },
	{ S("GET / HTTP/1.10\r\n\r\n"), 400 },
	{ S("GET / HTTP/11\r\n\r\n"), 400 },
	{ S("GET / HTTP/1\r\n\r\n"), 400 },
	{ S("GET / HTTP/1.\r\n\r\n"), 400 },
	{ S("GET / HTTP/x.1\r\n\r\n"), 400 },
	{ S("GET / http/1.1\r\n\r\n"), 400 },
	{ S("GET / HTTPS/1.1\r\n\r\n"), 400 },
	{ S("GET / HTTP/0.9\r\n\r\n"), 505 },
	{ S("GET / HTTP/2.0\r\n\r\n"), 505 },
	{ S("GET x HTTP/1.1\r\n\r\n"), 400 },
	{ S("GET * HTTP/1.1\r\n\r\n"), 400 },
	{ S("PRI * HTTP/2.0\r\n\r\n"), 400 },
	{ S("GET http://x/ HTTP/1.1\r\n\r\n"), 400 },
	{ S("CONNECT x:80 HTTP/1.1\r\n\r\n"), 400 },
	{ S("GET /#a HTTP/1.1\r\n\r\n"), 400 },
	{ S("GET /\xc3\xa4 HTTP/1.1\r\n\r\n"), 400 },
	{ S("GE(T / HTTP/1.1\r\n\r\n"), 400 },
	{ S("GE\xc3\xa4 / HTTP/1.1\r\n\r\n"), 400 },
};

static const struct head_case cases_field[] = {
	{ GET("A:\r\n"), 0 },
	{ GET("A:b\r\n"), 0 },
	{ GET("A: \t \r\n"), 0 },
	{ GET("A:::\r\n"), 0 },
	{ GET(": x\r\n"), 400 },
	{ GET("A : x\r\n"), 400 },
	{ GET("A\t: x\r\n"), 400 },
	{ GET("A\r\n"), 400 },
	{ GET("A B: x\r\n"), 400 },
	{ GET("A(: x\r\n"), 400 },
	{ GET("\xc3\xa4: x\r\n"), 400 },
	{ GET("A: x\r\n y\r\n"), 400 },
	{ GET("A: x\r\n\ty\r\n"), 400 },
	{ S("GET / HTTP/1.1\r\n " HOST "\r\n"), 400 },
	{ S("GET / HTTP/1.1\r\n\r\n"), 400 },
	{ S("GET / HTTP/1.0\r\n\r\n"), 0 },
	{ GET(HOST), 400 },
	{ S("GET / HTTP/1.0\r\n" HOST HOST "\r\n"), 400 },
	{ S("GET / HTTP/1.1\r\nHost:\r\n\r\n"), 0 },
};

static const struct head_case cases_framing[] = {
	{ GET("Content-Length: 5\r\nContent-Length: 5\r\n"), 400 },
	{ GET("Content-Length: 5\r\ncontent-length: 6\r\n"), 400 },
	{ GET("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), 400 },
	{ GET("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n"), 400 },
	{ GET("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
	    400 },
	{ GET("Content-Length:\r\n"), 400 },
	{ GET("Content-Length: \t\r\n"), 400 },
	{ GET("Content-Length: +5\r\n"), 400 },
	{ GET("Content-Length: -1\r\n"), 400 },
	{ GET("Content-Length: 0x10\r\n"), 400 },
	{ GET("Content-Length: 5 5\r\n"), 400 },
	{ GET("Content-Length: 5, 5\r\n"), 400 },
	{ GET("Content-Length: 5.0\r\n"), 400 },
	{ GET("Content-Length: 1e3\r\n"), 400 },
	{ GET("Content-Length: \xd9\xa5\r\n"), 400 },
	{ GET("Content-Length: 9223372036854775808\r\n"), 400 },
	{ GET("Content-Length: 18446744073709551616\r\n"), 400 },
	{ GET("Content-Length: 0000000000000000005\r\n"), 400 },
	{ GET("Content-Length: 100000000000000000000000000000\r\n"), 400 },
	{ GET("Transfer-Encoding:\r\n"), 400 },
	{ GET("Transfer-Encoding: identity\r\n"), 400 },
	{ GET("Transfer-Encoding: chunked, identity\r\n"), 400 },
	{ GET("Transfer-Encoding: gzip, chunked\r\n"), 400 },
	{ GET("Transfer-Encoding: chunked, chunked\r\n"), 400 },
	{ GET("Transfer-Encoding: xchunked\r\n"), 400 },
	{ GET("Transfer-Encoding: chunkedx\r\n"), 400 },
	{ GET("Transfer-Encoding: \"chunked\"\r\n"), 400 },
	{ GET("Transfer-Encoding: chunked;q=1\r\n"), 400 },
	{ S("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400 },
};

static const struct frame_case cases_accepted[] = {
	{ GET(""), 0, 0, 0, 0, EXPECT_NONE },
	{ GET("Content-Length: 0\r\n"), 0, 0, 1, 0, EXPECT_NONE },
	{ GET("content-LENGTH:\t 007 \r\n"), 0, 0, 1, 7, EXPECT_NONE },
	{ GET("Content-Length: 999999999999999999\r\n"), 0, 0, 1,
	    999999999999999999, EXPECT_NONE },
	{ GET("Transfer-Encoding: chunked\r\n"), 0, 1, 0, 0, EXPECT_NONE },
	{ GET("TRANSFER-encoding: Chunked\t\r\n"), 0, 1, 0, 0, EXPECT_NONE },
	{ GET("X-Content-Length: 5\r\n"), 0, 0, 0, 0, EXPECT_NONE },
	{ GET("Connection: close\r\n"), 1, 0, 0, 0, EXPECT_NONE },
	{ GET("Connection: foo, CLOSE \r\n"), 1, 0, 0, 0, EXPECT_NONE },
	{ GET("Connection: ,close,\r\n"), 1, 0, 0, 0, EXPECT_NONE },
	{ GET("Connection: close\t, keep-alive\r\n"), 1, 0, 0, 0,
	    EXPECT_NONE },
	{ GET("Connection: closed, aclose, clos e\r\n"), 0, 0, 0, 0,
	    EXPECT_NONE },
	{ GET("Connection:\r\n"), 0, 0, 0, 0, EXPECT_NONE },
	{ GET("Connection: a\r\nConnection: b\r\n"), 1, 0, 0, 0,
	    EXPECT_NONE },
	{ GET("Connection: keep-alive\r\nConnection: keep-alive\r\n"), 1, 0,
	    0, 0, EXPECT_NONE },
	{ S("GET / HTTP/1.0\r\n\r\n"), 1, 0, 0, 0, EXPECT_NONE },
	{ S("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"), 0, 0, 0, 0,
	    EXPECT_NONE },
	{ S("GET / HTTP/1.0\r\nConnection: x\r\n\r\n"), 1, 0, 0, 0,
	    EXPECT_NONE },
	{ GET("Expect: 100-Continue\r\n"), 0, 0, 0, 0, EXPECT_CONTINUE },
	{ GET("Expect: 100-continue, x\r\n"), 0, 0, 0, 0, EXPECT_UNKNOWN },
	{ GET("Expect:\r\n"), 0, 0, 0, 0, EXPECT_UNKNOWN },
	{ GET("Expect: 100-continue\r\nExpect: 100-continue\r\n"), 0, 0, 0,
	    0, EXPECT_UNKNOWN },
	{ S("GET / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n"), 1, 0, 0, 0,
	    EXPECT_NONE },
	{ GET("Upgrade: h2c\r\nConnection: Upgrade\r\n"), 0, 0, 0, 0,
	    EXPECT_NONE },
};

#define LINE_120 \
	"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" \
	"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

static const struct chunk_case cases_chunks[] = {
	{ S("0\r\n\r\n"), "", 0 },
	{ S("000000000000000\r\n\r\n"), "", 0 },
	{ S("5\r\nhello\r\n0\r\n\r\n"), "hello", 0 },
	{ S("5\r\nhello\r\n0\r\n\r\nGET /"), "hello", 5 },
	{ S("1\r\na\r\n00002\r\nbc\r\nA\r\n0123456789\r\n0\r\n\r\n"),
	    "abc0123456789", 0 },
	{ S("a\r\n0123456789\r\n0\r\n\r\n"), "0123456789", 0 },
	{ S("2;x\r\n\r\n\r\n0;y=\"z\"\r\n\r\n"), "\r\n", 0 },
	{ S("1;\t\xc3\xa4;\r\na\r\n0\r\n\r\n"), "a", 0 },
	{ S("0\r\nA: b\r\n\r\n"), "", 0 },
	{ S("0\r\nContent-Length: 5\r\nHost: y\r\n\r\nxxxxx"), "", 5 },
	{ S("0;12345" LINE_120 "\r\n\r\n"), "", 0 },
	{ S("0;123456" LINE_120 "\r\n\r\n"), NULL, 0 },
	{ S("\r\n"), NULL, 0 },
	{ S(" 5\r\nhello\r\n0\r\n\r\n"), NULL, 0 },
	{ S("5 \r\nhello\r\n0\r\n\r\n"), NULL, 0 },
	{ S("5\t;x\r\nhello\r\n0\r\n\r\n"), NULL, 0 },
	{ S(";x\r\n"), NULL, 0 },
	{ S("-5\r\n"), NULL, 0 },
	{ S("+5\r\n"), NULL, 0 },
	{ S("0x5\r\n"), NULL, 0 },
	{ S("g\r\n"), NULL, 0 },
	{ S("5,5\r\n"), NULL, 0 },
	{ S("5\nhello\r\n0\r\n\r\n"), NULL, 0 },
	{ S("5\rhello\r\n0\r\n\r\n"), NULL, 0 },
	{ S("5\r\r\nhello"), NULL, 0 },
	{ S("5\r\nhelloX0\r\n\r\n"), NULL, 0 },
	{ S("5\r\nhelloX\n0\r\n\r\n"), NULL, 0 },
	{ S("5\r\nhello\n0\r\n\r\n"), NULL, 0 },
	{ S("5\r\nhello\rX"), NULL, 0 },
	{ S("5\r\nhello0\r\n\r\n"), NULL, 0 },
	{ S("1;a\001b\r\n"), NULL, 0 },
	{ S("1;a\0b\r\n"), NULL, 0 },
	{ S("1;a\177b\r\n"), NULL, 0 },
	{ S("1;a\nb\r\n"), NULL, 0 },
	{ S("1000000000000000\r\n"), NULL, 0 },
	{ S("0000000000000000\r\n"), NULL, 0 },
	{ S("ffffffffffffffff1\r\n"), NULL, 0 },
	{ S("0\r\n\n"), NULL, 0 },
	{ S("0\r\n\rX"), NULL, 0 },
	{ S("0\r\nA: \001\r\n\r\n"), NULL, 0 },
	{ S("0\r\nA: b\n\r\n"), NULL, 0 },
};

static int	 head_run(const struct head_case *, size_t,
		    struct http_head *, char **);
static void	 head_check(const struct head_case *, size_t);
static int	 chunks_run(const char *, size_t, size_t, size_t, char *,
		    size_t *, size_t *);

/*
 * The status of a head whose first bytes come alone.  The strings of the
 * result lie in *buf.
 */
static int
head_run(const struct head_case *hc, size_t split, struct http_head *hd,
    char **buf)
{
	struct http_scan	 sc;
	enum http_scan_result	 result;
	const char		*reason = NULL;
	size_t			 used = 0, total;
	int			 status;

	*buf = NULL;
	http_scan_init(&sc);
	result = http_scan(&sc, hc->hc_text, split, &used);
	total = used;
	if (result == SCAN_MORE) {
		assert_int_equal(used, split);
		result = http_scan(&sc, hc->hc_text + split,
		    hc->hc_len - split, &used);
		total += used;
	}
	if (result == SCAN_BAD)
		return (SCANBAD);
	assert_int_equal(total, hc->hc_len);
	if (result == SCAN_MORE)
		return (SCANMORE);
	assert_non_null(*buf = malloc(total + 1));
	memcpy(*buf, hc->hc_text, total);
	(*buf)[total] = '\0';
	status = http_head_parse(*buf, total, 100, hd, &reason);
	if (status != 0)
		assert_non_null(reason);
	return (status);
}

static void
head_check(const struct head_case *cases, size_t n)
{
	struct http_head	 hd;
	char			*buf;
	size_t			 i, split;
	int			 status;

	for (i = 0; i < n; i++) {
		for (split = 0; split <= cases[i].hc_len; split++) {
			status = head_run(&cases[i], split, &hd, &buf);
			free(buf);
			if (status != cases[i].hc_status)
				fail_msg("case %zu, split at %zu: %d, not "
				    "%d: %s", i, split, status,
				    cases[i].hc_status, cases[i].hc_text);
		}
	}
}

static void
test_scan(void **state __unused)
{
	head_check(cases_scan, nitems(cases_scan));
}

static void
test_line(void **state __unused)
{
	head_check(cases_line, nitems(cases_line));
}

static void
test_field(void **state __unused)
{
	head_check(cases_field, nitems(cases_field));
}

static void
test_framing(void **state __unused)
{
	head_check(cases_framing, nitems(cases_framing));
}

static void
test_accepted(void **state __unused)
{
	const struct frame_case	*fc;
	struct head_case	 hc;
	struct http_head	 hd;
	char			*buf;
	size_t			 i;

	for (i = 0; i < nitems(cases_accepted); i++) {
		fc = &cases_accepted[i];
		hc.hc_text = fc->fc_text;
		hc.hc_len = fc->fc_len;
		if (head_run(&hc, 0, &hd, &buf) != 0 ||
		    hd.hd_close != fc->fc_close ||
		    hd.hd_chunked != fc->fc_chunked ||
		    hd.hd_has_length != fc->fc_has_length ||
		    hd.hd_length != fc->fc_length ||
		    hd.hd_expect != fc->fc_expect)
			fail_msg("case %zu: %s", i, fc->fc_text);
		free(buf);
	}
}

/* The parts of a head, and that a second one behind it is not touched. */
static void
test_parts(void **state __unused)
{
	static const char	 text[] = "\r\nPUT /a%20b?c=d?e HTTP/1.1\r\n"
				    "Host: x \r\nA: 1\r\na:\t2 3 \t\r\nE:\r\n"
				    "\r\n";
	struct head_case	 hc = { S(text), 0 };
	struct http_head	 hd;
	struct http_scan	 sc;
	char			*buf, two[sizeof(text) * 2];
	unsigned int		 count;
	size_t			 used;

	assert_int_equal(head_run(&hc, 7, &hd, &buf), 0);
	assert_int_equal(hd.hd_method, HTTP_PUT);
	assert_string_equal(hd.hd_method_text, "PUT");
	assert_string_equal(hd.hd_path, "/a%20b");
	assert_string_equal(hd.hd_query, "c=d?e");
	assert_int_equal(hd.hd_minor, 1);
	assert_int_equal(hd.hd_nfields, 4);
	assert_string_equal(http_field(&hd, "HOST", &count), "x");
	assert_int_equal(count, 1);
	assert_string_equal(http_field(&hd, "A", &count), "1");
	assert_int_equal(count, 2);
	assert_string_equal(hd.hd_fields[2].hf_value, "2 3");
	assert_string_equal(http_field(&hd, "e", NULL), "");
	assert_null(http_field(&hd, "Hos", &count));
	assert_int_equal(count, 0);
	free(buf);

	(void)snprintf(two, sizeof(two), "%s%s", text, text);
	http_scan_init(&sc);
	assert_int_equal(http_scan(&sc, two, strlen(two), &used), SCAN_DONE);
	assert_int_equal(used, strlen(text));
}

static void
test_methods(void **state __unused)
{
	static const struct {
		const char		*name;
		enum http_method	 method;
	} methods[] = {
		{ "GET", HTTP_GET }, { "HEAD", HTTP_HEAD },
		{ "POST", HTTP_POST }, { "PUT", HTTP_PUT },
		{ "DELETE", HTTP_DELETE }, { "get", HTTP_OTHER },
		{ "GETX", HTTP_OTHER }, { "G", HTTP_OTHER },
	};
	struct head_case	 hc;
	struct http_head	 hd;
	char			 text[64], *buf;
	size_t			 i;

	for (i = 0; i < nitems(methods); i++) {
		hc.hc_len = (size_t)snprintf(text, sizeof(text),
		    "%s / HTTP/1.0\r\n\r\n", methods[i].name);
		hc.hc_text = text;
		assert_int_equal(head_run(&hc, 0, &hd, &buf), 0);
		assert_int_equal(hd.hd_method, methods[i].method);
		assert_null(hd.hd_query);
		free(buf);
	}
}

/* As many fields as are allowed, and one more. */
static void
test_count(void **state __unused)
{
	static const unsigned int maxima[] = { 8, 100, HTTP_MAXFIELDS, 5000 };
	struct http_head	 hd;
	const char		*reason;
	char			*text;
	unsigned int		 i, j, n, extra;
	size_t			 len, size = 8192;
	int			 status;

	assert_non_null(text = malloc(size));
	for (i = 0; i < nitems(maxima); i++) {
		n = maxima[i] < HTTP_MAXFIELDS ? maxima[i] : HTTP_MAXFIELDS;
		for (extra = 0; extra < 2; extra++) {
			len = (size_t)snprintf(text, size,
			    "GET / HTTP/1.1\r\n" HOST);
			for (j = 1; j < n + extra; j++)
				len += (size_t)snprintf(text + len,
				    size - len, "A: %u\r\n", j);
			len += (size_t)snprintf(text + len, size - len,
			    "\r\n");
			status = http_head_parse(text, len, maxima[i], &hd,
			    &reason);
			assert_int_equal(status, extra ? 431 : 0);
			assert_int_equal(hd.hd_nfields, n);
		}
	}
	free(text);
}

/* Without a line end it is no head, whoever calls. */
static void
test_no_line(void **state __unused)
{
	struct http_head	 hd;
	const char		*reason;
	char			 a[] = "GET / HTTP/1.1";
	char			 b[] = "GET / HTTP/1.1\r\nA: b";

	assert_int_equal(http_head_parse(a, strlen(a), 8, &hd, &reason), 400);
	assert_int_equal(http_head_parse(b, strlen(b), 8, &hd, &reason), 400);
}

/*
 * Feeds the bytes up to one split, up to another, and the rest.  1: the
 * body is whole, 0: it wants more, -1: it is refused.
 */
static int
chunks_run(const char *p, size_t len, size_t split1, size_t split2,
    char *data, size_t *datalen, size_t *used)
{
	struct http_chunks	 ck;
	size_t			 ends[3], off, n, i, took;

	ends[0] = split1;
	ends[1] = split2;
	ends[2] = len;
	*used = *datalen = 0;
	http_chunks_init(&ck);
	for (i = 0; i < nitems(ends); i++) {
		while (*used < ends[i] && ck.ck_state != CHUNK_DONE &&
		    ck.ck_state != CHUNK_BAD) {
			took = http_chunks_feed(&ck, p + *used,
			    ends[i] - *used, &off, &n);
			assert_true(off + n <= took);
			assert_true(took <= ends[i] - *used);
			memcpy(data + *datalen, p + *used + off, n);
			*datalen += n;
			*used += took;
		}
	}
	return (ck.ck_state == CHUNK_DONE ? 1 :
	    ck.ck_state == CHUNK_BAD ? -1 : 0);
}

static void
test_chunks(void **state __unused)
{
	const struct chunk_case	*cc;
	char			 data[512];
	size_t			 i, a, b, n, used;
	int			 rv;

	for (i = 0; i < nitems(cases_chunks); i++) {
		cc = &cases_chunks[i];
		for (a = 0; a <= cc->cc_len; a++) {
			for (b = a; b <= cc->cc_len; b++) {
				rv = chunks_run(cc->cc_text, cc->cc_len, a, b,
				    data, &n, &used);
				if (rv == (cc->cc_data != NULL ? 1 : -1) &&
				    (rv == -1 || (used == cc->cc_len -
				    cc->cc_rest && n == strlen(cc->cc_data) &&
				    memcmp(data, cc->cc_data, n) == 0)))
					continue;
				fail_msg("case %zu, split at %zu and %zu: "
				    "%d: %s", i, a, b, rv, cc->cc_text);
			}
		}
	}
}

/* No beginning of a body is a whole one. */
static void
test_chunks_cut(void **state __unused)
{
	static const char	 text[] = "3;e\r\nabc\r\n0\r\nT: u\r\n\r\n";
	char			 data[sizeof(text)];
	size_t			 len, n, used;

	for (len = 0; len < sizeof(text) - 1; len++)
		assert_int_equal(chunks_run(text, len, 0, 0, data, &n, &used),
		    0);
	assert_int_equal(chunks_run(text, len, 0, 0, data, &n, &used), 1);
}

static void
test_chunks_trailer(void **state __unused)
{
	char	*text, *data;
	size_t	 len, n, used, size = HTTP_MAXTRAILER + 64;

	assert_non_null(text = malloc(size));
	assert_non_null(data = malloc(size));
	for (len = HTTP_MAXTRAILER - 2; len < HTTP_MAXTRAILER + 3; len++) {
		memcpy(text, "0\r\nA:", 5);
		memset(text + 5, 'x', len - 6);
		memcpy(text + 3 + len - 4, "\r\n\r\n", 4);
		assert_int_equal(chunks_run(text, 3 + len, 9, 99, data, &n,
		    &used), len <= HTTP_MAXTRAILER ? 1 : -1);
	}
	/* One that does not end is not waited for. */
	memset(text + 3, 'x', size - 3);
	assert_int_equal(chunks_run(text, size, 0, 0, data, &n, &used), -1);
	free(text);
	free(data);
}

/* Neither the end nor an error is ever left. */
static void
test_chunks_final(void **state __unused)
{
	struct http_chunks	 ck;
	size_t			 off, n;

	http_chunks_init(&ck);
	assert_int_equal(http_chunks_feed(&ck, "0\r\n\r\n5\r\n", 8, &off, &n),
	    5);
	assert_int_equal(ck.ck_state, CHUNK_DONE);
	assert_int_equal(http_chunks_feed(&ck, "5\r\n", 3, &off, &n), 0);
	assert_int_equal(ck.ck_state, CHUNK_DONE);

	http_chunks_init(&ck);
	(void)http_chunks_feed(&ck, "x", 1, &off, &n);
	assert_int_equal(ck.ck_state, CHUNK_BAD);
	assert_int_equal(http_chunks_feed(&ck, "5\r\n", 3, &off, &n), 0);
	assert_int_equal(ck.ck_state, CHUNK_BAD);
	assert_int_equal(n, 0);
}

/* The largest size, its end being far away. */
static void
test_chunks_large(void **state __unused)
{
	struct http_chunks	 ck;
	size_t			 off, n;

	http_chunks_init(&ck);
	assert_int_equal(http_chunks_feed(&ck, S("fffffffffffffff\r\nab"),
	    &off, &n), 19);
	assert_int_equal(ck.ck_state, CHUNK_DATA);
	assert_int_equal(off, 17);
	assert_int_equal(n, 2);
	assert_int_equal(ck.ck_left, 0xfffffffffffffffULL - 2);
}

int
main(void)
{
	const struct CMUnitTest	 tests[] = {
		cmocka_unit_test(test_scan),
		cmocka_unit_test(test_line),
		cmocka_unit_test(test_field),
		cmocka_unit_test(test_framing),
		cmocka_unit_test(test_accepted),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_methods),
		cmocka_unit_test(test_count),
		cmocka_unit_test(test_no_line),
		cmocka_unit_test(test_chunks),
		cmocka_unit_test(test_chunks_cut),
		cmocka_unit_test(test_chunks_trailer),
		cmocka_unit_test(test_chunks_final),
		cmocka_unit_test(test_chunks_large)
	};

	return (cmocka_run_group_tests(tests, NULL, NULL));
}
