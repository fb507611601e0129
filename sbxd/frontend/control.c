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

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "compat.h"
#include "ctl.h"
#include "frontend.h"
#include "http.h"
#include "log.h"
#include "version.h"

/*
 * The control socket.  Clients are strangers until the kernel says who they
 * are: root and the owner of the daemon may do everything, members of the
 * control group may look, everybody else is sent away.  Whatever a client
 * sends, the worst that happens is that it is told so and cut off.
 *
 * Most questions go on to the parent, which alone sees /proc and the
 * configuration; its answers come back under the client's id.
 */

#define CONTROL_MAX		32
#define CONTROL_TIMEOUT		60	/* s without a request */
#define CONTROL_QUEUE		64	/* answers not read */
#define CONTROL_MAXGROUPS	256

enum control_right {
	RIGHT_NONE,
	RIGHT_LOOK,
	RIGHT_ALL
};

struct control_client {
	TAILQ_ENTRY(control_client) cc_entry;
	struct imsg_chan	 cc_chan;
	struct event		*cc_deadline;
	enum control_right	 cc_right;
	uint32_t		 cc_id;
	int			 cc_asked;	/* the parent has its question */
};

static void	control_accept(int, short, void *);
static void	control_resume(int, short, void *);
static void	control_ended(struct imsg_chan *, enum imsg_end);
static void	control_close(struct control_client *);
static void	control_fail(struct control_client *, const char *);
static void	control_expired(int, short, void *);
static void	control_show(struct imsg_chan *, struct imsg *);
static void	control_look(struct imsg_chan *, struct imsg *);
static void	control_log(struct imsg_chan *, struct imsg *);
static void	control_act(struct imsg_chan *, struct imsg *);

static const struct imsg_rule control_rules[] = {
	{ CTL_SHOW, "SHOW", 0, 0, 0, control_show },
	{ CTL_SHOW_CONFIG, "SHOW_CONFIG", 0, 0, 0, control_look },
	{ CTL_LOG, "LOG", 4, 4, 0, control_log },
	{ CTL_RELOAD, "RELOAD", 0, 0, 0, control_act },
	{ CTL_STOP, "STOP", 0, 0, 0, control_act },
};

static TAILQ_HEAD(, control_client) clients = TAILQ_HEAD_INITIALIZER(clients);
static struct event_base	*control_base;
static struct event		*control_event, *control_timer;
static uint32_t			 control_owner, control_group;
static unsigned int		 control_count;
static uint32_t			 control_next;

void
control_init(struct event_base *base)
{
	control_base = base;
	if ((control_timer = evtimer_new(base, control_resume, NULL)) == NULL)
		fatalx("%s: no timer", __func__);
}

int
control_listen(int fd, uint32_t owner, uint32_t group)
{
	if (control_event != NULL)
		return (-1);
	control_owner = owner;
	control_group = group;
	control_event = event_new(control_base, fd, EV_READ | EV_PERSIST,
	    control_accept, NULL);
	return (control_event == NULL ? -1 : 0);
}

void
control_start(void)
{
	if (control_event != NULL)
		event_add(control_event, NULL);
}

static void
control_resume(int fd __unused, short event __unused, void *arg __unused)
{
	control_start();
}

/* By the kernel's word: the peer at the time of its connect. */
static enum control_right
control_rights(int fd)
{
	struct ucred	 uc;
	gid_t		 groups[CONTROL_MAXGROUPS];
	socklen_t	 len = sizeof(uc);
	size_t		 i;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &uc, &len) == -1 ||
	    len != sizeof(uc))
		return (RIGHT_NONE);
	if (uc.uid == 0 || uc.uid == control_owner)
		return (RIGHT_ALL);
	if (control_group == (uint32_t)-1)
		return (RIGHT_NONE);
	if (uc.gid == control_group)
		return (RIGHT_LOOK);
	len = sizeof(groups);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len) == -1)
		return (RIGHT_NONE);
	for (i = 0; i < len / sizeof(groups[0]); i++) {
		if (groups[i] == control_group)
			return (RIGHT_LOOK);
	}
	return (RIGHT_NONE);
}

/*
 * Who gives way to a new one: the longest silent, but rather one that may
 * only look, and rather one that waits for nothing.
 */
static struct control_client *
control_idlest(void)
{
	struct control_client	*cc, *found = TAILQ_FIRST(&clients);

	TAILQ_FOREACH(cc, &clients, cc_entry) {
		if (cc->cc_right != found->cc_right ?
		    cc->cc_right < found->cc_right :
		    !cc->cc_asked && found->cc_asked)
			found = cc;
	}
	return (found);
}

/* A stranger takes no place among the clients. */
static void
control_send_away(int fd)
{
	struct imsg_chan	 ic;

	if (imsg_chan_open(&ic, "stranger", fd, control_base, NULL, 0, NULL,
	    NULL) == -1) {
		close(fd);
		return;
	}
	msg_result_send(&ic, CTL_FAIL, CTL_VERSION, 1, "permission denied: "
	    "only root, the owner of sbxd and its control group may ask");
	imsg_chan_close(&ic);
}

static void
control_accept(int lfd, short event __unused, void *arg __unused)
{
	struct control_client	*cc;
	struct timeval		 tv = { CONTROL_TIMEOUT, 0 }, pause = { 1, 0 };
	int			 fd;

	if ((fd = accept4(lfd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) ==
	    -1) {
		if (errno == EMFILE || errno == ENFILE) {
			event_del(control_event);
			evtimer_add(control_timer, &pause);
		}
		return;
	}
	if (control_rights(fd) == RIGHT_NONE) {
		control_send_away(fd);
		return;
	}
	if (control_count >= CONTROL_MAX)
		control_fail(control_idlest(),
		    "too many control clients: this one waited longest");
	if ((cc = calloc(1, sizeof(*cc))) == NULL ||
	    (cc->cc_deadline = evtimer_new(control_base, control_expired,
	    cc)) == NULL ||
	    imsg_chan_open(&cc->cc_chan, "control client", fd, control_base,
	    control_rules, nitems(control_rules), control_ended, cc) == -1) {
		log_warn("%s", __func__);
		if (cc != NULL && cc->cc_deadline != NULL)
			event_free(cc->cc_deadline);
		free(cc);
		close(fd);
		return;
	}
	cc->cc_id = ++control_next;
	cc->cc_right = control_rights(fd);
	cc->cc_chan.ic_high = CONTROL_QUEUE;
	evtimer_add(cc->cc_deadline, &tv);
	TAILQ_INSERT_TAIL(&clients, cc, cc_entry);
	control_count++;
}

static void
control_close(struct control_client *cc)
{
	(void)imsg_chan_flush(&cc->cc_chan, 0);
	imsg_chan_close(&cc->cc_chan);
	event_free(cc->cc_deadline);
	TAILQ_REMOVE(&clients, cc, cc_entry);
	control_count--;
	free(cc);
}

static void
control_expired(int fd __unused, short event __unused, void *arg)
{
	control_close(arg);
}

static void
control_ended(struct imsg_chan *ic, enum imsg_end why)
{
	struct control_client	*cc = ic->ic_arg;

	if (why == IMSG_END_PROTOCOL) {
		log_warnx("control client: %s", ic->ic_error);
		/* The channel is over for reading; its error can go out. */
		ic->ic_dead = 0;
		msg_result_send(ic, CTL_FAIL, CTL_VERSION, 1, ic->ic_error);
	}
	control_close(cc);
}

static void
control_fail(struct control_client *cc, const char *text)
{
	msg_result_send(&cc->cc_chan, CTL_FAIL, CTL_VERSION, 1, text);
	control_close(cc);
}

/* NULL: the client has been answered and is gone. */
static struct control_client *
control_request(struct imsg_chan *ic, const struct imsg *im,
    enum control_right needed)
{
	struct control_client	*cc = ic->ic_arg;
	struct timeval		 tv = { CONTROL_TIMEOUT, 0 };
	char			 text[128];

	if (im->im_hdr.ih_id != CTL_VERSION) {
		(void)snprintf(text, sizeof(text), "this sbxd (%s) speaks "
		    "version %d of the control protocol, not %u",
		    SBXD_VERSION, CTL_VERSION, im->im_hdr.ih_id);
		control_fail(cc, text);
		return (NULL);
	}
	if (cc->cc_right < needed) {
		control_fail(cc,
		    "permission denied: the control group may only look");
		return (NULL);
	}
	if (cc->cc_asked) {
		control_fail(cc, "one request at a time");
		return (NULL);
	}
	evtimer_add(cc->cc_deadline, &tv);
	TAILQ_REMOVE(&clients, cc, cc_entry);
	TAILQ_INSERT_TAIL(&clients, cc, cc_entry);
	return (cc);
}

static void
control_ask(struct control_client *cc, uint32_t type, const void *data,
    size_t len)
{
	cc->cc_asked = 1;
	frontend_ask_parent(type, cc->cc_id, data, len);
}

static void
control_show(struct imsg_chan *ic, struct imsg *im)
{
	const struct http_stats	*st = frontend_stats();
	struct control_client	*cc;
	struct ctl_summary	 su;

	if ((cc = control_request(ic, im, RIGHT_LOOK)) == NULL)
		return;
	memset(&su, 0, sizeof(su));
	(void)strlcpy(su.su_version, SBXD_VERSION, sizeof(su.su_version));
	su.su_uptime = frontend_uptime();
	su.su_requests = st->st_requests;
	su.su_accepted = st->st_accepted;
	su.su_connections = st->st_connections;
	su.su_refused = st->st_refused;
	su.su_loglevel = (uint64_t)log_getlevel();
	ctl_summary_send(&cc->cc_chan, &su);
	control_ask(cc, MSG_CTL_SHOW, NULL, 0);
}

static void
control_look(struct imsg_chan *ic, struct imsg *im)
{
	struct control_client	*cc;

	if ((cc = control_request(ic, im, RIGHT_LOOK)) != NULL)
		control_ask(cc, MSG_CTL_CONFIG, NULL, 0);
}

static void
control_log(struct imsg_chan *ic, struct imsg *im)
{
	struct control_client	*cc;
	uint32_t		 level;

	if ((cc = control_request(ic, im, RIGHT_ALL)) == NULL)
		return;
	if (imsg_get_data(im, &level, sizeof(level)) == -1 ||
	    level < LOG_ERR || level > LOG_DEBUG)
		control_fail(cc, "no such log level");
	else
		control_ask(cc, MSG_CTL_VERBOSE, &level, sizeof(level));
}

static void
control_act(struct imsg_chan *ic, struct imsg *im)
{
	struct control_client	*cc;

	if ((cc = control_request(ic, im, RIGHT_ALL)) != NULL)
		control_ask(cc, im->im_hdr.ih_type == CTL_STOP ?
		    MSG_CTL_STOP : MSG_CTL_RELOAD, NULL, 0);
}

/* The parent answers; a client that has left meanwhile is normal. */
static struct control_client *
control_byid(uint32_t id)
{
	struct control_client	*cc;

	TAILQ_FOREACH(cc, &clients, cc_entry) {
		if (cc->cc_id == id && cc->cc_asked)
			return (cc);
	}
	return (NULL);
}

void
control_proc(struct imsg_chan *ic __unused, struct imsg *im)
{
	struct control_client	*cc;
	struct msg_procinfo	 mp;

	if (msg_procinfo_recv(im, &mp) == -1)
		fatalx("%s: nonsense from the parent", __func__);
	if ((cc = control_byid(im->im_hdr.ih_id)) != NULL)
		msg_procinfo_send(&cc->cc_chan, CTL_PROCESS, CTL_VERSION,
		    &mp);
}

void
control_text(struct imsg_chan *ic __unused, struct imsg *im)
{
	struct control_client	*cc;
	int			 fd;

	if ((cc = control_byid(im->im_hdr.ih_id)) == NULL)
		return;
	fd = imsg_get_fd(im, 0);
	imsg_send_fds(&cc->cc_chan, CTL_TEXT, CTL_VERSION, NULL, 0, &fd, 1);
}

void
control_result(struct imsg_chan *ic __unused, struct imsg *im)
{
	struct control_client	*cc;
	char			 text[MSG_TEXTLEN];
	uint32_t		 code;

	if (msg_result_recv(im, &code, text, sizeof(text)) == -1)
		fatalx("%s: nonsense from the parent", __func__);
	if ((cc = control_byid(im->im_hdr.ih_id)) == NULL)
		return;
	cc->cc_asked = 0;
	if (code == 0)
		imsg_send(&cc->cc_chan, CTL_OK, CTL_VERSION, NULL, 0);
	else
		msg_result_send(&cc->cc_chan, CTL_FAIL, CTL_VERSION, code,
		    text);
}
