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

#ifndef HTTP_CONN_H
#define HTTP_CONN_H

#include <sys/types.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/tree.h>

#include <event2/event.h>
#include <event2/event_struct.h>

#include "http.h"

/*
 * The inside of the server, shared by http.c, http_conn.c and
 * http_listen.c and by nobody else.
 */

/*
 * A connection is in one state and in one list; each list is ordered by
 * the time from which its members wait, and all of them wait equally long.
 */
enum conn_state {
	CONN_HEAD,	/* reading a head, or its first byte is awaited */
	CONN_IDLE,	/* between two requests */
	CONN_BODY,
	CONN_FLUSH,	/* the client does not read its reply */
	CONN_LINGER,	/* reply sent, unread input is thrown away */
	CONN_BUSY,	/* a handler has the request: no deadline of ours */
	CONN_STATES
};

TAILQ_HEAD(http_conns, http_conn);

/* One client address: a v4 address, a v6 /64, a uid on a Unix socket. */
struct http_addr {
	RB_ENTRY(http_addr)	 ad_entry;
	uint8_t			 ad_key[17];
	uint32_t		 ad_count;
	struct http_conns	 ad_waiting;	/* may give way */
};
RB_HEAD(http_addrs, http_addr);

struct http_listener {
	TAILQ_ENTRY(http_listener) hl_entry;
	struct httpd		*hl_httpd;
	struct event		*hl_event;
	uint32_t		 hl_id;
	int			 hl_fd;
	int			 hl_auth;
	int			 hl_keep;
};
TAILQ_HEAD(http_listeners, http_listener);

struct http_conn {
	TAILQ_ENTRY(http_conn)	 hc_entry;
	TAILQ_ENTRY(http_conn)	 hc_addr_entry;
	struct httpd		*hc_httpd;
	struct http_addr	*hc_addr;
	struct http_req		*hc_req;
	struct evbuffer		*hc_in;
	struct evbuffer		*hc_out;
	struct event		 hc_ev_read;
	struct event		 hc_ev_write;
	struct http_scan	 hc_scan;
	struct http_chunks	 hc_chunks;
	uint64_t		 hc_since;	/* ms: it waits from here */
	uint64_t		 hc_scanned;	/* of hc_in, head only */
	uint64_t		 hc_left;	/* of a body with a length */
	uint64_t		 hc_window;	/* bytes moved since then */
	enum conn_state		 hc_state;
	int			 hc_fd;
	uint32_t		 hc_listener;	/* its id */
	int			 hc_auth;	/* the listener wants a token */
	int			 hc_waiting;	/* in the address's list */
	int			 hc_close;	/* after the reply */
	int			 hc_linger;	/* input is left unread */
	int			 hc_eof;
	int			 hc_processing;
};

struct httpd {
	struct event_base	*hs_base;
	const struct http_route	*hs_routes;
	size_t			 hs_nroutes;
	uint64_t		 hs_values[SET_COUNT];
	uint8_t			 hs_digest[SHA256_LEN];
	int			 hs_have_token;
	struct http_stats	 hs_stats;
	struct http_conns	 hs_conns[CONN_STATES];
	struct http_addrs	 hs_addrs;
	struct http_listeners	 hs_listeners;
	struct event		*hs_sweep;
	struct event		*hs_resume;	/* accept again */
	uint32_t		 hs_maxconns;	/* what descriptors allow */
	char			 hs_id_prefix[9];
	uint32_t		 hs_id_next;
	uint64_t		 hs_unauth_logged;
	uint64_t		 hs_trim_next;	/* ms */
	uint64_t		 hs_trim_done;	/* work at the last time */
};

/* http_conn.c */
void	 http_conn_new(struct http_listener *, int,
	    const struct sockaddr_storage *);
void	 http_conn_auth(struct httpd *, uint32_t, int);
void	 http_conn_free(struct http_conn *);
void	 http_conn_sweep(int, short, void *);
int	 http_conn_peer(const struct http_conn *, char *, size_t);
void	 http_conn_send(struct http_conn *, const void *, size_t);
void	 http_conn_replied(struct http_conn *);

/* http.c */
void	 http_head_ready(struct http_conn *, char *, size_t);
void	 http_body_ready(struct http_conn *);
void	 http_refuse(struct http_conn *, int, const char *);
void	 http_req_free(struct http_req *);

#endif /* HTTP_CONN_H */
