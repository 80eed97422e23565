#ifndef MUSTER_STORE_CORE_WATCH_LIST_H_
#define MUSTER_STORE_CORE_WATCH_LIST_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "store/core/store_effects.h"

namespace muster::store {

// The clients that are notified of every change of a key (WATCH_KEY of the old
// framing). No client of PyTorch's Python API uses it.
class WatchList {
 public:
  static constexpr size_t kBytesPerWatch = 240;

  // Adds a watch. Idempotent for each client and key.
  void Add(StoreClientId client, std::string_view key);
  void Remove(StoreClientId client);

  // Whether there are no watches. O(1), since it is called on every change.
  bool empty() const { return keys_.empty(); }
  // The clients that watch `key`.
  const std::set<StoreClientId>& WatchersOf(std::string_view key) const;
  size_t bytes() const { return bytes_; }

 private:
  std::map<std::string, std::set<StoreClientId>, std::less<>> keys_;
  std::map<StoreClientId, std::set<std::string>> clients_;
  size_t bytes_ = 0;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_CORE_WATCH_LIST_H_
