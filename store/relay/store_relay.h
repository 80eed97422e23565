#ifndef MUSTER_STORE_RELAY_STORE_RELAY_H_
#define MUSTER_STORE_RELAY_STORE_RELAY_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/net/address_set.h"
#include "base/net/socket_address.h"
#include "base/net/tls_stream.h"
#include "base/owned_fd.h"
#include "base/time.h"

namespace muster::store {

// Names the protocol between relays and the store for TlsContext::Make, which
// derives a different TLS key for each protocol.
inline constexpr char kRelayPurpose[] = "muster relay";

// Returns a non-blocking connection to a StoreServer that has agreed to relay
// frames. With `tls` the connection is encrypted. Blocks until `deadline` at
// most (on the clock of MonotonicNow).
//
// Tries every address in turn. Each address gets an equal part of the time that
// is left, so that an address that drops all packets leaves time for the next.
// If all fail, tries them again until `deadline`, and then returns the last
// error.
//
// FailedPrecondition is returned at once. PermissionDenied is returned only at
// the deadline, because a peer without the key may be the store of an earlier
// round that still has the port.
//   PermissionDenied    the peer does not have the key
//   Unavailable         refused or unreachable
//   DeadlineExceeded    connected, but no answer arrived
//   FailedPrecondition  the peer does not accept relays of this version
absl::StatusOr<StreamSocket> ConnectUpstream(
    const std::vector<SocketAddress>& addresses,
    const std::optional<TlsContext>& tls, Instant deadline);

struct StoreRelayOptions {
  // Address of the round's StoreServer: a host name or IP address, and a port.
  std::string upstream_host;
  int upstream_port = 0;
  // Deadline for connecting to the StoreServer, on the clock of MonotonicNow.
  // Failed attempts are retried until then.
  Instant deadline;
  // The TLS key of the connection to the StoreServer; nullopt: clear text.
  std::optional<TlsContext> tls;
  // Numeric IPv4 or IPv6 address on which the relay listens; empty: all
  // addresses of both families.
  std::string address;
  int port = 0;
  OwnedFd listener;
  // Client addresses from which connections are accepted. A connection from any
  // other address is closed before anything is read from it.
  AddressSet clients = AddressSet::Loopback();
  // Limit, in bytes, of the buffers of all connections in total. Must exceed
  // twice the largest reply, because a buffer doubles its size when it grows.
  size_t max_buffer_bytes = size_t{1} << 30;
  // Time for which clients that do not read may delay the others. It must be
  // shorter than StoreServerOptions::timeout: while the relay waits for its
  // clients to read, the server waits for the relay.
  Duration timeout = std::chrono::seconds(3);
  // Receives messages for the user, such as why a connection was closed. Their
  // number is bounded. Called on the relay's thread; must not call the relay.
  std::function<void(const std::string&)> on_notice;
};

// A node's relay of the round's store. The node's workers use the relay like
// the StoreServer, and the relay has one connection to the server. Equal waits
// and equal reads of several workers are sent once. All other requests are
// forwarded in order. A waiting worker does not block the others. If the
// upstream connection is lost, all connections are closed, as if the store
// itself had closed.
//
// Thread-safe. Runs one thread, like StoreServer.
class StoreRelay {
 public:
  // Blocks until the relay is connected and listening, at most until the
  // deadline.
  //   Unavailable        the upstream cannot be reached; has the last error
  //   DeadlineExceeded   the upstream or the resolver does not answer
  //   PermissionDenied   the upstream does not have the key
  //   FailedPrecondition the upstream is a store that accepts no relays
  //   and the errors of StoreServer::Start
  static absl::StatusOr<std::unique_ptr<StoreRelay>> Start(
      StoreRelayOptions options);

  ~StoreRelay();
  StoreRelay(const StoreRelay&) = delete;
  StoreRelay& operator=(const StoreRelay&) = delete;

  // The port on which the relay listens.
  int port() const;

  // Stops listening and closes all connections. Idempotent.
  void Close();

 private:
  class Running;
  explicit StoreRelay(std::unique_ptr<Running> running);

  const std::unique_ptr<Running> running_;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_RELAY_STORE_RELAY_H_
