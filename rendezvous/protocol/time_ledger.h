#ifndef MUSTER_RENDEZVOUS_PROTOCOL_TIME_LEDGER_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_TIME_LEDGER_H_

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace muster::rendezvous {

// What a node does at an instant: exactly one of these. The values are also
// indices on the wire and must not change.
enum class Activity {
  kWaiting,        // for a coordinator or other nodes, before its first round
  kIdle,           // a spare, or its workers are done before the others
  kStarting,       // workers are being started
  kInitialising,   // workers run, and have finished no step of this round
  kRunning,        // workers run, and report no steps
  kProductive,     // steps that no earlier round has made
  kCheckpointing,  // a worker has told that training waits for a checkpoint
  kStalled,        // workers report no step for much longer than usual
  kRecomputing,    // steps that an earlier round had made
  kStopping,       // workers are being stopped
  kRecovering,     // between two rounds
};
inline constexpr size_t kActivities = 11;

// Returns a word such as "waiting" or "checkpointing".
std::string_view NameOf(Activity activity);

// The time that one agent has spent on each activity since its start.
struct TimeLedger {
  std::array<Duration, kActivities> spent = {};

  Duration& operator[](Activity activity);
  Duration operator[](Activity activity) const;
  Duration total() const;
};

// The time that a node has lost because `round` ended early: stalled before it,
// then stopping, recovering, starting, initialising and recomputing.
struct RoundLoss {
  int round = 0;
  Duration lost = Duration::zero();
};

struct NodeTime {
  TimeLedger ledger;
  std::vector<RoundLoss> losses;  // the newest kMaxRoundLosses, oldest first
};
inline constexpr size_t kMaxRoundLosses = 4;

// The kind of event that ended a round early.
enum class LossCause {
  kWorker,   // a worker failed
  kHang,     // a worker was silent for too long
  kNode,     // a node was lost
  kChange,   // nodes came or left: a drain, a scale-up, a preemption
  kUnknown,  // a coordinator that is gone knew it
};
inline constexpr size_t kLossCauses = 5;
// Returns a word such as "worker".
std::string_view NameOf(LossCause cause);

// An early end of a round, and its costs. Times of a job are in seconds: sums
// over ten thousand nodes do not fit a Duration.
struct Incident {
  int round = 0;
  LossCause cause = LossCause::kUnknown;
  std::string host;   // the blamed node's; empty: none is blamed
  std::string why;    // a sentence
  int nodes = 0;      // number of nodes that have lost time
  double lost_s = 0;  // the sum over these nodes

  // The mean over the nodes: how long the job went without progress.
  double pause_s() const;
};

// The time of all nodes of a job, also of those that are gone.
struct JobTime {
  std::array<double, kActivities> spent_s = {};
  struct Sum {
    int incidents = 0;
    double pause_s = 0;  // sum of Incident::pause_s
  };
  std::array<Sum, kLossCauses> by_cause = {};  // of all incidents
  std::vector<Incident> newest;  // at most kMaxIncidents, oldest first

  double total_s() const;
  // The time on steps that count: kProductive, and kRunning, of which no more
  // is known.
  double productive_s() const;
  // productive_s over total_s, the ETTR of arXiv 2410.21680; 0 without time.
  double ratio() const;
  // The sum over all causes.
  Sum losses() const;
};
inline constexpr size_t kMaxIncidents = 16;

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_TIME_LEDGER_H_
