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
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "log.h"
#include "parent.h"

#define STOP_TIMEOUT	5000	/* ms for an orderly end */
#define LOST_TIMEOUT	500	/* ms when one of them is gone already */

static void	child_proc_ready(struct imsg_chan *, struct imsg *);
static void	child_proc_conf_done(struct imsg_chan *, struct imsg *);
static void	child_proc_mute(int, short, void *);
static void	child_proc_describe(int, char *, size_t);

static const struct imsg_rule frontend_rules[] = {
	{ MSG_READY, "READY", 14, 14 + CONFINE_PROMISELEN, 0,
	    child_proc_ready },
	{ MSG_CONF_DONE, "CONF_DONE", 0, 0, 0, child_proc_conf_done },
	{ MSG_CTL_SHOW, "CTL_SHOW", 0, 0, 0, answer_show },
	{ MSG_CTL_CONFIG, "CTL_CONFIG", 0, 0, 0, answer_config },
	{ MSG_CTL_RELOAD, "CTL_RELOAD", 0, 0, 0, answer_reload },
	{ MSG_CTL_VERBOSE, "CTL_VERBOSE", 4, 4, 0, answer_verbose },
	{ MSG_CTL_STOP, "CTL_STOP", 0, 0, 0, answer_stop },
};

/* The spawner's and the reporter's alike: they only answer. */
static const struct imsg_rule worker_rules[] = {
	{ MSG_READY, "READY", 14, 14 + CONFINE_PROMISELEN, 0,
	    child_proc_ready },
	{ MSG_CONF_DONE, "CONF_DONE", 0, 0, 0, child_proc_conf_done },
};

/*
 * The child's side between fork and exec: three standard descriptors, the
 * channel on the fourth, no argument but a name, no environment.
 */
static __dead void
child_proc_exec(const char *path, const char *name, int channel)
{
	char	*argv[2], *envp[1] = { NULL };
	char	 title[32];
	int	 null;

	(void)snprintf(title, sizeof(title), "sbxd: %s", name);
	argv[0] = title;
	argv[1] = NULL;
	if ((null = open("/dev/null", O_RDWR)) == -1 ||
	    dup2(null, STDIN_FILENO) == -1 ||
	    dup2(null, STDOUT_FILENO) == -1)
		fatal("%s: /dev/null", name);
	if (channel == CHILD_FD) {
		if (fcntl(channel, F_SETFD, 0) == -1)
			fatal("%s: channel", name);
	} else if (dup2(channel, CHILD_FD) == -1)
		fatal("%s: channel", name);
	if (close_range(CHILD_FD + 1, ~0U, 0) == -1)
		fatal("%s: close_range", name);
	execve(path, argv, envp);
	fatal("%s: %s", name, path);
}

void
child_proc_start(struct parent *pa, enum msg_proc proc, const char *libexec)
{
	struct child_proc	*cp = &pa->pa_children[proc];
	const char		*name = msg_procname(proc);
	sigset_t		 none;
	char			 path[PATH_MAX];
	int			 fds[2], n;

	n = snprintf(path, sizeof(path), "%s/%s", libexec, name);
	if (n < 0 || (size_t)n >= sizeof(path))
		fatalx("%s: path too long", name);
	if (imsg_pair(fds) == -1)
		fatal("socketpair");
	switch (cp->cp_pid = fork()) {
	case -1:
		fatal("fork");
	case 0:
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		child_proc_exec(path, name, fds[1]);
	}
	close(fds[1]);
	cp->cp_proc = proc;
	if (proc == PROC_FRONTEND)
		imsg_chan_init(&cp->cp_chan, name, fds[0], pa->pa_base,
		    frontend_rules, nitems(frontend_rules), child_proc_ended,
		    pa);
	else
		imsg_chan_init(&cp->cp_chan, name, fds[0], pa->pa_base,
		    worker_rules, nitems(worker_rules), child_proc_ended, pa);
}

/* A named pair between two that have something to say to each other. */
void
child_proc_wire(struct parent *pa, enum msg_proc a, enum msg_proc b)
{
	uint32_t	 proc;
	int		 fds[2];

	if (imsg_pair(fds) == -1)
		fatal("socketpair");
	proc = b;
	imsg_send_fds(&pa->pa_children[a].cp_chan, MSG_PEER, 0, &proc,
	    sizeof(proc), &fds[0], 1);
	proc = a;
	imsg_send_fds(&pa->pa_children[b].cp_chan, MSG_PEER, 0, &proc,
	    sizeof(proc), &fds[1], 1);
}

void
child_proc_each(struct parent *pa, uint32_t type, const void *data,
    size_t len)
{
	int	 i;

	for (i = PROC_PARENT + 1; i < PROC_COUNT; i++)
		imsg_send(&pa->pa_children[i].cp_chan, type, 0, data, len);
}

static struct child_proc *
child_proc_bychan(struct parent *pa, const struct imsg_chan *ic)
{
	int	 i;

	for (i = PROC_PARENT + 1; i < PROC_COUNT; i++) {
		if (&pa->pa_children[i].cp_chan == ic)
			return (&pa->pa_children[i]);
	}
	fatalx("%s: no such channel", __func__);
}

/* The barrier: when all are ready, all may start. */
static void
child_proc_ready(struct imsg_chan *ic, struct imsg *im)
{
	struct parent		*pa = ic->ic_arg;
	struct child_proc	*cp = child_proc_bychan(pa, ic);
	int			 i;

	if (cp->cp_ready || msg_ready_recv(im, &cp->cp_confine) == -1) {
		log_warnx("%s: READY makes no sense; ending", ic->ic_peer);
		parent_end(pa, EXIT_LOST);
		return;
	}
	cp->cp_ready = 1;
	for (i = PROC_PARENT + 1; i < PROC_COUNT; i++) {
		if (!pa->pa_children[i].cp_ready)
			return;
	}
	reload_done(pa);
}

static void
child_proc_conf_done(struct imsg_chan *ic, struct imsg *im __unused)
{
	struct parent		*pa = ic->ic_arg;
	struct child_proc	*cp = child_proc_bychan(pa, ic);
	int			 i;

	if (pa->pa_next == NULL || cp->cp_conf_done) {
		log_warnx("%s: CONF_DONE makes no sense; ending",
		    ic->ic_peer);
		parent_end(pa, EXIT_LOST);
		return;
	}
	cp->cp_conf_done = 1;
	for (i = PROC_PARENT + 1; i < PROC_COUNT; i++) {
		if (!pa->pa_children[i].cp_conf_done)
			return;
	}
	reload_done(pa);
}

/*
 * EOF: the child is dying; SIGCHLD will tell how.  One that only closed
 * its channel and lives is no better than a dead one.
 */
void
child_proc_ended(struct imsg_chan *ic, enum imsg_end why)
{
	struct parent	*pa = ic->ic_arg;
	struct timeval	 tv = { 0, 200 * 1000 };

	switch (why) {
	case IMSG_END_PROTOCOL:
		log_warnx("%s: %s; ending", ic->ic_peer, ic->ic_error);
		break;
	case IMSG_END_OVERFLOW:
		log_warnx("%s does not read its messages; ending",
		    ic->ic_peer);
		break;
	case IMSG_END_EOF:
		if (event_base_once(pa->pa_base, -1, EV_TIMEOUT,
		    child_proc_mute, ic, &tv) == 0)
			return;
		log_warnx("lost %s: its channel closed; ending", ic->ic_peer);
		break;
	}
	parent_end(pa, EXIT_LOST);
}

static void
child_proc_mute(int fd __unused, short event __unused, void *arg)
{
	struct imsg_chan	*ic = arg;
	struct log_event	 le = { .le_type = "process_lost" };
	const struct child_proc	*cp = child_proc_bychan(ic->ic_arg, ic);

	log_event(LOG_ERR, &le, "lost %s (pid %d): it closed its channel and "
	    "still runs; ending", ic->ic_peer, (int)cp->cp_pid);
	parent_end(ic->ic_arg, EXIT_LOST);
}

static void
child_proc_describe(int status, char *text, size_t size)
{
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
		(void)snprintf(text, size, "killed by signal %d (%s): it "
		    "made a system call outside its promises", SIGSYS,
		    strsignal(SIGSYS));
	else if (WIFSIGNALED(status))
		(void)snprintf(text, size, "killed by signal %d (%s)",
		    WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		(void)snprintf(text, size, "exited with status %d",
		    WEXITSTATUS(status));
}

/* SIGCHLD: any of them lost ends the daemon. */
void
child_proc_reap(int sig __unused, short event __unused, void *arg)
{
	struct parent		*pa = arg;
	struct log_event	 le = { .le_type = "process_lost" };
	char			 how[128];
	pid_t			 pid;
	int			 i, status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (i = PROC_PARENT + 1; i < PROC_COUNT; i++) {
			if (pa->pa_children[i].cp_pid == pid)
				break;
		}
		if (i == PROC_COUNT)
			continue;
		pa->pa_children[i].cp_pid = 0;
		child_proc_describe(status, how, sizeof(how));
		log_event(LOG_ERR, &le, "lost %s (pid %d): %s; ending",
		    msg_procname((enum msg_proc)i), (int)pid, how);
		parent_end(pa, EXIT_LOST);
		return;
	}
}

/* Word, EOF, time to go, and force for who does not. */
void
child_proc_stop(struct parent *pa, int lost)
{
	struct timespec	 ts = { 0, 5 * 1000 * 1000 };
	uint64_t	 deadline;
	pid_t		 pid;
	int		 alive, i, status;

	child_proc_each(pa, MSG_STOP, NULL, 0);
	for (i = PROC_PARENT + 1; i < PROC_COUNT; i++) {
		(void)imsg_chan_flush(&pa->pa_children[i].cp_chan, 100);
		imsg_chan_close(&pa->pa_children[i].cp_chan);
	}
	deadline = clock_msec() + (lost ? LOST_TIMEOUT : STOP_TIMEOUT);
	do {
		for (i = PROC_PARENT + 1, alive = 0; i < PROC_COUNT; i++) {
			if ((pid = pa->pa_children[i].cp_pid) == 0)
				continue;
			if (waitpid(pid, &status, WNOHANG) == 0)
				alive++;
			else
				pa->pa_children[i].cp_pid = 0;
		}
		if (alive != 0)
			nanosleep(&ts, NULL);
	} while (alive != 0 && clock_msec() < deadline);
	for (i = PROC_PARENT + 1; i < PROC_COUNT; i++) {
		if ((pid = pa->pa_children[i].cp_pid) == 0)
			continue;
		log_warnx("%s (pid %d) does not end: killing it",
		    msg_procname((enum msg_proc)i), (int)pid);
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, &status, 0);
		pa->pa_children[i].cp_pid = 0;
	}
}
