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

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "compat.h"
#include "frontend.h"
#include "http.h"
#include "version.h"

static void	health_get(struct http_req *);
static void	metrics_get(struct http_req *);

/* One row per method and path; the rest of the server reads this. */
const struct http_route frontend_routes[] = {
	{ HTTP_GET, "/health", 0, HTTP_NOBODY, ERRORS_TEXT, health_get },
	{ HTTP_HEAD, "/health", 0, HTTP_NOBODY, ERRORS_TEXT, health_get },
	{ HTTP_GET, "/metrics", 1, HTTP_NOBODY, ERRORS_TEXT, metrics_get },
	{ HTTP_HEAD, "/metrics", 1, HTTP_NOBODY, ERRORS_TEXT, metrics_get },
};
const size_t	frontend_nroutes = nitems(frontend_routes);

static void
health_get(struct http_req *rq)
{
	const char	*reason;
	char		 body[256];
	uint64_t	 up;
	int		 n;

	if ((reason = frontend_unhealthy()) != NULL) {
		n = snprintf(body, sizeof(body),
		    "{\"status\":\"unhealthy\",\"reason\":\"%s\"}\n", reason);
		http_reply(rq, 503, "application/json", body, (size_t)n);
		return;
	}
	up = frontend_uptime();
	n = snprintf(body, sizeof(body), "{\"status\":\"ok\","
	    "\"version\":\"%s\",\"uptime_seconds\":%" PRIu64 ".%" PRIu64
	    ",\"active_executions\":0}\n", SBXD_VERSION, up / 1000,
	    up / 100 % 10);
	http_reply(rq, 200, "application/json", body, (size_t)n);
}

/* The text format that Prometheus and its kin read. */
static void
metrics_get(struct http_req *rq)
{
	const struct http_stats	*st = frontend_stats();
	const struct {
		const char	*name;
		const char	*type;
		const char	*help;
		uint64_t	 value;
	} rows[] = {
		{ "connections", "gauge", "Open connections.",
		    st->st_connections },
		{ "connections_accepted_total", "counter",
		    "Connections accepted.", st->st_accepted },
		{ "connections_refused_total", "counter",
		    "Connections refused for lack of room.",
		    st->st_refused },
		{ "connections_evicted_total", "counter",
		    "Waiting connections closed to make room.",
		    st->st_evicted },
		{ "timeouts_total", "counter",
		    "Connections that missed a deadline.", st->st_timeouts },
		{ "requests_total", "counter", "Requests.",
		    st->st_requests },
		{ "unauthorized_total", "counter",
		    "Requests without a valid token.", st->st_unauthorized },
	};
	char	 body[4096];
	size_t	 i, n;

	n = (size_t)snprintf(body, sizeof(body),
	    "# HELP sbxd_info Version of sbxd.\n# TYPE sbxd_info gauge\n"
	    "sbxd_info{version=\"%s\"} 1\n"
	    "# HELP sbxd_uptime_seconds Time since the start.\n"
	    "# TYPE sbxd_uptime_seconds gauge\n"
	    "sbxd_uptime_seconds %" PRIu64 "\n", SBXD_VERSION,
	    frontend_uptime() / 1000);
	for (i = 0; i < nitems(rows) && n < sizeof(body); i++)
		n += (size_t)snprintf(body + n, sizeof(body) - n,
		    "# HELP sbxd_http_%s %s\n# TYPE sbxd_http_%s %s\n"
		    "sbxd_http_%s %" PRIu64 "\n", rows[i].name, rows[i].help,
		    rows[i].name, rows[i].type, rows[i].name, rows[i].value);
	if (n < sizeof(body))
		n += (size_t)snprintf(body + n, sizeof(body) - n,
		    "# HELP sbxd_http_replies_total Replies by status.\n"
		    "# TYPE sbxd_http_replies_total counter\n");
	for (i = 2; i < nitems(st->st_status) && n < sizeof(body); i++)
		n += (size_t)snprintf(body + n, sizeof(body) - n,
		    "sbxd_http_replies_total{status=\"%zuxx\"} %" PRIu64 "\n",
		    i, st->st_status[i]);
	if (n >= sizeof(body)) {
		http_error(rq, 500, "the metrics do not fit");
		return;
	}
	http_reply(rq, 200, "text/plain; version=0.0.4; charset=utf-8", body,
	    n);
}
