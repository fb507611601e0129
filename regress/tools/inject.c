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
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <elf.h>
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "compat.h"

/*
 * Makes another process execute one system call and prints what came of
 * it, so that a test can see the confinement of the real daemon refuse.
 *
 * usage: inject [-s] pid number [argument ...]
 *	-s		with its seccomp filter suspended, to see what the
 *			layers behind it do
 *	argument	a number, or @text: the address of that text
 *
 * Prints "returned N", "killed N" or "exited N".
 */

#ifdef __x86_64__

static long	 trace(int, pid_t, unsigned long, void *);

static long
trace(int request, pid_t pid, unsigned long addr, void *data)
{
	long	 rv;

	errno = 0;
	rv = ptrace(request, pid, addr, data);
	if (errno != 0)
		err(1, "ptrace %d", request);
	return (rv);
}

/* 1: at the door of a system call, 0: stopped for another reason. */
static int
wait_stop(pid_t pid)
{
	int	 status;

	if (waitpid(pid, &status, __WALL) == -1)
		err(1, "waitpid");
	if (WIFSIGNALED(status)) {
		printf("killed %d\n", WTERMSIG(status));
		exit(0);
	}
	if (WIFEXITED(status)) {
		printf("exited %d\n", WEXITSTATUS(status));
		exit(0);
	}
	return (WSTOPSIG(status) == (SIGTRAP | 0x80));
}

/* Texts go well below the stack, past the red zone. */
static unsigned long
poke_text(pid_t pid, unsigned long addr, const char *text)
{
	struct iovec	 from, to;
	char		 copy[4096];
	size_t		 len = strlen(text) + 1;

	if (len > sizeof(copy))
		errx(1, "text too long");
	memcpy(copy, text, len);
	from.iov_base = copy;
	to.iov_base = (void *)addr;
	from.iov_len = to.iov_len = len;
	if (process_vm_writev(pid, &from, 1, &to, 1, 0) != (ssize_t)len)
		err(1, "process_vm_writev");
	return (addr);
}

int
main(int argc, char **argv)
{
	struct user_regs_struct	 regs;
	unsigned long		 args[6] = { 0 }, scratch;
	unsigned long		 options = PTRACE_O_TRACESYSGOOD;
	pid_t			 pid;
	int			 i;

	if (argc > 1 && strcmp(argv[1], "-s") == 0) {
		options |= PTRACE_O_SUSPEND_SECCOMP;
		argc--;
		argv++;
	}
	if (argc < 3 || argc > 9)
		errx(1, "usage: inject [-s] pid number [argument ...]");
	pid = (pid_t)strtol(argv[1], NULL, 10);
	trace(PTRACE_SEIZE, pid, 0, (void *)options);
	trace(PTRACE_INTERRUPT, pid, 0, NULL);
	(void)wait_stop(pid);
	trace(PTRACE_GETREGS, pid, 0, &regs);

	scratch = (regs.rsp - 65536) & ~0xfUL;
	for (i = 3; i < argc; i++) {
		if (argv[i][0] == '@') {
			args[i - 3] = poke_text(pid, scratch, argv[i] + 1);
			scratch -= 4096;
		} else
			args[i - 3] = strtoul(argv[i], NULL, 0);
	}
	/* Stopped in a wait: the instruction before is "syscall". */
	regs.rip -= 2;
	regs.orig_rax = (unsigned long)-1;
	regs.rax = strtoul(argv[2], NULL, 0);
	regs.rdi = args[0];
	regs.rsi = args[1];
	regs.rdx = args[2];
	regs.r10 = args[3];
	regs.r8 = args[4];
	regs.r9 = args[5];
	trace(PTRACE_SETREGS, pid, 0, &regs);

	/* Into the call, out of it. */
	for (i = 0; i < 2; i += wait_stop(pid))
		trace(PTRACE_SYSCALL, pid, 0, NULL);
	trace(PTRACE_GETREGS, pid, 0, &regs);
	/* A filter that kills does so on the way back. */
	trace(PTRACE_SINGLESTEP, pid, 0, NULL);
	(void)wait_stop(pid);
	printf("returned %ld\n", (long)regs.rax);
	/* It cannot go on where it was; its own end is the cleanest. */
	trace(PTRACE_KILL, pid, 0, NULL);
	return (0);
}

#else

int
main(void)
{
	errx(77, "not written for this architecture");
}

#endif
