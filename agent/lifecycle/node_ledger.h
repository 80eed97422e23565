#ifndef MUSTER_AGENT_LIFECYCLE_NODE_LEDGER_H_
#define MUSTER_AGENT_LIFECYCLE_NODE_LEDGER_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "agent/progress/progress_message.h"
#include "base/time.h"
#include "rendezvous/protocol/time_ledger.h"

namespace muster::agent {

// Attributes each instant of a node, from its agent's start, to one activity.
// Pure; not thread-safe. Times must not run backwards.
//
// While workers train, the activity during a pause between two steps is known
// only at the second step. A pause contains a stall if it is longer than
// kLeastStall, and longer than kStallFactor times the usual pause. The part
// beyond a usual pause then counts as stalled.
//
// The time before the first step counts as initialising. If the round ends
// before any worker has reported progress, this time counts as running instead.
class NodeLedger {
 public:
  static constexpr int kStallFactor = 10;
  static constexpr Duration kLeastStall = std::chrono::seconds(1);

  explicit NodeLedger(Instant now);

  // Attributes the time from `now` on to `activity`: kWaiting, kIdle,
  // kStarting, kStopping or kRecovering. After a call of Train, the workers'
  // steps determine all other activities. No effect if `activity` is the
  // current one.
  void Enter(Instant now, rendezvous::Activity activity);
  // Lets the workers' steps (Hear) determine the activity from `now` on, until
  // the next call of Enter. `reached`: the highest step that earlier rounds
  // have reached; -1: none. No effect if the workers' steps already determine
  // the activity.
  void Train(Instant now, int64_t reached);
  // Records a worker's progress report. Has an effect only while the workers'
  // steps determine the activity: from a call of Train to the next call of
  // Enter.
  void Hear(Instant now, const ProgressMessage& message);
  // Records that round `round` has ended early. From now on, all time counts as
  // lost because of this end, except time that is idle, stalled or spent on
  // checkpoints. This continues until the workers make a step that no earlier
  // round has reached.
  void Break(Instant now, int round);

  // Returns how long the node has spent on each activity since its start, as if
  // the current activity ended at `now`.
  rendezvous::NodeTime Read(Instant now) const;

 private:
  struct Training {
    int64_t reached = -1;
    std::optional<int64_t> step;  // the highest step reported in this round
    bool has_reported = false;
    bool is_checkpointing = false;
    // moving mean of the pauses between two steps; nullopt: none is known
    std::optional<Duration> usual_pause;
  };

  // The part of `pause`, the time between two steps, that counts as stalled.
  Duration Stalled(Duration pause) const;
  // Attributes the time since `since_` to the current activity.
  void Settle(Instant now);
  void SettlePause(Instant now, rendezvous::Activity steps);
  void Add(rendezvous::Activity activity, Duration time);

  Instant since_;
  rendezvous::Activity activity_ = rendezvous::Activity::kWaiting;
  // The state of the workers' steps since the call of Train. While it is set,
  // these steps determine the node's activity; nullopt: `activity_` is the
  // node's activity.
  std::optional<Training> training_;
  rendezvous::NodeTime time_;
  // Whether the time that passes now counts as lost because a round ended
  // early. If so, it is added to the last entry of time_.losses, which belongs
  // to the newest round that ended early.
  bool recovers_ = false;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LIFECYCLE_NODE_LEDGER_H_
