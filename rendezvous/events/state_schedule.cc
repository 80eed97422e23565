#include "rendezvous/events/state_schedule.h"

#include <algorithm>

namespace muster::rendezvous {

void StateSchedule::OnDecision(const std::string& run_id,
                               const std::string& kind, Instant now) {
  const bool is_turn = kind == "assign" || kind == "break" || kind == "finish";
  auto found = jobs_.find(run_id);
  if (found == jobs_.end()) {
    // A job that is not in jobs_ is new, or it has finished. A finished job
    // must not be added, but its nodes can still cause decisions such as
    // "leave". So add a job only for decisions of these kinds: "join", "adopt",
    // and those of is_turn ("assign", "break", "finish").
    if (!is_turn && kind != "join" && kind != "adopt") return;
    found = jobs_.emplace(run_id, Plan{.due = now + kMinInterval}).first;
  }
  if (!is_turn) return;
  found->second = {.due = now, .detail = StateDetail::kNodes};
}

std::vector<StateSchedule::Due> StateSchedule::TakeDue(Instant now) {
  std::vector<std::pair<Instant, const std::string*>> due;
  for (const auto& [run_id, plan] : jobs_) {
    if (plan.due.has_value() && *plan.due <= now) {
      due.emplace_back(*plan.due, &run_id);
    }
  }
  std::ranges::stable_sort(
      due, [](const auto& a, const auto& b) { return a.first < b.first; });
  if (due.size() > kMaxDue) due.resize(kMaxDue);
  std::vector<Due> taken;
  for (const auto& [when, run_id] : due) {
    Plan& plan = jobs_.at(*run_id);
    taken.push_back({.run_id = *run_id, .detail = plan.detail});
    plan = Plan();
  }
  return taken;
}

void StateSchedule::OnState(const JobStatus& job, Instant now) {
  const auto found = jobs_.find(job.run_id);
  if (found == jobs_.end()) return;
  if (job.phase == JobPhase::kFinished) {
    jobs_.erase(found);
    return;
  }
  // Keep a time that is already set: since TakeDue returned this job, a
  // decision has set when the job's next state must be written.
  if (found->second.due.has_value()) return;
  const Duration interval =
      std::min(job.age / kAgeParts, job.phase_age / kPhaseParts);
  found->second.due = now + std::clamp(interval, kMinInterval, kMaxInterval);
}

std::optional<Instant> StateSchedule::NextDue() const {
  std::optional<Instant> next;
  for (const auto& [run_id, plan] : jobs_) {
    if (plan.due.has_value() && (!next.has_value() || *plan.due < *next)) {
      next = plan.due;
    }
  }
  return next;
}

}  // namespace muster::rendezvous
