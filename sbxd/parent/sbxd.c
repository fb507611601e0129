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
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <linux/capability.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "compat.h"
#include "confine.h"
#include "log.h"
#include "parent.h"
#include "version.h"

/*
 * The parent of all: it reads the configuration, opens what takes
 * privilege to open, starts the frontend, the spawner and the reporter,
 * gives each what it is to know, and then waits: for a signal, for a word
 * from the frontend on behalf of a control client, for the death of a
 * child.  It never sees a request.
 *
 * Start: options, configuration, sockets and directories (so that every
 * mistake shows at the terminal, as one line), children by fork and exec
 * with an empty environment and one descriptor, BOOT, the pairs between
 * siblings, descriptors, configuration.  Each child confines itself and
 * says READY; when all have, START goes out.  Then the parent gives up
 * what it does not need any more itself.
 *
 * End: MSG_STOP, then EOF on the channels is the order; whoever does not
 * go is killed.  Any child lost ends the daemon.
 */

#define SBXD_FILES	66000	/* descriptors, if the limit allows */
#define START_TIMEOUT	20	/* s until all are READY */

#define PARENT_PROMISES	"stdio proc rpath cpath inet unix"
#define PARENT_CAPS	(1ULL << CAP_KILL | 1ULL << CAP_CHOWN | \
			    1ULL << CAP_NET_BIND_SERVICE)

static __dead void usage(const char *, const char *);
static void	parent_start(struct parent *);
static void	parent_signal(int, short, void *);
static void	parent_late(int, short, void *);
static void	parent_confine(struct parent *);
static void	parent_daemonize(struct parent *);
static void	parent_libexec(char *, size_t);
static void	parent_setlog(struct parent *);

static struct parent	 self;

static __dead void
usage(const char *wrong, const char *what)
{
	fatalx("%s %s; usage: sbxd [-dnv] [-D macro=value] [-f file]", wrong,
	    what);
}

int
main(int argc, char **argv)
{
	struct config_errors	 errors;
	char			 option[3] = "-?";
	int			 ch, noaction = 0;

	if (fd_ensure_stdio() == -1)
		exit(1);
	log_init("parent", LOG_FORMAT_PLAIN, LOG_INFO);
	self.pa_file = CONFIG_FILE;
	while ((ch = getopt(argc, argv, "+:D:df:nv")) != -1) {
		switch (ch) {
		case 'D':
			if (config_macro(optarg) == -1)
				fatalx("-D %s: not of the form macro=value",
				    optarg);
			break;
		case 'd':
			self.pa_foreground = 1;
			break;
		case 'f':
			self.pa_file = optarg;
			self.pa_file_given = 1;
			break;
		case 'n':
			noaction = 1;
			break;
		case 'v':
			self.pa_verbose = 1;
			break;
		default:
			option[1] = (char)optopt;
			usage(ch == ':' ? "nothing follows" :
			    "unknown option", option);
		}
	}
	if (optind != argc)
		usage("unexpected argument", argv[optind]);

	memset(&errors, 0, sizeof(errors));
	if ((self.pa_config = config_load(self.pa_file, self.pa_file_given,
	    &errors)) == NULL)
		exit(1);
	if (noaction) {
		if (self.pa_verbose)
			config_print(stdout, self.pa_config, 1);
		if (fflush(stdout) != 0)
			fatal("standard output");
		fprintf(stderr, "configuration OK\n");
		config_free(self.pa_config);
		exit(0);
	}
	parent_start(&self);
	if (event_base_dispatch(self.pa_base) == -1)
		fatalx("event loop failed");

	notify_send("STOPPING=1");
	child_proc_stop(&self, self.pa_exit == EXIT_LOST);
	priv_unlink_sockets();
	log_info("stopped");
	return (self.pa_exit);
}

/* From anywhere: leave the loop with this status; the first one counts. */
void
parent_end(struct parent *pa, int status)
{
	static int	 ending;

	if (!ending)
		pa->pa_exit = status;
	ending = 1;
	event_base_loopbreak(pa->pa_base);
}

/* Where the other programs are: beside our own directory. */
static void
parent_libexec(char *path, size_t size)
{
	char	 exe[PATH_MAX], *slash;
	ssize_t	 n;
	int	 i;

	if ((n = readlink("/proc/self/exe", exe, sizeof(exe) - 1)) == -1)
		fatal("/proc/self/exe (is /proc mounted?)");
	exe[n] = '\0';
	for (i = 0; i < 2; i++) {
		if ((slash = strrchr(exe, '/')) == NULL)
			fatalx("%s: not a path", exe);
		*slash = '\0';
	}
	n = snprintf(path, size, "%s/libexec/sbxd", exe);
	if (n < 0 || (size_t)n >= size)
		fatalx("%s: path too long", exe);
	if (access(path, X_OK) == -1)
		fatal("%s", path);
}

static void
parent_setlog(struct parent *pa)
{
	const struct config	*cf = pa->pa_config;
	int			 json;

	json = cf->cf_logformat == LOGFORMAT_JSON ||
	    (cf->cf_logformat == LOGFORMAT_AUTO && !isatty(STDERR_FILENO));
	log_setformat(json ? LOG_FORMAT_JSON : LOG_FORMAT_TEXT);
	log_setlevel(pa->pa_verbose ? LOG_DEBUG : cf->cf_loglevel);
}

/*
 * The log goes to the system's from here on, for all of us, and the file is
 * found again from the root directory.
 */
static void
parent_daemonize(struct parent *pa)
{
	struct sockaddr_un	 sun;
	char			 cwd[PATH_MAX], *file;
	int			 fd;

	memset(&sun, 0, sizeof(sun));
	sun.sun_family = AF_UNIX;
	(void)strlcpy(sun.sun_path, "/dev/log", sizeof(sun.sun_path));
	if ((fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) == -1 ||
	    connect(fd, (struct sockaddr *)&sun, sizeof(sun)) == -1)
		fatal("/dev/log: no system log to write to; -d stays in the "
		    "foreground and logs to standard error");
	if (pa->pa_file[0] != '/' && strcmp(pa->pa_file, "-") != 0) {
		if (getcwd(cwd, sizeof(cwd)) == NULL ||
		    asprintf(&file, "%s/%s", cwd, pa->pa_file) == -1)
			fatal("%s", pa->pa_file);
		pa->pa_file = file;
	}
	if (daemon(0, 0) == -1)
		fatal("daemon");
	if (dup2(fd, STDERR_FILENO) == -1)
		exit(1);
	close(fd);
	log_setsyslog(1);
}

struct opened {
	struct priv_user	 op_users[USER_COUNT];
	int			 op_listens[CONF_MAX_LISTEN];
	int			 op_control;
	uint32_t		 op_control_gid;
	int			 op_workspace;
	int			 op_spool;
};

static void
parent_open_users(const struct config *cf, struct opened *op)
{
	int	 i, j;

	for (i = 0; i < USER_COUNT; i++) {
		if (priv_lookup_user(cf->cf_users[i], &op->op_users[i]) ==
		    -1)
			fatalx("user %s: not there, or root; make it with "
			    "'useradd --system %s' or name another with "
			    "'user %s \"name\"'", cf->cf_users[i],
			    cf->cf_users[i],
			    msg_procname((enum msg_proc)(i + 1)));
		for (j = 0; j < i; j++) {
			if (op->op_users[i].pu_uid == op->op_users[j].pu_uid)
				fatalx("users %s and %s have the same id; "
				    "each process needs its own",
				    cf->cf_users[j], cf->cf_users[i]);
		}
	}
}

/* Everything that can be wrong with this machine shows here. */
static void
parent_open(struct parent *pa, struct opened *op)
{
	struct config		*cf = pa->pa_config;
	struct config_listen	*li;
	const char		*why;
	char			 error[512];
	int			 fd, i = 0;

	if (geteuid() == 0) {
		parent_open_users(cf, op);
		if ((fd = priv_dir(cf->cf_chroot, 0, 0, 0555, &why)) == -1 ||
		    !priv_dir_empty(fd, &why))
			fatalx("chroot %s: %s", cf->cf_chroot, why);
		close(fd);
	}
	if ((op->op_workspace = priv_workspace(cf, error, sizeof(error))) ==
	    -1 || (op->op_spool = priv_spool(cf,
	    &op->op_users[USER_REPORTER], error, sizeof(error))) == -1 ||
	    (op->op_control = priv_control(cf, &op->op_control_gid, error,
	    sizeof(error))) == -1)
		goto fail;
	TAILQ_FOREACH(li, &cf->cf_listens, li_entry) {
		li->li_id = pa->pa_next_listen++;
		if ((op->op_listens[i++] = priv_listen(li, error,
		    sizeof(error))) == -1)
			goto fail;
	}
	return;
 fail:
	fatalx("%s", error);
}

static void
parent_boot(struct parent *pa, const struct opened *op)
{
	struct msg_boot	 mb;
	int		 i;

	for (i = PROC_PARENT + 1; i < PROC_COUNT; i++) {
		memset(&mb, 0, sizeof(mb));
		if (geteuid() == 0) {
			mb.mb_setuser = 1;
			mb.mb_uid = op->op_users[i - 1].pu_uid;
			mb.mb_gid = op->op_users[i - 1].pu_gid;
			(void)strlcpy(mb.mb_chroot,
			    pa->pa_config->cf_chroot,
			    sizeof(mb.mb_chroot));
		}
		mb.mb_log_json = log_getformat() == LOG_FORMAT_JSON;
		mb.mb_log_level = (uint32_t)log_getlevel();
		mb.mb_log_syslog = !pa->pa_foreground;
		msg_boot_send(&pa->pa_children[i].cp_chan, &mb);
	}
}

static void
parent_send_opened(struct parent *pa, struct opened *op)
{
	const struct config	*cf = pa->pa_config;
	struct msg_ctlsock	 mc;
	struct msg_isolation	 mi;

	memset(&mc, 0, sizeof(mc));
	mc.mc_owner = geteuid();
	mc.mc_group = op->op_control_gid;
	imsg_send_fds(&pa->pa_children[PROC_FRONTEND].cp_chan, MSG_CTL, 0,
	    &mc, sizeof(mc), &op->op_control, 1);
	imsg_send_fds(&pa->pa_children[PROC_SPAWNER].cp_chan, MSG_WORKSPACE,
	    0, NULL, 0, &op->op_workspace, 1);
	imsg_send_fds(&pa->pa_children[PROC_REPORTER].cp_chan, MSG_SPOOL, 0,
	    NULL, 0, &op->op_spool, 1);
	memset(&mi, 0, sizeof(mi));
	mi.mi_kind = cf->cf_isolation;
	mi.mi_uid_first = cf->cf_uid_first;
	mi.mi_uid_last = cf->cf_uid_last;
	(void)strlcpy(mi.mi_bwrap, cf->cf_bwrap, sizeof(mi.mi_bwrap));
	msg_isolation_send(&pa->pa_children[PROC_SPAWNER].cp_chan, &mi);
}

static void
parent_events(struct parent *pa)
{
	static const int	 signals[] = { SIGTERM, SIGINT, SIGQUIT,
				    SIGHUP };
	struct timeval		 tv = { START_TIMEOUT, 0 };
	struct event		*ev;
	sigset_t		 none;
	size_t			 i;

	/* Whatever our starter blocks. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_IGN);
	for (i = 0; i < nitems(signals); i++) {
		if ((ev = evsignal_new(pa->pa_base, signals[i],
		    parent_signal, pa)) == NULL || evsignal_add(ev, NULL) ==
		    -1)
			fatalx("no event for a signal");
	}
	if ((ev = evsignal_new(pa->pa_base, SIGCHLD, child_proc_reap, pa)) ==
	    NULL || evsignal_add(ev, NULL) == -1)
		fatalx("no event for a signal");
	if ((pa->pa_deadline = evtimer_new(pa->pa_base, parent_late, pa)) ==
	    NULL || evtimer_add(pa->pa_deadline, &tv) == -1)
		fatalx("no timer");
}

static void
parent_log_start(const struct parent *pa)
{
	const struct config_listen	*li;
	char				 text[160];

	log_info("sbxd %s starting", SBXD_VERSION);
	if (geteuid() != 0)
		log_info("started by uid %u, not root: the processes share "
		    "this user and are not chrooted; Landlock and seccomp "
		    "hold them", geteuid());
	TAILQ_FOREACH(li, &pa->pa_config->cf_listens, li_entry) {
		priv_listen_text(li, text, sizeof(text));
		log_info("%s on %s", li->li_proxy ? "proxy" : "listening",
		    text);
		if (li->li_auth == AUTH_NONE_INSECURE)
			log_warnx("listening on %s without a token: whoever "
			    "reaches it can run code", text);
	}
}

static void
parent_start(struct parent *pa)
{
	struct event_config	*ec;
	struct rlimit		 rl;
	struct opened		 op;
	char			 libexec[PATH_MAX];
	int			 i;

	memset(&op, 0, sizeof(op));
	confine_common();
	parent_setlog(pa);
	if (getrlimit(RLIMIT_NOFILE, &rl) == 0 && rl.rlim_cur < SBXD_FILES) {
		rl.rlim_cur = rl.rlim_max < SBXD_FILES ? rl.rlim_max :
		    SBXD_FILES;
		(void)setrlimit(RLIMIT_NOFILE, &rl);
	}
	parent_libexec(libexec, sizeof(libexec));
	parent_open(pa, &op);
	notify_init();
	token_prepare(pa);
	token_forget_environment();
	if (!pa->pa_foreground)
		parent_daemonize(pa);
	parent_log_start(pa);

	if ((ec = event_config_new()) == NULL ||
	    event_config_set_flag(ec, EVENT_BASE_FLAG_IGNORE_ENV) == -1 ||
	    (pa->pa_base = event_base_new_with_config(ec)) == NULL)
		fatalx("no event base");
	event_config_free(ec);
	for (i = PROC_PARENT + 1; i < PROC_COUNT; i++)
		child_proc_start(pa, (enum msg_proc)i, libexec);
	parent_events(pa);
	parent_boot(pa, &op);
	child_proc_wire(pa, PROC_FRONTEND, PROC_SPAWNER);
	child_proc_wire(pa, PROC_FRONTEND, PROC_REPORTER);
	parent_send_opened(pa, &op);
	conf_send(pa, pa->pa_config, op.op_listens);
	config_forget_secrets(pa->pa_config);
	parent_confine(pa);
}

/* For a reload it reads files and binds sockets; it never executes. */
static void
parent_confine(struct parent *pa)
{
	priv_seal();
	confine_bounding();
	confine_caps(PARENT_CAPS);
	confine_promise(PARENT_PROMISES,
	    &pa->pa_children[PROC_PARENT].cp_confine);
}

static void
parent_signal(int sig, short event __unused, void *arg)
{
	struct parent		*pa = arg;
	struct log_event	 le = { .le_type = "signal_received" };

	log_event(LOG_INFO, &le, "%s", strsignal(sig));
	if (sig == SIGHUP)
		reload_begin(pa, 0);
	else
		parent_end(pa, EXIT_SIGNAL);
}

/* A child that does not answer is as good as lost. */
static void
parent_late(int fd __unused, short event __unused, void *arg)
{
	struct parent	*pa = arg;
	int		 i;

	for (i = PROC_PARENT + 1; i < PROC_COUNT; i++) {
		if (pa->pa_started ? !pa->pa_children[i].cp_conf_done :
		    !pa->pa_children[i].cp_ready)
			log_warnx("%s did not answer in time; ending",
			    msg_procname((enum msg_proc)i));
	}
	parent_end(pa, EXIT_LOST);
}
