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
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>

#include <netinet/in.h>
#include <arpa/inet.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compat.h"
#include "log.h"
#include "parent.h"

/*
 * What is opened with the parent's rights and handed to a child.  The
 * errors are lines for an operator: each names the thing, what is wrong
 * with it and, where it is not plain, what would be right.
 */

#define LISTEN_BACKLOG	4096

static int	priv_socket(const char *, int, mode_t, const char *, char *,
		    size_t);
static void	priv_exit(void);
static int	priv_fail(char *, size_t, const char *, ...)
		    __attribute__((__format__(printf, 3, 4)));

/* Socket files that are ours to remove, by inode. */
struct priv_path {
	TAILQ_ENTRY(priv_path)	 pp_entry;
	char			*pp_path;
	dev_t			 pp_dev;
	ino_t			 pp_ino;
};
static TAILQ_HEAD(, priv_path) sockets = TAILQ_HEAD_INITIALIZER(sockets);
static pid_t	 priv_owner;	/* of the sockets: not a forked child */
static int	 priv_sealed;

static int
priv_fail(char *error, size_t size, const char *fmt, ...)
{
	va_list	 ap;

	va_start(ap, fmt);
	(void)vsnprintf(error, size, fmt, ap);
	va_end(ap);
	return (-1);
}

/*
 * A reload asks the file alone: the other name services load code and make
 * calls that a confined process is killed for.
 */
static int
priv_lookup_group(const char *name, gid_t *gid)
{
	struct group	*gr = NULL;
	FILE		*f;

	if (!priv_sealed)
		gr = getgrnam(name);
	else if ((f = fopen("/etc/group", "re")) != NULL) {
		while ((gr = fgetgrent(f)) != NULL) {
			if (strcmp(gr->gr_name, name) == 0)
				break;
		}
		fclose(f);
	}
	if (gr == NULL)
		return (-1);
	*gid = gr->gr_gid;
	return (0);
}

/* From here on nothing may be loaded. */
void
priv_seal(void)
{
	priv_sealed = 1;
}

/* A name or a number; numbers stand for a group of the same number. */
int
priv_lookup_user(const char *name, struct priv_user *pu)
{
	struct passwd	*pw;
	const char	*errstr;
	long long	 n;

	if ((pw = getpwnam(name)) != NULL) {
		pu->pu_uid = pw->pw_uid;
		pu->pu_gid = pw->pw_gid;
		return (pw->pw_uid == 0 || pw->pw_gid == 0 ? -1 : 0);
	}
	n = strtonum(name, 1, UINT32_MAX - 1, &errstr);
	if (errstr != NULL)
		return (-1);
	pu->pu_uid = (uid_t)n;
	pu->pu_gid = (gid_t)n;
	return (0);
}

/* Nobody but root and us may be able to swap the directory. */
static int
priv_dir_safe(const char *path, const char **why)
{
	struct stat	 st;

	if (lstat(path, &st) == -1) {
		*why = strerror(errno);
		return (-1);
	}
	if (st.st_uid != 0 && st.st_uid != geteuid()) {
		*why = "belongs to another user";
		return (-1);
	}
	if (S_ISLNK(st.st_mode) && stat(path, &st) == -1) {
		*why = strerror(errno);
		return (-1);
	}
	if (!S_ISDIR(st.st_mode)) {
		*why = "is not a directory";
		return (-1);
	}
	if (st.st_uid != 0 && st.st_uid != geteuid()) {
		*why = "belongs to another user";
		return (-1);
	}
	if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0 &&
	    (st.st_mode & S_ISVTX) == 0) {
		*why = "can be written by others";
		return (-1);
	}
	return (0);
}

/*
 * Each step of the way to a path is checked, because a way through /tmp may
 * have been laid by somebody else.
 */
static int
priv_way(const char *path, int make, const char **why)
{
	char	 part[PATH_MAX];
	char	*p;

	if (path[0] != '/' || strlcpy(part, path, sizeof(part)) >=
	    sizeof(part)) {
		*why = "is not a usable path";
		return (-1);
	}
	for (p = part + 1; ; p++) {
		if (*p != '/' && *p != '\0')
			continue;
		/* The spool and such may belong to its child by now. */
		if (path[p - part] == '\0')
			return (0);
		*p = '\0';
		if (make && mkdir(part, 0755) == -1 && errno != EEXIST) {
			*why = strerror(errno);
			return (-1);
		}
		if (priv_dir_safe(part, why) == -1)
			return (-1);
		*p = '/';
	}
}

/*
 * Makes the directory where it is missing and opens it.  One that is there
 * keeps its mode.
 */
int
priv_dir(const char *path, uid_t uid, gid_t gid, mode_t mode,
    const char **why)
{
	int	 fd, made = 0;

	if (priv_way(path, 1, why) == -1)
		return (-1);
	if (mkdir(path, mode) == 0)
		made = 1;
	else if (errno != EEXIST) {
		*why = strerror(errno);
		return (-1);
	}
	if ((fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC)) == -1) {
		*why = errno == ENOTDIR || errno == ELOOP ?
		    "is not a directory" : strerror(errno);
		return (-1);
	}
	if (made && (fchmod(fd, mode) == -1 || (geteuid() == 0 &&
	    fchown(fd, uid, gid) == -1))) {
		*why = strerror(errno);
		close(fd);
		return (-1);
	}
	return (fd);
}

/* A place to be locked into: nothing there, and nobody can put any. */
int
priv_dir_empty(int dirfd, const char **why)
{
	struct dirent	*de;
	struct stat	 st;
	DIR		*dir;
	int		 fd, empty = 1;

	if (fstat(dirfd, &st) == -1 || st.st_uid != 0 ||
	    (st.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
		*why = "must belong to root and be writable by nobody else";
		return (0);
	}
	if ((fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) ==
	    -1 || (dir = fdopendir(fd)) == NULL) {
		*why = strerror(errno);
		return (0);
	}
	while (empty && (de = readdir(dir)) != NULL)
		empty = strcmp(de->d_name, ".") == 0 ||
		    strcmp(de->d_name, "..") == 0;
	closedir(dir);
	*why = "must be empty";
	return (empty);
}

void
priv_listen_text(const struct config_listen *li, char *text, size_t size)
{
	const struct sockaddr_in	*sin;
	const struct sockaddr_in6	*sin6;
	const struct sockaddr_un	*sun;
	char				 host[INET6_ADDRSTRLEN] = "?";

	switch (li->li_ss.ss_family) {
	case AF_INET:
		sin = (const struct sockaddr_in *)&li->li_ss;
		(void)inet_ntop(AF_INET, &sin->sin_addr, host, sizeof(host));
		(void)snprintf(text, size, "%s port %u", host,
		    ntohs(sin->sin_port));
		break;
	case AF_INET6:
		sin6 = (const struct sockaddr_in6 *)&li->li_ss;
		(void)inet_ntop(AF_INET6, &sin6->sin6_addr, host,
		    sizeof(host));
		(void)snprintf(text, size, "%s port %u", host,
		    ntohs(sin6->sin6_port));
		break;
	default:
		sun = (const struct sockaddr_un *)&li->li_ss;
		(void)snprintf(text, size, "socket %s", sun->sun_path);
		break;
	}
}

static int
priv_listen_inet(const struct config_listen *li)
{
	int	 fd, on = 1, saved;

	if ((fd = socket(li->li_ss.ss_family, SOCK_STREAM | SOCK_CLOEXEC |
	    SOCK_NONBLOCK, 0)) == -1)
		return (-1);
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == -1 ||
	    (li->li_ss.ss_family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6,
	    IPV6_V6ONLY, &on, sizeof(on)) == -1) ||
	    bind(fd, (const struct sockaddr *)&li->li_ss, li->li_sslen) ==
	    -1 || listen(fd, LISTEN_BACKLOG) == -1) {
		saved = errno;
		close(fd);
		errno = saved;
		return (-1);
	}
	return (fd);
}

int
priv_listen(struct config_listen *li, char *error, size_t size)
{
	const struct sockaddr_un	*sun;
	const char			*why;
	char				 text[160];
	int				 fd;

	if (li->li_ss.ss_family == AF_UNIX) {
		sun = (const struct sockaddr_un *)&li->li_ss;
		/* Who can swap the socket could have any file's mode set. */
		if (priv_way(sun->sun_path, 0, &why) == -1)
			return (priv_fail(error, size, "socket %s: its "
			    "directory, or one above it: %s", sun->sun_path,
			    why));
		return (priv_socket(sun->sun_path, SOCK_STREAM, li->li_mode,
		    li->li_group, error, size));
	}
	if ((fd = priv_listen_inet(li)) == -1) {
		priv_listen_text(li, text, sizeof(text));
		return (priv_fail(error, size, "%s on %s: %s%s",
		    li->li_proxy ? "proxy" : "listen", text, strerror(errno),
		    errno == EADDRINUSE ? " (another program has that port; "
		    "choose another)" : errno == EACCES ?
		    " (ports below 1024 need root)" : ""));
	}
	return (fd);
}

/* 0: free or stale and gone, -1: somebody lives there. */
static int
priv_socket_clear(const char *path, int type, char *error, size_t size)
{
	struct sockaddr_un	 sun;
	struct stat		 st;
	int			 fd, rv;

	if (lstat(path, &st) == -1)
		return (errno == ENOENT ? 0 : priv_fail(error, size,
		    "socket %s: %s", path, strerror(errno)));
	if (!S_ISSOCK(st.st_mode))
		return (priv_fail(error, size,
		    "socket %s: something that is no socket is there", path));
	memset(&sun, 0, sizeof(sun));
	sun.sun_family = AF_UNIX;
	(void)strlcpy(sun.sun_path, path, sizeof(sun.sun_path));
	if ((fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) ==
	    -1)
		return (priv_fail(error, size, "socket: %s",
		    strerror(errno)));
	rv = connect(fd, (struct sockaddr *)&sun, sizeof(sun));
	if (rv == -1)
		rv = errno;
	close(fd);
	if (rv != ECONNREFUSED)
		return (priv_fail(error, size, "socket %s: in use by a "
		    "running program (another sbxd?)", path));
	if (unlink(path) == -1)
		return (priv_fail(error, size, "socket %s: %s", path,
		    strerror(errno)));
	log_info("took over the stale socket %s", path);
	return (0);
}

static void
priv_remember_socket(const char *path)
{
	struct priv_path	*pp;
	struct stat		 st;

	if (lstat(path, &st) == -1 || (pp = calloc(1, sizeof(*pp))) == NULL)
		fatal("socket %s", path);
	if ((pp->pp_path = strdup(path)) == NULL)
		fatal("socket %s", path);
	pp->pp_dev = st.st_dev;
	pp->pp_ino = st.st_ino;
	TAILQ_INSERT_TAIL(&sockets, pp, pp_entry);
	if (priv_owner == 0 && atexit(priv_exit) != 0)
		fatalx("atexit");
	priv_owner = getpid();
}

/* A start that fails leaves no socket behind. */
static void
priv_exit(void)
{
	if (getpid() == priv_owner)
		priv_unlink_sockets();
}

static int
priv_socket(const char *path, int type, mode_t mode, const char *group,
    char *error, size_t size)
{
	struct sockaddr_un	 sun;
	gid_t			 gid = (gid_t)-1;
	mode_t			 old;
	int			 fd, rv;

	if (group[0] != '\0' && priv_lookup_group(group, &gid) == -1)
		return (priv_fail(error, size, "socket %s: there is no "
		    "group %s", path, group));
	if (priv_socket_clear(path, type, error, size) == -1)
		return (-1);
	memset(&sun, 0, sizeof(sun));
	sun.sun_family = AF_UNIX;
	if (strlcpy(sun.sun_path, path, sizeof(sun.sun_path)) >=
	    sizeof(sun.sun_path))
		return (priv_fail(error, size, "socket %s: path too long",
		    path));
	if ((fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) ==
	    -1)
		return (priv_fail(error, size, "socket: %s",
		    strerror(errno)));
	/* Nobody gets in before its mode is right. */
	old = umask(0177);
	rv = bind(fd, (struct sockaddr *)&sun, sizeof(sun));
	(void)umask(old);
	if (rv == -1)
		goto fail;
	priv_remember_socket(path);
	if ((gid != (gid_t)-1 && chown(path, (uid_t)-1, gid) == -1) ||
	    chmod(path, mode) == -1 || listen(fd, LISTEN_BACKLOG) == -1)
		goto fail;
	return (fd);
 fail:
	(void)priv_fail(error, size, "socket %s: %s", path, strerror(errno));
	close(fd);
	return (-1);
}

/* A reload dropped the listener: its file goes too. */
void
priv_forget_socket(const char *path)
{
	struct priv_path	*pp, *next;
	struct stat		 st;

	TAILQ_FOREACH_SAFE(pp, &sockets, pp_entry, next) {
		if (path != NULL && strcmp(pp->pp_path, path) != 0)
			continue;
		/* Not one that another daemon has put there since. */
		if (lstat(pp->pp_path, &st) == 0 && S_ISSOCK(st.st_mode) &&
		    st.st_dev == pp->pp_dev && st.st_ino == pp->pp_ino)
			(void)unlink(pp->pp_path);
		TAILQ_REMOVE(&sockets, pp, pp_entry);
		free(pp->pp_path);
		free(pp);
	}
}

void
priv_unlink_sockets(void)
{
	priv_forget_socket(NULL);
}

/* The control socket and the group that may look, -1 for none. */
int
priv_control(const struct config *cf, uint32_t *gid, char *error, size_t size)
{
	const char	*why;
	char		 dir[sizeof(cf->cf_control)], *slash;
	int		 fd;

	*gid = (uint32_t)-1;
	if (cf->cf_control_group[0] != '\0' &&
	    priv_lookup_group(cf->cf_control_group, gid) == -1)
		return (priv_fail(error, size, "control socket: there is no "
		    "group %s", cf->cf_control_group));
	(void)strlcpy(dir, cf->cf_control, sizeof(dir));	/* as long */
	if ((slash = strrchr(dir, '/')) != NULL && slash != dir) {
		*slash = '\0';
		if ((fd = priv_dir(dir, 0, *gid == (uint32_t)-1 ? 0 : *gid,
		    *gid == (uint32_t)-1 ? 0755 : 0750, &why)) == -1 ||
		    priv_dir_safe(dir, &why) == -1)
			return (priv_fail(error, size, "control socket: "
			    "directory %s %s", dir, why));
		close(fd);
	}
	return (priv_socket(cf->cf_control, SOCK_SEQPACKET,
	    *gid == (uint32_t)-1 ? 0600 : 0660, cf->cf_control_group, error,
	    size));
}

/*
 * In a place where everybody can make a directory, somebody may have made
 * this one, or a link in its stead.
 */
static int
priv_planted(const char *path)
{
	struct stat	 st, up;
	char		 dir[CONF_PATHLEN], *slash;

	(void)strlcpy(dir, path, sizeof(dir));	/* as long */
	if ((slash = strrchr(dir, '/')) == NULL || lstat(path, &st) == -1)
		return (0);
	slash[slash == dir] = '\0';
	return (stat(dir, &up) == 0 && (up.st_mode & S_IWOTH) != 0 &&
	    st.st_uid != 0 && st.st_uid != geteuid());
}

/* It must be there and take a file; only our own default is made. */
int
priv_workspace(const struct config *cf, char *error, size_t size)
{
	struct statvfs	 vfs;
	const char	*why, *path = cf->cf_workspace;
	int		 fd, probe;

	if (cf->cf_workspace_made) {
		if ((fd = priv_dir(path, 0, 0, 0700, &why)) == -1)
			return (priv_fail(error, size, "workspace %s: %s",
			    path, why));
	} else if (priv_planted(path))
		return (priv_fail(error, size, "workspace %s: belongs to "
		    "another user, in a directory that everybody can write to",
		    path));
	else if ((fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) ==
	    -1)
		return (priv_fail(error, size, "workspace %s: %s", path,
		    errno == ENOENT ? "does not exist; create it or name "
		    "another" : strerror(errno)));
	if ((probe = openat(fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC,
	    0600)) != -1)
		close(probe);
	else if ((errno != EOPNOTSUPP && errno != EISDIR) ||
	    fstatvfs(fd, &vfs) == -1 || (vfs.f_flag & ST_RDONLY) ||
	    faccessat(fd, ".", W_OK, AT_EACCESS) == -1) {
		why = strerror(errno);
		close(fd);
		return (priv_fail(error, size,
		    "workspace %s: not writable: %s", path, why));
	}
	return (fd);
}

/* Only the reporter reads what no control plane has taken yet. */
int
priv_spool(const struct config *cf, const struct priv_user *pu, char *error,
    size_t size)
{
	struct stat	 st;
	const char	*why, *path = cf->cf_spool;
	uid_t		 owner;
	int		 fd;

	owner = geteuid() == 0 ? pu->pu_uid : geteuid();
	if ((fd = priv_dir(path, pu->pu_uid, pu->pu_gid, 0700, &why)) == -1)
		return (priv_fail(error, size, "spool %s: %s", path, why));
	if (fstat(fd, &st) == -1)
		why = strerror(errno);
	else if (st.st_uid != owner && st.st_uid != 0)
		why = "belongs to another user than the reporter's";
	else if (st.st_uid != owner && fchown(fd, pu->pu_uid, pu->pu_gid) ==
	    -1)
		why = strerror(errno);
	else if (fchmod(fd, 0700) == -1)
		why = strerror(errno);
	else
		return (fd);
	close(fd);
	return (priv_fail(error, size, "spool %s: %s", path, why));
}
