#ifndef MUSTER_STORE_CORE_WATCH_LIST_H_
#define MUSTER_STORE_CORE_WATCH_LIST_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "store/core/store_effects.h"

namespace muster {

// Who is told of every change of which keys: WATCH_KEY of the old framing. No
// client that PyTorch's Python offers uses it.
class WatchList {
 public:
  static constexpr size_t kBytesPerWatch = 240;

  // Once for each client and key, however often it asks.
  void Add(StoreClientId client, std::string_view key);
  void Remove(StoreClientId client);

  // Whether anybody watches anything: asked on every change, so cheap.
  bool empty() const { return keys_.empty(); }
  // Who watches the key.
  const std::set<StoreClientId>& WatchersOf(std::string_view key) const;
  size_t bytes() const { return bytes_; }

 private:
  std::map<std::string, std::set<StoreClientId>, std::less<>> keys_;
  std::map<StoreClientId, std::set<std::string>> clients_;
  size_t bytes_ = 0;
};

}  // namespace muster

#endif  // MUSTER_STORE_CORE_WATCH_LIST_H_
