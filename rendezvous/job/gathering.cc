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
  const bool awaits_answers = nodes.unanswered > 0 && AwaitsAnswers(now);
  if (nodes.ready >= spec.min_nodes) {
    enough_since_ = enough_since_.value_or(now);
  } else if (!awaits_answers ||
             nodes.ready + nodes.unanswered < spec.min_nodes) {
    enough_since_.reset();
  }
  if (first_ || nodes.present >= spec.min_nodes) {
    too_few_since_.reset();
  } else if (!too_few_since_.has_value()) {
    too_few_since_ = now;
  }
  const bool timed_out =
      now >= Postponed(clock.since + spec.join_timeout, clock);
  bool form = nodes.ready >= spec.max_nodes;
  if (enough_since_.has_value()) {
    if (timed_out) {
      form = true;
    } else if (nodes.being_checked > 0) {
      // While health checks run (being_checked > 0), form no world of fewer
      // than max_nodes nodes, because the checks will soon show whether more
      // nodes are ready. So leave `form` unchanged.
    } else if (first_) {
      form = form || now >= LastCallEnd(spec);
    } else if (nodes.broken == 0) {
      // Form a world if as many nodes are ready as the previous world had, or
      // if the wait for a replacement is over. Do this only while no stream is
      // broken (nodes.broken == 0): a node whose stream is broken may return
      // soon, and a world that has just begun would have to be broken to
      // include it.
      form = form || nodes.ready >= nodes.previous_world ||
             now >= clock.since + spec.wait_for_replacement;
    }
  }
  if (awaits_answers || (now < not_before_ && !timed_out)) form = false;
  if (form) return Decision::kForm;
  if (timed_out) return Decision::kTimeOut;
  if (too_few_since_.has_value() &&
      now >= Postponed(*too_few_since_ + spec.rejoin_timeout, clock)) {
    return Decision::kGiveUp;
  }
  return Decision::kWait;
}

Instant Gathering::Limit(const JobSpec& spec, const PhaseClock& clock) const {
  Instant limit = clock.since + spec.join_timeout;
  if (too_few_since_.has_value()) {
    limit = std::min(limit, *too_few_since_ + spec.rejoin_timeout);
  }
  return Postponed(limit, clock);
}

Instant Gathering::Postponed(Instant limit, const PhaseClock& clock) const {
  return std::max(clock.Postponed(limit), answers_until_);
}

Instant Gathering::LastCallEnd(const JobSpec& spec) const {
  if (!has_last_call_) return *enough_since_;
  return std::max(*enough_since_ + spec.last_call,
                  std::min(asked_ + spec.last_call, answers_until_));
}

Instant Gathering::NextDeadline(Instant now, const JobSpec& spec,
                                const PhaseClock& clock) const {
  Instant limit = Limit(spec, clock);
  for (const Instant wait : {not_before_, answers_until_}) {
    if (wait > now) limit = std::min(limit, wait);
  }
  if (!enough_since_.has_value()) return limit;
  const Instant soon =
      first_ ? LastCallEnd(spec) : clock.since + spec.wait_for_replacement;
  return soon > now ? std::min(limit, soon) : limit;
}

}  // namespace muster::rendezvous
