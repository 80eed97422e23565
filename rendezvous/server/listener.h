#ifndef MUSTER_RENDEZVOUS_SERVER_LISTENER_H_
#define MUSTER_RENDEZVOUS_SERVER_LISTENER_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/net/socket_address.h"
#include "rendezvous/server/connection_events.h"
#include "rendezvous/server/connection_pool.h"

namespace muster::rendezvous {

// Judges the first bytes that a client has sent. kGood: the preface of HTTP/2,
// or the beginning of a TLS handshake. kMore: a beginning of one of these.
// Pure.
enum class FirstBytes { kGood, kMore, kBad };
FirstBytes JudgeFirstBytes(std::string_view bytes);

// Accepts a coordinator's connections on a thread of its own, and hands those
// that begin a session over to gRPC. Which connections are handed over and
// which are closed is decided by a ConnectionPool. gRPC's own listener is not
// used, because gRPC 1.51 stops accepting for ever once accept() fails for lack
// of descriptors; this one tries again.
//
// A connection belongs to gRPC once it was handed over, and gRPC closes it
// without a notice. The listener recognises it by the number of its descriptor
// and the socket's cookie (SO_COOKIE), and can still shut it down, without a
// second descriptor for each connection.
class Listener : public ConnectionEvents {
 public:
  struct Options {
    // The address to listen on. A wildcard address, IPv4 or IPv6: all addresses
    // of both families. Port 0: any free port.
    SocketAddress address;
    ConnectionLimits limits;
    // Connections whose descriptor would have this number or a greater one are
    // closed at once: the remaining numbers are for the rest of the process.
    int max_descriptor = 1 << 30;
  };
  // Takes ownership of the descriptor of a connection. Called from the
  // listener's thread.
  using HandOver = std::function<void(int fd)>;

  // Binds and listens; connections wait until Start. Errors are those of the
  // system calls, with the code that GrpcServer::Start promises and errno's
  // text: AlreadyExists, PermissionDenied, InvalidArgument, Unavailable;
  // ResourceExhausted: no descriptor.
  static absl::StatusOr<std::unique_ptr<Listener>> Listen(
      const Options& options);
  ~Listener() override;  // calls Stop

  int port() const;

  // Starts the thread. ResourceExhausted: no thread can be had.
  absl::Status Start(HandOver hand_over);
  // Ends the thread and closes the listening socket and the connections that
  // were not handed over. Returns when the port is free. Idempotent.
  void Stop();

  void Proved(const std::string& peer) override;
  void Joined(const std::string& peer) override;
  void Left(const std::string& peer) override;

  // For probes: asks the thread to connect to this listener and to begin a
  // session, and returns what the latest checks have shown (SelfCheck::Ask).
  // Does not block. Any thread.
  absl::Status Check();

 private:
  class Impl;
  explicit Listener(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_LISTENER_H_
