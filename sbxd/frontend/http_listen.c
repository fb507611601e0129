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

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "compat.h"
#include "http_conn.h"
#include "log.h"

#define ACCEPT_PER_WAKE		64
/*
 * What the kernel holds of a reply beyond the client's window.  Its own
 * choice is megabytes, a third of which must go before it tells us that
 * anything went: a slow reader would look like one that does not read.
 */
#define ACCEPT_UNSENT		(256 * 1024)

static void	http_accept(int, short, void *);
static void	http_accept_resume(int, short, void *);

/* Takes over a socket that the parent has bound; START makes it accept. */
int
httpd_listen(struct httpd *hs, uint32_t id, int fd, int auth)
{
	struct http_listener	*hl;

	if ((hl = calloc(1, sizeof(*hl))) == NULL)
		return (-1);
	hl->hl_httpd = hs;
	hl->hl_id = id;
	hl->hl_fd = fd;
	hl->hl_auth = auth;
	hl->hl_keep = 1;
	if ((hl->hl_event = event_new(hs->hs_base, fd, EV_READ | EV_PERSIST,
	    http_accept, hl)) == NULL) {
		free(hl);
		return (-1);
	}
	TAILQ_INSERT_TAIL(&hs->hs_listeners, hl, hl_entry);
	return (0);
}

void
httpd_listen_start(struct httpd *hs)
{
	struct http_listener	*hl;

	TAILQ_FOREACH(hl, &hs->hs_listeners, hl_entry)
		event_add(hl->hl_event, NULL);
}

/* A reload: none is kept but those that are named again. */
void
httpd_listen_keep_none(struct httpd *hs)
{
	struct http_listener	*hl;

	TAILQ_FOREACH(hl, &hs->hs_listeners, hl_entry)
		hl->hl_keep = 0;
}

int
httpd_listen_keep(struct httpd *hs, uint32_t id, int auth)
{
	struct http_listener	*hl;

	TAILQ_FOREACH(hl, &hs->hs_listeners, hl_entry) {
		if (hl->hl_id == id) {
			hl->hl_keep = 1;
			hl->hl_auth = auth;
			http_conn_auth(hs, id, auth);
			return (0);
		}
	}
	return (-1);
}

void
httpd_listen_sweep(struct httpd *hs)
{
	struct http_listener	*hl, *next;

	TAILQ_FOREACH_SAFE(hl, &hs->hs_listeners, hl_entry, next) {
		if (hl->hl_keep)
			continue;
		TAILQ_REMOVE(&hs->hs_listeners, hl, hl_entry);
		event_free(hl->hl_event);
		close(hl->hl_fd);
		free(hl);
	}
}

static void
http_accept(int lfd, short event __unused, void *arg)
{
	struct http_listener	*hl = arg;
	struct httpd		*hs = hl->hl_httpd;
	struct sockaddr_storage	 ss;
	struct timeval		 tv = { 1, 0 };
	socklen_t		 len;
	int			 fd, i, on = 1, unsent = ACCEPT_UNSENT;

	for (i = 0; i < ACCEPT_PER_WAKE; i++) {
		len = sizeof(ss);
		ss.ss_family = AF_UNSPEC;
		fd = accept4(lfd, (struct sockaddr *)&ss, &len,
		    SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd != -1) {
			if (ss.ss_family != AF_UNIX) {
				(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY,
				    &on, sizeof(on));
				(void)setsockopt(fd, IPPROTO_TCP,
				    TCP_NOTSENT_LOWAT, &unsent,
				    sizeof(unsent));
			}
			http_conn_new(hl, fd, &ss);
			continue;
		}
		if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS &&
		    errno != ENOMEM)
			return;

		/* The backlog would wake us for ever: pause a second. */
		log_warn("accept: pausing for a second");
		TAILQ_FOREACH(hl, &hs->hs_listeners, hl_entry)
			event_del(hl->hl_event);
		if (hs->hs_resume == NULL && (hs->hs_resume =
		    evtimer_new(hs->hs_base, http_accept_resume, hs)) == NULL)
			fatalx("%s: no timer", __func__);
		evtimer_add(hs->hs_resume, &tv);
		return;
	}
}

static void
http_accept_resume(int fd __unused, short event __unused, void *arg)
{
	httpd_listen_start(arg);
}
