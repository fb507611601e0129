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
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include <err.h>
#include <errno.h>
#include <event2/event.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "compat.h"
#include "confine.h"
#include "ctl.h"
#include "imsg.h"
#include "log.h"
#include "msg.h"
#include "output.h"
#include "parser.h"
#include "util.h"

#define SOCKET_SYSTEM	"/run/sbxd/sbxd.sock"

#define TIMEOUT		10000	/* ms, from connect to the last word */
#define TIMEOUT_RELOAD	30000

/* One question and what has become of it. */
struct client {
	const struct command	*cl_command;
	const struct output	*cl_output;
	uint64_t		 cl_deadline;
	struct event_base	*cl_base;
	struct event		*cl_timer;
	struct imsg_chan	 cl_chan;
	struct answer		 cl_answer;
	int			 cl_ok;
	char			 cl_error[MSG_TEXTLEN];
};

/* What each action sends, and what may come back. */
struct command {
	uint32_t		 co_request;
	int			 co_level;	/* CTL_LOG only */
	int			 co_timeout;
	const struct imsg_rule	*co_rules;
	size_t			 co_nrules;
};

static __dead void	 usage(void);
static int	 socket_default(struct client *, char *, size_t);
static int	 socket_isours(struct client *, const char *);
static int	 socket_connect(struct client *, const char *);
static void	 socket_explain(struct client *, const char *, int);
static void	 client_fail(struct client *, const char *, ...)
		    __attribute__((__format__(printf, 2, 3)));
static void	 client_finish(struct client *);
static void	 client_ended(struct imsg_chan *, enum imsg_end);
static void	 client_timeout(int, short, void *);
static void	 client_send(struct client *);
static void	 client_ask(struct client *, const char *);
static void	 client_run(struct client *, int);
static void	 client_print(struct client *, enum action);
static void	 answer_summary(struct imsg_chan *, struct imsg *);
static void	 answer_process(struct imsg_chan *, struct imsg *);
static void	 answer_text(struct imsg_chan *, struct imsg *);
static void	 answer_ok(struct imsg_chan *, struct imsg *);
static void	 answer_ok_show(struct imsg_chan *, struct imsg *);
static void	 answer_ok_config(struct imsg_chan *, struct imsg *);
static void	 answer_fail(struct imsg_chan *, struct imsg *);

static const struct imsg_rule rules_show[] = {
	{ CTL_SUMMARY, "SUMMARY", 1, IMSG_MAXDATA, 0, answer_summary },
	{ CTL_PROCESS, "PROCESS", 1, IMSG_MAXDATA, 0, answer_process },
	{ CTL_OK, "OK", 0, 0, 0, answer_ok_show },
	{ CTL_FAIL, "FAIL", 1, IMSG_MAXDATA, 0, answer_fail }
};

static const struct imsg_rule rules_config[] = {
	{ CTL_TEXT, "TEXT", 0, 0, 1, answer_text },
	{ CTL_OK, "OK", 0, 0, 0, answer_ok_config },
	{ CTL_FAIL, "FAIL", 1, IMSG_MAXDATA, 0, answer_fail }
};

static const struct imsg_rule rules_plain[] = {
	{ CTL_OK, "OK", 0, 0, 0, answer_ok },
	{ CTL_FAIL, "FAIL", 1, IMSG_MAXDATA, 0, answer_fail }
};

static const struct command commands[ACTION_COUNT] = {
	[ACTION_SHOW] = { CTL_SHOW, 0, TIMEOUT,
	    rules_show, nitems(rules_show) },
	[ACTION_SHOW_CONFIG] = { CTL_SHOW_CONFIG, 0, TIMEOUT,
	    rules_config, nitems(rules_config) },
	[ACTION_LOG_BRIEF] = { CTL_LOG, LOG_INFO, TIMEOUT,
	    rules_plain, nitems(rules_plain) },
	[ACTION_LOG_VERBOSE] = { CTL_LOG, LOG_DEBUG, TIMEOUT,
	    rules_plain, nitems(rules_plain) },
	[ACTION_RELOAD] = { CTL_RELOAD, 0, TIMEOUT_RELOAD,
	    rules_plain, nitems(rules_plain) },
	[ACTION_STOP] = { CTL_STOP, 0, TIMEOUT,
	    rules_plain, nitems(rules_plain) }
};

static __dead void
usage(void)
{
	fprintf(stderr,
	    "usage: sbxctl [-j] [-s socket] command [argument ...]\n");
	exit(1);
}

/* Anybody may make a directory in /tmp, and wait there for our orders. */
static int
socket_isours(struct client *cl, const char *dir)
{
	struct stat	 st;

	if (lstat(dir, &st) == -1)
		return (0);	/* then there is no socket in it either */
	if (S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	    (st.st_mode & (S_IWGRP | S_IWOTH)) == 0)
		return (0);
	client_fail(cl, "%s: not a directory that only you can write to, "
	    "the socket in it is not trusted", dir);
	return (-1);
}

/* An ordinary user's own daemon first, else the system's. */
static int
socket_default(struct client *cl, char *path, size_t size)
{
	const char	*dir;
	char		 tmp[32];

	(void)strlcpy(path, SOCKET_SYSTEM, size);	/* always fits */
	if (geteuid() == 0)
		return (0);

	dir = getenv("XDG_RUNTIME_DIR");
	if (dir != NULL && dir[0] == '/')
		(void)snprintf(path, size, "%s/sbxd/sbxd.sock", dir);
	else {
		(void)snprintf(tmp, sizeof(tmp), "/tmp/sbxd-%u", geteuid());
		if (socket_isours(cl, tmp) == -1)
			return (-1);
		(void)snprintf(path, size, "%s/sbxd.sock", tmp);
	}
	/* A path that was cut is far too long for a socket: said later. */
	if (access(path, F_OK) == -1 && errno == ENOENT &&
	    access(SOCKET_SYSTEM, F_OK) == 0)
		(void)strlcpy(path, SOCKET_SYSTEM, size);
	return (0);
}

static int
socket_connect(struct client *cl, const char *path)
{
	struct sockaddr_un	 sun;
	struct timeval		 tv;
	int			 fd, saved;

	memset(&sun, 0, sizeof(sun));
	sun.sun_family = AF_UNIX;
	if (strlcpy(sun.sun_path, path, sizeof(sun.sun_path)) >=
	    sizeof(sun.sun_path)) {
		client_fail(cl, "%.64s...: too long a name for a socket",
		    path);
		return (-1);
	}
	if ((fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) == -1) {
		client_fail(cl, "socket: %s", strerror(errno));
		return (-1);
	}
	/* A daemon that accepts nobody must not hold us for ever. */
	tv.tv_sec = cl->cl_command->co_timeout / 1000;
	tv.tv_usec = 0;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)) == 0 &&
	    connect(fd, (struct sockaddr *)&sun, sizeof(sun)) == 0)
		return (fd);
	saved = errno;
	close(fd);
	socket_explain(cl, path, saved);
	return (-1);
}

static void
socket_explain(struct client *cl, const char *path, int errnum)
{
	const struct passwd	*pw;
	const struct group	*gr;
	struct stat		 st;

	switch (errnum) {
	case ENOENT:
	case ENOTDIR:
	case ECONNREFUSED:
	case EPROTOTYPE:
	case ENOTSOCK:
		client_fail(cl, "%s: no sbxd is listening there (%s)", path,
		    strerror(errnum));
		return;
	case EAGAIN:
		client_fail(cl, "%s: sbxd does not accept connections (%s)",
		    path, strerror(ETIMEDOUT));
		return;
	case EACCES:
	case EPERM:
		break;
	default:
		client_fail(cl, "%s: %s", path, strerror(errnum));
		return;
	}

	if (stat(path, &st) == -1) {
		client_fail(cl, "%s: only root, the daemon's owner and its "
		    "control group may (%s)", path, strerror(errnum));
		return;
	}
	pw = st.st_uid != 0 ? getpwuid(st.st_uid) : NULL;
	gr = st.st_gid != 0 && (st.st_mode & S_IWGRP) != 0 ?
	    getgrgid(st.st_gid) : NULL;
	client_fail(cl, "%s: only root%s%s%s%s may (%s)", path,
	    pw == NULL ? "" : gr == NULL ? " and user " : ", user ",
	    pw == NULL ? "" : pw->pw_name,
	    gr == NULL ? "" : " and group ",
	    gr == NULL ? "" : gr->gr_name, strerror(errnum));
}

static void
client_fail(struct client *cl, const char *fmt, ...)
{
	va_list	 ap;

	va_start(ap, fmt);
	(void)vsnprintf(cl->cl_error, sizeof(cl->cl_error), fmt, ap);
	va_end(ap);
	cl->cl_ok = 0;
	client_finish(cl);
}

/* Nothing that arrives from now on is looked at. */
static void
client_finish(struct client *cl)
{
	if (cl->cl_base == NULL)
		return;
	imsg_chan_close(&cl->cl_chan);
	event_base_loopbreak(cl->cl_base);
}

static void
client_ended(struct imsg_chan *ic, enum imsg_end why)
{
	struct client	*cl = ic->ic_arg;

	if (why == IMSG_END_PROTOCOL) {
		client_fail(cl, "sbxd broke the protocol: %s", ic->ic_error);
		return;
	}
	/*
	 * A daemon that stops may be gone before it could say so, but only
	 * if it closed in order; else it never read the request.
	 */
	if (cl->cl_command->co_request == CTL_STOP &&
	    ic->ic_error[0] == '\0') {
		cl->cl_ok = 1;
		client_finish(cl);
		return;
	}
	client_fail(cl, "sbxd went away before it had %s",
	    ic->ic_error[0] == '\0' ? "answered" : "read the request");
}

static void
client_timeout(int fd __unused, short event __unused, void *arg)
{
	struct client	*cl = arg;

	client_fail(cl, "sbxd has not answered in %d seconds",
	    cl->cl_command->co_timeout / 1000);
}

static void
client_send(struct client *cl)
{
	const struct command	*co = cl->cl_command;
	uint32_t		 level;

	level = (uint32_t)co->co_level;
	if (co->co_request == CTL_LOG)
		imsg_send(&cl->cl_chan, co->co_request, CTL_VERSION, &level,
		    sizeof(level));
	else
		imsg_send(&cl->cl_chan, co->co_request, CTL_VERSION, NULL, 0);
}

static void
client_ask(struct client *cl, const char *path)
{
	char	 defpath[PATH_MAX];
	int	 fd;

	if (path == NULL) {
		if (socket_default(cl, defpath, sizeof(defpath)) == -1)
			return;
		path = defpath;
	}
	if ((fd = socket_connect(cl, path)) != -1)
		client_run(cl, fd);
}

/* Returns when the answer is complete or there will be none. */
static void
client_run(struct client *cl, int fd)
{
	struct confine_state	 cs;
	struct timeval		 tv;
	uint64_t		 left, now;

	if ((cl->cl_base = event_base_new()) == NULL ||
	    (cl->cl_timer = evtimer_new(cl->cl_base, client_timeout, cl)) ==
	    NULL)
		errx(1, "no event loop");

	memset(&cs, 0, sizeof(cs));
	confine_promise("stdio", &cs);

	imsg_chan_init(&cl->cl_chan, "sbxd", fd, cl->cl_base,
	    cl->cl_command->co_rules, cl->cl_command->co_nrules,
	    client_ended, cl);
	now = clock_msec();
	left = cl->cl_deadline > now ? cl->cl_deadline - now : 0;
	tv.tv_sec = (time_t)(left / 1000);
	tv.tv_usec = (suseconds_t)(left % 1000 * 1000);
	if (evtimer_add(cl->cl_timer, &tv) == -1)
		errx(1, "no timer");
	client_send(cl);
	if (event_base_dispatch(cl->cl_base) == -1)
		client_fail(cl, "event loop: %s", strerror(errno));
	event_free(cl->cl_timer);
	event_base_free(cl->cl_base);
}

static void
client_print(struct client *cl, enum action action)
{
	const struct output	*ou = cl->cl_output;

	if (!cl->cl_ok) {
		ou->ou_fail(cl->cl_error);
		return;
	}
	switch (action) {
	case ACTION_SHOW:
		ou->ou_show(&cl->cl_answer);
		break;
	case ACTION_SHOW_CONFIG:
		ou->ou_config(&cl->cl_answer);
		break;
	default:
		ou->ou_done();
		break;
	}
}

static void
answer_summary(struct imsg_chan *ic, struct imsg *im)
{
	struct client	*cl = ic->ic_arg;
	struct answer	*an = &cl->cl_answer;

	if (an->an_has_summary ||
	    ctl_summary_recv(im, &an->an_summary) == -1) {
		client_fail(cl, "sbxd broke the protocol: bad SUMMARY");
		return;
	}
	an->an_has_summary = 1;
}

static void
answer_process(struct imsg_chan *ic, struct imsg *im)
{
	struct client		*cl = ic->ic_arg;
	struct answer		*an = &cl->cl_answer;
	struct msg_procinfo	 mp;

	if (msg_procinfo_recv(im, &mp) == -1 || an->an_has_proc[mp.mp_proc]) {
		client_fail(cl, "sbxd broke the protocol: bad PROCESS");
		return;
	}
	an->an_procs[mp.mp_proc] = mp;
	an->an_has_proc[mp.mp_proc] = 1;
}

static void
answer_text(struct imsg_chan *ic, struct imsg *im)
{
	struct client	*cl = ic->ic_arg;
	struct answer	*an = &cl->cl_answer;

	if (an->an_text != NULL) {
		client_fail(cl, "sbxd broke the protocol: a second TEXT");
		return;
	}
	/* The descriptor stays in the message and is closed with it. */
	an->an_text = memfd_read(im->im_fds[0], CTL_TEXT_MAX,
	    &an->an_textlen);
	if (an->an_text == NULL)
		client_fail(cl, "sbxd broke the protocol: bad TEXT (%s)",
		    strerror(errno));
}

static void
answer_ok(struct imsg_chan *ic, struct imsg *im __unused)
{
	struct client	*cl = ic->ic_arg;

	cl->cl_ok = 1;
	client_finish(cl);
}

static void
answer_ok_show(struct imsg_chan *ic, struct imsg *im)
{
	struct client	*cl = ic->ic_arg;

	if (cl->cl_answer.an_has_summary)
		answer_ok(ic, im);
	else
		client_fail(cl, "sbxd broke the protocol: OK without SUMMARY");
}

static void
answer_ok_config(struct imsg_chan *ic, struct imsg *im)
{
	struct client	*cl = ic->ic_arg;

	if (cl->cl_answer.an_text != NULL)
		answer_ok(ic, im);
	else
		client_fail(cl, "sbxd broke the protocol: OK without TEXT");
}

static void
answer_fail(struct imsg_chan *ic, struct imsg *im)
{
	struct client	*cl = ic->ic_arg;
	char		 text[MSG_TEXTLEN];
	uint32_t	 code;

	if (msg_result_recv(im, &code, text, sizeof(text)) == -1)
		client_fail(cl, "sbxd broke the protocol: bad FAIL");
	else if (text[0] == '\0')
		client_fail(cl, "sbxd refused, with code %u", code);
	else
		client_fail(cl, "%s", text);
}

int
main(int argc, char *argv[])
{
	static char		 outbuf[BUFSIZ];
	struct parse_result	 res;
	struct client		 cl;
	const char		*path = NULL;
	int			 ch;

	if (fd_ensure_stdio() == -1)
		return (1);
	log_init("sbxctl", LOG_FORMAT_TEXT, LOG_INFO);
	memset(&cl, 0, sizeof(cl));
	cl.cl_chan.ic_fd = -1;
	cl.cl_output = &output_text;

	/* stdio would ask the terminal about itself, which kills later. */
	(void)setvbuf(stdout, outbuf, _IOFBF, sizeof(outbuf));

	while ((ch = getopt(argc, argv, "+js:")) != -1) {
		switch (ch) {
		case 'j':
			cl.cl_output = &output_json;
			break;
		case 's':
			path = optarg;
			break;
		default:
			usage();
		}
	}
	argc -= optind;
	argv += optind;

	if (parse_command(argc, argv, &res, cl.cl_error,
	    sizeof(cl.cl_error)) == 0) {
		cl.cl_command = &commands[res.pr_action];
		cl.cl_deadline = clock_msec() +
		    (uint64_t)cl.cl_command->co_timeout;
		client_ask(&cl, path);
	}
	client_print(&cl, res.pr_action);
	free(cl.cl_answer.an_text);
	if (argc == 0)
		usage();
	if (fflush(stdout) == EOF || ferror(stdout))
		err(1, "standard output");
	return (cl.cl_ok ? 0 : 1);
}
