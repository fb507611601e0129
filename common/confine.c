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
#include <sys/resource.h>
#include <sys/syscall.h>

#include <linux/capability.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <string.h>
#include <unistd.h>

#include "confine.h"
#include "log.h"

#define CAP_WORDS	_LINUX_CAPABILITY_U32S_3

static void	confine_capget(uint64_t *);

/* First of all: no core file with a token in it, no way to gain rights. */
void
confine_common(void)
{
	struct rlimit	 rl;

	/* One byte, not zero: a pipe handler for cores ignores zero. */
	rl.rlim_cur = rl.rlim_max = 1;
	if (setrlimit(RLIMIT_CORE, &rl) == -1)
		fatal("setrlimit core");
	if (prctl(PR_SET_DUMPABLE, 0) == -1)
		fatal("prctl dumpable");
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		fatal("prctl no_new_privs");
}

void
confine_chroot(const char *dir, struct confine_state *cs)
{
	if (chroot(dir) == -1)
		fatal("chroot %s", dir);
	if (chdir("/") == -1)
		fatal("chdir to the root of %s", dir);
	cs->cs_chroot = 1;
}

void
confine_user(uid_t uid, gid_t gid)
{
	uid_t	 r, e, s;

	if (setgroups(0, NULL) == -1 || setresgid(gid, gid, gid) == -1 ||
	    setresuid(uid, uid, uid) == -1)
		fatal("cannot become user %u", uid);
	if (getresuid(&r, &e, &s) == -1 || r != uid || e != uid || s != uid)
		fatalx("user is not %u after the change", uid);
	if (uid != 0 && setuid(0) == 0)
		fatalx("user %u can become root again", uid);

	/* A change of user makes a process dumpable again. */
	if (prctl(PR_SET_DUMPABLE, 0) == -1)
		fatal("prctl dumpable");
}

static void
confine_capget(uint64_t *caps)
{
	struct __user_cap_header_struct	 hdr;
	struct __user_cap_data_struct	 data[CAP_WORDS];

	memset(&hdr, 0, sizeof(hdr));
	hdr.version = _LINUX_CAPABILITY_VERSION_3;
	if (syscall(SYS_capget, &hdr, data) == -1)
		fatal("capget");
	*caps = data[0].permitted | data[0].effective |
	    (uint64_t)(data[1].permitted | data[1].effective) << 32;
}

/* While still root: nothing that is executed later can have any again. */
void
confine_bounding(void)
{
	int	 c;

	for (c = 0; c < 64; c++) {
		if (prctl(PR_CAPBSET_READ, c, 0, 0, 0) != 1)
			continue;
		/* An ordinary user has no right to drop, and none to lose. */
		if (prctl(PR_CAPBSET_DROP, c, 0, 0, 0) == -1 &&
		    errno != EPERM)
			fatal("bounding set: capability %d", c);
	}
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) == -1 &&
	    errno != EINVAL)
		fatal("ambient capabilities");
}

/* Keeps only the given capabilities of those it has. */
void
confine_caps(uint64_t keep)
{
	struct __user_cap_header_struct	 hdr;
	struct __user_cap_data_struct	 data[CAP_WORDS];
	uint64_t			 caps;
	int				 i;

	confine_capget(&caps);
	keep &= caps;
	memset(&hdr, 0, sizeof(hdr));
	memset(data, 0, sizeof(data));
	hdr.version = _LINUX_CAPABILITY_VERSION_3;
	for (i = 0; i < CAP_WORDS; i++)
		data[i].permitted = data[i].effective =
		    (uint32_t)(keep >> (32 * i));
	if (syscall(SYS_capset, &hdr, data) == -1)
		fatal("capset");
	confine_capget(&caps);
	if (caps != keep)
		fatalx("capabilities %llx are left, wanted %llx",
		    (unsigned long long)caps, (unsigned long long)keep);
}

/*
 * Landlock: only these places can be reached by a path, and no TCP port.
 * A kernel without it leaves chroot and seccomp; that is said, not hidden.
 */
void
confine_paths(const struct confine_path *paths, size_t n,
    struct confine_state *cs)
{
	int	 abi, fd;

	if ((abi = landlock_abi()) == 0) {
		log_warnx("this kernel has no Landlock: paths are held by "
		    "%s only", cs->cs_chroot ? "chroot and seccomp" :
		    "seccomp");
		return;
	}
	if (landlock_restrict(paths, n) == -1)
		fatal("landlock");
	cs->cs_landlock = (uint32_t)abi;

	/* Believe it when it is seen to refuse. */
	if ((fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) != -1) {
		close(fd);
		if (n == 0)
			fatalx("landlock did not refuse a path");
	} else if (n == 0)
		cs->cs_nopaths = 1;
}

void
confine_promise(const char *promises, struct confine_state *cs)
{
	const char	*errstr;

	if (seccomp_promise(promises, &errstr) == -1)
		fatalx("seccomp: %s", errstr);
	if (strlcpy(cs->cs_promises, promises, sizeof(cs->cs_promises)) >=
	    sizeof(cs->cs_promises))
		fatalx("seccomp: promises too long");
}
