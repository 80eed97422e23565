#include "rendezvous/server/driven_job.h"

#include <sys/random.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/channel_key.h"
#include "base/check.h"
#include "base/monotonic_clock.h"
#include "base/unix_time.h"

namespace muster::rendezvous {
namespace {

constexpr size_t kMaxWatchers = 100;

// How long the coordinator waits for the nodes' answers to `launch logs`
// (kLogsTimeout) and to `launch stacks` (kStacksTimeout). kLogsTimeout is
// short, because the lines of the workers' output are in the nodes' memory.
// kStacksTimeout is longer, because reading the workers' stacks takes up to
// StackTaker::kTimeForAll.
constexpr Duration kLogsTimeout = std::chrono::seconds(10);
constexpr Duration kStacksTimeout = std::chrono::seconds(20);
// How long after the end of the job `launch logs -f` waits for the last lines
// of the workers' output.
constexpr Duration kLastOutputTimeout = std::chrono::seconds(5);

uint64_t DrawInquiryId() {
  uint64_t id = 0;
  while (id == 0) {
    const ssize_t drawn = getrandom(&id, sizeof(id), 0);
    MUSTER_CHECK(drawn == static_cast<ssize_t>(sizeof(id))) << drawn;
  }
  return id;
}

}  // namespace

std::optional<MissedDecisions> JobWatchers::Add(uint64_t id,
                                                DecisionCursor* cursor,
                                                Told told) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (watchers_.size() >= kMaxWatchers) return std::nullopt;
  watchers_.emplace(id, std::make_shared<Watcher>(std::move(told)));
  const DecisionCursor known =
      std::exchange(*cursor, {.epoch = epoch_, .count = told_});
  MissedDecisions missed;
  // Epoch 0 means a new watcher, which begins with the job's newest state and
  // needs no older decisions.
  if (known.epoch == 0) return missed;
  const uint64_t seen =
      known.epoch == epoch_ ? std::min(known.count, told_) : 0;
  const uint64_t count = std::min<uint64_t>(told_ - seen, kept_.size());
  missed.dropped = static_cast<int>(told_ - seen - count);
  missed.decisions.assign(kept_.end() - static_cast<ptrdiff_t>(count),
                          kept_.end());
  return missed;
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
  // JobWatchers::Tell may still hold a copy of the pointer `watcher`. Clear the
  // function, so that Tell calls nothing.
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
    told_ += batch.size();
    kept_.insert(kept_.end(), batch.begin(), batch.end());
    while (kept_.size() > kMaxKept) kept_.pop_front();
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

void ChannelKeys::Restore(uint64_t round, const std::string& key) {
  if (key.size() != kChannelKeyBytes) return;
  round_ = round;
  key_ = key;
}

const std::string& ChannelKeys::KeyOf(uint64_t round) {
  if (round != round_) {
    key_.assign(kChannelKeyBytes, '\0');
    const ssize_t drawn = getrandom(key_.data(), key_.size(), 0);
    MUSTER_CHECK(drawn == static_cast<ssize_t>(key_.size())) << drawn;
    round_ = round;
  }
  return key_;
}

DrivenJob::DrivenJob(std::string run_id, uint64_t epoch, const JobSpec& spec,
                     std::string run_tag, JobOwner owner,
                     Surroundings surroundings, Observer observer)
    : run_id_(run_id),
      encryption_(spec.encryption),
      owner_(std::move(owner)),
      surroundings_(std::move(surroundings)),
      observer_(std::move(observer)),
      watchers_(observer_.on_decision, epoch),
      job_(std::move(run_id), epoch, spec, MonotonicNow(), std::move(run_tag),
           surroundings_.own_endpoint),
      inquiries_(DrawInquiryId) {}

namespace {

// The answer to a request for a job that another process coordinates.
constexpr char kDeposed[] =
    "this coordinator does not coordinate the job any more; try again";

}  // namespace

DrivenJob::DrivenJob(const KeptJob& kept, uint64_t epoch,
                     Surroundings surroundings, Observer observer)
    : run_id_(kept.job.run_id),
      encryption_(kept.job.spec.encryption),
      owner_(kept.owner),
      surroundings_(std::move(surroundings)),
      observer_(std::move(observer)),
      watchers_(observer_.on_decision, epoch),
      job_(StateOf(kept.job, epoch, MonotonicNow(), AgeOf(kept, UnixTime()))),
      inquiries_(DrawInquiryId),
      told_finished_(job_.finished()) {
  keys_.Restore(kept.job.round, kept.channel_key);
}

void DrivenJob::Resume() {
  std::lock_guard<std::mutex> lock(mutex_);
  SetAlarm();
}

void DrivenJob::Recall(const KeptJob& kept) {
  std::lock_guard<std::mutex> lock(mutex_);
  job_.Recall(kept.job, AgeOf(kept, UnixTime()));
}

void DrivenJob::Inherit(const Handover& handover) {
  std::lock_guard<std::mutex> lock(mutex_);
  job_.Inherit(handover);
}

KeptJob DrivenJob::Record() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return {.job = job_.Record(), .written_at = UnixTime(), .owner = owner_};
}

std::function<void()> DrivenJob::Begin(const Reports& reports) {
  std::vector<News> news;
  std::string unused;
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [sink, report] : reports) {
    news.push_back(StepLocked(
        ReportArrived{sink->stream(), report, sink->peer()}, sink, &unused));
  }
  return [self = shared_from_this(), news = std::move(news)] {
    for (const News& one : news) self->Tell(one);
  };
}

void DrivenJob::OnReport(const std::shared_ptr<AttachedSink>& sink,
                         Report report) {
  Step(ReportArrived{sink->stream(), std::move(report), sink->peer()}, sink);
}

void DrivenJob::OnStreamClosed(StreamId stream) {
  Step(StreamClosed{stream}, nullptr);
}

void DrivenJob::OnAgentDied(const std::string& node_id) {
  Step(AgentDied{node_id}, nullptr);
}

std::string DrivenJob::Cancel(const std::string& reason) {
  const std::string refusal = Step(CancelAsked{reason}, nullptr);
  return refusal.empty() ? AwaitWritten() : refusal;
}

std::string DrivenJob::Drain(const std::string& node,
                             const std::string& principal) {
  const std::string refusal = Step(DrainAsked{node, principal}, nullptr);
  return refusal.empty() ? AwaitWritten() : refusal;
}

void DrivenJob::OnHostsJudged() { Step(TimePassed(), nullptr); }

void DrivenJob::OnCoordinatorTold(const CoordinatorTold& told) {
  Step(told, nullptr);
}

DrivenJob::Standing DrivenJob::standing() const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (deposed_) return Standing();
  return {.epoch = job_.epoch(),
          .has_majority = job_.MayAnnounce(),
          .must_ask = job_.MayAsk(),
          .awaits_nodes = job_.AwaitsNodes(),
          .standbys = job_.standbys()};
}

bool DrivenJob::finished() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return job_.finished();
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
  News news;
  std::string refusal;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    news = StepLocked(event, sink, &refusal);
  }
  Tell(news);
  return refusal;
}

bool DrivenJob::IsDeposed() {
  if (surroundings_.leads && !surroundings_.leads()) deposed_ = true;
  return deposed_;
}

DrivenJob::News DrivenJob::StepLocked(const JobEvent& event,
                                      const std::shared_ptr<AttachedSink>& sink,
                                      std::string* refusal) {
  // If another coordinator leads now, nodes may have reported to it. Then this
  // process must not declare these nodes lost. Check this here, because the
  // loss of a node writes no record: the record store could refuse only a
  // write.
  if (IsDeposed()) {
    inquiries_.LoseAll("another process coordinates the job now");
    *refusal = kDeposed;
    return News();
  }
  Stream stream = Stream::kKnown;
  if (sink != nullptr && sinks_.try_emplace(sink->stream(), sink).second) {
    stream = Stream::kNew;
  }
  if (const auto* closed = std::get_if<StreamClosed>(&event)) {
    sinks_.erase(closed->stream);
    inquiries_.OnClosed(closed->stream);
  }
  // Read the clock with the lock held, so that the job's time never decreases.
  JobStep step = StepJudged(event);
  if (step.record_changed) held_.CountChange();
  *refusal = std::move(step.refusal);
  News news = NewsOf(std::move(step));
  if (!inquiries_.empty()) {
    News asked = Readdress(FollowInquiries(stream));
    std::move(asked.deliveries.begin(), asked.deliveries.end(),
              std::back_inserter(news.deliveries));
  }
  if (surroundings_.records != nullptr && !deposed_) {
    Hold(news);
    Write();
  }
  if (news.has_decisions) watchers_.Note(std::move(news.decisions));
  SetAlarm();
  return news;
}

JobStep DrivenJob::StepJudged(const JobEvent& event) {
  JobStep all;
  const auto step = [&](const JobEvent& one) {
    JobStep made = job_.Step(MonotonicNow(), one);
    all.record_changed = all.record_changed || made.record_changed;
    all.deposed = made.deposed;
    const auto append = [](auto& to, auto& from) {
      std::move(from.begin(), from.end(), std::back_inserter(to));
    };
    append(all.deliveries, made.deliveries);
    append(all.decisions, made.decisions);
    append(all.faults, made.faults);
    if (!made.refusal.empty()) all.refusal = std::move(made.refusal);
  };
  const auto judge = [&] {
    if (surroundings_.hosts == nullptr) return;
    std::optional<HostWatch::Version> newest =
        surroundings_.hosts->NewerThan(judged_);
    if (!newest.has_value()) return;
    judged_ = newest->number;
    step(HostsJudged{std::move(newest->view), std::move(newest->machines)});
  };
  judge();
  step(event);
  // The step that tells the job which machines are suspected may itself report
  // faults, because it may end a check by pairs (--network-check). So repeat
  // until a step reports no fault.
  while (!all.deposed && !all.faults.empty()) {
    const std::vector<HostFault> faults = std::exchange(all.faults, {});
    if (surroundings_.hosts == nullptr) {
      step(HostsJudged());
      continue;
    }
    surroundings_.hosts->Record(faults);
    judge();
  }
  return all;
}

std::vector<DrivenJob::Addressee> DrivenJob::Addressed(
    std::vector<Delivery> deliveries) {
  std::vector<Addressee> addressed;
  addressed.reserve(deliveries.size());
  for (Delivery& delivery : deliveries) {
    auto found = sinks_.find(delivery.stream);
    if (found == sinks_.end()) continue;
    // This driver creates the round's random encryption key, because the job is
    // a pure state machine without randomness.
    if (encryption_ == Encryption::kWorkers &&
        delivery.directive.kind == DirectiveKind::kRun) {
      Place& place = delivery.directive.place;
      place.channel_key = keys_.KeyOf(place.round);
    }
    if (std::optional<PairCheck>& check = delivery.directive.pair_check;
        check.has_value()) {
      check->key = check_keys_.KeyOf(check->number);
    }
    addressed.emplace_back(found->second, std::move(delivery.directive));
  }
  return addressed;
}

DrivenJob::News DrivenJob::NewsOf(JobStep step) {
  News news;
  news.deliveries = Addressed(std::move(step.deliveries));
  news.decisions = std::move(step.decisions);
  news.has_decisions = !news.decisions.empty();
  if (job_.finished() && !told_finished_) {
    told_finished_ = news.has_finished = true;
  }
  deposed_ = news.is_deposed = step.deposed;
  if (deposed_) {
    // The job is deposed, so its nodes obey another coordinator. Directives
    // that were held back until a record is durable are dropped, but the
    // watchers still get the decisions.
    for (News& one : held_.Drop()) {
      if (one.has_decisions) watchers_.Note(std::move(one.decisions));
    }
    was_written_.notify_all();
  }
  return news;
}

absl::Status DrivenJob::Inquire(const std::shared_ptr<InquirySession>& session,
                                const std::string& node) {
  const Inquiry& question = session->question();
  News news;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (IsDeposed()) return absl::UnavailableError(kDeposed);
    if (job_.finished()) {
      return absl::FailedPreconditionError(
          "the job is over, and its nodes have left; the output of its workers "
          "is in the files of --log-dir, if that was given");
    }
    if (question.kind == Inquiry::Kind::kStacks &&
        job_.phase() == JobPhase::kGathering) {
      return absl::FailedPreconditionError(absl::StrCat(
          "no worker runs", job_.why().empty() ? "" : ": ", job_.why()));
    }
    const std::vector<NodeSeat> seats = job_.Seats();
    const absl::Status sound = CheckInquiry(question, node, seats);
    if (!sound.ok()) return sound;
    if (!inquiries_.Add(session, node)) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the job has ", kMaxInquiries,
                       " open inquiries (launch logs, launch stacks) or ",
                       JobInquiries::kMaxFollowers, " launch logs -f already"));
    }
    news = Readdress(inquiries_.Ask(session, seats));
    if (surroundings_.records != nullptr) Hold(news);
  }
  Tell(news);
  if (question.follow == Inquiry::Follow::kYes) return absl::OkStatus();
  const Duration timeout =
      question.kind == Inquiry::Kind::kLogs ? kLogsTimeout : kStacksTimeout;
  surroundings_.alarms->CallAt(
      MonotonicNow() + timeout,
      [weak = std::weak_ptr<InquirySession>(session), timeout] {
        const std::shared_ptr<InquirySession> late = weak.lock();
        if (late == nullptr) return;
        late->LoseAll(absl::StrCat("it did not answer within ",
                                   ToSeconds(timeout), " s"));
      });
  return absl::OkStatus();
}

void DrivenJob::EndInquiry(const std::shared_ptr<InquirySession>& session) {
  News news;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    news = Readdress(inquiries_.Remove(session));
    if (surroundings_.records != nullptr) Hold(news);
  }
  Tell(news);
}

std::shared_ptr<InquirySession> DrivenJob::FindInquiry(uint64_t id) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return inquiries_.Find(id);
}

DrivenJob::News DrivenJob::Readdress(const std::set<StreamId>& streams) {
  JobStep step;
  const bool may_direct = !IsDeposed();
  for (const StreamId stream : streams) {
    const auto found = sinks_.find(stream);
    if (found == sinks_.end()) continue;
    found->second->SetInquiries(inquiries_.For(stream));
    std::optional<Directive> directive = job_.DirectiveOn(stream);
    if (!may_direct || !directive.has_value()) continue;
    step.deliveries.push_back({stream, *std::move(directive)});
  }
  News news;
  news.deliveries = Addressed(std::move(step.deliveries));
  return news;
}

std::set<StreamId> DrivenJob::FollowInquiries(Stream stream) {
  if (deposed_) {
    inquiries_.LoseAll("another process coordinates the job now");
    for (const auto& [id, sink] : sinks_) sink->SetInquiries({});
    return {};
  }
  if (job_.finished()) {
    if (std::exchange(inquiries_end_, true)) return {};
    inquiries_.AskNoMore();
    surroundings_.alarms->CallAt(
        MonotonicNow() + kLastOutputTimeout, [weak = weak_from_this()] {
          const std::shared_ptr<DrivenJob> job = weak.lock();
          if (job == nullptr) return;
          std::lock_guard<std::mutex> lock(job->mutex_);
          job->inquiries_.LoseAll("it did not send the end of its output");
        });
    return {};
  }
  if (stream == Stream::kKnown && asked_round_ == job_.round()) return {};
  asked_round_ = job_.round();
  return inquiries_.AskFollowed(job_.Seats());
}

void DrivenJob::Hold(News& news) {
  if (held_.Hold(news)) news = News();
}

void DrivenJob::Write() {
  // Write nothing once the job is deposed: this process may coordinate the job
  // again with a new DrivenJob, whose newer record must not be overwritten.
  if (deposed_ || !held_.BeginWrite()) return;
  KeptJob kept{.job = job_.Record(), .written_at = UnixTime(), .owner = owner_};
  if (encryption_ == Encryption::kWorkers && kept.job.round > 0) {
    kept.channel_key = keys_.KeyOf(kept.job.round);
  }
  surroundings_.records->Put(run_id_, ToBytes(kept), [weak = weak_from_this()] {
    if (auto job = weak.lock()) job->OnWritten();
  });
}

void DrivenJob::OnWritten() {
  std::vector<News> news;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    news = held_.EndWrite();
    // The process may have been suspended during the write. The next leader has
    // read the record, and may have decided otherwise since then. So tell the
    // nodes nothing.
    const bool may_direct = !IsDeposed();
    for (News& one : news) {
      if (one.has_decisions) watchers_.Note(std::move(one.decisions));
      if (!may_direct) one.deliveries.clear();
    }
    Write();
  }
  was_written_.notify_all();
  for (const News& one : news) Tell(one);
}

std::string DrivenJob::AwaitWritten() {
  if (surroundings_.records == nullptr) return "";
  const Instant deadline = MonotonicNow() + surroundings_.max_write_wait;
  std::unique_lock<std::mutex> lock(mutex_);
  const uint64_t until = held_.changes();
  was_written_.wait_until(lock, ToSteady(deadline),
                          [&] { return held_.durable() >= until || deposed_; });
  return held_.durable() < until && deposed_ ? kDeposed : "";
}

void DrivenJob::Tell(const News& news) {
  for (const auto& [to, directive] : news.deliveries) to->Deliver(directive);
  if (news.is_deposed) observer_.on_deposed();
  if (news.has_decisions) watchers_.Tell();
  if (news.has_finished) observer_.on_finished();
}

void DrivenJob::SetAlarm() {
  const std::optional<Instant> deadline = job_.NextDeadline();
  if (!deadline.has_value() || deposed_) return;
  if (alarm_.has_value() && *alarm_ <= *deadline) return;
  alarm_ = deadline;
  surroundings_.alarms->CallAt(
      *deadline, [weak = weak_from_this(), when = *deadline] {
        if (std::shared_ptr<DrivenJob> job = weak.lock()) job->OnAlarm(when);
      });
}

void DrivenJob::OnAlarm(Instant when) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    // Ignore this alarm if it was replaced by an alarm with an earlier time. If
    // each replaced alarm set another one, the number of alarms would grow.
    if (alarm_ != when) return;
    alarm_.reset();
  }
  Step(TimePassed(), nullptr);
}

}  // namespace muster::rendezvous
