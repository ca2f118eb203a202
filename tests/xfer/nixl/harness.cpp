/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: nixl-harness PLUGIN CASE
 *
 * Drives a backend plugin as NIXL's agent does, over TCP on this host. cases.h has the cases.
 */
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <csignal>
#include <unistd.h>
#include "tests/xfer/nixl/cases.h"

void text_send(int socket, const std::string &text)
{
	if (send(socket, text.data(), text.size(), MSG_NOSIGNAL) !=
		static_cast<ssize_t>(text.size()))
		fail("socket: %s", strerror(errno));
}

std::string text_receive(int socket)
{
	std::string text(4096, '\0');
	ssize_t n = recv(socket, text.data(), text.size(), 0);

	text.resize(n > 0 ? static_cast<size_t>(n) : 0);
	return text;
}

Child child_start(const char *plugin, size_t size, const ChildMain &main)
{
	int pair[2];
	Child child = {};

	/* Each send is one message. */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		fail("socketpair: %s", strerror(errno));
	child.pid = fork();
	child.socket = pair[0];
	if (child.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pair[0]);
		{
			Agent agent(plugin, "child");
			Buffer buffer;

			agent.memory_register(buffer, size);
			text_send(pair[1], std::to_string(buffer.at(0)));
			text_send(pair[1], agent.info());
			text_send(pair[1], buffer.public_data);
			main(agent, buffer, pair[1]);
		}
		_exit(0);
	}
	close(pair[1]);
	child.address = std::stoull(text_receive(child.socket));
	child.info = text_receive(child.socket);
	child.data = text_receive(child.socket);
	return child;
}

void child_end(const Child &child)
{
	int status;

	close(child.socket);
	if (waitpid(child.pid, &status, 0) < 0 || status != 0)
		fail("the child has failed: %#x", status);
}

nixlBackendMD *child_meet(Agent &agent, const Child &child, size_t size)
{
	nixlBackendMD *metadata;

	expect(agent.engine->loadRemoteConnInfo("child", child.info), NIXL_SUCCESS,
		"loadRemoteConnInfo");
	expect(agent.engine->connect("child"), NIXL_SUCCESS, "connect");
	expect(agent.metadata_load("child", child.address, size, child.data, metadata),
		NIXL_SUCCESS, "loadRemoteMD");
	return metadata;
}

int main(int argc, char **argv)
{
	const struct {
		const char *name;
		void (*run)(const char *plugin);
	} cases[] = {{"plain", case_plain}, {"refusals", case_refusals},
		{"metadata", case_metadata}, {"order", case_order}, {"both", case_both},
		{"release", case_release}, {"death", case_death}};

	for (const auto &each : cases)
		if (argc == 3 && strcmp(argv[2], each.name) == 0) {
			each.run(argv[1]);
			printf("%s: passed\n", each.name);
			return 0;
		}
	fprintf(stderr, "usage: %s PLUGIN plain|refusals|metadata|order|both|release|death\n",
		argv[0]);
	return 2;
}
