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

#ifndef HTTP_H
#define HTTP_H

#include <sys/types.h>

#include <event2/buffer.h>
#include <event2/event.h>
#include <stdint.h>

#include "http_parse.h"
#include "settings.h"
#include "util.h"

/*
 * The HTTP server as its handlers see it: a route table, a request, one
 * reply.  Connections are http_conn.c's, bytes http_parse.c's.
 */

#define HTTP_IDLEN	65
#define HTTP_NOBODY	(-1)

struct http_conn;
struct httpd;
struct http_req;

/* Which of the two kinds of error body a client of the route knows. */
enum http_errors {
	ERRORS_TEXT,
	ERRORS_OBJECT
};

struct http_route {
	enum http_method	 rt_method;
	const char		*rt_path;
	int			 rt_auth;
	int			 rt_body;	/* enum setting or HTTP_NOBODY */
	enum http_errors	 rt_errors;
	void			(*rt_handler)(struct http_req *);
};

struct http_req {
	struct httpd		*rq_httpd;
	struct http_conn	*rq_conn;
	const struct http_route	*rq_route;
	enum http_errors	 rq_errors;
	struct evbuffer		*rq_body;
	uint64_t		 rq_start;
	char			 rq_id[HTTP_IDLEN];
	char			*rq_headbuf;
	struct http_head	 rq_head;
};

struct http_stats {
	uint64_t	 st_accepted;
	uint64_t	 st_connections;	/* open now */
	uint64_t	 st_refused;		/* no room and nobody idle */
	uint64_t	 st_evicted;		/* made room for a newer one */
	uint64_t	 st_timeouts;
	uint64_t	 st_requests;
	uint64_t	 st_unauthorized;
	uint64_t	 st_status[6];		/* by hundreds */
};

/* http.c */
struct httpd	*httpd_new(struct event_base *, const struct http_route *,
		    size_t, const uint64_t [SET_COUNT]);
void		 httpd_free(struct httpd *);
void		 httpd_configure(struct httpd *, const uint64_t [SET_COUNT]);
void		 httpd_token(struct httpd *, const uint8_t [SHA256_LEN]);
const struct http_stats *httpd_stats(const struct httpd *);

void	 http_reply(struct http_req *, int, const char *, const void *,
	    size_t);
void	 http_error_with(struct http_req *, int, const char *, const char *);
void	 http_reply_with(struct http_req *, int, const char *, const char *,
	    const void *, size_t);
void	 http_error(struct http_req *, int, const char *, ...)
	    __attribute__((__format__(printf, 3, 4)));

/* http_listen.c */
int	 httpd_listen(struct httpd *, uint32_t, int, int);
void	 httpd_listen_start(struct httpd *);
void	 httpd_listen_keep_none(struct httpd *);
int	 httpd_listen_keep(struct httpd *, uint32_t, int);
void	 httpd_listen_sweep(struct httpd *);

#endif /* HTTP_H */
