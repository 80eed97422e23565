#ifndef MUSTER_STORE_CORE_WAITING_LIST_H_
#define MUSTER_STORE_CORE_WAITING_LIST_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/core/store_effects.h"

namespace muster {

// Who waits for which keys. A wait is over when each of its keys was there at
// some moment since it began; that they are there together is not asked for,
// as PyTorch does not. First come, first served.
class WaitingList {
 public:
  // What one awaited key costs besides its own bytes, about: nodes of two maps.
  static constexpr size_t kBytesPerKey = 160;

  // `keys`, not empty, are those not there yet. The client must not be waiting.
  void Add(StoreClientId client, const std::vector<std::string_view>& keys);

  // The key is there now: whose wait that ends, in the order they came.
  std::vector<StoreClientId> Ready(std::string_view key);

  // One thing is there under the key, for one client: the first whose wait that
  // ends.
  std::optional<StoreClientId> ReadyForOne(std::string_view key);

  // The client waits no more; nothing where it did not.
  void Remove(StoreClientId client);

  bool Waits(StoreClientId client) const { return waits_.contains(client); }
  size_t clients() const { return waits_.size(); }
  // Whether no key is waited for: asked on every change, so cheap.
  bool empty() const { return queues_.empty(); }
  // An estimate of the memory held.
  size_t bytes() const { return bytes_; }

 private:
  // By order of arrival.
  using Queue = std::map<uint64_t, StoreClientId>;
  using Queues = std::map<std::string, Queue, std::less<>>;
  struct Wait {
    uint64_t ticket;
    // The keys not seen yet.
    std::map<std::string_view, Queues::iterator> missing;
  };

  // The client has seen that key. Whether its wait is over.
  bool Saw(StoreClientId client, std::string_view key);

  Queues queues_;
  std::map<StoreClientId, Wait> waits_;
  uint64_t next_ticket_ = 0;
  size_t bytes_ = 0;
};

}  // namespace muster

#endif  // MUSTER_STORE_CORE_WAITING_LIST_H_
