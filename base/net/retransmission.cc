#include "base/net/retransmission.h"

#include <netinet/in.h>
#include <sys/socket.h>

namespace muster {
namespace {

// The socket option TCP_RTO_MAX_MS of <linux/tcp.h>, which older headers do not
// have, and its smallest value in milliseconds.
constexpr int kMaxRetransmissionTimeout = 44;
constexpr int kLeastMilliseconds = 1000;

}  // namespace

void LimitRetransmissionInterval(int fd) {
  // Errors are ignored: a kernel before Linux 6.15 does not have the option.
  (void)setsockopt(fd, IPPROTO_TCP, kMaxRetransmissionTimeout,
                   &kLeastMilliseconds, sizeof(kLeastMilliseconds));
}

}  // namespace muster
