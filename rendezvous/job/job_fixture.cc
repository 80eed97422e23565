#include "rendezvous/job/job_fixture.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace muster::rendezvous {

JobFixture::JobFixture(const JobSpec& spec, uint64_t epoch)
    : spec_(spec),
      now_(std::chrono::hours(1)),
      next_keep_alive_(now_ + spec.keep_alive_interval),
      epoch_(epoch),
      job_(std::make_unique<Job>("train", epoch, spec, now_, "own-tag")) {}

JobFixture JobFixture::HostedBy(const std::string& host, const JobSpec& spec) {
  JobFixture job(spec);
  job.host_ = host;
  job.job_ = std::make_unique<Job>("train", job.epoch_, spec, job.now_,
                                   "own-tag", host);
  return job;
}

void JobFixture::TakeOver(const std::string& host, Duration away) {
  epoch_ += kDrawnEpochMask + 1;
  host_ = host;
  StandStill(away);
  job_ =
      std::make_unique<Job>("train", epoch_, spec_, now_, "another-tag", host);
  // The standby in the process of `host` knows what its coordinator has handed
  // over.
  const auto own = agents_.find(host);
  if (own != agents_.end() && own->second.told.handover.has_value()) {
    job_->Inherit(*own->second.told.handover);
  }
  for (auto& [name, agent] : agents_) agent.stream = 0;
}

void JobFixture::Wait(Duration duration) {
  const Instant end = now_ + duration;
  for (;;) {
    Instant next = std::min(end, next_keep_alive_);
    const std::optional<Instant> deadline = job_->NextDeadline();
    if (deadline.has_value()) {
      MUSTER_CHECK(*deadline > now_) << "a deadline that has passed";
      next = std::min(next, *deadline);
    }
    now_ = next;
    if (deadline.has_value() && now_ >= *deadline) Step(TimePassed());
    if (now_ >= next_keep_alive_) {
      next_keep_alive_ += spec_.keep_alive_interval;
      for (auto& [name, agent] : agents_) {
        if (agent.stream != 0 && !agent.silent) Report(name);
      }
    }
    if (now_ >= end) return;
  }
}

Duration JobFixture::WaitFor(const std::string& kind, Duration limit) {
  const Instant start = now_;
  while (Count(kind) == 0 && now_ < start + limit) {
    Wait(std::min<Duration>(start + limit - now_,
                            std::chrono::milliseconds(100)));
  }
  return now_ - start;
}

void JobFixture::StandStill(Duration duration) {
  now_ += duration;
  next_keep_alive_ = now_ + spec_.keep_alive_interval;
}

JobFixture::Agent& JobFixture::agent(const std::string& name) {
  auto found = agents_.find(name);
  MUSTER_CHECK(found != agents_.end()) << "no agent is called " << name;
  return found->second;
}

JobFixture::Agent& JobFixture::Create(const std::string& name) {
  Agent agent;
  agent.report.run_id = "train";
  agent.report.spec = spec_;
  NodeIdentity& node = agent.report.node;
  node.node_id = name;
  node.incarnation = 1000 + agents_.size();
  node.host = name;
  node.address = absl::StrCat("10.0.0.", agents_.size() + 1);
  node.pid = static_cast<int64_t>(100 + agents_.size());
  node.slots = 2;
  agent.report.offered_master_port = static_cast<int>(29000 + agents_.size());
  agent.report.place_key = absl::StrCat("key of ", node.incarnation);
  agent.peer = node.address;
  if (!host_.empty()) agent.report.standby_endpoint = name;
  return agents_[name] = agent;
}

void JobFixture::Join(const std::string& name) {
  if (!agents_.contains(name)) Create(name);
  Reconnect(name);
}

void JobFixture::Report(const std::string& name) {
  Agent& from = agent(name);
  MUSTER_CHECK(from.stream != 0) << name << " is not connected";
  ++from.report.sequence;
  Step(ReportArrived{from.stream, from.report, from.peer});
}

void JobFixture::SetPhase(const std::string& name, NodePhase phase) {
  agent(name).report.phase = phase;
  Report(name);
}

void JobFixture::Runs(const std::string& name) {
  Agent& who = agent(name);
  MUSTER_CHECK(who.told.kind == DirectiveKind::kRun) << name << " may not run";
  who.report.round = who.told.place.round;
  who.report.place = who.told.place;
  who.report.place->nccl_id.clear();
  who.report.place->store_clients.clear();
  who.report.round_end.reset();
  who.report.failures.clear();
  SetPhase(name, NodePhase::kRunning);
}

void JobFixture::Stopping(const std::string& name) {
  SetPhase(name, NodePhase::kStopping);
}

void JobFixture::Idle(const std::string& name) {
  SetPhase(name, NodePhase::kIdle);
}

void JobFixture::Succeeds(const std::string& name) {
  SetPhase(name, NodePhase::kSucceeded);
}

void JobFixture::Fails(const std::string& name, const Failure& failure) {
  agent(name).report.failures.push_back(failure);
  SetPhase(name, NodePhase::kStopping);
}

void JobFixture::FailsUnreported(const std::string& name,
                                 const Failure& failure, NodePhase phase) {
  agent(name).report.failures = {failure};
  agent(name).report.phase = phase;
}

void JobFixture::BreakStream(const std::string& name) {
  const StreamId stream = std::exchange(agent(name).stream, 0);
  Step(StreamClosed{stream});
}

void JobFixture::Lose(const std::string& name) {
  BreakStream(name);
  Wait(std::chrono::seconds(1));
  // The node is not lost yet if another coordinator may have been elected.
  const auto nodes = status().nodes;
  const bool is_lost = std::ranges::none_of(
      nodes, [&](const NodeStatus& node) { return node.node.node_id == name; });
  if (!is_lost) Wait(TimeToLearn(spec_));
}

void JobFixture::Reconnect(const std::string& name) {
  agent(name).stream = next_stream_++;
  by_stream_[agent(name).stream] = name;
  Report(name);
}

void JobFixture::ReconnectAll(const std::vector<std::string>& names) {
  for (const std::string& name : names) Reconnect(name);
}

void JobFixture::Restart(const std::string& name) {
  Agent& who = agent(name);
  const uint64_t incarnation = who.report.node.incarnation + 1'000'000;
  muster::rendezvous::Report report;
  report.run_id = who.report.run_id;
  report.spec = who.report.spec;
  report.node = who.report.node;
  report.node.incarnation = incarnation;
  report.place_key = absl::StrCat("key of ", incarnation);
  report.offered_master_port = who.report.offered_master_port;
  report.standby_endpoint = who.report.standby_endpoint;
  who.report = report;
  who.told = Directive();
  Reconnect(name);
}

void JobFixture::StartAll(const std::vector<std::string>& names) {
  for (const std::string& name : names) Join(name);
  for (const std::string& name : names) {
    if (kind(name) == DirectiveKind::kRun) Runs(name);
  }
}

void JobFixture::AllStop() {
  for (auto& [name, agent] : agents_) {
    if (agent.stream != 0 && agent.told.kind == DirectiveKind::kStop) {
      Idle(name);
    }
  }
}

void JobFixture::ReplaceCoordinator(Duration away) {
  MUSTER_CHECK(record_.has_value()) << "the job has written no record";
  const uint64_t epoch = ++epoch_;
  StandStill(away);
  job_ =
      std::make_unique<Job>(StateOf(*record_, epoch, now_, now_ - recorded_));
  for (auto& [name, agent] : agents_) agent.stream = 0;
}

void JobFixture::ReplaceCoordinatorAndRecord(Duration away) {
  ++epoch_;
  StandStill(away);
  job_ = std::make_unique<Job>("train", epoch_, spec_, now_, "another-tag");
  for (auto& [name, agent] : agents_) agent.stream = 0;
}

void JobFixture::Judge() {
  Step(HostsJudged{std::make_shared<HostView>(memory_.View(wall_time()))});
}

JobStep JobFixture::Step(const JobEvent& event) {
  last_step_ = job_->Step(now_, event);
  if (last_step_.record_changed) {
    record_ = job_->Record();
    recorded_ = now_;
    const absl::Status sound = CheckRecord(*record_);
    MUSTER_CHECK(sound.ok()) << sound.message();
  }
  for (const Decision& decision : last_step_.decisions) {
    decisions_.push_back(decision);
  }
  for (const Delivery& delivery : last_step_.deliveries) {
    auto found = by_stream_.find(delivery.stream);
    MUSTER_CHECK(found != by_stream_.end()) << "no such stream";
    Agent& to = agents_[found->second];
    if (to.deaf || to.stream != delivery.stream) continue;
    to.told = delivery.directive;
    ++to.times_told;
    to.report.seen_epoch = delivery.directive.epoch;
    to.report.seen_revision = delivery.directive.revision;
    to.report.promised_epoch = delivery.directive.epoch;
    if (delivery.directive.electorate.epoch != 0) {
      to.report.electorate = delivery.directive.electorate;
      to.report.host_rank = delivery.directive.host_rank;
    }
    to.report.restarts_used =
        delivery.directive.restarts_used.value_or(to.report.restarts_used);
    if (to.told.kind == DirectiveKind::kStop &&
        to.told.stop.round >= to.report.round) {
      to.report.round_end = RoundEnd{.round = to.told.stop.round,
                                     .cause = to.told.stop.cause,
                                     .exit_code = to.told.stop.exit_code,
                                     .reason = to.told.reason,
                                     .cancelled = to.told.stop.cancelled,
                                     .epoch = to.told.epoch,
                                     .revision = to.told.revision};
    }
  }
  if (last_step_.faults.empty()) return last_step_;
  JobStep first = last_step_;
  for (const HostFault& fault : first.faults) {
    memory_.Record(wall_time(), static_cast<int>(agents_.size()), fault);
  }
  Judge();
  // Judge has sent the job the event HostsJudged, so last_step_ now has the
  // results of that event. Add them to those of `event`, and return both as one
  // step.
  first.record_changed = first.record_changed || last_step_.record_changed;
  const auto append = [](auto& to, const auto& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  append(first.deliveries, last_step_.deliveries);
  append(first.decisions, last_step_.decisions);
  last_step_ = std::move(first);
  return last_step_;
}

std::vector<std::string> JobFixture::World() const {
  std::vector<std::string> names;
  for (const NodeStatus& node : status().nodes) {
    if (node.group_rank.has_value()) names.push_back(node.node.node_id);
  }
  return names;
}

std::string JobFixture::Decided(const std::string& kind) const {
  for (size_t i = decisions_.size(); i-- > 0;) {
    if (decisions_[i].kind == kind) return decisions_[i].reason;
  }
  return "";
}

std::optional<Failure> JobFixture::DecidedFailure(
    const std::string& kind) const {
  for (size_t i = decisions_.size(); i-- > 0;) {
    if (decisions_[i].kind == kind) return decisions_[i].failure;
  }
  return std::nullopt;
}

int JobFixture::Count(const std::string& kind) const {
  return static_cast<int>(
      std::count_if(decisions_.begin(), decisions_.end(),
                    [&](const Decision& d) { return d.kind == kind; }));
}

HostKey KeyOf(const std::string& host) {
  return {.host = host, .ip = absl::StrCat("ip-", host)};
}

JobSpec QuickSpec(int min_nodes, int max_nodes) {
  JobSpec spec;
  spec.min_nodes = min_nodes;
  spec.max_nodes = max_nodes;
  spec.max_restarts = 1;
  spec.join_timeout = std::chrono::seconds(60);
  spec.last_call = std::chrono::seconds(4);
  spec.shutdown_timeout = std::chrono::seconds(10);
  spec.keep_alive_interval = std::chrono::seconds(1);
  spec.keep_alive_misses = 5;
  spec.scale_up_cool_down = std::chrono::seconds(5);
  return spec;
}

Failure ExitedWith(int rank, int code) {
  Failure failure;
  failure.kind = FailureKind::kExitCode;
  failure.rank = rank;
  failure.local_rank = rank % 2;
  failure.exit_code = code;
  failure.message = absl::StrCat("exit code ", code);
  return failure;
}

Failure KilledBy(int rank, int signal) {
  Failure failure;
  failure.kind = FailureKind::kSignal;
  failure.rank = rank;
  failure.signal = signal;
  failure.message = absl::StrCat("killed by signal ", signal);
  return failure;
}

}  // namespace muster::rendezvous
