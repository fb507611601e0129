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
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/ioctl.h>

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stdint.h>
#include <string.h>
#include <termios.h>

#include "compat.h"
#include "confine.h"

/*
 * Named promises, each a list of system calls, joined into one filter.
 * What is not promised kills the process.  A few calls that libraries try
 * and can do without are refused with an error instead, so that a library
 * update does not end the daemon.
 */

/* How an argument of a call must look; PA_ANY: whatever it is. */
enum promise_arg {
	PA_ANY,
	PA_MASKED,	/* (arg & pc_mask) == pc_value */
	PA_EQUAL,	/* the low 32 bits equal pc_value */
	PA_UNIX		/* AF_UNIX, of the type pc_value */
};

struct promise_call {
	int			 pc_nr;
	enum promise_arg	 pc_kind;
	unsigned int		 pc_arg;
	uint64_t		 pc_mask;
	uint64_t		 pc_value;
};

#define ANY(n)			{ SCMP_SYS(n), PA_ANY, 0, 0, 0 }
#define MASK(n, a, m, v)	{ SCMP_SYS(n), PA_MASKED, a, m, v }
#define EQ(n, a, v)		{ SCMP_SYS(n), PA_EQUAL, a, 0, v }
#define UNIX(n, v)		{ SCMP_SYS(n), PA_UNIX, 0, 0, v }

/*
 * An event loop over descriptors that are already there.  No pair of
 * datagram sockets: such a one sends to any address that it is given.
 */
static const struct promise_call promise_stdio[] = {
	ANY(read), ANY(readv), ANY(pread64), ANY(write), ANY(writev),
	ANY(pwrite64), ANY(close), ANY(close_range), ANY(fstat), ANY(lseek),
	ANY(dup), ANY(dup2), ANY(dup3), ANY(fcntl),
	EQ(newfstatat, 3, AT_EMPTY_PATH),
	ANY(epoll_create1), ANY(epoll_ctl), ANY(epoll_wait), ANY(epoll_pwait),
	ANY(epoll_pwait2), ANY(poll), ANY(ppoll), ANY(pipe2), ANY(eventfd2),
	ANY(timerfd_create), ANY(timerfd_settime), ANY(memfd_create),
	ANY(sendto), ANY(sendmsg), ANY(sendmmsg), ANY(recvfrom),
	ANY(recvmsg), ANY(recvmmsg), ANY(shutdown),
	ANY(getsockopt), ANY(getsockname), ANY(getpeername),
	UNIX(socketpair, SOCK_STREAM), UNIX(socketpair, SOCK_SEQPACKET),
	ANY(splice), ANY(tee), ANY(sendfile),
	EQ(ioctl, 1, FIONREAD), EQ(ioctl, 1, FIONBIO),
	ANY(brk), ANY(munmap), ANY(mremap), ANY(madvise),
	MASK(mmap, 2, PROT_EXEC, 0), MASK(mprotect, 2, PROT_EXEC, 0),
	ANY(futex), ANY(clock_gettime), ANY(clock_getres),
	ANY(clock_nanosleep), ANY(nanosleep), ANY(gettimeofday), ANY(time),
	ANY(getpid), ANY(gettid), ANY(getppid), ANY(getuid), ANY(geteuid),
	ANY(getgid), ANY(getegid), ANY(getresuid), ANY(getresgid),
	ANY(getrandom), ANY(getrusage), ANY(sched_yield),
	ANY(rt_sigaction), ANY(rt_sigprocmask), ANY(rt_sigreturn),
	ANY(sigaltstack), ANY(restart_syscall), ANY(rseq),
	ANY(set_robust_list), ANY(membarrier), ANY(alarm), ANY(setitimer),
	ANY(exit), ANY(exit_group),
	EQ(prctl, 0, PR_SET_NAME), EQ(tgkill, 2, 6 /* abort(3) */),
};

static const struct promise_call promise_accept[] = {
	ANY(accept4), ANY(accept), ANY(setsockopt),
};

static const struct promise_call promise_inet[] = {
	EQ(socket, 0, AF_INET), EQ(socket, 0, AF_INET6),
	ANY(connect), ANY(bind), ANY(listen), ANY(accept4), ANY(setsockopt),
};

static const struct promise_call promise_unix[] = {
	EQ(socket, 0, AF_UNIX), ANY(connect), ANY(bind), ANY(listen),
	ANY(accept4), ANY(setsockopt),
};

/* Name look-ups: netlink tells the resolver which families there are. */
static const struct promise_call promise_dns[] = {
	EQ(socket, 0, AF_NETLINK), ANY(uname),
};

#define OPEN_WRITES	(O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

static const struct promise_call promise_rpath[] = {
	MASK(openat, 2, OPEN_WRITES, 0), MASK(open, 1, OPEN_WRITES, 0),
	ANY(newfstatat), ANY(stat), ANY(lstat), ANY(statx), ANY(readlink),
	ANY(readlinkat), ANY(getdents64), ANY(access), ANY(faccessat),
	ANY(faccessat2), ANY(statfs), ANY(fstatfs), ANY(getcwd),
};

static const struct promise_call promise_wpath[] = {
	ANY(openat), ANY(ftruncate), ANY(fsync), ANY(fdatasync), ANY(fchmod),
	ANY(flock),
};

static const struct promise_call promise_cpath[] = {
	ANY(mkdir), ANY(mkdirat), ANY(unlink), ANY(unlinkat), ANY(rename),
	ANY(renameat), ANY(renameat2), ANY(fchown), ANY(fchownat),
	ANY(fchmodat), ANY(chmod), ANY(chown), ANY(umask),
};

/* Children that are there already: wait for them and end them. */
static const struct promise_call promise_proc[] = {
	ANY(wait4), ANY(waitid), ANY(kill), ANY(pidfd_send_signal),
};

/*
 * clone3 hides its flags in memory, so it is refused and libc falls back
 * to clone, whose flags can be judged.
 */
static const struct promise_call promise_thread[] = {
	MASK(clone, 0, CLONE_THREAD, CLONE_THREAD), ANY(sched_getaffinity),
	ANY(prlimit64),
};

/* What the sanitizers' run-time needs; only their builds use it. */
static const struct promise_call promise_san[] __unused = {
	ANY(openat), ANY(readlink), ANY(getrlimit), ANY(prlimit64),
	ANY(sched_getaffinity), ANY(mmap), ANY(mprotect), ANY(uname),
	ANY(personality), ANY(sysinfo), ANY(tgkill), ANY(prctl),
	ANY(newfstatat), ANY(gettid), ANY(getcwd), ANY(ioctl),
};

static const struct promise {
	const char			*pm_name;
	const struct promise_call	*pm_calls;
	size_t				 pm_count;
} promises[] = {
	{ "stdio", promise_stdio, nitems(promise_stdio) },
	{ "accept", promise_accept, nitems(promise_accept) },
	{ "inet", promise_inet, nitems(promise_inet) },
	{ "unix", promise_unix, nitems(promise_unix) },
	{ "dns", promise_dns, nitems(promise_dns) },
	{ "rpath", promise_rpath, nitems(promise_rpath) },
	{ "wpath", promise_wpath, nitems(promise_wpath) },
	{ "cpath", promise_cpath, nitems(promise_cpath) },
	{ "proc", promise_proc, nitems(promise_proc) },
	{ "thread", promise_thread, nitems(promise_thread) },
};

/* Tried by libraries for comfort: refused, not killed. */
static const struct {
	int	 rf_nr;
	int	 rf_errno;
} promise_refuse[] = {
	{ SCMP_SYS(clone3), ENOSYS },
	{ SCMP_SYS(prlimit64), EPERM },
	{ SCMP_SYS(sched_getaffinity), EPERM },
	{ SCMP_SYS(sysinfo), EPERM },
	{ SCMP_SYS(uname), EPERM },
	{ SCMP_SYS(setpriority), EPERM },
};

static int
promise_allow(scmp_filter_ctx ctx, const struct promise_call *pc)
{
	int	 rv;

	switch (pc->pc_kind) {
	case PA_MASKED:
		rv = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, pc->pc_nr, 1,
		    SCMP_CMP64(pc->pc_arg, SCMP_CMP_MASKED_EQ, pc->pc_mask,
		    pc->pc_value));
		break;
	case PA_EQUAL:
		/* The kernel reads 32 bits of these, so do we. */
		rv = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, pc->pc_nr, 1,
		    SCMP_CMP64(pc->pc_arg, SCMP_CMP_MASKED_EQ, 0xffffffffULL,
		    pc->pc_value));
		break;
	case PA_UNIX:
		rv = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, pc->pc_nr, 2,
		    SCMP_CMP64(0, SCMP_CMP_MASKED_EQ, 0xffffffffULL, AF_UNIX),
		    SCMP_CMP64(1, SCMP_CMP_MASKED_EQ, 0xfULL, pc->pc_value));
		break;
	case PA_ANY:
	default:
		rv = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, pc->pc_nr, 0);
		break;
	}
	/* A call that this architecture does not have needs no rule. */
	return (rv == -EDOM || rv == -EEXIST ? 0 : rv);
}

static int
promise_add(scmp_filter_ctx ctx, const char *name, size_t len)
{
	size_t	 i, j;
	int	 rv;

	for (i = 0; i < nitems(promises); i++) {
		if (strlen(promises[i].pm_name) == len &&
		    strncmp(promises[i].pm_name, name, len) == 0)
			break;
	}
	if (i == nitems(promises))
		return (-EINVAL);
	for (j = 0; j < promises[i].pm_count; j++) {
		if ((rv = promise_allow(ctx, &promises[i].pm_calls[j])) < 0)
			return (rv);
	}
	return (0);
}

static __unused int
promise_add_refusals(scmp_filter_ctx ctx, const char *list)
{
	size_t	 i;
	int	 rv;

	for (i = 0; i < nitems(promise_refuse); i++) {
		/* Threads may ask for their stack's limit, dns for uname. */
		if (strstr(list, "thread") != NULL &&
		    (promise_refuse[i].rf_nr == SCMP_SYS(prlimit64) ||
		    promise_refuse[i].rf_nr == SCMP_SYS(sched_getaffinity)))
			continue;
		if (strstr(list, "dns") != NULL &&
		    promise_refuse[i].rf_nr == SCMP_SYS(uname))
			continue;
		rv = seccomp_rule_add(ctx,
		    SCMP_ACT_ERRNO((uint32_t)promise_refuse[i].rf_errno),
		    promise_refuse[i].rf_nr, 0);
		if (rv < 0 && rv != -EDOM && rv != -EEXIST)
			return (rv);
	}
	return (0);
}

#ifdef SBXD_SANITIZE
/* A leak check at exit would need calls that no promise has. */
const char	*__asan_default_options(void);

const char *
__asan_default_options(void)
{
	return ("detect_leaks=0");
}
#endif

/* "stdio accept": loads the filter, for good. */
int
seccomp_promise(const char *list, const char **errstr)
{
	scmp_filter_ctx	 ctx;
	const char	*p;
	size_t		 len;

	*errstr = "no filter could be made";
	if ((ctx = seccomp_init(SCMP_ACT_KILL_PROCESS)) == NULL)
		return (-1);
	/* Another architecture's calls have other numbers: kill, too. */
	if (seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH,
	    SCMP_ACT_KILL_PROCESS) < 0)
		goto fail;
	/* A tree instead of a line: every call of ours passes it. */
	(void)seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);

	*errstr = "unknown promise";
	for (p = list; *p != '\0'; p += len + (p[len] == ' ')) {
		len = strcspn(p, " ");
		if (promise_add(ctx, p, len) < 0)
			goto fail;
	}
#ifdef SBXD_SANITIZE
	for (len = 0; len < nitems(promise_san); len++)
		(void)promise_allow(ctx, &promise_san[len]);
#else
	if (promise_add_refusals(ctx, list) < 0)
		goto fail;
#endif
	*errstr = "the kernel does not take the filter";
	if (seccomp_load(ctx) < 0)
		goto fail;
	seccomp_release(ctx);
	*errstr = NULL;
	return (0);
 fail:
	seccomp_release(ctx);
	return (-1);
}
