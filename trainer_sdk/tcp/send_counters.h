#ifndef MUSTER_TRAINER_SDK_TCP_SEND_COUNTERS_H_
#define MUSTER_TRAINER_SDK_TCP_SEND_COUNTERS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/time.h"

namespace muster {

// Counters of the kernel (TCP_INFO) for the data that a TCP connection sends.
struct SendCounters {
  // Time during which sent data was not yet acknowledged.
  Duration busy = Duration::zero();
  // The part of `busy` during which the receiver's window was full, because its
  // process did not read.
  Duration receiver_limited = Duration::zero();
  int64_t acknowledged = 0;  // number of acknowledged bytes
  // The rate of the newest transfer that was not limited by this process, in
  // bytes per second; 0: not known.
  int64_t rate = 0;
};

// Returns the counters of the connected socket `fd`. nullopt: `fd` is not a TCP
// socket, or the kernel does not provide the counters (Linux before 4.10).
std::optional<SendCounters> ReadSendCounters(int fd);

// Returns for how long the network limited the sends between two states of the
// counters: the number of acknowledged bytes divided by the connection's rate.
// The result is at most the time for which data was sent but not acknowledged,
// and the receiver's window was not full.
//
// The unacknowledged time alone would often be too long: a receiver that is
// busy computing acknowledges the end of a transfer up to 40 ms late (delayed
// ACK). A slow link may stay unnoticed if every transfer fits into the
// congestion window. Pure.
Duration NetworkLimited(const SendCounters& from, const SendCounters& to);

// Measures for how long the network limits the sends of a group's connections
// to ranks on other hosts. Adds these times to RankTime::Process(). Not
// thread-safe.
class LinkMeter {
 public:
  // The interval between two measurements is kInterval, or kIntervalPerLink
  // times the number of links if that is longer. The longer interval bounds the
  // CPU time per second for measurements, however many links there are.
  static constexpr Duration kInterval = std::chrono::milliseconds(25);
  static constexpr Duration kIntervalPerLink = std::chrono::microseconds(500);

  // Adds the connected socket `fd`, whose other end is the rank `peer` of the
  // world. Ignores the socket if both ends have the same address, which means
  // the same host.
  void Add(int peer, int fd);

  // Reads the counters of all links if the interval since the last measurement
  // is over; otherwise does nothing.
  void Measure(Instant now);

 private:
  struct Link {
    int peer;
    int fd;
    SendCounters last;
  };

  std::vector<Link> links_;
  Instant due_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TCP_SEND_COUNTERS_H_
