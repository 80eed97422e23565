#ifndef MUSTER_BASE_NET_RETRANSMISSION_H_
#define MUSTER_BASE_NET_RETRANSMISSION_H_

namespace muster {

// Lets the TCP socket `fd` send unacknowledged data again at least once a
// second. By default the kernel doubles the interval up to two minutes, so that
// a connection over a network that was down for 10 s may stand still for
// another 10 s. A listening socket passes the limit on to the sockets that it
// accepts.
//
// Does nothing before Linux 6.15. The socket should have a TCP_USER_TIMEOUT:
// otherwise the kernel gives the connection up earlier.
void LimitRetransmissionInterval(int fd);

}  // namespace muster

#endif  // MUSTER_BASE_NET_RETRANSMISSION_H_
