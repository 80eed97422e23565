#ifndef MUSTER_STORE_CORE_BARRIER_LIST_H_
#define MUSTER_STORE_CORE_BARRIER_LIST_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/core/store_effects.h"

namespace muster {

// Who stands at which barrier. How many have come is counted by the store, in
// the number under the barrier's key.
class BarrierList {
 public:
  // What one client at a barrier costs besides the key's bytes, about.
  static constexpr size_t kBytesPerClient = 240;

  // The client stands at the barrier until `world` have come. It must not be
  // standing at one.
  void Add(StoreClientId client, std::string_view key, int64_t world);

  // `count` have come to the barrier: whom that lets go, smaller worlds first
  // and each in the order they came.
  std::vector<StoreClientId> Reached(std::string_view key, int64_t count);

  // The client goes away unreleased: from which barrier, if it stood at one.
  std::optional<std::string> Remove(StoreClientId client);

  bool Waits(StoreClientId client) const { return stands_.contains(client); }
  size_t clients() const { return stands_.size(); }
  // Whether nobody stands at any barrier.
  bool empty() const { return queues_.empty(); }
  size_t bytes() const { return bytes_; }

 private:
  // By world, then order of arrival: who is let go comes first.
  using Place = std::pair<int64_t, uint64_t>;
  using Queue = std::map<Place, StoreClientId>;
  using Queues = std::map<std::string, Queue, std::less<>>;
  struct Stand {
    Place place;
    Queues::iterator queue;
  };

  Queues queues_;
  std::map<StoreClientId, Stand> stands_;
  uint64_t next_ticket_ = 0;
  size_t bytes_ = 0;
};

}  // namespace muster

#endif  // MUSTER_STORE_CORE_BARRIER_LIST_H_
