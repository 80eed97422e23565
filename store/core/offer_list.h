#ifndef MUSTER_STORE_CORE_OFFER_LIST_H_
#define MUSTER_STORE_CORE_OFFER_LIST_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/core/store_effects.h"

namespace muster {

// Whose wait an element of which queue has ended. The client's next request
// should take the element; until then it is not offered to anybody else.
class OfferList {
 public:
  // What one offer costs besides the queue's name, about.
  static constexpr size_t kBytesPerOffer = 160;

  // An element of the queue is the client's, who must not have an offer.
  void Add(StoreClientId client, std::string_view queue);

  // The client's offer is over: of which queue, if it had one.
  std::optional<std::string> Take(StoreClientId client);

  // Offers that stood when this was called before are over: their queues, one
  // for each offer.
  std::vector<std::string> TakeOld();

  // To how many clients elements of the queue are offered.
  size_t CountOf(std::string_view queue) const;
  bool empty() const { return offers_.empty(); }
  size_t bytes() const { return bytes_; }

 private:
  // How many offers, by queue.
  using Counts = std::map<std::string, size_t, std::less<>>;
  struct Offer {
    Counts::iterator queue;
    // Whether TakeOld has seen it.
    bool old = false;
  };
  using Offers = std::map<StoreClientId, Offer>;

  // Ends an offer and returns its queue; `offer` goes on to the one behind it.
  std::string Remove(Offers::iterator* offer);

  Counts counts_;
  Offers offers_;
  size_t bytes_ = 0;
};

}  // namespace muster

#endif  // MUSTER_STORE_CORE_OFFER_LIST_H_
