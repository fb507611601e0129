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

#include <stdlib.h>
#include <unistd.h>

#include "compat.h"
#include "frontend.h"
#include "log.h"

/*
 * The listener that is joined with a port inside the sandbox.  No port is
 * bound yet, and then the contract says: accept and close.
 */

#define PROXY_PER_WAKE	64

struct proxy {
	TAILQ_ENTRY(proxy)	 px_entry;
	struct event		*px_event;
	uint32_t		 px_id;
	int			 px_fd;
	int			 px_keep;
};
static TAILQ_HEAD(, proxy) proxies = TAILQ_HEAD_INITIALIZER(proxies);

static void
proxy_accept(int lfd, short event __unused, void *arg __unused)
{
	int	 fd, i;

	for (i = 0; i < PROXY_PER_WAKE; i++) {
		if ((fd = accept4(lfd, NULL, NULL, SOCK_CLOEXEC |
		    SOCK_NONBLOCK)) == -1)
			return;
		close(fd);
	}
}

int
proxy_listen(struct event_base *base, uint32_t id, int fd)
{
	struct proxy	*px;

	if ((px = calloc(1, sizeof(*px))) == NULL)
		return (-1);
	px->px_id = id;
	px->px_fd = fd;
	px->px_keep = 1;
	if ((px->px_event = event_new(base, fd, EV_READ | EV_PERSIST,
	    proxy_accept, NULL)) == NULL) {
		free(px);
		return (-1);
	}
	TAILQ_INSERT_TAIL(&proxies, px, px_entry);
	return (0);
}

void
proxy_start(void)
{
	struct proxy	*px;

	TAILQ_FOREACH(px, &proxies, px_entry)
		event_add(px->px_event, NULL);
}

void
proxy_keep_none(void)
{
	struct proxy	*px;

	TAILQ_FOREACH(px, &proxies, px_entry)
		px->px_keep = 0;
}

int
proxy_keep(uint32_t id)
{
	struct proxy	*px;

	TAILQ_FOREACH(px, &proxies, px_entry) {
		if (px->px_id == id) {
			px->px_keep = 1;
			return (0);
		}
	}
	return (-1);
}

void
proxy_sweep(void)
{
	struct proxy	*px, *next;

	TAILQ_FOREACH_SAFE(px, &proxies, px_entry, next) {
		if (px->px_keep)
			continue;
		TAILQ_REMOVE(&proxies, px, px_entry);
		event_free(px->px_event);
		close(px->px_fd);
		free(px);
	}
}
