#include "base/net/retransmission.h"

#include <netinet/in.h>
#include <sys/socket.h>

namespace muster {
namespace {

// The number of the socket option TCP_RTO_MAX_MS, which older versions of
// <linux/tcp.h> do not define.
constexpr int kMaxRetransmissionTimeout = 44;
// The smallest value of TCP_RTO_MAX_MS, in milliseconds.
constexpr int kLeastMilliseconds = 1000;

}  // namespace

void LimitRetransmissionInterval(int fd) {
  // Errors are ignored: a kernel before Linux 6.15 does not have the option.
  (void)setsockopt(fd, IPPROTO_TCP, kMaxRetransmissionTimeout,
                   &kLeastMilliseconds, sizeof(kLeastMilliseconds));
}

}  // namespace muster
