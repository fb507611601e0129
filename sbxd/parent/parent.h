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

#ifndef PARENT_H
#define PARENT_H

#include <sys/types.h>

#include <event2/event.h>
#include <stdint.h>

#include "config.h"
#include "msg.h"

/* A child as its parent knows it. */
struct child_proc {
	enum msg_proc		 cp_proc;
	pid_t			 cp_pid;
	struct imsg_chan	 cp_chan;
	struct confine_state	 cp_confine;
	int			 cp_ready;
	int			 cp_conf_done;
};

struct parent {
	struct event_base	*pa_base;
	struct config		*pa_config;
	const char		*pa_file;
	int			 pa_file_given;
	int			 pa_foreground;
	int			 pa_verbose;
	struct child_proc	 pa_children[PROC_COUNT];
	uint8_t			 pa_digest[SHA256_LEN];
	int			 pa_digest_kept;	/* not from the file */
	int			 pa_cp_token_kept;
	int			 pa_started;
	uint32_t		 pa_next_listen;

	struct config		*pa_next;		/* being loaded */
	uint32_t		 pa_asker;		/* control client or 0 */
	int			 pa_again;		/* SIGHUP meanwhile */
	struct event		*pa_deadline;		/* of start, reload */

	int			 pa_exit;
};

/* How the daemon ends: its exit status. */
#define EXIT_LOST	1
#define EXIT_SIGNAL	143
#define EXIT_STOP	0

/* sbxd.c */
void	 parent_end(struct parent *, int);

/* child_proc.c */
void	 child_proc_start(struct parent *, enum msg_proc, const char *);
void	 child_proc_wire(struct parent *, enum msg_proc, enum msg_proc);
void	 child_proc_reap(int, short, void *);
void	 child_proc_stop(struct parent *, int);
void	 child_proc_each(struct parent *, uint32_t, const void *, size_t);
void	 child_proc_ended(struct imsg_chan *, enum imsg_end);

/* priv_open.c: what only the privileged side can open */
struct priv_user {
	uid_t	 pu_uid;
	gid_t	 pu_gid;
};

int	 priv_dir(const char *, uid_t, gid_t, mode_t, const char **);
int	 priv_dir_empty(int, const char **);
int	 priv_listen(struct config_listen *, char *, size_t);
int	 priv_control(const struct config *, uint32_t *, char *, size_t);
int	 priv_workspace(const struct config *, char *, size_t);
int	 priv_spool(const struct config *, const struct priv_user *, char *,
	    size_t);
int	 priv_lookup_user(const char *, struct priv_user *);
void	 priv_listen_text(const struct config_listen *, char *, size_t);
void	 priv_seal(void);
void	 priv_unlink_sockets(void);
void	 priv_forget_socket(const char *);

/* conf_send.c */
void	 conf_send(struct parent *, const struct config *, const int *);

/* reload.c */
void	 reload_begin(struct parent *, uint32_t);
void	 reload_done(struct parent *);

/* answer.c: what the frontend asks for control clients */
void	 answer_show(struct imsg_chan *, struct imsg *);
void	 answer_config(struct imsg_chan *, struct imsg *);
void	 answer_reload(struct imsg_chan *, struct imsg *);
void	 answer_verbose(struct imsg_chan *, struct imsg *);
void	 answer_stop(struct imsg_chan *, struct imsg *);
void	 answer_result(struct parent *, uint32_t, uint32_t, const char *);

/* notify.c: word to systemd */
void	 notify_init(void);
void	 notify_send(const char *);

/* token.c */
void	 token_prepare(struct parent *);
int	 token_missing(const struct parent *, const struct config *);
void	 token_reload(struct parent *, struct config *);
void	 token_forget_environment(void);
void	 token_print(const struct config *);

#endif /* PARENT_H */
