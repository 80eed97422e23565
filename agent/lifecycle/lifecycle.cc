#include "agent/lifecycle/lifecycle.h"

#include <algorithm>
#include <csignal>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "rendezvous/protocol/signal_names.h"
#include "rendezvous/protocol/verdict.h"

namespace muster::agent {
namespace {

// The interval at which SIGKILL is repeated while a process of a worker is
// alive. The process may be in an uninterruptible call, or may be new since the
// last SIGKILL.
constexpr Duration kKillAgain = std::chrono::seconds(1);

// The time after an agent's start in which a refused connection is not reported
// to the user. The agents of a job start in any order, so the coordinator may
// not listen yet.
constexpr Duration kQuietStart = std::chrono::seconds(2);

// The longest delay until the agent notices a worker's exit. A failure without
// an error file is assumed to have happened this long before it was noticed.
constexpr Duration kLateEnd = std::chrono::seconds(1);

// The longest time for which a node waits for the verdict after it knows that
// the job has ended. The coordinator repeats the verdict to such a node.
constexpr Duration kVerdictTimeout = std::chrono::seconds(60);

std::string Ranks(const rendezvous::Place& place, int slots) {
  if (slots == 1) return absl::StrCat("rank ", place.first_rank);
  return absl::StrCat("ranks ", place.first_rank, "-",
                      place.first_rank + slots - 1);
}

std::string OwnPart(const rendezvous::Place& place, int slots) {
  return absl::StrCat("node ", place.group_rank, " of ", place.group_world_size,
                      " with ", Ranks(place, slots), " of ", place.world_size);
}

std::string WholeWorld(const rendezvous::Place& place) {
  return absl::StrCat(place.group_world_size,
                      place.group_world_size == 1 ? " node, " : " nodes, ",
                      place.world_size,
                      place.world_size == 1 ? " worker" : " workers");
}

}  // namespace

Lifecycle::Lifecycle(Config config, Instant now)
    : config_(std::move(config)),
      now_(now),
      watch_(config_.policy.hangs),
      ledger_(now),
      began_(now),
      unanswered_since_(now),
      health_(config_.health_interval),
      nccl_id_(config_.nccl_id_timeout, now),
      next_report_(now) {}

LifecycleStep Lifecycle::Step(Instant now, const LifecycleEvent& event) {
  MUSTER_CHECK(now >= now_) << "time runs backwards";
  const Instant due = std::max(now_, NextDeadline().value_or(now));
  now_ = now;
  step_ = LifecycleStep();
  const rendezvous::NodePhase before = phase_;
  const int round_before = round_;
  ForgiveSilence(due);
  std::visit([this](const auto& e) { On(e); }, event);
  Reconcile();
  KeepTime(before, round_before);
  if (connected_ && !nccl_id_.AwaitedUntil(now_).has_value() &&
      (changed_ || now_ >= next_report_)) {
    SendReport();
  }
  return std::move(step_);
}

void Lifecycle::On(const DirectiveCame& event) {
  // A directive from a closed connection may arrive after LinkDown: it is
  // ignored.
  if (!connected_) return;
  const rendezvous::Directive& directive = event.directive;
  if (directive.protocol_version != rendezvous::kProtocolVersion) {
    GiveUp(1,
           absl::StrCat("the coordinator at ", config_.endpoint,
                        " speaks protocol version ", directive.protocol_version,
                        ", this node ", rendezvous::kProtocolVersion,
                        "; install the same Muster on every node"));
    return;
  }
  if (RetriesWrongCoordinator(directive)) {
    Retry(directive.reason);
    return;
  }
  if (ComesFromAnother(directive)) return;
  FollowCoordinator(directive);
  const bool was_due = unanswered_since_.has_value();
  unanswered_since_.reset();
  ever_answered_ = true;
  if (directive_.has_value() && directive_->epoch == directive.epoch &&
      directive.revision < directive_->revision) {
    // this directive is older than the newest one, which overtook it: ignored
    return;
  }
  const bool newer = !directive_.has_value() ||
                     directive_->epoch != directive.epoch ||
                     directive_->revision != directive.revision;
  const bool is_another_cause =
      directive_.has_value() && directive_->epoch == directive.epoch &&
      directive_->kind == rendezvous::DirectiveKind::kStop &&
      directive.kind == rendezvous::DirectiveKind::kStop &&
      directive.stop.round == directive_->stop.round &&
      directive.stop.cancelled == directive_->stop.cancelled &&
      directive.reason != directive_->reason;
  directive_ = directive;
  if (is_another_cause && round_ == directive.stop.round && PrintsForJob()) {
    Notice(absl::StrCat("round ", round_, " broke because ", directive.reason,
                        "; what was named before followed from it"));
  }
  // Confirm a stop order by a report at once (changed_). On a node without
  // workers the order changes nothing, so no other report would confirm it.
  // Other orders need no such report: the next report shows their effect.
  if ((newer || was_due) &&
      directive.kind == rendezvous::DirectiveKind::kStop) {
    changed_ = true;
  }
  if (directive.kind == rendezvous::DirectiveKind::kStop &&
      directive.stop.round >= round_) {
    round_end_ = rendezvous::EndToldBy(directive);
  }
  restarts_used_ = directive.restarts_used.value_or(restarts_used_);
  TakeCheckFault(directive);
  if (directive.preemption.has_value()) Preempt(*directive.preemption);
  if (directive.kind == rendezvous::DirectiveKind::kWait && PrintsForJob()) {
    Notice(absl::StrCat("waiting: ", directive.reason));
  }
}

void Lifecycle::KeepTime(rendezvous::NodePhase before, int round_before) {
  using rendezvous::Activity;
  using rendezvous::NodePhase;
  const bool ended = before == NodePhase::kRunning && phase_ != before &&
                     phase_ != NodePhase::kSucceeded;
  // Whether this node runs workers again although its workers had succeeded:
  // the previous round ended early on another node.
  const bool repeats =
      before == NodePhase::kSucceeded && phase_ == NodePhase::kRunning;
  if (ended || repeats) ledger_.Break(now_, round_before);
  if (phase_ == NodePhase::kStopping) {
    ledger_.Enter(now_, Activity::kStopping);
  } else if (phase_ != NodePhase::kRunning) {
    ledger_.Enter(now_, ActivityWithoutWorkers());
  } else if (unstarted_ > 0) {
    ledger_.Enter(now_, Activity::kStarting);
  } else {
    ledger_.Train(now_, place_->reached_step);
  }
}

rendezvous::Activity Lifecycle::ActivityWithoutWorkers() const {
  using rendezvous::Activity;
  if (phase_ == rendezvous::NodePhase::kSucceeded) return Activity::kIdle;
  const bool is_spare = directive_.has_value() &&
                        directive_->kind == rendezvous::DirectiveKind::kWait &&
                        directive_->waits_for == rendezvous::WaitsFor::kPlace;
  if (is_spare) return Activity::kIdle;
  return round_ == 0 ? Activity::kWaiting : Activity::kRecovering;
}

void Lifecycle::On(const WorkerUp& event) {
  any_left_ = true;
  unstarted_ = std::max(0, unstarted_ - 1);
  if (static_cast<size_t>(event.local_rank) < pids_.size()) {
    pids_[event.local_rank] = event.pid;
  }
}

void Lifecycle::On(const WorkerDown& event) {
  MUSTER_CHECK(pending_ > 0) << "more workers ended than were started";
  --pending_;
  watch_.End(event.local_rank);
  if (static_cast<size_t>(event.local_rank) < pids_.size()) {
    pids_[event.local_rank] = 0;
  }
  if (IsEndOfHungWorker(event)) {
    // The worker that has ended was reported as hung before, so its exit is no
    // further failure.
  } else if (!event.failure.has_value() || IsEndByPreemption(*event.failure)) {
    // Nothing to do: the exit is no failure, because the worker exited with 0
    // or the preemption explains the exit.
  } else {
    rendezvous::Failure failure = *event.failure;
    const bool stopping = phase_ == rendezvous::NodePhase::kStopping;
    const bool fails_too =
        failure.kind == rendezvous::FailureKind::kStartFailed ||
        (event.by_itself && broke_here_);
    const bool by_us = stopping && !fails_too;
    if (by_us) failure.kind = rendezvous::FailureKind::kStoppedByUs;
    failure.raised_first = stopping && event.recorded_ago.has_value() &&
                           now_ - *event.recorded_ago < broke_at_;
    RecordFailure(failure);
    if (failures_.size() < rendezvous::kMaxFailuresPerReport) {
      failures_.push_back(failure);
    }
    // Report a worker's failure at once, unless the worker ended because this
    // agent stopped it (`by_us`): that is reported at the end of the round.
    if (!by_us) {
      changed_ = true;
      step_.ends = ends_;
      Notice(absl::StrCat(
          "rank ", failure.rank, " (local rank ", failure.local_rank,
          failure.pid > 0 ? absl::StrCat(", pid ", failure.pid) : "",
          ") failed: ", failure.message));
      ReleaseWaiters(failure.message);
      Stop(SIGTERM, config_.spec.shutdown_timeout);
      if (!stopping) {
        broke_here_ = true;
        broke_at_ = now_ - event.recorded_ago.value_or(kLateEnd);
      }
    }
  }
  if (pending_ == 0 && any_left_) {
    // Descendants of the workers may have ignored the first signal (background
    // jobs of a shell ignore SIGINT). SIGTERM asks them to exit within the rest
    // of the grace period.
    step_.actions.emplace_back(
        SignalWorkers{.signal = SIGTERM, .everything = true});
    if (!kill_at_.has_value()) {
      kill_at_ = now_ + config_.spec.shutdown_timeout;
    }
  }
  Settle();
}

void Lifecycle::On(const WorkersGone& event) {
  if (phase_ == rendezvous::NodePhase::kRunning && pending_ == 0 &&
      failures_.empty()) {
    NoticeLeftBehind(event.left_behind);
  }
  any_left_ = false;
  // All workers have succeeded and no process is left, so the SIGKILL that is
  // planned for kill_at_ is cancelled. SIGKILL would cut short the user's
  // preemption command, which may still run and has its own deadline
  // (announcing_until_).
  if (phase_ == rendezvous::NodePhase::kRunning && pending_ == 0) {
    kill_at_.reset();
  }
  Settle();
}

// Ends the round on this node once all workers have ended and no process of
// them is left. Normally the event WorkersGone comes last. If a worker could
// not be started, its WorkerDown may come last.
void Lifecycle::Settle() {
  if (pending_ > 0 || any_left_ || !HasWorkers()) return;
  // After a preemption notice the round continues until the user's preemption
  // command has ended.
  if (announcing_until_.has_value()) return;
  phase_ = phase_ == rendezvous::NodePhase::kRunning && failures_.empty()
               ? rendezvous::NodePhase::kSucceeded
               : rendezvous::NodePhase::kIdle;
  if (phase_ == rendezvous::NodePhase::kIdle) step_.ends = ends_;
  health_.RoundEnded();
  kill_at_.reset();
  changed_ = true;
}

void Lifecycle::On(const GuardianDied& event) {
  phase_ = rendezvous::NodePhase::kIdle;
  suspicion_.reset();
  pending_ = 0;
  any_left_ = false;
  kill_at_.reset();
  health_.RoundEnded();
  if (leave_.has_value()) return;
  // Two texts describe the loss of the guardian. The coordinator gets the short
  // one, event.reason, in the next report (Report::leave). The user gets the
  // longer one that is passed to GiveUp below, which also says that this node
  // leaves the job.
  leaving_ = leaving_.value_or(event.reason);
  GiveUp(kWorkersLostExitCode,
         absl::StrCat(event.reason,
                      "; this node has lost its workers, and leaves the job "
                      "without a verdict"));
}

void Lifecycle::Reconcile() {
  LeaveStandby();
  CheckCoordinatorAbsence();
  StopAtPreemptionLimit();
  if (leave_.has_value()) {
    if (phase_ == rendezvous::NodePhase::kRunning && !WorkersKeepGrace()) {
      Stop(SIGTERM, config_.spec.shutdown_timeout);
    }
  } else if (directive_.has_value()) {
    FollowDirective();
  }
  CheckForSilence();
  KillWhenGraceIsOver();
  EndAnnouncementWhenDue();
  UpdateHealthChecks();
  FollowPairCheck();
  if (leave_.has_value() && !HasWorkers() && !announcing_until_.has_value()) {
    step_.leave = leave_;
  }
}

void Lifecycle::FollowDirective() {
  const rendezvous::Directive& directive = *directive_;
  switch (directive.kind) {
    case rendezvous::DirectiveKind::kHold:
    case rendezvous::DirectiveKind::kStandBy:
    case rendezvous::DirectiveKind::kMoved:
      return;
    case rendezvous::DirectiveKind::kRun:
      if (round_ >= directive.place.round) {
        ForwardSignals();
      } else if (preemption_.has_value()) {
        // Ignore this order to begin a new round: the coordinator sent the
        // order before learning of this node's preemption notice.
      } else if (HasWorkers()) {
        // Workers of the previous round are left, because the order to stop
        // that round was lost. Stop these workers before the new round begins.
        if (phase_ == rendezvous::NodePhase::kRunning) {
          ReleaseWaiters("this node's round is over");
          Stop(SIGTERM, config_.spec.shutdown_timeout);
        }
      } else if (directive.epoch != 0 && directive.epoch < promised_epoch_) {
        // Ignore this order. It waited until the workers of the previous round
        // had ended, and meanwhile this node has promised to obey no
        // coordinator that is as old as the sender.
      } else if (!IsFresh(directive)) {
        AskAgain();
      } else {
        Start(directive.place);
      }
      return;
    case rendezvous::DirectiveKind::kStop:
      if (round_ < directive.stop.round &&
          nccl_id_.Distrust(directive.stop.round) ==
              NcclIdOffer::Renewal::kNeeded) {
        step_.actions.emplace_back(RenewNcclId{});
      }
      if (round_ <= directive.stop.round &&
          directive.stop.cause == rendezvous::StopCause::kBroken) {
        ReleaseWaiters(directive.reason);
      }
      if (HasWorkers() && round_ <= directive.stop.round) {
        if (phase_ == rendezvous::NodePhase::kRunning && PrintsForJob()) {
          Notice(absl::StrCat("round ", round_, " is broken (",
                              directive.reason, "); stopping the workers"));
        }
        if (directive.stop.cause == rendezvous::StopCause::kBroken) {
          ExamineStopped();
        }
        Stop(directive.stop.signal, directive.stop.grace);
      }
      return;
    case rendezvous::DirectiveKind::kWait:
      if (phase_ == rendezvous::NodePhase::kRunning) {
        ReleaseWaiters(directive.reason);
        Stop(SIGTERM, config_.spec.shutdown_timeout);
      }
      return;
    case rendezvous::DirectiveKind::kFinished:
      leave_ = LeaveWith(directive);
      break;
    case rendezvous::DirectiveKind::kReleased:
      leave_ =
          Leave{.exit_code = leaving_exit_code_, .reason = directive.reason};
      break;
    case rendezvous::DirectiveKind::kRefused:
      leave_ = Leave{.exit_code = 1, .reason = directive.reason};
      break;
  }
  if (HasWorkers() && !WorkersKeepGrace()) {
    Stop(directive.stop.signal, directive.stop.grace);
  }
}

Leave Lifecycle::LeaveWith(const rendezvous::Directive& finished) const {
  const rendezvous::Verdict& verdict = finished.verdict;
  Leave leave{.exit_code = verdict.exit_code,
              .acts_for_job = finished.acts_for_job,
              .verdict = verdict,
              .reason = verdict.reason};
  if (round_ > 0 || finished.took_part ||
      verdict.outcome != rendezvous::Outcome::kSucceeded) {
    return leave;
  }
  leave.never_ran = true;
  leave.reason =
      "this node stayed a spare, and its program never ran; the job has "
      "succeeded without it";
  leave.exit_code = config_.policy.never_ran_exit_code;
  return leave;
}

void Lifecycle::Start(const rendezvous::Place& place) {
  phase_ = rendezvous::NodePhase::kRunning;
  round_ = place.round;
  if (place_.has_value()) {
    previous_world_ = {.epoch = place_->epoch, .round = place_->round};
    previous_rank_ = place_->group_rank;
  }
  place_ = place;
  round_end_.reset();
  failures_.clear();
  ends_.clear();
  nccl_root_lost_.clear();
  pending_ = config_.node.slots;
  unstarted_ = pending_;
  watch_.Begin(config_.node.slots);
  pids_.assign(static_cast<size_t>(config_.node.slots), 0);
  suspicion_.reset();
  hung_.reset();
  any_left_ = false;
  kill_at_.reset();
  killed_ = false;
  store_closed_ = false;
  forwarded_ = 0;
  changed_ = true;
  if (health_.RoundBegan()) step_.actions.emplace_back(DropCheck{});
  if (nccl_id_.Spend(place) == NcclIdOffer::Renewal::kNeeded) {
    step_.actions.emplace_back(RenewNcclId{});
  }
  step_.actions.emplace_back(StartWorkers{place});
  if (!PrintsForJob()) return;
  Notice(absl::StrCat("round ", place.round, ": ",
                      config_.policy.job_messages == JobMessages::kAll
                          ? OwnPart(place, config_.node.slots)
                          : WholeWorld(place),
                      place.restart_count > 0
                          ? absl::StrCat(", restart ", place.restart_count)
                          : ""));
}

void Lifecycle::ReleaseWaiters(const std::string& why) {
  if (store_closed_ || round_ == 0) return;
  store_closed_ = true;
  step_.actions.emplace_back(CloseStore{why});
}

void Lifecycle::Stop(int signal, Duration grace) {
  if (phase_ != rendezvous::NodePhase::kStopping) {
    phase_ = rendezvous::NodePhase::kStopping;
    changed_ = true;
    // kill_at_ may be set already: after the workers' success it is the time at
    // which leftover processes get SIGKILL. The stop that begins now has its
    // own grace period, so the old time is deleted.
    kill_at_.reset();
    killed_ = false;
    broke_at_ = now_;
    broke_here_ = false;
    if (grace > Duration::zero()) {
      step_.actions.emplace_back(SignalWorkers{.signal = signal});
    }
  }
  if (killed_) return;
  const Instant kill_at = now_ + grace;
  if (!kill_at_.has_value() || kill_at < *kill_at_) kill_at_ = kill_at;
}

void Lifecycle::KillWhenGraceIsOver() {
  if (!kill_at_.has_value() || now_ < *kill_at_) return;
  step_.actions.emplace_back(
      SignalWorkers{.signal = SIGKILL, .everything = true});
  kill_at_ = now_ + kKillAgain;
  killed_ = true;
  if (announcing_until_.has_value()) announcing_until_ = now_;
}

std::optional<Instant> Lifecycle::AbsenceNoticeAt() const {
  const bool is_absent = !link_error_.empty() && !connected_;
  if (!is_absent || ever_answered_ || absence_told_) return std::nullopt;
  return began_ + kQuietStart;
}

Duration Lifecycle::LongestAbsence() const {
  if (!ever_answered_) return config_.policy.connect_timeout;
  const bool knows_end = round_end_.has_value() &&
                         round_end_->exit_code.has_value() && !HasWorkers();
  return knows_end
             ? std::min(config_.policy.coordinator_timeout, kVerdictTimeout)
             : config_.policy.coordinator_timeout;
}

void Lifecycle::CheckCoordinatorAbsence() {
  if (leave_.has_value()) return;
  const std::optional<Instant> said_at = AbsenceNoticeAt();
  if (said_at.has_value() && now_ >= *said_at) {
    absence_told_ = true;
    Notice(absl::StrCat("no coordinator at ", config_.endpoint, " yet (",
                        link_error_, "); trying for ",
                        ToSeconds(config_.policy.connect_timeout), " s"));
  }
  if (cancel_deadline_.has_value() && now_ >= *cancel_deadline_) {
    cancel_deadline_.reset();
    const bool stopping = phase_ != rendezvous::NodePhase::kRunning &&
                          directive_.has_value() &&
                          directive_->kind == rendezvous::DirectiveKind::kStop;
    if (!stopping) {
      // Ends this node, because the coordinator has not answered in time after
      // a signal. If the signal cancelled the job (cancel_), the exit code is
      // 128 + signal. Otherwise the signal only made this node leave the job.
      // The exit code is then leaving_exit_code_, as if the coordinator had
      // answered.
      GiveUp(cancel_.has_value() ? 128 + cancel_->signal : leaving_exit_code_,
             "stopped by a signal; the coordinator did not answer");
      return;
    }
  }
  if (!unanswered_since_.has_value()) return;
  const Duration limit = LongestAbsence();
  if (now_ < *unanswered_since_ + limit) return;
  const std::string absence = absl::StrCat(
      "no answer from the coordinator at ", Coordinator(), " for ",
      ToSeconds(limit), " s", link_error_.empty() ? "" : ": ", link_error_,
      standby_reason_.empty() ? "" : "; no node could take over: ",
      standby_reason_);
  const auto failure =
      std::find_if(failures_.begin(), failures_.end(), [](const auto& one) {
        return one.kind != rendezvous::FailureKind::kStoppedByUs;
      });
  if (round_end_.has_value() && round_end_->exit_code.has_value()) {
    GiveUp(*round_end_->exit_code,
           absl::StrCat(round_end_->reason, "; ", absence));
  } else if (phase_ == rendezvous::NodePhase::kSucceeded) {
    GiveUp(0, absl::StrCat("every worker of this node succeeded, but the job's "
                           "verdict is not known: ",
                           absence));
  } else if (failure != failures_.end() && !round_end_.has_value()) {
    GiveUp(rendezvous::ExitCodeOf(*failure),
           absl::StrCat("rank ", failure->rank, ": ", failure->message, "; ",
                        absence));
  } else {
    GiveUp(1, absence);
  }
}

void Lifecycle::GiveUp(int exit_code, std::string reason) {
  if (leave_.has_value()) return;
  // The next report contains the wish to leave. A coordinator that receives it
  // gives this node no place in the next round.
  if (!leaving_.has_value()) leaving_ = reason;
  changed_ = true;
  // After a preemption notice, this node leaves because of the preemption:
  // kPreemptedExitCode replaces the exit codes 0, 1 and kWorkersLostExitCode.
  // Other codes come from a failed worker or a cancellation, and are kept.
  if (preemption_.has_value() &&
      (exit_code <= 1 || exit_code == kWorkersLostExitCode)) {
    exit_code = rendezvous::kPreemptedExitCode;
  }
  leave_ = Leave{.exit_code = exit_code, .reason = std::move(reason)};
}

void Lifecycle::Notice(std::string line) {
  if (line == last_notice_) return;
  last_notice_ = line;
  step_.notices.push_back(std::move(line));
}

void Lifecycle::NoticeForJob(std::string line) {
  if (config_.policy.job_messages != JobMessages::kAssigned) {
    Notice(std::move(line));
  }
}

bool Lifecycle::PrintsForJob() const {
  return config_.policy.job_messages == JobMessages::kAll ||
         directive_->prints_for_job;
}

void Lifecycle::SendReport() {
  changed_ = false;
  next_report_ = now_ + config_.spec.keep_alive_interval;
  rendezvous::Report report;
  report.run_id = config_.run_id;
  report.node = config_.node;
  report.place_key = config_.place_key;
  report.sequence = ++sequence_;
  sent_.push_back({.sequence = sequence_, .at = now_});
  while (now_ > sent_.front().at + config_.spec.order_life()) sent_.pop_front();
  // seen_epoch and seen_revision tell the coordinator which directive this node
  // has received. While an answer of the coordinator is overdue, both stay
  // unset: the last directive may have been lost, and a report without these
  // fields makes the coordinator send it again.
  if (directive_.has_value() && !unanswered_since_.has_value()) {
    report.seen_epoch = directive_->epoch;
    report.seen_revision = directive_->revision;
  }
  report.spec = config_.spec;
  report.phase = phase_;
  report.round = round_;
  if (place_.has_value()) {
    report.place = *place_;
    report.place->nccl_id.clear();
    report.place->store_clients.clear();
    report.place->channel_key.clear();
  }
  report.promised_epoch = promised_epoch_;
  report.standby_endpoint = config_.standby_endpoint;
  report.electorate = electorate_;
  report.previous_world = previous_world_;
  report.previous_rank = previous_rank_;
  report.host_rank = host_rank_;
  report.round_end = round_end_;
  report.forwarded_signal = forwarded_;
  report.restarts_used = restarts_used_;
  if (job_began_.has_value()) report.job_age = now_ - *job_began_;
  report.failures = failures_;
  report.nccl_root_lost = nccl_root_lost_;
  for (rendezvous::Failure& failure : report.failures) {
    if (failure.kind == rendezvous::FailureKind::kHung) {
      failure.silent_for = now_ - hung_since_;
    }
  }
  report.progress = watch_.Progress(now_);
  report.times = watch_.Times();
  report.time = ledger_.Read(now_);
  report.offered_master_port = held_port_;
  report.offered_nccl_id = nccl_id_.id();
  report.addresses = addresses_;
  report.leave = leaving_;
  report.cancel = cancel_;
  report.signals = signals_;
  report.preemption = PreemptionNow();
  report.waits_for_place = config_.policy.waits_for_place;
  report.health = health_.health();
  report.unhealthy = health_.unhealthy();
  report.faults = faults_;
  report.check_port = config_.check_port;
  report.check_gpus = config_.check_gpus;
  report.measurement = measurement_;
  report.check_fault = check_fault_;
  step_.report = std::move(report);
}

std::optional<Instant> Lifecycle::NextDeadline() const {
  std::optional<Instant> next;
  const auto consider = [&](std::optional<Instant> instant) {
    if (instant.has_value() && (!next.has_value() || *instant < *next)) {
      next = instant;
    }
  };
  if (connected_) {
    const std::optional<Instant> held_back = nccl_id_.AwaitedUntil(now_);
    consider(held_back.has_value() ? held_back : next_report_);
  }
  consider(standby_until_);
  consider(kill_at_);
  consider(announcing_until_);
  consider(PreemptionLimit());
  if (WorkersKeepGrace()) consider(preemption_->deadline);
  if (!NeedsNoCheck()) consider(health_.NextCheck());
  consider(HangDeadline());
  if (!leave_.has_value()) {
    consider(AbsenceNoticeAt());
    consider(cancel_deadline_);
    if (unanswered_since_.has_value()) {
      consider(*unanswered_since_ + LongestAbsence());
    }
  }
  return next;
}

void Lifecycle::On(const RoundRefused& event) {
  pending_ = 0;
  rendezvous::Failure failure;
  failure.kind = rendezvous::FailureKind::kStartFailed;
  failure.exit_code = 1;
  failure.message = event.why;
  failures_.push_back(std::move(failure));
  ReleaseWaiters(event.why);
  Settle();
}

void Lifecycle::RecordFailure(rendezvous::Failure failure) {
  failure.traceback.clear();
  failure.stderr_tail.clear();
  failure.stack.clear();
  ends_.push_back(std::move(failure));
}

// Prints the names of the leftover processes that were stopped. torchrun leaves
// such processes running, so a user may expect that they continue.
void Lifecycle::NoticeLeftBehind(const std::vector<LeftBehind>& processes) {
  // names of leftover processes, by rank
  std::map<int, std::vector<std::string>> names;
  for (const LeftBehind& process : processes) {
    names[process.rank].push_back(process.name);
  }
  for (const auto& [rank, left] : names) {
    step_.losses.push_back(absl::StrCat(
        left.size(), left.size() == 1 ? " process" : " processes", " that ",
        rank < 0 ? "the workers" : absl::StrCat("rank ", rank), " left behind ",
        left.size() == 1 ? "was" : "were",
        " stopped: ", absl::StrJoin(left, ", ")));
  }
}

}  // namespace muster::agent
