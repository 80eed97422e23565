#ifndef MUSTER_STORE_CORE_STORE_CORE_H_
#define MUSTER_STORE_CORE_STORE_CORE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/core/barrier_list.h"
#include "store/core/offer_list.h"
#include "store/core/store_effects.h"
#include "store/core/waiting_list.h"
#include "store/core/watch_list.h"
#include "store/wire/request.h"

namespace muster {

// A round's key-value store without its sockets: keys, queues, barriers and
// those who wait. Pure: what a request does follows from the requests before
// it. Where it differs from PyTorch's server, and why, docs/STORE.md says.
class StoreCore {
 public:
  // `max_bytes`: the most that keys, values, queues and waits may take
  // together, with what they cost to keep. A request beyond it is refused by
  // closing its connection, for the protocol has no errors.
  explicit StoreCore(size_t max_bytes) : max_bytes_(max_bytes) {}

  // One request of one client. Effects are appended.
  void Apply(StoreClientId client, const StoreRequest& request,
             StoreEffects* effects);

  // The client stops waiting without being told, at a barrier too: it gave up.
  void DropWait(StoreClientId client, StoreEffects* effects);

  // The client is gone: its wait, its place at a barrier, its watches. May let
  // others go on, hence the effects.
  void Forget(StoreClientId client, StoreEffects* effects);

  // Whether an element is kept for a client, who may never come for it.
  bool HasOffers() const { return !offers_.empty(); }
  // Offers that stood when this was called before are over: whoever waits may
  // have the elements. To be called now and then while HasOffers.
  void AgeOffers(StoreEffects* effects);

  size_t keys() const { return values_.size(); }
  // Clients that wait for keys or at barriers.
  size_t waiting() const { return waits_.clients() + barriers_.clients(); }
  size_t bytes() const;

 private:
  using Values = std::map<std::string, std::string, std::less<>>;
  using Queues = std::map<std::string, std::deque<std::string>, std::less<>>;
  enum class There { kNo, kAsKey, kAsQueue };

  void Perform(StoreClientId client, const StoreRequest& request,
               StoreEffects* effects);
  void CompareSet(StoreClientId client, const StoreRequest& request,
                  StoreEffects* effects);
  void Add(StoreClientId client, const StoreRequest& request,
           StoreEffects* effects);
  void Wait(StoreClientId client, const StoreRequest& request,
            StoreEffects* effects);
  void Delete(StoreClientId client, const StoreRequest& request,
              StoreEffects* effects);
  void Append(StoreClientId client, const StoreRequest& request,
              StoreEffects* effects);
  void MultiGet(StoreClientId client, const StoreRequest& request,
                StoreEffects* effects);
  void MultiSet(StoreClientId client, const StoreRequest& request,
                StoreEffects* effects);
  void Push(StoreClientId client, const StoreRequest& request,
            StoreEffects* effects);
  void Pop(StoreClientId client, const StoreRequest& request,
           StoreEffects* effects);
  void ListKeys(StoreClientId client, StoreEffects* effects);
  void Barrier(StoreClientId client, const StoreRequest& request,
               StoreEffects* effects);
  void Watch(StoreClientId client, const StoreRequest& request,
             StoreEffects* effects);

  There Find(std::string_view key) const;
  // The value is there from now on; wakes and tells who wants to know.
  void Put(std::string_view key, std::string value, StoreEffects* effects);
  // The number under the key plus `amount`, put there; nothing, and the client
  // closed, where there is no number or no room for it and `beside` bytes more.
  std::optional<int64_t> Increase(StoreClientId client,
                                  const StoreRequest& request, int64_t amount,
                                  size_t beside, StoreEffects* effects);
  void TellWatchers(uint8_t what, std::string_view key, std::string_view before,
                    std::string_view now, StoreEffects* effects);
  // Whether the queue has an element that is offered to nobody.
  bool HasSpare(std::string_view queue) const;
  // A spare element of the queue, if it has any, is for the first who waits.
  void OfferToNext(std::string_view queue, StoreEffects* effects);
  // How much more is taken once the key has a value of `size` bytes: what it
  // replaces makes room.
  size_t Growth(std::string_view key, size_t size) const;
  // Whether so much more fits; closes the client where it does not. No more
  // always does.
  bool HasRoom(StoreClientId client, const StoreRequest& request, size_t bytes,
               StoreEffects* effects);

  const size_t max_bytes_;
  Values values_;
  Queues queues_;
  WaitingList waits_;
  BarrierList barriers_;
  WatchList watches_;
  // An offer ends with its client's next request. If that does not take the
  // element, the next one is woken: nobody waits for a queue alone that has a
  // spare element.
  OfferList offers_;
  // Of values and queues.
  size_t stored_bytes_ = 0;
};

}  // namespace muster

#endif  // MUSTER_STORE_CORE_STORE_CORE_H_
