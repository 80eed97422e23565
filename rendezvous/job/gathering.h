#ifndef MUSTER_RENDEZVOUS_JOB_GATHERING_H_
#define MUSTER_RENDEZVOUS_JOB_GATHERING_H_

#include <optional>

#include "base/time.h"
#include "rendezvous/protocol/job_spec.h"

namespace muster::rendezvous {

// The start of a job's current phase, and how long the phase's time limit is
// postponed. Pure.
struct PhaseClock {
  Instant since;
  // The time limit of the job's current phase does not expire before this time;
  // nullopt: not postponed.
  std::optional<Instant> postponed_until;

  // Returns when the time limit expires. `limit`: when it would expire if it
  // were not postponed.
  Instant Postponed(Instant limit) const;
  // Postpones the phase's time limit to `now` + `delay`, at most once in each
  // phase. A limit that is later than `now` + `delay` does not change. `limit`:
  // the phase's current limit; nullopt: the phase has none.
  void Postpone(Instant now, std::optional<Instant> limit, Duration delay);
};

// Policy of the gathering phase: whether to form a world of the nodes that are
// ready, to wait for more, or to end the job. Pure.
//
// A world forms as soon as max_nodes nodes are ready. If fewer, but at least
// min_nodes, are ready, a world forms at the first of these times:
// - in the first gathering: when the last call (the wait for more nodes) is
//   over;
// - in later gatherings: when as many nodes are ready as the previous world
//   had, or when the wait for a replacement is over;
// - in all gatherings: at the join time-out.
//
// Some conditions postpone the world:
// - While health checks run, a world of fewer than max_nodes nodes forms only
//   at the join time-out.
// - The same holds in later gatherings while a node may still reconnect.
// - Before the time that was given to Begin, a world of any size forms only at
//   the join time-out.
// - While the nodes' answers are awaited (AwaitAnswers), no world forms.
//
// The job times out at the join time-out if fewer than min_nodes nodes are
// ready. In later gatherings, the job is given up if fewer than min_nodes nodes
// have been present for the rejoin time-out. AwaitAnswers postpones both
// time-outs.
class Gathering {
 public:
  // The numbers of nodes from which Decide decides whether a world forms.
  struct Nodes {
    int present = 0;        // number of the job's nodes, ready or not
    int ready = 0;          // nodes that can get a rank now
    int being_checked = 0;  // nodes that become ready or unhealthy soon
    int broken = 0;         // nodes without a stream that are not lost yet
    // nodes that become ready once they confirm a directive (Node::unanswered)
    int unanswered = 0;
    int previous_world = 0;
  };
  enum class Decision { kWait, kForm, kTimeOut, kGiveUp };

  // Whether the job has not formed any world yet.
  bool first() const { return first_; }
  // Starts a gathering for a later round than the first. Before `not_before` no
  // world forms, except at the join time-out.
  void Begin(Instant not_before = Instant());
  // Until the time `until`, Decide forms no world while a node has not answered
  // (Nodes::unanswered), and never ends the job. Call this when the nodes'
  // newest reports may be outdated.
  void AwaitAnswers(Instant now, Instant until) {
    asked_ = now;
    answers_until_ = until;
  }
  bool AwaitsAnswers(Instant now) const { return now < answers_until_; }
  // Records that a world has formed, so that later gatherings are not the first
  // one (first()).
  void End() { first_ = false; }
  // Makes the first gathering omit the last call (the wait for more nodes once
  // min_nodes are ready). Called if the nodes have been waited for already.
  void SkipLastCall() { has_last_call_ = false; }

  // Returns the next action. Call it after each change of `nodes` and at each
  // deadline. `clock`: the clock of the gathering phase.
  Decision Decide(Instant now, const JobSpec& spec, const Nodes& nodes,
                  const PhaseClock& clock);

  // The earliest time at which a world may form.
  Instant not_before() const { return not_before_; }

  // The time at which the job times out or is given up.
  Instant Limit(const JobSpec& spec, const PhaseClock& clock) const;
  // The next time at which the result of Decide may change although the nodes
  // do not.
  Instant NextDeadline(Instant now, const JobSpec& spec,
                       const PhaseClock& clock) const;

 private:
  // Returns `limit`, postponed for a suspension of the coordinator (`clock`)
  // and for a wait for the nodes' answers (AwaitAnswers).
  Instant Postponed(Instant limit, const PhaseClock& clock) const;
  // Returns when the last call (the wait for more nodes once min_nodes are
  // ready) is over. Requires `enough_since_`.
  //
  // AwaitAnswers begins the last call anew, because reports of nodes that have
  // joined may be unread at that time. The new last call ends no later than the
  // wait for answers.
  Instant LastCallEnd(const JobSpec& spec) const;

  bool first_ = true;
  bool has_last_call_ = true;
  Instant not_before_;
  // The time of the newest call of AwaitAnswers, which starts a wait for nodes
  // that have not confirmed a directive (Nodes::unanswered).
  Instant asked_;
  // The time at which the newest wait for the nodes' answers (AwaitAnswers)
  // ends at the latest.
  Instant answers_until_;
  // Time since which at least min_nodes nodes have been ready.
  std::optional<Instant> enough_since_;
  // Time since which fewer than min_nodes nodes have been present. Never set in
  // the first gathering.
  std::optional<Instant> too_few_since_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_GATHERING_H_
