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
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/tree.h>
#include <sys/un.h>

#include <netinet/in.h>
#include <arpa/inet.h>

#include <errno.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compat.h"
#include "http_conn.h"
#include "log.h"

/*
 * How a connection works.  Bytes are read into hc_in and looked at by
 * http_conn_process(), which goes round as long as the state allows: a head
 * is scanned, parsed and judged by http.c before a byte of its body is
 * taken; the body is collected; the handler answers, now or later; the
 * reply goes out; the next request in hc_in follows.  While a handler or a
 * slow reader holds a request, no more than one head's worth is read.
 *
 * Every wait has a deadline but the handler's.  A body must bring, and the
 * reader of a reply must take, CONN_WINDOW bytes per timeout, so that a
 * trickle ends too.  Where the number of connections reaches its limit, the
 * one that has waited longest without a whole request, or has its reply and
 * does not read it or leave, gives way to the new one; only if all are
 * being served is the new one refused.
 *
 * A request that a handler has lives until it is answered, even if nobody
 * is left to read the answer.
 */

#define CONN_READ_SIZE		65536
#define CONN_OUT_HIGH		65536	/* replies before they are flushed */
#define CONN_TURN		64	/* steps before others have a turn */
#define CONN_WINDOW		16384
#define LINGER_BYTES		(64 * 1024 * 1024)
#define LINGER_TIMEOUT		5000	/* ms */
#define TRIM_INTERVAL		5000	/* ms */
#define TRIM_BYTES		(8 * 1024 * 1024)

static void	 http_conn_readable(int, short, void *);
static void	 http_conn_writable(int, short, void *);
static void	 http_conn_process(struct http_conn *);
static int	 http_conn_head(struct http_conn *);
static int	 http_conn_body(struct http_conn *);
static int	 http_conn_flush(struct http_conn *);
static void	 http_conn_state(struct http_conn *, enum conn_state);
static void	 http_conn_timeout(struct http_conn *);
static void	 http_conn_broken(struct http_conn *);
static int	 http_conn_room(struct httpd *, struct http_addr *);
static struct http_addr *http_addr_get(struct httpd *, int,
		    const struct sockaddr_storage *);
static int	 http_addr_cmp(struct http_addr *, struct http_addr *);

RB_GENERATE_STATIC(http_addrs, http_addr, ad_entry, http_addr_cmp)

static int
http_addr_cmp(struct http_addr *a, struct http_addr *b)
{
	return (memcmp(a->ad_key, b->ad_key, sizeof(a->ad_key)));
}

static struct http_addr *
http_addr_get(struct httpd *hs, int fd, const struct sockaddr_storage *ss)
{
	const struct sockaddr_in	*sin;
	const struct sockaddr_in6	*sin6;
	struct http_addr		 key, *ad;
	struct ucred			 uc;
	socklen_t			 len = sizeof(uc);

	memset(&key, 0, sizeof(key));
	switch (ss->ss_family) {
	case AF_INET:
		sin = (const struct sockaddr_in *)ss;
		key.ad_key[0] = 4;
		memcpy(key.ad_key + 1, &sin->sin_addr, 4);
		break;
	case AF_INET6:
		/* A host of the other side has a /64 to choose from. */
		sin6 = (const struct sockaddr_in6 *)ss;
		key.ad_key[0] = 6;
		memcpy(key.ad_key + 1, &sin6->sin6_addr,
		    IN6_IS_ADDR_V4MAPPED(&sin6->sin6_addr) ? 16 : 8);
		break;
	default:
		memset(&uc, 0, sizeof(uc));
		(void)getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &uc, &len);
		key.ad_key[0] = 1;
		memcpy(key.ad_key + 1, &uc.uid, sizeof(uc.uid));
		break;
	}
	if ((ad = RB_FIND(http_addrs, &hs->hs_addrs, &key)) != NULL)
		return (ad);
	if ((ad = calloc(1, sizeof(*ad))) == NULL)
		return (NULL);
	memcpy(ad->ad_key, key.ad_key, sizeof(ad->ad_key));
	TAILQ_INIT(&ad->ad_waiting);
	RB_INSERT(http_addrs, &hs->hs_addrs, ad);
	return (ad);
}

static void
http_addr_put(struct httpd *hs, struct http_addr *ad)
{
	if (ad->ad_count != 0)
		return;
	RB_REMOVE(http_addrs, &hs->hs_addrs, ad);
	free(ad);
}

static void
http_conn_evict(struct http_conn *hc)
{
	hc->hc_httpd->hs_stats.st_evicted++;
	http_conn_free(hc);
}

/*
 * Makes room for one more, or says that there is none.  More than one has
 * to go if a reload has lowered the limit.
 */
static int
http_conn_room(struct httpd *hs, struct http_addr *ad)
{
	struct http_conn	*hc;
	uint64_t		 max;
	int			 room = 0;

	max = hs->hs_values[SET_HTTP_CONNECTIONS];
	if (max > hs->hs_maxconns)
		max = hs->hs_maxconns;
	/* As if the new one were there, so that the address stays. */
	ad->ad_count++;
	while (ad->ad_count > hs->hs_values[SET_HTTP_PER_ADDRESS]) {
		if ((hc = TAILQ_FIRST(&ad->ad_waiting)) == NULL)
			goto done;
		http_conn_evict(hc);
	}
	while (hs->hs_stats.st_connections >= max) {
		if ((hc = TAILQ_FIRST(&hs->hs_conns[CONN_LINGER])) == NULL &&
		    (hc = TAILQ_FIRST(&hs->hs_conns[CONN_IDLE])) == NULL &&
		    (hc = TAILQ_FIRST(&hs->hs_conns[CONN_HEAD])) == NULL &&
		    (hc = TAILQ_FIRST(&hs->hs_conns[CONN_FLUSH])) == NULL)
			goto done;
		http_conn_evict(hc);
	}
	room = 1;
 done:
	ad->ad_count--;
	return (room);
}

/* Takes the descriptor over. */
void
http_conn_new(struct http_listener *hl, int fd,
    const struct sockaddr_storage *ss)
{
	static const char	 busy[] = "HTTP/1.1 503 Service Unavailable\r\n"
				    "Content-Type: text/plain; "
				    "charset=utf-8\r\n"
				    "Content-Length: 21\r\nRetry-After: 1\r\n"
				    "Connection: close\r\n\r\n"
				    "Too many connections\n";
	struct httpd		*hs = hl->hl_httpd;
	struct http_conn	*hc;
	struct http_addr	*ad;

	hs->hs_stats.st_accepted++;
	if ((ad = http_addr_get(hs, fd, ss)) == NULL) {
		close(fd);
		return;
	}
	if (!http_conn_room(hs, ad)) {
		hs->hs_stats.st_refused++;
		(void)send(fd, busy, sizeof(busy) - 1, MSG_NOSIGNAL |
		    MSG_DONTWAIT);
		http_addr_put(hs, ad);
		close(fd);
		return;
	}
	if ((hc = calloc(1, sizeof(*hc))) == NULL ||
	    (hc->hc_in = evbuffer_new()) == NULL ||
	    (hc->hc_out = evbuffer_new()) == NULL) {
		log_warn("%s", __func__);
		if (hc != NULL && hc->hc_in != NULL)
			evbuffer_free(hc->hc_in);
		free(hc);
		http_addr_put(hs, ad);
		close(fd);
		return;
	}
	hc->hc_httpd = hs;
	hc->hc_fd = fd;
	hc->hc_listener = hl->hl_id;
	hc->hc_auth = hl->hl_auth;
	hc->hc_addr = ad;
	ad->ad_count++;
	hs->hs_stats.st_connections++;
	event_assign(&hc->hc_ev_read, hs->hs_base, fd, EV_READ | EV_PERSIST,
	    http_conn_readable, hc);
	event_assign(&hc->hc_ev_write, hs->hs_base, fd, EV_WRITE,
	    http_conn_writable, hc);
	TAILQ_INSERT_TAIL(&hs->hs_conns[CONN_BUSY], hc, hc_entry);
	hc->hc_state = CONN_BUSY;
	http_scan_init(&hc->hc_scan);
	http_conn_state(hc, CONN_HEAD);
	event_add(&hc->hc_ev_read, NULL);
}

void
http_conn_free(struct http_conn *hc)
{
	struct httpd	*hs = hc->hc_httpd;

	event_del(&hc->hc_ev_read);
	event_del(&hc->hc_ev_write);
	TAILQ_REMOVE(&hs->hs_conns[hc->hc_state], hc, hc_entry);
	if (hc->hc_waiting)
		TAILQ_REMOVE(&hc->hc_addr->ad_waiting, hc, hc_addr_entry);
	hc->hc_addr->ad_count--;
	http_addr_put(hs, hc->hc_addr);
	hs->hs_stats.st_connections--;
	http_req_free(hc->hc_req);
	evbuffer_free(hc->hc_in);
	evbuffer_free(hc->hc_out);
	close(hc->hc_fd);
	free(hc);
}

/* A reload has changed what a listener wants: its clients must know. */
void
http_conn_auth(struct httpd *hs, uint32_t listener, int auth)
{
	struct http_conn	*hc;
	int			 state;

	for (state = 0; state < CONN_STATES; state++) {
		TAILQ_FOREACH(hc, &hs->hs_conns[state], hc_entry) {
			if (hc->hc_listener == listener)
				hc->hc_auth = auth;
		}
	}
}

/* The client's address for a log line. */
int
http_conn_peer(const struct http_conn *hc, char *buf, size_t size)
{
	const uint8_t	*key = hc->hc_addr->ad_key;
	char		 text[INET6_ADDRSTRLEN];
	uint32_t	 uid;

	switch (key[0]) {
	case 4:
	case 6:
		if (inet_ntop(key[0] == 4 ? AF_INET : AF_INET6, key + 1,
		    text, sizeof(text)) == NULL)
			text[0] = '\0';
		return (snprintf(buf, size, "%s%s", text,
		    key[0] == 6 ? "/64" : ""));
	default:
		memcpy(&uid, key + 1, sizeof(uid));
		return (snprintf(buf, size, "uid %u", uid));
	}
}

static uint64_t
http_conn_wait(const struct httpd *hs, enum conn_state state)
{
	switch (state) {
	case CONN_HEAD:
		return (hs->hs_values[SET_HTTP_HEADER_TIMEOUT]);
	case CONN_IDLE:
		return (hs->hs_values[SET_HTTP_IDLE_TIMEOUT]);
	case CONN_BODY:
		return (hs->hs_values[SET_HTTP_BODY_TIMEOUT]);
	case CONN_FLUSH:
		return (hs->hs_values[SET_HTTP_WRITE_TIMEOUT]);
	case CONN_LINGER:
		return (LINGER_TIMEOUT);
	case CONN_BUSY:
	case CONN_STATES:
		break;
	}
	return (0);
}

/* Changes the state; its time begins anew. */
static void
http_conn_state(struct http_conn *hc, enum conn_state state)
{
	struct httpd	*hs = hc->hc_httpd;

	TAILQ_REMOVE(&hs->hs_conns[hc->hc_state], hc, hc_entry);
	hc->hc_state = state;
	hc->hc_since = clock_msec();
	hc->hc_window = 0;
	TAILQ_INSERT_TAIL(&hs->hs_conns[state], hc, hc_entry);

	if (hc->hc_waiting)
		TAILQ_REMOVE(&hc->hc_addr->ad_waiting, hc, hc_addr_entry);
	hc->hc_waiting = state == CONN_HEAD || state == CONN_IDLE ||
	    state == CONN_LINGER;
	if (hc->hc_waiting)
		TAILQ_INSERT_TAIL(&hc->hc_addr->ad_waiting, hc,
		    hc_addr_entry);
}

/*
 * Gives back what a crowd or a large body has left: malloc keeps it if
 * anything newer lies behind it.
 */
static void
http_conn_trim(struct httpd *hs, uint64_t now)
{
	uint64_t	 work;

	if (now < hs->hs_trim_next)
		return;
	hs->hs_trim_next = now + TRIM_INTERVAL;
	work = hs->hs_stats.st_accepted + hs->hs_stats.st_requests;
	if (work == hs->hs_trim_done)
		return;
#ifdef __GLIBC__
	if (mallinfo2().fordblks < TRIM_BYTES)
		return;
	malloc_trim(0);
#endif
	hs->hs_trim_done = work;
}

/* Each list's first is its most urgent. */
void
http_conn_sweep(int fd __unused, short event __unused, void *arg)
{
	struct httpd		*hs = arg;
	struct http_conn	*hc;
	uint64_t		 now, wait;
	int			 state;

	now = clock_msec();
	for (state = 0; state < CONN_BUSY; state++) {
		wait = http_conn_wait(hs, (enum conn_state)state);
		while ((hc = TAILQ_FIRST(&hs->hs_conns[state])) != NULL &&
		    hc->hc_since + wait <= now) {
			hs->hs_stats.st_timeouts++;
			http_conn_timeout(hc);
		}
	}
	http_conn_trim(hs, now);
}

static void
http_conn_timeout(struct http_conn *hc)
{
	int	 begun;

	begun = hc->hc_state == CONN_BODY || (hc->hc_state == CONN_HEAD &&
	    evbuffer_get_length(hc->hc_in) != 0);
	if (!begun) {
		http_conn_free(hc);
		return;
	}
	http_refuse(hc, 408, hc->hc_state == CONN_BODY ?
	    "the body did not arrive in time" :
	    "the request head did not arrive in time");
	http_conn_process(hc);
}

/* Nothing more comes or goes. */
static void
http_conn_broken(struct http_conn *hc)
{
	if (hc->hc_state != CONN_BUSY) {
		http_conn_free(hc);
		return;
	}
	hc->hc_eof = hc->hc_close = 1;
	event_del(&hc->hc_ev_read);
	event_del(&hc->hc_ev_write);
	evbuffer_drain(hc->hc_in, evbuffer_get_length(hc->hc_in));
	evbuffer_drain(hc->hc_out, evbuffer_get_length(hc->hc_out));
}

static void
http_conn_readable(int fd, short event __unused, void *arg)
{
	static char		 buf[CONN_READ_SIZE];
	struct http_conn	*hc = arg;
	ssize_t			 n;

	n = read(fd, buf, sizeof(buf));
	if (n == -1) {
		if (errno != EAGAIN && errno != EINTR)
			http_conn_broken(hc);
		return;
	}
	if (n == 0) {
		hc->hc_eof = 1;
		event_del(&hc->hc_ev_read);
	} else if (hc->hc_state == CONN_LINGER) {
		if ((hc->hc_window += (uint64_t)n) > LINGER_BYTES)
			http_conn_free(hc);
		return;
	} else if (evbuffer_add(hc->hc_in, buf, (size_t)n) == -1) {
		log_warnx("%s: out of memory", __func__);
		http_conn_broken(hc);
		return;
	}
	http_conn_process(hc);
}

static void
http_conn_writable(int fd __unused, short event __unused, void *arg)
{
	http_conn_process(arg);
}

/*
 * Goes on until the connection has to wait for something, and then makes
 * sure that what it waits for wakes it.
 */
static void
http_conn_process(struct http_conn *hc)
{
	struct timeval	 tv = { 0, 0 };
	int		 more = 1, steps = 0, held;

	hc->hc_processing = 1;
	while (more) {
		switch (hc->hc_state) {
		case CONN_IDLE:
		case CONN_HEAD:
			more = http_conn_head(hc);
			break;
		case CONN_BODY:
			more = http_conn_body(hc);
			break;
		default:
			more = 0;
			break;
		}
		if (evbuffer_get_length(hc->hc_out) >= CONN_OUT_HIGH ||
		    (++steps >= CONN_TURN && hc->hc_state == CONN_IDLE))
			more = 0;
	}
	hc->hc_processing = 0;
	if (http_conn_flush(hc) == -1) {
		http_conn_broken(hc);
		return;
	}
	held = hc->hc_state == CONN_BUSY || hc->hc_state == CONN_FLUSH;
	if ((hc->hc_state == CONN_IDLE || hc->hc_state == CONN_HEAD) &&
	    hc->hc_scanned < evbuffer_get_length(hc->hc_in)) {
		/* More requests are here; the next turn is soon. */
		held = 1;
		event_add(&hc->hc_ev_write, &tv);
	}
	if (hc->hc_eof) {
		if (!held)
			http_conn_free(hc);
		return;
	}
	if (held && evbuffer_get_length(hc->hc_in) >=
	    hc->hc_httpd->hs_values[SET_HTTP_HEADER_SIZE])
		event_del(&hc->hc_ev_read);
	else if (!event_pending(&hc->hc_ev_read, EV_READ, NULL))
		event_add(&hc->hc_ev_read, NULL);
}

/* 1 if the state has changed and there is more to do. */
static int
http_conn_head(struct http_conn *hc)
{
	struct evbuffer_ptr	 ptr;
	struct evbuffer_iovec	 vec;
	uint64_t		 max;
	char			*head;
	size_t			 len, used = 0;
	enum http_scan_result	 result = SCAN_MORE;

	max = hc->hc_httpd->hs_values[SET_HTTP_HEADER_SIZE];
	len = evbuffer_get_length(hc->hc_in);
	if (len == 0)
		return (0);
	if (hc->hc_state == CONN_IDLE)
		http_conn_state(hc, CONN_HEAD);
	while (result == SCAN_MORE && hc->hc_scanned < len) {
		if (evbuffer_ptr_set(hc->hc_in, &ptr, hc->hc_scanned,
		    EVBUFFER_PTR_SET) == -1 ||
		    evbuffer_peek(hc->hc_in, -1, &ptr, &vec, 1) < 1)
			fatalx("%s: no data where data is", __func__);
		result = http_scan(&hc->hc_scan, vec.iov_base, vec.iov_len,
		    &used);
		hc->hc_scanned += used;
	}
	if (hc->hc_scanned > max) {
		http_refuse(hc, 431, "the request head is too large");
		return (1);
	}
	if (result == SCAN_BAD) {
		http_refuse(hc, 400, "a line of the request head does not "
		    "end with CR LF, or has a control character");
		return (1);
	}
	if (result == SCAN_MORE)
		return (0);

	len = hc->hc_scanned;
	if ((head = malloc(len + 1)) == NULL) {
		http_refuse(hc, 500, "out of memory");
		return (1);
	}
	evbuffer_remove(hc->hc_in, head, len);
	head[len] = '\0';
	hc->hc_scanned = 0;
	http_scan_init(&hc->hc_scan);
	http_head_ready(hc, head, len);

	/* http.c has answered, or it wants the body. */
	if (hc->hc_state == CONN_HEAD) {
		hc->hc_left = hc->hc_req->rq_head.hd_length;
		http_chunks_init(&hc->hc_chunks);
		http_conn_state(hc, CONN_BODY);
	}
	return (1);
}

/* Moves what there is of a chunked body; 1 when it is complete. */
static int
http_conn_chunks(struct http_conn *hc, struct http_req *rq, uint64_t max)
{
	struct evbuffer_iovec	 vec;
	size_t			 off, len, used;

	while (evbuffer_peek(hc->hc_in, -1, NULL, &vec, 1) > 0 &&
	    vec.iov_len != 0) {
		used = http_chunks_feed(&hc->hc_chunks, vec.iov_base,
		    vec.iov_len, &off, &len);
		if (evbuffer_get_length(rq->rq_body) + len > max ||
		    hc->hc_chunks.ck_left > max) {
			http_refuse(hc, 413, NULL);
			return (0);
		}
		if (len != 0 && evbuffer_add(rq->rq_body,
		    (char *)vec.iov_base + off, len) == -1) {
			http_refuse(hc, 500, "out of memory");
			return (0);
		}
		evbuffer_drain(hc->hc_in, used);
		hc->hc_window += len;
		if (hc->hc_chunks.ck_state == CHUNK_BAD) {
			http_refuse(hc, 400, "the chunked body is malformed");
			return (0);
		}
		if (hc->hc_chunks.ck_state == CHUNK_DONE)
			return (1);
	}
	return (0);
}

/*
 * Moves a part of a body.  What is little is copied: to move it costs a
 * kilobyte of the buffer's own, for every byte that comes alone.
 */
static void
http_conn_take(struct http_conn *hc, struct http_req *rq, size_t len)
{
	if (len >= CONN_WINDOW)
		evbuffer_remove_buffer(hc->hc_in, rq->rq_body, len);
	else if (len != 0) {
		if (evbuffer_add(rq->rq_body, evbuffer_pullup(hc->hc_in,
		    (ev_ssize_t)len), len) == -1)
			fatalx("%s: out of memory", __func__);
		evbuffer_drain(hc->hc_in, len);
	}
}

/* 1 if the state has changed and there is more to do. */
static int
http_conn_body(struct http_conn *hc)
{
	struct http_req	*rq = hc->hc_req;
	size_t		 len;
	uint64_t	 max;
	int		 done;

	if (rq->rq_head.hd_chunked) {
		max = hc->hc_httpd->hs_values[rq->rq_route->rt_body];
		done = http_conn_chunks(hc, rq, max);
	} else {
		len = evbuffer_get_length(hc->hc_in);
		if (len > hc->hc_left)
			len = (size_t)hc->hc_left;
		http_conn_take(hc, rq, len);
		hc->hc_left -= len;
		hc->hc_window += len;
		done = hc->hc_left == 0;
	}
	if (hc->hc_state != CONN_BODY)
		return (1);
	if (!done) {
		if (hc->hc_window >= CONN_WINDOW)
			http_conn_state(hc, CONN_BODY);
		return (0);
	}
	http_conn_state(hc, CONN_BUSY);
	http_body_ready(hc);
	return (hc->hc_state != CONN_BUSY);
}

void
http_conn_send(struct http_conn *hc, const void *data, size_t len)
{
	if (evbuffer_add(hc->hc_out, data, len) == -1)
		fatalx("%s: out of memory", __func__);
}

/*
 * The whole reply is in hc_out; the request is over.  A handler that
 * answered at once was called by http_conn_process(), which goes on; for
 * one that answers later the write event does.
 */
void
http_conn_replied(struct http_conn *hc)
{
	http_req_free(hc->hc_req);
	hc->hc_req = NULL;
	http_conn_state(hc, hc->hc_close ? CONN_FLUSH : CONN_IDLE);
	if (!hc->hc_processing)
		event_active(&hc->hc_ev_write, EV_WRITE, 0);
}

/* -1 if the connection is over. */
static int
http_conn_flush(struct http_conn *hc)
{
	size_t	 before, left;

	if ((before = evbuffer_get_length(hc->hc_out)) != 0 &&
	    evbuffer_write(hc->hc_out, hc->hc_fd) == -1 &&
	    errno != EAGAIN && errno != EINTR)
		return (-1);
	if ((left = evbuffer_get_length(hc->hc_out)) != 0) {
		/* A body or a handler goes on; else wait for the client. */
		if (hc->hc_state == CONN_FLUSH)
			hc->hc_window += before - left;
		if (hc->hc_state == CONN_IDLE || hc->hc_state == CONN_HEAD ||
		    (hc->hc_state == CONN_FLUSH &&
		    hc->hc_window >= CONN_WINDOW))
			http_conn_state(hc, CONN_FLUSH);
		event_add(&hc->hc_ev_write, NULL);
		return (0);
	}
	if (hc->hc_state != CONN_FLUSH)
		return (0);
	if (!hc->hc_close) {
		/* A head that has begun has its own time. */
		http_conn_state(hc, evbuffer_get_length(hc->hc_in) == 0 ?
		    CONN_IDLE : CONN_HEAD);
		return (0);
	}

	/*
	 * Closing with input unread, or while more is on its way, would
	 * reset the connection and could destroy the reply; so what comes
	 * is read and thrown away until the client closes too.
	 */
	if (hc->hc_eof || shutdown(hc->hc_fd, SHUT_WR) == -1)
		return (-1);
	evbuffer_drain(hc->hc_in, evbuffer_get_length(hc->hc_in));
	http_conn_state(hc, CONN_LINGER);
	return (0);
}
