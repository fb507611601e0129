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

#include <netinet/in.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "parent.h"

/*
 * A reload happens beside what runs: the file is parsed into a new object,
 * new sockets are opened, and only when nothing can fail any more the
 * children are told.  They collect it, answer CONF_DONE, and START puts it
 * in force in all of them.  Whatever goes wrong before leaves everything
 * as it was, and the asker hears why.
 */

#define RELOAD_TIMEOUT	10	/* s for the children to answer */

static const char *reload_fixed(const struct config *, const struct config *);
static int	reload_open(struct parent *, struct config *, int *, char *,
		    size_t);

static void
reload_fail(struct parent *pa, uint32_t asker, struct config *cf,
    const char *why)
{
	log_warnx("reload failed, the configuration before it stays: %s",
	    why);
	if (asker != 0)
		answer_result(pa, asker, 1, why);
	config_free(cf);
	notify_send("READY=1");
}

/* NULL, or what only a restart can change. */
static const char *
reload_fixed(const struct config *a, const struct config *b)
{
	if (memcmp(a->cf_users, b->cf_users, sizeof(a->cf_users)) != 0)
		return ("user");
	if (strcmp(a->cf_control, b->cf_control) != 0 ||
	    strcmp(a->cf_control_group, b->cf_control_group) != 0)
		return ("control socket");
	if (strcmp(a->cf_chroot, b->cf_chroot) != 0)
		return ("chroot");
	if (strcmp(a->cf_spool, b->cf_spool) != 0)
		return ("spool");
	if (strcmp(a->cf_workspace, b->cf_workspace) != 0)
		return ("workspace");
	if (a->cf_isolation != b->cf_isolation ||
	    strcmp(a->cf_bwrap, b->cf_bwrap) != 0)
		return ("isolation");
	if (a->cf_uid_first != b->cf_uid_first ||
	    a->cf_uid_last != b->cf_uid_last)
		return ("sandbox uid");
	if (a->cf_logformat != b->cf_logformat)
		return ("log format");
	return (NULL);
}

static in_port_t
reload_port(const struct config_listen *li)
{
	if (li->li_ss.ss_family == AF_INET)
		return (((const struct sockaddr_in *)&li->li_ss)->sin_port);
	return (((const struct sockaddr_in6 *)&li->li_ss)->sin6_port);
}

static struct config_listen *
reload_find(const struct config *cf, const struct config_listen *want)
{
	struct config_listen	*li;

	TAILQ_FOREACH(li, &cf->cf_listens, li_entry) {
		if (li->li_sslen == want->li_sslen && memcmp(&li->li_ss,
		    &want->li_ss, li->li_sslen) == 0 &&
		    li->li_proxy == want->li_proxy &&
		    li->li_mode == want->li_mode &&
		    strcmp(li->li_group, want->li_group) == 0)
			return (li);
	}
	return (NULL);
}

/* A listener that goes only when the new ones are there. */
static int
reload_in_the_way(const struct config *cf, const struct config_listen *want)
{
	const struct config_listen	*li;

	TAILQ_FOREACH(li, &cf->cf_listens, li_entry) {
		if (li->li_ss.ss_family == AF_UNIX ||
		    want->li_ss.ss_family == AF_UNIX) {
			if (li->li_sslen == want->li_sslen &&
			    memcmp(&li->li_ss, &want->li_ss, li->li_sslen) ==
			    0)
				return (1);
		} else if (reload_port(li) == reload_port(want))
			return (1);
	}
	return (0);
}

/* Sockets for what is new; what stays keeps its id. */
static int
reload_open(struct parent *pa, struct config *cf, int *fds, char *error,
    size_t size)
{
	struct config_listen	*li, *old, *bad = NULL;
	int			 i = 0;

	TAILQ_FOREACH(li, &cf->cf_listens, li_entry) {
		fds[i] = -1;
		if ((old = reload_find(pa->pa_config, li)) != NULL)
			li->li_id = old->li_id;
		else if ((fds[i] = priv_listen(li, error, size)) == -1) {
			if (reload_in_the_way(pa->pa_config, li))
				(void)strlcat(error, "; sbxd itself listens "
				    "there: restart it to change that", size);
			bad = li;
			goto fail;
		} else
			li->li_id = pa->pa_next_listen++;
		i++;
	}
	return (0);
 fail:
	i = 0;
	TAILQ_FOREACH(li, &cf->cf_listens, li_entry) {
		if (li == bad)
			break;
		if (fds[i] != -1) {
			close(fds[i]);
			if (li->li_ss.ss_family == AF_UNIX)
				priv_forget_socket(((struct sockaddr_un *)
				    &li->li_ss)->sun_path);
		}
		i++;
	}
	return (-1);
}

void
reload_begin(struct parent *pa, uint32_t asker)
{
	struct config_errors	 errors;
	struct config		*cf;
	struct timeval		 tv = { RELOAD_TIMEOUT, 0 };
	const char		*why;
	char			 text[512];
	int			 fds[CONF_MAX_LISTEN], i;

	if (pa->pa_next != NULL || !pa->pa_started) {
		/* A signal cannot be told to come back. */
		if (asker != 0)
			answer_result(pa, asker, 1,
			    "a start or reload is under way");
		else
			pa->pa_again = 1;
		return;
	}
	notify_send("RELOADING=1");
	if (strcmp(pa->pa_file, "-") == 0) {
		reload_fail(pa, asker, NULL, "the configuration came from "
		    "the standard input, which is over: restart sbxd");
		return;
	}
	memset(&errors, 0, sizeof(errors));
	if ((cf = config_load(pa->pa_file, pa->pa_file_given, &errors)) ==
	    NULL) {
		reload_fail(pa, asker, NULL, errors.ce_text);
		return;
	}
	if ((why = reload_fixed(pa->pa_config, cf)) != NULL) {
		(void)snprintf(text, sizeof(text), "%s cannot be changed by "
		    "a reload: restart sbxd", why);
		reload_fail(pa, asker, cf, text);
		return;
	}
	if (token_missing(pa, cf)) {
		reload_fail(pa, asker, cf,
		    "token: a listener wants one, and the file names none");
		return;
	}
	if (reload_open(pa, cf, fds, text, sizeof(text)) == -1) {
		reload_fail(pa, asker, cf, text);
		return;
	}
	token_reload(pa, cf);
	pa->pa_next = cf;
	pa->pa_asker = asker;
	for (i = PROC_PARENT + 1; i < PROC_COUNT; i++)
		pa->pa_children[i].cp_conf_done = 0;
	conf_send(pa, cf, fds);
	config_forget_secrets(cf);
	evtimer_add(pa->pa_deadline, &tv);
}

static void
reload_forget_sockets(const struct config *old, const struct config *cf)
{
	const struct config_listen	*li;

	TAILQ_FOREACH(li, &old->cf_listens, li_entry) {
		if (li->li_ss.ss_family == AF_UNIX &&
		    reload_find(cf, li) == NULL)
			priv_forget_socket(((const struct sockaddr_un *)
			    &li->li_ss)->sun_path);
	}
}

/* All have it: one word, the frontend last. */
void
reload_done(struct parent *pa)
{
	static const enum msg_proc order[] = {
		PROC_SPAWNER, PROC_REPORTER, PROC_FRONTEND
	};
	uint32_t	 level;
	size_t		 i;

	evtimer_del(pa->pa_deadline);
	for (i = 0; i < nitems(order); i++)
		imsg_send(&pa->pa_children[order[i]].cp_chan, MSG_START, 0,
		    NULL, 0);
	if (!pa->pa_started) {
		pa->pa_started = 1;
		log_info("ready");
	} else {
		reload_forget_sockets(pa->pa_config, pa->pa_next);
		config_free(pa->pa_config);
		pa->pa_config = pa->pa_next;
		pa->pa_next = NULL;
		if (!pa->pa_verbose) {
			level = (uint32_t)pa->pa_config->cf_loglevel;
			log_setlevel((int)level);
			child_proc_each(pa, MSG_VERBOSE, &level,
			    sizeof(level));
		}
		log_info("configuration reloaded");
		if (pa->pa_asker != 0)
			answer_result(pa, pa->pa_asker, 0, "");
	}
	notify_send("READY=1");
	if (pa->pa_again) {
		pa->pa_again = 0;
		reload_begin(pa, 0);
	}
}
