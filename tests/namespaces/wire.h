#ifndef MUSTER_TESTS_NAMESPACES_WIRE_H_
#define MUSTER_TESTS_NAMESPACES_WIRE_H_

#include <atomic>
#include <cstdint>
#include <vector>

namespace muster {

// How packets fare; lies in memory that processes share.
struct Weather {
  std::atomic<int64_t> delay_ns{0};
  std::atomic<int> lost_of_a_thousand{0};
  std::atomic<bool> cut{false};  // between hosts 0 and 1
};

// The last number of a host's IPv4 address.
constexpr int AddressByte(int host) { return host + 1; }

// Carries IPv4 packets between the TUN devices `tunnels`, one a host, for
// ever.
[[noreturn]] void CarryPackets(const std::vector<int>& tunnels,
                               const Weather& weather);

}  // namespace muster

#endif  // MUSTER_TESTS_NAMESPACES_WIRE_H_
