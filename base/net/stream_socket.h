#ifndef MUSTER_BASE_NET_STREAM_SOCKET_H_
#define MUSTER_BASE_NET_STREAM_SOCKET_H_

#include <sys/socket.h>
#include <sys/uio.h>

#include <memory>
#include <span>

#include "base/net/tls_stream.h"
#include "base/owned_fd.h"

namespace muster {

// A connected stream socket, in clear text or encrypted.
struct StreamSocket {
  OwnedFd fd;
  // null: the connection is in clear text
  std::unique_ptr<TlsStream> tls;

  bool open() const { return fd.open(); }

  // Send and Receive are like sendmsg and recvmsg, but never block and cause no
  // SIGPIPE. If Send returns less than the size of `pieces`, the caller must
  // call Send again with the remaining bytes.
  ssize_t Send(std::span<iovec> pieces) {
    if (tls != nullptr) return tls->Write(pieces);
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    return sendmsg(fd.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  ssize_t Receive(std::span<iovec> pieces) {
    if (tls != nullptr) return tls->Read(pieces);
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    return recvmsg(fd.get(), &message, MSG_DONTWAIT);
  }
};

}  // namespace muster

#endif  // MUSTER_BASE_NET_STREAM_SOCKET_H_
