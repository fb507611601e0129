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
#include <sys/resource.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <syslog.h>
#include <time.h>

#include "compat.h"
#include "http_conn.h"
#include "log.h"

#define HTTP_SWEEP_MSEC		250
#define HTTP_RESERVED_FDS	128	/* channels, control clients, jobs */
#define HTTP_HEAD_MAX		1024	/* of a reply */
#define HTTP_ALIAS		"/koyeb-sandbox"

static const struct http_route *http_route(struct http_req *, char *, size_t);
static int	 http_authorized(const struct http_conn *,
		    const struct http_head *);
static void	 http_req_id(struct http_req *);
static const char *http_date(void);

/* What is said for a status, in both kinds of error body. */
static const struct http_status {
	int		 hs_code;
	const char	*hs_reason;
	const char	*hs_short;		/* text kind, by contract */
	const char	*hs_name;		/* Executor.* of the object */
	const char	*hs_description;
	const char	*hs_solution;
} http_statuses[] = {
	{ 200, "OK", NULL, NULL, NULL, NULL },
	{ 201, "Created", NULL, NULL, NULL, NULL },
	{ 400, "Bad Request", "Bad request", "ValidationError",
	    "The request is not valid.",
	    "Correct the request as the detail says and send it again." },
	{ 401, "Unauthorized", "Unauthorized", "Unauthorized",
	    "The request carries no valid token.",
	    "Send the header 'Authorization: Bearer <token>'." },
	{ 404, "Not Found", "Not found", "NotFound",
	    "There is nothing at this path.",
	    "Check the path of the request." },
	{ 405, "Method Not Allowed", "Method not allowed",
	    "MethodNotAllowed",
	    "The path does not take this method.",
	    "Use a method that the Allow header names." },
	{ 408, "Request Timeout", "Request timeout", "RequestTimeout",
	    "The request took too long to arrive.",
	    "Send the request without pauses." },
	{ 413, "Content Too Large", "Request body too large",
	    "PayloadTooLarge", "The request body is larger than allowed.",
	    "Send less, or raise 'body size' in sbxd.conf." },
	{ 417, "Expectation Failed", "Expectation failed",
	    "ExpectationFailed",
	    "The only expectation that can be met is 100-continue.",
	    "Leave out the Expect header." },
	{ 431, "Request Header Fields Too Large",
	    "Request header too large", "HeaderTooLarge",
	    "The request head is larger than allowed.",
	    "Send fewer or shorter headers." },
	{ 500, "Internal Server Error", "Internal error", "InternalError",
	    "The request could not be served.",
	    "Try again; the log of sbxd says more." },
	{ 503, "Service Unavailable", "Service unavailable", "Unavailable",
	    "The request cannot be served now.", "Try again later." },
	{ 505, "HTTP Version Not Supported", "HTTP version not supported",
	    "VersionNotSupported", "The HTTP version is not spoken here.",
	    "Use HTTP/1.1." },
};

/* As many descriptors as may be needed, if the hard limit allows them. */
static uint32_t
httpd_maxconns(void)
{
	struct rlimit	 rl;
	rlim_t		 old, want;

	if (getrlimit(RLIMIT_NOFILE, &rl) == -1)
		fatal("getrlimit");
	old = rl.rlim_cur;
	want = settings[SET_HTTP_CONNECTIONS].sd_max + HTTP_RESERVED_FDS;
	if (want > rl.rlim_max)
		want = rl.rlim_max;
	if (old < want) {
		rl.rlim_cur = want;
		if (setrlimit(RLIMIT_NOFILE, &rl) == -1)
			rl.rlim_cur = old;
	}
	if (rl.rlim_cur > 1000000)
		rl.rlim_cur = 1000000;
	return (rl.rlim_cur > 2 * HTTP_RESERVED_FDS ? (uint32_t)rl.rlim_cur -
	    HTTP_RESERVED_FDS : HTTP_RESERVED_FDS);
}

struct httpd *
httpd_new(struct event_base *base, const struct http_route *routes,
    size_t nroutes, const uint64_t values[SET_COUNT])
{
	struct httpd	*hs;
	struct timeval	 tv = { 0, HTTP_SWEEP_MSEC * 1000 };
	int		 i;

	if ((hs = calloc(1, sizeof(*hs))) == NULL)
		fatal("%s", __func__);
	hs->hs_base = base;
	hs->hs_routes = routes;
	hs->hs_nroutes = nroutes;
	for (i = 0; i < CONN_STATES; i++)
		TAILQ_INIT(&hs->hs_conns[i]);
	RB_INIT(&hs->hs_addrs);
	TAILQ_INIT(&hs->hs_listeners);
	random_hex(hs->hs_id_prefix, sizeof(hs->hs_id_prefix));

	hs->hs_maxconns = httpd_maxconns();
	httpd_configure(hs, values);

	if ((hs->hs_sweep = event_new(base, -1, EV_PERSIST, http_conn_sweep,
	    hs)) == NULL || event_add(hs->hs_sweep, &tv) == -1)
		fatalx("%s: no timer", __func__);
	return (hs);
}

void
httpd_free(struct httpd *hs)
{
	struct http_conn	*hc;
	int			 i;

	httpd_listen_keep_none(hs);
	httpd_listen_sweep(hs);
	for (i = 0; i < CONN_STATES; i++) {
		while ((hc = TAILQ_FIRST(&hs->hs_conns[i])) != NULL)
			http_conn_free(hc);
	}
	event_free(hs->hs_sweep);
	if (hs->hs_resume != NULL)
		event_free(hs->hs_resume);
	freezero(hs, sizeof(*hs));
}

/* Open connections live on under the new limits. */
void
httpd_configure(struct httpd *hs, const uint64_t values[SET_COUNT])
{
	memcpy(hs->hs_values, values, sizeof(hs->hs_values));
	if (hs->hs_values[SET_HTTP_CONNECTIONS] > hs->hs_maxconns)
		log_warnx("http connections %llu: only %u fit the limit of "
		    "open files", (unsigned long long)
		    hs->hs_values[SET_HTTP_CONNECTIONS], hs->hs_maxconns);
}

void
httpd_token(struct httpd *hs, const uint8_t digest[SHA256_LEN])
{
	memcpy(hs->hs_digest, digest, SHA256_LEN);
	hs->hs_have_token = 1;
}

const struct http_stats *
httpd_stats(const struct httpd *hs)
{
	return (&hs->hs_stats);
}

void
http_req_free(struct http_req *rq)
{
	if (rq == NULL)
		return;
	if (rq->rq_body != NULL)
		evbuffer_free(rq->rq_body);
	free(rq->rq_headbuf);
	free(rq);
}

static struct http_req *
http_req_new(struct http_conn *hc)
{
	struct http_req	*rq;

	/* The fields of the head are filled by the parser as needed. */
	if ((rq = malloc(sizeof(*rq))) == NULL)
		fatal("%s", __func__);
	memset(rq, 0, offsetof(struct http_req, rq_head.hd_fields));
	rq->rq_httpd = hc->hc_httpd;
	rq->rq_conn = hc;
	rq->rq_start = clock_msec();
	rq->rq_httpd->hs_stats.st_requests++;
	return (rq);
}

/* The client's id if it is a clean one, else one of ours. */
static void
http_req_id(struct http_req *rq)
{
	static const char	 ok[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	struct httpd		*hs = rq->rq_httpd;
	const char		*id;
	unsigned int		 count;
	size_t			 len;

	id = http_field(&rq->rq_head, "X-Request-ID", &count);
	if (id != NULL && count == 1 && (len = strlen(id)) > 0 &&
	    len < sizeof(rq->rq_id) && strspn(id, ok) == len) {
		memcpy(rq->rq_id, id, len + 1);
		return;
	}
	(void)snprintf(rq->rq_id, sizeof(rq->rq_id), "%s-%08x",
	    hs->hs_id_prefix, hs->hs_id_next++);
}

/*
 * A request that is not even one, or is over before its time: answered
 * in plain text and closed.
 */
void
http_refuse(struct http_conn *hc, int status, const char *detail)
{
	struct http_req	*rq;

	if ((rq = hc->hc_req) == NULL) {
		rq = hc->hc_req = http_req_new(hc);
		rq->rq_head.hd_minor = 1;
		http_req_id(rq);
	}
	hc->hc_close = hc->hc_linger = 1;
	if (detail == NULL)
		http_error(rq, status, NULL);
	else
		http_error(rq, status, "%s", detail);
}

/* A longer path of the same endpoint, as some clients spell it. */
static const char *
http_route_path(const char *path)
{
	size_t	 len = strlen(HTTP_ALIAS);

	if (strncmp(path, HTTP_ALIAS "/", len + 1) == 0)
		return (path + len);
	return (path);
}

/* Below these a client expects the error object, whatever it asked for. */
static enum http_errors
http_errors_for(const char *path)
{
	static const char *const families[] = {
		"/execute", "/executions", "/call"
	};
	size_t	 i, len;

	path = http_route_path(path);
	for (i = 0; i < nitems(families); i++) {
		len = strlen(families[i]);
		if (strncmp(path, families[i], len) == 0 &&
		    (path[len] == '\0' || path[len] == '/'))
			return (ERRORS_OBJECT);
	}
	return (ERRORS_TEXT);
}

/*
 * The route for path and method.  If only the path is known, the result
 * is NULL and allow lists the methods; it is "" for an unknown path.
 */
static const struct http_route *
http_route(struct http_req *rq, char *allow, size_t size)
{
	static const char *const names[] = {
		"GET", "HEAD", "POST", "PUT", "DELETE"
	};
	const struct http_route	*rt, *found = NULL;
	const char		*path;
	unsigned int		 methods = 0;
	size_t			 i, n;

	path = http_route_path(rq->rq_head.hd_path);
	for (i = 0; i < rq->rq_httpd->hs_nroutes; i++) {
		rt = &rq->rq_httpd->hs_routes[i];
		if (strcmp(rt->rt_path, path) != 0)
			continue;
		methods |= rt->rt_method;
		rq->rq_route = rt;
		if (rt->rt_method == rq->rq_head.hd_method)
			found = rt;
	}
	for (i = 0, n = 0, allow[0] = '\0'; i < nitems(names); i++) {
		if ((methods & (1U << i)) == 0)
			continue;
		n += (size_t)snprintf(allow + n, size - n, "%s%s",
		    n == 0 ? "" : ", ", names[i]);
	}
	return (found);
}

/* Exactly one header, exactly "Bearer " and the token, and nothing more. */
static int
http_authorized(const struct http_conn *hc, const struct http_head *hd)
{
	static const char	 scheme[] = "Bearer ";
	const struct http_field	*hf = NULL;
	const char		*token;
	uint8_t			 digest[SHA256_LEN];
	unsigned int		 count = 0, i;
	int			 differ;

	for (i = 0; i < hd->hd_nfields; i++) {
		if (strcasecmp(hd->hd_fields[i].hf_name,
		    "Authorization") != 0)
			continue;
		hf = &hd->hd_fields[i];
		count++;
	}
	if (count != 1 || hf->hf_trailing || strncmp(hf->hf_value, scheme,
	    sizeof(scheme) - 1) != 0 || !hc->hc_httpd->hs_have_token)
		return (0);
	token = hf->hf_value + sizeof(scheme) - 1;
	sha256_digest(token, strlen(token), digest);
	differ = timingsafe_bcmp(digest, hc->hc_httpd->hs_digest,
	    sizeof(digest));
	explicit_bzero(digest, sizeof(digest));
	return (!differ);
}

/* Said at most once a second, however many there are. */
static void
http_log_unauthorized(struct http_req *rq)
{
	struct httpd		*hs = rq->rq_httpd;
	struct log_event	 le = { .le_type = "unauthorized",
				    .le_request_id = rq->rq_id };
	char			 peer[64];

	hs->hs_stats.st_unauthorized++;
	if (rq->rq_start - hs->hs_unauth_logged < 1000)
		return;
	hs->hs_unauth_logged = rq->rq_start;
	(void)http_conn_peer(rq->rq_conn, peer, sizeof(peer));
	log_event(LOG_WARNING, &le, "%s %.128s from %s without a valid token "
	    "(%llu so far)", rq->rq_head.hd_method_text, rq->rq_head.hd_path,
	    peer, (unsigned long long)hs->hs_stats.st_unauthorized);
}

/*
 * A head has come.  The order of the checks is the contract's: path,
 * token, method, size.  Whoever fails one has sent its body in vain: it is
 * not read.
 */
void
http_head_ready(struct http_conn *hc, char *buf, size_t len)
{
	struct httpd		*hs = hc->hc_httpd;
	struct http_req		*rq;
	const struct http_route	*rt;
	const char		*reason;
	char			 allow[64], header[80];
	uint64_t		 max;
	int			 status;

	rq = hc->hc_req = http_req_new(hc);
	rq->rq_headbuf = buf;
	status = http_head_parse(buf, len,
	    (unsigned int)hs->hs_values[SET_HTTP_HEADER_COUNT], &rq->rq_head,
	    &reason);
	http_req_id(rq);
	if (status != 0) {
		http_refuse(hc, status, reason);
		return;
	}
	hc->hc_close = rq->rq_head.hd_close;
	/* Until the body is read, an early answer has to close. */
	hc->hc_linger = rq->rq_head.hd_chunked || rq->rq_head.hd_length != 0;

	rt = http_route(rq, allow, sizeof(allow));
	if (rq->rq_route == NULL) {
		rq->rq_errors = http_errors_for(rq->rq_head.hd_path);
		http_error(rq, 404, NULL);
		return;
	}
	rq->rq_errors = rq->rq_route->rt_errors;
	if (rq->rq_route->rt_auth && hc->hc_auth &&
	    !http_authorized(hc, &rq->rq_head)) {
		http_log_unauthorized(rq);
		http_error(rq, 401, NULL);
		return;
	}
	if (rt == NULL) {
		(void)snprintf(header, sizeof(header), "Allow: %s\r\n",
		    allow);
		http_error_with(rq, 405, header, NULL);
		return;
	}
	rq->rq_route = rt;
	rq->rq_errors = rt->rt_errors;
	max = rt->rt_body == HTTP_NOBODY ? 0 : hs->hs_values[rt->rt_body];
	if (rq->rq_head.hd_length > max || (max == 0 &&
	    rq->rq_head.hd_chunked)) {
		http_error(rq, 413, "at most %llu bytes are taken here",
		    (unsigned long long)max);
		return;
	}
	if (rq->rq_head.hd_expect == EXPECT_UNKNOWN) {
		http_error(rq, 417, NULL);
		return;
	}
	if ((rq->rq_body = evbuffer_new()) == NULL)
		fatalx("%s: out of memory", __func__);
	if (hc->hc_linger && rq->rq_head.hd_expect == EXPECT_CONTINUE &&
	    evbuffer_get_length(hc->hc_in) == 0)
		http_conn_send(hc, "HTTP/1.1 100 Continue\r\n\r\n", 25);
}

/* The request is whole: to its handler. */
void
http_body_ready(struct http_conn *hc)
{
	hc->hc_linger = 0;
	hc->hc_req->rq_route->rt_handler(hc->hc_req);
}

static const struct http_status *
http_status(int code)
{
	size_t	 i;

	for (i = 0; i < nitems(http_statuses); i++) {
		if (http_statuses[i].hs_code == code)
			return (&http_statuses[i]);
	}
	fatalx("%s: no text for status %d", __func__, code);
}

/* Of RFC 9110, made once a second. */
static const char *
http_date(void)
{
	static char	 text[40];
	static time_t	 made;
	struct tm	 tm;
	time_t		 now;

	now = time(NULL);
	if (now != made && gmtime_r(&now, &tm) != NULL &&
	    strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT",
	    &tm) != 0)
		made = now;
	return (text);
}

static void
http_log_reply(const struct http_req *rq, int code, size_t len)
{
	struct log_event	 le = { .le_type = "request",
				    .le_request_id = rq->rq_id };

	if (log_getlevel() < LOG_DEBUG)
		return;
	log_event(LOG_DEBUG, &le, "%s %.512s: %d, %zu bytes, %llu ms",
	    rq->rq_head.hd_method_text != NULL ? rq->rq_head.hd_method_text :
	    "?", rq->rq_head.hd_path != NULL ? rq->rq_head.hd_path : "?",
	    code, len, (unsigned long long)(clock_msec() - rq->rq_start));
}

/* One reply, whole; the request is gone afterwards. */
void
http_reply_with(struct http_req *rq, int code, const char *type,
    const char *headers, const void *body, size_t len)
{
	struct http_conn	*hc = rq->rq_conn;
	char			 head[HTTP_HEAD_MAX];
	int			 n;

	http_log_reply(rq, code, len);
	rq->rq_httpd->hs_stats.st_status[code / 100]++;
	if (hc->hc_linger)
		hc->hc_close = 1;
	n = snprintf(head, sizeof(head), "HTTP/1.1 %d %s\r\nDate: %s\r\n"
	    "Content-Type: %s\r\nContent-Length: %zu\r\n"
	    "X-Request-ID: %s\r\n%s%s\r\n", code,
	    http_status(code)->hs_reason, http_date(), type, len, rq->rq_id,
	    headers, hc->hc_close ? "Connection: close\r\n" :
	    rq->rq_head.hd_minor == 0 ? "Connection: keep-alive\r\n" : "");
	if (n < 0 || (size_t)n >= sizeof(head))
		fatalx("%s: the head of a reply does not fit", __func__);
	http_conn_send(hc, head, (size_t)n);
	if (rq->rq_head.hd_method != HTTP_HEAD)
		http_conn_send(hc, body, len);
	http_conn_replied(hc);
}

void
http_reply(struct http_req *rq, int code, const char *type, const void *body,
    size_t len)
{
	http_reply_with(rq, code, type, "", body, len);
}

static int
http_error_object(const struct http_req *rq, const struct http_status *hs,
    const char *detail, char *body, size_t size)
{
	char	 escaped[512];

	if (detail[0] == '\0')
		detail = hs->hs_description;
	(void)log_escape_json(escaped, sizeof(escaped), detail,
	    strlen(detail));
	return (snprintf(body, size, "{\"error_code\":\"Executor.%s\","
	    "\"description\":\"%s\",\"error_detail\":\"%s\","
	    "\"solution\":\"%s\",\"request_id\":\"%s\"}\n", hs->hs_name,
	    hs->hs_description, escaped, hs->hs_solution, rq->rq_id));
}

/* Plain 401, 404, 405 and 413 are the short texts that clients match. */
static int
http_error_text(const struct http_status *hs, const char *detail, char *body,
    size_t size)
{
	char	 escaped[512];

	if (detail[0] == '\0' || hs->hs_code == 413)
		return (snprintf(body, size, "%s\n", hs->hs_short));
	(void)log_escape_text(escaped, sizeof(escaped), detail,
	    strlen(detail));
	return (snprintf(body, size, "%s: %s\n", hs->hs_short, escaped));
}

void
http_error_with(struct http_req *rq, int code, const char *headers,
    const char *detail)
{
	const struct http_status	*hs = http_status(code);
	char				 body[2048];
	int				 n;

	if (detail == NULL)
		detail = "";
	if (code == 401)
		headers = "WWW-Authenticate: Bearer\r\n";
	if (rq->rq_errors == ERRORS_OBJECT)
		n = http_error_object(rq, hs, detail, body, sizeof(body));
	else
		n = http_error_text(hs, detail, body, sizeof(body));
	if (n < 0 || (size_t)n >= sizeof(body))
		fatalx("%s: an error does not fit", __func__);
	http_reply_with(rq, code, rq->rq_errors == ERRORS_OBJECT ?
	    "application/json" : "text/plain; charset=utf-8", headers, body,
	    (size_t)n);
}

void
http_error(struct http_req *rq, int code, const char *fmt, ...)
{
	char	 detail[256];
	va_list	 ap;

	detail[0] = '\0';
	if (fmt != NULL) {
		va_start(ap, fmt);
		(void)vsnprintf(detail, sizeof(detail), fmt, ap);
		va_end(ap);
	}
	http_error_with(rq, code, "", detail);
}
