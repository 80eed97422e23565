#ifndef MUSTER_BASE_NET_CONNECTION_CROWD_H_
#define MUSTER_BASE_NET_CONNECTION_CROWD_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace muster {

// The connections of a server that accepts a limited number of them, ordered by
// age and by the network of the peer (NetworkOf). A server with too many
// connections closes the oldest connection of the network that has the most
// connections. So a network that opens many connections loses only connections
// of its own; networks with few connections lose none. Pure; O(log n) per call.
class ConnectionCrowd {
 public:
  // The number of a connection. Numbers increase in the order of arrival: the
  // smallest one is the oldest connection.
  using Id = uint64_t;

  // The open connections from one client network: their number, and the id of
  // the oldest.
  struct Share {
    size_t count = 0;
    Id oldest = 0;
  };

  // Adds the connection `id` of a peer in `network`. Requires that no
  // connection has this id yet.
  void Add(Id id, const std::string& network);
  // Removes the connection `id`. Returns false if there is no such connection.
  bool Remove(Id id);

  size_t size() const { return networks_.size(); }
  bool empty() const { return networks_.empty(); }
  // The peer's network (NetworkOf, for example an IPv6 /64 prefix) of each
  // connection by the connection's id, so the oldest connection first.
  const std::map<Id, std::string>& connections() const { return networks_; }

  // The id of the oldest connection. Requires that there is a connection.
  Id Oldest() const { return networks_.begin()->first; }
  // The network with the most connections; among networks with equally many,
  // the one with the oldest connection. Requires that there is a connection.
  Share Largest() const;

 private:
  using Network = std::pair<const std::string, std::set<Id>>;

  // Orders networks by the number of their connections. Of two networks with
  // equal numbers, the network with the older connection is greater.
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
  // All networks that have connections, in the order of SmallerShare, as
  // pointers into by_network_. A network's position depends on its connections.
  // Therefore a network is removed from this set before its connections change,
  // and is added again afterwards.
  std::set<const Network*, SmallerShare> by_size_;
};

}  // namespace muster

#endif  // MUSTER_BASE_NET_CONNECTION_CROWD_H_
