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
#include <string.h>
#include <strings.h>

#include "compat.h"
#include "http_parse.h"

static int	http_parse_line(char *, struct http_head *, const char **);
static int	http_parse_field(char *, size_t, struct http_head *,
		    const char **);
static int	http_parse_framing(struct http_head *, const char **);

/* tchar of RFC 9110 */
static int
http_istoken(unsigned char c)
{
	return (isalnum(c) || (c != '\0' &&
	    strchr("!#$%&'*+-.^_`|~", c) != NULL));
}

void
http_scan_init(struct http_scan *sc)
{
	memset(sc, 0, sizeof(*sc));
}

/*
 * Looks for the empty line that ends a head.  A line ends with CR LF and
 * with nothing else; no control character but the tab may appear.  *used
 * is the number of bytes up to and with the end, or all of them.
 */
enum http_scan_result
http_scan(struct http_scan *sc, const char *p, size_t len, size_t *used)
{
	unsigned char	 c;
	size_t		 i;

	for (i = 0; i < len; i++) {
		c = (unsigned char)p[i];
		if (sc->sc_cr) {
			if (c != '\n')
				return (SCAN_BAD);
			sc->sc_cr = 0;
			if (sc->sc_column != 0) {
				sc->sc_lines++;
				sc->sc_column = 0;
				continue;
			}
			if (sc->sc_lines == 0) {
				/* A client's stray line end is forgiven. */
				if (++sc->sc_empty > 2)
					return (SCAN_BAD);
				continue;
			}
			*used = i + 1;
			return (SCAN_DONE);
		} else if (c == '\r')
			sc->sc_cr = 1;
		else if ((c < 0x20 && c != '\t') || c == 0x7f)
			return (SCAN_BAD);
		else
			sc->sc_column++;
	}
	*used = len;
	return (SCAN_MORE);
}

/*
 * Parses a head that http_scan() has passed, in place.  0, or the status
 * to answer with and a reason.
 */
int
http_head_parse(char *buf, size_t len, unsigned int maxfields,
    struct http_head *hd, const char **reason)
{
	char	*eol, *line;
	int	 status;

	memset(hd, 0, offsetof(struct http_head, hd_fields));
	if (maxfields > HTTP_MAXFIELDS)
		maxfields = HTTP_MAXFIELDS;
	*reason = "not an HTTP request";
	while (len >= 2 && buf[0] == '\r') {
		buf += 2;
		len -= 2;
	}
	if ((eol = memmem(buf, len, "\r\n", 2)) == NULL)
		return (400);
	*eol = '\0';
	if ((status = http_parse_line(buf, hd, reason)) != 0)
		return (status);

	for (line = eol + 2; line[0] != '\r'; line = eol + 2) {
		if ((eol = strstr(line, "\r\n")) == NULL)
			return (400);
		*eol = '\0';
		if (hd->hd_nfields >= maxfields) {
			*reason = "too many header fields";
			return (431);
		}
		if ((status = http_parse_field(line, (size_t)(eol - line),
		    hd, reason)) != 0)
			return (status);
	}
	return (http_parse_framing(hd, reason));
}

static enum http_method
http_parse_method(const char *s)
{
	static const struct {
		const char		*name;
		enum http_method	 method;
	} methods[] = {
		{ "GET", HTTP_GET }, { "HEAD", HTTP_HEAD },
		{ "POST", HTTP_POST }, { "PUT", HTTP_PUT },
		{ "DELETE", HTTP_DELETE },
	};
	size_t	 i;

	for (i = 0; i < nitems(methods); i++) {
		if (strcmp(methods[i].name, s) == 0)
			return (methods[i].method);
	}
	return (HTTP_OTHER);
}

/* METHOD SP /path[?query] SP HTTP/1.x */
static int
http_parse_line(char *line, struct http_head *hd, const char **reason)
{
	char	*p, *target, *version;

	for (p = line; http_istoken((unsigned char)*p); p++)
		;
	if (p == line || p - line > HTTP_MAXMETHOD || *p != ' ')
		return (400);
	*p = '\0';
	hd->hd_method_text = line;
	hd->hd_method = http_parse_method(line);

	target = p + 1;
	if (*target != '/') {
		*reason = "the request target must be a path";
		return (400);
	}
	for (p = target; (unsigned char)*p > 0x20 && (unsigned char)*p < 0x7f
	    && *p != '#'; p++)
		;
	if (*p != ' ') {
		*reason = "the request target has characters that must be "
		    "percent-encoded, or no HTTP version follows it";
		return (400);
	}
	*p = '\0';
	version = p + 1;
	hd->hd_path = target;
	if ((p = strchr(target, '?')) != NULL) {
		*p = '\0';
		hd->hd_query = p + 1;
	}

	if (strncmp(version, "HTTP/", 5) != 0 ||
	    !isdigit((unsigned char)version[5]) || version[6] != '.' ||
	    !isdigit((unsigned char)version[7]) || version[8] != '\0') {
		*reason = "no valid HTTP version";
		return (400);
	}
	if (version[5] != '1') {
		*reason = "only HTTP/1.0 and HTTP/1.1 are spoken here";
		return (505);
	}
	hd->hd_minor = version[7] - '0';
	return (0);
}

/* name: value, no blank before the colon, no folded line */
static int
http_parse_field(char *line, size_t len, struct http_head *hd,
    const char **reason)
{
	struct http_field	*hf = &hd->hd_fields[hd->hd_nfields];
	char			*p;

	for (p = line; http_istoken((unsigned char)*p); p++)
		;
	if (p == line || *p != ':') {
		*reason = line[0] == ' ' || line[0] == '\t' ?
		    "folded header lines are obsolete and refused" :
		    "a header line is not \"name: value\"";
		return (400);
	}
	*p++ = '\0';
	hf->hf_name = line;
	while (*p == ' ' || *p == '\t')
		p++;
	hf->hf_value = p;
	for (p = line + len; p > hf->hf_value && (p[-1] == ' ' ||
	    p[-1] == '\t'); p--)
		p[-1] = '\0';
	hf->hf_trailing = p != line + len;
	hd->hd_nfields++;
	return (0);
}

/* The first field of that name, and how many there are. */
const char *
http_field(const struct http_head *hd, const char *name, unsigned int *count)
{
	const char	*value = NULL;
	unsigned int	 i, n = 0;

	for (i = 0; i < hd->hd_nfields; i++) {
		if (strcasecmp(hd->hd_fields[i].hf_name, name) != 0)
			continue;
		if (n++ == 0)
			value = hd->hd_fields[i].hf_value;
	}
	if (count != NULL)
		*count = n;
	return (value);
}

/* Is the word in a comma-separated list? */
static int
http_list_has(const char *list, const char *word)
{
	size_t	 item, len;

	for (; *list != '\0'; list += len + (list[len] == ',')) {
		list += strspn(list, " \t");
		len = item = strcspn(list, ",");
		while (item > 0 && (list[item - 1] == ' ' ||
		    list[item - 1] == '\t'))
			item--;
		if (item == strlen(word) &&
		    strncasecmp(list, word, item) == 0)
			return (1);
	}
	return (0);
}

static int
http_parse_length(const char *s, uint64_t *length)
{
	uint64_t	 n = 0;

	if (*s == '\0' || strlen(s) > 18)
		return (-1);
	for (; *s != '\0'; s++) {
		if (!isdigit((unsigned char)*s))
			return (-1);
		n = n * 10 + (uint64_t)(*s - '0');
	}
	*length = n;
	return (0);
}

/* Where the message ends: one answer or a refusal. */
static int
http_parse_framing(struct http_head *hd, const char **reason)
{
	const char	*connection, *expect, *length, *coding;
	unsigned int	 nconnection, nhost, nlength, ncoding, nexpect;

	length = http_field(hd, "Content-Length", &nlength);
	coding = http_field(hd, "Transfer-Encoding", &ncoding);
	if (nlength > 1 || ncoding > 1 || (nlength != 0 && ncoding != 0)) {
		*reason = "the length of the body is given more than once";
		return (400);
	}
	if (length != NULL) {
		if (http_parse_length(length, &hd->hd_length) == -1) {
			*reason = "Content-Length is not a number of bytes";
			return (400);
		}
		hd->hd_has_length = 1;
	}
	if (coding != NULL) {
		if (strcasecmp(coding, "chunked") != 0 || hd->hd_minor == 0) {
			*reason = "the only transfer coding is chunked, "
			    "in HTTP/1.1";
			return (400);
		}
		hd->hd_chunked = 1;
	}

	(void)http_field(hd, "Host", &nhost);
	if (nhost > 1 || (nhost == 0 && hd->hd_minor > 0)) {
		*reason = "one Host header is needed";
		return (400);
	}

	connection = http_field(hd, "Connection", &nconnection);
	if (nconnection > 1 || hd->hd_minor == 0)
		hd->hd_close = 1;
	if (connection != NULL && nconnection == 1) {
		if (http_list_has(connection, "close"))
			hd->hd_close = 1;
		else if (http_list_has(connection, "keep-alive"))
			hd->hd_close = 0;
	}

	expect = http_field(hd, "Expect", &nexpect);
	if (expect != NULL && hd->hd_minor > 0)
		hd->hd_expect = nexpect == 1 &&
		    strcasecmp(expect, "100-continue") == 0 ?
		    EXPECT_CONTINUE : EXPECT_UNKNOWN;
	return (0);
}

void
http_chunks_init(struct http_chunks *ck)
{
	memset(ck, 0, sizeof(*ck));
}

static int
http_hexdigit(unsigned char c)
{
	if (c >= '0' && c <= '9')
		return (c - '0');
	if (c >= 'a' && c <= 'f')
		return (c - 'a' + 10);
	if (c >= 'A' && c <= 'F')
		return (c - 'A' + 10);
	return (-1);
}

/* One byte of the line that begins a chunk. */
static void
http_chunks_size(struct http_chunks *ck, unsigned char c)
{
	int	 digit;

	ck->ck_line++;
	if (ck->ck_line > HTTP_MAXCHUNKLINE) {
		ck->ck_state = CHUNK_BAD;
		return;
	}
	if (ck->ck_state == CHUNK_SIZE && (digit = http_hexdigit(c)) != -1) {
		/* Fifteen digits cannot overflow. */
		ck->ck_left = ck->ck_left << 4 | (uint64_t)digit;
		if (++ck->ck_digits > 15)
			ck->ck_state = CHUNK_BAD;
	} else if (ck->ck_digits == 0)
		ck->ck_state = CHUNK_BAD;
	else if (c == '\r')
		ck->ck_state = CHUNK_SIZE_LF;
	else if (ck->ck_state == CHUNK_SIZE && c == ';')
		ck->ck_state = CHUNK_EXTENSION;
	else if (ck->ck_state == CHUNK_SIZE || (c < 0x20 && c != '\t') ||
	    c == 0x7f)
		ck->ck_state = CHUNK_BAD;
}

/* One byte of what surrounds the data. */
static void
http_chunks_byte(struct http_chunks *ck, unsigned char c)
{
	switch (ck->ck_state) {
	case CHUNK_SIZE_LF:
		ck->ck_line = 0;
		ck->ck_digits = 0;
		if (c != '\n')
			ck->ck_state = CHUNK_BAD;
		else if (ck->ck_left != 0)
			ck->ck_state = CHUNK_DATA;
		else {
			ck->ck_state = CHUNK_TRAILER;
			http_scan_init(&ck->ck_scan);
			/* As if the line before it were one of a head. */
			ck->ck_scan.sc_lines = 1;
		}
		break;
	case CHUNK_DATA_CR:
		ck->ck_state = c == '\r' ? CHUNK_DATA_LF : CHUNK_BAD;
		break;
	case CHUNK_DATA_LF:
		ck->ck_state = c == '\n' ? CHUNK_SIZE : CHUNK_BAD;
		break;
	default:
		http_chunks_size(ck, c);
		break;
	}
}

/*
 * Takes bytes of a chunked body; returns how many it used.  If it met
 * data, *off and *datalen say where it is among them; it stops behind it.
 */
size_t
http_chunks_feed(struct http_chunks *ck, const char *p, size_t len,
    size_t *off, size_t *datalen)
{
	size_t	 i, n;

	*off = *datalen = 0;
	for (i = 0; i < len; ) {
		switch (ck->ck_state) {
		case CHUNK_DONE:
		case CHUNK_BAD:
			return (i);
		case CHUNK_DATA:
			n = len - i < ck->ck_left ? len - i :
			    (size_t)ck->ck_left;
			*off = i;
			*datalen = n;
			ck->ck_left -= n;
			if (ck->ck_left == 0)
				ck->ck_state = CHUNK_DATA_CR;
			return (i + n);
		case CHUNK_TRAILER:
			switch (http_scan(&ck->ck_scan, p + i, len - i, &n)) {
			case SCAN_BAD:
				ck->ck_state = CHUNK_BAD;
				return (i);
			case SCAN_DONE:
				ck->ck_state = CHUNK_DONE;
				break;
			case SCAN_MORE:
				break;
			}
			i += n;
			if ((ck->ck_trailer += n) > HTTP_MAXTRAILER)
				ck->ck_state = CHUNK_BAD;
			break;
		default:
			http_chunks_byte(ck, (unsigned char)p[i++]);
			break;
		}
	}
	return (i);
}
