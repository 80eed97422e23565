#ifndef MUSTER_RENDEZVOUS_JOB_NODE_H_
#define MUSTER_RENDEZVOUS_JOB_NODE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "rendezvous/job/job_step.h"
#include "rendezvous/protocol/report.h"

namespace muster {

// What a member of the current world has made of it.
enum class Part {
  kNone,       // not a member
  kAssigned,   // told to run; has not said that it does
  kRunning,    //
  kSucceeded,  // its workers all exited with 0
  kStopped,    // nothing of this round is left there
};

// What a directive says, short of its wording: equal keys, same revision.
struct DirectiveKey {
  DirectiveKind kind = DirectiveKind::kWait;
  int round = -1;
  uint64_t newest_signal = 0;
  bool at_once = false;
  bool preempted = false;

  friend bool operator==(const DirectiveKey&, const DirectiveKey&) = default;
};

// A node of a job: what its agent last reported, and what it was last told.
struct Node {
  NodeIdentity identity;
  uint64_t joined = 0;  // order of arrival
  uint64_t sequence = 0;
  uint64_t seen = 0;  // the newest revision of ours that it has seen
  NodePhase phase = NodePhase::kIdle;
  int round = 0;
  int offered_master_port = 0;
  std::string offered_nccl_id;
  // The last one that a world was given, or may have been given by an earlier
  // coordinator, or by this one before it lost the node.
  std::string spent_nccl_id;
  uint64_t newest_signal = 0;            // of its own notices, taken over
  int failures_taken = 0;                // of `round`'s failures
  std::vector<WorkerProgress> progress;  // of `round`'s workers, for status
  Fitness fitness = Fitness::kFit;
  std::string unfit;
  bool going = false;  // drained or leaving
  std::string going_why;

  StreamId stream = 0;   // 0: broken
  Instant broken_since;  // where it is broken
  Instant heard;
  Instant deadline;       // lost then, unless heard of
  bool forgiven = false;  // it was put off since (Job::ForgiveSilence)

  // Another agent claims this place. Once this one proves that it lives, the
  // other one is refused, or goes on waiting (Report::waits_for_place); it is
  // admitted (by its next report) once this one has ended or its lease runs
  // out.
  StreamId contender = 0;
  // Revision of the directive sent since: only who has seen it has lived on. A
  // report without it may have been under way while its agent died.
  uint64_t proof_of_life = 0;
  bool proved_alive = false;  // since `contender` came
  uint64_t contender_incarnation = 0;
  Instant contended_since;  // by that incarnation

  // Revision that it must have seen to be given a place. An older kRun may be
  // under way to one that was lost and came back: until it has seen something
  // newer, its being idle says nothing.
  uint64_t must_have_seen = 0;

  Part part = Part::kNone;
  int group_rank = -1;

  DirectiveKey told;
  uint64_t revision = 0;  // of `told`; 0: nothing told yet
  uint64_t wording = 0;   // which wording of a kWait it has

  // Whether it could be given a place in a world right now.
  bool ready() const;
  // Whether it is about to be ready, or to be found unfit.
  bool being_checked() const;
  // Whether only its being unfit keeps it out.
  bool kept_out() const;

 private:
  // Ready, fit or not.
  bool present() const;
};

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_JOB_NODE_H_
