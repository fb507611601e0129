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

#ifndef CONF_MSG_H
#define CONF_MSG_H

#include "conf.h"
#include "imsg.h"

/* What a child has been told; it collects into a new one on a reload. */
struct conf_set {
	uint64_t		 cs_values[SET_COUNT];
	uint32_t		 cs_flags;
	struct conf_profiles	 cs_profiles;
	struct conf_langs	 cs_langs;
	unsigned int		 cs_nprofiles;
	unsigned int		 cs_nlangs;
};

struct conf_set	*conf_set_new(void);
void		 conf_set_free(struct conf_set *);

void	 conf_values_send(struct imsg_chan *, const uint64_t [SET_COUNT],
	    uint32_t);
int	 conf_values_recv(const struct imsg *, struct conf_set *);
void	 conf_profile_send(struct imsg_chan *, const struct conf_profile *,
	    int);
int	 conf_profile_recv(const struct imsg *, struct conf_set *);
int	 conf_item_recv(const struct imsg *, struct conf_set *);
void	 conf_lang_send(struct imsg_chan *, const struct conf_lang *);
int	 conf_lang_recv(const struct imsg *, struct conf_set *);

#endif /* CONF_MSG_H */
