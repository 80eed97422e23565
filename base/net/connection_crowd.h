#ifndef MUSTER_BASE_NET_CONNECTION_CROWD_H_
#define MUSTER_BASE_NET_CONNECTION_CROWD_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace muster {

// The connections of a server that share a bounded number of places, ordered by
// age and by the network of the peer (NetworkOf). A server that has too many
// closes the oldest connection of the network with the most, so that one
// network can displace only its own connections while others have fewer. Pure;
// O(log n) per call.
class ConnectionCrowd {
 public:
  // Numbers of connections in the order of their arrival: the smallest one is
  // the oldest.
  using Id = uint64_t;

  // The connections of one network.
  struct Share {
    size_t count = 0;
    Id oldest = 0;
  };

  // `id` must not be in the crowd.
  void Add(Id id, const std::string& network);
  // Returns false if `id` is not in the crowd.
  bool Remove(Id id);

  size_t size() const { return networks_.size(); }
  bool empty() const { return networks_.empty(); }
  // The networks of the connections by their ids, the oldest first.
  const std::map<Id, std::string>& connections() const { return networks_; }

  // The oldest connection. Requires that the crowd is not empty.
  Id Oldest() const { return networks_.begin()->first; }
  // The network with the most connections; among equal ones, the network with
  // the oldest connection. Requires that the crowd is not empty.
  Share Largest() const;

 private:
  using Network = std::pair<const std::string, std::set<Id>>;

  // Shares are ordered by size. Among equal sizes the one with the older
  // connection is greater.
  struct SmallerShare {
    bool operator()(const Network* a, const Network* b) const {
      if (a->second.size() != b->second.size()) {
        return a->second.size() < b->second.size();
      }
      return *a->second.begin() > *b->second.begin();
    }
  };

  std::map<Id, std::string> networks_;
  std::map<std::string, std::set<Id>> by_network_;
  // Elements of by_network_. An element is removed while its set changes.
  std::set<const Network*, SmallerShare> by_size_;
};

}  // namespace muster

#endif  // MUSTER_BASE_NET_CONNECTION_CROWD_H_
