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

#include <stdlib.h>
#include <string.h>

#include "conf_msg.h"
#include "log.h"
#include "msg.h"

struct conf_set *
conf_set_new(void)
{
	struct conf_set	*cs;

	if ((cs = calloc(1, sizeof(*cs))) == NULL)
		fatal("%s", __func__);
	TAILQ_INIT(&cs->cs_profiles);
	TAILQ_INIT(&cs->cs_langs);
	setting_defaults(cs->cs_values);
	return (cs);
}

void
conf_set_free(struct conf_set *cs)
{
	if (cs == NULL)
		return;
	conf_profiles_clear(&cs->cs_profiles);
	conf_langs_clear(&cs->cs_langs);
	free(cs);
}

void
conf_values_send(struct imsg_chan *ic, const uint64_t values[SET_COUNT],
    uint32_t flags)
{
	struct ibuf	 ib;

	ibuf_init(&ib);
	ibuf_add_u32(&ib, flags);
	ibuf_add(&ib, values, SET_COUNT * sizeof(values[0]));
	imsg_send_ibuf(ic, MSG_CONF_VALUES, 0, &ib, NULL, 0);
}

int
conf_values_recv(const struct imsg *im, struct conf_set *cs)
{
	struct ibuf_reader	 ir;
	int			 i;

	imsg_get_reader(im, &ir);
	ibuf_get_u32(&ir, &cs->cs_flags);
	ibuf_get(&ir, cs->cs_values, sizeof(cs->cs_values));
	if (ibuf_end(&ir) == -1 || (cs->cs_flags & ~(uint32_t)CONF_FLAGS))
		return (-1);
	for (i = 0; i < SET_COUNT; i++) {
		if (!setting_valid((enum setting)i, cs->cs_values[i]))
			return (-1);
	}
	return (0);
}

/* Without paths for a receiver that must not know any. */
void
conf_profile_send(struct imsg_chan *ic, const struct conf_profile *pr,
    int paths)
{
	const struct conf_item	*it;
	struct ibuf		 ib;

	ibuf_init(&ib);
	ibuf_add_u32(&ib, pr->pr_id);
	ibuf_add_str(&ib, pr->pr_name);
	ibuf_add_str(&ib, paths ? pr->pr_root : "");
	ibuf_add(&ib, pr->pr_limits, sizeof(pr->pr_limits));
	imsg_send_ibuf(ic, MSG_CONF_PROFILE, 0, &ib, NULL, 0);

	TAILQ_FOREACH(it, &pr->pr_items, it_entry) {
		if (!paths && it->it_kind != ITEM_ENV)
			continue;
		ibuf_init(&ib);
		ibuf_add_u32(&ib, it->it_kind);
		ibuf_add_str(&ib, it->it_a);
		ibuf_add_str(&ib, it->it_b != NULL ? it->it_b : "");
		imsg_send_ibuf(ic, MSG_CONF_ITEM, 0, &ib, NULL, 0);
	}
}

int
conf_profile_recv(const struct imsg *im, struct conf_set *cs)
{
	struct conf_profile	*pr;
	struct ibuf_reader	 ir;
	int			 i;

	if (cs->cs_nprofiles >= CONF_MAX_PROFILES ||
	    (pr = conf_profile_new("")) == NULL)
		return (-1);
	imsg_get_reader(im, &ir);
	ibuf_get_u32(&ir, &pr->pr_id);
	ibuf_get_str(&ir, pr->pr_name, sizeof(pr->pr_name));
	ibuf_get_str(&ir, pr->pr_root, sizeof(pr->pr_root));
	ibuf_get(&ir, pr->pr_limits, sizeof(pr->pr_limits));
	if (ibuf_end(&ir) == -1 || pr->pr_id != cs->cs_nprofiles ||
	    pr->pr_name[0] == '\0')
		goto fail;
	for (i = 0; i < SET_LIMIT_COUNT; i++) {
		if (!setting_valid((enum setting)(SET_LIMIT_FIRST + i),
		    pr->pr_limits[i]))
			goto fail;
	}
	TAILQ_INSERT_TAIL(&cs->cs_profiles, pr, pr_entry);
	cs->cs_nprofiles++;
	return (0);
 fail:
	conf_profile_free(pr);
	return (-1);
}

/* Belongs to the profile received last. */
int
conf_item_recv(const struct imsg *im, struct conf_set *cs)
{
	struct conf_profile	*pr;
	struct ibuf_reader	 ir;
	uint32_t		 kind;
	char			 a[CONF_PATHLEN], b[CONF_VALUELEN];

	if ((pr = TAILQ_LAST(&cs->cs_profiles, conf_profiles)) == NULL)
		return (-1);
	imsg_get_reader(im, &ir);
	ibuf_get_u32(&ir, &kind);
	ibuf_get_str(&ir, a, sizeof(a));
	ibuf_get_str(&ir, b, sizeof(b));
	if (ibuf_end(&ir) == -1 || kind >= ITEM_KINDS || a[0] == '\0')
		return (-1);
	return (conf_profile_add(pr, (enum conf_item_kind)kind, a,
	    kind == ITEM_ENV ? b : NULL));
}

void
conf_lang_send(struct imsg_chan *ic, const struct conf_lang *la)
{
	struct ibuf	 ib;

	ibuf_init(&ib);
	ibuf_add_str(&ib, la->la_name);
	ibuf_add_str(&ib, la->la_command);
	ibuf_add_str(&ib, la->la_profile);
	ibuf_add_u32(&ib, la->la_warm);
	ibuf_add_u32(&ib, la->la_strict);
	imsg_send_ibuf(ic, MSG_CONF_LANG, 0, &ib, NULL, 0);
}

int
conf_lang_recv(const struct imsg *im, struct conf_set *cs)
{
	struct conf_lang	*la;
	struct ibuf_reader	 ir;

	if (cs->cs_nlangs >= CONF_MAX_LANGS ||
	    (la = calloc(1, sizeof(*la))) == NULL)
		return (-1);
	imsg_get_reader(im, &ir);
	ibuf_get_str(&ir, la->la_name, sizeof(la->la_name));
	ibuf_get_str(&ir, la->la_command, sizeof(la->la_command));
	ibuf_get_str(&ir, la->la_profile, sizeof(la->la_profile));
	ibuf_get_u32(&ir, &la->la_warm);
	ibuf_get_u32(&ir, &la->la_strict);
	if (ibuf_end(&ir) == -1 || la->la_name[0] == '\0' ||
	    la->la_strict > 1 || la->la_warm > CONF_MAX_WARM ||
	    conf_profile_byname(&cs->cs_profiles, la->la_profile) == NULL) {
		free(la);
		return (-1);
	}
	TAILQ_INSERT_TAIL(&cs->cs_langs, la, la_entry);
	cs->cs_nlangs++;
	return (0);
}
