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

#include <unistd.h>

#include "child.h"
#include "compat.h"
#include "log.h"

/*
 * The spawner: makes sandboxes and ends them.  It is told integers and
 * opaque descriptors, never a string of a request, and checks them against
 * its own copy of the configuration.  What the frontend asks beyond its
 * table is fatal.
 *
 * It holds what it will make sandboxes of: the profiles, the kind of
 * isolation, the range of user ids and the workspace as a descriptor.
 * Making them comes with its first capability; until then it needs none
 * and has none.
 */

#define SPAWNER_PROMISES	"stdio"

static void	spawner_peer(struct imsg_chan *, struct imsg *);
static void	spawner_conf_isolation(struct imsg_chan *, struct imsg *);
static void	spawner_workspace(struct imsg_chan *, struct imsg *);
static void	spawner_conf_end(struct imsg_chan *, struct imsg *);
static void	spawner_start(struct imsg_chan *, struct imsg *);

static const struct imsg_rule parent_rules[] = {
	{ MSG_PEER, "PEER", 4, 4, 1, spawner_peer },
	{ MSG_CONF_VALUES, "CONF_VALUES", 4, IMSG_MAXDATA, 0,
	    child_conf_values },
	{ MSG_CONF_PROFILE, "CONF_PROFILE", 8, IMSG_MAXDATA, 0,
	    child_conf_profile },
	{ MSG_CONF_ITEM, "CONF_ITEM", 8, IMSG_MAXDATA, 0,
	    child_conf_item },
	{ MSG_CONF_LANG, "CONF_LANG", 8, IMSG_MAXDATA, 0,
	    child_conf_lang },
	{ MSG_CONF_ISOLATION, "CONF_ISOLATION", 14, IMSG_MAXDATA, 0,
	    spawner_conf_isolation },
	{ MSG_WORKSPACE, "WORKSPACE", 0, 0, 1, spawner_workspace },
	{ MSG_CONF_END, "CONF_END", 0, 0, 0, spawner_conf_end },
	{ MSG_VERBOSE, "VERBOSE", 4, 4, 0, child_verbose },
	{ MSG_START, "START", 0, 0, 0, spawner_start },
	{ MSG_STOP, "STOP", 0, 0, 0, child_stop },
};

static const struct imsg_rule frontend_rules[] = {
	{ MSG_HELLO, "HELLO", 4, 4, 0, child_hello },
};

static struct child		 self;
static struct imsg_chan		 frontend = { .ic_fd = -1 };
static struct msg_isolation	 isolation;
static int			 workspace = -1;

int
main(int argc, char **argv __unused)
{
	child_init(&self, PROC_SPAWNER, argc, 0, parent_rules,
	    nitems(parent_rules));
	return (child_run(&self));
}

static void
spawner_peer(struct imsg_chan *ic, struct imsg *im)
{
	if (child_peer(&self, im, PROC_FRONTEND, &frontend, frontend_rules,
	    nitems(frontend_rules)) == -1)
		child_bad_message(ic, im);
}

/* Fixed at start: a reload that changes it is refused by the parent. */
static void
spawner_conf_isolation(struct imsg_chan *ic, struct imsg *im)
{
	if (self.ch_ready || msg_isolation_recv(im, &isolation) == -1)
		child_bad_message(ic, im);
}

static void
spawner_workspace(struct imsg_chan *ic, struct imsg *im)
{
	if (self.ch_ready || workspace != -1)
		child_bad_message(ic, im);
	workspace = imsg_get_fd(im, 0);
}

static void
spawner_conf_end(struct imsg_chan *ic, struct imsg *im)
{
	if (self.ch_nconf == NULL || TAILQ_EMPTY(&self.ch_nconf->cs_profiles) ||
	    workspace == -1 || isolation.mi_uid_first == 0)
		child_bad_message(ic, im);
	if (!self.ch_ready)
		child_confine(&self, NULL, 0, SPAWNER_PROMISES);
	else
		imsg_send(ic, MSG_CONF_DONE, 0, NULL, 0);
}

static void
spawner_start(struct imsg_chan *ic, struct imsg *im)
{
	if (frontend.ic_fd == -1)
		child_bad_message(ic, im);
	child_conf_commit(&self, im);
}

