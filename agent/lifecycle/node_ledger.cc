#include "agent/lifecycle/node_ledger.h"

#include <algorithm>

#include "base/check.h"

namespace muster::agent {

using rendezvous::Activity;

NodeLedger::NodeLedger(Instant now) : since_(now) {}

void NodeLedger::Enter(Instant now, Activity activity) {
  if (!training_.has_value() && activity == activity_) return;
  Settle(now);
  training_.reset();
  activity_ = activity;
}

void NodeLedger::Train(Instant now, int64_t reached) {
  if (training_.has_value()) return;
  Settle(now);
  training_ = Training{.reached = reached};
}

void NodeLedger::Hear(Instant now, const ProgressMessage& message) {
  if (!training_.has_value()) return;
  Training& training = *training_;
  training.has_reported = true;
  const bool is_step =
      message.step.has_value() &&
      (!training.step.has_value() || *message.step > *training.step);
  if (is_step) {
    if (training.is_checkpointing) {
      Settle(now);
      training.is_checkpointing = false;
    } else if (!training.step.has_value()) {
      Add(Activity::kInitialising, now - since_);
      since_ = now;
    } else {
      SettlePause(now, *message.step > training.reached
                           ? Activity::kProductive
                           : Activity::kRecomputing);
    }
    training.step = message.step;
  }
  const bool checkpoints =
      message.checkpoint.value_or(training.is_checkpointing);
  if (checkpoints != training.is_checkpointing) {
    Settle(now);
    training.is_checkpointing = checkpoints;
  }
}

void NodeLedger::Break(Instant now, int round) {
  const bool in_pause = training_.has_value() && training_->step.has_value() &&
                        !training_->is_checkpointing;
  const Duration stalled = in_pause ? Stalled(now - since_) : Duration::zero();
  Settle(now);
  std::vector<rendezvous::RoundLoss>& losses = time_.losses;
  losses.push_back({.round = round, .lost = stalled});
  if (losses.size() > rendezvous::kMaxRoundLosses) losses.erase(losses.begin());
  recovers_ = true;
}

rendezvous::NodeTime NodeLedger::Read(Instant now) const {
  NodeLedger until_now = *this;
  until_now.Settle(now);
  return until_now.time_;
}

Duration NodeLedger::Stalled(Duration pause) const {
  const std::optional<Duration>& usual = training_->usual_pause;
  if (!usual.has_value()) return Duration::zero();
  if (pause <= std::max<Duration>(kLeastStall, kStallFactor * *usual)) {
    return Duration::zero();
  }
  return pause - *usual;
}

void NodeLedger::Settle(Instant now) {
  if (!training_.has_value()) {
    Add(activity_, now - since_);
  } else if (training_->is_checkpointing) {
    Add(Activity::kCheckpointing, now - since_);
  } else if (!training_->step.has_value()) {
    Add(training_->has_reported ? Activity::kInitialising : Activity::kRunning,
        now - since_);
  } else {
    const Duration stalled = Stalled(now - since_);
    Add(*training_->step < training_->reached ? Activity::kRecomputing
                                              : Activity::kProductive,
        now - since_ - stalled);
    Add(Activity::kStalled, stalled);
  }
  since_ = now;
}

void NodeLedger::SettlePause(Instant now, Activity steps) {
  // The weight of the old mean of the pauses between a worker's steps: the new
  // mean is (8 * old mean + new pause) / 9.
  constexpr int kWeight = 8;
  const Duration pause = now - since_;
  const Duration stalled = Stalled(pause);
  std::optional<Duration>& usual = training_->usual_pause;
  Add(steps, pause - stalled);
  Add(Activity::kStalled, stalled);
  if (stalled == Duration::zero()) {
    usual = (usual.value_or(pause) * kWeight + pause) / (kWeight + 1);
  }
  since_ = now;
}

void NodeLedger::Add(Activity activity, Duration time) {
  MUSTER_CHECK(time >= Duration::zero()) << "time runs backwards";
  if (time == Duration::zero()) return;
  time_.ledger[activity] += time;
  if (!recovers_) return;
  switch (activity) {
    case Activity::kProductive:
    case Activity::kRunning:
      recovers_ = false;
      return;
    case Activity::kIdle:
    case Activity::kCheckpointing:
    case Activity::kStalled:
      return;
    case Activity::kWaiting:
    case Activity::kStarting:
    case Activity::kInitialising:
    case Activity::kRecomputing:
    case Activity::kStopping:
    case Activity::kRecovering:
      time_.losses.back().lost += time;
  }
}

}  // namespace muster::agent
