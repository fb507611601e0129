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
#include <sys/un.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <stdio.h>
#include <string.h>
#include <syslog.h>

#include "config.h"

#define TOKEN_HIDDEN	"# token is set, not shown"

static void	 print_string(FILE *, const char *);
static void	 print_option(FILE *, const char *, const char *);
static void	 print_secret(FILE *, const char *, const char *,
		    const char *, int, const char *);
static void	 print_general(FILE *, const struct config *);
static void	 print_listen(FILE *, const struct config_listen *);
static void	 print_listens(FILE *, const struct config *);
static void	 print_settings(FILE *, const struct config *, const char *);
static void	 print_blocks(FILE *, const struct config *);
static void	 print_plane(FILE *, const struct config *, int);
static void	 print_item(FILE *, const struct conf_item *);
static void	 print_limits(FILE *, const struct config *,
		    const struct conf_profile *);
static void	 print_profile(FILE *, const struct config *,
		    const struct conf_profile *);
static void	 print_lang(FILE *, const struct conf_lang *);

static void
print_string(FILE *fp, const char *text)
{
	fputc('"', fp);
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', fp);
		fputc(*text, fp);
	}
	fputc('"', fp);
}

/* A keyword and a string, if there is one. */
static void
print_option(FILE *fp, const char *keyword, const char *text)
{
	if (text[0] == '\0')
		return;
	fprintf(fp, "%s ", keyword);
	print_string(fp, text);
}

static void
print_secret(FILE *fp, const char *indent, const char *file,
    const char *token, int show, const char *none)
{
	fputs(indent, fp);
	if (file[0] != '\0')
		print_option(fp, "token file", file);
	else if (token[0] == '\0')
		fputs(none, fp);
	else if (show)
		print_option(fp, "token", token);
	else
		fputs(TOKEN_HIDDEN, fp);
	fputc('\n', fp);
}

static void
print_general(FILE *fp, const struct config *conf)
{
	static const char * const	 formats[] = {
		[LOGFORMAT_AUTO] = "auto",
		[LOGFORMAT_JSON] = "json",
		[LOGFORMAT_TEXT] = "text"
	};
	static const char * const	 levels[] = {
		[LOG_ERR] = "error",
		[LOG_WARNING] = "warning",
		[LOG_INFO] = "info",
		[LOG_DEBUG] = "debug"
	};
	char				 keep[SETTING_TEXTLEN];

	fprintf(fp, "log format %s\n", formats[conf->cf_logformat]);
	fprintf(fp, "log level %s\n", levels[conf->cf_loglevel]);
	print_option(fp, "user frontend", conf->cf_users[USER_FRONTEND]);
	print_option(fp, "\nuser spawner", conf->cf_users[USER_SPAWNER]);
	print_option(fp, "\nuser reporter", conf->cf_users[USER_REPORTER]);
	print_option(fp, "\nchroot", conf->cf_chroot);
	if (conf->cf_isolation == ISOLATION_BWRAP)
		print_option(fp, "\nisolation bwrap", conf->cf_bwrap);
	else
		fputs("\nisolation native", fp);
	fprintf(fp, "\nsandbox uid %u to %u\n", conf->cf_uid_first,
	    conf->cf_uid_last);
	/* Naming it would say that it is there already. */
	if (conf->cf_workspace_made)
		fputs("# made when missing: ", fp);
	print_option(fp, "workspace", conf->cf_workspace);
	print_option(fp, "\nspool", conf->cf_spool);
	setting_format(SET_SPOOL_KEEP, conf->cf_values[SET_SPOOL_KEEP], keep);
	fprintf(fp, " keep %s", keep);
	print_option(fp, "\ncontrol socket", conf->cf_control);
	print_option(fp, " group", conf->cf_control_group);
	fprintf(fp, "\npool %llu\n",
	    (unsigned long long)conf->cf_values[SET_POOL_SANDBOXES]);
}

static void
print_listen(FILE *fp, const struct config_listen *li)
{
	const struct sockaddr_in	*sin;
	const struct sockaddr_in6	*sin6;
	const struct sockaddr_un	*sun;
	char				 text[INET6_ADDRSTRLEN] = "";

	fprintf(fp, "%s on ", li->li_proxy ? "proxy" : "listen");
	switch (li->li_ss.ss_family) {
	case AF_INET:
		sin = (const struct sockaddr_in *)&li->li_ss;
		inet_ntop(AF_INET, &sin->sin_addr, text, sizeof(text));
		fprintf(fp, "%s port %u", text, ntohs(sin->sin_port));
		break;
	case AF_INET6:
		sin6 = (const struct sockaddr_in6 *)&li->li_ss;
		inet_ntop(AF_INET6, &sin6->sin6_addr, text, sizeof(text));
		fprintf(fp, "%s port %u", text, ntohs(sin6->sin6_port));
		break;
	default:
		sun = (const struct sockaddr_un *)&li->li_ss;
		print_option(fp, "socket", sun->sun_path);
		fprintf(fp, " mode %04o", (unsigned int)li->li_mode);
		print_option(fp, " group", li->li_group);
		break;
	}
	if (li->li_auth == AUTH_NONE)
		fputs(" auth none", fp);
	else if (li->li_auth == AUTH_NONE_INSECURE)
		fputs(" auth none insecure", fp);
	fputc('\n', fp);
}

static void
print_listens(FILE *fp, const struct config *conf)
{
	const struct config_listen	*li;

	fputc('\n', fp);
	TAILQ_FOREACH(li, &conf->cf_listens, li_entry)
		print_listen(fp, li);
	if ((conf->cf_flags & CONF_NO_PROXY) != 0)
		fputs("no proxy\n", fp);
}

static void
print_settings(FILE *fp, const struct config *conf, const char *block)
{
	char	 text[SETTING_TEXTLEN];
	int	 i;

	for (i = 0; i < SET_COUNT; i++) {
		if (strcmp(settings[i].sd_block, block) != 0)
			continue;
		setting_format((enum setting)i, conf->cf_values[i], text);
		fprintf(fp, "\t%s %s\n", settings[i].sd_name, text);
	}
}

static void
print_blocks(FILE *fp, const struct config *conf)
{
	static const char * const	 blocks[] = {
		"http", "limits", "run", "processes", "execute", "call"
	};
	size_t				 i;

	for (i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
		fprintf(fp, "\n%s {\n", blocks[i]);
		print_settings(fp, conf, blocks[i]);
		if (strcmp(blocks[i], "execute") == 0) {
			if ((conf->cf_flags & CONF_EXECUTE_ASYNC) != 0)
				fputs("\tasync\n", fp);
			fprintf(fp, "\tartifacts %s\n",
			    (conf->cf_flags & CONF_ARTIFACTS_CHANGED) != 0 ?
			    "changed" : "all");
		}
		fputs("}\n", fp);
	}
}

static void
print_plane(FILE *fp, const struct config *conf, int show)
{
	fputs("\ncontrol plane {\n", fp);
	if (conf->cf_cp_url[0] == '\0')
		fputs("\t# no url: results are not reported", fp);
	print_option(fp, "\turl", conf->cf_cp_url);
	fputc('\n', fp);
	print_secret(fp, "\t", conf->cf_cp_token_file, conf->cf_cp_token,
	    show, conf->cf_cp_token_known ? TOKEN_HIDDEN : "# no token");
	if (conf->cf_container_id[0] != '\0') {
		print_option(fp, "\tcontainer id", conf->cf_container_id);
		fputc('\n', fp);
	}
	if (conf->cf_pod_name[0] != '\0') {
		print_option(fp, "\tpod name", conf->cf_pod_name);
		fputc('\n', fp);
	}
	print_settings(fp, conf, "control plane");
	fputs("}\n", fp);
}

static void
print_item(FILE *fp, const struct conf_item *it)
{
	static const char * const	 keywords[ITEM_KINDS] = {
		[ITEM_READONLY] = "\tread-only",
		[ITEM_ENV] = "\tenvironment",
		[ITEM_CALL_ADD] = "\tsystem call add",
		[ITEM_CALL_REMOVE] = "\tsystem call remove"
	};

	print_option(fp, keywords[it->it_kind], it->it_a);
	if (it->it_b != NULL) {
		fputc(' ', fp);
		print_string(fp, it->it_b);
	}
	fputc('\n', fp);
}

/* Only what differs from the limits of all profiles. */
static void
print_limits(FILE *fp, const struct config *conf,
    const struct conf_profile *pr)
{
	char		 text[SETTING_TEXTLEN];
	enum setting	 set;
	int		 i, n = 0;

	for (i = 0; i < SET_LIMIT_COUNT; i++) {
		set = (enum setting)(SET_LIMIT_FIRST + i);
		if (pr->pr_limits[i] == conf->cf_values[set])
			continue;
		if (n++ == 0)
			fputs("\tlimits {\n", fp);
		setting_format(set, pr->pr_limits[i], text);
		fprintf(fp, "\t\t%s %s\n", settings[set].sd_name, text);
	}
	if (n != 0)
		fputs("\t}\n", fp);
}

static void
print_profile(FILE *fp, const struct config *conf,
    const struct conf_profile *pr)
{
	const struct conf_item	*it;
	int			 kind;

	print_option(fp, "\nprofile", pr->pr_name);
	fputs(" {\n", fp);
	if (pr->pr_root[0] != '\0') {
		print_option(fp, "\troot", pr->pr_root);
		fputc('\n', fp);
	}
	for (kind = 0; kind < ITEM_KINDS; kind++) {
		TAILQ_FOREACH(it, &pr->pr_items, it_entry) {
			if ((int)it->it_kind == kind)
				print_item(fp, it);
		}
	}
	print_limits(fp, conf, pr);
	fputs("}\n", fp);
}

static void
print_lang(FILE *fp, const struct conf_lang *la)
{
	print_option(fp, "\nlanguage", la->la_name);
	print_option(fp, " {\n\tcommand", la->la_command);
	print_option(fp, "\n\tprofile", la->la_profile);
	fprintf(fp, "\n\twarm %u\n", la->la_warm);
	if (la->la_strict)
		fputs("\tstrict\n", fp);
	fputs("}\n", fp);
}

/*
 * The configuration as it was understood, in its own syntax.  Parsed
 * again it prints the same, if secrets are shown.
 */
void
config_print(FILE *fp, const struct config *conf, int show_secrets)
{
	const struct conf_profile	*pr;
	const struct conf_lang		*la;
	const struct conf_mount		*mo;

	print_general(fp, conf);
	print_secret(fp, "", conf->cf_token_file, conf->cf_token,
	    show_secrets, conf->cf_token_known ? TOKEN_HIDDEN :
	    "# no token: one is generated at start");
	print_listens(fp, conf);
	print_blocks(fp, conf);
	print_plane(fp, conf, show_secrets);
	TAILQ_FOREACH(pr, &conf->cf_profiles, pr_entry)
		print_profile(fp, conf, pr);
	TAILQ_FOREACH(la, &conf->cf_langs, la_entry)
		print_lang(fp, la);
	if (!TAILQ_EMPTY(&conf->cf_mounts))
		fputc('\n', fp);
	TAILQ_FOREACH(mo, &conf->cf_mounts, mo_entry) {
		print_option(fp, "mount", mo->mo_name);
		print_option(fp, " path", mo->mo_path);
		fputs(mo->mo_readonly ? " read-only\n" : "\n", fp);
	}
}
