#include "rendezvous/server/driven_job.h"

#include <sys/random.h>

#include <iterator>
#include <utility>
#include <vector>

#include "base/channel_key.h"
#include "base/check.h"
#include "base/monotonic_clock.h"

namespace muster::rendezvous {
namespace {

constexpr size_t kMaxWatchers = 100;

}  // namespace

bool JobWatchers::Add(uint64_t id, Told told) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (watchers_.size() >= kMaxWatchers) return false;
  watchers_.emplace(id, std::make_shared<Watcher>(std::move(told)));
  return true;
}

void JobWatchers::Remove(uint64_t id) {
  std::shared_ptr<Watcher> watcher;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = watchers_.find(id);
    if (found == watchers_.end()) return;
    watcher = std::move(found->second);
    watchers_.erase(found);
  }
  // JobWatchers::Tell may hold a copy of `watcher`, so clear its function: Tell
  // makes no call then.
  std::lock_guard<std::mutex> lock(watcher->mutex);
  watcher->told = nullptr;
}

void JobWatchers::Note(std::vector<Decision> decisions) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (noted_.empty()) {
    noted_ = std::move(decisions);
  } else {
    std::move(decisions.begin(), decisions.end(), std::back_inserter(noted_));
  }
}

void JobWatchers::Tell() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (telling_) return;
  telling_ = true;
  while (!noted_.empty()) {
    const std::vector<Decision> batch = std::exchange(noted_, {});
    std::vector<std::shared_ptr<Watcher>> watchers;
    for (const auto& [id, watcher] : watchers_) watchers.push_back(watcher);
    lock.unlock();
    for (const Decision& decision : batch) {
      if (always_) always_(decision);
      for (const auto& watcher : watchers) {
        std::lock_guard<std::mutex> hold(watcher->mutex);
        if (watcher->told) watcher->told(decision);
      }
    }
    lock.lock();
  }
  telling_ = false;
}

const std::string& ChannelKeys::KeyOf(int round) {
  if (round != round_) {
    key_.assign(kChannelKeyBytes, '\0');
    const ssize_t drawn = getrandom(key_.data(), key_.size(), 0);
    MUSTER_CHECK(drawn == static_cast<ssize_t>(key_.size())) << drawn;
    round_ = round;
  }
  return key_;
}

DrivenJob::DrivenJob(std::string run_id, uint64_t epoch, const JobSpec& spec,
                     std::string run_tag, AlarmThread* alarms,
                     Observer observer)
    : run_id_(run_id),
      encryption_(spec.encryption),
      alarms_(alarms),
      observer_(std::move(observer)),
      watchers_(observer_.on_decision),
      job_(std::move(run_id), epoch, spec, MonotonicNow(), std::move(run_tag)) {
}

void DrivenJob::OnReport(const std::shared_ptr<AttachedSink>& sink,
                         Report report) {
  Step(ReportArrived{sink->stream(), std::move(report), sink->peer()}, sink);
}

void DrivenJob::OnStreamClosed(StreamId stream) {
  Step(StreamClosed{stream}, nullptr);
}

std::string DrivenJob::Cancel(const std::string& reason) {
  return Step(CancelAsked{reason}, nullptr);
}

std::string DrivenJob::Drain(const std::string& node,
                             const std::string& principal) {
  return Step(DrainAsked{node, principal}, nullptr);
}

JobStatus DrivenJob::Status() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return job_.Status(MonotonicNow());
}

JobStatus DrivenJob::Summary() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return job_.Summary(MonotonicNow());
}

bool DrivenJob::OwesVerdict() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return job_.OwesVerdict();
}

bool DrivenJob::NeverBegan() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return sinks_.empty() && job_.phase() == JobPhase::kGathering &&
         !job_.has_begun();
}

std::string DrivenJob::Step(const JobEvent& event,
                            const std::shared_ptr<AttachedSink>& sink) {
  std::vector<std::pair<std::shared_ptr<AttachedSink>, Directive>> deliveries;
  std::string refusal;
  bool has_decisions;
  bool has_finished = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (sink != nullptr) sinks_.try_emplace(sink->stream(), sink);
    if (const auto* closed = std::get_if<StreamClosed>(&event)) {
      sinks_.erase(closed->stream);
    }
    // Read the clock with the lock held, so that the job's time never
    // decreases.
    JobStep step = job_.Step(MonotonicNow(), event);
    deliveries.reserve(step.deliveries.size());
    for (Delivery& delivery : step.deliveries) {
      auto found = sinks_.find(delivery.stream);
      if (found == sinks_.end()) continue;
      // The job itself draws nothing at random.
      if (encryption_ == Encryption::kWorkers &&
          delivery.directive.kind == DirectiveKind::kRun) {
        Place& place = delivery.directive.place;
        place.channel_key = keys_.KeyOf(place.round);
      }
      deliveries.emplace_back(found->second, std::move(delivery.directive));
    }
    refusal = std::move(step.refusal);
    has_decisions = !step.decisions.empty();
    if (has_decisions) watchers_.Note(std::move(step.decisions));
    if (job_.finished() && !told_finished_) {
      told_finished_ = has_finished = true;
    }
    SetAlarm();
  }
  for (const auto& [to, directive] : deliveries) to->Deliver(directive);
  if (has_decisions) watchers_.Tell();
  if (has_finished) observer_.on_finished();
  return refusal;
}

void DrivenJob::SetAlarm() {
  const std::optional<Instant> deadline = job_.NextDeadline();
  if (!deadline.has_value()) return;
  if (alarm_.has_value() && *alarm_ <= *deadline) return;
  alarm_ = deadline;
  alarms_->CallAt(*deadline, [weak = weak_from_this(), when = *deadline] {
    if (std::shared_ptr<DrivenJob> job = weak.lock()) job->OnAlarm(when);
  });
}

void DrivenJob::OnAlarm(Instant when) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    // An earlier alarm has replaced this one. The replaced alarm must not set
    // another, or the number of alarms would grow.
    if (alarm_ != when) return;
    alarm_.reset();
  }
  Step(TimePassed(), nullptr);
}

}  // namespace muster::rendezvous
