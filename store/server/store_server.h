#ifndef MUSTER_STORE_SERVER_STORE_SERVER_H_
#define MUSTER_STORE_SERVER_STORE_SERVER_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "base/time.h"

namespace muster {

struct StoreServerOptions {
  // A numeric IPv4 or IPv6 address of this host; empty: all of both kinds.
  std::string address;
  // 0: any free one; StoreServer::port() tells it.
  int port = 0;
  // A stream socket that is bound and listens already, in place of the two
  // above. Owned from then on.
  OwnedFd listener;
  // What keys, values, queues and waits may take together, in bytes. A request
  // beyond it ends its connection, the others go on.
  size_t max_store_bytes = size_t{1} << 30;
  // What all connections may have received and not yet handled, or been sent
  // and not yet read. Beyond it the connection with the most of it is ended.
  // With half of it unread, requests wait until clients have read more.
  size_t max_buffer_bytes = size_t{2} << 30;
  // How long clients that do not read may keep the others waiting so; then they
  // are ended.
  Duration patience = std::chrono::seconds(5);
  // How long at least an element of a queue is kept for the client whose wait
  // it ended, while others wait for one. A pop comes a round trip after its
  // wait; the bound is for who waited without meaning to pop.
  std::chrono::milliseconds offer_patience = std::chrono::seconds(1);
  // One sentence for a person, such as why a connection was ended; a bounded
  // number of them. Called from the server's thread: don't call the server.
  std::function<void(const std::string&)> on_notice;
};

// A round's key-value store in PyTorch's TCPStore protocol, old framing and
// new, as docs/STORE.md describes it. One thread of its own; may be started in
// a process with others, and needs no signal handling: it blocks all signals
// for its thread and is never sent SIGPIPE.
//
// Thread-safe.
class StoreServer {
 public:
  // Listens when this returns. Raises the process's soft limit of descriptors
  // to the hard one, and leaves a few hundred of them to others.
  //   InvalidArgument    the address, port or descriptor is none
  //   AlreadyExists      the port is taken
  //   ResourceExhausted  no descriptors or threads are left
  static absl::StatusOr<std::unique_ptr<StoreServer>> Start(
      StoreServerOptions options);

  // As Close(""): who ends a round that is broken says so first.
  ~StoreServer();
  StoreServer(const StoreServer&) = delete;
  StoreServer& operator=(const StoreServer&) = delete;

  // The port that it listens on.
  int port() const;

  // The round is over: listens no more and ends every connection, so that
  // everybody who waits is released. `reason` goes to on_notice if anybody
  // waited; of a round that ended well it is empty, and nothing does. When this
  // returns the port is free. Further calls do nothing.
  void Close(const std::string& reason);

 private:
  class Running;
  explicit StoreServer(std::unique_ptr<Running> running);

  const std::unique_ptr<Running> running_;
};

}  // namespace muster

#endif  // MUSTER_STORE_SERVER_STORE_SERVER_H_
