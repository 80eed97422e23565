#ifndef MUSTER_TESTS_NAMESPACES_WIRE_H_
#define MUSTER_TESTS_NAMESPACES_WIRE_H_

#include <atomic>
#include <cstdint>
#include <vector>

namespace muster {

// The state of the simulated network; in memory that processes share.
struct Weather {
  std::atomic<int64_t> delay_ns{0};
  std::atomic<int> lost_of_a_thousand{0};
  // whether all packets between hosts 0 and 1 are dropped
  std::atomic<bool> cut{false};
};

// The last byte of a host's IPv4 address.
constexpr int AddressByte(int host) { return host + 1; }

// Forwards IPv4 packets between the hosts' TUN devices `tunnels`. `weather`
// says which packets are delayed or dropped. Never returns.
[[noreturn]] void CarryPackets(const std::vector<int>& tunnels,
                               const Weather& weather);

}  // namespace muster

#endif  // MUSTER_TESTS_NAMESPACES_WIRE_H_
