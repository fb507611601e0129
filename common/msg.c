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

#include <string.h>

#include "compat.h"
#include "conf.h"
#include "msg.h"

static const char *const msg_procnames[PROC_COUNT] = {
	[PROC_PARENT] = "parent",
	[PROC_FRONTEND] = "frontend",
	[PROC_SPAWNER] = "spawner",
	[PROC_REPORTER] = "reporter",
};

const char *
msg_procname(enum msg_proc proc)
{
	return (proc < PROC_COUNT ? msg_procnames[proc] : "unknown");
}

void
msg_boot_send(struct imsg_chan *ic, const struct msg_boot *mb)
{
	struct ibuf	 ib;

	ibuf_init(&ib);
	ibuf_add_u32(&ib, mb->mb_setuser);
	ibuf_add_u32(&ib, mb->mb_uid);
	ibuf_add_u32(&ib, mb->mb_gid);
	ibuf_add_u32(&ib, mb->mb_log_json);
	ibuf_add_u32(&ib, mb->mb_log_level);
	ibuf_add_u32(&ib, mb->mb_log_syslog);
	ibuf_add_str(&ib, mb->mb_chroot);
	imsg_send_ibuf(ic, MSG_BOOT, 0, &ib, NULL, 0);
}

int
msg_boot_recv(const struct imsg *im, struct msg_boot *mb)
{
	struct ibuf_reader	 ir;

	memset(mb, 0, sizeof(*mb));
	imsg_get_reader(im, &ir);
	ibuf_get_u32(&ir, &mb->mb_setuser);
	ibuf_get_u32(&ir, &mb->mb_uid);
	ibuf_get_u32(&ir, &mb->mb_gid);
	ibuf_get_u32(&ir, &mb->mb_log_json);
	ibuf_get_u32(&ir, &mb->mb_log_level);
	ibuf_get_u32(&ir, &mb->mb_log_syslog);
	ibuf_get_str(&ir, mb->mb_chroot, sizeof(mb->mb_chroot));
	if (ibuf_end(&ir) == -1 || mb->mb_setuser > 1 ||
	    mb->mb_log_json > 1 || mb->mb_log_syslog > 1 ||
	    mb->mb_log_level > 7)
		return (-1);
	/* Never root, whatever the message says. */
	if (mb->mb_setuser && (mb->mb_uid == 0 || mb->mb_gid == 0))
		return (-1);
	return (0);
}

static void
confine_state_add(struct ibuf *ib, const struct confine_state *cs)
{
	ibuf_add_u32(ib, cs->cs_chroot);
	ibuf_add_u32(ib, cs->cs_landlock);
	ibuf_add_u32(ib, cs->cs_nopaths);
	ibuf_add_str(ib, cs->cs_promises);
}

static int
confine_state_get(struct ibuf_reader *ir, struct confine_state *cs)
{
	memset(cs, 0, sizeof(*cs));
	ibuf_get_u32(ir, &cs->cs_chroot);
	ibuf_get_u32(ir, &cs->cs_landlock);
	ibuf_get_u32(ir, &cs->cs_nopaths);
	ibuf_get_str(ir, cs->cs_promises, sizeof(cs->cs_promises));
	if (cs->cs_chroot > 1 || cs->cs_nopaths > 1 ||
	    cs->cs_landlock > 1000)
		return (-1);
	return (0);
}

void
msg_ready_send(struct imsg_chan *ic, const struct confine_state *cs)
{
	struct ibuf	 ib;

	ibuf_init(&ib);
	confine_state_add(&ib, cs);
	imsg_send_ibuf(ic, MSG_READY, 0, &ib, NULL, 0);
}

int
msg_ready_recv(const struct imsg *im, struct confine_state *cs)
{
	struct ibuf_reader	 ir;

	imsg_get_reader(im, &ir);
	if (confine_state_get(&ir, cs) == -1)
		return (-1);
	return (ibuf_end(&ir));
}

/* The type differs between the parent's edge and the control socket's. */
void
msg_procinfo_send(struct imsg_chan *ic, uint32_t type, uint32_t id,
    const struct msg_procinfo *mp)
{
	struct ibuf	 ib;

	ibuf_init(&ib);
	ibuf_add_u32(&ib, mp->mp_proc);
	ibuf_add_u32(&ib, mp->mp_pid);
	ibuf_add_u32(&ib, mp->mp_uid);
	ibuf_add_u32(&ib, mp->mp_seccomp);
	ibuf_add_u32(&ib, mp->mp_nonewprivs);
	ibuf_add_u64(&ib, mp->mp_rss);
	ibuf_add_u64(&ib, mp->mp_caps);
	confine_state_add(&ib, &mp->mp_confine);
	imsg_send_ibuf(ic, type, id, &ib, NULL, 0);
}

int
msg_procinfo_recv(const struct imsg *im, struct msg_procinfo *mp)
{
	struct ibuf_reader	 ir;

	memset(mp, 0, sizeof(*mp));
	imsg_get_reader(im, &ir);
	ibuf_get_u32(&ir, &mp->mp_proc);
	ibuf_get_u32(&ir, &mp->mp_pid);
	ibuf_get_u32(&ir, &mp->mp_uid);
	ibuf_get_u32(&ir, &mp->mp_seccomp);
	ibuf_get_u32(&ir, &mp->mp_nonewprivs);
	ibuf_get_u64(&ir, &mp->mp_rss);
	ibuf_get_u64(&ir, &mp->mp_caps);
	if (confine_state_get(&ir, &mp->mp_confine) == -1 ||
	    mp->mp_proc >= PROC_COUNT)
		return (-1);
	return (ibuf_end(&ir));
}

/* A code (0 is success) and a text for a person. */
void
msg_result_send(struct imsg_chan *ic, uint32_t type, uint32_t id,
    uint32_t code, const char *text)
{
	struct ibuf	 ib;
	char		 cut[MSG_TEXTLEN];

	(void)strlcpy(cut, text, sizeof(cut));	/* cut on purpose */
	ibuf_init(&ib);
	ibuf_add_u32(&ib, code);
	ibuf_add_str(&ib, cut);
	imsg_send_ibuf(ic, type, id, &ib, NULL, 0);
}

int
msg_result_recv(const struct imsg *im, uint32_t *code, char *text,
    size_t size)
{
	struct ibuf_reader	 ir;

	imsg_get_reader(im, &ir);
	ibuf_get_u32(&ir, code);
	ibuf_get_str(&ir, text, size);
	return (ibuf_end(&ir));
}

void
msg_callback_send(struct imsg_chan *ic, const struct msg_callback *mk)
{
	struct ibuf	 ib;

	ibuf_init(&ib);
	ibuf_add_u32(&ib, mk->mk_keep_token);
	ibuf_add_str(&ib, mk->mk_url);
	ibuf_add_str(&ib, mk->mk_token);
	ibuf_add_str(&ib, mk->mk_container);
	ibuf_add_str(&ib, mk->mk_pod);
	imsg_send_ibuf(ic, MSG_CALLBACK, 0, &ib, NULL, 0);
	explicit_bzero(&ib, sizeof(ib));
}

int
msg_callback_recv(const struct imsg *im, struct msg_callback *mk)
{
	struct ibuf_reader	 ir;

	memset(mk, 0, sizeof(*mk));
	imsg_get_reader(im, &ir);
	ibuf_get_u32(&ir, &mk->mk_keep_token);
	ibuf_get_str(&ir, mk->mk_url, sizeof(mk->mk_url));
	ibuf_get_str(&ir, mk->mk_token, sizeof(mk->mk_token));
	ibuf_get_str(&ir, mk->mk_container, sizeof(mk->mk_container));
	ibuf_get_str(&ir, mk->mk_pod, sizeof(mk->mk_pod));
	if (mk->mk_keep_token > 1)
		return (-1);
	return (ibuf_end(&ir));
}

void
msg_isolation_send(struct imsg_chan *ic, const struct msg_isolation *mi)
{
	struct ibuf	 ib;

	ibuf_init(&ib);
	ibuf_add_u32(&ib, mi->mi_kind);
	ibuf_add_u32(&ib, mi->mi_uid_first);
	ibuf_add_u32(&ib, mi->mi_uid_last);
	ibuf_add_str(&ib, mi->mi_bwrap);
	imsg_send_ibuf(ic, MSG_CONF_ISOLATION, 0, &ib, NULL, 0);
}

int
msg_isolation_recv(const struct imsg *im, struct msg_isolation *mi)
{
	struct ibuf_reader	 ir;

	memset(mi, 0, sizeof(*mi));
	imsg_get_reader(im, &ir);
	ibuf_get_u32(&ir, &mi->mi_kind);
	ibuf_get_u32(&ir, &mi->mi_uid_first);
	ibuf_get_u32(&ir, &mi->mi_uid_last);
	ibuf_get_str(&ir, mi->mi_bwrap, sizeof(mi->mi_bwrap));
	if (ibuf_end(&ir) == -1 || mi->mi_kind > ISOLATION_BWRAP ||
	    mi->mi_uid_first == 0 || mi->mi_uid_first > mi->mi_uid_last)
		return (-1);
	return (0);
}
