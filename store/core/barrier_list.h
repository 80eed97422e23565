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

namespace muster::store {

// The clients that wait at barriers. The number of arrivals is kept by the
// store, as the value of the barrier's key.
class BarrierList {
 public:
  // Approximate memory of one waiting client, in addition to the key's bytes.
  static constexpr size_t kBytesPerClient = 240;

  // Makes `client` wait at the barrier until `world` clients have arrived. The
  // client must not be waiting at a barrier.
  void Add(StoreClientId client, std::string_view key, int64_t world);

  // Removes and returns the clients released once `count` have arrived: smaller
  // worlds first, then in order of arrival.
  std::vector<StoreClientId> Reached(std::string_view key, int64_t count);

  // Removes a client that has not been released. Returns its barrier; nullopt
  // if it was not waiting at one.
  std::optional<std::string> Remove(StoreClientId client);

  bool Waits(StoreClientId client) const { return stands_.contains(client); }
  size_t clients() const { return stands_.size(); }
  // Whether no client waits at any barrier.
  bool empty() const { return queues_.empty(); }
  size_t bytes() const { return bytes_; }

 private:
  // Sorted by world size, then arrival: the order of release.
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

}  // namespace muster::store

#endif  // MUSTER_STORE_CORE_BARRIER_LIST_H_
