#ifndef MUSTER_BASE_NET_ADDRESS_SET_H_
#define MUSTER_BASE_NET_ADDRESS_SET_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/net/socket_address.h"

namespace muster {

// A set of IP addresses and networks. An IPv4 address and the IPv6 address that
// maps it (::ffff:10.0.0.7) are equal; the zone of a link-local address does
// not count. Pure.
class AddressSet {
 public:
  // Returns the set that contains every address.
  static AddressSet All();
  // The addresses 127.0.0.1 and ::1, from which programs of this host connect
  // to its loopback addresses. The rest of 127.0.0.0/8 is not in the set.
  static AddressSet Loopback();

  // Adds an address (10.0.0.7, fe80::1%eth0) or a network (10.0.0.0/8,
  // fd00::/8); "any" adds all addresses. InvalidArgument: `text` is none of
  // these, for example a host name.
  absl::Status Add(std::string_view text);

  // O(log n) in the number of addresses, plus O(n) in the number of networks.
  bool Contains(const SocketAddress& address) const;

  // The number of single addresses; networks are not counted.
  size_t size() const { return addresses_.size(); }

 private:
  // The bits of an IPv6 address, or of an IPv4 address mapped into IPv6.
  using Bits = std::array<uint8_t, 16>;
  struct Network {
    Bits first;
    // number of leading bits that all addresses of the network have in common
    // with `first`, 0 to 128
    size_t prefix_bits;
  };

  static Bits BitsOf(const SocketAddress& address);

  std::set<Bits> addresses_;
  std::vector<Network> networks_;
};

}  // namespace muster

#endif  // MUSTER_BASE_NET_ADDRESS_SET_H_
