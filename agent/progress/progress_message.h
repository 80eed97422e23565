#ifndef MUSTER_AGENT_PROGRESS_PROGRESS_MESSAGE_H_
#define MUSTER_AGENT_PROGRESS_PROGRESS_MESSAGE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "rendezvous/protocol/progress.h"

namespace muster::agent {

// A worker's progress report: one datagram in the format of sd_notify(3), lines
// KEY=VALUE. Unknown keys are ignored.
//
//   STEP=1200             the last finished step, 0 or more
//   LOSS=2.31             any number, nan and inf included
//   TOKENS_PER_S=51000    0 or more
//   STATUS=warming up     one line for people
//   CHECKPOINT=1          training waits for a checkpoint from now on, until
//                         CHECKPOINT=0 or the next step
//   WATCHDOG=1            a sign of life without other content
//   OWN_NS=81000000       total time outside of collectives until now, in ns
//   BLOCKED_NS=9000000    total time inside of collectives until now, in ns
//   DATA_NS=2000000       total time spent waiting for data until now, in ns
//   LINKS_NS=3:70,11:0    total time until now for which the network limited
//                         sends to other ranks of the world, in nanoseconds;
//                         RANK:TIME, at most rendezvous::kMaxLinksPerRank, no
//                         rank twice
//   SENT_BYTES=900        total bytes sent to other hosts until now
//   WATCHDOG_S=30         from now on a silence of this many seconds is a
//                         hang; 0: never, whatever the agent's own setting
//
// Each valid line counts as a sign of life and starts the hang watch, except
// lines with the key SENT_BYTES or a key that ends with _NS. The SDK sends
// these excepted lines even for a program that reports no progress, and the
// hang watch must not start for such a program.
struct ProgressMessage {
  bool alive = false;
  std::optional<int64_t> step;
  std::optional<double> loss;
  std::optional<double> tokens_per_s;
  std::optional<std::string> status;  // printable text, at most kMaxStatusBytes
  std::optional<bool> checkpoint;
  // silence that counts as a hang (WATCHDOG_S); zero: no silence counts
  std::optional<Duration> watchdog;
  std::optional<Duration> own;      // time outside of collectives (OWN_NS)
  std::optional<Duration> blocked;  // time inside of collectives (BLOCKED_NS)
  std::optional<Duration> data;     // time spent waiting for data (DATA_NS)
  // for each receiving rank, the total time until now for which the network
  // limited sends to that rank (LINKS_NS)
  std::optional<std::vector<rendezvous::LinkTime>> links;
  std::optional<int64_t> sent;  // bytes sent to other hosts (SENT_BYTES)

  // Whether the message has no valid line.
  bool empty() const {
    return !alive && !own && !blocked && !data && !links && !sent;
  }
};

struct WorkerSaid {
  int local_rank = 0;
  ProgressMessage message;
};

// The maximum length in bytes of a datagram. A longer datagram is read up to
// its last complete line within this length.
inline constexpr size_t kMaxProgressBytes = 4096;
// A smaller WATCHDOG_S is raised to this value: a deadline shorter than the
// agent's own delays would report false hangs.
inline constexpr Duration kShortestWatchdog = std::chrono::milliseconds(100);

// Parses the text of a datagram, which may have any bytes. Ignores invalid
// values. Pure.
ProgressMessage ParseProgress(std::string_view datagram);

// Merges `later` into `message`: the fields that `later` has replace the older
// ones. Pure.
void Append(const ProgressMessage& later, ProgressMessage* message);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PROGRESS_PROGRESS_MESSAGE_H_
