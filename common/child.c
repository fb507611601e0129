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
#include <sys/prctl.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "child.h"
#include "log.h"

#define CHILD_BOOT_TIMEOUT	10	/* s until the first message */
#define CHILD_LAST_TIMEOUT	2	/* s to end after the parent */
#define CHILD_ORPHAN_TIMEOUT	5	/* s to live without a sibling */

static void	child_parent_ended(struct imsg_chan *, enum imsg_end);
static void	child_boot(struct imsg_chan *, struct imsg *);
static void	child_no_boot(int, short, void *);
static void	child_watch_parent(void);
static void	child_woken(int);

static pid_t	child_parent;

static const struct imsg_rule child_boot_rules[] = {
	{ MSG_BOOT, "BOOT", 26, 26 + MSG_PATHLEN, 0, child_boot },
};

/*
 * A child starts with standard input and output closed off, the log on
 * descriptor 2, its channel on 3 and nothing else: no environment, no
 * argument.  The first message says whom to become; only then the table of
 * the process is in force.
 */
void
child_init(struct child *ch, enum msg_proc proc, int argc, int keep_paths,
    const struct imsg_rule *rules, size_t nrules)
{
	struct event_config	*ec;
	struct timeval		 tv = { CHILD_BOOT_TIMEOUT, 0 };

	if (argc != 1 || fcntl(CHILD_FD, F_SETFD, FD_CLOEXEC) == -1)
		errx(1, "a part of sbxd(8), which starts it");
	memset(ch, 0, sizeof(*ch));
	ch->ch_rules = rules;
	ch->ch_nrules = nrules;
	ch->ch_keep_paths = keep_paths;
	log_init(msg_procname(proc), LOG_FORMAT_TEXT, LOG_INFO);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	/* A terminal's ^C reaches all; the parent decides what it means. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	confine_common();

	if ((ec = event_config_new()) == NULL ||
	    event_config_set_flag(ec, EVENT_BASE_FLAG_IGNORE_ENV) == -1 ||
	    (ch->ch_base = event_base_new_with_config(ec)) == NULL)
		fatalx("no event base");
	event_config_free(ec);
	imsg_chan_init(&ch->ch_parent, "parent", CHILD_FD, ch->ch_base,
	    child_boot_rules, nitems(child_boot_rules), child_parent_ended,
	    ch);
	if ((ch->ch_deadline = evtimer_new(ch->ch_base, child_no_boot,
	    NULL)) == NULL || evtimer_add(ch->ch_deadline, &tv) == -1)
		fatalx("no timer");
}

static void
child_no_boot(int fd __unused, short event __unused, void *arg __unused)
{
	fatalx("the parent did not say whom to become");
}

static void
child_boot(struct imsg_chan *ic, struct imsg *im)
{
	struct child	*ch = ic->ic_arg;
	struct msg_boot	 mb;

	if (msg_boot_recv(im, &mb) == -1)
		child_bad_message(ic, im);
	event_free(ch->ch_deadline);
	ch->ch_deadline = NULL;
	imsg_chan_table(ic, ch->ch_rules, ch->ch_nrules);

	log_setformat(mb.mb_log_json ? LOG_FORMAT_JSON : LOG_FORMAT_TEXT);
	log_setlevel((int)mb.mb_log_level);
	log_setsyslog((int)mb.mb_log_syslog);
	confine_bounding();
	if (mb.mb_setuser) {
		if (!ch->ch_keep_paths)
			confine_chroot(mb.mb_chroot, &ch->ch_confine);
		confine_user(mb.mb_uid, mb.mb_gid);
	}
	confine_caps(0);
	child_watch_parent();
}

/*
 * The EOF that a lost parent leaves does not reach one of us who is stopped
 * or hangs, and who would keep the listening sockets.  SIGCONT wakes the
 * one and interrupts the other; the EOF still comes first.
 */
static void
child_watch_parent(void)
{
	struct sigaction	 sa;

	child_parent = getppid();
	memset(&sa, 0, sizeof(sa));
	sa.sa_handler = child_woken;
	sa.sa_flags = SA_RESTART;
	if (sigaction(SIGCONT, &sa, NULL) == -1 ||
	    prctl(PR_SET_PDEATHSIG, SIGCONT) == -1)
		fatal("%s", __func__);
}

/* A shell that brings a job back sends the same signal. */
static void
child_woken(int sig __unused)
{
	if (getppid() != child_parent)
		(void)alarm(CHILD_LAST_TIMEOUT);
}

/* The last rights go, then the parent hears that we are ready. */
void
child_confine(struct child *ch, const struct confine_path *paths,
    size_t npaths, const char *promises)
{
	confine_paths(paths, npaths, &ch->ch_confine);
	confine_promise(promises, &ch->ch_confine);
	ch->ch_ready = 1;
	msg_ready_send(&ch->ch_parent, &ch->ch_confine);
}

int
child_run(struct child *ch)
{
	if (event_base_dispatch(ch->ch_base) == -1)
		fatalx("event loop failed");
	return (ch->ch_exit);
}

/*
 * EOF from the parent is the order to end.  Without a word before it the
 * parent was lost, which only the frontend reports: one line is enough.
 */
static void
child_parent_ended(struct imsg_chan *ic, enum imsg_end why)
{
	struct child	*ch = ic->ic_arg;

	if (why == IMSG_END_PROTOCOL)
		fatalx("parent: %s", ic->ic_error);
	if (!ch->ch_stopping) {
		if (ch->ch_ready && strcmp(log_procname(), "frontend") == 0)
			log_warnx("lost parent: its channel closed without "
			    "a stop; ending");
		ch->ch_exit = 1;
	}
	event_base_loopbreak(ch->ch_base);
}

/*
 * A lost sibling ends the daemon, but the parent says so: it knows how the
 * other died.  Its EOF is awaited for a bounded time.
 */
void
child_sibling_ended(struct imsg_chan *ic, enum imsg_end why)
{
	struct child	*ch = ic->ic_arg;
	struct timeval	 tv = { CHILD_ORPHAN_TIMEOUT, 0 };

	if (why == IMSG_END_PROTOCOL)
		fatalx("%s: %s", ic->ic_peer, ic->ic_error);
	if (why == IMSG_END_OVERFLOW)
		fatalx("%s: does not read its messages", ic->ic_peer);
	log_debug("channel to %s closed", ic->ic_peer);
	ch->ch_exit = 1;
	event_base_loopexit(ch->ch_base, &tv);
}

void
child_bad_message(struct imsg_chan *ic, const struct imsg *im)
{
	fatalx("%s: message %u (%u bytes) makes no sense", ic->ic_peer,
	    im->im_hdr.ih_type, im->im_hdr.ih_len);
}

void
child_verbose(struct imsg_chan *ic, struct imsg *im)
{
	uint32_t	 level;

	if (imsg_get_data(im, &level, sizeof(level)) == -1 ||
	    level < LOG_ERR || level > LOG_DEBUG)
		child_bad_message(ic, im);
	log_setlevel((int)level);
}

void
child_stop(struct imsg_chan *ic, struct imsg *im __unused)
{
	struct child	*ch = ic->ic_arg;

	ch->ch_stopping = 1;
}

/*
 * The channel to a sibling comes once, before anything is confined.  What
 * the sibling says is looked at after START, when everything is.
 */
int
child_peer(struct child *ch, struct imsg *im, enum msg_proc proc,
    struct imsg_chan *ic, const struct imsg_rule *rules, size_t nrules)
{
	uint32_t	 said;

	if (imsg_get_data(im, &said, sizeof(said)) == -1 || said != proc ||
	    ic->ic_fd != -1 || ch->ch_ready ||
	    ch->ch_npeers == CHILD_MAXPEERS)
		return (-1);
	imsg_chan_init(ic, msg_procname(proc), imsg_get_fd(im, 0),
	    ch->ch_base, rules, nrules, child_sibling_ended, ch);
	event_del(ic->ic_ev_read);
	ch->ch_peers[ch->ch_npeers++] = ic;
	return (0);
}

/* Siblings greet each other, so that a broken edge shows at once. */
void
child_hello_check(struct imsg_chan *ic, const struct imsg *im)
{
	uint32_t	 magic;

	if (imsg_get_data(im, &magic, sizeof(magic)) == -1 ||
	    magic != MSG_HELLO_MAGIC)
		child_bad_message(ic, im);
}

void
child_hello(struct imsg_chan *ic, struct imsg *im)
{
	struct child	*ch = ic->ic_arg;

	child_hello_check(ic, im);
	if (ch->ch_greeted)
		child_bad_message(ic, im);
	ch->ch_greeted = 1;
	imsg_send(ic, MSG_HELLO, 0, im->im_data, im->im_hdr.ih_len);
}

/*
 * A configuration: VALUES begins a new one, a second beginning before its
 * end is fatal, START puts it in force.
 */
void
child_conf_values(struct imsg_chan *ic, struct imsg *im)
{
	struct child	*ch = ic->ic_arg;

	if (ch->ch_nconf != NULL)
		child_bad_message(ic, im);
	ch->ch_nconf = conf_set_new();
	if (conf_values_recv(im, ch->ch_nconf) == -1)
		child_bad_message(ic, im);
}

void
child_conf_profile(struct imsg_chan *ic, struct imsg *im)
{
	struct child	*ch = ic->ic_arg;

	if (ch->ch_nconf == NULL || conf_profile_recv(im, ch->ch_nconf) == -1)
		child_bad_message(ic, im);
}

void
child_conf_item(struct imsg_chan *ic, struct imsg *im)
{
	struct child	*ch = ic->ic_arg;

	if (ch->ch_nconf == NULL || conf_item_recv(im, ch->ch_nconf) == -1)
		child_bad_message(ic, im);
}

void
child_conf_lang(struct imsg_chan *ic, struct imsg *im)
{
	struct child	*ch = ic->ic_arg;

	if (ch->ch_nconf == NULL || conf_lang_recv(im, ch->ch_nconf) == -1)
		child_bad_message(ic, im);
}

void
child_conf_commit(struct child *ch, const struct imsg *im)
{
	unsigned int	 i;

	if (ch->ch_nconf == NULL || !ch->ch_ready)
		child_bad_message(&ch->ch_parent, im);
	for (i = 0; ch->ch_conf == NULL && i < ch->ch_npeers; i++)
		event_add(ch->ch_peers[i]->ic_ev_read, NULL);
	conf_set_free(ch->ch_conf);
	ch->ch_conf = ch->ch_nconf;
	ch->ch_nconf = NULL;
}
