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

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat.h"
#include "log.h"
#include "output.h"
#include "utf8.h"

static void	 text_show(const struct answer *);
static void	 text_config(const struct answer *);
static void	 text_done(void);
static void	 text_fail(const char *);
static void	 text_summary(const struct ctl_summary *);
static void	 text_process(const struct msg_procinfo *);
static void	 text_caps(uint64_t);
static void	 text_string(FILE *, const char *);

const struct output output_text = {
	.ou_show = text_show,
	.ou_config = text_config,
	.ou_done = text_done,
	.ou_fail = text_fail
};

static const char *const levelnames[] = {
	"emergency", "alert", "critical", "error", "warning", "notice",
	"info", "debug"
};

/* By number, as in capability.h. */
static const char *const capnames[] = {
	"chown", "dac_override", "dac_read_search", "fowner", "fsetid",
	"kill", "setgid", "setuid", "setpcap", "linux_immutable",
	"net_bind_service", "net_broadcast", "net_admin", "net_raw",
	"ipc_lock", "ipc_owner", "sys_module", "sys_rawio", "sys_chroot",
	"sys_ptrace", "sys_pacct", "sys_admin", "sys_boot", "sys_nice",
	"sys_resource", "sys_time", "sys_tty_config", "mknod", "lease",
	"audit_write", "audit_control", "setfcap", "mac_override",
	"mac_admin", "syslog", "wake_alarm", "block_suspend", "audit_read",
	"perfmon", "bpf", "checkpoint_restore"
};

#define CAPS_NAMED	12	/* more than that are shown as a number */

const char *
output_levelname(uint64_t level)
{
	return (level < nitems(levelnames) ? levelnames[level] : "unknown");
}

/* Character by character: any length needs no more than these few bytes. */
void
output_escape(FILE *fp, const char *s, size_t len,
    size_t (*escape)(char *, size_t, const char *, size_t))
{
	char	 esc[16];
	size_t	 i, k, n;

	for (i = 0; i < len; i += n) {
		if ((n = utf8_length(s + i, len - i)) == 0)
			n = 1;
		k = escape(esc, sizeof(esc), s + i, n);
		fwrite(esc, 1, k, fp);
	}
}

static void
text_string(FILE *fp, const char *s)
{
	output_escape(fp, s, strlen(s), log_escape_text);
}

static void
text_summary(const struct ctl_summary *su)
{
	uint64_t	 sec = su->su_uptime / 1000;

	printf("version      ");
	text_string(stdout, su->su_version);
	printf("\nuptime       %" PRIu64 "d %02u:%02u:%02u\n", sec / 86400,
	    (unsigned int)(sec / 3600 % 24), (unsigned int)(sec / 60 % 60),
	    (unsigned int)(sec % 60));
	printf("requests     %" PRIu64 "\n", su->su_requests);
	printf("connections  %" PRIu64 " now, %" PRIu64 " ever, %" PRIu64
	    " refused\n", su->su_connections, su->su_accepted,
	    su->su_refused);
	printf("log level    %s\n", output_levelname(su->su_loglevel));
}

static void
text_caps(uint64_t caps)
{
	const char	*sep = "";
	size_t		 i;

	printf(" caps=");
	if (caps == 0)
		printf("none");
	else if (caps >> nitems(capnames) != 0 ||
	    __builtin_popcountll(caps) > CAPS_NAMED)
		printf("%#" PRIx64, caps);
	else for (i = 0; i < nitems(capnames); i++) {
		if ((caps & (UINT64_C(1) << i)) == 0)
			continue;
		printf("%s%s", sep, capnames[i]);
		sep = ",";
	}
}

static void
text_process(const struct msg_procinfo *mp)
{
	const struct confine_state	*cs = &mp->mp_confine;
	char				 size[8];
	int64_t				 rss;

	rss = mp->mp_rss > INT64_MAX ? INT64_MAX : (int64_t)mp->mp_rss;
	if (humanize_number(size, 5, rss, "", HN_AUTOSCALE,
	    HN_B | HN_DECIMAL | HN_NOSPACE) == -1)
		(void)strlcpy(size, "?", sizeof(size));
	printf("%-10s %7u %10u %7s  %s", msg_procname(mp->mp_proc),
	    mp->mp_pid, mp->mp_uid, size, cs->cs_chroot ? "chroot" :
	    "no-chroot");
	if (cs->cs_landlock != 0)
		printf(" landlock(%u)", cs->cs_landlock);
	else
		printf(" no-landlock");

	/* A promise counts if the kernel says that there is a filter. */
	if (mp->mp_seccomp == 0)
		printf(" no-seccomp");
	else {
		printf(" seccomp(");
		text_string(stdout, cs->cs_promises);
		printf(")");
	}
	printf(mp->mp_nonewprivs ? " nnp" : " no-nnp");
	text_caps(mp->mp_caps);
	printf("\n");
}

static void
text_show(const struct answer *an)
{
	int	 i;

	text_summary(&an->an_summary);
	printf("\n%-10s %7s %10s %7s  %s\n", "PROCESS", "PID", "UID",
	    "MEMORY", "CONFINEMENT");
	for (i = 0; i < PROC_COUNT; i++) {
		if (an->an_has_proc[i])
			text_process(&an->an_procs[i]);
	}
}

/*
 * The text is a configuration that may be fed to sbxd again, so its lines,
 * tabs and backslashes stay as they are.
 */
static void
text_config(const struct answer *an)
{
	const char	*s = an->an_text;
	size_t		 i, start;

	for (i = start = 0; i < an->an_textlen; i++) {
		if (s[i] != '\n' && s[i] != '\t' && s[i] != '\\')
			continue;
		output_escape(stdout, s + start, i - start, log_escape_text);
		putchar(s[i]);
		start = i + 1;
	}
	output_escape(stdout, s + start, i - start, log_escape_text);
	if (i > 0 && s[i - 1] != '\n')
		putchar('\n');
}

/* Success needs no words. */
static void
text_done(void)
{
}

/* A configuration has many errors at times, one on each line. */
static void
text_fail(const char *error)
{
	size_t	 len;

	do {
		len = strcspn(error, "\n");
		fprintf(stderr, "%s: ", getprogname());
		output_escape(stderr, error, len, log_escape_text);
		fprintf(stderr, "\n");
		error += len + (error[len] == '\n');
	} while (*error != '\0');
}
