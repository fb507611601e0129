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


%{
#include <sys/types.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <seccomp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compat.h"
#include "config.h"
#include "log.h"

#define LEX_EOF		(-1)		/* of one file */
#define LEX_AGAIN	(-2)

#define TOKEN_MAX	4096		/* characters of a word or string */
#define TEXT_MAX	(4 * CONFIG_MAXSIZE)	/* bytes of all of them */
#define WORDS_MAX	8		/* in a line that sets a number */
#define FILES_MAX	256		/* included by one configuration */
#define DEPTH_MAX	16
#define MACROS_MAX	1024
#define ERRORS_MAX	100

#define UID_FIRST	1000
#define UID_LAST	4294967293LL
#define UID_COUNT	16
#define SOCKET_MODE	0660

/* A file that is being read; a stack, the innermost one first. */
struct file {
	TAILQ_ENTRY(file)	 fi_entry;
	const char		*fi_name;
	char			*fi_buf;
	size_t			 fi_size;	/* allocated, 0 if not ours */
	size_t			 fi_len;
	size_t			 fi_pos;
	int			 fi_line;
	int			 fi_newline;	/* the line has been read */
	int			 fi_depth;	/* of braces around it */
	int			 fi_unclosed;	/* has been reported */
	int			 fi_public;	/* others can read it */
	dev_t			 fi_dev;
	ino_t			 fi_ino;
};
TAILQ_HEAD(files, file);

struct macro {
	TAILQ_ENTRY(macro)	 ma_entry;
	char			*ma_name;
	char			*ma_value;
	int			 ma_used;
	int			 ma_public;	/* others can read its file */
	int			 ma_persist;	/* from the command line */
};
TAILQ_HEAD(macros, macro);

/* Every string that the lexer returned lives until the parse is over. */
struct text {
	SLIST_ENTRY(text)	 te_entry;
	size_t			 te_size;
	char			 te_string[];
};
SLIST_HEAD(texts, text);

/* Where something was said, so that saying it twice can be refused. */
struct place {
	const char		*pl_file;
	int			 pl_line;
};

struct defined {
	SLIST_ENTRY(defined)	 de_entry;
	const char		*de_kind;
	const char		*de_name;
	struct place		 de_place;
};
SLIST_HEAD(defineds, defined);

enum once {
	ONCE_ARTIFACTS,
	ONCE_ASYNC,
	ONCE_CHROOT,
	ONCE_CONTAINER,
	ONCE_CONTROL,
	ONCE_ISOLATION,
	ONCE_LOG_FORMAT,
	ONCE_LOG_LEVEL,
	ONCE_NO_PROXY,
	ONCE_PLANE_TOKEN,
	ONCE_PLANE_URL,
	ONCE_POD,
	ONCE_SPOOL,
	ONCE_TOKEN,
	ONCE_UIDS,
	ONCE_USER,
	ONCE_WORKSPACE = ONCE_USER + USER_COUNT,
	ONCE_COUNT
};

/* What a profile says itself; the rest comes from the global limits. */
struct profile {
	SLIST_ENTRY(profile)	 po_entry;
	struct conf_profile	*po_conf;
	struct place		 po_root;
	struct place		 po_limits[SET_LIMIT_COUNT];
	int			 po_own[ITEM_KINDS];
	unsigned int		 po_count[ITEM_KINDS];
	const struct conf_item	*po_env[CONF_MAX_ITEMS];
	unsigned int		 po_nenv;	/* set by this block */
};
SLIST_HEAD(profiles, profile);

struct language {
	struct conf_lang	*la_conf;
	struct place		 la_places[4];
};

/* One parse.  Nothing of it but the persistent macros outlives it. */
static struct parser {
	struct config		*conf;
	struct config_errors	*errors;
	unsigned int		 nerrors;
	int			 nofiles;	/* text from memory only */
	int			 stop;

	struct files		 files;
	struct file		*file;		/* the innermost one */
	unsigned int		 nfiles;
	unsigned int		 nmacros;
	struct texts		 texts;
	size_t			 ntext;

	/* the lexer */
	char			 buf[TOKEN_MAX];
	const char		*first;		/* word of the line */
	const char		*token;		/* text of the last token */
	int			 quoted;	/* it came in quotes */
	int			 last;		/* token returned */
	int			 depth;		/* of braces */
	int			 open_line;	/* of the outermost brace */
	int			 skip;		/* the block just opened */
	int			 recover;	/* from an error in this line */
	int			 quiet;		/* the line has its error */
	int			 secret;	/* the line holds a token */
	int			 leaked;	/* by a macro others can read */

	/* the grammar */
	const char		*block;		/* "" outside of any */
	const char		*outer;
	const char		*words[WORDS_MAX];
	unsigned int		 nwords;
	struct place		 once[ONCE_COUNT];
	struct place		 set[SET_COUNT];
	struct defineds		 defined;
	struct profiles		 profiles;
	struct profile		*profile;
	struct language		 language;
	unsigned int		 nprofiles;
	unsigned int		 nlangs;
	unsigned int		 nmounts;
} ps;

static struct macros	 macros = TAILQ_HEAD_INITIALIZER(macros);

static int	 yylex(void);
static void	 yyerror(const char *);
static void	 parse_error(const char *, ...)
		    __attribute__((__format__(printf, 1, 2)));
static void	 syntax_error(void);
static const char *syntax_expected(const char *);
static const char *syntax_usage(const char *, const char *);

static const char *text_new(const char *, size_t);
static void	 text_clear(void);
static int	 macro_valid(const char *);
static struct macro *macro_byname(const char *);
static void	 macro_free(struct macro *);
static void	 macro_store(const char *, const char *, int, int);
static void	 macro_set(const char *, const char *);
static void	 macro_finish(void);

static int	 file_read(int, struct file *);
static int	 file_checktext(struct file *);
static void	 file_push(struct file *);
static void	 file_pop(void);
static int	 file_open(const char *, const char *, int, const char **);
static void	 file_include(const char *);

static int	 keyword_cmp(const void *, const void *);
static int	 keyword_ismacro(const char *);
static int	 keyword_find(const char *);
static int	 lex_peek(void);
static void	 lex_advance(void);
static int	 lex_fail(const char *, ...)
		    __attribute__((__format__(printf, 1, 2)));
static void	 lex_blanks(void);
static int	 lex_quoted(void);
static int	 lex_isword(int);
static int	 lex_word(void);
static int	 lex_macro(void);
static int	 lex_brace(void);
static int	 lex_token(void);
static void	 lex_skip(void);
static int	 lex_eof(void);
static void	 lex_note(int);

static int	 once(struct place *, const char *);
static int	 define(const char *, const char *);
static void	 block_enter(const char *);
static void	 block_leave(void);
static void	 words_add(const char *, int);
static void	 words_join(char *, size_t, unsigned int);
static void	 number_store(int, const char *, const char *, uint64_t *);
static void	 number_line(void);
static int	 execute_line(void);
static void	 set_value(int, const char *, const char *);
static void	 set_string(enum once, const char *, const char *,
		    int (*)(const char *, char *, size_t, const char **),
		    char *, size_t);
static void	 set_token(enum once, const char *, char *, char *);
static void	 set_token_file(enum once, const char *, char *, char *);
static void	 set_group(const char *, char *);
static void	 set_user(int, const char *);
static void	 set_isolation(enum conf_isolation, const char *);
static void	 set_uids(const char *, const char *);
static void	 set_workspace(const char *);
static void	 set_logformat(const char *);
static void	 set_loglevel(const char *);
static void	 set_noproxy(void);
static void	 listen_add(struct config_listen *, const char *);
static void	 listen_inet(const char *, const char *, int, int);
static mode_t	 listen_mode(const char *);
static void	 listen_unix(const char *, const char *, const char *, int);
static void	 profile_begin(const char *);
static void	 profile_clear(struct conf_profile *, enum conf_item_kind);
static struct conf_item *profile_find(enum conf_item_kind, const char *);
static void	 profile_add(enum conf_item_kind, const char *);
static void	 profile_root(const char *);
static void	 profile_path(const char *);
static int	 profile_envlisted(const struct conf_item *);
static unsigned int profile_envcount(void);
static void	 profile_setenv(const char *, const char *);
static void	 profile_env(const char *, const char *);
static void	 profile_call(enum conf_item_kind, const char *);
static void	 profile_finish(void);
static struct conf_lang *language_new(const char *);
static void	 language_begin(const char *);
static void	 language_command(const char *);
static void	 language_profile(const char *);
static void	 language_warm(const char *);
static void	 language_strict(void);
static void	 mount_add(const char *, const char *, int);
static void	 parse_begin(struct config_errors *, int);
static struct config *parse_end(unsigned int);
%}

%union {
	const char	*string;
	int		 number;
}

%token	ADD AUTH BWRAP CALL CHROOT COMMAND CONTAINER CONTROL ENVIRONMENT ERROR
%token	EXECUTE FILENAME FORMAT FRONTEND GROUP HTTP ID INCLUDE INSECURE
%token	ISOLATION KEEP LANGUAGE LEVEL LIMITS LISTEN LOG MODE MOUNT NAME
%token	NATIVE NO NONE ON PATH PLANE POD POOL PORT PROCESSES PROFILE PROXY
%token	READONLY REMOVE REPORTER ROOT RUN SANDBOX SOCKET SPAWNER SPOOL
%token	STRICT SYSTEM TO TOKEN UID URL USER WARM WORKSPACE
%token	<string>	STRING
%type	<string>	blockname optgroup optkeep optmode optport optstring
%type	<number>	optauth optreadonly role

%%

/*
 * A semantic error is reported and the parse goes on, so that one run
 * shows all of them; only a wrong syntax costs the rest of its line.
 *
 * The actions of include and of the start of a block run before the next
 * token is read: there is nothing else that those states could do.
 */
grammar		: /* empty */
		| grammar '\n'
		| grammar include
		| grammar statement '\n'
		| grammar error '\n'		{ yyerrok; }
		;

include		: INCLUDE STRING '\n'		{ file_include($2); }
		;

statement	: macro
		| listen
		| proxy
		| token
		| general
		| log
		| block
		| plane
		| profile
		| language
		| mount
		;

macro		: STRING '=' STRING		{ macro_set($1, $3); }
		;

listen		: LISTEN ON STRING optport optauth {
			listen_inet($3, $4, $5, 0);
		}
		| LISTEN ON SOCKET STRING optmode optgroup optauth {
			listen_unix($4, $5, $6, $7);
		}
		;

proxy		: PROXY ON STRING optport {
			listen_inet($3, $4, AUTH_TOKEN, 1);
		}
		| NO PROXY			{ set_noproxy(); }
		;

token		: TOKEN STRING {
			set_token(ONCE_TOKEN, $2, ps.conf->cf_token,
			    ps.conf->cf_token_file);
		}
		| TOKEN FILENAME STRING {
			set_token_file(ONCE_TOKEN, $3, ps.conf->cf_token,
			    ps.conf->cf_token_file);
		}
		;

general		: WORKSPACE STRING		{ set_workspace($2); }
		| ISOLATION NATIVE {
			set_isolation(ISOLATION_NATIVE, NULL);
		}
		| ISOLATION BWRAP optstring {
			set_isolation(ISOLATION_BWRAP, $3);
		}
		| SANDBOX UID STRING TO STRING	{ set_uids($3, $5); }
		| USER role STRING {
			set_user($2, $3);
		}
		| CONTROL SOCKET STRING optgroup {
			set_string(ONCE_CONTROL, "control socket", $3,
			    config_value_path, ps.conf->cf_control,
			    sizeof(ps.conf->cf_control));
			set_group($4, ps.conf->cf_control_group);
		}
		| CHROOT STRING {
			set_string(ONCE_CHROOT, "chroot", $2,
			    config_value_path, ps.conf->cf_chroot,
			    sizeof(ps.conf->cf_chroot));
		}
		| SPOOL STRING optkeep {
			set_string(ONCE_SPOOL, "spool", $2,
			    config_value_path, ps.conf->cf_spool,
			    sizeof(ps.conf->cf_spool));
			if ($3 != NULL)
				set_value(SET_SPOOL_KEEP, "spool keep", $3);
		}
		| POOL STRING {
			set_value(SET_POOL_SANDBOXES, "pool", $2);
		}
		;

log		: LOG FORMAT STRING		{ set_logformat($3); }
		| LOG LEVEL STRING		{ set_loglevel($3); }
		;

role		: FRONTEND			{ $$ = USER_FRONTEND; }
		| SPAWNER			{ $$ = USER_SPAWNER; }
		| REPORTER			{ $$ = USER_REPORTER; }
		;

optport		: /* empty */			{ $$ = NULL; }
		| PORT STRING			{ $$ = $2; }
		;

optauth		: /* empty */			{ $$ = AUTH_TOKEN; }
		| AUTH NONE			{ $$ = AUTH_NONE; }
		| AUTH NONE INSECURE		{ $$ = AUTH_NONE_INSECURE; }
		;

optmode		: /* empty */			{ $$ = NULL; }
		| MODE STRING			{ $$ = $2; }
		;

optgroup	: /* empty */			{ $$ = NULL; }
		| GROUP STRING			{ $$ = $2; }
		;

optkeep		: /* empty */			{ $$ = NULL; }
		| KEEP STRING			{ $$ = $2; }
		;

optstring	: /* empty */			{ $$ = NULL; }
		| STRING			{ $$ = $1; }
		;

optreadonly	: /* empty */			{ $$ = 0; }
		| READONLY			{ $$ = 1; }
		;

block		: blockname '{'			{ block_enter($1); }
		  numbers '}'			{ block_leave(); }
		;

blockname	: HTTP				{ $$ = "http"; }
		| LIMITS			{ $$ = "limits"; }
		| RUN				{ $$ = "run"; }
		| PROCESSES			{ $$ = "processes"; }
		| EXECUTE			{ $$ = "execute"; }
		| CALL				{ $$ = "call"; }
		;

numbers		: /* empty */
		| numbers '\n'
		| numbers words '\n'		{ number_line(); }
		| numbers error '\n'		{ yyerrok; }
		;

words		: STRING			{ words_add($1, 1); }
		| words STRING			{ words_add($2, 0); }
		;

plane		: CONTROL PLANE '{' {
			block_enter("control plane");
		}
		  planelines '}'		{ block_leave(); }
		;

planelines	: /* empty */
		| planelines '\n'
		| planelines planeline '\n'
		| planelines error '\n'		{ yyerrok; }
		;

planeline	: URL STRING {
			set_string(ONCE_PLANE_URL, "url", $2,
			    config_value_url, ps.conf->cf_cp_url,
			    sizeof(ps.conf->cf_cp_url));
		}
		| TOKEN STRING {
			set_token(ONCE_PLANE_TOKEN, $2, ps.conf->cf_cp_token,
			    ps.conf->cf_cp_token_file);
		}
		| TOKEN FILENAME STRING {
			set_token_file(ONCE_PLANE_TOKEN, $3,
			    ps.conf->cf_cp_token, ps.conf->cf_cp_token_file);
		}
		| CONTAINER ID STRING {
			set_string(ONCE_CONTAINER, "container id", $3,
			    config_value_text, ps.conf->cf_container_id,
			    sizeof(ps.conf->cf_container_id));
		}
		| POD NAME STRING {
			set_string(ONCE_POD, "pod name", $3,
			    config_value_text, ps.conf->cf_pod_name,
			    sizeof(ps.conf->cf_pod_name));
		}
		| words				{ number_line(); }
		;

profile		: PROFILE STRING '{'		{ profile_begin($2); }
		  profilelines '}'		{ block_leave(); }
		;

profilelines	: /* empty */
		| profilelines '\n'
		| profilelines profileline '\n'
		| profilelines error '\n'	{ yyerrok; }
		;

profileline	: ROOT STRING			{ profile_root($2); }
		| READONLY STRING		{ profile_path($2); }
		| ENVIRONMENT STRING STRING	{ profile_env($2, $3); }
		| SYSTEM CALL ADD STRING {
			profile_call(ITEM_CALL_ADD, $4);
		}
		| SYSTEM CALL REMOVE STRING {
			profile_call(ITEM_CALL_REMOVE, $4);
		}
		| LIMITS '{'			{ block_enter("limits"); }
		  numbers '}'			{ block_leave(); }
		;

language	: LANGUAGE STRING '{'		{ language_begin($2); }
		  languagelines '}'		{ block_leave(); }
		;

languagelines	: /* empty */
		| languagelines '\n'
		| languagelines languageline '\n'
		| languagelines error '\n'	{ yyerrok; }
		;

languageline	: COMMAND STRING		{ language_command($2); }
		| PROFILE STRING		{ language_profile($2); }
		| WARM STRING			{ language_warm($2); }
		| STRICT			{ language_strict(); }
		;

mount		: MOUNT STRING PATH STRING optreadonly {
			mount_add($2, $4, $5);
		}
		;

%%

/* This has to be sorted always. */
static const struct keyword {
	const char	*name;
	int		 token;
} keywords[] = {
	{ "add",		ADD },
	{ "auth",		AUTH },
	{ "bwrap",		BWRAP },
	{ "call",		CALL },
	{ "chroot",		CHROOT },
	{ "command",		COMMAND },
	{ "container",		CONTAINER },
	{ "control",		CONTROL },
	{ "environment",	ENVIRONMENT },
	{ "execute",		EXECUTE },
	{ "file",		FILENAME },
	{ "format",		FORMAT },
	{ "frontend",		FRONTEND },
	{ "group",		GROUP },
	{ "http",		HTTP },
	{ "id",			ID },
	{ "include",		INCLUDE },
	{ "insecure",		INSECURE },
	{ "isolation",		ISOLATION },
	{ "keep",		KEEP },
	{ "language",		LANGUAGE },
	{ "level",		LEVEL },
	{ "limits",		LIMITS },
	{ "listen",		LISTEN },
	{ "log",		LOG },
	{ "mode",		MODE },
	{ "mount",		MOUNT },
	{ "name",		NAME },
	{ "native",		NATIVE },
	{ "no",			NO },
	{ "none",		NONE },
	{ "on",			ON },
	{ "path",		PATH },
	{ "plane",		PLANE },
	{ "pod",		POD },
	{ "pool",		POOL },
	{ "port",		PORT },
	{ "processes",		PROCESSES },
	{ "profile",		PROFILE },
	{ "proxy",		PROXY },
	{ "read-only",		READONLY },
	{ "remove",		REMOVE },
	{ "reporter",		REPORTER },
	{ "root",		ROOT },
	{ "run",		RUN },
	{ "sandbox",		SANDBOX },
	{ "socket",		SOCKET },
	{ "spawner",		SPAWNER },
	{ "spool",		SPOOL },
	{ "strict",		STRICT },
	{ "system",		SYSTEM },
	{ "to",			TO },
	{ "token",		TOKEN },
	{ "uid",		UID },
	{ "url",		URL },
	{ "user",		USER },
	{ "warm",		WARM },
	{ "workspace",		WORKSPACE },
};

/* How each line that begins with a keyword goes on, for its errors. */
static const struct usage {
	const char	*block;
	const char	*first;
	const char	*text;
} usages[] = {
	{ "", "call",		"call {" },
	{ "", "chroot",		"chroot \"/path\"" },
	{ "", "control",	"control socket \"/path\" [group \"name\"], or "
				"control plane {" },
	{ "", "execute",	"execute {" },
	{ "", "http",		"http {" },
	{ "", "include",	"include \"/path\"" },
	{ "", "isolation",	"isolation native, or "
				"isolation bwrap [\"/path\"]" },
	{ "", "language",	"language \"name\" {" },
	{ "", "limits",		"limits {" },
	{ "", "listen",		"listen on address [port number] "
				"[auth none [insecure]], or "
				"listen on socket \"/path\" [mode 0660] "
				"[group \"name\"] [auth none]" },
	{ "", "log",		"log format auto | json | text, or "
				"log level debug | info | warning | error" },
	{ "", "mount",		"mount \"name\" path \"/path\" [read-only]" },
	{ "", "no",		"no proxy" },
	{ "", "pool",		"pool number" },
	{ "", "processes",	"processes {" },
	{ "", "profile",	"profile \"name\" {" },
	{ "", "proxy",		"proxy on address [port number]" },
	{ "", "run",		"run {" },
	{ "", "sandbox",	"sandbox uid number to number" },
	{ "", "spool",		"spool \"/path\" [keep time]" },
	{ "", "token",		"token \"secret\", or token file \"/path\"" },
	{ "", "user",		"user frontend | spawner | reporter \"name\"" },
	{ "", "workspace",	"workspace \"/path\"" },
	{ "profile", "root",	"root \"/path\"" },
	{ "profile", "read-only", "read-only \"/path\"" },
	{ "profile", "environment", "environment \"name\" \"value\"" },
	{ "profile", "system",	"system call add | remove \"name\"" },
	{ "profile", "limits",	"limits {" },
	{ "language", "command", "command \"/path\"" },
	{ "language", "profile", "profile \"name\"" },
	{ "language", "strict",	"strict" },
	{ "language", "warm",	"warm number" },
	{ "control plane", "container", "container id \"id\"" },
	{ "control plane", "pod", "pod name \"name\"" },
	{ "control plane", "token", "token \"secret\", or "
				"token file \"/path\"" },
	{ "control plane", "url", "url \"http://host/path\"" },
};

/* "file:line: text", as it can be found again. */
static void
parse_error(const char *fmt, ...)
{
	va_list	 ap;
	char	 text[2048];

	if (ps.stop)
		return;
	va_start(ap, fmt);
	/* A text that does not fit is cut. */
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	config_error(ps.errors, "%s:%d: %s", ps.file->fi_name,
	    ps.file->fi_line, text);
	/* What follows in this line would only repeat it. */
	ps.quiet = 1;
	if (++ps.nerrors >= ERRORS_MAX) {
		config_error(ps.errors, "%s: too many errors, stopping",
		    ps.file->fi_name);
		ps.stop = 1;
	}
}

static void
yyerror(const char *msg)
{
	if (strcmp(msg, "syntax error") != 0)
		parse_error("%s", msg);
	else if (!ps.quiet)
		syntax_error();
	ps.recover = 1;
	if (yychar == '{')
		ps.skip = 1;
}

static void
syntax_error(void)
{
	const char	*usage, *first = ps.first != NULL ? ps.first : "";
	char		 near[80];

	/* What is in quotes could be a token, in the wrong place or not. */
	if (ps.last == '\n' || ps.last == 0)
		(void)strlcpy(near, "the end of the line", sizeof(near));
	else if (ps.last == STRING && (ps.quoted || ps.secret))
		(void)strlcpy(near, "a string", sizeof(near));
	else
		(void)snprintf(near, sizeof(near), "\"%.64s\"", ps.token);

	if ((usage = syntax_usage(ps.block, first)) != NULL)
		parse_error("syntax error at %s: expected %s", near, usage);
	else if (isalpha((unsigned char)first[0]) && ps.block[0] == '\0')
		parse_error("unknown statement \"%.64s\": expected %s", first,
		    syntax_expected(""));
	else if (isalpha((unsigned char)first[0]) &&
	    setting_byname(ps.block, first) == -1)
		parse_error("unknown setting \"%.64s\" in %s: expected %s",
		    first, ps.block, syntax_expected(ps.block));
	else
		parse_error("syntax error at %s: expected %s", near,
		    syntax_expected(ps.block));
}

static const char *
syntax_usage(const char *block, const char *first)
{
	size_t	 i;

	for (i = 0; i < nitems(usages); i++) {
		if (strcmp(usages[i].block, block) == 0 &&
		    strcmp(usages[i].first, first) == 0)
			return (usages[i].text);
	}
	return (NULL);
}

/* What a line can begin with, here. */
static const char *
syntax_expected(const char *block)
{
	static char	 list[512];
	int		 i;

	list[0] = '\0';
	if (block[0] == '\0')
		return ("call, chroot, control plane, control socket, "
		    "execute, http, include, isolation, language, limits, listen, log, "
		    "mount, no proxy, pool, processes, profile, proxy, run, "
		    "sandbox uid, spool, token, user, workspace or "
		    "name = \"value\"");
	if (strcmp(block, "profile") == 0)
		return ("root, read-only, environment, system call, limits");
	if (strcmp(block, "language") == 0)
		return ("command, profile, warm, strict");
	if (strcmp(block, "control plane") == 0)
		(void)strlcpy(list, "url, token, container id, pod name",
		    sizeof(list));
	else if (strcmp(block, "execute") == 0)
		(void)strlcpy(list, "async, artifacts", sizeof(list));
	for (i = 0; i < SET_COUNT; i++) {
		if (strcmp(settings[i].sd_block, block) != 0)
			continue;
		if (list[0] != '\0')
			(void)strlcat(list, ", ", sizeof(list));
		/* The tests see to it that all fit. */
		(void)strlcat(list, settings[i].sd_name, sizeof(list));
	}
	return (list);
}

static const char *
text_new(const char *string, size_t len)
{
	struct text	*te;
	size_t		 size = sizeof(*te) + len + 1;

	if ((te = malloc(size)) == NULL)
		fatal("%s", __func__);
	te->te_size = size;
	memcpy(te->te_string, string, len);
	te->te_string[len] = '\0';
	SLIST_INSERT_HEAD(&ps.texts, te, te_entry);
	ps.ntext += size;
	if (ps.ntext > TEXT_MAX) {
		parse_error("the configuration is too large");
		ps.stop = 1;
	}
	return (te->te_string);
}

static void
text_clear(void)
{
	struct text	*te;

	while ((te = SLIST_FIRST(&ps.texts)) != NULL) {
		SLIST_REMOVE_HEAD(&ps.texts, te_entry);
		freezero(te, te->te_size);
	}
}

static int
macro_valid(const char *name)
{
	const char	*p;

	for (p = name; isalnum((unsigned char)*p) || *p == '_'; p++)
		;
	return (p != name && *p == '\0' && p - name < CONF_NAMELEN &&
	    !isdigit((unsigned char)name[0]));
}

static struct macro *
macro_byname(const char *name)
{
	struct macro	*ma;

	TAILQ_FOREACH(ma, &macros, ma_entry) {
		if (strcmp(ma->ma_name, name) == 0)
			return (ma);
	}
	return (NULL);
}

static void
macro_free(struct macro *ma)
{
	TAILQ_REMOVE(&macros, ma, ma_entry);
	free(ma->ma_name);
	freezero(ma->ma_value, strlen(ma->ma_value));
	free(ma);
}

static void
macro_store(const char *name, const char *value, int public, int persist)
{
	struct macro	*ma;
	int		 used = 0;

	if ((ma = macro_byname(name)) != NULL) {
		used = ma->ma_used;
		macro_free(ma);
	}
	if ((ma = calloc(1, sizeof(*ma))) == NULL ||
	    (ma->ma_name = strdup(name)) == NULL ||
	    (ma->ma_value = strdup(value)) == NULL)
		fatal("%s", __func__);
	ma->ma_used = used;
	ma->ma_public = public;
	ma->ma_persist = persist;
	TAILQ_INSERT_TAIL(&macros, ma, ma_entry);
}

/* name = "value" in a file. */
static void
macro_set(const char *name, const char *value)
{
	const struct macro	*ma;

	if (!macro_valid(name)) {
		parse_error("macro \"%.64s\": a name must be letters, digits "
		    "and _, at most %d, not beginning with a digit", name,
		    CONF_NAMELEN - 1);
		return;
	}
	if ((ma = macro_byname(name)) != NULL && ma->ma_persist)
		return;
	if (ma == NULL && ++ps.nmacros > MACROS_MAX) {
		parse_error("macro \"%s\": must be one of at most %d", name,
		    MACROS_MAX);
		return;
	}
	macro_store(name, value, ps.file->fi_public, 0);
}

/* "name=value" from the command line: kept, and stronger than a file. */
int
config_macro(const char *arg)
{
	const char	*value;
	char		 name[CONF_NAMELEN];
	size_t		 len;

	if ((value = strchr(arg, '=')) == NULL)
		return (-1);
	len = (size_t)(value++ - arg);
	if (len >= sizeof(name) || strlen(value) >= TOKEN_MAX)
		return (-1);
	memcpy(name, arg, len);
	name[len] = '\0';
	if (!macro_valid(name))
		return (-1);
	for (arg = value; *arg != '\0'; arg++) {
		if (iscntrl((unsigned char)*arg) && *arg != '\t')
			return (-1);
	}
	macro_store(name, value, 0, 1);
	return (0);
}

static void
macro_finish(void)
{
	struct macro	*ma, *next;

	TAILQ_FOREACH_SAFE(ma, &macros, ma_entry, next) {
		if (!ma->ma_used)
			log_debug("macro \"%s\" is not used", ma->ma_name);
		ma->ma_used = 0;
		if (!ma->ma_persist)
			macro_free(ma);
	}
}

/* The whole of it, so that no copy is left in the buffers of stdio. */
static int
file_read(int fd, struct file *fi)
{
	ssize_t	 n;

	fi->fi_size = CONFIG_MAXSIZE + 1;
	if ((fi->fi_buf = malloc(fi->fi_size)) == NULL)
		fatal("%s", __func__);
	while (fi->fi_len < fi->fi_size) {
		n = read(fd, fi->fi_buf + fi->fi_len,
		    fi->fi_size - fi->fi_len);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return (-1);
		if (n == 0)
			return (0);
		fi->fi_len += (size_t)n;
	}
	errno = EFBIG;
	return (-1);
}

/* Bytes that no editor shows make a file mean what it does not say. */
static int
file_checktext(struct file *fi)
{
	const char	*what = NULL;
	size_t		 i;

	if (fi->fi_len >= 3 && memcmp(fi->fi_buf, "\xef\xbb\xbf", 3) == 0)
		what = "a byte order mark: must be text without one";
	for (i = 0; what == NULL && i < fi->fi_len; i++) {
		if (fi->fi_buf[i] == '\0')
			what = "a NUL byte: must be text";
		else if (fi->fi_buf[i] == '\r')
			what = "a carriage return: lines must end with a "
			    "newline only";
		else if (fi->fi_buf[i] == '\n')
			fi->fi_line++;
	}
	if (what != NULL)
		config_error(ps.errors, "%s:%d: %s", fi->fi_name,
		    fi->fi_line, what);
	fi->fi_line = 1;
	return (what == NULL ? 0 : -1);
}

static void
file_push(struct file *fi)
{
	fi->fi_line = 1;
	fi->fi_depth = ps.depth;
	TAILQ_INSERT_HEAD(&ps.files, fi, fi_entry);
	ps.file = fi;
	/* Without its text it is an empty file, whose errors have a name. */
	if (file_checktext(fi) == -1)
		fi->fi_len = 0;
}

static void
file_pop(void)
{
	struct file	*fi = ps.file;

	TAILQ_REMOVE(&ps.files, fi, fi_entry);
	ps.file = TAILQ_FIRST(&ps.files);
	if (fi->fi_size != 0)
		freezero(fi->fi_buf, fi->fi_size);
	free(fi);
}

/* Opens, checks and reads; the lexer goes on in what was read. */
static int
file_open(const char *path, const char *name, int std, const char **errstr)
{
	struct stat	 st;
	struct file	*fi, *up;
	int		 fd, ret = -1;

	if (std) {
		fd = STDIN_FILENO;
		if (fstat(fd, &st) == -1) {
			*errstr = strerror(errno);
			return (-1);
		}
		if (config_file_check(&st, 0, errstr) == -1)
			return (-1);
	} else if ((fd = config_open(path, 0, &st, errstr)) == -1)
		return (-1);

	if ((fi = calloc(1, sizeof(*fi))) == NULL)
		fatal("%s", __func__);
	fi->fi_name = text_new(name, strlen(name));
	fi->fi_public = config_is_public(&st);
	fi->fi_dev = st.st_dev;
	fi->fi_ino = st.st_ino;
	TAILQ_FOREACH(up, &ps.files, fi_entry) {
		if (S_ISREG(st.st_mode) && up->fi_dev == st.st_dev &&
		    up->fi_ino == st.st_ino) {
			*errstr = "includes itself";
			goto done;
		}
	}
	if (file_read(fd, fi) == -1) {
		*errstr = errno == EFBIG ?
		    "must be at most 1M large" : strerror(errno);
		goto done;
	}
	file_push(fi);
	ret = 0;
 done:
	if (!std)
		close(fd);
	if (ret == -1) {
		freezero(fi->fi_buf, fi->fi_size);
		free(fi);
	}
	return (ret);
}

static void
file_include(const char *name)
{
	const struct file	*fi;
	const char		*errstr, *slash;
	char			 path[PATH_MAX];
	int			 depth = 0, n;

	if (ps.nofiles) {
		parse_error("include \"%s\": is not possible here", name);
		return;
	}
	TAILQ_FOREACH(fi, &ps.files, fi_entry)
		depth++;
	if (depth >= DEPTH_MAX || ++ps.nfiles > FILES_MAX) {
		parse_error("include \"%s\": must be at most %d files deep "
		    "and %d in all", name, DEPTH_MAX, FILES_MAX);
		return;
	}
	/* What is relative is so to the file that says it. */
	slash = strrchr(ps.file->fi_name, '/');
	if (name[0] == '/' || slash == NULL)
		n = snprintf(path, sizeof(path), "%s", name);
	else
		n = snprintf(path, sizeof(path), "%.*s%s",
		    (int)(slash + 1 - ps.file->fi_name), ps.file->fi_name,
		    name);
	if (n < 0 || (size_t)n >= sizeof(path)) {
		parse_error("include: must have at most %zu characters",
		    sizeof(path) - 1);
		return;
	}
	if (file_open(path, path, 0, &errstr) == -1)
		parse_error("include \"%s\": %s", path, errstr);
}

static int
keyword_cmp(const void *key, const void *entry)
{
	return (strcmp(key, ((const struct keyword *)entry)->name));
}

/*
 * Whether a word that is about to be returned names a macro.  What begins
 * a statement cannot: token = "x" would look like one and set nothing.
 */
static int
keyword_ismacro(const char *word)
{
	if (ps.last != '\n' || ps.block[0] != '\0' ||
	    syntax_usage("", word) != NULL)
		return (0);
	lex_blanks();
	return (lex_peek() == '=');
}

/* In a block of numbers every word is a part of a name. */
static int
keyword_find(const char *word)
{
	const struct keyword	*kw;

	if (keyword_ismacro(word))
		return (STRING);
	if (ps.block[0] != '\0' && strcmp(ps.block, "profile") != 0 &&
	    strcmp(ps.block, "language") != 0 &&
	    strcmp(ps.block, "control plane") != 0)
		return (STRING);
	kw = bsearch(word, keywords, nitems(keywords), sizeof(keywords[0]),
	    keyword_cmp);
	return (kw == NULL ? STRING : kw->token);
}

static int
lex_peek(void)
{
	const struct file	*fi = ps.file;

	if (fi->fi_pos >= fi->fi_len)
		return (EOF);
	return ((unsigned char)fi->fi_buf[fi->fi_pos]);
}

static void
lex_advance(void)
{
	if (ps.file->fi_pos < ps.file->fi_len)
		ps.file->fi_pos++;
}

/* Reports what no token can be made of and gives up the line. */
static int
lex_fail(const char *fmt, ...)
{
	va_list	 ap;
	char	 text[256];
	int	 c;

	if (!ps.quiet) {
		va_start(ap, fmt);
		(void)vsnprintf(text, sizeof(text), fmt, ap);
		va_end(ap);
		parse_error("%s", text);
	}
	while ((c = lex_peek()) != '\n' && c != EOF)
		lex_advance();
	ps.token = "";
	return (ERROR);
}

/* Comments and the end of a line after a backslash are blank, too. */
static void
lex_blanks(void)
{
	const struct file	*fi = ps.file;
	int			 c;

	for (;;) {
		c = lex_peek();
		if (c == '#') {
			while (c != '\n' && c != EOF) {
				lex_advance();
				c = lex_peek();
			}
			return;
		} else if (c == '\\' && fi->fi_pos + 1 < fi->fi_len &&
		    fi->fi_buf[fi->fi_pos + 1] == '\n') {
			lex_advance();
			ps.file->fi_line++;
		} else if (c != ' ' && c != '\t')
			return;
		lex_advance();
	}
}

static int
lex_quoted(void)
{
	size_t	 len = 0;
	int	 c;

	lex_advance();
	while ((c = lex_peek()) != '"') {
		if (c == EOF || c == '\n')
			return (lex_fail("a string must end in its line"));
		if (iscntrl(c) && c != '\t')
			return (lex_fail("control character 0x%02x in a "
			    "string", (unsigned int)c));
		lex_advance();
		if (c == '\\') {
			c = lex_peek();
			if (c != '"' && c != '\\')
				return (lex_fail("a backslash in a string must "
				    "be followed by \" or \\"));
			lex_advance();
		}
		if (len >= sizeof(ps.buf) - 1)
			return (lex_fail("a string must have at most %zu "
			    "characters", sizeof(ps.buf) - 1));
		ps.buf[len++] = (char)c;
	}
	lex_advance();
	ps.quoted = 1;
	yylval.string = ps.token = text_new(ps.buf, len);
	return (STRING);
}

static int
lex_isword(int c)
{
	return (c > ' ' && c < 0x7f && strchr("\"$',={}\\", c) == NULL);
}

static int
lex_word(void)
{
	size_t	 len = 0;
	int	 c;

	while ((c = lex_peek()) != EOF && lex_isword(c)) {
		if (len >= sizeof(ps.buf) - 1)
			return (lex_fail("a word must have at most %zu "
			    "characters", sizeof(ps.buf) - 1));
		ps.buf[len++] = (char)c;
		lex_advance();
	}
	yylval.string = ps.token = text_new(ps.buf, len);
	return (keyword_find(ps.token));
}

/*
 * $name stands for one string.  It is not read again, so that a value
 * cannot become anything else.
 */
static int
lex_macro(void)
{
	struct macro	*ma;
	char		 name[CONF_NAMELEN];
	size_t		 len = 0;
	int		 c;

	lex_advance();
	while (isalnum(c = lex_peek()) || c == '_') {
		if (len >= sizeof(name) - 1)
			return (lex_fail("a macro's name must have at most "
			    "%zu characters", sizeof(name) - 1));
		name[len++] = (char)c;
		lex_advance();
	}
	name[len] = '\0';
	if (len == 0)
		return (lex_fail("$ must be followed by a macro's name"));
	if ((ma = macro_byname(name)) == NULL)
		return (lex_fail("macro \"%s\" is not defined: must be set "
		    "before with %s = \"value\"", name, name));
	ma->ma_used = 1;
	if (ma->ma_public)
		ps.leaked = 1;
	ps.quoted = 1;
	yylval.string = ps.token = text_new(ma->ma_value,
	    strlen(ma->ma_value));
	return (STRING);
}

/* A closing brace ends the line before it, so { a block } can be one. */
static int
lex_brace(void)
{
	lex_blanks();
	if (lex_peek() != '}')
		return (0);
	ps.token = "";
	return (1);
}

/* A newline still belongs to the line that it ends. */
static int
lex_token(void)
{
	static const char	*punctuation = "{}=";
	struct file		*fi = ps.file;
	int			 c;

	if (fi->fi_newline) {
		fi->fi_newline = 0;
		fi->fi_line++;
	}
	ps.quoted = 0;
	lex_blanks();
	switch (c = lex_peek()) {
	case EOF:
		return (LEX_EOF);
	case '\n':
		fi->fi_newline = 1;
		ps.token = "";
		lex_advance();
		return (c);
	case '"':
		return (lex_quoted());
	case '$':
		return (lex_macro());
	case '{':
	case '}':
	case '=':
		lex_advance();
		ps.token = text_new(strchr(punctuation, c), 1);
		return (c);
	}
	if (lex_isword(c))
		return (lex_word());
	if (ps.secret)
		return (lex_fail("a token must be in quotes"));
	if (c < ' ' || c >= 0x7f)
		return (lex_fail("character 0x%02x outside of a string",
		    (unsigned int)c));
	return (lex_fail("unexpected \"%c\": must be in a string", c));
}

/* Over the rest of a block that belongs to a line with an error. */
static void
lex_skip(void)
{
	int	 depth = 1, t;

	ps.skip = 0;
	while (depth > 0 && !ps.stop) {
		ps.quiet = 1;
		if ((t = lex_token()) == LEX_EOF)
			break;
		if (t == '{')
			depth++;
		else if (t == '}')
			depth--;
	}
	if (ps.depth > 0)
		ps.depth--;
}

/* Every file ends with whole lines and whole blocks. */
static int
lex_eof(void)
{
	if (ps.last != '\n') {
		ps.token = "";
		return ('\n');
	}
	if (ps.depth > ps.file->fi_depth) {
		if (!ps.file->fi_unclosed++) {
			ps.file->fi_line = ps.open_line;
			parse_error("the block that begins here has no \"}\"");
		}
		ps.token = "}";
		return ('}');
	}
	if (TAILQ_NEXT(ps.file, fi_entry) == NULL)
		return (0);
	file_pop();
	return (LEX_AGAIN);
}

/* Keeps what errors have to know about the line. */
static void
lex_note(int t)
{
	if (ps.first == NULL || ps.last == '{')
		ps.first = ps.quoted ? "" : ps.token;
	switch (t) {
	case '{':
		if (ps.depth++ == 0)
			ps.open_line = ps.file->fi_line;
		ps.skip = ps.recover;
		break;
	case '}':
		if (ps.depth > 0)
			ps.depth--;
		break;
	case TOKEN:
		ps.secret = 1;
		break;
	}
	ps.last = t;
}

static int
yylex(void)
{
	int	 t;

	if (ps.skip)
		lex_skip();
	if (ps.last == '\n') {
		ps.quiet = ps.recover = ps.secret = ps.leaked = 0;
		ps.first = NULL;
	}
	if (ps.last != '\n' && ps.last != '{' && lex_brace()) {
		lex_note('\n');
		return ('\n');
	}
	do {
		if (ps.stop)
			return (0);
		if ((t = lex_token()) == LEX_EOF)
			t = lex_eof();
	} while (t == LEX_AGAIN);
	lex_note(t);
	return (t);
}

/* Whether something is said for the first time; reports it if not. */
static int
once(struct place *pl, const char *what)
{
	if (pl->pl_file != NULL) {
		parse_error("%s: already set at %s:%d", what, pl->pl_file,
		    pl->pl_line);
		return (0);
	}
	pl->pl_file = ps.file->fi_name;
	pl->pl_line = ps.file->fi_line;
	return (1);
}

static int
define(const char *kind, const char *name)
{
	struct defined	*de;
	char		 what[CONF_NAMELEN + 32];

	(void)snprintf(what, sizeof(what), "%s \"%s\"", kind, name);
	SLIST_FOREACH(de, &ps.defined, de_entry) {
		if (strcmp(de->de_kind, kind) == 0 &&
		    strcmp(de->de_name, name) == 0)
			return (once(&de->de_place, what));
	}
	if ((de = calloc(1, sizeof(*de))) == NULL)
		fatal("%s", __func__);
	de->de_kind = kind;
	de->de_name = name;
	SLIST_INSERT_HEAD(&ps.defined, de, de_entry);
	return (once(&de->de_place, what));
}

static void
block_enter(const char *name)
{
	ps.outer = ps.block;
	ps.block = name;
}

static void
block_leave(void)
{
	ps.block = ps.outer;
	ps.outer = "";
}

static void
words_add(const char *word, int first)
{
	if (first)
		ps.nwords = 0;
	if (ps.nwords < WORDS_MAX)
		ps.words[ps.nwords] = word;
	ps.nwords++;
}

/* The first words of a line as one text, which is cut when too long. */
static void
words_join(char *text, size_t size, unsigned int count)
{
	unsigned int	 i;

	text[0] = '\0';
	for (i = 0; i < count; i++) {
		if (i != 0)
			(void)strlcat(text, " ", size);
		(void)strlcat(text, ps.words[i], size);
	}
}

static void
number_store(int set, const char *what, const char *text, uint64_t *value)
{
	static const char * const	 units[] = {
		[UNIT_COUNT] = "a number",
		[UNIT_BYTES] = "a size (K, M, G, T)",
		[UNIT_MSEC] = "a time (ms, s, m, h, d)"
	};
	const struct setting_def	*sd = &settings[set];
	char				 min[SETTING_TEXTLEN];
	char				 max[SETTING_TEXTLEN];

	if (setting_parse((enum setting)set, text, value) == 0)
		return;
	setting_format((enum setting)set, sd->sd_min, min);
	setting_format((enum setting)set, sd->sd_max, max);
	if (errno == ERANGE)
		parse_error("%s %.64s: must be between %s and %s", what, text,
		    min, max);
	else
		parse_error("%s %.64s: must be %s between %s and %s", what,
		    text, units[sd->sd_unit], min, max);
}

/* The lines of execute that are not numbers; 0 if it is none of them. */
static int
execute_line(void)
{
	const char	*what;

	if (strcmp(ps.words[0], "async") == 0) {
		if (ps.nwords != 1)
			parse_error("async: must stand alone");
		else if (once(&ps.once[ONCE_ASYNC], "async"))
			ps.conf->cf_flags |= CONF_EXECUTE_ASYNC;
		return (1);
	}
	if (strcmp(ps.words[0], "artifacts") != 0)
		return (0);
	what = ps.nwords == 2 ? ps.words[1] : "";
	if (strcmp(what, "all") != 0 && strcmp(what, "changed") != 0)
		parse_error("artifacts \"%.64s\": must be all or changed",
		    what);
	else if (once(&ps.once[ONCE_ARTIFACTS], "artifacts") &&
	    strcmp(what, "changed") == 0)
		ps.conf->cf_flags |= CONF_ARTIFACTS_CHANGED;
	return (1);
}

/* A name of some words and a value. */
static void
number_line(void)
{
	struct place	*pl;
	uint64_t	*value;
	char		 name[128];
	int		 set = -1;

	if (strcmp(ps.block, "execute") == 0 && execute_line())
		return;
	if (ps.nwords <= WORDS_MAX) {
		words_join(name, sizeof(name), ps.nwords);
		if ((set = setting_byname(ps.block, name)) != -1) {
			parse_error("%s: has no value", name);
			return;
		}
		/* A name that nobody knows is shown without its value. */
		if (ps.nwords > 1)
			words_join(name, sizeof(name), ps.nwords - 1);
		set = setting_byname(ps.block, name);
	} else
		words_join(name, sizeof(name), WORDS_MAX);
	if (set == -1) {
		parse_error("unknown setting \"%s\" in %s: expected %s", name,
		    ps.block, syntax_expected(ps.block));
		return;
	}
	pl = &ps.set[set];
	value = &ps.conf->cf_values[set];
	if (strcmp(ps.outer, "profile") == 0) {
		pl = &ps.profile->po_limits[set - SET_LIMIT_FIRST];
		value = &ps.profile->po_conf->pr_limits[set - SET_LIMIT_FIRST];
	}
	if (once(pl, name))
		number_store(set, name, ps.words[ps.nwords - 1], value);
}

static void
set_value(int set, const char *what, const char *text)
{
	if (once(&ps.set[set], what))
		number_store(set, what, text, &ps.conf->cf_values[set]);
}

static void
set_string(enum once which, const char *what, const char *text,
    int (*check)(const char *, char *, size_t, const char **), char *out,
    size_t size)
{
	const char	*errstr;
	char		 copy[CONF_PATHLEN];

	if (!once(&ps.once[which], what))
		return;
	/* Aside, because a default must outlive a bad value. */
	if (check(text, copy, size < sizeof(copy) ? size : sizeof(copy),
	    &errstr) == -1)
		parse_error("%s \"%.128s\": %s", what, text, errstr);
	else
		(void)strlcpy(out, copy, size);
}

/* What stands in a file is as secret as the file. */
static void
set_token(enum once which, const char *text, char *token, char *file)
{
	const char	*errstr;

	if (!once(&ps.once[which], "token"))
		return;
	if (ps.file->fi_public || ps.leaked)
		parse_error("token: the file that holds it must not be "
		    "accessible to others: chmod o-rwx, or use token file");
	if (config_value_token(text, token, CONF_TOKENLEN, &errstr) == -1)
		parse_error("token: %s", errstr);
	file[0] = '\0';
}

static void
set_token_file(enum once which, const char *text, char *token, char *file)
{
	const char	*errstr;

	if (!once(&ps.once[which], "token"))
		return;
	explicit_bzero(token, CONF_TOKENLEN);
	if (config_value_path(text, file, CONF_PATHLEN, &errstr) == -1 ||
	    (!ps.nofiles && config_read_token(file, token, CONF_TOKENLEN,
	    &errstr) == -1))
		parse_error("token file \"%.128s\": %s", text, errstr);
}

static void
set_group(const char *text, char *group)
{
	const char	*errstr;

	if (text != NULL &&
	    config_value_user(text, group, CONF_USERLEN, &errstr) == -1)
		parse_error("group \"%.64s\": %s", text, errstr);
}

static void
set_user(int role, const char *name)
{
	static const char * const	 what[USER_COUNT] = {
		[USER_FRONTEND] = "user frontend",
		[USER_SPAWNER] = "user spawner",
		[USER_REPORTER] = "user reporter"
	};

	set_string((enum once)(ONCE_USER + role), what[role], name,
	    config_value_user, ps.conf->cf_users[role],
	    sizeof(ps.conf->cf_users[role]));
}

static void
set_isolation(enum conf_isolation isolation, const char *path)
{
	const char	*errstr;

	if (!once(&ps.once[ONCE_ISOLATION], "isolation"))
		return;
	ps.conf->cf_isolation = isolation;
	if (path != NULL && config_value_path(path, ps.conf->cf_bwrap,
	    sizeof(ps.conf->cf_bwrap), &errstr) == -1)
		parse_error("isolation bwrap \"%.128s\": %s", path, errstr);
}

static void
set_uids(const char *from, const char *to)
{
	const char	*badfrom, *badto;
	long long	 first, last;

	if (!once(&ps.once[ONCE_UIDS], "sandbox uid"))
		return;
	first = strtonum(from, UID_FIRST, UID_LAST, &badfrom);
	last = strtonum(to, UID_FIRST, UID_LAST, &badto);
	if (badfrom != NULL || badto != NULL)
		parse_error("sandbox uid %.64s to %.64s: must be between %d "
		    "and %lld", from, to, UID_FIRST, UID_LAST);
	else if (last - first < UID_COUNT - 1)
		parse_error("sandbox uid %lld to %lld: must be at least %d "
		    "user ids", first, last, UID_COUNT);
	else {
		ps.conf->cf_uid_first = (uint32_t)first;
		ps.conf->cf_uid_last = (uint32_t)last;
	}
}

static void
set_workspace(const char *path)
{
	set_string(ONCE_WORKSPACE, "workspace", path, config_value_path,
	    ps.conf->cf_workspace, sizeof(ps.conf->cf_workspace));
	ps.conf->cf_workspace_made = 0;
}

static void
set_logformat(const char *text)
{
	if (!once(&ps.once[ONCE_LOG_FORMAT], "log format"))
		return;
	if (strcmp(text, "auto") == 0)
		ps.conf->cf_logformat = LOGFORMAT_AUTO;
	else if (strcmp(text, "json") == 0)
		ps.conf->cf_logformat = LOGFORMAT_JSON;
	else if (strcmp(text, "text") == 0)
		ps.conf->cf_logformat = LOGFORMAT_TEXT;
	else
		parse_error("log format \"%.64s\": must be auto, json or text",
		    text);
}

static void
set_loglevel(const char *text)
{
	if (once(&ps.once[ONCE_LOG_LEVEL], "log level") &&
	    config_value_loglevel(text, &ps.conf->cf_loglevel) == -1)
		parse_error("log level \"%.64s\": must be debug, info, "
		    "warning or error", text);
}

static void
set_noproxy(void)
{
	if (once(&ps.once[ONCE_NO_PROXY], "no proxy"))
		ps.conf->cf_flags |= CONF_NO_PROXY;
}

static void
listen_add(struct config_listen *li, const char *text)
{
	const char	*what = li->li_proxy ? "proxy" : "listen";

	if (config_listen_add(ps.conf, li) == 0)
		return;
	if (errno == EEXIST)
		parse_error("%s on \"%.128s\": another listener has this "
		    "address and port", what, text);
	else
		parse_error("%s on \"%.128s\": must be one of at most %d "
		    "listeners", what, text, CONF_MAX_LISTEN);
}

static void
listen_inet(const char *text, const char *port, int auth, int proxy)
{
	struct config_listen	 li;
	const char		*errstr;
	in_port_t		 n;

	memset(&li, 0, sizeof(li));
	li.li_proxy = proxy;
	li.li_auth = (enum config_auth)auth;
	n = proxy ? ps.conf->cf_proxy_port : ps.conf->cf_port;
	if (port != NULL && config_value_port(port, &n, &errstr) == -1)
		parse_error("port %.64s: %s", port, errstr);
	else if (config_value_address(text, n, &li, &errstr) == -1)
		parse_error("%s on \"%.64s\": %s", proxy ? "proxy" : "listen",
		    text, errstr);
	else if (auth == AUTH_NONE && !config_is_loopback(&li))
		parse_error("listen on %s auth none: is open to everybody who "
		    "reaches this address: must be \"auth none insecure\", or "
		    "a loopback address", text);
	else
		listen_add(&li, text);
}

static mode_t
listen_mode(const char *text)
{
	size_t	 len;

	if (text == NULL)
		return (SOCKET_MODE);
	len = strlen(text);
	if (text[strspn(text, "01234567")] != '\0' || len < 3 || len > 4 ||
	    (len == 4 && text[0] != '0')) {
		parse_error("mode %.64s: must be octal, between 0000 and 0777",
		    text);
		return (SOCKET_MODE);
	}
	return ((mode_t)strtoul(text, NULL, 8));
}

static void
listen_unix(const char *path, const char *mode, const char *group, int auth)
{
	struct config_listen	 li;
	struct sockaddr_un	 sun;
	const char		*errstr;

	memset(&li, 0, sizeof(li));
	memset(&sun, 0, sizeof(sun));
	li.li_auth = (enum config_auth)auth;
	li.li_mode = listen_mode(mode);
	set_group(group, li.li_group);
	if (auth == AUTH_NONE_INSECURE) {
		parse_error("listen on socket: must be \"auth none\", insecure "
		    "is for addresses");
		return;
	}
	if (config_value_path(path, sun.sun_path, sizeof(sun.sun_path),
	    &errstr) == -1) {
		parse_error("listen on socket \"%.128s\": %s", path, errstr);
		return;
	}
	sun.sun_family = AF_UNIX;
	memcpy(&li.li_ss, &sun, sizeof(sun));
	li.li_sslen = (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
	    strlen(sun.sun_path) + 1);
	listen_add(&li, path);
}

/*
 * A block whose name is wrong is read into the default profile: all its
 * errors are found, and nobody will use what came of it.
 */
static void
profile_begin(const char *name)
{
	struct conf_profile	*pr = NULL;
	const char		*errstr;
	char			 copy[CONF_NAMELEN];

	block_enter("profile");
	if ((ps.profile = calloc(1, sizeof(*ps.profile))) == NULL)
		fatal("%s", __func__);
	SLIST_INSERT_HEAD(&ps.profiles, ps.profile, po_entry);

	if (config_value_name(name, copy, sizeof(copy), &errstr) == -1)
		parse_error("profile \"%.64s\": %s", name, errstr);
	else if (define("profile", name) && conf_profile_byname(
	    &ps.conf->cf_profiles, name) == NULL) {
		if (++ps.nprofiles >= CONF_MAX_PROFILES)
			parse_error("profile \"%s\": must be one of at most "
			    "%d", name, CONF_MAX_PROFILES);
		else if ((pr = conf_profile_new(name)) == NULL ||
		    config_profile_builtin(pr) == -1)
			fatal("%s", __func__);
		else
			TAILQ_INSERT_TAIL(&ps.conf->cf_profiles, pr, pr_entry);
	}
	if (pr == NULL && (pr = conf_profile_byname(&ps.conf->cf_profiles,
	    name)) == NULL)
		pr = TAILQ_FIRST(&ps.conf->cf_profiles);
	ps.profile->po_conf = pr;
}

static void
profile_clear(struct conf_profile *pr, enum conf_item_kind kind)
{
	struct conf_item	*it, *next;

	TAILQ_FOREACH_SAFE(it, &pr->pr_items, it_entry, next) {
		if (it->it_kind != kind)
			continue;
		TAILQ_REMOVE(&pr->pr_items, it, it_entry);
		pr->pr_nitems--;
		free(it->it_a);
		free(it->it_b);
		free(it);
	}
}

static struct conf_item *
profile_find(enum conf_item_kind kind, const char *a)
{
	struct conf_item	*it;

	TAILQ_FOREACH(it, &ps.profile->po_conf->pr_items, it_entry) {
		if (it->it_kind == kind && strcmp(it->it_a, a) == 0)
			return (it);
	}
	return (NULL);
}

/*
 * The first thing of a kind that a profile lists replaces the defaults,
 * except for the environment.
 */
static void
profile_add(enum conf_item_kind kind, const char *a)
{
	struct profile	*po = ps.profile;

	if (!po->po_own[kind])
		profile_clear(po->po_conf, kind);
	po->po_own[kind] = 1;
	if (profile_find(kind, a) != NULL)
		parse_error("\"%.128s\": is listed twice", a);
	else if (++po->po_count[kind] > CONF_MAX_ITEMS)
		parse_error("\"%.128s\": must be one of at most %d", a,
		    CONF_MAX_ITEMS);
	else if (conf_profile_add(po->po_conf, kind, a, NULL) == -1)
		fatal("%s", __func__);
}

static void
profile_root(const char *path)
{
	const char	*errstr;

	if (once(&ps.profile->po_root, "root") &&
	    config_value_path(path, ps.profile->po_conf->pr_root,
	    sizeof(ps.profile->po_conf->pr_root), &errstr) == -1)
		parse_error("root \"%.128s\": %s", path, errstr);
}

static void
profile_path(const char *path)
{
	const char	*errstr;
	char		 copy[CONF_PATHLEN];

	if (config_value_path(path, copy, sizeof(copy), &errstr) == -1)
		parse_error("read-only \"%.128s\": %s", path, errstr);
	else
		profile_add(ITEM_READONLY, copy);
}

static int
profile_envlisted(const struct conf_item *it)
{
	unsigned int	 i;

	for (i = 0; i < ps.profile->po_nenv; i++) {
		if (ps.profile->po_env[i] == it)
			return (1);
	}
	return (0);
}

static unsigned int
profile_envcount(void)
{
	const struct conf_item	*it;
	unsigned int		 n = 0;

	TAILQ_FOREACH(it, &ps.profile->po_conf->pr_items, it_entry) {
		if (it->it_kind == ITEM_ENV)
			n++;
	}
	return (n);
}

/*
 * A variable takes the place of the one that was there before the block,
 * or comes last.  The others stay: whoever adds one does not lose PATH.
 */
static void
profile_setenv(const char *name, const char *value)
{
	struct profile		*po = ps.profile;
	struct conf_item	*it;
	char			*copy;

	if ((it = profile_find(ITEM_ENV, name)) == NULL) {
		if (profile_envcount() >= CONF_MAX_ITEMS) {
			parse_error("\"%.128s\": must be one of at most %d",
			    name, CONF_MAX_ITEMS);
			return;
		}
		if (conf_profile_add(po->po_conf, ITEM_ENV, name, value) == -1)
			fatal("%s", __func__);
		it = TAILQ_LAST(&po->po_conf->pr_items, conf_items);
	} else if (profile_envlisted(it)) {
		parse_error("\"%.128s\": is listed twice", name);
		return;
	} else {
		if ((copy = strdup(value)) == NULL)
			fatal("%s", __func__);
		free(it->it_b);
		it->it_b = copy;
	}
	/* All of them are in the list, which has no more than this. */
	po->po_env[po->po_nenv++] = it;
}

static void
profile_env(const char *name, const char *value)
{
	const char	*errstr;

	if (config_value_envname(name, &errstr) == -1)
		parse_error("environment \"%.64s\": %s", name, errstr);
	else if (strlen(value) >= CONF_VALUELEN)
		parse_error("environment \"%s\": value must have at most %d "
		    "characters", name, CONF_VALUELEN - 1);
	else
		profile_setenv(name, value);
}

static void
profile_call(enum conf_item_kind kind, const char *name)
{
	enum conf_item_kind	 other;

	other = kind == ITEM_CALL_ADD ? ITEM_CALL_REMOVE : ITEM_CALL_ADD;
	if (strlen(name) >= CONF_NAMELEN ||
	    seccomp_syscall_resolve_name(name) == __NR_SCMP_ERROR)
		parse_error("system call \"%.64s\": must be the name of a "
		    "system call", name);
	else if (profile_find(other, name) != NULL)
		parse_error("system call \"%s\": is both added and removed",
		    name);
	else
		profile_add(kind, name);
}

/* What a profile does not limit itself is as the global limits say. */
static void
profile_finish(void)
{
	struct conf_profile	*pr;
	const struct profile	*po;
	int			 i;

	TAILQ_FOREACH(pr, &ps.conf->cf_profiles, pr_entry) {
		SLIST_FOREACH(po, &ps.profiles, po_entry) {
			if (po->po_conf == pr)
				break;
		}
		for (i = 0; i < SET_LIMIT_COUNT; i++) {
			if (po == NULL || po->po_limits[i].pl_file == NULL)
				pr->pr_limits[i] =
				    ps.conf->cf_values[SET_LIMIT_FIRST + i];
		}
	}
}

static struct conf_lang *
language_new(const char *name)
{
	struct conf_lang	*la;

	if ((la = calloc(1, sizeof(*la))) == NULL)
		fatal("%s", __func__);
	(void)strlcpy(la->la_name, name, sizeof(la->la_name));
	(void)strlcpy(la->la_profile, "default", sizeof(la->la_profile));
	TAILQ_INSERT_TAIL(&ps.conf->cf_langs, la, la_entry);
	return (la);
}

/* As with profiles, a wrong name costs nothing but an error. */
static void
language_begin(const char *name)
{
	struct conf_lang	*la;
	const char		*errstr;
	char			 copy[CONF_NAMELEN];

	block_enter("language");
	memset(&ps.language, 0, sizeof(ps.language));
	TAILQ_FOREACH(la, &ps.conf->cf_langs, la_entry) {
		if (strcmp(la->la_name, name) == 0)
			break;
	}
	if (config_value_name(name, copy, sizeof(copy), &errstr) == -1)
		parse_error("language \"%.64s\": %s", name, errstr);
	else if (define("language", name) && la == NULL) {
		if (ps.nlangs++ >= CONF_MAX_LANGS)
			parse_error("language \"%s\": must be one of at most "
			    "%d", name, CONF_MAX_LANGS);
		else
			la = language_new(name);
	}
	if (la == NULL)
		la = TAILQ_FIRST(&ps.conf->cf_langs);
	ps.language.la_conf = la;
}

static void
language_command(const char *path)
{
	struct conf_lang	*la = ps.language.la_conf;
	const char		*errstr;

	if (once(&ps.language.la_places[0], "command") &&
	    config_value_path(path, la->la_command, sizeof(la->la_command),
	    &errstr) == -1)
		parse_error("command \"%.128s\": %s", path, errstr);
}

static void
language_profile(const char *name)
{
	struct conf_lang	*la = ps.language.la_conf;
	const char		*errstr;

	if (once(&ps.language.la_places[1], "profile") &&
	    config_value_name(name, la->la_profile, sizeof(la->la_profile),
	    &errstr) == -1)
		parse_error("profile \"%.64s\": %s", name, errstr);
}

static void
language_warm(const char *text)
{
	const char	*errstr;

	if (!once(&ps.language.la_places[2], "warm"))
		return;
	ps.language.la_conf->la_warm = (uint32_t)strtonum(text, 0, CONF_MAX_WARM,
	    &errstr);
	if (errstr != NULL)
		parse_error("warm %.64s: must be between 0 and %d", text,
		    CONF_MAX_WARM);
}

static void
language_strict(void)
{
	if (once(&ps.language.la_places[3], "strict"))
		ps.language.la_conf->la_strict = 1;
}

static void
mount_add(const char *name, const char *path, int readonly)
{
	struct conf_mount	*mo;
	const char		*errstr;

	if ((mo = calloc(1, sizeof(*mo))) == NULL)
		fatal("%s", __func__);
	mo->mo_readonly = (uint32_t)readonly;
	if (config_value_name(name, mo->mo_name, sizeof(mo->mo_name),
	    &errstr) == -1)
		parse_error("mount \"%.64s\": %s", name, errstr);
	else if (config_value_path(path, mo->mo_path, sizeof(mo->mo_path),
	    &errstr) == -1)
		parse_error("mount \"%s\" path \"%.128s\": %s", name, path,
		    errstr);
	else if (ps.nmounts >= CONF_MAX_MOUNTS)
		parse_error("mount \"%s\": must be one of at most %d", name,
		    CONF_MAX_MOUNTS);
	else if (define("mount", name)) {
		TAILQ_INSERT_TAIL(&ps.conf->cf_mounts, mo, mo_entry);
		ps.nmounts++;
		return;
	}
	free(mo);
}

static void
parse_begin(struct config_errors *errors, int nofiles)
{
	struct conf_lang	*la;

	memset(&ps, 0, sizeof(ps));
	TAILQ_INIT(&ps.files);
	SLIST_INIT(&ps.texts);
	SLIST_INIT(&ps.defined);
	SLIST_INIT(&ps.profiles);
	ps.errors = errors;
	ps.nofiles = nofiles;
	ps.last = '\n';
	ps.token = ps.block = ps.outer = "";
	ps.conf = config_new(errors);
	TAILQ_FOREACH(la, &ps.conf->cf_langs, la_entry)
		ps.nlangs++;
}

/* Reads what is open, if anything; NULL if there was any error. */
static struct config *
parse_end(unsigned int before)
{
	struct config	*conf = ps.conf;
	struct defined	*de;
	struct profile	*po;

	/* A failure of yyparse() has been reported by yyerror(). */
	if (ps.file != NULL)
		(void)yyparse();
	profile_finish();
	(void)config_check(conf, ps.errors);
	macro_finish();
	while (ps.file != NULL)
		file_pop();
	while ((de = SLIST_FIRST(&ps.defined)) != NULL) {
		SLIST_REMOVE_HEAD(&ps.defined, de_entry);
		free(de);
	}
	while ((po = SLIST_FIRST(&ps.profiles)) != NULL) {
		SLIST_REMOVE_HEAD(&ps.profiles, po_entry);
		free(po);
	}
	text_clear();
	if (ps.errors->ce_count != before) {
		config_free(conf);
		conf = NULL;
	}
	explicit_bzero(&ps, sizeof(ps));
	explicit_bzero(&yylval, sizeof(yylval));
	return (conf);
}

/*
 * "-" is standard input.  A file that need not be there leaves the
 * defaults when it is not.
 */
struct config *
config_load(const char *path, int required, struct config_errors *errors)
{
	struct config_errors	 own;
	const char		*errstr;
	unsigned int		 before;
	int			 std;

	if (errors == NULL) {
		memset(&own, 0, sizeof(own));
		errors = &own;
	}
	before = errors->ce_count;
	parse_begin(errors, 0);
	std = strcmp(path, "-") == 0;
	if (file_open(path, std ? "stdin" : path, std, &errstr) == -1 &&
	    (required || errno != ENOENT))
		config_error(errors, "%s: %s", path, errstr);
	return (parse_end(before));
}

/* The same from memory, without a way to any file. */
struct config *
config_parse_buffer(const char *name, char *buf, size_t len,
    struct config_errors *errors)
{
	struct config_errors	 own;
	struct file		*fi;
	unsigned int		 before;

	if (errors == NULL) {
		memset(&own, 0, sizeof(own));
		errors = &own;
	}
	before = errors->ce_count;
	parse_begin(errors, 1);
	if ((fi = calloc(1, sizeof(*fi))) == NULL)
		fatal("%s", __func__);
	fi->fi_name = text_new(name, strlen(name));
	fi->fi_buf = buf;
	fi->fi_len = len;
	file_push(fi);
	return (parse_end(before));
}
