#ifndef MUSTER_BASE_NET_RETRANSMISSION_H_
#define MUSTER_BASE_NET_RETRANSMISSION_H_

namespace muster {

// Limits the interval between retransmissions on the TCP socket `fd` to one
// second. By default the kernel doubles the interval after each retransmission,
// up to two minutes. For example, after a network failure of 10 s the next
// retransmission may come only 10 s later. Sockets that a listening socket
// accepts inherit the limit.
//
// Does nothing before Linux 6.15. The socket should have a TCP_USER_TIMEOUT.
// Otherwise the kernel gives up after a number of retransmissions, which takes
// less time if the intervals are shorter.
void LimitRetransmissionInterval(int fd);

}  // namespace muster

#endif  // MUSTER_BASE_NET_RETRANSMISSION_H_
