#ifndef MUSTER_STORE_SERVER_CONNECTION_TABLE_H_
#define MUSTER_STORE_SERVER_CONNECTION_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/owned_fd.h"
#include "store/core/store_effects.h"
#include "store/server/store_connection.h"

namespace muster::store {

// A hub's connections by id. The lower bits of an id are the descriptor, so
// that a look-up needs no hashing; above them is a serial number, so that an id
// is never reused with its descriptor. No id is below 2^24.
class ConnectionTable {
 public:
  StoreConnection& Add(OwnedFd socket, StoreConnection::Role role);
  // Returns null if the connection is gone.
  StoreConnection* Find(StoreClientId id) const;
  // Closes the connection's socket.
  void Remove(const StoreConnection& connection);
  void Clear();

  // The first connection in the order of `before`, without those that are
  // ending; null if there is none. O(n).
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
  // Indexed by descriptor; null if not open.
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

#endif  // MUSTER_STORE_SERVER_CONNECTION_TABLE_H_
