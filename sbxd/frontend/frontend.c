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

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "compat.h"
#include "frontend.h"
#include "http.h"
#include "log.h"

/*
 * The frontend: the process that strangers talk to.  It holds the
 * listening sockets, the digest of the API token, the requests and the
 * control clients, and no right at all: an ordinary user without
 * capabilities in an empty directory, no path, no socket of its own
 * making, a short list of system calls.  Everything else it asks of the
 * spawner and the reporter, which believe nothing it says.
 *
 * Life: BOOT (child.c drops user and root), PEER, LISTEN, CTL, AUTH and
 * CONF messages, CONF_END: confine, READY.  START: greet the siblings,
 * accept.  A reload is the same sequence from CONF_VALUES on, answered with
 * CONF_DONE and put in force by another START; open connections do not
 * notice.  EOF from the parent is the end.
 */

#define FRONTEND_PROMISES	"stdio accept"

static void	frontend_peer(struct imsg_chan *, struct imsg *);
static void	frontend_conf_values(struct imsg_chan *, struct imsg *);
static void	frontend_conf_end(struct imsg_chan *, struct imsg *);
static void	frontend_start(struct imsg_chan *, struct imsg *);
static void	frontend_listen(struct imsg_chan *, struct imsg *);
static void	frontend_listen_keep(struct imsg_chan *, struct imsg *);
static void	frontend_ctl(struct imsg_chan *, struct imsg *);
static void	frontend_auth(struct imsg_chan *, struct imsg *);
static void	frontend_hello(struct imsg_chan *, struct imsg *);
static void	frontend_accept(void);

static const struct imsg_rule parent_rules[] = {
	{ MSG_PEER, "PEER", 4, 4, 1, frontend_peer },
	{ MSG_CONF_VALUES, "CONF_VALUES", 4, IMSG_MAXDATA, 0,
	    frontend_conf_values },
	{ MSG_CONF_PROFILE, "CONF_PROFILE", 8, IMSG_MAXDATA, 0,
	    child_conf_profile },
	{ MSG_CONF_ITEM, "CONF_ITEM", 8, IMSG_MAXDATA, 0,
	    child_conf_item },
	{ MSG_CONF_LANG, "CONF_LANG", 8, IMSG_MAXDATA, 0,
	    child_conf_lang },
	{ MSG_CONF_END, "CONF_END", 0, 0, 0, frontend_conf_end },
	{ MSG_VERBOSE, "VERBOSE", 4, 4, 0, child_verbose },
	{ MSG_START, "START", 0, 0, 0, frontend_start },
	{ MSG_STOP, "STOP", 0, 0, 0, child_stop },
	{ MSG_LISTEN, "LISTEN", sizeof(struct msg_listen),
	    sizeof(struct msg_listen), 1, frontend_listen },
	{ MSG_LISTEN_KEEP, "LISTEN_KEEP", sizeof(struct msg_listen),
	    sizeof(struct msg_listen), 0, frontend_listen_keep },
	{ MSG_CTL, "CTL", sizeof(struct msg_ctlsock),
	    sizeof(struct msg_ctlsock), 1, frontend_ctl },
	{ MSG_AUTH, "AUTH", sizeof(struct msg_auth), sizeof(struct msg_auth),
	    0, frontend_auth },
	{ MSG_CTL_PROC, "CTL_PROC", 8, IMSG_MAXDATA, 0, control_proc },
	{ MSG_CTL_TEXT, "CTL_TEXT", 0, 0, 1, control_text },
	{ MSG_CTL_RESULT, "CTL_RESULT", 6, IMSG_MAXDATA, 0, control_result },
};

static const struct imsg_rule spawner_rules[] = {
	{ MSG_HELLO, "HELLO", 4, 4, 0, frontend_hello },
};

static const struct imsg_rule reporter_rules[] = {
	{ MSG_HELLO, "HELLO", 4, 4, 0, frontend_hello },
};

static struct child		 self;
static struct imsg_chan		 spawner = { .ic_fd = -1 };
static struct imsg_chan		 reporter = { .ic_fd = -1 };
static struct httpd		*httpd;
static struct msg_auth		 nauth;
static uint64_t			 started;	/* ms, monotonic */
static int			 spawner_up, reporter_up;

int
main(int argc, char **argv __unused)
{
	uint64_t	 values[SET_COUNT];

	child_init(&self, PROC_FRONTEND, argc, 0, parent_rules,
	    nitems(parent_rules));
	setting_defaults(values);
	httpd = httpd_new(self.ch_base, frontend_routes, frontend_nroutes,
	    values);
	control_init(self.ch_base);
	return (child_run(&self));
}

/* NULL, or why nothing can be run. */
const char *
frontend_unhealthy(void)
{
	if (!spawner_up)
		return ("the spawner does not answer");
	if (!reporter_up)
		return ("the reporter does not answer");
	return (NULL);
}

uint64_t
frontend_uptime(void)
{
	return (clock_msec() - started);
}

const struct http_stats *
frontend_stats(void)
{
	return (httpd_stats(httpd));
}

void
frontend_ask_parent(uint32_t type, uint32_t id, const void *data, size_t len)
{
	imsg_send(&self.ch_parent, type, id, data, len);
}

static void
frontend_peer(struct imsg_chan *ic, struct imsg *im)
{
	if (child_peer(&self, im, PROC_SPAWNER, &spawner, spawner_rules,
	    nitems(spawner_rules)) == -1 &&
	    child_peer(&self, im, PROC_REPORTER, &reporter, reporter_rules,
	    nitems(reporter_rules)) == -1)
		child_bad_message(ic, im);
}

/* A configuration begins: what is not named again will go. */
static void
frontend_conf_values(struct imsg_chan *ic, struct imsg *im)
{
	child_conf_values(ic, im);
	httpd_listen_keep_none(httpd);
	proxy_keep_none();
}

static void
frontend_listen(struct imsg_chan *ic, struct imsg *im)
{
	struct msg_listen	 ml;
	int			 fd, rv;

	if (imsg_get_data(im, &ml, sizeof(ml)) == -1 || self.ch_nconf == NULL)
		child_bad_message(ic, im);
	fd = imsg_get_fd(im, 0);
	if (ml.ml_proxy)
		rv = proxy_listen(self.ch_base, ml.ml_id, fd);
	else
		rv = httpd_listen(httpd, ml.ml_id, fd, ml.ml_auth != 0);
	if (rv == -1)
		fatal("listener %u", ml.ml_id);
}

static void
frontend_listen_keep(struct imsg_chan *ic, struct imsg *im)
{
	struct msg_listen	 ml;

	if (imsg_get_data(im, &ml, sizeof(ml)) == -1 ||
	    self.ch_nconf == NULL ||
	    (httpd_listen_keep(httpd, ml.ml_id, ml.ml_auth != 0) == -1 &&
	    proxy_keep(ml.ml_id) == -1))
		child_bad_message(ic, im);
}

static void
frontend_ctl(struct imsg_chan *ic, struct imsg *im)
{
	struct msg_ctlsock	 mc;

	if (imsg_get_data(im, &mc, sizeof(mc)) == -1 || self.ch_ready ||
	    control_listen(imsg_get_fd(im, 0), mc.mc_owner,
	    mc.mc_group) == -1)
		child_bad_message(ic, im);
}

static void
frontend_auth(struct imsg_chan *ic, struct imsg *im)
{
	if (imsg_get_data(im, &nauth, sizeof(nauth)) == -1 || self.ch_nconf == NULL ||
	    nauth.ma_set != 1)
		child_bad_message(ic, im);
}

static void
frontend_conf_end(struct imsg_chan *ic, struct imsg *im)
{
	if (self.ch_nconf == NULL || !nauth.ma_set || TAILQ_EMPTY(
	    &self.ch_nconf->cs_profiles))
		child_bad_message(ic, im);
	if (!self.ch_ready)
		child_confine(&self, NULL, 0, FRONTEND_PROMISES);
	else
		imsg_send(ic, MSG_CONF_DONE, 0, NULL, 0);
}

/* Everybody is ready: what was collected is in force from here. */
static void
frontend_start(struct imsg_chan *ic, struct imsg *im)
{
	uint32_t	 magic = MSG_HELLO_MAGIC;

	if (spawner.ic_fd == -1 || reporter.ic_fd == -1)
		child_bad_message(ic, im);
	child_conf_commit(&self, im);
	httpd_configure(httpd, self.ch_conf->cs_values);
	httpd_token(httpd, nauth.ma_digest);
	explicit_bzero(&nauth, sizeof(nauth));
	httpd_listen_sweep(httpd);
	proxy_sweep();
	if (started == 0) {
		started = clock_msec();
		imsg_send(&spawner, MSG_HELLO, 0, &magic, sizeof(magic));
		imsg_send(&reporter, MSG_HELLO, 0, &magic, sizeof(magic));
		control_start();
	}
	frontend_accept();
}

/* Clients wait in the backlog until everybody who serves them is there. */
static void
frontend_accept(void)
{
	if (frontend_unhealthy() != NULL)
		return;
	httpd_listen_start(httpd);
	proxy_start();
}

/* A sibling speaks our language; the edge carries. */
static void
frontend_hello(struct imsg_chan *ic, struct imsg *im)
{
	int	*up = ic == &spawner ? &spawner_up : &reporter_up;

	child_hello_check(ic, im);
	if (*up)
		child_bad_message(ic, im);
	*up = 1;
	frontend_accept();
}
