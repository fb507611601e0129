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

#ifndef CHILD_H
#define CHILD_H

#include <event2/event.h>

#include "compat.h"
#include "conf_msg.h"
#include "confine.h"
#include "imsg.h"
#include "msg.h"

/*
 * What the frontend, the spawner and the reporter have in common: how they
 * are born, how they lose their rights, how they end.
 */

#define CHILD_FD	3	/* the channel to the parent */
#define CHILD_MAXPEERS	2

struct child {
	struct event_base	*ch_base;
	struct imsg_chan	 ch_parent;
	struct confine_state	 ch_confine;
	struct conf_set		*ch_conf;	/* in force */
	struct conf_set		*ch_nconf;	/* being received */
	struct imsg_chan	*ch_peers[CHILD_MAXPEERS];
	unsigned int		 ch_npeers;
	struct event		*ch_deadline;	/* of the first message */
	const struct imsg_rule	*ch_rules;	/* in force after it */
	size_t			 ch_nrules;
	int			 ch_keep_paths;
	int			 ch_greeted;	/* HELLO comes once */
	int			 ch_ready;
	int			 ch_stopping;
	int			 ch_exit;
};

void	 child_init(struct child *, enum msg_proc, int, int,
	    const struct imsg_rule *, size_t);
void	 child_confine(struct child *, const struct confine_path *, size_t,
	    const char *);
int	 child_run(struct child *);

void	 child_verbose(struct imsg_chan *, struct imsg *);
void	 child_stop(struct imsg_chan *, struct imsg *);
void	 child_conf_values(struct imsg_chan *, struct imsg *);
void	 child_conf_profile(struct imsg_chan *, struct imsg *);
void	 child_conf_item(struct imsg_chan *, struct imsg *);
void	 child_conf_lang(struct imsg_chan *, struct imsg *);
void	 child_conf_commit(struct child *, const struct imsg *);
int	 child_peer(struct child *, struct imsg *, enum msg_proc,
	    struct imsg_chan *, const struct imsg_rule *, size_t);
void	 child_hello(struct imsg_chan *, struct imsg *);
void	 child_hello_check(struct imsg_chan *, const struct imsg *);
void	 child_sibling_ended(struct imsg_chan *, enum imsg_end);
__dead void child_bad_message(struct imsg_chan *, const struct imsg *);

#endif /* CHILD_H */
