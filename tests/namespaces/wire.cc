#include "tests/namespaces/wire.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <random>

#include "base/monotonic_clock.h"
#include "base/poll.h"

namespace muster {
namespace {

struct Packet {
  Instant due;
  int host = 0;
  std::vector<char> bytes;
};

// Offsets of the last byte of the source and destination address of an IPv4
// packet.
constexpr int kSource = 15;
constexpr int kDestination = 19;
constexpr int kLargest = 65536;

int HostOf(char address_byte) {
  return static_cast<unsigned char>(address_byte) - AddressByte(0);
}

}  // namespace

void CarryPackets(const std::vector<int>& tunnels, const Weather& weather) {
  std::mt19937 draw(1);
  // Delayed packets, ordered by the time at which they must be forwarded.
  std::deque<Packet> late;
  std::array<char, kLargest> buffer;
  for (;;) {
    std::vector<pollfd> fds;
    for (const int tunnel : tunnels) fds.push_back({tunnel, POLLIN, 0});
    PollUntil(fds, late.empty() ? kNoDeadline : late.front().due);
    for (const pollfd& fd : fds) {
      if ((fd.revents & POLLIN) == 0) continue;
      const ssize_t n = read(fd.fd, buffer.data(), buffer.size());
      if (n <= kDestination || (buffer[0] >> 4) != 4) continue;
      const int from = HostOf(buffer[kSource]);
      const int to = HostOf(buffer[kDestination]);
      const bool lost =
          static_cast<int>(draw() % 1000) < weather.lost_of_a_thousand.load();
      const bool cut = weather.cut.load() && from + to == 1;
      if (to < 0 || to >= static_cast<int>(tunnels.size()) || lost || cut) {
        continue;
      }
      late.push_back(
          Packet{MonotonicNow() + Duration(weather.delay_ns.load()), to,
                 std::vector<char>(buffer.data(), buffer.data() + n)});
    }
    while (!late.empty() && late.front().due <= MonotonicNow()) {
      const Packet& packet = late.front();
      (void)!write(tunnels[packet.host], packet.bytes.data(),
                   packet.bytes.size());
      late.pop_front();
    }
  }
}

}  // namespace muster
