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

#include <string.h>

#include "conf_msg.h"
#include "log.h"
#include "parent.h"

/*
 * A configuration to the children, each of whom hears only its part: the
 * frontend no path, the spawner no token, the reporter no profile.
 */

static void
conf_send_listen(struct parent *pa, const struct config_listen *li, int fd)
{
	struct imsg_chan	*ic = &pa->pa_children[PROC_FRONTEND].cp_chan;
	struct msg_listen	 ml;

	memset(&ml, 0, sizeof(ml));
	ml.ml_id = li->li_id;
	ml.ml_proxy = li->li_proxy != 0;
	ml.ml_auth = li->li_auth == AUTH_TOKEN;
	if (fd != -1)
		imsg_send_fds(ic, MSG_LISTEN, 0, &ml, sizeof(ml), &fd, 1);
	else
		imsg_send(ic, MSG_LISTEN_KEEP, 0, &ml, sizeof(ml));
}

static void
conf_send_lists(struct imsg_chan *ic, const struct config *cf, int paths)
{
	const struct conf_profile	*pr;
	const struct conf_lang		*la;

	TAILQ_FOREACH(pr, &cf->cf_profiles, pr_entry)
		conf_profile_send(ic, pr, paths);
	TAILQ_FOREACH(la, &cf->cf_langs, la_entry)
		conf_lang_send(ic, la);
}

static void
conf_send_callback(struct parent *pa, const struct config *cf)
{
	struct msg_callback	 mk;

	memset(&mk, 0, sizeof(mk));
	(void)strlcpy(mk.mk_url, cf->cf_cp_url, sizeof(mk.mk_url));
	(void)strlcpy(mk.mk_token, cf->cf_cp_token, sizeof(mk.mk_token));
	(void)strlcpy(mk.mk_container, cf->cf_container_id,
	    sizeof(mk.mk_container));
	(void)strlcpy(mk.mk_pod, cf->cf_pod_name, sizeof(mk.mk_pod));
	mk.mk_keep_token = cf->cf_cp_token[0] == '\0' &&
	    pa->pa_cp_token_kept;
	msg_callback_send(&pa->pa_children[PROC_REPORTER].cp_chan, &mk);
	explicit_bzero(&mk, sizeof(mk));
}

/*
 * The longest configuration is written in one go, before anybody can have
 * read the beginning of it: that is not a child that does not read.
 */
static void
conf_send_room(struct parent *pa, const struct config *cf)
{
	const struct conf_profile	*pr;
	size_t				 n = 0;
	int				 i;

	TAILQ_FOREACH(pr, &cf->cf_profiles, pr_entry)
		n += 1 + pr->pr_nitems;
	n += CONF_MAX_LANGS + CONF_MAX_LISTEN;
	for (i = PROC_PARENT + 1; i < PROC_COUNT; i++)
		pa->pa_children[i].cp_chan.ic_high = IMSG_HIGH_DEFAULT + n;
}

/*
 * fds has a socket for each listener of the list, or -1 for one that the
 * frontend holds already.
 */
void
conf_send(struct parent *pa, const struct config *cf, const int *fds)
{
	struct imsg_chan		*ic;
	const struct config_listen	*li;
	struct msg_auth			 ma;
	int				 i;

	conf_send_room(pa, cf);
	for (i = PROC_PARENT + 1; i < PROC_COUNT; i++)
		conf_values_send(&pa->pa_children[i].cp_chan, cf->cf_values,
		    cf->cf_flags);

	ic = &pa->pa_children[PROC_FRONTEND].cp_chan;
	conf_send_lists(ic, cf, 0);
	i = 0;
	TAILQ_FOREACH(li, &cf->cf_listens, li_entry)
		conf_send_listen(pa, li, fds[i++]);
	memset(&ma, 0, sizeof(ma));
	ma.ma_set = 1;
	memcpy(ma.ma_digest, pa->pa_digest, sizeof(ma.ma_digest));
	imsg_send(ic, MSG_AUTH, 0, &ma, sizeof(ma));

	conf_send_lists(&pa->pa_children[PROC_SPAWNER].cp_chan, cf, 1);
	conf_send_callback(pa, cf);
	child_proc_each(pa, MSG_CONF_END, NULL, 0);
}
