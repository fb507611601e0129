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

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conf.h"

struct conf_profile *
conf_profile_new(const char *name)
{
	struct conf_profile	*pr;
	int			 i;

	if ((pr = calloc(1, sizeof(*pr))) == NULL)
		return (NULL);
	if (strlcpy(pr->pr_name, name, sizeof(pr->pr_name)) >=
	    sizeof(pr->pr_name)) {
		free(pr);
		errno = ENAMETOOLONG;
		return (NULL);
	}
	for (i = 0; i < SET_LIMIT_COUNT; i++)
		pr->pr_limits[i] = settings[SET_LIMIT_FIRST + i].sd_default;
	TAILQ_INIT(&pr->pr_items);
	return (pr);
}

void
conf_profile_free(struct conf_profile *pr)
{
	struct conf_item	*it;

	if (pr == NULL)
		return;
	while ((it = TAILQ_FIRST(&pr->pr_items)) != NULL) {
		TAILQ_REMOVE(&pr->pr_items, it, it_entry);
		free(it->it_a);
		free(it->it_b);
		free(it);
	}
	free(pr);
}

struct conf_profile *
conf_profile_byname(struct conf_profiles *list, const char *name)
{
	struct conf_profile	*pr;

	TAILQ_FOREACH(pr, list, pr_entry) {
		if (strcmp(pr->pr_name, name) == 0)
			return (pr);
	}
	return (NULL);
}

int
conf_profile_add(struct conf_profile *pr, enum conf_item_kind kind,
    const char *a, const char *b)
{
	struct conf_item	*it;

	if (pr->pr_nitems >= CONF_MAX_ITEMS * ITEM_KINDS) {
		errno = E2BIG;
		return (-1);
	}
	if ((it = calloc(1, sizeof(*it))) == NULL)
		return (-1);
	it->it_kind = kind;
	if ((it->it_a = strdup(a)) == NULL ||
	    (b != NULL && (it->it_b = strdup(b)) == NULL)) {
		free(it->it_a);
		free(it);
		return (-1);
	}
	TAILQ_INSERT_TAIL(&pr->pr_items, it, it_entry);
	pr->pr_nitems++;
	return (0);
}

void
conf_profiles_clear(struct conf_profiles *list)
{
	struct conf_profile	*pr;

	while ((pr = TAILQ_FIRST(list)) != NULL) {
		TAILQ_REMOVE(list, pr, pr_entry);
		conf_profile_free(pr);
	}
}

void
conf_langs_clear(struct conf_langs *list)
{
	struct conf_lang	*la;

	while ((la = TAILQ_FIRST(list)) != NULL) {
		TAILQ_REMOVE(list, la, la_entry);
		free(la);
	}
}

void
conf_mounts_clear(struct conf_mounts *list)
{
	struct conf_mount	*mo;

	while ((mo = TAILQ_FIRST(list)) != NULL) {
		TAILQ_REMOVE(list, mo, mo_entry);
		free(mo);
	}
}
