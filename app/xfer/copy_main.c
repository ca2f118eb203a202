/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3x-cp: copies a file to another host over all rails, and resumes where it was interrupted. */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "app/xfer/copy.h"
#include "config/message.h"

static const char help[] =
	"usage: hp3x-cp [OPTION...] FILE HOST:[FILE]\n"
	"       hp3x-cp [OPTION...] --serve DIRECTORY\n"
	"\n"
	"Copies a file to a host that runs hp3x-cp --serve, over all rails of both hosts. A copy "
	"that\n"
	"was interrupted is resumed: blocks that are right at the receiver are not sent again.\n"
	"\n"
	"  --serve DIRECTORY    receive files into this directory, until SIGINT or SIGTERM\n"
	"  --port PORT          control port of the receiver (default 18515)\n"
	"  --rail NAME          use this rail: an interface, an address or an RNIC; may be "
	"repeated\n"
	"  --provider NAME      tcp\n"
	"  --quiet              print errors only\n"
	"  --version, --help\n"
	"\n"
	"Exit status: 0 copied, 1 failed, 2 wrong usage.\n";

struct hp3x_domain *copy_domain_open(const struct copy_options *o, const char *listen)
{
	struct hp3x_options options = {.provider = o->provider,
		.rails = o->n_rails == 0 ? NULL : o->rails,
		.n_rails = o->n_rails,
		.listen = listen};
	struct hp3x_domain *d;

	if (hp3x_open(&options, &d) == 0)
		return d;
	hp3_message("hp3x-cp: %s", hp3x_error());
	return NULL;
}

void copy_wait(struct hp3x_domain *domain)
{
	struct pollfd p = {.fd = hp3x_fd(domain), .events = POLLIN};
	uint64_t n;

	if (poll(&p, 1, 1000) > 0 && read(p.fd, &n, sizeof(n)) < 0)
		return; /* somebody has read it before */
}

bool copy_tell(
	struct hp3x_peer *peer, const struct copy_message *message, const void *more, size_t length)
{
	char data[HP3X_MOST_SEND];

	memcpy(data, message, sizeof(*message));
	if (length > 0)
		memcpy(data + sizeof(*message), more, length);
	return hp3x_send(peer, data, sizeof(*message) + length, NULL) > 0;
}

static int usage_error(const char *what)
{
	hp3_message("hp3x-cp: %s: see hp3x-cp --help", what);
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"serve", 1, NULL, 's'}, {"port", 1, NULL, 'p'},
		{"rail", 1, NULL, 'r'}, {"provider", 1, NULL, 'P'}, {"quiet", 0, NULL, 'q'},
		{"version", 0, NULL, 'v'}, {"help", 0, NULL, 'h'}, {0}};
	struct copy_options o = {.provider = "tcp", .port = COPY_PORT};
	const char *serve = NULL;
	char *end;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 's':
			serve = optarg;
			break;
		case 'p':
			o.port = (uint32_t)strtoul(optarg, &end, 10);
			if (*end != '\0' || o.port == 0 || o.port > 65535)
				return usage_error("--port needs a number from 1 to 65535");
			break;
		case 'r':
			if (o.n_rails == HP3X_RAILS)
				return usage_error("--rail may be given 8 times");
			o.rails[o.n_rails++] = optarg;
			break;
		case 'P':
			o.provider = optarg;
			break;
		case 'q':
			o.quiet = true;
			break;
		case 'v':
			printf("hp3x-cp %s\n", HP3_VERSION);
			return 0;
		case 'h':
			fputs(help, stdout);
			return 0;
		default:
			return 2; /* getopt has printed why */
		}
	}
	if (sodium_init() < 0)
		return usage_error("libsodium does not work on this host");
	if (serve != NULL)
		return argc == optind ? copy_serve_directory(&o, serve)
				      : usage_error("--serve DIRECTORY has no other argument");
	if (argc - optind != 2)
		return usage_error(
			"name a FILE, and a target HOST:FILE, or HOST: to keep the name");
	return copy_send_file(&o, argv[optind], argv[optind + 1]);
}
