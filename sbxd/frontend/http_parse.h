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

#ifndef HTTP_PARSE_H
#define HTTP_PARSE_H

#include <stddef.h>
#include <stdint.h>

/*
 * HTTP/1.x requests, read strictly: what two readers could understand in
 * two ways is refused.  No I/O here, so that it can be fuzzed.
 */

#define HTTP_MAXFIELDS		256
#define HTTP_MAXMETHOD		16
#define HTTP_MAXTRAILER		4096
#define HTTP_MAXCHUNKLINE	128

enum http_method {
	HTTP_GET	= 1 << 0,
	HTTP_HEAD	= 1 << 1,
	HTTP_POST	= 1 << 2,
	HTTP_PUT	= 1 << 3,
	HTTP_DELETE	= 1 << 4,
	HTTP_OTHER	= 1 << 5
};

struct http_field {
	const char	*hf_name;
	const char	*hf_value;
	int		 hf_trailing;	/* blanks behind it were cut */
};

enum http_expect {
	EXPECT_NONE,
	EXPECT_CONTINUE,
	EXPECT_UNKNOWN
};

/* A parsed head; its strings lie in the buffer that was parsed. */
struct http_head {
	enum http_method	 hd_method;
	const char		*hd_method_text;
	const char		*hd_path;
	const char		*hd_query;	/* NULL if there is none */
	int			 hd_minor;	/* of HTTP/1.x */
	int			 hd_close;	/* no more requests after it */
	int			 hd_chunked;
	int			 hd_has_length;
	uint64_t		 hd_length;
	enum http_expect	 hd_expect;
	unsigned int		 hd_nfields;
	struct http_field	 hd_fields[HTTP_MAXFIELDS];
};

/* Finds the end of a head in bytes that come in any portions. */
struct http_scan {
	unsigned int	 sc_lines;
	unsigned int	 sc_empty;	/* empty lines before the first */
	size_t		 sc_column;
	int		 sc_cr;
};

enum http_scan_result {
	SCAN_MORE,
	SCAN_DONE,
	SCAN_BAD
};

enum http_chunk_state {
	CHUNK_SIZE,
	CHUNK_EXTENSION,
	CHUNK_SIZE_LF,
	CHUNK_DATA,
	CHUNK_DATA_CR,
	CHUNK_DATA_LF,
	CHUNK_TRAILER,
	CHUNK_DONE,
	CHUNK_BAD
};

struct http_chunks {
	enum http_chunk_state	 ck_state;
	uint64_t		 ck_left;	/* of this chunk */
	unsigned int		 ck_digits;
	size_t			 ck_line;	/* bytes of the size line */
	size_t			 ck_trailer;
	struct http_scan	 ck_scan;
};

void	 http_scan_init(struct http_scan *);
enum http_scan_result http_scan(struct http_scan *, const char *, size_t,
	    size_t *);
int	 http_head_parse(char *, size_t, unsigned int, struct http_head *,
	    const char **);
const char *http_field(const struct http_head *, const char *,
	    unsigned int *);
void	 http_chunks_init(struct http_chunks *);
size_t	 http_chunks_feed(struct http_chunks *, const char *, size_t,
	    size_t *, size_t *);

#endif /* HTTP_PARSE_H */
