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

#ifndef PARENT_CONFIG_H
#define PARENT_CONFIG_H

#include <sys/types.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <netinet/in.h>

#include <stdint.h>
#include <stdio.h>

#include "conf.h"

/*
 * The whole configuration as the parent holds it.  config_load() returns
 * a new one or NULL; a running one is never changed in place.
 */

#define CONFIG_FILE	"/etc/sbxd/sbxd.conf"
#define CONFIG_MAXSIZE	(1024 * 1024)

enum config_auth {
	AUTH_TOKEN,
	AUTH_NONE,		/* loopback and Unix sockets only */
	AUTH_NONE_INSECURE	/* any address, asked for in so many words */
};

enum config_logformat {
	LOGFORMAT_AUTO,		/* text on a terminal, else json */
	LOGFORMAT_JSON,
	LOGFORMAT_TEXT
};

enum config_user {
	USER_FRONTEND,
	USER_SPAWNER,
	USER_REPORTER,
	USER_COUNT
};

struct config_listen {
	TAILQ_ENTRY(config_listen) li_entry;
	uint32_t		 li_id;
	int			 li_proxy;
	struct sockaddr_storage	 li_ss;		/* inet, inet6 or unix */
	socklen_t		 li_sslen;
	enum config_auth	 li_auth;
	mode_t			 li_mode;	/* unix only */
	char			 li_group[CONF_USERLEN];
};
TAILQ_HEAD(config_listens, config_listen);

struct config {
	struct config_listens	 cf_listens;	/* proxy ones too */
	unsigned int		 cf_nlistens;
	in_port_t		 cf_port;	/* of a listener without one */
	in_port_t		 cf_proxy_port;
	uint64_t		 cf_values[SET_COUNT];
	uint32_t		 cf_flags;	/* enum conf_flag */
	struct conf_profiles	 cf_profiles;	/* "default" comes first */
	struct conf_langs	 cf_langs;
	struct conf_mounts	 cf_mounts;

	enum conf_isolation	 cf_isolation;
	char			 cf_bwrap[CONF_PATHLEN];
	uint32_t		 cf_uid_first;
	uint32_t		 cf_uid_last;

	char			 cf_workspace[CONF_PATHLEN];
	int			 cf_workspace_made; /* ours to create */
	char			 cf_spool[CONF_PATHLEN];
	char			 cf_control[sizeof(((struct sockaddr_un *)0)
				    ->sun_path)];
	char			 cf_control_group[CONF_USERLEN];
	char			 cf_chroot[CONF_PATHLEN]; /* root only */
	char			 cf_users[USER_COUNT][CONF_USERLEN];

	enum config_logformat	 cf_logformat;
	int			 cf_loglevel;	/* LOG_* of syslog.h */

	char			 cf_token[CONF_TOKENLEN];	/* "" if none */
	char			 cf_token_file[CONF_PATHLEN];
	char			 cf_cp_url[CONF_URLLEN];	/* "" if none */
	char			 cf_cp_token[CONF_TOKENLEN];
	char			 cf_cp_token_file[CONF_PATHLEN];
	int			 cf_token_known;	/* and forgotten */
	int			 cf_cp_token_known;
	char			 cf_container_id[CONF_IDLEN];
	char			 cf_pod_name[CONF_IDLEN];
};

/* Where errors of a file go: the log and, for a reload, its asker. */
struct config_errors {
	unsigned int	 ce_count;
	size_t		 ce_len;
	char		 ce_text[3072];	/* "file:line: text\n" each, cut */
};

/* config.c: defaults, environment, checks across statements */
struct config	*config_new(struct config_errors *);
void		 config_free(struct config *);
int		 config_check(struct config *, struct config_errors *);
void		 config_error(struct config_errors *, const char *, ...)
		    __attribute__((__format__(printf, 2, 3)));
int		 config_read_token(const char *, char *, size_t,
		    const char **);
void		 config_forget_secrets(struct config *);
int		 config_listen_add(struct config *,
		    const struct config_listen *);
int		 config_profile_builtin(struct conf_profile *);

/*
 * config_value.c: what a text must be like.  Each copies a valid value
 * into a buffer of its size or fails and says in the last argument what
 * would have been valid.
 */
int		 config_value_path(const char *, char *, size_t,
		    const char **);
int		 config_value_name(const char *, char *, size_t,
		    const char **);
int		 config_value_user(const char *, char *, size_t,
		    const char **);
int		 config_value_text(const char *, char *, size_t,
		    const char **);
int		 config_value_token(const char *, char *, size_t,
		    const char **);
int		 config_value_url(const char *, char *, size_t,
		    const char **);
int		 config_value_envname(const char *, const char **);
int		 config_value_loglevel(const char *, int *);
int		 config_value_port(const char *, in_port_t *, const char **);
int		 config_value_address(const char *, in_port_t,
		    struct config_listen *, const char **);
int		 config_is_loopback(const struct config_listen *);
int		 config_open(const char *, int, struct stat *, const char **);
int		 config_file_check(const struct stat *, int, const char **);
int		 config_is_public(const struct stat *);

/* parse.y */
struct config	*config_load(const char *, int, struct config_errors *);
struct config	*config_parse_buffer(const char *, char *, size_t,
		    struct config_errors *);
int		 config_macro(const char *);

/* printconf.c */
void		 config_print(FILE *, const struct config *, int);

#endif /* PARENT_CONFIG_H */
