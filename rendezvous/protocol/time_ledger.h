#ifndef MUSTER_RENDEZVOUS_PROTOCOL_TIME_LEDGER_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_TIME_LEDGER_H_

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace muster::rendezvous {

// How a node spends its time. A node has exactly one activity at any instant.
// The values are also indices in messages and must not change.
enum class Activity {
  kWaiting,        // before the first round: waits for a coordinator or nodes
  kIdle,           // a spare, or its workers finished before others
  kStarting,       // the node is starting its workers
  kInitialising,   // workers run; no step of this round finished yet
  kRunning,        // workers run, but report no steps
  kProductive,     // workers make steps that no earlier round has reached
  kCheckpointing,  // a worker reports that training waits for a checkpoint
  kStalled,        // workers report no step for much longer than usual
  kRecomputing,    // workers repeat steps that an earlier round had reached
  kStopping,       // the node is stopping its workers
  kRecovering,     // the node waits between two rounds
};
inline constexpr size_t kActivities = 11;

// Returns the activity's name, such as "waiting" or "checkpointing".
std::string_view NameOf(Activity activity);

// The time that one agent has spent on each activity since its start.
struct TimeLedger {
  std::array<Duration, kActivities> spent = {};

  Duration& operator[](Activity activity);
  Duration operator[](Activity activity) const;
  Duration total() const;
};

// The time that a node lost because `round` ended early. This is the time for
// which the workers were stalled before the round ended, and then the time of
// stopping, recovering, starting, initialising and recomputing.
struct RoundLoss {
  int round = 0;
  Duration lost = Duration::zero();
};

struct NodeTime {
  TimeLedger ledger;
  // The newest rounds that ended early, with the time that the node lost by
  // each; at most kMaxRoundLosses, oldest first.
  std::vector<RoundLoss> losses;
};
inline constexpr size_t kMaxRoundLosses = 4;

// The kind of event that caused a round to end early.
enum class LossCause {
  kWorker,   // a worker failed
  kHang,     // a worker was silent for too long
  kNode,     // a node was lost
  kChange,   // nodes joined or left: drain, scale-up, preemption
  kUnknown,  // only an earlier coordinator knew why the round ended
};
inline constexpr size_t kLossCauses = 5;
// Returns the name of the cause, such as "worker".
std::string_view NameOf(LossCause cause);

// A round that ended early, and the time that its end cost. A job's times are
// floating-point numbers of seconds, because sums over ten thousand nodes do
// not fit a Duration.
struct Incident {
  int round = 0;
  LossCause cause = LossCause::kUnknown;
  std::string host;  // host of the blamed node; empty: none
  std::string why;   // why the round ended, a sentence
  int nodes = 0;     // number of nodes that lost time
  // The time that these nodes lost, in seconds: the sum over the nodes.
  double lost_s = 0;

  // Mean time in seconds that a node lost (lost_s / nodes). It estimates for
  // how long the job made no progress.
  double pause_s() const;
};

// How all nodes of a job, including those that have left it, have spent their
// time, and the losses by cause.
struct JobTime {
  std::array<double, kActivities> spent_s = {};
  struct Sum {
    int incidents = 0;
    double pause_s = 0;  // sum of the incidents' Incident::pause_s, in seconds
  };
  // For each LossCause: the number of rounds that ended early because of it
  // (incidents), and the sum of their pauses.
  std::array<Sum, kLossCauses> by_cause = {};
  // The newest incidents, oldest first; at most kMaxIncidents.
  std::vector<Incident> newest;
  // The incidents for which one host is blamed.
  struct HostLosses {
    std::string host;  // empty: the incidents for which no host is blamed
    std::array<Sum, kLossCauses> by_cause = {};

    Sum total() const;
  };
  // The part of `by_cause` of each host: those with the longest pauses, longest
  // first; at most kMaxLossHosts.
  std::vector<HostLosses> by_host;

  double total_s() const;
  // The time in seconds that counts as progress: kProductive plus kRunning.
  // kRunning is the time of workers that report no steps: how much of it was
  // unproductive is unknown, so all of it counts.
  double productive_s() const;
  // productive_s divided by total_s, the ETTR of arXiv 2410.21680; 0 if no time
  // was recorded.
  double ratio() const;
  // The number of rounds that ended early (incidents) and the sum of their
  // pauses, over all causes.
  Sum losses() const;
  // The part of losses() that `by_host` does not contain.
  Sum other_hosts() const;
};
inline constexpr size_t kMaxIncidents = 16;
inline constexpr size_t kMaxLossHosts = 64;

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_TIME_LEDGER_H_
