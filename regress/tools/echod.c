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

#include <err.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "compat.h"
#include "http.h"
#include "json.h"
#include "log.h"

/*
 * The frontend's HTTP server with routes for its tests: bodies, both kinds
 * of errors, JSON, a handler that answers later.  The daemon's own routes
 * do not take bodies yet, so the black-box tests of framing, deadlines and
 * JSON use this one.
 *
 * usage: echod token [block.setting=value ...]; prints the port.
 */

static void	echo_post(struct http_req *);
static void	object_post(struct http_req *);
static void	later_get(struct http_req *);
static void	large_get(struct http_req *);

static const struct http_route routes[] = {
	{ HTTP_POST, "/echo", 1, SET_RUN_BODY_SIZE, ERRORS_TEXT, echo_post },
	{ HTTP_PUT, "/echo", 1, SET_RUN_BODY_SIZE, ERRORS_TEXT, echo_post },
	{ HTTP_POST, "/open", 0, SET_RUN_BODY_SIZE, ERRORS_TEXT, echo_post },
	{ HTTP_POST, "/object", 0, SET_EXECUTE_BODY_SIZE, ERRORS_OBJECT,
	    object_post },
	{ HTTP_GET, "/later", 0, HTTP_NOBODY, ERRORS_TEXT, later_get },
	{ HTTP_GET, "/large", 0, HTTP_NOBODY, ERRORS_TEXT, large_get },
};

static struct event_base	*base;

static void
echo_post(struct http_req *rq)
{
	size_t	 len = evbuffer_get_length(rq->rq_body);

	http_reply(rq, 200, "application/octet-stream",
	    evbuffer_pullup(rq->rq_body, -1), len);
}

static void
object_post(struct http_req *rq)
{
	struct json_object	*jo;
	const char		*errstr, *text;
	size_t			 len = evbuffer_get_length(rq->rq_body);

	if ((jo = json_decode(len == 0 ? "" : (const char *)
	    evbuffer_pullup(rq->rq_body, -1), len, &errstr)) == NULL) {
		http_error(rq, 400, "%s", errstr);
		return;
	}
	text = json_object_to_json_string_length(jo, JSON_C_TO_STRING_PLAIN,
	    &len);
	http_reply(rq, 200, "application/json", text, len);
	json_object_put(jo);
}

static void
later_reply(int fd __unused, short event __unused, void *arg)
{
	http_reply(arg, 200, "text/plain", "later\n", 6);
}

static void
later_get(struct http_req *rq)
{
	struct timeval	 tv = { 0, 600 * 1000 };

	event_base_once(base, -1, EV_TIMEOUT, later_reply, rq, &tv);
}

/* More than a socket buffer holds. */
static void
large_get(struct http_req *rq)
{
	static char	 body[16 * 1024 * 1024];

	memset(body, 'x', sizeof(body));
	http_reply(rq, 200, "text/plain", body, sizeof(body));
}

static void
setting_from(uint64_t values[SET_COUNT], char *arg)
{
	char	*block, *name, *value;
	int	 set;

	value = arg;
	block = strsep(&value, ".");
	name = strsep(&value, "=");
	if (name == NULL || value == NULL ||
	    (set = setting_byname(block, name)) == -1 ||
	    setting_parse((enum setting)set, value, &values[set]) == -1)
		errx(1, "bad setting %s", arg);
}

int
main(int argc, char **argv)
{
	struct sockaddr_in	 sin;
	struct httpd		*hs;
	socklen_t		 len = sizeof(sin);
	uint64_t		 values[SET_COUNT];
	uint8_t			 digest[SHA256_LEN];
	int			 fd, i;

	if (argc < 2)
		errx(1, "usage: echod token [block.setting=value ...]");
	log_init("echod", LOG_FORMAT_TEXT, LOG_WARNING);
	signal(SIGPIPE, SIG_IGN);
	setting_defaults(values);
	for (i = 2; i < argc; i++)
		setting_from(values, argv[i]);
	memset(&sin, 0, sizeof(sin));
	sin.sin_family = AF_INET;
	sin.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if ((fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)) == -1 ||
	    bind(fd, (struct sockaddr *)&sin, sizeof(sin)) == -1 ||
	    listen(fd, 1024) == -1 ||
	    getsockname(fd, (struct sockaddr *)&sin, &len) == -1)
		err(1, "listen");
	if ((base = event_base_new()) == NULL)
		errx(1, "no event base");
	hs = httpd_new(base, routes, nitems(routes), values);
	sha256_digest(argv[1], strlen(argv[1]), digest);
	httpd_token(hs, digest);
	if (httpd_listen(hs, 0, fd, 1) == -1)
		errx(1, "httpd_listen");
	httpd_listen_start(hs);
	printf("%u\n", ntohs(sin.sin_port));
	fflush(stdout);
	event_base_dispatch(base);
	httpd_free(hs);
	return (0);
}
