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

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "ctl.h"
#include "log.h"
#include "parent.h"

static void	answer_proc(struct parent *, enum msg_proc,
		    struct msg_procinfo *);
static uint64_t	answer_field(const char *, const char *, int);

/*
 * Answers to the frontend, which asks for a control client.  The questions
 * carry no text: whatever the frontend has become, it can ask these and no
 * others.
 */

void
answer_result(struct parent *pa, uint32_t id, uint32_t code, const char *text)
{
	msg_result_send(&pa->pa_children[PROC_FRONTEND].cp_chan,
	    MSG_CTL_RESULT, id, code, text);
}

/* A number behind "Name:" in the text of /proc/pid/status, or 0. */
static uint64_t
answer_field(const char *status, const char *name, int base)
{
	const char	*p;

	if ((p = strstr(status, name)) == NULL)
		return (0);
	p += strlen(name);
	while (isspace((unsigned char)*p))
		p++;
	return (strtoull(p, NULL, base));
}

/* What the kernel says of a process, and what it said of itself. */
static void
answer_proc(struct parent *pa, enum msg_proc proc, struct msg_procinfo *mp)
{
	const struct child_proc	*cp = &pa->pa_children[proc];
	char			 path[64], status[4096];
	ssize_t			 n = -1;
	int			 fd;

	memset(mp, 0, sizeof(*mp));
	mp->mp_proc = proc;
	mp->mp_pid = (uint32_t)(proc == PROC_PARENT ? getpid() : cp->cp_pid);
	mp->mp_confine = cp->cp_confine;
	(void)snprintf(path, sizeof(path), "/proc/%u/status", mp->mp_pid);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) != -1) {
		n = read(fd, status, sizeof(status) - 1);
		close(fd);
	}
	if (n == -1) {
		log_warn("%s", path);
		return;
	}
	status[n] = '\0';
	mp->mp_uid = (uint32_t)answer_field(status, "\nUid:", 10);
	mp->mp_rss = answer_field(status, "\nVmRSS:", 10) * 1024;
	mp->mp_seccomp = (uint32_t)answer_field(status, "\nSeccomp:", 10);
	mp->mp_nonewprivs = (uint32_t)answer_field(status, "\nNoNewPrivs:",
	    10);
	mp->mp_caps = answer_field(status, "\nCapEff:", 16) |
	    answer_field(status, "\nCapPrm:", 16);
}

void
answer_show(struct imsg_chan *ic, struct imsg *im)
{
	struct parent		*pa = ic->ic_arg;
	struct msg_procinfo	 mp;
	int			 i;

	for (i = PROC_PARENT; i < PROC_COUNT; i++) {
		answer_proc(pa, (enum msg_proc)i, &mp);
		msg_procinfo_send(ic, MSG_CTL_PROC, im->im_hdr.ih_id, &mp);
	}
	answer_result(pa, im->im_hdr.ih_id, 0, "");
}

void
answer_config(struct imsg_chan *ic, struct imsg *im)
{
	struct parent	*pa = ic->ic_arg;
	FILE		*f;
	char		*text = NULL;
	size_t		 len = 0;
	int		 fd = -1;

	if ((f = open_memstream(&text, &len)) != NULL) {
		config_print(f, pa->pa_config, 0);
		if (fclose(f) == 0 && len <= CTL_TEXT_MAX)
			fd = memfd_sealed("config", text, len);
	}
	free(text);
	if (fd == -1) {
		answer_result(pa, im->im_hdr.ih_id, 1,
		    "the configuration cannot be printed");
		return;
	}
	imsg_send_fds(ic, MSG_CTL_TEXT, im->im_hdr.ih_id, NULL, 0, &fd, 1);
	answer_result(pa, im->im_hdr.ih_id, 0, "");
}

void
answer_reload(struct imsg_chan *ic, struct imsg *im)
{
	reload_begin(ic->ic_arg, im->im_hdr.ih_id);
}

void
answer_verbose(struct imsg_chan *ic, struct imsg *im)
{
	struct parent	*pa = ic->ic_arg;
	uint32_t	 level;

	if (imsg_get_data(im, &level, sizeof(level)) == -1 ||
	    level < LOG_ERR || level > LOG_DEBUG) {
		log_warnx("frontend: no such log level; ending");
		parent_end(pa, EXIT_LOST);
		return;
	}
	log_setlevel((int)level);
	child_proc_each(pa, MSG_VERBOSE, &level, sizeof(level));
	answer_result(pa, im->im_hdr.ih_id, 0, "");
}

void
answer_stop(struct imsg_chan *ic, struct imsg *im)
{
	struct parent	*pa = ic->ic_arg;

	log_info("stopping: asked by sbxctl");
	answer_result(pa, im->im_hdr.ih_id, 0, "");
	parent_end(pa, EXIT_STOP);
}
