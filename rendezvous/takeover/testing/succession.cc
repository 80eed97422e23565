#include "rendezvous/takeover/testing/succession.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace muster::rendezvous {

using std::chrono::milliseconds;
using std::chrono::seconds;

Succession::Succession(const JobSpec& spec, const std::string& founder,
                       const std::vector<std::string>& names)
    : spec_(spec) {
  for (const std::string& name : names) Restart(name);
  Found(founder, 7);
}

void Succession::Restart(const std::string& name) {
  ++incarnation_;
  Agent& one = agents_[name];
  one = {};
  Report& report = one.report;
  report.run_id = "train";
  report.spec = spec_;
  report.node.node_id = report.node.host = name;
  report.node.incarnation = incarnation_;
  report.node.address = absl::StrCat("10.0.0.", agents_.size());
  report.place_key = absl::StrCat("key ", incarnation_);
  report.offered_master_port = 29000;
  report.standby_endpoint = name;
}

void Succession::Found(const std::string& process, uint64_t epoch) {
  founder_ = process;
  processes_[process] = {
      .job = std::make_unique<Job>("train", epoch, spec_, now_, "tag", process),
      .standby = nullptr};
}

bool Succession::coordinates(const std::string& process) const {
  const auto found = processes_.find(process);
  return found != processes_.end() && found->second.job != nullptr;
}

void Succession::End(const std::string& process) {
  processes_.erase(process);
  for (auto& [name, one] : agents_) {
    if (one.process == process) streams_.erase(std::exchange(one.stream, 0));
  }
}

void Succession::EndAgent(const std::string& name) {
  Cut({name});
  agents_.erase(name);
}

void Succession::StandBy(const std::string& process, uint64_t draw,
                         Standby::Kind kind) {
  processes_[process] = {.job = nullptr,
                         .standby = std::make_unique<Standby>(
                             kind, (uint64_t{1} << kDrawnEpochBits) | draw)};
}

void Succession::Announce(const std::string& from, const std::string& to) {
  if (from == to || !coordinates(from)) return;
  const Job& job = *processes_[from].job;
  const Backing backing =
      job.MayAnnounce() ? Backing::kMajority : Backing::kMinority;
  const auto found = processes_.find(to);
  if (found == processes_.end()) return;
  if (found->second.job != nullptr) {
    Take(to,
         found->second.job->Step(
             now_, CoordinatorTold{.epoch = job.epoch(), .backing = backing}));
  } else {
    Take(to, found->second.standby->Told(now_, job.epoch(), from, backing));
  }
}

void Succession::Connect(const std::vector<std::string>& names,
                         const std::string& process) {
  for (const std::string& name : names) {
    Cut({name});
    Agent& one = agent(name);
    one.process = process;
    one.stream = ++last_stream_;
    streams_[one.stream] = name;
    Send(name);
  }
}

void Succession::Cut(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    Agent& one = agent(name);
    const StreamId stream = std::exchange(one.stream, 0);
    one.unheard.reset();
    const auto found = processes_.find(one.process);
    if (stream == 0 || found == processes_.end()) continue;
    streams_.erase(stream);
    if (found->second.job != nullptr) {
      Take(found->first, found->second.job->Step(now_, StreamClosed{stream}));
    } else if (found->second.standby != nullptr) {
      found->second.standby->Forget(stream);
    }
  }
}

void Succession::CutUnnoticed(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    streams_.erase(std::exchange(agent(name).stream, 0));
  }
}

void Succession::Deafen(const std::vector<std::string>& names) {
  for (const std::string& name : names) agent(name).deaf = true;
}

void Succession::Hear(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    Agent& one = agent(name);
    one.deaf = false;
    if (!one.unheard.has_value()) continue;
    const Directive unheard = *std::exchange(one.unheard, std::nullopt);
    Obey(name, one, unheard);
  }
}

void Succession::Send(const std::string& name) {
  Agent& one = agent(name);
  const auto found = processes_.find(one.process);
  if (one.stream == 0 || one.has_left || found == processes_.end()) return;
  Report report = one.report;
  report.sequence = ++one.report.sequence;
  one.sent.emplace_back(one.report.sequence, now_);
  while (now_ > one.sent.front().second + spec_.order_life()) {
    one.sent.pop_front();
  }
  Process& process = found->second;
  if (process.job != nullptr) {
    Take(one.process,
         process.job->Step(
             now_, ReportArrived{one.stream, report, report.node.address}));
  } else if (process.standby != nullptr) {
    Take(one.process, process.standby->Hear(now_, one.stream, report));
  }
}

void Succession::Wait(Duration duration) {
  for (const Instant end = now_ + duration; now_ < end;) Tick(end);
}

void Succession::WaitForRound(const std::string& name, int round,
                              Duration at_most) {
  stop_ = {name, round};
  const Instant end = now_ + at_most;
  while (now_ < end && report(name).round < round) Tick(end);
  stop_ = {};
  due_.clear();
}

bool Succession::IsStopped() const {
  return !stop_.first.empty() && report(stop_.first).round >= stop_.second;
}

void Succession::Flush() {
  for (int i = 0; i < 300 && !due_.empty() && !IsStopped(); ++i) {
    const std::string name = due_.front();
    due_.erase(due_.begin());
    if (has_agent(name)) Send(name);
  }
}

void Succession::Tick(Instant end) {
  Flush();
  Instant next = std::min(end, next_keep_alive_);
  std::vector<std::string> names;
  for (const auto& [name, process] : processes_) {
    if (process.job == nullptr) continue;
    names.push_back(name);
    next = std::min(next, process.job->NextDeadline().value_or(next));
  }
  now_ = std::min(end, std::max(next, now_ + milliseconds(50)));
  for (const std::string& name : names) {
    Job* const job = processes_[name].job.get();
    if (job == nullptr || IsStopped()) continue;
    if (job->NextDeadline().value_or(Instant::max()) > now_) continue;
    Take(name, job->Step(now_, TimePassed()));
  }
  if (now_ >= next_keep_alive_) {
    next_keep_alive_ = now_ + seconds(1);
    for (const auto& [name, one] : agents_) {
      if (!IsStopped()) Send(name);
    }
  }
  Flush();
}

void Succession::Take(const std::string& process, const JobStep& step) {
  if (step.deposed) {
    StandBy(process, 500 + last_stream_,
            process == founder_ ? Standby::Kind::kFormerFounder
                                : Standby::Kind::kSuccessor);
    return;
  }
  for (const Delivery& delivery : step.deliveries) Deliver(delivery);
  if (!step.faults.empty() && coordinates(process)) {
    Take(process, processes_[process].job->Step(now_, HostsJudged()));
  }
}

void Succession::Take(const std::string& process, const Standby::Step& step) {
  for (const Delivery& delivery : step.deliveries) Deliver(delivery);
  if (!step.elected.has_value() || coordinates(process)) return;
  const auto standby = std::move(processes_[process].standby);
  processes_[process].job = std::make_unique<Job>("train", *step.elected, spec_,
                                                  now_, "tag", process);
  for (const std::string& name : deafened_) {
    if (has_agent(name)) agent(name).deaf = true;
  }
  deafened_.clear();
  for (const auto& [stream, report] : standby->Replay()) {
    if (!coordinates(process)) return;
    Take(process,
         processes_[process].job->Step(
             now_, ReportArrived{stream, report, report.node.address}));
  }
}

void Succession::Deliver(const Delivery& delivery) {
  const auto found = streams_.find(delivery.stream);
  if (found == streams_.end()) return;
  Agent& one = agent(found->second);
  if (one.stream != delivery.stream) return;
  if (one.deaf) {
    one.unheard = delivery.directive;
    return;
  }
  Obey(found->second, one, delivery.directive);
}

void Succession::Obey(const std::string& name, Agent& one,
                      const Directive& told) {
  Report& report = one.report;
  if (told.kind == DirectiveKind::kMoved) return;
  if (one.has_left) return;
  const bool is_stand_by = told.kind == DirectiveKind::kStandBy;
  if (!is_stand_by && told.epoch < report.promised_epoch) return;
  const bool is_new =
      is_stand_by ? told.epoch > report.promised_epoch
                  : std::pair(told.epoch, told.revision) !=
                        std::pair(report.seen_epoch, report.seen_revision);
  report.promised_epoch = std::max(report.promised_epoch, told.epoch);
  if (is_new) due_.push_back(name);
  if (is_stand_by) return;
  report.seen_epoch = told.epoch;
  report.seen_revision = told.revision;
  if (told.electorate.epoch != 0) {
    report.electorate = told.electorate;
    report.host_rank = told.host_rank;
  }
  report.restarts_used = told.restarts_used.value_or(report.restarts_used);
  switch (told.kind) {
    case DirectiveKind::kWait:
      report.phase = NodePhase::kIdle;
      break;
    case DirectiveKind::kStop:
      if (told.stop.round < report.round) break;
      report.phase = NodePhase::kIdle;
      report.round_end = EndToldBy(told);
      break;
    case DirectiveKind::kRun:
      if (told.place.round <= report.round) break;
      report.phase = NodePhase::kIdle;
      if (IsFresh(one, told)) {
        Begin(one, told.place);
      } else {
        report.seen_epoch = report.seen_revision = 0;
        due_.push_back(name);
      }
      break;
    case DirectiveKind::kFinished:
    case DirectiveKind::kReleased:
    case DirectiveKind::kRefused:
      report.phase = NodePhase::kIdle;
      one.has_left = true;
      break;
    case DirectiveKind::kHold:
    case DirectiveKind::kStandBy:
    case DirectiveKind::kMoved:
      break;
  }
}

bool Succession::IsFresh(const Agent& one, const Directive& order) const {
  return order.answered_report == 0 ||
         std::any_of(one.sent.begin(), one.sent.end(), [&](const auto& sent) {
           return sent.first == order.answered_report &&
                  now_ <= sent.second + spec_.order_life();
         });
}

void Succession::Begin(Agent& one, const Place& place) {
  Report& report = one.report;
  if (report.place.has_value()) {
    report.previous_world = {.epoch = report.place->epoch,
                             .round = report.place->round};
    report.previous_rank = report.place->group_rank;
  }
  report.place = place;
  report.place->store_clients.clear();
  report.place->nccl_id.clear();
  report.round = place.round;
  report.phase = NodePhase::kRunning;
  report.round_end.reset();
  report.failures.clear();
  Check();
}

void Succession::Check() {
  std::map<WorldId, int> missing;
  for (const auto& [name, one] : agents_) {
    if (one.report.phase != NodePhase::kRunning) continue;
    const Place& place = *one.report.place;
    const WorldId world = {.epoch = place.epoch, .round = place.round};
    --missing.try_emplace(world, place.group_world_size).first->second;
  }
  std::string complete;
  int count = 0;
  for (const auto& [world, nodes] : missing) {
    if (nodes > 0) continue;
    ++count;
    absl::StrAppend(&complete, " round ", world.round, " of epoch ",
                    world.epoch);
  }
  if (count > 1) split_ = complete;
}

}  // namespace muster::rendezvous
