#ifndef MUSTER_RENDEZVOUS_SERVER_LISTENER_H_
#define MUSTER_RENDEZVOUS_SERVER_LISTENER_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/net/socket_address.h"
#include "rendezvous/server/connection_pool.h"

namespace muster::rendezvous {

// Through this interface the gRPC services tell the Listener what happens on a
// connection. The Listener accepts the server's connections, and closes those
// on which no caller proves its identity.
//
// `peer`: the value of grpc::ServerContext::peer(). Implementations are
// thread-safe.
class ConnectionEvents {
 public:
  virtual ~ConnectionEvents() = default;
  // Tells the Listener that a caller on the connection has proved its identity,
  // or that a job has accepted its report.
  virtual void Proved(const std::string& peer) = 0;
  // Joined tells the Listener that a node's stream on the connection has joined
  // a job, and Left that this stream has ended. Each call of Joined is followed
  // by one call of Left.
  virtual void Joined(const std::string& peer) = 0;
  virtual void Left(const std::string& peer) = 0;
};

// The kind of the first bytes that a client has sent. kGood: the HTTP/2
// preface, or the beginning of a TLS handshake. kMore: an incomplete part of
// one of these; more bytes are needed. kBad: neither. Pure.
enum class FirstBytes { kGood, kMore, kBad };
FirstBytes JudgeFirstBytes(std::string_view bytes);

// Accepts a coordinator's connections on a thread of its own. Connections that
// begin a session are handed over to gRPC. A ConnectionPool decides which
// connections are handed over and which are closed. gRPC's own listener is not
// used: if accept() fails for lack of descriptors, gRPC 1.51 stops accepting
// for ever; this listener tries again.
//
// After the hand-over, a connection belongs to gRPC, which closes it without
// notice. The listener recognises a connection by the number of its descriptor
// and the socket's cookie (SO_COOKIE). So it can still shut the connection
// down, without a second descriptor for each connection.
class Listener : public ConnectionEvents {
 public:
  struct Options {
    // The address to listen on. A wildcard address (IPv4 or IPv6) means all
    // addresses of both families. Port 0: any free port.
    SocketAddress address;
    ConnectionLimits limits;
    // Connections whose descriptor has this number or a higher one are closed
    // at once. These numbers are reserved for other uses in the process.
    int max_descriptor = 1 << 30;
  };
  // Function that takes ownership of a connection's descriptor. Called from the
  // listener's thread.
  using HandOver = std::function<void(int fd)>;

  // Binds and listens. Connections wait until Start. The errors are those of
  // system calls with errno's text, and have the codes of GrpcServer::Listen:
  // AlreadyExists, PermissionDenied, InvalidArgument, Unavailable.
  // ResourceExhausted: no descriptor is free.
  static absl::StatusOr<std::unique_ptr<Listener>> Listen(
      const Options& options);
  ~Listener() override;  // calls Stop

  int port() const;

  // Starts the thread. ResourceExhausted: no thread can be started.
  absl::Status Start(HandOver hand_over);
  // Ends the thread, and closes the listening socket and the connections that
  // were not handed over. The port is free when Stop returns. Idempotent.
  void Stop();

  void Proved(const std::string& peer) override;
  void Joined(const std::string& peer) override;
  void Left(const std::string& peer) override;

  // The answer to a liveness probe: OK, or why the listener counts as dead
  // (SelfCheck::Ask). Judges by the latest checks, and requests a new one: the
  // thread connects to this listener and begins a session. Does not block. Any
  // thread.
  absl::Status Check();

 private:
  class Impl;
  explicit Listener(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_LISTENER_H_
