#include "tests/simulation/worker_model.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

}  // namespace

bool WorkerModel::alive() const {
  return orphans_ > 0 ||
         std::any_of(workers_.begin(), workers_.end(), [](State state) {
           return state == State::kPending || state == State::kUp;
         });
}

bool WorkerModel::running() const {
  return !workers_.empty() &&
         std::all_of(workers_.begin(), workers_.end(),
                     [](State state) { return state == State::kUp; });
}

void WorkerModel::Ask(std::function<void()> what) {
  const Instant now = stage_->queue.now();
  free_at_ = std::max(free_at_, now) +
             stage_->random.Between(milliseconds(1), milliseconds(5));
  stage_->queue.At(free_at_,
                   [this, generation = generation_, what = std::move(what)] {
                     if (generation == generation_) what();
                   });
}

void WorkerModel::Start(uint64_t epoch, const rendezvous::Place& place) {
  if (dead_) return;  // the guardian process, which starts the workers, is dead
  if (alive()) {
    stage_->Fail(absl::StrCat("n", agent_.slot, " starts round ", place.round,
                              " while workers of round ", place_.round,
                              " are left"));
  }
  epoch_ = epoch;
  place_ = place;
  busy_ = true;
  workers_.assign(static_cast<size_t>(stage_->plan.workers), State::kPending);
  ignores_term_.clear();
  hung_.assign(workers_.size(), 0);
  stage_->Watch([&](Checker& c) { c.OnWorkersStarted(agent_, epoch, place); });
  for (int i = 0; i < stage_->plan.workers; ++i) {
    ignores_term_.push_back(stage_->random.Chance(stage_->plan.ignores_term));
    Ask([this, i] { Spawn(i); });
  }
}

rendezvous::Failure WorkerModel::FailureOf(int worker,
                                           rendezvous::FailureKind kind) const {
  rendezvous::Failure failure;
  failure.kind = kind;
  failure.local_rank = worker;
  failure.rank = place_.first_rank + worker;
  failure.exit_code = kind == rendezvous::FailureKind::kStartFailed ? 127 : 3;
  failure.message = kind == rendezvous::FailureKind::kStartFailed
                        ? "exec ./train: no such file"
                        : "exit code 3";
  return failure;
}

void WorkerModel::Spawn(int worker) {
  if (!stage_->healed && stage_->random.Chance(stage_->plan.start_failure)) {
    workers_[worker] = State::kEnded;
    ++stage_->census["start failure"];
    const rendezvous::Failure failure =
        FailureOf(worker, rendezvous::FailureKind::kStartFailed);
    stage_->Note(absl::StrCat("n", agent_.slot, " worker ", worker,
                              " cannot be started"));
    stage_->Watch([&](Checker& c) {
      c.OnWorkerFailed(agent_, epoch_, place_.round, failure);
    });
    Tell(agent::WorkerDown{worker, failure});
    return;
  }
  workers_[worker] = State::kUp;
  any_ = true;
  tell_(agent::WorkerUp{worker, 1000 + worker});
  if (stage_->plan.hang > 0) Beat(worker);
  if (stage_->finishing) {
    EndLater(worker, milliseconds(20), std::nullopt);
  } else if (stage_->plan.work.has_value()) {
    EndLater(worker,
             *stage_->plan.work +
                 stage_->random.Between(Duration::zero(), seconds(1)),
             std::nullopt);
  }
}

bool WorkerModel::Hangs(int worker) const {
  return hung_[worker] != 0 && !stage_->healed;
}

void WorkerModel::Beat(int worker) {
  if (workers_[worker] != State::kUp) return;
  if (!Hangs(worker)) {
    agent::ProgressMessage message;
    message.alive = true;
    tell_(agent::WorkersReported{{{worker, message}}});
  }
  stage_->queue.In(
      stage_->plan.report_every,
      [this, worker, generation = generation_, round = place_.round] {
        if (generation == generation_ && round == place_.round) Beat(worker);
      });
}

void WorkerModel::HangOne() {
  for (int i = 0; i < static_cast<int>(workers_.size()); ++i) {
    if (workers_[i] != State::kUp || hung_[i] != 0) continue;
    hung_[i] = 1;
    stage_->Note(absl::StrCat("n", agent_.slot, " worker ", i, " hangs"));
    ++stage_->census["worker hung"];
    stage_->Watch([&](Checker& c) {
      c.OnWorkerHung(agent_, epoch_, place_.round, i, place_.first_rank + i);
    });
    return;
  }
}

// Simulates that the agent inspects the processes of its workers. All processes
// sleep, so the agent cannot distinguish a worker that hangs from the workers
// that wait for that worker.
void WorkerModel::Look(const agent::LookAtWorkers& order) {
  stage_->queue.In(Duration::zero(),
                   [this, generation = generation_, round = order.round] {
                     if (generation == generation_) {
                       tell_(agent::WorkersSeen{.round = round});
                     }
                   });
}

void WorkerModel::TakeStack(const agent::TakeStacks& order) {
  ++stage_->census["stack taken"];
  if (stage_->random.Chance(stage_->plan.stack_lost)) return;
  stage_->queue.In(
      stage_->random.Between(milliseconds(1), seconds(3)),
      [this, generation = generation_, round = order.round,
       local_rank = order.workers.front().local_rank] {
        if (generation != generation_) return;
        tell_(agent::StackTaken{.round = round, .local_rank = local_rank});
      });
}

void WorkerModel::EndLater(int worker, Duration after,
                           std::optional<rendezvous::Failure> failure) {
  stage_->queue.In(after, [this, worker, failure = std::move(failure),
                           generation = generation_, round = place_.round] {
    if (generation == generation_ && round == place_.round) {
      End(worker, failure);
    }
  });
}

void WorkerModel::End(int worker,
                      const std::optional<rendezvous::Failure>& failure) {
  if (workers_[worker] != State::kUp) return;
  // Without a failure the worker would succeed, but a worker that hangs never
  // succeeds.
  if (Hangs(worker) && !failure.has_value()) return;
  workers_[worker] = State::kEnded;
  if (!stage_->healed && stage_->random.Chance(stage_->plan.orphan)) {
    ++orphans_;
  }
  Tell(agent::WorkerDown{worker, failure});
}

void WorkerModel::CrashOne() {
  for (int i = 0; i < static_cast<int>(workers_.size()); ++i) {
    if (workers_[i] != State::kUp) continue;
    const rendezvous::Failure failure =
        FailureOf(i, rendezvous::FailureKind::kExitCode);
    stage_->Note(absl::StrCat("n", agent_.slot, " worker ", i, " crashes"));
    ++stage_->census["worker crashed"];
    stage_->Watch([&](Checker& c) {
      c.OnWorkerFailed(agent_, epoch_, place_.round, failure);
    });
    if (on_crash) on_crash(*this);
    End(i, failure);
    return;
  }
}

void WorkerModel::Finish() {
  for (int i = 0; i < static_cast<int>(workers_.size()); ++i) {
    EndLater(i, stage_->random.Between(milliseconds(1), milliseconds(50)),
             std::nullopt);
  }
}

void WorkerModel::Signal(const agent::SignalWorkers& order) {
  Ask([this, order] { Deliver(order); });
}

void WorkerModel::Deliver(const agent::SignalWorkers& order) {
  Random& random = stage_->random;
  if (order.signal == SIGTERM || order.signal == SIGINT) {
    for (int i = 0; i < static_cast<int>(workers_.size()); ++i) {
      if (workers_[i] != State::kUp || ignores_term_[i] != 0) continue;
      rendezvous::Failure failure =
          FailureOf(i, rendezvous::FailureKind::kSignal);
      failure.signal = order.signal;
      EndLater(i, random.Between(milliseconds(1), milliseconds(100)), failure);
    }
  }
  // SIGUSR2, the notice of a preemption: the worker writes a checkpoint and
  // succeeds.
  if (order.signal == SIGUSR2) {
    for (int i = 0; i < static_cast<int>(workers_.size()); ++i) {
      if (workers_[i] != State::kUp) continue;
      EndLater(i, random.Between(milliseconds(1), seconds(6)), std::nullopt);
    }
  }
  if (order.signal != SIGKILL) {
    if (order.everything && random.Chance(500)) {
      orphans_ = 0;
      NoteIfGone();
      TellIfGone();
    }
    return;
  }
  for (int i = 0; i < static_cast<int>(workers_.size()); ++i) {
    if (workers_[i] != State::kUp) continue;
    if (order.local_rank.value_or(i) != i) continue;
    const bool slow =
        !stage_->healed && random.Chance(stage_->plan.slow_to_die);
    EndLater(i,
             slow ? random.Between(milliseconds(500), seconds(9))
                  : random.Between(milliseconds(1), milliseconds(3)),
             FailureOf(i, rendezvous::FailureKind::kSignal));
  }
  if (order.everything) {
    orphans_ = 0;
    NoteIfGone();
    TellIfGone();
  }
}

// Tell the checkers before the agent, because the agent may start the next
// round at once.
void WorkerModel::Tell(const agent::WorkerDown& event) {
  NoteIfGone();
  tell_(event);
  TellIfGone();
}

void WorkerModel::NoteIfGone() {
  if (!busy_ || alive()) return;
  busy_ = false;
  stage_->Watch(
      [&](Checker& c) { c.OnWorkersGone(agent_, epoch_, place_.round); });
}

void WorkerModel::TellIfGone() {
  const bool up =
      std::find(workers_.begin(), workers_.end(), State::kUp) != workers_.end();
  if (!any_ || up || orphans_ > 0) return;
  any_ = false;
  tell_(agent::WorkersGone());
}

void WorkerModel::Die() {
  dead_ = true;
  ++generation_;
  workers_.clear();
  orphans_ = 0;
  any_ = false;
  NoteIfGone();
}

}  // namespace muster::simulation
