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

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "compat.h"
#include "conf_msg.h"
#include "ctl.h"
#include "log.h"
#include "msg.h"

/*
 * The decoder and every receive function behind it, as a taken-over
 * sibling or a control client would feed them.  The first byte chooses the
 * number of descriptors that came along; the rest is the packet.
 */

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static struct conf_set	*conf;

static void
decode(const struct imsg *im)
{
	struct msg_boot		 mb;
	struct msg_procinfo	 mp;
	struct msg_callback	 mk;
	struct msg_isolation	 mi;
	struct confine_state	 cs;
	struct ctl_summary	 su;
	char			 text[MSG_TEXTLEN];
	uint32_t		 code;

	switch (im->im_hdr.ih_type) {
	case MSG_BOOT:
		if (msg_boot_recv(im, &mb) == 0 && mb.mb_setuser &&
		    (mb.mb_uid == 0 || mb.mb_gid == 0))
			abort();
		break;
	case MSG_READY:
		(void)msg_ready_recv(im, &cs);
		break;
	case MSG_CTL_PROC:
		if (msg_procinfo_recv(im, &mp) == 0 &&
		    mp.mp_proc >= PROC_COUNT)
			abort();
		break;
	case MSG_CTL_RESULT:
		(void)msg_result_recv(im, &code, text, sizeof(text));
		break;
	case MSG_CALLBACK:
		(void)msg_callback_recv(im, &mk);
		break;
	case MSG_CONF_ISOLATION:
		if (msg_isolation_recv(im, &mi) == 0 && mi.mi_uid_first == 0)
			abort();
		break;
	case MSG_CONF_VALUES:
		(void)conf_values_recv(im, conf);
		break;
	case MSG_CONF_PROFILE:
		(void)conf_profile_recv(im, conf);
		break;
	case MSG_CONF_ITEM:
		(void)conf_item_recv(im, conf);
		break;
	case MSG_CONF_LANG:
		(void)conf_lang_recv(im, conf);
		break;
	case CTL_SUMMARY:
		(void)ctl_summary_recv(im, &su);
		break;
	}
}

#define RULE(t, fds)	{ t, #t, 0, IMSG_MAXDATA, fds, NULL }

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const struct imsg_rule rules[] = {
		RULE(MSG_BOOT, 0), RULE(MSG_READY, 0), RULE(MSG_CTL_PROC, 0),
		RULE(MSG_CTL_RESULT, 0), RULE(MSG_CALLBACK, 0),
		RULE(MSG_CONF_ISOLATION, 0), RULE(MSG_CONF_VALUES, 0),
		RULE(MSG_CONF_PROFILE, 0), RULE(MSG_CONF_ITEM, 0),
		RULE(MSG_CONF_LANG, 0), RULE(CTL_SUMMARY, 0),
		RULE(MSG_PEER, 1),
	};
	static const struct imsg_table	 table = { rules, nitems(rules) };
	const struct imsg_rule		*rule;
	struct imsg			 im;
	char				 error[128];

	if (len < 1)
		return (0);
	log_init("fuzz", LOG_FORMAT_TEXT, LOG_EMERG);
	memset(&im, 0, sizeof(im));
	if (imsg_check(&table, data + 1, len - 1, data[0] & 15, &rule,
	    &im.im_hdr, error, sizeof(error)) == -1)
		return (0);
	if (im.im_hdr.ih_len != len - 1 - sizeof(im.im_hdr) ||
	    im.im_hdr.ih_nfds != rule->ir_nfds)
		abort();
	im.im_data = data + 1 + sizeof(im.im_hdr);
	conf = conf_set_new();
	/* A profile to hang items and languages on. */
	if (im.im_hdr.ih_type != MSG_CONF_PROFILE) {
		struct conf_profile *pr = conf_profile_new("default");

		TAILQ_INSERT_TAIL(&conf->cs_profiles, pr, pr_entry);
		conf->cs_nprofiles = 1;
	}
	decode(&im);
	conf_set_free(conf);
	return (0);
}
