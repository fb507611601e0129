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


/*
 * The configuration: every statement, every kind of error, both ends of
 * every range, the secrecy of files, the environment, and the round trip
 * of what is printed.  Rows T19 and T78 of escape-tests.md are here, too.
 */

#include <sys/types.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include <cmocka.h>

#include "compat.h"
#include "config.h"
#include "log.h"

#define SECRET		"s3cr3t-s3cr3t"
#define OTHER_UID	65534

static const char * const	 variables[] = {
	"SANDBOX_SECRET", "PORT", "EXECUTOR_PORT", "PROXY_PORT",
	"CONTROL_PLANE_URL", "INTERNAL_API_TOKEN", "WORKSPACE_PATH",
	"CONTAINER_ID", "HOSTNAME", "POD_NAME", "LOG_LEVEL",
	"XDG_RUNTIME_DIR"
};

static char			 dir[64];
static struct config_errors	 errors;

static void
clean_environment(void)
{
	size_t	 i;

	for (i = 0; i < nitems(variables); i++)
		assert_int_equal(unsetenv(variables[i]), 0);
	assert_int_equal(setenv("HOSTNAME", "testhost", 1), 0);
}

static const char *
file_path(const char *name)
{
	static char	 paths[4][PATH_MAX];
	static int	 next;
	char		*path = paths[next++ % 4];

	(void)snprintf(path, PATH_MAX, "%s/%s", dir, name);
	return (path);
}

static void
file_write(const char *name, const void *data, size_t len, mode_t mode)
{
	int	 fd;

	(void)unlink(file_path(name));
	fd = open(file_path(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
	    0600);
	assert_true(fd != -1);
	assert_int_equal(write(fd, data, len), len);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void
file_text(const char *name, const char *text, mode_t mode)
{
	file_write(name, text, strlen(text), mode);
}

static struct config *
load_file(const char *name)
{
	memset(&errors, 0, sizeof(errors));
	return (config_load(file_path(name), 1, &errors));
}

static struct config *
load(const char *text)
{
	file_text("test.conf", text, 0600);
	return (load_file("test.conf"));
}

static struct config *
load_good(const char *text)
{
	struct config	*conf;

	conf = load(text);
	if (conf == NULL)
		print_error("%s", errors.ce_text);
	assert_non_null(conf);
	assert_int_equal(errors.ce_count, 0);
	return (conf);
}

static void
good(const char *text)
{
	config_free(load_good(text));
}

static void
assert_error(const char *what, const char *part)
{
	if (strstr(errors.ce_text, part) == NULL)
		fail_msg("\"%s\" gave \"%s\" and not \"%s\"", what,
		    errors.ce_text, part);
}

/* Exactly one error, in this line, with this text. */
static void
bad_line(const char *text, int line, const char *part)
{
	char	 place[PATH_MAX];

	assert_null(load(text));
	if (errors.ce_count != 1)
		fail_msg("\"%s\" gave %u errors: %s", text, errors.ce_count,
		    errors.ce_text);
	assert_error(text, part);
	if (line == 0)
		return;
	(void)snprintf(place, sizeof(place), "%s:%d: ",
	    file_path("test.conf"), line);
	assert_error(text, place);
}

static void
bad(const char *text, const char *part)
{
	bad_line(text, 1, part);
}

static void
bad_file(const char *name, const char *part)
{
	assert_null(load_file(name));
	assert_true(errors.ce_count >= 1);
	assert_error(name, part);
}

static char *
print(const struct config *conf, int show)
{
	FILE	*fp;
	char	*text = NULL;
	size_t	 len = 0;

	fp = open_memstream(&text, &len);
	assert_non_null(fp);
	config_print(fp, conf, show);
	assert_int_equal(fclose(fp), 0);
	return (text);
}

/* What is printed and read again prints the same. */
static void
round_trip(const struct config *conf)
{
	struct config	*again;
	char		*first, *second;

	first = print(conf, 1);
	again = load(first);
	if (again == NULL)
		fail_msg("%s\n%s", errors.ce_text, first);
	second = print(again, 1);
	assert_string_equal(first, second);
	free(first);
	free(second);
	config_free(again);
}

static const struct config_listen *
listener(const struct config *conf, unsigned int id)
{
	const struct config_listen	*li;

	TAILQ_FOREACH(li, &conf->cf_listens, li_entry) {
		if (li->li_id == id)
			return (li);
	}
	fail_msg("no listener %u", id);
	return (NULL);
}

static void
assert_inet(const struct config_listen *li, const char *address,
    unsigned int port, int proxy, enum config_auth auth)
{
	const struct sockaddr_in	*sin;
	const struct sockaddr_in6	*sin6;
	char				 text[INET6_ADDRSTRLEN];

	if (li->li_ss.ss_family == AF_INET) {
		sin = (const struct sockaddr_in *)&li->li_ss;
		assert_int_equal(li->li_sslen, sizeof(*sin));
		inet_ntop(AF_INET, &sin->sin_addr, text, sizeof(text));
		assert_int_equal(ntohs(sin->sin_port), port);
	} else {
		assert_int_equal(li->li_ss.ss_family, AF_INET6);
		sin6 = (const struct sockaddr_in6 *)&li->li_ss;
		assert_int_equal(li->li_sslen, sizeof(*sin6));
		inet_ntop(AF_INET6, &sin6->sin6_addr, text, sizeof(text));
		assert_int_equal(ntohs(sin6->sin6_port), port);
	}
	assert_string_equal(text, address);
	assert_int_equal(li->li_proxy, proxy);
	assert_int_equal(li->li_auth, auth);
}

static const struct conf_item *
item(const struct conf_profile *pr, enum conf_item_kind kind, int n)
{
	const struct conf_item	*it;

	TAILQ_FOREACH(it, &pr->pr_items, it_entry) {
		if (it->it_kind == kind && n-- == 0)
			return (it);
	}
	return (NULL);
}

static const struct conf_lang *
language(const struct config *conf, const char *name)
{
	const struct conf_lang	*la;

	TAILQ_FOREACH(la, &conf->cf_langs, la_entry) {
		if (strcmp(la->la_name, name) == 0)
			return (la);
	}
	fail_msg("no language %s", name);
	return (NULL);
}

static void
test_defaults(void **state)
{
	const struct conf_profile	*pr;
	struct config			*conf;
	int				 i;

	(void)state;
	memset(&errors, 0, sizeof(errors));
	conf = config_load(file_path("missing"), 0, &errors);
	assert_non_null(conf);
	for (i = 0; i < SET_COUNT; i++)
		assert_true(conf->cf_values[i] == settings[i].sd_default);
	assert_int_equal(conf->cf_flags, 0);
	assert_int_equal(conf->cf_nlistens, 2);
	assert_inet(listener(conf, 0), "127.0.0.1", 3030, 0, AUTH_TOKEN);
	assert_inet(listener(conf, 1), "127.0.0.1", 3031, 1, AUTH_TOKEN);
	assert_int_equal(conf->cf_isolation, ISOLATION_NATIVE);
	assert_string_equal(conf->cf_bwrap, "/usr/bin/bwrap");
	assert_int_equal(conf->cf_uid_first, 600000);
	assert_int_equal(conf->cf_uid_last, 665535);
	assert_int_equal(conf->cf_workspace_made, 1);
	assert_string_equal(conf->cf_users[USER_FRONTEND], "_sbxd");
	assert_string_equal(conf->cf_users[USER_SPAWNER], "_sbxspawn");
	assert_string_equal(conf->cf_users[USER_REPORTER], "_sbxrep");
	assert_int_equal(conf->cf_logformat, LOGFORMAT_AUTO);
	assert_int_equal(conf->cf_loglevel, LOG_INFO);
	assert_string_equal(conf->cf_token, "");
	assert_string_equal(conf->cf_cp_url, "");
	assert_string_equal(conf->cf_container_id, "testhost");
	assert_string_equal(language(conf, "python")->la_command,
	    "/usr/bin/python3");
	assert_string_equal(language(conf, "javascript")->la_command,
	    "/usr/bin/node");
	assert_string_equal(language(conf, "shell")->la_command, "/bin/bash");
	pr = TAILQ_FIRST(&conf->cf_profiles);
	assert_string_equal(pr->pr_name, "default");
	assert_int_equal(pr->pr_id, 0);
	assert_string_equal(pr->pr_root, "");
	assert_string_equal(item(pr, ITEM_READONLY, 0)->it_a, "/usr");
	assert_string_equal(item(pr, ITEM_ENV, 0)->it_a, "PATH");
	assert_null(item(pr, ITEM_CALL_ADD, 0));
	round_trip(conf);
	config_free(conf);

	good("");
	good("http { idle timeout 2m }\nhttp {}\nhttp { }\n"
	    "profile \"x\" { limits { time 2m } }\npool 1\n");
	good("\n\n# nothing\n  \t \\\n\n");
	assert_null(config_load(file_path("missing"), 1, NULL));
	bad_file("missing", "No such file");
	config_free(NULL);
}

/* Root and others have different places. */
static void
test_state_directory(void **state)
{
	struct config	*conf;
	char		 path[PATH_MAX], expected[PATH_MAX];

	(void)state;
	if (geteuid() == 0) {
		conf = config_new(&errors);
		assert_string_equal(conf->cf_workspace,
		    "/var/lib/sbxd/workspace");
		assert_string_equal(conf->cf_spool, "/var/spool/sbxd/results");
		assert_string_equal(conf->cf_control, "/run/sbxd/sbxd.sock");
		config_free(conf);
		assert_int_equal(seteuid(OTHER_UID), 0);
	}
	conf = config_new(&errors);
	(void)snprintf(expected, sizeof(expected), "/tmp/sbxd-%u/sbxd.sock",
	    (unsigned int)geteuid());
	assert_string_equal(conf->cf_control, expected);
	config_free(conf);

	assert_int_equal(setenv("XDG_RUNTIME_DIR", "/run/user/7/", 1), 0);
	conf = config_new(&errors);
	assert_string_equal(conf->cf_control, "/run/user/7/sbxd/sbxd.sock");
	assert_string_equal(conf->cf_spool, "/run/user/7/sbxd/results");
	assert_string_equal(conf->cf_workspace, "/run/user/7/sbxd/workspace");
	config_free(conf);

	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[100] = '\0';
	assert_int_equal(setenv("XDG_RUNTIME_DIR", path, 1), 0);
	conf = config_new(&errors);
	assert_string_equal(conf->cf_control, expected);
	config_free(conf);
	assert_int_equal(setenv("XDG_RUNTIME_DIR", "run", 1), 0);
	conf = config_new(&errors);
	assert_string_equal(conf->cf_control, expected);
	config_free(conf);

	if (getuid() == 0)
		assert_int_equal(seteuid(0), 0);
	clean_environment();
}

static const char	 everything[] =
    "name = \"frontend-user\"\n"
    "address = 192.0.2.1\n"
    "listen on $address\n"
    "listen on 127.0.0.2 port 80 auth none\n"
    "listen on \"::1\" port 81 auth none\n"
    "listen on :: port 82 auth none insecure\n"
    "listen on socket \"/run//x/./api.sock/\"\n"
    "listen on socket \"/run/b.sock\" mode 0600 group \"staff\" auth none\n"
    "proxy on 10.0.0.1\n"
    "proxy on ::1 port 4001\n"
    "token \"" SECRET "\"\n"
    "workspace \"/srv//work \\\"space\\\\/.\"\n"
    "isolation bwrap \"/opt/bwrap\"\n"
    "sandbox uid 100000 to 100015\n"
    "user frontend $name\n"
    "user spawner \"s\"\n"
    "user reporter \"r.1\"\n"
    "control socket \"/run/c.sock\" group \"wheel\"\n"
    "log format json\n"
    "log level debug\n"
    "spool \"/var/sp\" keep 2h\n"
    "chroot \"/var/em\"\n"
    "pool 0\n"
    "http {\n"
    "\tconnections 100\n"
    "\theader size 2K\n"
    "}\n"
    "http { }\n"
    "http {\n"
    "\tconnections per address 5 # few\n"
    "\n"
    "}\n"
    "profile \"small\" {\n"
    "\troot \"/srv/root\"\n"
    "\tread-only \"/opt\"\n"
    "\tread-only /srv/data/\n"
    "\tenvironment \"GREETING\" \"a \\\"b\\\" \\\\ c\tä\"\n"
    "\tenvironment \"EMPTY\" \"\"\n"
    "\tsystem call add \"ptrace\"\n"
    "\tsystem call add \"bpf\"\n"
    "\tsystem call remove \"socket\"\n"
    "\tlimits {\n"
    "\t\tmemory 64M\n"
    "\t\tcpu time 1500ms\n"
    "\t}\n"
    "}\n"
    "profile \"plain\" {\n"
    "}\n"
    "profile \"default\" {\n"
    "\tenvironment \"ONLY\" \"this\"\n"
    "\tlimits { }\n"
    "}\n"
    "limits {\n"
    "\tmemory 128M\n"
    "\topen files 99\n"
    "}\n"
    "run {\n\tbody size 3M\n}\n"
    "processes {\n\tcount 7\n\tlog lines 100\n}\n"
    "execute {\n"
    "\tasync\n"
    "\tartifacts changed\n"
    "\ttimeout 90\n"
    "\ttimeout maximum 100\n"
    "}\n"
    "call {\n\tcontent size 8K\n}\n"
    "language \"ruby\" {\n"
    "\tcommand \"/usr/bin/ruby\"\n"
    "\tprofile \"small\"\n"
    "\twarm 64\n"
    "\tstrict\n"
    "}\n"
    "language \"python\" {\n\twarm 3\n}\n"
    "mount \"data\" path \"/srv/data\" read-only\n"
    "mount \"scratch\" path /srv/scratch\n"
    "control plane {\n"
    "\turl \"https://cp.example:8000/api/v1//\"\n"
    "\ttoken \"" SECRET "-2\"\n"
    "\tcontainer id \"box 1\"\n"
    "\tpod name \"pod-1\"\n"
    "\tconnect timeout 250ms\n"
    "\ttimeout 2m\n"
    "\tattempts 9\n"
    "\theartbeat 1s\n"
    "}";

static void
check_listeners(const struct config *conf)
{
	const struct config_listen	*li;
	const struct sockaddr_un	*sun;

	assert_int_equal(conf->cf_nlistens, 8);
	assert_inet(listener(conf, 0), "192.0.2.1", 3030, 0, AUTH_TOKEN);
	assert_inet(listener(conf, 1), "127.0.0.2", 80, 0, AUTH_NONE);
	assert_inet(listener(conf, 2), "::1", 81, 0, AUTH_NONE);
	assert_inet(listener(conf, 3), "::", 82, 0, AUTH_NONE_INSECURE);
	assert_inet(listener(conf, 6), "10.0.0.1", 3031, 1, AUTH_TOKEN);
	assert_inet(listener(conf, 7), "::1", 4001, 1, AUTH_TOKEN);

	li = listener(conf, 4);
	sun = (const struct sockaddr_un *)&li->li_ss;
	assert_int_equal(sun->sun_family, AF_UNIX);
	assert_string_equal(sun->sun_path, "/run/x/api.sock");
	assert_int_equal(li->li_mode, 0660);
	assert_string_equal(li->li_group, "");
	assert_int_equal(li->li_auth, AUTH_TOKEN);
	li = listener(conf, 5);
	assert_int_equal(li->li_mode, 0600);
	assert_string_equal(li->li_group, "staff");
	assert_int_equal(li->li_auth, AUTH_NONE);
}

static void
check_profiles(struct config *conf)
{
	const struct conf_profile	*pr;

	pr = conf_profile_byname(&conf->cf_profiles, "small");
	assert_int_equal(pr->pr_id, 1);
	assert_string_equal(pr->pr_root, "/srv/root");
	assert_string_equal(item(pr, ITEM_READONLY, 0)->it_a, "/opt");
	assert_string_equal(item(pr, ITEM_READONLY, 1)->it_a, "/srv/data");
	assert_null(item(pr, ITEM_READONLY, 2));
	assert_string_equal(item(pr, ITEM_ENV, 0)->it_b,
	    "a \"b\" \\ c\tä");
	assert_string_equal(item(pr, ITEM_ENV, 1)->it_b, "");
	assert_null(item(pr, ITEM_ENV, 2));
	assert_string_equal(item(pr, ITEM_CALL_ADD, 1)->it_a, "bpf");
	assert_string_equal(item(pr, ITEM_CALL_REMOVE, 0)->it_a, "socket");
	assert_int_equal(pr->pr_nitems, 7);
	assert_true(pr->pr_limits[SET_LIMIT_MEMORY - SET_LIMIT_FIRST] ==
	    64ULL << 20);
	assert_true(pr->pr_limits[SET_LIMIT_CPU - SET_LIMIT_FIRST] == 1500);
	assert_true(pr->pr_limits[SET_LIMIT_FILES - SET_LIMIT_FIRST] == 99);

	pr = conf_profile_byname(&conf->cf_profiles, "plain");
	assert_int_equal(pr->pr_id, 2);
	assert_string_equal(item(pr, ITEM_READONLY, 0)->it_a, "/usr");
	assert_string_equal(item(pr, ITEM_ENV, 0)->it_a, "PATH");
	assert_true(pr->pr_limits[SET_LIMIT_MEMORY - SET_LIMIT_FIRST] ==
	    128ULL << 20);

	pr = conf_profile_byname(&conf->cf_profiles, "default");
	assert_ptr_equal(pr, TAILQ_FIRST(&conf->cf_profiles));
	assert_string_equal(item(pr, ITEM_READONLY, 0)->it_a, "/usr");
	assert_string_equal(item(pr, ITEM_ENV, 0)->it_a, "ONLY");
	assert_null(item(pr, ITEM_ENV, 1));
	assert_true(pr->pr_limits[SET_LIMIT_MEMORY - SET_LIMIT_FIRST] ==
	    128ULL << 20);
}

static void
check_blocks(const struct config *conf)
{
	const uint64_t	*v = conf->cf_values;

	assert_true(v[SET_HTTP_CONNECTIONS] == 100);
	assert_true(v[SET_HTTP_HEADER_SIZE] == 2048);
	assert_true(v[SET_HTTP_PER_ADDRESS] == 5);
	assert_true(v[SET_LIMIT_MEMORY] == 128ULL << 20);
	assert_true(v[SET_LIMIT_FILES] == 99);
	assert_true(v[SET_RUN_BODY_SIZE] == 3ULL << 20);
	assert_true(v[SET_PROCESS_COUNT] == 7);
	assert_true(v[SET_PROCESS_LOG_LINES] == 100);
	assert_true(v[SET_EXECUTE_TIMEOUT] == 90000);
	assert_true(v[SET_EXECUTE_TIMEOUT_MAX] == 100000);
	assert_true(v[SET_CALL_CONTENT_SIZE] == 8192);
	assert_true(v[SET_POOL_SANDBOXES] == 0);
	assert_true(v[SET_CP_CONNECT_TIMEOUT] == 250);
	assert_true(v[SET_CP_TIMEOUT] == 120000);
	assert_true(v[SET_CP_ATTEMPTS] == 9);
	assert_true(v[SET_CP_HEARTBEAT] == 1000);
	assert_true(v[SET_SPOOL_KEEP] == 7200000);
	assert_int_equal(conf->cf_flags,
	    CONF_EXECUTE_ASYNC | CONF_ARTIFACTS_CHANGED);
}

static void
test_everything(void **state)
{
	const struct conf_lang	*la;
	const struct conf_mount	*mo;
	struct config		*conf;

	(void)state;
	conf = load_good(everything);
	check_listeners(conf);
	check_profiles(conf);
	check_blocks(conf);
	assert_string_equal(conf->cf_token, SECRET);
	assert_string_equal(conf->cf_workspace, "/srv/work \"space\\");
	assert_int_equal(conf->cf_workspace_made, 0);
	assert_int_equal(conf->cf_isolation, ISOLATION_BWRAP);
	assert_string_equal(conf->cf_bwrap, "/opt/bwrap");
	assert_int_equal(conf->cf_uid_first, 100000);
	assert_int_equal(conf->cf_uid_last, 100015);
	assert_string_equal(conf->cf_users[USER_FRONTEND], "frontend-user");
	assert_string_equal(conf->cf_users[USER_SPAWNER], "s");
	assert_string_equal(conf->cf_users[USER_REPORTER], "r.1");
	assert_string_equal(conf->cf_control, "/run/c.sock");
	assert_string_equal(conf->cf_control_group, "wheel");
	assert_int_equal(conf->cf_logformat, LOGFORMAT_JSON);
	assert_int_equal(conf->cf_loglevel, LOG_DEBUG);
	assert_string_equal(conf->cf_spool, "/var/sp");
	assert_string_equal(conf->cf_chroot, "/var/em");
	assert_string_equal(conf->cf_cp_url, "https://cp.example:8000/api/v1");
	assert_string_equal(conf->cf_cp_token, SECRET "-2");
	assert_string_equal(conf->cf_container_id, "box 1");
	assert_string_equal(conf->cf_pod_name, "pod-1");

	la = language(conf, "ruby");
	assert_string_equal(la->la_command, "/usr/bin/ruby");
	assert_string_equal(la->la_profile, "small");
	assert_int_equal(la->la_warm, 64);
	assert_int_equal(la->la_strict, 1);
	la = language(conf, "python");
	assert_string_equal(la->la_command, "/usr/bin/python3");
	assert_string_equal(la->la_profile, "default");
	assert_int_equal(la->la_warm, 3);
	assert_int_equal(la->la_strict, 0);

	mo = TAILQ_FIRST(&conf->cf_mounts);
	assert_string_equal(mo->mo_name, "data");
	assert_string_equal(mo->mo_path, "/srv/data");
	assert_int_equal(mo->mo_readonly, 1);
	mo = TAILQ_NEXT(mo, mo_entry);
	assert_string_equal(mo->mo_path, "/srv/scratch");
	assert_int_equal(mo->mo_readonly, 0);

	round_trip(conf);
	config_free(conf);
}

/* The other word of every choice. */
static void
test_choices(void **state)
{
	struct config	*conf;

	(void)state;
	conf = load_good("no proxy\nisolation native\nlog format text\n"
	    "log level warning\nexecute {\nartifacts all\n}\n"
	    "spool /a\ncontrol socket /b\nlisten on 127.0.0.1 port 1\n");
	assert_int_equal(conf->cf_flags, CONF_NO_PROXY);
	assert_int_equal(conf->cf_nlistens, 1);
	assert_int_equal(conf->cf_logformat, LOGFORMAT_TEXT);
	assert_int_equal(conf->cf_loglevel, LOG_WARNING);
	round_trip(conf);
	config_free(conf);

	conf = load_good("isolation bwrap\nlog format auto\nlog level error\n"
	    "sandbox uid 1000 to 4294967293\n");
	assert_int_equal(conf->cf_loglevel, LOG_ERR);
	assert_string_equal(conf->cf_bwrap, "/usr/bin/bwrap");
	assert_true(conf->cf_uid_last == 4294967293U);
	round_trip(conf);
	config_free(conf);
}

/* A statement that sets one number, and the same as an error names it. */
static void
setting_statement(int set, const char *value, char *text, size_t size,
    char *what, size_t whatsize)
{
	const struct setting_def	*sd = &settings[set];

	(void)snprintf(what, whatsize, "%s", sd->sd_name);
	if (set == SET_POOL_SANDBOXES) {
		(void)snprintf(what, whatsize, "pool");
		(void)snprintf(text, size, "pool %s\n", value);
	} else if (set == SET_SPOOL_KEEP) {
		(void)snprintf(what, whatsize, "spool keep");
		(void)snprintf(text, size, "spool \"/s\" keep %s\n", value);
	} else if (set == SET_EXECUTE_TIMEOUT_MAX ||
	    set == SET_CALL_TIMEOUT_MAX)
		(void)snprintf(text, size, "%s { \n%s %s\ntimeout %llums\n}\n",
		    sd->sd_block, sd->sd_name, value,
		    (unsigned long long)sd->sd_min);
	else
		(void)snprintf(text, size, "%s {\n%s %s\n}\n", sd->sd_block,
		    sd->sd_name, value);
}

static void
setting_good(int set, uint64_t value)
{
	struct config	*conf;
	char		 number[SETTING_TEXTLEN], text[256], what[64];

	setting_format((enum setting)set, value, number);
	setting_statement(set, number, text, sizeof(text), what,
	    sizeof(what));
	conf = load_good(text);
	assert_true(conf->cf_values[set] == value);
	round_trip(conf);
	config_free(conf);
}

static void
setting_bad(int set, const char *number, const char *how)
{
	char	 text[256], what[64], part[256];
	char	 min[SETTING_TEXTLEN], max[SETTING_TEXTLEN];

	setting_statement(set, number, text, sizeof(text), what,
	    sizeof(what));
	setting_format((enum setting)set, settings[set].sd_min, min);
	setting_format((enum setting)set, settings[set].sd_max, max);
	(void)snprintf(part, sizeof(part), "%s %s: must be %sbetween %s and "
	    "%s", what, number, how, min, max);
	bad_line(text, 0, part);
}

/* T78: 0 is a value like any other, and no unit or sign slips through. */
static void
test_ranges(void **state)
{
	const char	*how[] = {
		[UNIT_COUNT] = "a number ",
		[UNIT_BYTES] = "a size (K, M, G, T) ",
		[UNIT_MSEC] = "a time (ms, s, m, h, d) "
	};
	const char	*unit;
	char		 number[SETTING_TEXTLEN];
	int		 i;

	(void)state;
	for (i = 0; i < SET_COUNT; i++) {
		unit = settings[i].sd_unit == UNIT_MSEC ? "ms" : "";
		setting_good(i, settings[i].sd_min);
		setting_good(i, settings[i].sd_max);
		(void)snprintf(number, sizeof(number), "%llu%s",
		    (unsigned long long)settings[i].sd_max + 1, unit);
		setting_bad(i, number, "");
		if (settings[i].sd_min > 0) {
			(void)snprintf(number, sizeof(number), "%llu%s",
			    (unsigned long long)settings[i].sd_min - 1, unit);
			setting_bad(i, number, "");
			setting_bad(i, "0", "");
		}
		setting_bad(i, "18446744073709551616", "");
		setting_bad(i, "99999999999999999999999999999", "");
		setting_bad(i, "-1", how[settings[i].sd_unit]);
		setting_bad(i, "+1", how[settings[i].sd_unit]);
		setting_bad(i, "1x", how[settings[i].sd_unit]);
		setting_bad(i, "0x10", how[settings[i].sd_unit]);
		setting_bad(i, "unlimited", how[settings[i].sd_unit]);
	}
	setting_bad(SET_LIMIT_MEMORY, "18014398509481984K", "");
	bad_line("http {\nheader timeout 0s\n}\n", 2,
	    "header timeout 0s: must be between 1s and 1h");
}

static const struct {
	const char	*text;
	const char	*part;
} bad_values[] = {
	{ "listen on localhost", "names are not looked up" },
	{ "listen on 127.1", "must be a numeric IPv4 or IPv6 address" },
	{ "listen on 256.0.0.1", "must be a numeric" },
	{ "listen on 3030", "must be a numeric" },
	{ "listen on \"\"", "must be a numeric" },
	{ "listen on ::ffff:127.0.0.1", "written as an IPv4 address" },
	{ "listen on ::1 port 0", "port 0: must be between 1 and 65535" },
	{ "listen on ::1 port 65536", "port 65536: must be between" },
	{ "listen on ::1 port -1", "port -1: must be between" },
	{ "listen on ::1 port \" 80\"", "must be between 1 and 65535" },
	{ "listen on ::1 port http2", "port http2: must be between" },
	{ "listen on 0.0.0.0 auth none", "must be \"auth none insecure\"" },
	{ "listen on ::2 auth none", "must be \"auth none insecure\"" },
	{ "listen on 128.0.0.1 auth none", "\"auth none insecure\"" },
	{ "listen on socket \"x\"", "must be an absolute path" },
	{ "listen on socket \"/a/../b\"", "must not contain \"..\"" },
	{ "listen on socket \"/a/..\"", "must not contain \"..\"" },
	{ "listen on socket /a mode 1777", "mode 1777: must be octal" },
	{ "listen on socket /a mode 0888", "mode 0888: must be octal" },
	{ "listen on socket /a mode 60", "mode 60: must be octal" },
	{ "listen on socket /a mode rw", "mode rw: must be octal" },
	{ "listen on socket /a group \"a b\"", "group \"a b\": must be" },
	{ "listen on socket /a auth none insecure", "is for addresses" },
	{ "proxy on example.org", "names are not looked up" },
	{ "token \"short\"", "token: must have 8 to 511 characters" },
	{ "token \"has a blank\"", "token: must be printable ASCII" },
	{ "token \"t\303\244ttt\303\244tttt\"", "must be printable ASCII" },
	{ "token file \"relative\"", "must be an absolute path" },
	{ "token file \"/nonexistent/token\"", "No such file" },
	{ "workspace \"relative\"", "workspace \"relative\": must be an abs" },
	{ "workspace \"/\"", "must not be /" },
	{ "workspace \"//./\"", "must not be /" },
	{ "workspace \"/a/../b\"", "must not contain \"..\"" },
	{ "workspace \"\"", "must be an absolute path" },
	{ "isolation bwrap \"bwrap\"", "must be an absolute path" },
	{ "sandbox uid 0 to 65535", "must be between 1000 and 4294967293" },
	{ "sandbox uid 999 to 65535", "must be between 1000" },
	{ "sandbox uid 1000 to 4294967294", "must be between 1000" },
	{ "sandbox uid -5 to 70000", "must be between 1000" },
	{ "sandbox uid 2000 to 2014", "must be at least 16 user ids" },
	{ "sandbox uid 70000 to 2000", "must be at least 16 user ids" },
	{ "user frontend \"\"", "user frontend \"\": must be 1 to 32" },
	{ "user spawner \"-x\"", "not beginning with -" },
	{ "user reporter \"a:b\"", "user reporter \"a:b\": must be" },
	{ "user reporter 123456789012345678901234567890123", "1 to 32" },
	{ "control socket \"x\"", "must be an absolute path" },
	{ "control socket /x group \"/\"", "group \"/\": must be" },
	{ "log format xml", "log format \"xml\": must be auto, json or text" },
	{ "log level loud", "must be debug, info, warning or error" },
	{ "spool \"x\"", "spool \"x\": must be an absolute path" },
	{ "spool /x keep forever", "spool keep forever: must be a time" },
	{ "pool many", "pool many: must be a number between 0 and 1000" },
	{ "mount \"a b\" path /x", "mount \"a b\": must be 1 to 63" },
	{ "mount \"\" path /x", "must be 1 to 63" },
	{ "mount \"m\" path \"x\"", "must be an absolute path" },
	{ "mount \"m\" path \"/\"", "must not be /" },
	{ "include \"/nonexistent/file\"", "No such file" },
	{ "bad-name = \"x\"", "macro \"bad-name\": a name must be" },
	{ "9x = \"x\"", "macro \"9x\": a name must be" },
	{ "pool $nothing", "macro \"nothing\" is not defined" },
	{ "pool $", "$ must be followed by a macro's name" },
	{ "profile \"a/b\" {\n}", "profile \"a/b\": must be 1 to 63" },
	{ "language \"a b\" {\n}", "language \"a b\": must be 1 to 63" },
};

static const struct {
	const char	*text;
	int		 line;
	const char	*part;
} bad_lines[] = {
	{ "profile \"x\" {\nroot \"x\"\n}", 2, "root \"x\": must be an abs" },
	{ "profile \"x\" {\nroot /\n}", 2, "must not be /" },
	{ "profile \"x\" {\nroot /a\nroot /b\n}", 3, "root: already set" },
	{ "profile \"x\" {\nread-only \"x\"\n}", 2, "must be an absolute" },
	{ "profile \"x\" {\nread-only /a\nread-only /a/\n}", 3,
	    "\"/a\": is listed twice" },
	{ "profile \"x\" {\nenvironment \"9A\" \"\"\n}", 2,
	    "environment \"9A\": must be letters" },
	{ "profile \"x\" {\nenvironment \"A=B\" \"\"\n}", 2,
	    "must be letters" },
	{ "profile \"x\" {\nenvironment \"\" \"\"\n}", 2, "must be letters" },
	{ "profile \"x\" {\nenvironment \"LD_PRELOAD\" \"x\"\n}", 2,
	    "begin with SBXD_ or LD_ are reserved" },
	{ "profile \"x\" {\nenvironment \"SBXD_X\" \"x\"\n}", 2, "reserved" },
	{ "profile \"x\" {\nenvironment \"A\" \"\"\nenvironment \"A\" \"b\"\n}",
	    3, "\"A\": is listed twice" },
	{ "profile \"x\" {\nsystem call add \"nonsense\"\n}", 2,
	    "system call \"nonsense\": must be the name" },
	{ "profile \"x\" {\nsystem call add \"bpf\"\n"
	    "system call remove \"bpf\"\n}", 3, "both added and removed" },
	{ "profile \"x\" {\nlimits {\nmemory 0\n}\n}", 3,
	    "memory 0: must be between 4M and 16T" },
	{ "profile \"x\" {\nlimits {\nmemory 4M\n}\nlimits {\nmemory 5M\n}\n}",
	    6, "memory: already set at " },
	{ "profile \"x\" {\nlimits {\nconnections 4\n}\n}", 3,
	    "unknown setting \"connections\" in limits" },
	{ "profile \"x\" {\n}\nprofile \"x\" {\n}", 3,
	    "profile \"x\": already set at " },
	{ "profile \"x\" {\nlisten on ::1\n}", 2,
	    "unknown setting \"listen\" in profile: expected root" },
	{ "profile \"x\" {\nsystem add \"bpf\"\n}", 2,
	    "syntax error at \"add\": expected system call add | remove" },
	{ "language \"python\" {\ncommand \"x\"\n}", 2, "must be an absolute" },
	{ "language \"python\" {\nwarm 65\n}", 2,
	    "warm 65: must be between 0 and 64" },
	{ "language \"python\" {\nwarm -1\n}", 2, "between 0 and 64" },
	{ "language \"python\" {\nwarm 1\nwarm 1\n}", 3, "already set" },
	{ "language \"python\" {\nstrict yes\n}", 2,
	    "syntax error at \"yes\": expected strict" },
	{ "language \"python\" {\ntimeout 5\n}", 2,
	    "unknown setting \"timeout\" in language: expected command" },
	{ "language \"python\" {\nprofile \"a/b\"\n}", 2, "must be 1 to 63" },
	{ "language \"x\" {\n}", 0, "language \"x\": has no command" },
	{ "language \"python\" {\nprofile \"y\"\n}\nprofile \"z\" {\n}", 0,
	    "language \"python\": unknown profile \"y\": expected default, z" },
	{ "language \"shell\" {\n}\nlanguage \"shell\" {\n}", 3,
	    "language \"shell\": already set" },
	{ "mount \"m\" path /a\nmount \"m\" path /b", 2,
	    "mount \"m\": already set" },
	{ "listen on ::1\n\nlisten on ::1 port 3030", 3,
	    "another listener has this address and port" },
	{ "listen on ::1\nproxy on ::1 port 3030", 2, "another listener" },
	{ "listen on socket /a\nlisten on socket /a/ mode 600", 2,
	    "another listener" },
	{ "listen on 127.0.0.1 port 3031", 0, "proxy on 127.0.0.1 port 3031 "
	    "(the default): another listener" },
	{ "proxy on 127.0.0.1 port 3030", 0, "listen on 127.0.0.1 port 3030 "
	    "(the default): another listener" },
	{ "no proxy\nproxy on ::1", 0, "both \"no proxy\" and \"proxy on\"" },
	{ "no proxy\nno proxy", 2, "no proxy: already set" },
	{ "token \"" SECRET "\"\ntoken \"" SECRET "\"", 2,
	    "token: already set at " },
	{ "pool 1\npool 1", 2, "pool: already set at " },
	{ "http {\nconnections 1\n}\nhttp {\nconnections 1\n}\n", 5,
	    "connections: already set at " },
	{ "log level info\nlog level info", 2, "log level: already set" },
	{ "workspace /a\nworkspace /a", 2, "workspace: already set" },
	{ "execute {\nasync\nasync\n}", 3, "async: already set" },
	{ "execute {\nasync yes\n}", 2, "async: must stand alone" },
	{ "execute {\nartifacts none\n}", 2, "must be all or changed" },
	{ "execute {\nartifacts\n}", 2, "must be all or changed" },
	{ "execute {\ntimeout 10s\ntimeout maximum 5s\n}", 0,
	    "execute: timeout 10s: must be at most the timeout maximum, "
	    "which is 5s" },
	{ "call {\ntimeout maximum 5s\n}", 0, "call: timeout 30s: must be" },
	{ "http {\nconnections\n}", 2, "connections: has no value" },
	{ "http {\nheader timeout\n}", 2, "header timeout: has no value" },
	{ "http {\nfoo 5\n}", 2, "unknown setting \"foo\" in http: expected "
	    "connections, connections per address, header size, " },
	{ "http {\nfoo\n}", 2, "unknown setting \"foo\" in http" },
	{ "http {\na b c d e f g h i j 5\n}", 2, "unknown setting \"a b c" },
	{ "http {\nconnections 5 5\n}", 2,
	    "unknown setting \"connections 5\"" },
	{ "http {\n\"x\" = 5\n}", 2, "syntax error at \"=\"" },
	{ "control plane {\nfoo 5\n}", 2,
	    "unknown setting \"foo\" in control plane: expected url, token, "
	    "container id, pod name, connect timeout" },
	{ "control plane {\nurl \"ftp://x\"\n}", 2,
	    "url \"ftp://x\": must begin with http:// or https://" },
	{ "control plane {\nurl \"http://\"\n}", 2, "must name a host" },
	{ "control plane {\nurl \"http:///x\"\n}", 2, "must name a host" },
	{ "control plane {\nurl \"http://u:p@h/\"\n}", 2,
	    "must not contain a user" },
	{ "control plane {\nurl \"http://u@h/\"\n}", 2,
	    "must not contain a user" },
	{ "control plane {\nurl \"http://h/?q\"\n}", 2, "a query" },
	{ "control plane {\nurl \"http://h/#f\"\n}", 2, "a fragment" },
	{ "control plane {\nurl \"http://h/a b\"\n}", 2, "blanks" },
	{ "control plane {\nurl \"http://h:0/\"\n}", 2, "port must be" },
	{ "control plane {\nurl \"http://h:/\"\n}", 2, "port must be" },
	{ "control plane {\nurl \"http://h:123456789\"\n}", 2, "port must" },
	{ "control plane {\nurl \"http://[::1/\"\n}", 2, "must name a host" },
	{ "control plane {\nurl \"http://[]/\"\n}", 2, "must name a host" },
	{ "control plane {\nurl \"http://h\\\\x\"\n}", 2, "special" },
	{ "control plane {\ncontainer id \"\"\n}", 2, "must not be empty" },
	{ "control plane {\npod \"x\"\n}", 2, "expected pod name" },
	{ "control plane {\ntoken\n}", 2, "syntax error at the end of the "
	    "line: expected token \"secret\", or token file" },
	{ "spool /w/x\nworkspace /w", 0, "spool \"/w/x\": must not be inside" },
	{ "spool /w\nworkspace /w", 0, "must not be inside the workspace" },
	{ "spool /w\nworkspace /w/x", 0, "must not be inside the spool" },
	{ "control socket /w/x\nworkspace /w", 0, "control socket \"/w/x\"" },
	{ "listen on socket /w/x\nworkspace /w", 0, "socket \"/w/x\": must" },
	{ "listen on socket /c\ncontrol socket /c", 0, "is the control" },
	{ "user frontend a\nuser spawner a", 0, "must be different users" },
	{ "user frontend a\nuser frontend b", 2, "user frontend: already" },
	{ "foo", 1, "unknown statement \"foo\": expected call, chroot, "
	    "control plane" },
	{ "http { foo 1 }\npool 1\n", 1, "unknown setting \"foo\" in http" },
	{ "}", 1, "syntax error at \"}\"" },
	{ "foo bar", 1, "unknown statement \"foo\"" },
	{ "foo {\nlisten on nonsense\n{ \"\n} }\n\npool 1\n", 1,
	    "unknown statement \"foo\"" },
	{ "foo \"bar\" {\n}\n", 1, "unknown statement \"foo\"" },
	{ "timeout listen 5 {\nfoo\n}", 1, "unknown statement \"timeout\"" },
	{ "listen", 1, "syntax error at the end of the line: expected listen "
	    "on address" },
	{ "listen on ::1 http", 1, "syntax error at \"http\": expected " },
	{ "listen on ::1 {\nfoo\n}\n", 1, "syntax error at \"{\"" },
	{ "listen on ::1 port 1 auth none none", 1, "expected listen on" },
	{ "token", 1, "expected token \"secret\", or token file" },
	{ "pool = 5", 1, "syntax error at \"=\": expected pool number" },
	{ "http\n", 1, "syntax error at the end of the line: expected http {" },
	{ "}", 1, "syntax error at \"}\": expected call" },
	{ "\"foo\" bar", 1, "syntax error at \"bar\": expected call" },
	{ "http {\nconnections 5\n\n", 1, "the block that begins here has no" },
	{ "\nprofile \"x\" {\nlimits {\n", 2, "the block that begins here" },
	{ "pool \"5", 1, "a string must end in its line" },
	{ "pool \"5\\n\"", 1, "must be followed by \" or \\\\" },
	{ "pool \"\001\"", 1, "control character 0x01 in a string" },
	{ "pool \001", 1, "character 0x01 outside of a string" },
	{ "pool \303\244", 1, "character 0xc3 outside of a string" },
	{ "pool '5'", 1, "unexpected \"'\": must be in a string" },
	{ "pool 5, 6", 1, "unexpected \",\"" },
	{ "pool \\ 5", 1, "unexpected \"\\\\\"" },
	{ "\001", 1, "character 0x01" },
	{ "pool \\\n 5000\n", 2, "pool 5000" },
	{ "# c \\\npool 5000\n", 2, "pool 5000" },
};

static void
test_errors(void **state)
{
	size_t	 i;

	(void)state;
	for (i = 0; i < nitems(bad_values); i++)
		bad(bad_values[i].text, bad_values[i].part);
	for (i = 0; i < nitems(bad_lines); i++)
		bad_line(bad_lines[i].text, bad_lines[i].line,
		    bad_lines[i].part);
}

/* One run reports all of them, and a line only once. */
static void
test_all_errors(void **state)
{
	static const char	 text[] =
	    "listen on nowhere\n"
	    "foo {\n"
	    "\tbar\n"
	    "}\n"
	    "http {\n"
	    "\theader timeout 0s\n"
	    "\tfoo 1\n"
	    "\t= = =\n"
	    "\tconnections 0\n"
	    "}\n"
	    "pool $undefined ' \" $\n"
	    "profile \"x\" {\n"
	    "\tfoo {\n"
	    "\t\tbar\n"
	    "\t}\n"
	    "\troot \"x\"\n"
	    "}\n"
	    "pool 10000\n";
	static const int	 lines[] = { 1, 2, 6, 7, 8, 9, 11, 13, 16, 18 };
	char			 place[PATH_MAX];
	size_t			 i;

	(void)state;
	assert_null(load(text));
	for (i = 0; i < nitems(lines); i++) {
		(void)snprintf(place, sizeof(place), "%s:%d: ",
		    file_path("test.conf"), lines[i]);
		assert_error(text, place);
	}
	if (errors.ce_count != nitems(lines))
		fail_msg("%u errors:\n%s", errors.ce_count, errors.ce_text);
}

/* Neither the number of errors nor their text grows without end. */
static void
test_error_bounds(void **state)
{
	char	*text;
	size_t	 i;

	(void)state;
	text = calloc(100001, 1);
	assert_non_null(text);
	for (i = 0; i < 100000; i += 5)
		memcpy(text + i, "xxxx\n", 5);
	assert_null(load(text));
	assert_true(errors.ce_count > 50 && errors.ce_count < 200);
	assert_true(errors.ce_len < sizeof(errors.ce_text));
	assert_int_equal(strlen(errors.ce_text), errors.ce_len);
	assert_int_equal(errors.ce_text[errors.ce_len - 1], '\n');

	memset(text, 'x', 100000);
	bad(text, "a word must have at most 4095 characters");
	text[0] = '"';
	bad(text, "a string must have at most 4095 characters");
	text[0] = '$';
	bad(text, "a macro's name must have at most 63 characters");
	free(text);

	/* What cannot be shown is not. */
	memset(&errors, 0, sizeof(errors));
	config_error(&errors, "a%sb", "\033[31m\n");
	assert_string_equal(errors.ce_text, "a\\033[31m\\012b\n");
	config_error(NULL, "nobody asked");
}

static void
bad_long(const char *before, size_t len, const char *after, const char *part)
{
	char	 text[8192];
	size_t	 n;

	n = strlcpy(text, before, sizeof(text));
	memset(text + n, 'x', len);
	text[n + len] = '\0';
	(void)strlcat(text, after, sizeof(text));
	if (part == NULL)
		good(text);
	else
		bad_line(text, 0, part);
}

static void
test_lengths(void **state)
{
	(void)state;
	bad_long("workspace /", 1022, "", NULL);
	bad_long("workspace /", 1023, "", "must have at most 1023 characters");
	bad_long("control socket /", 106, "", NULL);
	bad_long("control socket /", 107, "", "at most 107 characters");
	bad_long("listen on socket /", 106, "", NULL);
	bad_long("listen on socket /", 107, "", "at most 107 characters");
	bad_long("token ", 511, "", NULL);
	bad_long("token ", 512, "", "must have 8 to 511 characters");
	bad_long("token ", 8, "", NULL);
	bad_long("token ", 7, "", "must have 8 to 511 characters");
	bad_long("user frontend ", 32, "", NULL);
	bad_long("user frontend ", 33, "", "1 to 32");
	bad_long("profile ", 63, " {\n}", NULL);
	bad_long("profile ", 64, " {\n}", "1 to 63");
	bad_long("language ", 63, " {\ncommand /x\n}", NULL);
	bad_long("language ", 64, " {\ncommand /x\n}", "1 to 63");
	bad_long("mount ", 63, " path /x", NULL);
	bad_long("mount ", 64, " path /x", "1 to 63");
	bad_long("profile \"x\" {\nenvironment A ", 2047, "\n}", NULL);
	bad_long("profile \"x\" {\nenvironment A ", 2048, "\n}",
	    "value must have at most 2047 characters");
	bad_long("profile \"x\" {\nenvironment ", 255, " b\n}", NULL);
	bad_long("profile \"x\" {\nenvironment ", 256, " b\n}", "at most 255");
	bad_long("profile \"x\" {\nsystem call add ", 64, "\n}",
	    "must be the name of a system call");
	bad_long("control plane {\ncontainer id ", 255, "\n}", NULL);
	bad_long("control plane {\ncontainer id ", 256, "\n}",
	    "must have at most 255 characters");
	bad_long("control plane {\nurl http://", 1016, "\n}", NULL);
	bad_long("control plane {\nurl http://", 1017, "\n}",
	    "must have at most 1023 characters");
	bad_long("", 63, " = 5", NULL);
	bad_long("", 64, " = 5", "a name must be");
}

/* Something many times, each with a number of its own. */
static void
many(unsigned int count, const char *before, const char *after,
    const char *part)
{
	FILE		*fp;
	char		*text = NULL;
	size_t		 len;
	unsigned int	 i;

	fp = open_memstream(&text, &len);
	assert_non_null(fp);
	for (i = 1; i <= count; i++)
		fprintf(fp, "%s%u%s\n", before, i, after);
	assert_int_equal(fclose(fp), 0);
	if (part == NULL)
		good(text);
	else
		bad_line(text, 0, part);
	free(text);
}

static void
test_counts(void **state)
{
	(void)state;
	many(CONF_MAX_PROFILES - 1, "profile p", " {\n}", NULL);
	many(CONF_MAX_PROFILES, "profile p", " {\n}",
	    "must be one of at most 64");
	many(CONF_MAX_LANGS - 3, "language l", " {\ncommand /x\n}", NULL);
	many(CONF_MAX_LANGS - 2, "language l", " {\ncommand /x\n}",
	    "must be one of at most 64");
	many(CONF_MAX_LISTEN - 1, "listen on ::1 port ", "", NULL);
	many(CONF_MAX_LISTEN, "listen on ::1 port ", "",
	    "(the default): too many listeners");
	many(CONF_MAX_MOUNTS, "mount m", " path /x", NULL);
	many(CONF_MAX_MOUNTS + 1, "mount m", " path /x",
	    "must be one of at most 256");
	many(1024, "m", " = x", NULL);
	many(1025, "m", " = x", "must be one of at most 1024");
}

static void
many_items(unsigned int count, const char *part)
{
	FILE		*fp;
	char		*text = NULL;
	size_t		 len;
	unsigned int	 i;

	fp = open_memstream(&text, &len);
	assert_non_null(fp);
	fprintf(fp, "profile \"x\" {\n");
	for (i = 1; i <= count; i++)
		fprintf(fp, "read-only /p%u\n", i);
	for (i = 1; i <= CONF_MAX_ITEMS; i++)
		fprintf(fp, "environment V%u \"\"\n", i);
	fprintf(fp, "}\n");
	assert_int_equal(fclose(fp), 0);
	if (part == NULL)
		good(text);
	else
		bad_line(text, 0, part);
	free(text);
}

static void
test_items_count(void **state)
{
	(void)state;
	many_items(CONF_MAX_ITEMS, NULL);
	many_items(CONF_MAX_ITEMS + 1, "\"/p257\": must be one of at most 256");
}

static void
test_macros(void **state)
{
	struct config	*conf;

	(void)state;
	conf = load_good("n = 5\nbig = \"$n\"\nn2 = $n\n"
	    "a = $n\nn = \"6\"\na = $a\n"
	    "pool $n\nhttp {\nconnections $n2\nheader size \\\n\t2K\n}\n"
	    "profile \"x\" {\nenvironment \"A\" $big\nlimits {\n"
	    "processes $a\n}\n}\n");
	assert_true(conf->cf_values[SET_POOL_SANDBOXES] == 6);
	assert_true(conf->cf_values[SET_HTTP_CONNECTIONS] == 5);
	assert_string_equal(item(conf_profile_byname(&conf->cf_profiles, "x"),
	    ITEM_ENV, 0)->it_b, "$n");
	config_free(conf);
	/* Gone with their file. */
	bad("pool $n", "macro \"n\" is not defined");
	/* A value is a string and cannot become anything else. */
	bad_line("x = \"1 {\"\npool $x", 2, "pool 1 {");
	bad_line("x = \"on\"\nlisten $x ::1\n", 2,
	    "syntax error at a string: expected listen");

	assert_int_equal(config_macro("port=4000"), 0);
	assert_int_equal(config_macro("unused=a=b"), 0);
	assert_int_equal(config_macro("empty="), 0);
	assert_int_equal(config_macro("port"), -1);
	assert_int_equal(config_macro("=x"), -1);
	assert_int_equal(config_macro("a b=x"), -1);
	assert_int_equal(config_macro("a=x\ny"), -1);
	assert_int_equal(config_macro("1a=x"), -1);
	conf = load_good("port = 5000\nlisten on ::1 port $port\n"
	    "control plane {\npod name $unused\n}\n");
	assert_inet(listener(conf, 0), "::1", 4000, 0, AUTH_TOKEN);
	assert_string_equal(conf->cf_pod_name, "a=b");
	config_free(conf);
	/* Those stay, and can be set again. */
	assert_int_equal(config_macro("port=4001"), 0);
	conf = load_good("listen on ::1 port $port\n");
	assert_inet(listener(conf, 0), "::1", 4001, 0, AUTH_TOKEN);
	config_free(conf);
}

static void
test_include(void **state)
{
	struct config	*conf;
	char		 text[PATH_MAX + 64], name[32];
	int		 i;

	(void)state;
	/* Relative to the file that says it, and in its place. */
	assert_int_equal(mkdir(file_path("sub"), 0700), 0);
	file_text("sub/a.conf", "include \"b.conf\"\npool $p\n", 0644);
	file_text("sub/b.conf", "p = 7", 0644);
	conf = load_good("p = 6\ninclude \"sub/a.conf\"\n"
	    "http {\nconnections $p\n}\n");
	assert_true(conf->cf_values[SET_POOL_SANDBOXES] == 7);
	assert_true(conf->cf_values[SET_HTTP_CONNECTIONS] == 7);
	config_free(conf);
	(void)snprintf(text, sizeof(text), "include \"%s\" # both\n",
	    file_path("sub/b.conf"));
	good(text);

	/* Errors are where they are, and all of them are found. */
	file_text("sub/a.conf", "\nfoo\nhttp {\n", 0644);
	assert_null(load("include \"sub/a.conf\"\n\npool 5000\n"));
	assert_int_equal(errors.ce_count, 3);
	assert_error("sub", "/sub/a.conf:2: unknown statement");
	assert_error("sub", "/sub/a.conf:3: the block that begins here has");
	assert_error("sub", "/test.conf:3: pool 5000");
	file_text("sub/a.conf", "pool 1\n", 0644);
	bad_line("pool 1\ninclude \"sub/a.conf\"\n", 0,
	    "sub/a.conf:1: pool: already set at ");
	bad_line("pool 5\nhttp {\ninclude \"sub/a.conf\"\n}\n", 3,
	    "unknown setting \"include");
	bad("include sub/a.conf extra", "expected include \"/path\"");

	/* Loops end. */
	bad_line("include \"test.conf\"", 1, "includes itself");
	file_text("sub/a.conf", "include \"../sub/b.conf\"\n", 0644);
	file_text("sub/b.conf", "include \"../sub/a.conf\"\n", 0644);
	bad_line("include \"sub/a.conf\"", 0, "b.conf:1: include");
	for (i = 0; i < 20; i++) {
		(void)snprintf(name, sizeof(name), "sub/%d.conf", i);
		(void)snprintf(text, sizeof(text), "include \"%d.conf\"\n",
		    i + 1);
		file_text(name, text, 0644);
	}
	bad_line("include \"sub/0.conf\"", 0, "must be at most 16 files deep");
	for (i = 0; i < 20; i++) {
		(void)snprintf(name, sizeof(name), "sub/%d.conf", i);
		assert_int_equal(unlink(file_path(name)), 0);
	}
	file_text("sub/a.conf", "x = 1\n", 0644);
	file_text("sub/b.conf", "include \"a.conf\"\ninclude \"a.conf\"\n",
	    0644);
	good("include \"sub/b.conf\"\ninclude \"sub/b.conf\"\n");

	assert_int_equal(unlink(file_path("sub/a.conf")), 0);
	assert_int_equal(unlink(file_path("sub/b.conf")), 0);
	assert_int_equal(rmdir(file_path("sub")), 0);
}

/* The number of files has an end, too. */
static void
test_include_limit(void **state)
{
	char	*text;
	size_t	 i, len;

	(void)state;
	file_text("one.conf", "x = 1\n", 0600);
	text = calloc(257, 21);
	assert_non_null(text);
	for (i = len = 0; i < 257; i++)
		len += strlcpy(text + len, "include \"one.conf\"\n", 20);
	bad_line(text, 257, "256 in all");
	free(text);
	assert_int_equal(unlink(file_path("one.conf")), 0);
}

/* T78: bytes that an editor does not show. */
static void
test_bytes(void **state)
{
	(void)state;
	file_write("b.conf", "\xef\xbb\xbfpool 1\n", 10, 0600);
	bad_file("b.conf", "b.conf:1: a byte order mark");
	file_write("b.conf", "\n\npool 1\0\n", 10, 0600);
	bad_file("b.conf", "b.conf:3: a NUL byte");
	assert_int_equal(errors.ce_count, 1);
	file_write("b.conf", "pool 1\r\n", 8, 0600);
	bad_file("b.conf", "b.conf:1: a carriage return");
	assert_int_equal(unlink(file_path("b.conf")), 0);
}

static void
test_size(void **state)
{
	char	*text;

	(void)state;
	text = malloc(CONFIG_MAXSIZE + 1);
	assert_non_null(text);
	memset(text, '\n', CONFIG_MAXSIZE + 1);
	file_write("b.conf", text, CONFIG_MAXSIZE, 0600);
	config_free(load_file("b.conf"));
	assert_int_equal(errors.ce_count, 0);
	file_write("b.conf", text, CONFIG_MAXSIZE + 1, 0600);
	bad_file("b.conf", "must be at most 1M large");
	free(text);
	assert_int_equal(unlink(file_path("b.conf")), 0);
}

/* T78: who else could have written or could read it. */
static void
test_modes(void **state)
{
	static const char	 token[] = "token \"" SECRET "\"\n";
	static const char	 plane[] =
	    "control plane {\ntoken \"" SECRET "\"\n}\n";
	static const mode_t	 writable[] = { 0660, 0620, 0602, 0606, 0666 };
	static const mode_t	 public[] = { 0604, 0601, 0644, 0444, 0605 };
	static const mode_t	 private[] = { 0600, 0400, 0640, 0440 };
	size_t			 i;

	(void)state;
	for (i = 0; i < nitems(writable); i++) {
		file_text("m.conf", "pool 1\n", writable[i]);
		bad_file("m.conf", "must not be writable by its group or by");
		file_text("m.conf", token, writable[i]);
		bad_file("m.conf", "must not be writable by its group or by");
	}
	for (i = 0; i < nitems(public); i++) {
		file_text("m.conf", "pool 1\n", public[i]);
		config_free(load_file("m.conf"));
		assert_int_equal(errors.ce_count, 0);
		file_text("m.conf", token, public[i]);
		bad_file("m.conf", "m.conf:1: token: the file that holds it");
		file_text("m.conf", plane, public[i]);
		bad_file("m.conf", "m.conf:2: token: the file that holds it");
		/* Nor may a macro carry it out of such a file. */
		file_text("m.conf", "t = \"" SECRET "\"\n", public[i]);
		bad_line("include \"m.conf\"\ntoken $t\n", 2,
		    "token: the file that holds it");
		file_text("m.conf", token, public[i]);
		assert_null(load("include \"m.conf\"\n"));
		assert_error("include", "m.conf:1: token: the file");
	}
	for (i = 0; i < nitems(private); i++) {
		file_text("m.conf", token, private[i]);
		config_free(load_file("m.conf"));
		assert_int_equal(errors.ce_count, 0);
	}
	file_text("m.conf", "pool 1\n", 0666);
	bad("include \"m.conf\"\n", "must not be writable");
	assert_int_equal(unlink(file_path("m.conf")), 0);
	bad_file("", "must be a regular file");
}

/* T19, T78: files and links that another user has put there. */
static void
test_owners(void **state)
{
	struct config	*conf;

	(void)state;
	file_text("real.conf", "pool 1\n", 0600);
	assert_int_equal(symlink("real.conf", file_path("link.conf")), 0);
	conf = load_file("link.conf");
	assert_non_null(conf);
	config_free(conf);
	assert_int_equal(symlink("nowhere", file_path("dangling")), 0);
	memset(&errors, 0, sizeof(errors));
	assert_null(config_load(file_path("dangling"), 0, &errors));

	if (geteuid() == 0) {
		assert_int_equal(lchown(file_path("link.conf"), OTHER_UID,
		    OTHER_UID), 0);
		bad_file("link.conf", "is a link of another user");
		assert_int_equal(chown(file_path("real.conf"), OTHER_UID, 0),
		    0);
		bad_file("real.conf", "must be owned by root or the user");
		bad("include \"real.conf\"\n", "must be owned by root");
		/* An ordinary user may use root's files and his own. */
		assert_int_equal(chmod(dir, 0755), 0);
		assert_int_equal(seteuid(OTHER_UID), 0);
		conf = load_file("real.conf");
		assert_int_equal(seteuid(0), 0);
		assert_non_null(conf);
		config_free(conf);
		assert_int_equal(chown(file_path("real.conf"), 0, 0), 0);
		assert_int_equal(chmod(file_path("real.conf"), 0644), 0);
		assert_int_equal(seteuid(OTHER_UID), 0);
		conf = load_file("link.conf");
		assert_int_equal(seteuid(0), 0);
		assert_non_null(conf);
		config_free(conf);
	}
	assert_int_equal(unlink(file_path("dangling")), 0);
	assert_int_equal(unlink(file_path("link.conf")), 0);
	assert_int_equal(unlink(file_path("real.conf")), 0);
}

/* Pipes and devices have no owner who would matter. */
static void
test_streams(void **state)
{
	struct config	*conf;
	static const char text[] = "token \"" SECRET "\"\npool 3\n";
	int		 fds[2], saved;

	(void)state;
	config_free(config_load("/dev/null", 1, &errors));
	saved = dup(STDIN_FILENO);
	assert_true(saved != -1);
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], text, strlen(text)), strlen(text));
	close(fds[1]);
	assert_int_equal(dup2(fds[0], STDIN_FILENO), STDIN_FILENO);
	close(fds[0]);
	memset(&errors, 0, sizeof(errors));
	conf = config_load("-", 1, &errors);
	assert_int_equal(dup2(saved, STDIN_FILENO), STDIN_FILENO);
	close(saved);
	assert_non_null(conf);
	assert_true(conf->cf_values[SET_POOL_SANDBOXES] == 3);
	config_free(conf);
	memset(&errors, 0, sizeof(errors));
	assert_null(config_load("/dev/zero", 1, &errors));
	assert_error("/dev/zero", "must be at most 1M large");
}

static void
token_file(const char *content, size_t len, mode_t mode, const char *part)
{
	struct config	*conf;
	char		 text[PATH_MAX + 32];

	file_write("token", content, len, mode);
	(void)snprintf(text, sizeof(text), "token file \"%s\"\n",
	    file_path("token"));
	if (part != NULL) {
		bad(text, part);
		assert_null(strstr(errors.ce_text, "s3cr3t"));
		return;
	}
	/* The file that names it may be public. */
	file_text("test.conf", text, 0644);
	conf = load_file("test.conf");
	assert_non_null(conf);
	assert_string_equal(conf->cf_token, SECRET);
	assert_string_equal(conf->cf_token_file, file_path("token"));
	round_trip(conf);
	config_forget_secrets(conf);
	assert_string_equal(conf->cf_token, "");
	config_free(conf);
}

static void
test_token_file(void **state)
{
	struct config	*conf;
	char		 text[PATH_MAX + 64], big[600];

	(void)state;
	token_file(SECRET, 13, 0600, NULL);
	token_file(SECRET "\n", 14, 0640, NULL);
	token_file(SECRET "\nsecond line\n", 26, 0400, NULL);
	token_file(SECRET "\n", 14, 0644, "must not be accessible to others");
	token_file(SECRET "\n", 14, 0601, "must not be accessible to others");
	token_file(SECRET "\n", 14, 0660, "must not be writable");
	token_file("", 0, 0600, "must have 8 to 511 characters");
	token_file("\n" SECRET, 14, 0600, "must have 8 to 511 characters");
	token_file("s3cr3t\n", 7, 0600, "must have 8 to 511 characters");
	token_file(SECRET " \n", 15, 0600, "must be printable ASCII");
	token_file(SECRET "\r\n", 15, 0600, "must be printable ASCII");
	token_file(SECRET "\0\n", 15, 0600, "Invalid argument");
	memset(big, 'x', sizeof(big));
	token_file(big, sizeof(big), 0600, "must have 8 to 511 characters");
	token_file(big, 512, 0600, "must have 8 to 511 characters");

	file_text("token", SECRET "\n", 0600);
	(void)snprintf(text, sizeof(text),
	    "control plane {\ntoken file \"%s\"\n}\n", file_path("token"));
	conf = load_good(text);
	assert_string_equal(conf->cf_cp_token, SECRET);
	assert_string_equal(conf->cf_token, "");
	round_trip(conf);
	config_free(conf);
	(void)snprintf(text, sizeof(text), "token file \"%s\"\n"
	    "workspace \"%s\"\n", file_path("token"), dir);
	bad_line(text, 0, "must not be inside the workspace");
	(void)snprintf(text, sizeof(text), "token file \"%s\"\n", dir);
	bad(text, "must be a regular file");
	assert_int_equal(unlink(file_path("token")), 0);
}

/* Whatever is wrong with it, a token is never shown. */
static void
test_token_secrecy(void **state)
{
	static const char * const	 texts[] = {
		"token s3cr3t",
		"token \"s3cr3t\"",
		"token \"s3cr3t s3cr3t\"",
		"token s3cr3t,s3cr3t",
		"token \"s3cr3t-s3cr3t",
		"token \"s3cr3t-s3cr3t\\x\"",
		"token \"s3cr3t-s3cr3t\" s3cr3t",
		"token s3cr3t s3cr3t",
		"token s3cr3t'",
		"token s3cr3t{",
		"token = \"s3cr3t-s3cr3t\"",
		"token file /nowhere s3cr3t",
		"tokn \"s3cr3t-s3cr3t\"",
		"listen \"s3cr3t-s3cr3t\"",
		"token {\ns3cr3t\n}",
		"t = \"s3cr3t\"\ntoken $t",
		"t = \"s3cr3t-s3cr3t\"\ntoken on $t",
		"control plane {\ntoken \"s3cr3t\"\n}",
		"control plane {\ntoken s3cr3t s3cr3t\n}",
	};
	struct config			*conf;
	char				*text;
	size_t				 i;

	(void)state;
	for (i = 0; i < nitems(texts); i++) {
		assert_null(load(texts[i]));
		if (strstr(errors.ce_text, "s3cr3t") != NULL)
			fail_msg("\"%s\" shows it: %s", texts[i],
			    errors.ce_text);
	}
	conf = load_good("token \"" SECRET "\"\n"
	    "control plane {\ntoken \"" SECRET "\"\n}\n");
	text = print(conf, 0);
	assert_null(strstr(text, "s3cr3t"));
	assert_non_null(strstr(text, "\n# token is set, not shown\n"));
	assert_non_null(strstr(text, "\n\t# token is set, not shown\n"));
	free(text);
	config_forget_secrets(conf);
	text = print(conf, 1);
	assert_null(strstr(text, "s3cr3t"));
	assert_non_null(strstr(text, "\n# token is set, not shown\n"));
	free(text);
	config_free(conf);
	/* A comment begins a word, so that it cannot cut one. */
	conf = load_good("token s3cr3t-#s3cr3t#\n");
	assert_string_equal(conf->cf_token, "s3cr3t-#s3cr3t#");
	config_free(conf);
}

static void
bad_env(const char *name, const char *value, const char *part)
{
	clean_environment();
	assert_int_equal(setenv(name, value, 1), 0);
	bad_line("", 0, part);
	clean_environment();
}

static void
test_environment_errors(void **state)
{
	char	 text[1100];

	(void)state;
	bad_env("PORT", "abc",
	    "environment: PORT \"abc\": must be between 1 and 65535");
	bad_env("PORT", "0", "environment: PORT \"0\": must be");
	bad_env("EXECUTOR_PORT", "70000", "environment: EXECUTOR_PORT");
	bad_env("PROXY_PORT", "-1", "environment: PROXY_PORT \"-1\": must");
	bad_env("PORT", "3031", "proxy on 127.0.0.1 port 3031 (the default)");
	bad_env("CONTROL_PLANE_URL", "cp:8000",
	    "CONTROL_PLANE_URL \"cp:8000\": must begin with http://");
	bad_env("WORKSPACE_PATH", "work", "must be an absolute path");
	bad_env("LOG_LEVEL", "loud", "must be debug, info, warning or error");
	bad_env("CONTAINER_ID", "a\nb", "CONTAINER_ID \"a\\012b\": must not");
	bad_env("POD_NAME", "\033", "POD_NAME \"\\033\": must not");
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	bad_env("POD_NAME", text, "must have at most 255 characters");
	bad_env("SANDBOX_SECRET", "s3cr3t", "SANDBOX_SECRET: must have 8");
	assert_null(strstr(errors.ce_text, "s3cr3t"));
	bad_env("INTERNAL_API_TOKEN", "s3cr3t s3cr3t",
	    "INTERNAL_API_TOKEN: must be printable");
	assert_null(strstr(errors.ce_text, "s3cr3t"));
	/* Also when there is no file at all. */
	assert_int_equal(setenv("PORT", "x", 1), 0);
	assert_null(config_load(file_path("missing"), 0, NULL));
	clean_environment();
}

static void
test_environment(void **state)
{
	struct config	*conf;

	(void)state;
	assert_int_equal(setenv("SANDBOX_SECRET", SECRET, 1), 0);
	assert_int_equal(setenv("EXECUTOR_PORT", "8080", 1), 0);
	assert_int_equal(setenv("PROXY_PORT", "8081", 1), 0);
	assert_int_equal(setenv("CONTROL_PLANE_URL", "http://cp:1/", 1), 0);
	assert_int_equal(setenv("INTERNAL_API_TOKEN", SECRET "i", 1), 0);
	assert_int_equal(setenv("WORKSPACE_PATH", "/w/", 1), 0);
	assert_int_equal(setenv("CONTAINER_ID", "cid", 1), 0);
	assert_int_equal(setenv("POD_NAME", "pod", 1), 0);
	assert_int_equal(setenv("LOG_LEVEL", "DEBUG", 1), 0);
	conf = load_good("");
	assert_string_equal(conf->cf_token, SECRET);
	assert_inet(listener(conf, 0), "127.0.0.1", 8080, 0, AUTH_TOKEN);
	assert_inet(listener(conf, 1), "127.0.0.1", 8081, 1, AUTH_TOKEN);
	assert_string_equal(conf->cf_cp_url, "http://cp:1");
	assert_string_equal(conf->cf_cp_token, SECRET "i");
	assert_string_equal(conf->cf_workspace, "/w");
	assert_int_equal(conf->cf_workspace_made, 0);
	assert_string_equal(conf->cf_container_id, "cid");
	assert_string_equal(conf->cf_pod_name, "pod");
	assert_int_equal(conf->cf_loglevel, LOG_DEBUG);
	round_trip(conf);
	config_free(conf);
	clean_environment();
}

static void
test_environment_order(void **state)
{
	struct config	*conf;
	char		 host[256];

	(void)state;
	/* PORT is the stronger one; a listener without a port has it. */
	assert_int_equal(setenv("EXECUTOR_PORT", "8080", 1), 0);
	assert_int_equal(setenv("PORT", "9090", 1), 0);
	assert_int_equal(setenv("PROXY_PORT", "8081", 1), 0);
	conf = load_good("listen on ::1\nproxy on ::1\nlisten on ::2 port 5\n");
	assert_inet(listener(conf, 0), "::1", 9090, 0, AUTH_TOKEN);
	assert_inet(listener(conf, 1), "::1", 8081, 1, AUTH_TOKEN);
	assert_inet(listener(conf, 2), "::2", 5, 0, AUTH_TOKEN);
	config_free(conf);

	/* The file is stronger. */
	assert_int_equal(setenv("SANDBOX_SECRET", SECRET, 1), 0);
	assert_int_equal(setenv("INTERNAL_API_TOKEN", SECRET, 1), 0);
	assert_int_equal(setenv("CONTROL_PLANE_URL", "http://cp:1/", 1), 0);
	assert_int_equal(setenv("WORKSPACE_PATH", "/w/", 1), 0);
	assert_int_equal(setenv("LOG_LEVEL", "DEBUG", 1), 0);
	conf = load_good("token \"" SECRET "2\"\nworkspace /x\nlog level "
	    "error\ncontrol plane {\nurl https://y\ntoken \"" SECRET "3\"\n"
	    "container id z\npod name p\n}\n");
	assert_string_equal(conf->cf_token, SECRET "2");
	assert_string_equal(conf->cf_cp_token, SECRET "3");
	assert_string_equal(conf->cf_workspace, "/x");
	assert_string_equal(conf->cf_cp_url, "https://y");
	assert_string_equal(conf->cf_container_id, "z");
	assert_string_equal(conf->cf_pod_name, "p");
	assert_int_equal(conf->cf_loglevel, LOG_ERR);
	config_free(conf);

	/* Empty is not set, and the host's name is the last choice. */
	clean_environment();
	assert_int_equal(setenv("PORT", "", 1), 0);
	assert_int_equal(setenv("SANDBOX_SECRET", "", 1), 0);
	assert_int_equal(setenv("LOG_LEVEL", "", 1), 0);
	assert_int_equal(unsetenv("HOSTNAME"), 0);
	conf = load_good("");
	assert_inet(listener(conf, 0), "127.0.0.1", 3030, 0, AUTH_TOKEN);
	assert_int_equal(gethostname(host, sizeof(host)), 0);
	assert_string_equal(conf->cf_container_id, host);
	config_free(conf);
	clean_environment();
}

/* A broken file leaves nothing behind that the next one would see. */
static void
test_reload(void **state)
{
	struct config	*old, *new;
	int		 i;

	(void)state;
	old = load_good(everything);
	for (i = 0; i < 3; i++) {
		assert_null(load("http {\nprofile \"x\" {\nfoo = \"bar\"\n"));
		assert_null(load("token \"" SECRET "\"\nprofile \"x\" {\n"
		    "limits {\nfoo"));
		assert_null(load("foo {\n{\n"));
		assert_null(load("pool {"));
		new = load_good(everything);
		config_free(new);
	}
	check_listeners(old);
	check_profiles(old);
	check_blocks(old);
	config_free(old);
}

static void
test_buffer(void **state)
{
	struct config	*conf;
	char		 text[] = "pool 9\ntoken file /nonexistent";
	char		 include[] = "include \"/etc/passwd\"\n";

	(void)state;
	memset(&errors, 0, sizeof(errors));
	conf = config_parse_buffer("buffer", text, strlen(text), &errors);
	assert_non_null(conf);
	assert_true(conf->cf_values[SET_POOL_SANDBOXES] == 9);
	config_free(conf);
	assert_null(config_parse_buffer("buffer", include, strlen(include),
	    &errors));
	assert_string_equal(errors.ce_text,
	    "buffer:1: include \"/etc/passwd\": is not possible here\n");
	assert_null(config_parse_buffer("buffer", include, strlen(include),
	    NULL));
}

/* The longest list of names is not cut. */
static void
test_expected(void **state)
{
	static const char * const	 blocks[] = {
		"http", "limits", "run", "processes", "execute", "call",
		"control plane"
	};
	char				 text[64], *list, *name;
	size_t				 i;
	int				 set;

	(void)state;
	for (i = 0; i < nitems(blocks); i++) {
		(void)snprintf(text, sizeof(text), "%s {\nnonsense 1\n}\n",
		    blocks[i]);
		bad_line(text, 2, "unknown setting \"nonsense\" in ");
		list = strstr(errors.ce_text, ": expected ");
		assert_non_null(list);
		for (set = 0; set < SET_COUNT; set++) {
			if (strcmp(settings[set].sd_block, blocks[i]) != 0)
				continue;
			name = strstr(list, settings[set].sd_name);
			assert_non_null(name);
		}
	}
}

static int
setup(void **state)
{
	(void)state;
	log_init("config_test", LOG_FORMAT_TEXT, LOG_CRIT);
	clean_environment();
	(void)strlcpy(dir, "/tmp/sbxd-config.XXXXXX", sizeof(dir));
	return (mkdtemp(dir) == NULL ? -1 : 0);
}

static int
teardown(void **state)
{
	(void)state;
	(void)unlink(file_path("test.conf"));
	return (rmdir(dir));
}

int
main(void)
{
	const struct CMUnitTest	 tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_state_directory),
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_choices),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_all_errors),
		cmocka_unit_test(test_error_bounds),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_items_count),
		cmocka_unit_test(test_include),
		cmocka_unit_test(test_include_limit),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_size),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_owners),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_token_file),
		cmocka_unit_test(test_token_secrecy),
		cmocka_unit_test(test_environment_errors),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_environment_order),
		cmocka_unit_test(test_reload),
		cmocka_unit_test(test_buffer),
		cmocka_unit_test(test_expected),
		/* Last, because its macros stay. */
		cmocka_unit_test(test_macros),
	};

	return (cmocka_run_group_tests(tests, setup, teardown));
}
