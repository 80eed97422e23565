#ifndef MUSTER_STORE_SERVER_STORE_CONNECTION_H_
#define MUSTER_STORE_SERVER_STORE_CONNECTION_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/net/tls_stream.h"
#include "base/owned_fd.h"
#include "store/core/store_effects.h"
#include "store/server/buffer_budget.h"
#include "store/wire/request.h"

namespace muster::store {

// A buffer of bytes, appended at the end and consumed from the front. Each byte
// is moved O(1) times (amortised). An empty buffer holds at most 256 bytes of
// heap memory.
class ByteQueue {
 public:
  // The bytes that are not consumed yet. Valid until the next change.
  std::string_view view() const {
    return std::string_view(bytes_).substr(consumed_);
  }
  size_t size() const { return bytes_.size() - consumed_; }
  bool empty() const { return size() == 0; }

  void Append(std::string_view bytes) { bytes_.append(bytes); }
  // Returns the string to which bytes are appended.
  std::string* back() { return &bytes_; }

  void Consume(size_t count) {
    consumed_ += count;
    if (consumed_ == bytes_.size()) {
      bytes_.clear();
      consumed_ = 0;
      if (bytes_.capacity() > kKept) bytes_.shrink_to_fit();
    } else if (consumed_ > bytes_.size() / 2) {
      bytes_.erase(0, consumed_);
      consumed_ = 0;
    }
  }

  // Heap memory of this buffer, in bytes.
  size_t capacity() const {
    return bytes_.capacity() > kInline ? bytes_.capacity() : 0;
  }

 private:
  // The largest capacity of a std::string that needs no heap memory.
  static constexpr size_t kInline = 15;
  static constexpr size_t kKept = 256;

  std::string bytes_;
  size_t consumed_ = 0;
};

// One socket of a StoreHub (the event loop of a store server or relay), with
// its buffers and state. Takes a few hundred bytes while it is idle, because
// there may be tens of thousands of idle connections.
struct StoreConnection {
  enum class Role {
    kClient,
    kRelay,  // the server's connection from a relay; carries many clients
    // A relay's connection to the server, to which the relay forwards the
    // requests of its clients.
    kUpstream,
  };

  // The state of the connection's opening, which may be a TLS handshake.
  enum class Opening {
    // The TLS handshake, if there is one, is complete: the peer sends requests
    // or frames.
    kDone,
    // No byte has arrived: the first one will show whether the peer uses TLS.
    kUndecided,
    // The TLS handshake is not complete yet.
    kHandshake,
  };

  StreamSocket socket;
  Opening opening = Opening::kDone;
  StoreClientId id = 0;
  Role role = Role::kClient;
  RequestParser parser;
  ByteQueue in;
  ByteQueue out;
  // Channel numbers and client ids of a relay's clients. Empty for a connection
  // that is not a relay's.
  std::map<uint32_t, StoreClientId> channels;
  // The epoll events for which the socket is registered.
  uint32_t watched = 0;
  // Whether the connection is in the list of connections to which the StoreHub
  // (the network loop of a store server or relay) will send new data.
  bool scheduled = false;
  // Whether the service is handling bytes of `in` or of the socket's last read
  // right now.
  bool processed = false;
  // Whether reading from the socket and the handling of `in` are paused,
  // because the next request must wait (RequestGate).
  bool stalled = false;
  // Whether the connection is in the StoreHub's FIFO of connections that wait
  // for the buffer budget.
  bool queued = false;
  // Whether the connection will be closed once the current event is handled.
  bool ending = false;
  // The memory of this connection as counted in the BufferBudget that all
  // connections of the server share.
  BufferShare share;

  // Memory of the connection's buffers and channels in bytes.
  size_t Memory() const {
    return in.capacity() + parser.memory() + out.capacity() +
           channels.size() * kBytesPerChannel;
  }

 private:
  static constexpr size_t kBytesPerChannel = 256;
};

// Returns the peer's address, such as "10.1.2.3 port 4567". If the peer has
// disconnected, the text says so.
std::string PeerName(const OwnedFd& socket);

// Maps the channels of relays' connections to client ids and back. The client
// ids differ from all ids of connections.
class ChannelTable {
 public:
  struct Place {
    StoreClientId connection;
    uint32_t channel;
  };

  static bool IsChannel(StoreClientId client) { return client & kBit; }

  // Returns the client of the channel, created if it is new. ResourceExhausted:
  // the connection has too many channels.
  absl::StatusOr<StoreClientId> ClientOf(StoreConnection& connection,
                                         uint32_t channel);

  // Returns the connection and channel of the client; null if the client has
  // disconnected.
  const Place* Find(StoreClientId client) const;

  // Ends one channel of the connection, and appends its client to `gone`.
  // EndAll does the same for all channels.
  void End(StoreConnection& connection, uint32_t channel,
           std::vector<StoreClientId>* gone);
  void EndAll(StoreConnection& connection, std::vector<StoreClientId>* gone);

 private:
  static constexpr StoreClientId kBit = StoreClientId{1} << 63;

  std::unordered_map<StoreClientId, Place> places_;
  uint64_t next_ = 0;
};

// The connections of a StoreHub (the event loop of a store server or relay) by
// id. The low bits of an id are the descriptor, so a look-up needs no hashing.
// The high bits are a serial number, so a connection that reuses a descriptor
// has a new id. No id is below 2^24.
class ConnectionTable {
 public:
  StoreConnection& Add(StreamSocket socket, StoreConnection::Role role);
  // Returns the connection with this id; null if it is already removed.
  StoreConnection* Find(StoreClientId id) const;
  // Closes the connection's socket and deletes the connection.
  void Remove(const StoreConnection& connection);
  void Clear();

  // Returns the connection that is first in the order of `before`, among those
  // that will not be closed after the current event. Null if there is none.
  // O(n).
  template <typename Before>
  StoreConnection* First(Before before) const {
    StoreConnection* first = nullptr;
    for (const auto& connection : by_fd_) {
      if (connection == nullptr || connection->ending) continue;
      if (first == nullptr || before(*connection, *first)) {
        first = connection.get();
      }
    }
    return first;
  }

  size_t size() const { return size_; }
  // All connections, indexed by descriptor; null: no connection.
  const std::vector<std::unique_ptr<StoreConnection>>& slots() const {
    return by_fd_;
  }

 private:
  static constexpr int kFdBits = 24;

  std::vector<std::unique_ptr<StoreConnection>> by_fd_;
  size_t size_ = 0;
  uint64_t next_serial_ = 1;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_STORE_CONNECTION_H_
