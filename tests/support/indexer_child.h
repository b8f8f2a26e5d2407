/* SPDX-License-Identifier: Apache-2.0 */
/* The child's side of facts/indexer_client.h, for tests that play the indexer. Ends the process on trouble. */
#ifndef FSC_TESTS_SUPPORT_INDEXER_CHILD_H
#define FSC_TESTS_SUPPORT_INDEXER_CHILD_H

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "facts/fact_codec.h"
#include "facts/indexer_client.h"

static inline void child_say(struct fsc_fact f)
{
	struct fsc_buf b = FSC_BUF_INIT(1 << 20);

	if (fsc_fact_encode(&b, &f) != FSC_OK ||
	    write(FSC_INDEXER_FD_SOCKET, b.data, b.len) != (ssize_t)b.len)
		_exit(90);
	fsc_buf_fini(&b);
}

/* The file for the segment that was asked for. */
static inline int child_receive_fd(void)
{
	char buf[CMSG_SPACE(sizeof(int))], byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr mh = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = buf, .msg_controllen = sizeof(buf)
	};
	int fd = -1;

	if (recvmsg(FSC_INDEXER_FD_SOCKET, &mh, 0) != 1 || !CMSG_FIRSTHDR(&mh))
		_exit(91);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&mh)), sizeof(fd));
	return fd;
}

#endif
