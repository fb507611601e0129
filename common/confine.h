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

#ifndef CONFINE_H
#define CONFINE_H

#include <sys/types.h>

#include <stddef.h>
#include <stdint.h>

/*
 * What a process gives up once it has everything it needs.  Each step is
 * checked after it was taken; the result is what `sbxctl show` prints.
 */

#define CONFINE_PROMISELEN	128

struct confine_state {
	uint32_t	 cs_chroot;		/* 1: in an empty directory */
	uint32_t	 cs_landlock;		/* ABI in force, 0: none */
	uint32_t	 cs_nopaths;		/* 1: no path can be opened */
	char		 cs_promises[CONFINE_PROMISELEN];
};

/* A place that stays reachable; "r" read, "w" write and create below it. */
struct confine_path {
	const char	*cp_path;	/* or NULL and */
	int		 cp_fd;		/* a descriptor of it */
	const char	*cp_access;
};

void	 confine_common(void);
void	 confine_chroot(const char *, struct confine_state *);
void	 confine_user(uid_t, gid_t);
void	 confine_bounding(void);
void	 confine_caps(uint64_t);
void	 confine_paths(const struct confine_path *, size_t,
	    struct confine_state *);
void	 confine_promise(const char *, struct confine_state *);

/* confine_landlock.c */
int	 landlock_abi(void);
int	 landlock_restrict(const struct confine_path *, size_t);

/* confine_seccomp.c */
int	 seccomp_promise(const char *, const char **);

#endif /* CONFINE_H */
