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

#include <curl/curl.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "compat.h"
#include "log.h"

/*
 * The reporter: the only process that speaks to the control plane, holds
 * its token, and writes the spool.  It keeps its view of the file system,
 * because a name look-up and TLS read files that come and go, but Landlock
 * leaves it no more than those and the spool.
 */

#define REPORTER_PROMISES	"stdio inet unix dns rpath wpath cpath thread"

static void	reporter_peer(struct imsg_chan *, struct imsg *);
static void	reporter_callback(struct imsg_chan *, struct imsg *);
static void	reporter_spool(struct imsg_chan *, struct imsg *);
static void	reporter_conf_end(struct imsg_chan *, struct imsg *);
static void	reporter_start(struct imsg_chan *, struct imsg *);

static const struct imsg_rule parent_rules[] = {
	{ MSG_PEER, "PEER", 4, 4, 1, reporter_peer },
	{ MSG_CONF_VALUES, "CONF_VALUES", 4, IMSG_MAXDATA, 0,
	    child_conf_values },
	{ MSG_CALLBACK, "CALLBACK", 8, IMSG_MAXDATA, 0, reporter_callback },
	{ MSG_SPOOL, "SPOOL", 0, 0, 1, reporter_spool },
	{ MSG_CONF_END, "CONF_END", 0, 0, 0, reporter_conf_end },
	{ MSG_VERBOSE, "VERBOSE", 4, 4, 0, child_verbose },
	{ MSG_START, "START", 0, 0, 0, reporter_start },
	{ MSG_STOP, "STOP", 0, 0, 0, child_stop },
};

static const struct imsg_rule frontend_rules[] = {
	{ MSG_HELLO, "HELLO", 4, 4, 0, child_hello },
};

/* What a resolver and a TLS library look at. */
static const char *const reporter_files[] = {
	"/etc/resolv.conf", "/etc/hosts", "/etc/host.conf",
	"/etc/nsswitch.conf", "/etc/gai.conf", "/etc/services",
	"/etc/ssl", "/usr/share/ca-certificates", "/etc/ld.so.cache",
	"/usr/lib", "/lib", "/lib64", "/run/systemd/resolve",
	"/run/resolvconf",
};

static struct child		 self;
static struct imsg_chan		 frontend = { .ic_fd = -1 };
static struct msg_callback	 callback, ncallback;
static int			 spool = -1;

int
main(int argc, char **argv __unused)
{
	child_init(&self, PROC_REPORTER, argc, 1, parent_rules,
	    nitems(parent_rules));
	return (child_run(&self));
}

static void
reporter_peer(struct imsg_chan *ic, struct imsg *im)
{
	if (child_peer(&self, im, PROC_FRONTEND, &frontend, frontend_rules,
	    nitems(frontend_rules)) == -1)
		child_bad_message(ic, im);
}

static void
reporter_callback(struct imsg_chan *ic, struct imsg *im)
{
	if (self.ch_nconf == NULL || msg_callback_recv(im, &ncallback) == -1)
		child_bad_message(ic, im);
}

static void
reporter_spool(struct imsg_chan *ic, struct imsg *im)
{
	if (self.ch_ready || spool != -1)
		child_bad_message(ic, im);
	spool = imsg_get_fd(im, 0);
}

/* libcurl opens and sets up all it needs before the doors close. */
static void
reporter_confine(void)
{
	struct confine_path	 paths[nitems(reporter_files) + 1];
	size_t			 i;

	if (curl_global_init(CURL_GLOBAL_ALL) != CURLE_OK)
		fatalx("libcurl does not start");
	for (i = 0; i < nitems(reporter_files); i++) {
		paths[i].cp_path = reporter_files[i];
		paths[i].cp_fd = -1;
		paths[i].cp_access = "r";
	}
	paths[i].cp_path = NULL;
	paths[i].cp_fd = spool;
	paths[i].cp_access = "rw";
	child_confine(&self, paths, nitems(paths), REPORTER_PROMISES);
}

static void
reporter_conf_end(struct imsg_chan *ic, struct imsg *im)
{
	if (self.ch_nconf == NULL || spool == -1)
		child_bad_message(ic, im);
	if (!self.ch_ready)
		reporter_confine();
	else
		imsg_send(ic, MSG_CONF_DONE, 0, NULL, 0);
}

static void
reporter_start(struct imsg_chan *ic, struct imsg *im)
{
	if (frontend.ic_fd == -1)
		child_bad_message(ic, im);
	child_conf_commit(&self, im);
	if (ncallback.mk_keep_token)
		memcpy(ncallback.mk_token, callback.mk_token,
		    sizeof(ncallback.mk_token));
	callback = ncallback;
	explicit_bzero(&ncallback, sizeof(ncallback));
}

