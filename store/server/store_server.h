#ifndef MUSTER_STORE_SERVER_STORE_SERVER_H_
#define MUSTER_STORE_SERVER_STORE_SERVER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/net/address_set.h"
#include "base/net/tls_stream.h"
#include "base/owned_fd.h"
#include "base/time.h"
#include "store/server/store_load.h"

namespace muster::store {

struct StoreServerOptions {
  // The numeric IPv4 or IPv6 address on which the server listens; empty: all
  // addresses of both families.
  std::string address;
  // The port; 0: any free port, which StoreServer::port() returns.
  int port = 0;
  // A bound and listening stream socket to use instead of `address` and `port`.
  OwnedFd listener;
  // Client addresses from which connections are accepted. A connection from any
  // other address is closed before anything is read from it. Refused
  // connections are counted. Notices name the first eight of the refused
  // addresses (StrangerLog::kMaxNamed).
  AddressSet clients = AddressSet::Loopback();
  // The TLS key; nullopt: no encryption. With a key, a connection that begins
  // with a TLS handshake is encrypted, and its peer must have the key. Only
  // addresses in `clear_text_clients` may then connect without encryption.
  std::optional<TlsContext> tls;
  AddressSet clear_text_clients = AddressSet::Loopback();
  // Limit of the memory for keys, values, queues and waits, in bytes. A request
  // that exceeds the limit closes its connection; other connections stay open.
  size_t max_store_bytes = size_t{1} << 30;
  // Limit, in bytes, of the buffers of all connections in total. The buffers
  // hold requests that are not handled yet, and replies that are not read yet.
  // Beyond the limit, connections with large buffers are closed. If unread
  // replies exceed half of the limit, new requests wait until clients have
  // read.
  size_t max_buffer_bytes = size_t{2} << 30;
  // Time for which clients that do not read their replies may delay the
  // requests of others. After that, the connections of these clients are
  // closed.
  Duration timeout = std::chrono::seconds(5);
  // Minimum time for which a queue element stays reserved for the client whose
  // WAIT the element has ended. After this time the element may be offered to
  // another waiting client, in case the first client never pops. Normally a
  // client's pop comes one round trip after the end of its WAIT.
  std::chrono::milliseconds offer_timeout = std::chrono::seconds(1);
  // Receives messages for the user, such as why a connection was closed. Their
  // number is bounded. Called on the server's thread; must not call the server.
  std::function<void(const std::string&)> on_notice;
};

// A round's key-value store in PyTorch's TCPStore protocol, in its old and new
// framing, as described in docs/STORE.md. Runs one thread, which blocks all
// signals and never causes SIGPIPE. So it can run in any process.
//
// Thread-safe.
class StoreServer {
 public:
  // Starts a server, which listens when Start returns. Raises the process's
  // soft limit of descriptors to the hard limit. The server leaves a few
  // hundred descriptors free for the rest of the process.
  //   InvalidArgument    the address, port or descriptor is invalid
  //   AlreadyExists      the port is in use
  //   ResourceExhausted  no descriptors or threads are left
  static absl::StatusOr<std::unique_ptr<StoreServer>> Start(
      StoreServerOptions options);

  // Calls Close(""). If the round is broken, call Close with the reason first.
  ~StoreServer();
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  // The port on which the server listens.
  int port() const;

  // The server's load, at most one turn of the server's loop old. Any thread;
  // does not wait.
  StoreLoad load() const;

  // Ends the round: stops listening, closes every connection (which releases
  // all waiting clients), and returns the memory of keys and buffers to the
  // system. `reason`: why the round is broken; empty: the round is not broken.
  // If clients were waiting in a broken round, passes `reason` to on_notice.
  // The port is free on return. Idempotent.
  void Close(const std::string& reason);

 private:
  class Running;
  explicit StoreServer(std::unique_ptr<Running> running);

  const std::unique_ptr<Running> running_;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_STORE_SERVER_H_
