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

namespace muster::store {

struct StoreServerOptions {
  // A numeric IPv4 or IPv6 address of this host; empty: all addresses of both
  // families.
  std::string address;
  // 0: any free port; StoreServer::port() returns it.
  int port = 0;
  // A bound and listening stream socket to use instead of `address` and `port`.
  OwnedFd listener;
  // The addresses that are served. A connection from any other address is
  // closed before anything is read from it, counted, and named in a notice once
  // for each address.
  AddressSet clients = AddressSet::Loopback();
  // Set: a connection is encrypted if its first byte is that of a TLS
  // handshake, and refused if its peer does not have the key. A connection from
  // an address that is not in `clear_text_clients` must be encrypted.
  std::optional<TlsContext> tls;
  AddressSet clear_text_clients = AddressSet::Loopback();
  // Limit of the memory for keys, values, queues and waits, in bytes. A request
  // that exceeds it closes its connection; the others continue.
  size_t max_store_bytes = size_t{1} << 30;
  // Limit of all bytes that were received but not handled, or sent but not
  // read. Beyond it, the connection with the largest buffers is closed. If
  // unread replies exceed half of it, new requests wait until clients have
  // read.
  size_t max_buffer_bytes = size_t{2} << 30;
  // How long clients that do not read their replies may delay the requests of
  // others; then these clients are closed.
  Duration timeout = std::chrono::seconds(5);
  // Minimum time for which an element of a queue is reserved for the client
  // whose wait it ended, while others wait for one. A pop follows its wait
  // after a round trip; the limit is for clients that wait but never pop.
  std::chrono::milliseconds offer_timeout = std::chrono::seconds(1);
  // Receives sentences for people, such as why a connection was closed; a
  // bounded number of them. Called from the server's thread, and must not call
  // the server.
  std::function<void(const std::string&)> on_notice;
};

// A round's key-value store in PyTorch's TCPStore protocol, with both old and
// new framing, as described in docs/STORE.md. Runs one thread, which blocks all
// signals and never causes SIGPIPE, so it can run in any process.
//
// Thread-safe.
class StoreServer {
 public:
  // Listens when it returns. Raises the process's soft limit of descriptors to
  // the hard limit, and leaves a few hundred descriptors to other users.
  //   InvalidArgument    the address, port or descriptor is invalid
  //   AlreadyExists      the port is in use
  //   ResourceExhausted  no descriptors or threads are left
  static absl::StatusOr<std::unique_ptr<StoreServer>> Start(
      StoreServerOptions options);

  // Calls Close(""). If the round is broken, call Close with a reason before.
  ~StoreServer();
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  // The port on which the server listens.
  int port() const;

  // Ends the round: stops listening and closes every connection, which releases
  // all waiting clients, and returns the memory of keys and buffers to the
  // system. If clients were waiting and `reason` is not empty, as
  // for a broken round, it goes to on_notice. The port is free when this
  // returns. Idempotent.
  void Close(const std::string& reason);

 private:
  class Running;
  explicit StoreServer(std::unique_ptr<Running> running);

  const std::unique_ptr<Running> running_;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_STORE_SERVER_H_
