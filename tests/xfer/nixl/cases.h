/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* The cases of nixl-harness. Each one returns if it passed, and ends the process otherwise. */
#include <sys/types.h>
#include "tests/xfer/nixl/agent.h"

/* Another process with an agent "child", which has one buffer. */
struct Child {
	pid_t pid;
	int socket;
	uintptr_t address;
	std::string info, data;
};

/* What the child does with its agent and buffer; `socket` joins it to the parent. */
using ChildMain = std::function<void(Agent &agent, Buffer &buffer, int socket)>;

Child child_start(const char *plugin, size_t size, const ChildMain &main);
/* The child must end with exit code 0. */
void child_end(const Child &child);
void text_send(int socket, const std::string &text);
/* Empty: the other end is closed. */
std::string text_receive(int socket);
/* Loads connection information and metadata of the child's buffer. */
nixlBackendMD *child_meet(Agent &agent, const Child &child, size_t size);

/* plain.cpp */
void case_plain(const char *plugin); /* writes and reads, with and without notification */
void case_refusals(const char *plugin); /* wrong calls */
void case_metadata(const char *plugin); /* damaged metadata and connection information */
/* pairs.cpp */
void case_order(const char *plugin); /* a notification arrives after all data */
void case_both(const char *plugin); /* two processes write to each other, with many descriptors */
void case_release(const char *plugin); /* of a transfer in flight; deregistration meanwhile */
void case_death(const char *plugin); /* the other process dies, and is started again */
