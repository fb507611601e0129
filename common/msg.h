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

#ifndef MSG_H
#define MSG_H

#include <stdint.h>

#include "confine.h"
#include "imsg.h"
#include "util.h"

/*
 * What the processes of the daemon say to each other.  A type belongs to
 * the edges named here and to no other; the table of each edge stands at
 * the receiver.  Compound messages have their send and receive functions
 * side by side in msg.c and conf_msg.c.
 */
enum msg_type {
	/* parent -> every child */
	MSG_BOOT = 1,		/* who to become; always the first */
	MSG_PEER,		/* fd: the channel to a sibling */
	MSG_CONF_VALUES,
	MSG_CONF_PROFILE,
	MSG_CONF_ITEM,
	MSG_CONF_LANG,
	MSG_CONF_END,
	MSG_VERBOSE,
	MSG_START,		/* begin, or use the new configuration */
	MSG_STOP,		/* an end is coming, it is meant */

	/* every child -> parent */
	MSG_READY,		/* confined and waiting for START */
	MSG_CONF_DONE,

	/* parent -> frontend */
	MSG_LISTEN,		/* fd */
	MSG_LISTEN_KEEP,	/* one that stays over a reload */
	MSG_CTL,		/* fd: the control socket */
	MSG_AUTH,		/* digest of the API token */
	MSG_CTL_PROC,
	MSG_CTL_TEXT,		/* fd: sealed memfd */
	MSG_CTL_RESULT,

	/* frontend -> parent; the id is the control client's */
	MSG_CTL_SHOW,
	MSG_CTL_CONFIG,
	MSG_CTL_RELOAD,
	MSG_CTL_VERBOSE,
	MSG_CTL_STOP,

	/* parent -> spawner */
	MSG_CONF_ISOLATION,
	MSG_WORKSPACE,		/* fd */

	/* parent -> reporter */
	MSG_CALLBACK,
	MSG_SPOOL,		/* fd */

	/* frontend <-> spawner, frontend <-> reporter */
	MSG_HELLO
};

enum msg_proc {
	PROC_PARENT,
	PROC_FRONTEND,
	PROC_SPAWNER,
	PROC_REPORTER,
	PROC_COUNT
};

#define MSG_PATHLEN	1024
#define MSG_TEXTLEN	3072
#define MSG_HELLO_MAGIC	0x73627864u	/* grows with the edges' language */

struct msg_boot {
	uint32_t	 mb_setuser;	/* 0: stay what we are, no chroot */
	uint32_t	 mb_uid;
	uint32_t	 mb_gid;
	uint32_t	 mb_log_json;
	uint32_t	 mb_log_level;
	uint32_t	 mb_log_syslog;
	char		 mb_chroot[MSG_PATHLEN];
};

struct msg_listen {
	uint32_t	 ml_id;
	uint32_t	 ml_proxy;
	uint32_t	 ml_auth;	/* 1: wants the token */
};

struct msg_auth {
	uint32_t	 ma_set;
	uint8_t		 ma_digest[SHA256_LEN];
};

struct msg_ctlsock {
	uint32_t	 mc_owner;	/* uid that may do all, beside root */
	uint32_t	 mc_group;	/* gid that may look, -1: none */
};

/* One process as /proc and its own READY describe it. */
struct msg_procinfo {
	uint32_t		 mp_proc;
	uint32_t		 mp_pid;
	uint32_t		 mp_uid;
	uint32_t		 mp_seccomp;	/* mode, from /proc */
	uint32_t		 mp_nonewprivs;
	uint32_t		 mp_pad;
	uint64_t		 mp_rss;	/* bytes */
	uint64_t		 mp_caps;	/* effective and permitted */
	struct confine_state	 mp_confine;
};

struct msg_callback {
	uint32_t	 mk_keep_token;	/* of the configuration before */
	char		 mk_url[MSG_PATHLEN];
	char		 mk_token[512];
	char		 mk_container[256];
	char		 mk_pod[256];
};

struct msg_isolation {
	uint32_t	 mi_kind;
	uint32_t	 mi_uid_first;
	uint32_t	 mi_uid_last;
	char		 mi_bwrap[MSG_PATHLEN];
};

const char *msg_procname(enum msg_proc);

void	 msg_boot_send(struct imsg_chan *, const struct msg_boot *);
int	 msg_boot_recv(const struct imsg *, struct msg_boot *);
void	 msg_ready_send(struct imsg_chan *, const struct confine_state *);
int	 msg_ready_recv(const struct imsg *, struct confine_state *);
void	 msg_procinfo_send(struct imsg_chan *, uint32_t, uint32_t,
	    const struct msg_procinfo *);
int	 msg_procinfo_recv(const struct imsg *, struct msg_procinfo *);
void	 msg_result_send(struct imsg_chan *, uint32_t, uint32_t, uint32_t,
	    const char *);
int	 msg_result_recv(const struct imsg *, uint32_t *, char *, size_t);
void	 msg_callback_send(struct imsg_chan *, const struct msg_callback *);
int	 msg_callback_recv(const struct imsg *, struct msg_callback *);
void	 msg_isolation_send(struct imsg_chan *,
	    const struct msg_isolation *);
int	 msg_isolation_recv(const struct imsg *, struct msg_isolation *);

#endif /* MSG_H */
