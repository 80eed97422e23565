#ifndef MUSTER_RENDEZVOUS_PROTOCOL_PROGRESS_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_PROGRESS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace muster::rendezvous {

// The progress of one worker in its node's current round. The worker has sent
// it to the agent's datagram socket. Only `silent_for` and `deadline` affect
// decisions; the other fields are for display.
struct WorkerProgress {
  int local_rank = 0;
  std::optional<int64_t> step;
  // the training loss, as the worker reported it; may be NaN or infinite
  std::optional<double> loss;
  std::optional<double> tokens_per_s;
  std::string status;  // one line of text from the worker
  // How long the worker had sent nothing to its agent when the message with
  // this WorkerProgress was made.
  Duration silent_for = Duration::zero();
  // After a silence of this length, the worker counts as hung; 0: never.
  Duration deadline = Duration::zero();
};

// How long the network limited the sends of one worker to a worker on another
// host, since the first collective.
struct LinkTime {
  int peer = 0;  // the receiver's rank in the world
  // Time for which the network limited the sends: data was in transit, and
  // neither the sender nor the receiver was the cause of the delay.
  Duration limited = Duration::zero();

  bool operator==(const LinkTime&) const = default;
};

// How a worker has spent its time since its first collective, as measured in
// the worker's process. The values increase while the worker lives. A value
// that is lower than the previous one means that the measurement began anew.
struct RankTimes {
  int local_rank = 0;
  // Time with no collective in progress: the worker's own work.
  Duration own = Duration::zero();
  // Time with a collective in progress: the transfer, and the wait for ranks
  // that join the collective later.
  Duration blocked = Duration::zero();
  // Time spent waiting for input data, as far as the worker reports it.
  Duration data = Duration::zero();
  // The links whose sends the network has limited for the longest time; at most
  // kMaxLinksPerRank.
  std::vector<LinkTime> links;
  // Bytes sent to other hosts, over all links.
  int64_t sent = 0;

  bool operator==(const RankTimes&) const = default;
};

// Maximum number of workers in each of the lists Report::progress and
// Report::times. A node with more workers leaves the others out of its reports.
inline constexpr int kMaxProgressPerReport = 4096;
inline constexpr size_t kMaxStatusBytes = 64;
// Maximum length of RankTimes::links.
inline constexpr size_t kMaxLinksPerRank = 8;

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_PROGRESS_H_
