#ifndef MUSTER_BASE_NET_RETRANSMISSION_H_
#define MUSTER_BASE_NET_RETRANSMISSION_H_

namespace muster {

// Limits the interval between retransmissions on the TCP socket `fd` to one
// second. By default the kernel doubles the interval after each retransmission,
// up to two minutes. For example, if the network fails for 10 s, the next
// retransmission may come as late as 10 s after the failure has ended. Sockets
// that a listening socket accepts inherit the limit.
//
// Does nothing before Linux 6.15. The socket should have a TCP_USER_TIMEOUT.
// Without it the kernel ends the connection after a fixed number of
// retransmissions, and with shorter intervals this number is reached sooner.
void LimitRetransmissionInterval(int fd);

}  // namespace muster

#endif  // MUSTER_BASE_NET_RETRANSMISSION_H_
