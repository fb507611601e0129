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
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "confine.h"

/*
 * Our own numbers: the header of the system that builds is often older
 * than the kernel that runs.  A right that is not handled is allowed, so
 * every right that the running kernel knows is handled.
 */

#define LL_CREATE_VERSION	(1U << 0)
#define LL_RULE_PATH_BENEATH	1

#define LL_EXECUTE		(1ULL << 0)
#define LL_WRITE_FILE		(1ULL << 1)
#define LL_READ_FILE		(1ULL << 2)
#define LL_READ_DIR		(1ULL << 3)
#define LL_REMOVE_DIR		(1ULL << 4)
#define LL_REMOVE_FILE		(1ULL << 5)
#define LL_MAKE_DIR		(1ULL << 7)
#define LL_MAKE_REG		(1ULL << 8)
#define LL_REFER		(1ULL << 13)
#define LL_TRUNCATE		(1ULL << 14)

#define LL_READ			(LL_READ_FILE | LL_READ_DIR)
#define LL_WRITE		(LL_WRITE_FILE | LL_REMOVE_FILE | \
				    LL_MAKE_REG | LL_TRUNCATE)
#define LL_FILE_ONLY		(LL_EXECUTE | LL_WRITE_FILE | \
				    LL_READ_FILE | LL_TRUNCATE)

/* The highest bit that each ABI handles for files. */
static const uint64_t landlock_fs[] = {
	0,
	(1ULL << 13) - 1,	/* 1 */
	(1ULL << 14) - 1,	/* 2: refer */
	(1ULL << 15) - 1,	/* 3: truncate */
	(1ULL << 15) - 1,	/* 4: network */
	(1ULL << 16) - 1,	/* 5: ioctl on devices */
};

#define LL_NET_ALL		0x3ULL	/* bind, connect; from ABI 4 */
#define LL_SCOPE_ALL		0x3ULL	/* abstract sockets, signals; ABI 6 */

struct landlock_attr {
	uint64_t	 la_fs;
	uint64_t	 la_net;
	uint64_t	 la_scope;
};

struct landlock_beneath {
	uint64_t	 lb_allowed;
	int32_t		 lb_fd;
} __attribute__((__packed__));

/* The ABI of the running kernel, 0 if it has none. */
int
landlock_abi(void)
{
	long	 abi;

	abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
	    LL_CREATE_VERSION);
	return (abi < 0 ? 0 : (int)abi);
}

static uint64_t
landlock_handled(int abi)
{
	size_t	 n = sizeof(landlock_fs) / sizeof(landlock_fs[0]);

	return (landlock_fs[(size_t)abi < n ? (size_t)abi : n - 1]);
}

static int
landlock_allow(int ruleset, const struct confine_path *cp, uint64_t handled)
{
	struct landlock_beneath	 lb;
	struct stat		 st;
	int			 fd, saved;

	if (cp->cp_path == NULL)
		fd = fcntl(cp->cp_fd, F_DUPFD_CLOEXEC, 0);
	else
		fd = open(cp->cp_path, O_PATH | O_CLOEXEC);
	if (fd == -1)
		/* What is not there cannot be reached either. */
		return (cp->cp_path != NULL && errno == ENOENT ? 0 : -1);

	memset(&lb, 0, sizeof(lb));
	lb.lb_fd = fd;
	lb.lb_allowed = LL_READ;
	if (strchr(cp->cp_access, 'w') != NULL)
		lb.lb_allowed |= LL_WRITE;
	if (fstat(fd, &st) == -1)
		goto fail;
	if (!S_ISDIR(st.st_mode))
		lb.lb_allowed &= LL_FILE_ONLY;
	lb.lb_allowed &= handled;
	if (syscall(SYS_landlock_add_rule, ruleset, LL_RULE_PATH_BENEATH,
	    &lb, 0) == -1)
		goto fail;
	close(fd);
	return (0);
 fail:
	saved = errno;
	close(fd);
	errno = saved;
	return (-1);
}

/*
 * Files, TCP, abstract sockets and signals to the outside are all refused
 * but for the paths given.  TCP stays open where a process has paths: only
 * the reporter has, and it must reach a control plane on a port that a
 * reload may change.
 */
int
landlock_restrict(const struct confine_path *paths, size_t n)
{
	struct landlock_attr	 la;
	size_t			 i, size;
	int			 abi, ruleset, saved;

	abi = landlock_abi();
	memset(&la, 0, sizeof(la));
	la.la_fs = landlock_handled(abi);
	if (abi >= 4 && n == 0)
		la.la_net = LL_NET_ALL;
	if (abi >= 6)
		la.la_scope = LL_SCOPE_ALL;
	size = abi >= 6 ? sizeof(la) : abi >= 4 ? 2 * sizeof(uint64_t) :
	    sizeof(uint64_t);

	if ((ruleset = (int)syscall(SYS_landlock_create_ruleset, &la, size,
	    0)) == -1)
		return (-1);
	for (i = 0; i < n; i++) {
		if (landlock_allow(ruleset, &paths[i], la.la_fs) == -1)
			goto fail;
	}
	if (syscall(SYS_landlock_restrict_self, ruleset, 0) == -1)
		goto fail;
	close(ruleset);
	return (0);
 fail:
	saved = errno;
	close(ruleset);
	errno = saved;
	return (-1);
}
