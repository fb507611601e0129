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
#include <string.h>

#include "log.h"
#include "output.h"

static void	 json_show(const struct answer *);
static void	 json_config(const struct answer *);
static void	 json_done(void);
static void	 json_fail(const char *);
static void	 json_process(const struct msg_procinfo *);
static void	 json_string(const char *, const char *, size_t);
static const char *json_bool(uint32_t);

const struct output output_json = {
	.ou_show = json_show,
	.ou_config = json_config,
	.ou_done = json_done,
	.ou_fail = json_fail
};

static void
json_string(const char *name, const char *s, size_t len)
{
	printf("\"%s\":\"", name);
	output_escape(stdout, s, len, log_escape_json);
	printf("\"");
}

static const char *
json_bool(uint32_t v)
{
	return (v != 0 ? "true" : "false");
}

static void
json_process(const struct msg_procinfo *mp)
{
	const struct confine_state	*cs = &mp->mp_confine;

	printf("{\"name\":\"%s\",\"pid\":%u,\"uid\":%u,\"memory_bytes\":%"
	    PRIu64 ",\"capabilities\":\"%016" PRIx64 "\"",
	    msg_procname(mp->mp_proc), mp->mp_pid, mp->mp_uid, mp->mp_rss,
	    mp->mp_caps);
	printf(",\"chroot\":%s,\"landlock_abi\":%u,\"no_paths\":%s",
	    json_bool(cs->cs_chroot), cs->cs_landlock,
	    json_bool(cs->cs_nopaths));
	printf(",\"seccomp\":%u,", mp->mp_seccomp);
	json_string("promises", cs->cs_promises, strlen(cs->cs_promises));
	printf(",\"no_new_privs\":%s}", json_bool(mp->mp_nonewprivs));
}

static void
json_show(const struct answer *an)
{
	const struct ctl_summary	*su = &an->an_summary;
	const char			*sep = "";
	int				 i;

	printf("{");
	json_string("version", su->su_version, strlen(su->su_version));
	printf(",\"uptime_seconds\":%" PRIu64 ".%03u", su->su_uptime / 1000,
	    (unsigned int)(su->su_uptime % 1000));
	printf(",\"requests\":%" PRIu64 ",\"connections\":%" PRIu64
	    ",\"connections_total\":%" PRIu64 ",\"connections_refused\":%"
	    PRIu64, su->su_requests, su->su_connections, su->su_accepted,
	    su->su_refused);
	printf(",\"log_level\":\"%s\",\"processes\":[",
	    output_levelname(su->su_loglevel));
	for (i = 0; i < PROC_COUNT; i++) {
		if (!an->an_has_proc[i])
			continue;
		printf("%s", sep);
		json_process(&an->an_procs[i]);
		sep = ",";
	}
	printf("]}\n");
}

static void
json_config(const struct answer *an)
{
	printf("{");
	json_string("config", an->an_text, an->an_textlen);
	printf("}\n");
}

static void
json_done(void)
{
	printf("{\"ok\":true}\n");
}

static void
json_fail(const char *error)
{
	printf("{\"ok\":false,");
	json_string("error", error, strlen(error));
	printf("}\n");
}
