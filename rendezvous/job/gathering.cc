#include "rendezvous/job/gathering.h"

#include <algorithm>

namespace muster::rendezvous {

Instant PhaseClock::Postponed(Instant limit) const {
  return postponed_until.has_value() ? std::max(limit, *postponed_until)
                                     : limit;
}

void PhaseClock::Postpone(Instant now, std::optional<Instant> limit,
                          Duration delay) {
  if (postponed_until.has_value() || !limit.has_value()) return;
  if (*limit < now + delay) postponed_until = now + delay;
}

void Gathering::Begin(Instant not_before) {
  not_before_ = not_before;
  enough_since_.reset();
  too_few_since_.reset();
}

Gathering::Decision Gathering::Decide(Instant now, const JobSpec& spec,
                                      const Nodes& nodes,
                                      const PhaseClock& clock) {
  if (nodes.ready < spec.min_nodes) {
    enough_since_.reset();
  } else if (!enough_since_.has_value()) {
    enough_since_ = now;
  }
  if (first_ || nodes.present >= spec.min_nodes) {
    too_few_since_.reset();
  } else if (!too_few_since_.has_value()) {
    too_few_since_ = now;
  }
  const bool timed_out =
      now >= clock.Postponed(clock.since + spec.join_timeout);
  bool form = nodes.ready >= spec.max_nodes;
  if (enough_since_.has_value()) {
    if (timed_out) {
      form = true;
    } else if (nodes.being_checked > 0) {
      // Wait, because the running health checks will soon show which nodes are
      // ready.
    } else if (first_) {
      form = form || now >= *enough_since_ + spec.last_call;
    } else if (nodes.broken == 0) {
      // A node whose stream has just broken either returns within its short
      // reconnect grace or is lost. While there is such a node, form no world:
      // if the node returned, the world would have to be broken again.
      form = form || nodes.ready >= nodes.previous_world ||
             now >= clock.since + spec.wait_for_replacement;
    }
  }
  const bool too_early =
      now < not_before_ || (nodes.unanswered > 0 && AwaitsAnswers(now));
  if (too_early && !timed_out) form = false;
  if (form) return Decision::kForm;
  if (timed_out) return Decision::kTimeOut;
  if (too_few_since_.has_value() &&
      now >= clock.Postponed(*too_few_since_ + spec.rejoin_timeout)) {
    return Decision::kGiveUp;
  }
  return Decision::kWait;
}

Instant Gathering::Limit(const JobSpec& spec, const PhaseClock& clock) const {
  Instant limit = clock.since + spec.join_timeout;
  if (too_few_since_.has_value()) {
    limit = std::min(limit, *too_few_since_ + spec.rejoin_timeout);
  }
  return clock.Postponed(limit);
}

Instant Gathering::NextDeadline(Instant now, const JobSpec& spec,
                                const PhaseClock& clock) const {
  Instant limit = Limit(spec, clock);
  for (const Instant wait : {not_before_, answers_until_}) {
    if (wait > now) limit = std::min(limit, wait);
  }
  if (!enough_since_.has_value()) return limit;
  const Instant soon = first_ ? *enough_since_ + spec.last_call
                              : clock.since + spec.wait_for_replacement;
  return soon > now ? std::min(limit, soon) : limit;
}

}  // namespace muster::rendezvous
