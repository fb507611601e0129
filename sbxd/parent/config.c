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
#include <sys/un.h>

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "compat.h"
#include "config.h"
#include "log.h"

#define DEFAULT_PORT		3030
#define DEFAULT_PROXY_PORT	3031
#define DEFAULT_UID_FIRST	600000
#define DEFAULT_UID_LAST	665535

typedef int	 (*value_fn)(const char *, char *, size_t, const char **);

static int	 env_value(struct config_errors *, const char *, value_fn,
		    char *, size_t);
static void	 env_secret(struct config_errors *, const char *, char *,
		    size_t);
static int	 env_port(struct config_errors *, const char *, in_port_t *);
static void	 config_environment(struct config *, struct config_errors *);
static void	 config_paths(struct config *);
static void	 config_users(struct config *);
static void	 config_profiles(struct config *);
static void	 config_lang(struct config *, const char *, const char *);
static void	 check_listens(struct config *, struct config_errors *);
static void	 check_timeouts(const struct config *,
		    struct config_errors *);
static void	 check_users(const struct config *, struct config_errors *);
static void	 check_langs(struct config *, struct config_errors *);
static int	 path_inside(const char *, const char *);
static void	 check_path(const struct config *, struct config_errors *,
		    const char *, const char *);
static void	 check_paths(const struct config *, struct config_errors *);
static int	 token_line(int, char *, size_t);

/* What every program may see of the system; what is not there is skipped. */
static const char * const builtin_paths[] = {
	"/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc/alternatives",
	"/etc/ld.so.cache", "/etc/localtime", "/etc/ssl"
};

static const char * const builtin_env[][2] = {
	{ "PATH",	"/usr/local/bin:/usr/bin:/bin" },
	{ "HOME",	"/workspace" },
	{ "LANG",	"C.UTF-8" },
	{ "TMPDIR",	"/tmp" }
};

/*
 * For the log and, if there is one, for who asked.  The text may contain
 * what an attacker wrote, so that it is kept to one line.
 */
void
config_error(struct config_errors *errors, const char *fmt, ...)
{
	va_list	 ap;
	size_t	 left;
	char	 text[2048];

	va_start(ap, fmt);
	/* A text that does not fit is cut. */
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);

	log_warnx("%s", text);
	if (errors == NULL)
		return;
	errors->ce_count++;
	left = sizeof(errors->ce_text) - errors->ce_len;
	if (left < 3)
		return;
	errors->ce_len += log_escape_text(errors->ce_text + errors->ce_len,
	    left - 1, text, strlen(text));
	errors->ce_text[errors->ce_len++] = '\n';
	errors->ce_text[errors->ce_len] = '\0';
}

/* 1 if there was a good value, 0 if none, -1 after an error. */
static int
env_value(struct config_errors *errors, const char *name, value_fn check,
    char *out, size_t size)
{
	const char	*value, *errstr;

	if ((value = getenv(name)) == NULL || value[0] == '\0')
		return (0);
	if (check(value, out, size, &errstr) == -1) {
		config_error(errors, "environment: %s \"%s\": %s", name,
		    value, errstr);
		return (-1);
	}
	return (1);
}

static void
env_secret(struct config_errors *errors, const char *name, char *out,
    size_t size)
{
	const char	*value, *errstr;

	if ((value = getenv(name)) == NULL || value[0] == '\0')
		return;
	if (config_value_token(value, out, size, &errstr) == -1)
		config_error(errors, "environment: %s: %s", name, errstr);
}

static int
env_port(struct config_errors *errors, const char *name, in_port_t *port)
{
	const char	*value, *errstr;
	in_port_t	 n;

	if ((value = getenv(name)) == NULL || value[0] == '\0')
		return (0);
	if (config_value_port(value, &n, &errstr) == -1) {
		config_error(errors, "environment: %s \"%s\": %s", name,
		    value, errstr);
		return (-1);
	}
	*port = n;
	return (1);
}

/* Made for containers.  An empty variable is one that is not set. */
static void
config_environment(struct config *conf, struct config_errors *errors)
{
	/* Asked once: it may not be possible at a reload any more. */
	static char	 host[HOST_NAME_MAX + 1];
	const char	*value;

	env_port(errors, "EXECUTOR_PORT", &conf->cf_port);
	env_port(errors, "PORT", &conf->cf_port);
	env_port(errors, "PROXY_PORT", &conf->cf_proxy_port);
	env_secret(errors, "SANDBOX_SECRET", conf->cf_token,
	    sizeof(conf->cf_token));
	env_secret(errors, "INTERNAL_API_TOKEN", conf->cf_cp_token,
	    sizeof(conf->cf_cp_token));
	env_value(errors, "CONTROL_PLANE_URL", config_value_url,
	    conf->cf_cp_url, sizeof(conf->cf_cp_url));
	if (env_value(errors, "WORKSPACE_PATH", config_value_path,
	    conf->cf_workspace, sizeof(conf->cf_workspace)) == 1)
		conf->cf_workspace_made = 0;
	env_value(errors, "POD_NAME", config_value_text, conf->cf_pod_name,
	    sizeof(conf->cf_pod_name));
	if (env_value(errors, "CONTAINER_ID", config_value_text,
	    conf->cf_container_id, sizeof(conf->cf_container_id)) == 0 &&
	    env_value(errors, "HOSTNAME", config_value_text,
	    conf->cf_container_id, sizeof(conf->cf_container_id)) == 0) {
		if (host[0] == '\0' && gethostname(host, sizeof(host) - 1) ==
		    -1)
			host[0] = '\0';
		/* A host name always fits. */
		(void)strlcpy(conf->cf_container_id, host,
		    sizeof(conf->cf_container_id));
	}
	value = getenv("LOG_LEVEL");
	if (value != NULL && value[0] != '\0' &&
	    config_value_loglevel(value, &conf->cf_loglevel) == -1)
		config_error(errors, "environment: LOG_LEVEL \"%s\": must be "
		    "debug, info, warning or error", value);
}

/* Root has its places; what an ordinary user has is below one directory. */
static void
config_paths(struct config *conf)
{
	const char	*errstr, *run;
	char		 dir[sizeof(conf->cf_control) - sizeof("/sbxd.sock")];
	char		 base[sizeof(dir) - sizeof("/sbxd")];

	conf->cf_workspace_made = 1;
	(void)strlcpy(conf->cf_chroot, "/run/sbxd/empty",
	    sizeof(conf->cf_chroot));
	if (geteuid() == 0) {
		(void)strlcpy(conf->cf_workspace, "/var/lib/sbxd/workspace",
		    sizeof(conf->cf_workspace));
		(void)strlcpy(conf->cf_spool, "/var/spool/sbxd/results",
		    sizeof(conf->cf_spool));
		(void)strlcpy(conf->cf_control, "/run/sbxd/sbxd.sock",
		    sizeof(conf->cf_control));
		return;
	}
	run = getenv("XDG_RUNTIME_DIR");
	if (run != NULL &&
	    config_value_path(run, base, sizeof(base), &errstr) == 0)
		(void)snprintf(dir, sizeof(dir), "%s/sbxd", base);
	else
		(void)snprintf(dir, sizeof(dir), "/tmp/sbxd-%u",
		    (unsigned int)geteuid());
	(void)snprintf(conf->cf_workspace, sizeof(conf->cf_workspace),
	    "%s/workspace", dir);
	(void)snprintf(conf->cf_spool, sizeof(conf->cf_spool), "%s/results",
	    dir);
	(void)snprintf(conf->cf_control, sizeof(conf->cf_control),
	    "%s/sbxd.sock", dir);
}

static void
config_users(struct config *conf)
{
	static const char * const	 names[USER_COUNT] = {
		[USER_FRONTEND] = "_sbxd",
		[USER_SPAWNER] = "_sbxspawn",
		[USER_REPORTER] = "_sbxrep"
	};
	int				 i;

	for (i = 0; i < USER_COUNT; i++)
		(void)strlcpy(conf->cf_users[i], names[i],
		    sizeof(conf->cf_users[i]));
}

/* The paths and the environment that a profile begins with. */
int
config_profile_builtin(struct conf_profile *pr)
{
	size_t	 i;

	for (i = 0; i < nitems(builtin_paths); i++) {
		if (conf_profile_add(pr, ITEM_READONLY, builtin_paths[i],
		    NULL) == -1)
			return (-1);
	}
	for (i = 0; i < nitems(builtin_env); i++) {
		if (conf_profile_add(pr, ITEM_ENV, builtin_env[i][0],
		    builtin_env[i][1]) == -1)
			return (-1);
	}
	return (0);
}

static void
config_profiles(struct config *conf)
{
	struct conf_profile	*pr;

	if ((pr = conf_profile_new("default")) == NULL ||
	    config_profile_builtin(pr) == -1)
		fatal("%s", __func__);
	TAILQ_INSERT_TAIL(&conf->cf_profiles, pr, pr_entry);
}

static void
config_lang(struct config *conf, const char *name, const char *command)
{
	struct conf_lang	*la;

	if ((la = calloc(1, sizeof(*la))) == NULL)
		fatal("%s", __func__);
	(void)strlcpy(la->la_name, name, sizeof(la->la_name));
	(void)strlcpy(la->la_command, command, sizeof(la->la_command));
	(void)strlcpy(la->la_profile, "default", sizeof(la->la_profile));
	TAILQ_INSERT_TAIL(&conf->cf_langs, la, la_entry);
}

struct config *
config_new(struct config_errors *errors)
{
	struct config	*conf;

	if ((conf = calloc(1, sizeof(*conf))) == NULL)
		fatal("%s", __func__);
	TAILQ_INIT(&conf->cf_listens);
	TAILQ_INIT(&conf->cf_profiles);
	TAILQ_INIT(&conf->cf_langs);
	TAILQ_INIT(&conf->cf_mounts);

	setting_defaults(conf->cf_values);
	conf->cf_port = DEFAULT_PORT;
	conf->cf_proxy_port = DEFAULT_PROXY_PORT;
	conf->cf_isolation = ISOLATION_NATIVE;
	(void)strlcpy(conf->cf_bwrap, "/usr/bin/bwrap",
	    sizeof(conf->cf_bwrap));
	conf->cf_uid_first = DEFAULT_UID_FIRST;
	conf->cf_uid_last = DEFAULT_UID_LAST;
	conf->cf_logformat = LOGFORMAT_AUTO;
	conf->cf_loglevel = LOG_INFO;
	config_paths(conf);
	config_users(conf);
	config_profiles(conf);
	config_lang(conf, "python", "/usr/bin/python3");
	config_lang(conf, "javascript", "/usr/bin/node");
	config_lang(conf, "shell", "/bin/bash");

	config_environment(conf, errors);
	return (conf);
}

void
config_free(struct config *conf)
{
	struct config_listen	*li;

	if (conf == NULL)
		return;
	while ((li = TAILQ_FIRST(&conf->cf_listens)) != NULL) {
		TAILQ_REMOVE(&conf->cf_listens, li, li_entry);
		free(li);
	}
	conf_profiles_clear(&conf->cf_profiles);
	conf_langs_clear(&conf->cf_langs);
	conf_mounts_clear(&conf->cf_mounts);
	freezero(conf, sizeof(*conf));
}

/* Once the children have been told. */
void
config_forget_secrets(struct config *conf)
{
	conf->cf_token_known |= conf->cf_token[0] != '\0';
	conf->cf_cp_token_known |= conf->cf_cp_token[0] != '\0';
	explicit_bzero(conf->cf_token, sizeof(conf->cf_token));
	explicit_bzero(conf->cf_cp_token, sizeof(conf->cf_cp_token));
}

int
config_listen_add(struct config *conf, const struct config_listen *new)
{
	struct config_listen	*li;

	TAILQ_FOREACH(li, &conf->cf_listens, li_entry) {
		if (li->li_sslen == new->li_sslen &&
		    memcmp(&li->li_ss, &new->li_ss, li->li_sslen) == 0) {
			errno = EEXIST;
			return (-1);
		}
	}
	if (conf->cf_nlistens >= CONF_MAX_LISTEN) {
		errno = E2BIG;
		return (-1);
	}
	if ((li = malloc(sizeof(*li))) == NULL)
		fatal("%s", __func__);
	memcpy(li, new, sizeof(*li));
	li->li_id = conf->cf_nlistens++;
	TAILQ_INSERT_TAIL(&conf->cf_listens, li, li_entry);
	return (0);
}

/* Listeners that the file did not mention, so that none is needed. */
static void
check_listens(struct config *conf, struct config_errors *errors)
{
	const struct config_listen	*li;
	const char			*errstr;
	struct config_listen		 new;
	int				 count[2] = { 0, 0 }, proxy;

	TAILQ_FOREACH(li, &conf->cf_listens, li_entry)
		count[li->li_proxy]++;
	if ((conf->cf_flags & CONF_NO_PROXY) != 0) {
		if (count[1] != 0)
			config_error(errors, "proxy: both \"no proxy\" and "
			    "\"proxy on\" are given");
		count[1] = 1;
	}
	for (proxy = 0; proxy < 2; proxy++) {
		if (count[proxy] != 0)
			continue;
		memset(&new, 0, sizeof(new));
		new.li_proxy = proxy;
		new.li_auth = AUTH_TOKEN;
		if (config_value_address("127.0.0.1", proxy ?
		    conf->cf_proxy_port : conf->cf_port, &new,
		    &errstr) == -1)
			fatalx("%s: %s", __func__, errstr);
		if (config_listen_add(conf, &new) == -1)
			config_error(errors, "%s on 127.0.0.1 port %u (the "
			    "default): %s", proxy ? "proxy" : "listen",
			    proxy ? conf->cf_proxy_port : conf->cf_port,
			    errno == EEXIST ? "another listener has this "
			    "address and port, give one of them another port" :
			    "too many listeners");
	}
}

static void
check_timeouts(const struct config *conf, struct config_errors *errors)
{
	static const enum setting	 pairs[][2] = {
		{ SET_EXECUTE_TIMEOUT,	SET_EXECUTE_TIMEOUT_MAX },
		{ SET_CALL_TIMEOUT,	SET_CALL_TIMEOUT_MAX }
	};
	enum setting			 set, max;
	char				 text[2][SETTING_TEXTLEN];
	size_t				 i;

	for (i = 0; i < nitems(pairs); i++) {
		set = pairs[i][0];
		max = pairs[i][1];
		if (conf->cf_values[set] <= conf->cf_values[max])
			continue;
		setting_format(set, conf->cf_values[set], text[0]);
		setting_format(max, conf->cf_values[max], text[1]);
		config_error(errors, "%s: %s %s: must be at most the %s, "
		    "which is %s", settings[set].sd_block,
		    settings[set].sd_name, text[0], settings[max].sd_name,
		    text[1]);
	}
}

/* Two processes of one user could attack each other. */
static void
check_users(const struct config *conf, struct config_errors *errors)
{
	int	 i, j;

	for (i = 0; i < USER_COUNT; i++) {
		for (j = i + 1; j < USER_COUNT; j++) {
			if (strcmp(conf->cf_users[i], conf->cf_users[j]) == 0)
				config_error(errors, "user \"%s\" is given "
				    "twice: frontend, spawner and reporter "
				    "must be different users",
				    conf->cf_users[i]);
		}
	}
}

static void
check_langs(struct config *conf, struct config_errors *errors)
{
	const struct conf_lang		*la;
	const struct conf_profile	*pr;
	char				 names[1024] = "";

	TAILQ_FOREACH(pr, &conf->cf_profiles, pr_entry) {
		if (names[0] != '\0')
			(void)strlcat(names, ", ", sizeof(names));
		/* A list that does not fit is cut. */
		(void)strlcat(names, pr->pr_name, sizeof(names));
	}
	TAILQ_FOREACH(la, &conf->cf_langs, la_entry) {
		if (la->la_command[0] == '\0')
			config_error(errors, "language \"%s\": has no command",
			    la->la_name);
		if (conf_profile_byname(&conf->cf_profiles,
		    la->la_profile) == NULL)
			config_error(errors, "language \"%s\": unknown "
			    "profile \"%s\": expected %s", la->la_name,
			    la->la_profile, names);
	}
}

static int
path_inside(const char *path, const char *dir)
{
	size_t	 len = strlen(dir);

	return (strncmp(path, dir, len) == 0 &&
	    (path[len] == '/' || path[len] == '\0'));
}

/* Programs write to the workspace, so that nothing of ours may be there. */
static void
check_path(const struct config *conf, struct config_errors *errors,
    const char *what, const char *path)
{
	if (path[0] != '\0' && path_inside(path, conf->cf_workspace))
		config_error(errors, "%s \"%s\": must not be inside the "
		    "workspace \"%s\"", what, path, conf->cf_workspace);
}

static void
check_paths(const struct config *conf, struct config_errors *errors)
{
	const struct config_listen	*li;
	const struct sockaddr_un	*sun;

	check_path(conf, errors, "spool", conf->cf_spool);
	check_path(conf, errors, "control socket", conf->cf_control);
	check_path(conf, errors, "chroot", conf->cf_chroot);
	check_path(conf, errors, "token file", conf->cf_token_file);
	check_path(conf, errors, "token file", conf->cf_cp_token_file);
	if (path_inside(conf->cf_workspace, conf->cf_spool) &&
	    strcmp(conf->cf_workspace, conf->cf_spool) != 0)
		config_error(errors, "workspace \"%s\": must not be inside "
		    "the spool \"%s\"", conf->cf_workspace, conf->cf_spool);
	TAILQ_FOREACH(li, &conf->cf_listens, li_entry) {
		if (li->li_ss.ss_family != AF_UNIX)
			continue;
		sun = (const struct sockaddr_un *)&li->li_ss;
		check_path(conf, errors, "socket", sun->sun_path);
		if (strcmp(sun->sun_path, conf->cf_control) == 0)
			config_error(errors, "socket \"%s\": is the control "
			    "socket, too", sun->sun_path);
	}
}

/* What no statement can be asked alone.  Adds the default listeners. */
int
config_check(struct config *conf, struct config_errors *errors)
{
	struct conf_profile	*pr;
	struct config_errors	 own;
	unsigned int		 before;
	uint32_t		 id = 0;

	if (errors == NULL) {
		memset(&own, 0, sizeof(own));
		errors = &own;
	}
	before = errors->ce_count;
	TAILQ_FOREACH(pr, &conf->cf_profiles, pr_entry)
		pr->pr_id = id++;
	check_listens(conf, errors);
	check_timeouts(conf, errors);
	check_users(conf, errors);
	check_langs(conf, errors);
	check_paths(conf, errors);
	return (errors->ce_count == before ? 0 : -1);
}

/* The first line, without its end; 0 or an errno. */
static int
token_line(int fd, char *line, size_t size)
{
	size_t	 len = 0;
	ssize_t	 n = 1;

	while (n != 0 && len < size - 1 && memchr(line, '\n', len) == NULL) {
		n = read(fd, line + len, size - 1 - len);
		if (n == -1 && errno != EINTR)
			return (errno);
		if (n > 0)
			len += (size_t)n;
	}
	line[len] = '\0';
	if (strlen(line) != len)
		return (EINVAL);
	line[strcspn(line, "\n")] = '\0';
	return (0);
}

int
config_read_token(const char *path, char *token, size_t size,
    const char **errstr)
{
	struct stat	 st;
	char		 line[CONF_TOKENLEN + 2];
	int		 error, fd, ret = -1;

	memset(line, 0, sizeof(line));
	if ((fd = config_open(path, 1, &st, errstr)) == -1)
		return (-1);
	if ((error = token_line(fd, line, sizeof(line))) != 0)
		*errstr = strerror(error);
	else
		ret = config_value_token(line, token, size, errstr);
	close(fd);
	explicit_bzero(line, sizeof(line));
	return (ret);
}
