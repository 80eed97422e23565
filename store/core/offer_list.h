#ifndef MUSTER_STORE_CORE_OFFER_LIST_H_
#define MUSTER_STORE_CORE_OFFER_LIST_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/core/store_effects.h"

namespace muster::store {

// Offers: clients that a push has woken, and the queue whose element is
// reserved for each. An element is reserved until the client's next request,
// which should pop it.
class OfferList {
 public:
  // Approximate memory of one offer, in addition to the queue's name.
  static constexpr size_t kBytesPerOffer = 160;

  // Reserves an element of `queue` for `client`, which must not have an offer.
  void Add(StoreClientId client, std::string_view queue);

  // Ends the client's offer and returns its queue; nullopt if it had none.
  std::optional<std::string> Take(StoreClientId client);

  // Ends all offers that existed at the previous call of TakeOld. Returns their
  // queues, one entry for each offer.
  std::vector<std::string> TakeOld();

  // The number of clients to which elements of `queue` are offered.
  size_t CountOf(std::string_view queue) const;
  bool empty() const { return offers_.empty(); }
  size_t bytes() const { return bytes_; }

 private:
  // Number of offers by queue.
  using Counts = std::map<std::string, size_t, std::less<>>;
  struct Offer {
    Counts::iterator queue;
    // Whether the offer existed at the last TakeOld.
    bool old = false;
  };
  using Offers = std::map<StoreClientId, Offer>;

  // Ends an offer and returns its queue; `offer` advances to the next offer.
  std::string Remove(Offers::iterator* offer);

  Counts counts_;
  Offers offers_;
  size_t bytes_ = 0;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_CORE_OFFER_LIST_H_
