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

#ifndef CONF_H
#define CONF_H

#include <sys/queue.h>

#include <stdint.h>

#include "settings.h"

/*
 * The parts of a configuration that travel: what the parent parsed and a
 * child received are the same types.  Strings have a bound, lists a
 * maximum, numbers a range in settings.c; conf_msg.c carries them.
 */

#define CONF_NAMELEN		64	/* names of profiles, languages ... */
#define CONF_PATHLEN		1024
#define CONF_VALUELEN		2048	/* value of an environment variable */
#define CONF_URLLEN		1024
#define CONF_TOKENLEN		512
#define CONF_IDLEN		256	/* container id, pod name */
#define CONF_USERLEN		33

#define CONF_MAX_LISTEN		32
#define CONF_MAX_PROFILES	64
#define CONF_MAX_LANGS		64
#define CONF_MAX_MOUNTS		256
#define CONF_MAX_WARM		64
#define CONF_MAX_ITEMS		256	/* of one kind in one profile */

enum conf_isolation {
	ISOLATION_NATIVE,
	ISOLATION_BWRAP
};

enum conf_flag {
	CONF_EXECUTE_ASYNC	= 1 << 0,
	CONF_ARTIFACTS_CHANGED	= 1 << 1,
	CONF_NO_PROXY		= 1 << 2
};
#define CONF_FLAGS		0x7

/* One thing that a profile lists. */
enum conf_item_kind {
	ITEM_READONLY,		/* it_a: path shown read-only */
	ITEM_ENV,		/* it_a: name, it_b: value */
	ITEM_CALL_ADD,		/* it_a: system call allowed in addition */
	ITEM_CALL_REMOVE,	/* it_a: system call taken away */
	ITEM_KINDS
};

struct conf_item {
	TAILQ_ENTRY(conf_item)	 it_entry;
	enum conf_item_kind	 it_kind;
	char			*it_a;
	char			*it_b;
};
TAILQ_HEAD(conf_items, conf_item);

struct conf_profile {
	TAILQ_ENTRY(conf_profile) pr_entry;
	uint32_t		 pr_id;
	char			 pr_name[CONF_NAMELEN];
	char			 pr_root[CONF_PATHLEN];	/* "" for the host's */
	uint64_t		 pr_limits[SET_LIMIT_COUNT];
	struct conf_items	 pr_items;
	unsigned int		 pr_nitems;
};
TAILQ_HEAD(conf_profiles, conf_profile);

struct conf_lang {
	TAILQ_ENTRY(conf_lang)	 la_entry;
	char			 la_name[CONF_NAMELEN];
	char			 la_command[CONF_PATHLEN];
	char			 la_profile[CONF_NAMELEN];
	uint32_t		 la_warm;
	uint32_t		 la_strict;
};
TAILQ_HEAD(conf_langs, conf_lang);

struct conf_mount {
	TAILQ_ENTRY(conf_mount)	 mo_entry;
	char			 mo_name[CONF_NAMELEN];
	char			 mo_path[CONF_PATHLEN];
	uint32_t		 mo_readonly;
};
TAILQ_HEAD(conf_mounts, conf_mount);

struct conf_profile	*conf_profile_new(const char *);
void			 conf_profile_free(struct conf_profile *);
struct conf_profile	*conf_profile_byname(struct conf_profiles *,
			    const char *);
int			 conf_profile_add(struct conf_profile *,
			    enum conf_item_kind, const char *, const char *);
void			 conf_profiles_clear(struct conf_profiles *);
void			 conf_langs_clear(struct conf_langs *);
void			 conf_mounts_clear(struct conf_mounts *);

#endif /* CONF_H */
