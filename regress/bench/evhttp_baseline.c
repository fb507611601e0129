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
#include <sys/socket.h>

#include <netinet/in.h>

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>

#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * The yardstick for /health: libevent's own server with nothing but a
 * handler that sends the same reply.  Prints its port.
 */

static const char	 body[] = "{\"status\":\"ok\",\"version\":\"0.1.0\","
			    "\"uptime_seconds\":1.5,"
			    "\"active_executions\":0}\n";

static void
health(struct evhttp_request *req, void *arg)
{
	struct evbuffer	*buf = arg;

	evhttp_add_header(evhttp_request_get_output_headers(req),
	    "Content-Type", "application/json");
	evbuffer_add(buf, body, sizeof(body) - 1);
	evhttp_send_reply(req, 200, "OK", buf);
}

int
main(void)
{
	struct sockaddr_in		 sin;
	struct evhttp_bound_socket	*bound;
	struct event_base		*base;
	struct evhttp			*http;
	struct evbuffer			*buf;
	socklen_t			 len = sizeof(sin);

	signal(SIGPIPE, SIG_IGN);
	if ((base = event_base_new()) == NULL ||
	    (http = evhttp_new(base)) == NULL ||
	    (buf = evbuffer_new()) == NULL ||
	    (bound = evhttp_bind_socket_with_handle(http, "127.0.0.1", 0)) ==
	    NULL)
		errx(1, "evhttp");
	evhttp_set_cb(http, "/health", health, buf);
	if (getsockname(evhttp_bound_socket_get_fd(bound),
	    (struct sockaddr *)&sin, &len) == -1)
		err(1, "getsockname");
	printf("%u\n", ntohs(sin.sin_port));
	fflush(stdout);
	event_base_dispatch(base);
	return (0);
}
