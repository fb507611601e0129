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
 * The configuration: the defaults, every statement, both ends of every
 * range, the environment, and the round trip of what is printed.  Row T78
 * of escape-tests.md is here, too.
 */

#include <sys/types.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/un.h>

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
#include "config_util.h"

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
    "\tenvironment \"ONE\" \"more\"\n"
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
	assert_string_equal(item(pr, ITEM_ENV, 0)->it_a, "PATH");
	assert_string_equal(item(pr, ITEM_ENV, 4)->it_b,
	    "a \"b\" \\ c\tä");
	assert_string_equal(item(pr, ITEM_ENV, 5)->it_b, "");
	assert_null(item(pr, ITEM_ENV, 6));
	assert_string_equal(item(pr, ITEM_CALL_ADD, 1)->it_a, "bpf");
	assert_string_equal(item(pr, ITEM_CALL_REMOVE, 0)->it_a, "socket");
	assert_int_equal(pr->pr_nitems, 11);
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
	assert_string_equal(item(pr, ITEM_ENV, 4)->it_a, "ONE");
	assert_null(item(pr, ITEM_ENV, 5));
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

static void
assert_env(const struct config *conf, int n, const char *name,
    const char *value)
{
	const struct conf_item	*it;

	it = item(TAILQ_FIRST(&conf->cf_profiles), ITEM_ENV, n);
	assert_non_null(it);
	assert_string_equal(it->it_a, name);
	assert_string_equal(it->it_b, value);
}

/* Variables are merged by name; paths replace the list. */
static void
test_merge(void **state)
{
	const struct conf_profile	*pr;
	struct config			*conf;

	(void)state;
	conf = load_good("profile \"default\" {\nenvironment \"B\" \"1\"\n"
	    "environment \"LANG\" \"de\"\nenvironment \"A\" \"2\"\n"
	    "environment \"PATH\" \"\"\nread-only /opt\n}\n"
	    "profile \"x\" {\nenvironment \"LANG\" \"fr\"\n}\n");
	assert_env(conf, 0, "PATH", "");
	assert_env(conf, 1, "HOME", "/workspace");
	assert_env(conf, 2, "LANG", "de");
	assert_env(conf, 3, "TMPDIR", "/tmp");
	assert_env(conf, 4, "B", "1");
	assert_env(conf, 5, "A", "2");
	pr = TAILQ_FIRST(&conf->cf_profiles);
	assert_null(item(pr, ITEM_ENV, 6));
	assert_string_equal(item(pr, ITEM_READONLY, 0)->it_a, "/opt");
	assert_null(item(pr, ITEM_READONLY, 1));
	assert_int_equal(pr->pr_nitems, 7);

	/* A profile takes nothing from another one. */
	pr = TAILQ_NEXT(pr, pr_entry);
	assert_string_equal(item(pr, ITEM_ENV, 0)->it_b,
	    "/usr/local/bin:/usr/bin:/bin");
	assert_string_equal(item(pr, ITEM_ENV, 2)->it_b, "fr");
	assert_null(item(pr, ITEM_ENV, 4));
	assert_string_equal(item(pr, ITEM_READONLY, 0)->it_a, "/usr");
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

int
main(void)
{
	const struct CMUnitTest	 tests[] = {
		cmocka_unit_test(test_defaults),
		cmocka_unit_test(test_state_directory),
		cmocka_unit_test(test_everything),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_choices),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_environment_order),
		cmocka_unit_test(test_reload),
	};

	return (cmocka_run_group_tests(tests, config_setup,
	    config_teardown));
}
