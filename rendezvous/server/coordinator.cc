#include "rendezvous/server/coordinator.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/monotonic_clock.h"
#include "base/unix_time.h"
#include "rendezvous/job/admission.h"
#include "rendezvous/server/alarm_thread.h"
#include "rendezvous/server/directive_sink.h"
#include "rendezvous/server/driven_job.h"
#include "rendezvous/wire/memory_wire.h"
#include "rendezvous/wire/record_wire.h"

namespace muster::rendezvous {
namespace {

// Maximum length in bytes of the list of jobs in the error about an unknown
// job: the error is sent in a header of limited size.
constexpr size_t kMaxBytesOfNames = 500;
// An operator's request to ban or free a machine waits at most this long until
// the journal has stored it.
constexpr Duration kKeptWithin = std::chrono::seconds(3);

// After this time without any connected agent, the jobs count as abandoned. The
// time is longer than the default of JobSpec::reconnect_grace, within which
// agents with a broken stream connect again.
constexpr Duration kAbandonedAfter = std::chrono::seconds(2);

// The lowest kJobBits bits of an epoch contain the number of the job within one
// run of the coordinator. The other bits contain the number of the run. They
// have room for milliseconds since 1970 until the year 2109.
constexpr int kJobBits = 22;

static_assert(kJobBits == kDrawnEpochBits);

uint64_t UnixMilliseconds() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(UnixTime())
          .count());
}

// Returns why a report or an announcement with this epoch is refused; nullopt:
// it is not refused. Epochs contain the clock time of the coordinator that
// created them. An epoch may be ahead of this machine's clock by up to ten
// years, because the clocks of machines differ. A higher epoch is refused, so
// that higher epochs remain for later coordinators. If this machine's clock was
// never set, the year counts as 2026.
std::optional<std::string> FutureEpoch(uint64_t epoch) {
  constexpr uint64_t kYear = uint64_t{365} * 86'400'000;
  constexpr uint64_t kEarliest = 56 * kYear;
  const uint64_t latest = std::max(UnixMilliseconds(), kEarliest) + 10 * kYear;
  if (epoch >> kJobBits <= latest) return std::nullopt;
  return absl::StrCat("the epoch ", epoch,
                      " lies more than ten years in the future of this "
                      "machine's clock");
}

// Returns the highest epoch in the report: the promised epoch, or that of the
// electorate, of the electorate's world, or of the node's place.
uint64_t HighestEpoch(const Report& report) {
  const Electorate& electorate = report.electorate;
  return std::max({report.promised_epoch, electorate.epoch,
                   electorate.world.epoch,
                   report.place.has_value() ? report.place->epoch : 0});
}

// Creates an epoch that is higher than those of earlier coordinators, if the
// clocks of their machines agree. Random bits make it differ from the epochs of
// coordinators that start at the same time.
uint64_t DrawEpoch() {
  std::random_device device;
  return UnixMilliseconds() << kJobBits | (device() & ((1u << kJobBits) - 1));
}

// Returns the first epoch of this run. Two runs of a coordinator must have
// different epochs, so the journal numbers the runs. Without a journal, or if
// coordinators of other nodes may take over, the epoch comes from the wall
// clock.
uint64_t FirstEpoch(const Journal* journal) {
  return journal != nullptr ? journal->epoch() << kJobBits : DrawEpoch();
}

// Returns the run tag that the nodes report; empty: no node has begun a round.
std::string ReportedRunTag(const std::map<StreamId, Report>& reports) {
  for (const auto& [stream, report] : reports) {
    if (report.place.has_value() && !report.place->run_tag.empty()) {
      return report.place->run_tag;
    }
  }
  return "";
}

std::string DrawRunTag() {
  std::random_device device;
  return absl::StrCat(absl::Hex(device(), absl::kZeroPad8));
}

}  // namespace

class Coordinator::Impl {
 public:
  explicit Impl(Options options)
      : options_(std::move(options)),
        hosts_({.records = options_.journal.get(),
                .kept = std::move(options_.remembered),
                .quarantine = options_.quarantine,
                .on_quarantine = options_.on_quarantine,
                .clock = UnixTime}),
        next_epoch_(FirstEpoch(
            options_.takeover.has_value() ? nullptr : options_.journal.get())) {
    if (options_.takeover.has_value()) {
      StandBy(options_.takeover->kind);
      return;
    }
    for (const KeptJob& kept : options_.kept) Continue(kept);
    options_.kept.clear();
  }

  ~Impl() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      MUSTER_CHECK(streams_.empty())
          << streams_.size() << " streams are still attached";
    }
    // Stop the alarms first. Alarms and the journal's callbacks call jobs,
    // which call this object. The journal's last callbacks may still set
    // alarms, and these are then dropped.
    alarms_.Stop();
    options_.journal = nullptr;
  }

  StreamId Attach(DirectiveSink* sink, std::string peer,
                  std::string principal) {
    std::lock_guard<std::mutex> lock(mutex_);
    const StreamId id = ++last_stream_;
    Stream& stream = streams_[id];
    hosts_.NodeCame();
    stream.sink = std::make_shared<AttachedSink>(id, sink, std::move(peer));
    stream.principal = std::move(principal);
    return id;
  }

  void Detach(StreamId id) {
    Stream stream;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      auto found = streams_.find(id);
      MUSTER_CHECK(found != streams_.end()) << "stream " << id;
      stream = std::move(found->second);
      streams_.erase(found);
      hosts_.NodeLeft();
      if (streams_.empty()) empty_since_ = MonotonicNow();
      if (standby_ != nullptr) standby_->Forget(id);
    }
    stream.sink->Detach();
    if (stream.job != nullptr) {
      stream.job->OnStreamClosed(id);
      if (stream.job->NeverBegan()) {
        std::lock_guard<std::mutex> lock(mutex_);
        auto found = jobs_.find(stream.job->run_id());
        if (found != jobs_.end() && found->second == stream.job) {
          abandoned_.insert(stream.job->run_id());
        }
      }
    }
    deserted_.notify_all();
  }

  absl::Status OnReport(StreamId id, Report report) {
    std::shared_ptr<AttachedSink> sink;
    std::shared_ptr<DrivenJob> job;
    std::function<void()> tell;
    Objection refusal{.told = Unsound(report).value_or("")};
    if (refusal.told.empty()) {
      refusal.told = FutureEpoch(HighestEpoch(report)).value_or("");
    }
    {
      std::lock_guard<std::mutex> lock(mutex_);
      auto found = streams_.find(id);
      MUSTER_CHECK(found != streams_.end()) << "stream " << id;
      Stream& stream = found->second;
      sink = stream.sink;
      if (refusal.told.empty()) {
        if (!stream.owner.has_value()) stream.owner = OwnerOf(report);
        if (const auto why = ForeignReport(*stream.owner, report)) {
          return absl::InvalidArgumentError(*why);
        }
        if (options_.takeover.has_value()) stream.newest = report;
        if (standby_ != nullptr && Belongs(report.run_id, &refusal)) {
          stream.stands_by = true;
          tell = Perform(standby_->Hear(MonotonicNow(), id, report));
        } else if (standby_ == nullptr) {
          job = JobFor(&stream, report, &refusal);
        }
      }
    }
    if (tell != nullptr) {
      tell();
    } else if (job != nullptr) {
      job->OnReport(sink, std::move(report));
    } else {
      Refuse(sink.get(), report, refusal);
    }
    return absl::OkStatus();
  }

  bool HasJob(StreamId id) const {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = streams_.find(id);
    return found != streams_.end() &&
           (found->second.job != nullptr || found->second.stands_by);
  }

  std::vector<JobStatus> ListJobs() const {
    std::vector<std::shared_ptr<DrivenJob>> jobs;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      for (const auto& [run_id, job] : jobs_) jobs.push_back(job);
    }
    std::vector<JobStatus> list;
    list.reserve(jobs.size());
    for (const auto& job : jobs) list.push_back(WithTrouble(job->Summary()));
    return list;
  }

  // Adds the reason why the job's records are not durable, if there is one.
  JobStatus WithTrouble(JobStatus status) const {
    if (options_.journal == nullptr) return status;
    if (const auto trouble = options_.journal->TroubleOf(status.run_id);
        trouble.has_value()) {
      status.not_durable = trouble->why;
      status.not_durable_for = MonotonicNow() - trouble->since;
    }
    return status;
  }

  absl::StatusOr<std::shared_ptr<DrivenJob>> Find(
      const std::string& run_id) const {
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = jobs_.find(run_id);
    if (found != jobs_.end()) return found->second;
    if (const auto elsewhere = WhereElseLocked()) return elsewhere->why;
    if (jobs_.empty()) {
      return absl::NotFoundError(
          absl::StrCat("no job \"", run_id, "\" here, nor any other"));
    }
    std::string names;
    size_t named = 0;
    for (const auto& [name, job] : jobs_) {
      if (names.size() + name.size() > kMaxBytesOfNames) break;
      absl::StrAppend(&names, names.empty() ? "" : ", ", name);
      ++named;
    }
    if (named < jobs_.size()) {
      absl::StrAppend(&names, " and ", jobs_.size() - named, " more");
    }
    return absl::NotFoundError(
        absl::StrCat("no job \"", run_id, "\" here; there are: ", names));
  }

  absl::StatusOr<Watched> Watch(const std::string& run_id,
                                DecisionCursor* cursor,
                                JobWatchers::Told on_change) {
    absl::StatusOr<std::shared_ptr<DrivenJob>> job = Find(run_id);
    if (!job.ok()) return job.status();
    std::lock_guard<std::mutex> lock(mutex_);
    const WatchId id = ++last_watch_;
    std::optional<MissedDecisions> missed =
        (*job)->watchers().Add(id, cursor, std::move(on_change));
    if (!missed.has_value()) {
      return absl::ResourceExhaustedError(
          absl::StrCat("too many watch job \"", run_id, "\" already"));
    }
    watches_.emplace(id, *std::move(job));
    return Watched{.id = id, .missed = *std::move(missed)};
  }

  void Unwatch(WatchId id) {
    std::shared_ptr<DrivenJob> job;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      auto found = watches_.find(id);
      MUSTER_CHECK(found != watches_.end()) << "watch " << id;
      job = std::move(found->second);
      watches_.erase(found);
    }
    job->watchers().Remove(id);
  }

  bool WaitUntilDeserted(Duration timeout) {
    const Instant deadline = MonotonicNow() + timeout;
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      const Instant abandoned = empty_since_ + kAbandonedAfter;
      const Instant now = MonotonicNow();
      if (streams_.empty() && (NoNodeIsExpected() || now >= abandoned)) {
        return true;
      }
      if (now >= deadline) return false;
      deserted_.wait_until(
          lock, ToSteady(streams_.empty() ? std::min(deadline, abandoned)
                                          : deadline));
    }
  }

  void SetOwnEndpoint(std::string endpoint) {
    std::lock_guard<std::mutex> lock(mutex_);
    options_.takeover->own_endpoint = std::move(endpoint);
  }

  std::string own_endpoint() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return options_.takeover->own_endpoint;
  }

  void Follow(std::optional<Standby::Leader> leader) {
    std::lock_guard<std::mutex> lock(mutex_);
    const bool is_own = leader.has_value() &&
                        leader->endpoint == options_.takeover->own_endpoint;
    followed_ = is_own ? std::nullopt : std::move(leader);
    if (standby_ != nullptr) standby_->Follow(followed_);
  }

  void Learn(const Directive& directive) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (standby_ == nullptr || directive.epoch < learned_epoch_) return;
    learned_epoch_ = directive.epoch;
    standby_->Learn(directive);
    if (directive.kind == DirectiveKind::kFinished) {
      if (!RunsAgain(directive.verdict.outcome)) ForgetRecord();
      return;
    }
    const Duration now = UnixTime();
    for (KeptJob& kept : options_.kept) {
      if (!LearnFrom(directive, AgeOf(kept, now), kept.job)) continue;
      kept.written_at = now;
      options_.journal->Put(options_.only_run_id, ToBytes(kept), [] {});
    }
  }

  absl::Status Told(const std::string& run_id, uint64_t epoch,
                    const std::string& endpoint, Backing backing) {
    if (const auto why = FutureEpoch(epoch)) {
      return absl::InvalidArgumentError(*why);
    }
    std::shared_ptr<DrivenJob> job;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!options_.takeover.has_value() || run_id != options_.only_run_id) {
        return absl::NotFoundError("no such job");
      }
      // Ignore an announcement that names this coordinator's own endpoint. Also
      // ignore an announcement of the coordinator to which the agent in this
      // process is connected: the agent's connection already shows whether that
      // coordinator runs.
      if (endpoint == options_.takeover->own_endpoint ||
          FollowsOneAt(endpoint)) {
        return absl::OkStatus();
      }
      const auto found = jobs_.find(run_id);
      if (found != jobs_.end()) job = found->second;
      if (backing == Backing::kMajority) successors_.emplace(epoch, endpoint);
    }
    // Pass the announcement to the job, if this process coordinates it. If the
    // announced epoch is higher than the job's, the job may depose this
    // coordinator. OnDeposed then creates a standby, finds the announced
    // coordinator in successors_ and tells the standby of it.
    if (job != nullptr) {
      job->OnCoordinatorTold({.epoch = epoch, .backing = backing});
    }
    std::function<void()> tell;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (const auto own = successors_.find({epoch, endpoint});
          backing == Backing::kMajority && own != successors_.end()) {
        successors_.erase(own);
      }
      if (standby_ == nullptr) return absl::OkStatus();
      tell = Perform(standby_->Told(MonotonicNow(), epoch, endpoint, backing));
    }
    tell();
    return absl::OkStatus();
  }

  absl::Status Meet(const std::string& run_id, const Standby::Assembly& other) {
    if (const auto why = FutureEpoch(other.promised)) {
      return absl::InvalidArgumentError(*why);
    }
    std::shared_ptr<DrivenJob> job;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!options_.takeover.has_value() || run_id != options_.only_run_id) {
        return absl::NotFoundError("no such job");
      }
      if (other.endpoint == options_.takeover->own_endpoint) {
        return absl::OkStatus();
      }
      const auto found = jobs_.find(run_id);
      if (found != jobs_.end()) job = found->second;
    }
    // If this process coordinates the job, pass the announcement of the standby
    // `other` to the job. A node at that standby may have promised a higher
    // epoch than the job's. The job may then depose this coordinator, and
    // OnDeposed creates a standby.
    if (job != nullptr) {
      job->OnCoordinatorTold(
          {.epoch = other.promised, .backing = Backing::kPromise});
    }
    std::lock_guard<std::mutex> lock(mutex_);
    const std::string& own = options_.takeover->own_endpoint;
    if (standby_ == nullptr) return absl::OkStatus();
    if (met_.size() < kMaxStandbys) met_.insert(other.endpoint);
    // Perform returns a function that sends the first directives of a newly
    // elected coordinator. Meet elects none, so the returned function does
    // nothing.
    Perform(standby_->Meet(MonotonicNow(), other, own))();
    return absl::OkStatus();
  }

  void SetStandbys(std::vector<std::string> standbys) {
    std::lock_guard<std::mutex> lock(mutex_);
    standbys_ = std::move(standbys);
  }

  std::optional<Standby::Leader> Known(const std::string& run_id) const {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!options_.takeover.has_value() || run_id != options_.only_run_id) {
      return std::nullopt;
    }
    if (standby_ != nullptr) return standby_->Known(MonotonicNow());
    const auto found = jobs_.find(run_id);
    if (found == jobs_.end()) return std::nullopt;
    const DrivenJob::Standing standing = found->second->standing();
    if (standing.epoch == 0 || !standing.has_majority) return std::nullopt;
    return Standby::Leader{.endpoint = options_.takeover->own_endpoint,
                           .epoch = standing.epoch};
  }

  std::optional<Announcement> Announcing() const {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!options_.takeover.has_value()) return std::nullopt;
    if (standby_ != nullptr) {
      const int gathered = standby_->Assembled(MonotonicNow());
      if (gathered == 0) return std::nullopt;
      std::vector<std::string> standbys = standbys_;
      standbys.insert(standbys.end(), met_.begin(), met_.end());
      return Announcement{.run_id = options_.only_run_id,
                          .epoch = standby_->HighestPromise(),
                          .endpoint = options_.takeover->own_endpoint,
                          .gathered = gathered,
                          .standbys = std::move(standbys)};
    }
    if (jobs_.empty()) return std::nullopt;
    const auto& [run_id, job] = *jobs_.begin();
    DrivenJob::Standing standing = job->standing();
    const bool announces = standing.has_majority && took_over_;
    if (!announces && !standing.must_ask) return std::nullopt;
    Announcement announcement{
        .run_id = run_id,
        .epoch = standing.epoch,
        .endpoint = options_.takeover->own_endpoint,
        .backing = announces ? Backing::kMajority : Backing::kMinority,
        .standbys = std::move(standing.standbys)};
    return announcement;
  }

  bool MayLeave() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return options_.takeover.has_value() &&
           std::ranges::all_of(jobs_, [](const auto& job) {
             const DrivenJob::Standing standing = job.second->standing();
             return standing.has_majority || standing.awaits_nodes;
           });
  }

  std::optional<Elsewhere> WhereElse() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return WhereElseLocked();
  }

  HostWatch& hosts() { return hosts_; }

  // Carries out an operator's order to free or ban a machine. `perform` must
  // call HostWatch::Free or Ban, and hand its argument `kept` over to that
  // function. The journal calls `kept` once it has stored the order, or has
  // failed to. Order blocks until then, at most for kKeptWithin. `text`: the
  // order, a sentence.
  absl::Status Order(
      const std::string& text,
      const std::function<absl::Status(std::function<void()> kept)>& perform) {
    const auto kept = std::make_shared<std::promise<void>>();
    const absl::Status status = perform([kept] { kept->set_value(); });
    if (!status.ok()) return status;
    if (options_.on_decision) {
      options_.on_decision(options_.only_run_id,
                           {.kind = "order", .node_id = "", .reason = text});
    }
    PassJudgement();
    if (options_.journal == nullptr) return absl::OkStatus();
    const bool is_over =
        kept->get_future().wait_for(kKeptWithin) == std::future_status::ready;
    const auto trouble = options_.journal->TroubleOf(kNodeMemoryKey);
    if (is_over && !trouble.has_value()) return absl::OkStatus();
    return absl::FailedPreconditionError(absl::StrCat(
        "it is done, but not durable: ",
        trouble.has_value() ? trouble->why
                            : std::string("the journal does not answer"),
        "; the coordinator forgets it if it is started again now"));
  }

  // Tells all jobs which machines are suspected or quarantined now.
  void PassJudgement() {
    std::vector<std::shared_ptr<DrivenJob>> jobs;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      for (const auto& [run_id, job] : jobs_) jobs.push_back(job);
    }
    for (const auto& job : jobs) job->OnHostsJudged();
  }

  const std::string& only_run_id() const { return options_.only_run_id; }

  void ForgetFinishedJobs() {
    std::lock_guard<std::mutex> lock(mutex_);
    while (!finished_.empty()) Forget(finished_.front());
  }

 private:
  struct Stream {
    std::shared_ptr<AttachedSink> sink;
    std::string principal;
    // the node of the stream's first valid report; nullopt: no report yet
    std::optional<StreamOwner> owner;
    // the job of `owner`; null: no report yet, or the job was refused
    std::shared_ptr<DrivenJob> job;
    bool stands_by = false;  // whether standby_ has this stream's report
    // the newest valid report on this stream; set only with Options::takeover
    std::optional<Report> newest;
  };

  // Whether the agent in this process is connected to a coordinator at
  // `endpoint`. Requires mutex_.
  bool FollowsOneAt(const std::string& endpoint) const {
    return followed_.has_value() && followed_->endpoint == endpoint;
  }

  // Removes the record of the only job (only_run_id). Requires mutex_.
  void ForgetRecord() {
    options_.kept.clear();
    if (options_.journal != nullptr) {
      options_.journal->Remove(options_.only_run_id);
    }
  }

  // Makes this coordinator a standby. Requires mutex_, except in the
  // constructor.
  void StandBy(Standby::Kind kind) {
    standby_ = std::make_unique<Standby>(kind, DrawEpoch());
    standby_->Follow(followed_);
    met_.clear();
    took_over_ = false;
  }

  // Carries out `step`, the standby's requested actions. Requires mutex_. Sends
  // the standby's directives while the lock is held, so that they keep their
  // order and precede those of the job.
  //
  // If the step elects the standby, creates the job. The returned function then
  // sends the job's first directives and decisions; otherwise it does nothing.
  // Call it without the lock.
  std::function<void()> Perform(const Standby::Step& step) {
    for (const Delivery& delivery : step.deliveries) {
      const auto found = streams_.find(delivery.stream);
      if (found == streams_.end()) continue;
      found->second.sink->Deliver(delivery.directive);
    }
    if (!step.elected.has_value()) return [] {};
    return BeginElected(*step.elected);
  }

  // Creates the job of the elected standby. Returns a function that sends the
  // job's first directives and decisions. Requires mutex_.
  std::function<void()> BeginElected(uint64_t epoch) {
    const std::unique_ptr<Standby> elected = std::move(standby_);
    const auto& reports = elected->reports();
    took_over_ = std::ranges::any_of(
        reports, [](const auto& one) { return one.second.promised_epoch > 0; });
    std::string run_tag = ReportedRunTag(reports);
    if (run_tag.empty()) run_tag = options_.run_tag;
    const Options::Takeover& takeover = *options_.takeover;
    if (takeover.on_start) {
      using Start = Options::Takeover::Start;
      takeover.on_start(took_over_ ? Start::kTakeover : Start::kNewJob,
                        run_tag);
    }
    const Report& first = reports.begin()->second;
    const JobOwner account = OwnerOfJob(streams_.at(reports.begin()->first));
    const std::shared_ptr<DrivenJob> job =
        NewJob(first.run_id, epoch, first.spec, run_tag, account);
    Add(job, account);
    if (elected->handover().has_value()) Inherit(*elected->handover(), *job);
    // Use the record only if no node knows a round. The report of a node that
    // knows a round is newer than the record.
    if (std::ranges::none_of(reports, [](const auto& one) {
          return one.second.knows_round();
        })) {
      for (const KeptJob& kept : options_.kept) job->Recall(kept);
    }
    DrivenJob::Reports replayed;
    for (const auto& [id, report] : elected->Replay()) {
      Stream& stream = streams_.at(id);
      stream.job = job;
      replayed.emplace_back(stream.sink, report);
    }
    return job->Begin(replayed);
  }

  // Gives the job and the memory of the machines what the earlier coordinator
  // has handed over.
  void Inherit(const Handover& handover, DrivenJob& job) {
    job.Inherit(handover);
    if (handover.machines.empty()) return;
    const absl::Status status = hosts_.Inherit(handover.machines);
    if (status.ok() || !options_.on_decision) return;
    options_.on_decision(
        options_.only_run_id,
        {.kind = "adopt",
         .node_id = "",
         .reason = absl::StrCat("the earlier coordinator's memory of the "
                                "machines cannot be used: ",
                                std::string(status.message()))});
  }

  // Called when another coordinator has a higher epoch than the job: replaces
  // the job by a standby.
  void OnDeposed(const std::shared_ptr<DrivenJob>& job) {
    std::vector<std::function<void()>> tell;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      jobs_.erase(job->run_id());
      Discharge(job->run_id());
      abandoned_.erase(job->run_id());
      finished_.remove(job);
      if (options_.journal != nullptr) {
        options_.kept.assign(1, job->Record());
        const std::optional<Verdict>& verdict = options_.kept[0].job.verdict;
        if (verdict.has_value() && !RunsAgain(verdict->outcome)) ForgetRecord();
      }
      StandBy(options_.takeover->kind == Standby::Kind::kFounder
                  ? Standby::Kind::kFormerFounder
                  : Standby::Kind::kSuccessor);
      // Inform the new standby of the newest coordinator before the standby
      // gets the reports of the nodes. Nodes that have moved to the newest
      // coordinator may still have connections to this process, so the standby
      // may seem to have a majority. Without the information it might ask the
      // nodes to promise a new epoch. Nodes that have not moved would promise
      // it, and would then no longer obey the newest coordinator.
      if (!successors_.empty()) {
        const auto& [epoch, endpoint] = *successors_.rbegin();
        tell.push_back(
            Perform(standby_->Told(MonotonicNow(), epoch, endpoint)));
      }
      for (auto& [id, stream] : streams_) {
        if (stream.job != job) continue;
        stream.job = nullptr;
        stream.stands_by = true;
        // Pass the newest report of each node to the standby now; do not wait
        // for the next one.
        if (standby_ == nullptr || !stream.newest.has_value()) continue;
        tell.push_back(
            Perform(standby_->Hear(MonotonicNow(), id, *stream.newest)));
      }
    }
    for (const auto& each : tell) each();
  }

  // Returns the endpoint of the job's coordinator, and an error for callers, if
  // this process is only a standby; else nullopt. Requires mutex_.
  std::optional<Elsewhere> WhereElseLocked() const {
    if (standby_ == nullptr) return std::nullopt;
    const std::string& job = options_.only_run_id;
    if (const auto leader = standby_->Known(MonotonicNow())) {
      return Elsewhere{
          .endpoint = leader->endpoint,
          .why = absl::FailedPreconditionError(absl::StrCat(
              "job \"", job, "\" is coordinated at ", leader->endpoint))};
    }
    return Elsewhere{
        .why = absl::UnavailableError(absl::StrCat(
            "job \"", job,
            "\" has no coordinator at this time: one is being elected"))};
  }

  // Whether every job has finished and every node has received its verdict.
  // Requires mutex_, and that no stream is attached.
  bool NoNodeIsExpected() const {
    return finished_.size() == jobs_.size() &&
           std::none_of(finished_.begin(), finished_.end(),
                        [](const auto& job) { return job->OwesVerdict(); });
  }

  // Returns the job of the report, and creates it if it is new; null: the job
  // was refused, and `refusal` is the reason. Requires mutex_.
  std::shared_ptr<DrivenJob> JobFor(Stream* stream, const Report& report,
                                    Objection* refusal) {
    if (stream->job != nullptr) return stream->job;
    if (!Belongs(report.run_id, refusal)) return nullptr;
    auto found = jobs_.find(report.run_id);
    if (found != jobs_.end()) {
      abandoned_.erase(report.run_id);
      return stream->job = found->second;
    }
    const JobOwner account = OwnerOfJob(*stream);
    if (auto why = NotNow(account, report.spec)) {
      refusal->told = *why;
      return nullptr;
    }
    const size_t most = options_.max_jobs;
    if (jobs_.size() >= most && !finished_.empty()) Forget(finished_.front());
    if (jobs_.size() >= most) ForgetAnAbandonedJob();
    if (jobs_.size() >= most) {
      refusal->told = absl::StrCat("this coordinator already has ", most,
                                   " jobs; use another one");
      return nullptr;
    }
    stream->job = NewJob(
        report.run_id, next_epoch_++, report.spec,
        options_.run_tag.empty() ? DrawRunTag() : options_.run_tag, account);
    Add(stream->job, account);
    return stream->job;
  }

  // Whether this coordinator accepts the run id; if not, sets `refusal`.
  bool Belongs(const std::string& run_id, Objection* refusal) const {
    if (options_.only_run_id.empty() || options_.only_run_id == run_id) {
      return true;
    }
    refusal->another_job = true;
    refusal->told = absl::StrCat("this coordinator belongs to job \"",
                                 options_.only_run_id, "\", not to \"", run_id,
                                 "\"; check --rdzv-id and --rdzv-endpoint");
    return false;
  }

  // Registers the job and charges it to `account`. Requires mutex_.
  void Add(const std::shared_ptr<DrivenJob>& job, const JobOwner& account) {
    jobs_.emplace(job->run_id(), job);
    accounts_.emplace(job->run_id(), account);
    ++unfinished_[account];
  }

  static JobOwner OwnerOfJob(const Stream& stream) {
    if (!stream.principal.empty()) return {.principal = stream.principal};
    return {.peer = stream.sink->peer()};
  }

  // Returns the reason why `account` may not begin another job with the
  // settings `spec`, according to the limits in options_; nullopt: it may.
  // Requires mutex_.
  std::optional<std::string> NotNow(const JobOwner& account,
                                    const JobSpec& spec) const {
    constexpr char kWhatToDo[] =
        "; give the coordinator and the nodes a token (--token-file)";
    const auto found = unfinished_.find(account);
    const int begun = found == unfinished_.end() ? 0 : found->second;
    if (!account.principal.empty()) {
      if (begun < options_.max_jobs_per_principal.value_or(begun + 1)) {
        return std::nullopt;
      }
      return absl::StrCat(account.principal, " has ", begun,
                          " unfinished jobs, and this coordinator permits no "
                          "more (--max-jobs-per-principal of rendezvousd)");
    }
    if (options_.max_jobs_per_peer.has_value() &&
        begun >= *options_.max_jobs_per_peer) {
      return absl::StrCat(begun, " unfinished jobs were begun from ",
                          account.peer, "; without a token at most ",
                          *options_.max_jobs_per_peer, kWhatToDo);
    }
    if (options_.max_join_timeout.has_value() &&
        spec.join_timeout > *options_.max_join_timeout) {
      return absl::StrCat("the join time-out is ", ToSeconds(spec.join_timeout),
                          " s; without a token at most ",
                          ToSeconds(*options_.max_join_timeout), " s",
                          kWhatToDo);
    }
    return std::nullopt;
  }

  // Removes a job from the count of unfinished jobs of the account that began
  // it. Requires mutex_.
  void Discharge(const std::string& run_id) {
    const auto found = accounts_.find(run_id);
    if (found == accounts_.end()) return;
    const auto account = unfinished_.find(found->second);
    if (--account->second == 0) unfinished_.erase(account);
    accounts_.erase(found);
  }

  // Forgets one job that has begun no round and has no agents any more. Nothing
  // is lost: if an agent returns, it begins the job anew. Requires mutex_.
  void ForgetAnAbandonedJob() {
    for (auto it = abandoned_.begin(); it != abandoned_.end();) {
      const std::string run_id = *it;
      const auto found = jobs_.find(run_id);
      if (found == jobs_.end() || !found->second->NeverBegan()) {
        it = abandoned_.erase(it);
        continue;
      }
      // Skip a job that is still in use by a watcher, or by a stream whose
      // first report is on its way to the job.
      if (found->second.use_count() > 1) {
        ++it;
        continue;
      }
      abandoned_.erase(it);
      Discharge(run_id);
      jobs_.erase(found);
      if (options_.journal != nullptr) options_.journal->Remove(run_id);
      return;
    }
  }

  // Creates a job. Requires mutex_.
  std::shared_ptr<DrivenJob> NewJob(const std::string& run_id, uint64_t epoch,
                                    const JobSpec& spec,
                                    const std::string& run_tag,
                                    const JobOwner& account) {
    auto self = std::make_shared<std::weak_ptr<DrivenJob>>();
    DrivenJob::Surroundings surroundings{.alarms = &alarms_,
                                         .records = options_.journal.get(),
                                         .hosts = &hosts_,
                                         .leads = options_.leads};
    if (options_.takeover.has_value()) {
      surroundings.own_endpoint = options_.takeover->own_endpoint;
    }
    auto job = std::make_shared<DrivenJob>(run_id, epoch, spec, run_tag,
                                           account, std::move(surroundings),
                                           ObserverOf(run_id, self));
    *self = job;
    return job;
  }

  // Continues a job of an earlier coordinator. Called only by the constructor.
  void Continue(const KeptJob& kept) {
    const std::string& run_id = kept.job.run_id;
    auto self = std::make_shared<std::weak_ptr<DrivenJob>>();
    auto job = std::make_shared<DrivenJob>(
        kept, next_epoch_++,
        DrivenJob::Surroundings{.alarms = &alarms_,
                                .records = options_.journal.get(),
                                .hosts = &hosts_,
                                .leads = options_.leads},
        ObserverOf(run_id, self));
    *self = job;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      jobs_.emplace(run_id, job);
      accounts_.emplace(run_id, kept.owner);
      ++unfinished_[kept.owner];
    }
    if (job->finished()) OnFinished(job);
    job->Resume();
    for (const JobRecord::Member& member : kept.job.members) {
      // An empty address means that the agent ran in the earlier coordinator's
      // process (see Attach). So the agent died with that process.
      if (member.peer.empty()) job->OnAgentDied(member.identity.node_id);
    }
  }

  // Returns the callbacks of a job. The caller sets `self` to the job once it
  // exists. The callbacks hold only a weak pointer to the job: the job owns the
  // callbacks, so with a shared pointer it would own itself and never be freed.
  DrivenJob::Observer ObserverOf(
      const std::string& run_id,
      const std::shared_ptr<std::weak_ptr<DrivenJob>>& self) {
    DrivenJob::Observer observer;
    if (options_.on_decision) {
      observer.on_decision = [this, run_id](const Decision& decision) {
        options_.on_decision(run_id, decision);
      };
    }
    observer.on_finished = [this, self] { OnFinished(self->lock()); };
    observer.on_deposed = [this, self] { OnDeposed(self->lock()); };
    return observer;
  }

  void OnFinished(const std::shared_ptr<DrivenJob>& job) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      finished_.push_back(job);
      Discharge(job->run_id());
      abandoned_.erase(job->run_id());
      const size_t most = options_.max_finished_jobs;
      while (finished_.size() > most) Forget(finished_.front());
    }
    deserted_.notify_all();
    alarms_.CallAt(MonotonicNow() + options_.keep_finished,
                   [this, weak = std::weak_ptr<DrivenJob>(job)] {
                     std::lock_guard<std::mutex> lock(mutex_);
                     Forget(weak.lock());
                   });
  }

  // Removes a finished job. Requires mutex_. Streams that are still attached
  // keep the job and its verdict alive, but the job can no longer be found.
  void Forget(std::shared_ptr<DrivenJob> job) {
    auto found = std::find(finished_.begin(), finished_.end(), job);
    // A job that is not in the list was forgotten earlier, because too many
    // jobs had finished.
    if (found == finished_.end()) return;
    finished_.erase(found);
    jobs_.erase(job->run_id());
    if (options_.journal == nullptr) return;
    // A daemon serves any number of jobs, so it keeps no record of those that
    // have ended.
    if (!options_.only_run_id.empty()) {
      KeptJob record = job->Record();
      if (auto next = ForNextRun(record.job)) {
        record.job = *std::move(next);
        options_.journal->Put(job->run_id(), ToBytes(record), [] {});
        return;
      }
    }
    options_.journal->Remove(job->run_id());
  }

  void Refuse(AttachedSink* sink, const Report& report, const Objection& why) {
    Directive directive;
    {
      // Give the kRefused directive a new epoch. Otherwise `sink` could drop
      // the directive as outdated (DirectiveOrder).
      std::lock_guard<std::mutex> lock(mutex_);
      directive.epoch = next_epoch_++;
    }
    directive.revision = 1;
    directive.kind = DirectiveKind::kRefused;
    directive.reason = why.told;
    directive.another_job = why.another_job;
    directive.stop.round = report.round;
    sink->Deliver(directive);
  }

  Options options_;  // without `remembered`, which was moved into hosts_
  HostWatch hosts_;
  mutable std::mutex mutex_;
  // Not null while this process is only a standby (Options::takeover).
  std::unique_ptr<Standby> standby_;
  // Other coordinators that have a majority, as (epoch, endpoint). A
  // coordinator is in this set while a call of Told handles its announcement;
  // several threads may run Told at the same time. If an announcement deposes
  // this coordinator, OnDeposed creates a standby, and tells it of the newest
  // coordinator in this set: the one with the highest epoch.
  std::multiset<std::pair<uint64_t, std::string>> successors_;
  // The coordinator to which the agent in this process is connected; nullopt:
  // the agent is connected to this coordinator or to none.
  std::optional<Standby::Leader> followed_;
  // The highest epoch of the directives that the agent in this process has
  // received from other coordinators and passed to Learn.
  uint64_t learned_epoch_ = 0;
  // The endpoints at which nodes look for a new coordinator (SetStandbys).
  std::vector<std::string> standbys_;
  // The endpoints of other standbys that have announced themselves to this one,
  // at most kMaxStandbys. The agent in this process may not know them: after a
  // restart it knows no standbys until a directive names them.
  std::set<std::string> met_;
  // Whether this coordinator took the job over from another one.
  bool took_over_ = false;
  std::condition_variable deserted_;
  // time of the last Detach; valid while no stream is attached
  Instant empty_since_ = MonotonicNow();
  uint64_t next_epoch_;
  StreamId last_stream_ = 0;
  WatchId last_watch_ = 0;
  std::unordered_map<StreamId, Stream> streams_;
  std::map<std::string, std::shared_ptr<DrivenJob>> jobs_;
  // accounts_: the owner of each unfinished job (a principal or an IP address),
  // by run id. unfinished_: each owner's number of unfinished jobs.
  std::map<std::string, JobOwner> accounts_;
  std::map<JobOwner, int> unfinished_;
  // Run ids of jobs that had begun no round when their last agent disconnected.
  std::set<std::string> abandoned_;
  // The jobs in jobs_ that have finished; the job that finished first comes
  // first.
  std::list<std::shared_ptr<DrivenJob>> finished_;
  std::unordered_map<WatchId, std::shared_ptr<DrivenJob>> watches_;
  // Declared last, so that the alarms' thread ends before the members that it
  // uses are destroyed.
  AlarmThread alarms_;
};

std::vector<JobStatus> JobsWithNodes(const Coordinator& coordinator) {
  std::vector<JobStatus> jobs;
  for (const JobStatus& job : coordinator.ListJobs()) {
    // If the coordinator has forgotten the job since the call of ListJobs,
    // GetJob fails. Then leave the job out.
    absl::StatusOr<JobStatus> whole = coordinator.GetJob(job.run_id);
    if (whole.ok()) jobs.push_back(*std::move(whole));
  }
  return jobs;
}

absl::StatusOr<OpenedJournal> OpenJournal(const std::string& folder) {
  // Choose the number of this run of the coordinator. It must exceed the
  // numbers of all earlier runs, because nodes drop directives with an epoch
  // older than the newest one that they know. A new journal folder, or an old
  // copy of one, does not contain the number of the last run. So the new number
  // is at least the time in milliseconds since 1970.
  absl::StatusOr<std::unique_ptr<Journal>> journal =
      Journal::Open(folder, static_cast<uint64_t>(UnixSeconds() * 1000));
  if (!journal.ok()) return journal.status();
  OpenedJournal opened = ReadJobs(*std::move(journal));
  if (!opened.damaged.empty()) return absl::DataLossError(opened.damaged[0]);
  return opened;
}

OpenedJournal ReadJobs(std::unique_ptr<Journal> journal) {
  OpenedJournal opened;
  for (const auto& [run_id, bytes] : journal->TakeRecords()) {
    if (run_id == kNodeMemoryKey) {
      absl::StatusOr<NodeMemory::Kept> memory = MemoryFromBytes(bytes);
      if (memory.ok()) {
        opened.remembered = *std::move(memory);
      } else {
        opened.damaged.push_back(
            absl::StrCat("the journal's memory of the nodes cannot be used: ",
                         std::string(memory.status().message())));
      }
      continue;
    }
    absl::StatusOr<KeptJob> kept = FromBytes(bytes);
    if (!kept.ok() || kept->job.run_id != run_id) {
      opened.damaged.push_back(absl::StrCat(
          "the journal's record of job \"", run_id, "\" cannot be used: ",
          kept.ok() ? "it is another job's" : kept.status().message()));
      continue;
    }
    opened.kept.push_back(*std::move(kept));
  }
  opened.journal = std::move(journal);
  return opened;
}

Coordinator::Coordinator(Options options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}

Coordinator::~Coordinator() = default;

StreamId Coordinator::Attach(DirectiveSink* sink, std::string peer,
                             std::string principal) {
  return impl_->Attach(sink, std::move(peer), std::move(principal));
}

void Coordinator::Detach(StreamId stream) { impl_->Detach(stream); }

absl::Status Coordinator::OnReport(StreamId stream, Report report) {
  return impl_->OnReport(stream, std::move(report));
}

bool Coordinator::HasJob(StreamId stream) const {
  return impl_->HasJob(stream);
}

std::vector<JobStatus> Coordinator::ListJobs() const {
  return impl_->ListJobs();
}

absl::StatusOr<JobStatus> Coordinator::GetJob(const std::string& run_id) const {
  absl::StatusOr<std::shared_ptr<DrivenJob>> job = impl_->Find(run_id);
  if (!job.ok()) return job.status();
  return impl_->WithTrouble((*job)->Status());
}

absl::StatusOr<JobStatus> Coordinator::GetJobSummary(
    const std::string& run_id) const {
  absl::StatusOr<std::shared_ptr<DrivenJob>> job = impl_->Find(run_id);
  if (!job.ok()) return job.status();
  return impl_->WithTrouble((*job)->Summary());
}

absl::Status Coordinator::CancelJob(const std::string& run_id,
                                    const std::string& reason) {
  absl::StatusOr<std::shared_ptr<DrivenJob>> job = impl_->Find(run_id);
  if (!job.ok()) return job.status();
  const std::string refusal = (*job)->Cancel(reason);
  return refusal.empty() ? absl::OkStatus()
                         : absl::FailedPreconditionError(refusal);
}

absl::Status Coordinator::DrainNode(const std::string& run_id,
                                    const std::string& node,
                                    const std::string& principal) {
  absl::StatusOr<std::shared_ptr<DrivenJob>> job = impl_->Find(run_id);
  if (!job.ok()) return job.status();
  const std::string refusal = (*job)->Drain(node, principal);
  if (refusal.empty()) return absl::OkStatus();
  for (const NodeStatus& one : (*job)->Status().nodes) {
    if (one.node.node_id == node || one.node.host == node) {
      return absl::FailedPreconditionError(refusal);
    }
  }
  return absl::NotFoundError(refusal);
}

std::vector<HostStatus> Coordinator::ListHosts() {
  return impl_->hosts().List();
}

const std::string& Coordinator::only_run_id() const {
  return impl_->only_run_id();
}

absl::Status Coordinator::FreeHost(const std::string& host,
                                   const std::string& principal) {
  const std::string text = absl::StrCat(
      host, " is freed", principal.empty() ? "" : " by ", principal);
  return impl_->Order(text, [&](std::function<void()> kept) {
    return impl_->hosts().Free(host, principal, std::move(kept));
  });
}

absl::Status Coordinator::BanHost(const std::string& host,
                                  const std::string& reason) {
  const std::string text = absl::StrCat(host, " is banned: ", reason);
  return impl_->Order(text, [&](std::function<void()> kept) {
    return impl_->hosts().Ban(host, reason, std::move(kept));
  });
}

std::vector<std::string> Coordinator::StandbysOf(
    const std::string& run_id) const {
  absl::StatusOr<std::shared_ptr<DrivenJob>> job = impl_->Find(run_id);
  return job.ok() ? (*job)->standing().standbys : std::vector<std::string>();
}

absl::Status Coordinator::Inquire(
    const std::string& run_id, const std::string& node,
    const std::shared_ptr<InquirySession>& session) {
  absl::StatusOr<std::shared_ptr<DrivenJob>> job = impl_->Find(run_id);
  return job.ok() ? (*job)->Inquire(session, node) : job.status();
}

void Coordinator::EndInquiry(const std::string& run_id,
                             const std::shared_ptr<InquirySession>& session) {
  absl::StatusOr<std::shared_ptr<DrivenJob>> job = impl_->Find(run_id);
  if (job.ok()) (*job)->EndInquiry(session);
  session->Close();
}

absl::StatusOr<std::shared_ptr<InquirySession>> Coordinator::FindInquiry(
    const std::string& run_id, uint64_t id) const {
  absl::StatusOr<std::shared_ptr<DrivenJob>> job = impl_->Find(run_id);
  if (job.ok()) {
    if (auto session = (*job)->FindInquiry(id)) return session;
  }
  return absl::NotFoundError("no such inquiry is open");
}

absl::StatusOr<Coordinator::Watched> Coordinator::Watch(
    const std::string& run_id, DecisionCursor* cursor,
    std::function<void(const Decision&)> on_change) {
  return impl_->Watch(run_id, cursor, std::move(on_change));
}

void Coordinator::Unwatch(WatchId watch) { impl_->Unwatch(watch); }

bool Coordinator::WaitUntilDeserted(Duration timeout) {
  return impl_->WaitUntilDeserted(timeout);
}

void Coordinator::SetOwnEndpoint(std::string endpoint) {
  impl_->SetOwnEndpoint(std::move(endpoint));
}

std::string Coordinator::own_endpoint() const { return impl_->own_endpoint(); }

void Coordinator::Follow(std::optional<Standby::Leader> leader) {
  impl_->Follow(std::move(leader));
}

void Coordinator::Learn(const Directive& directive) { impl_->Learn(directive); }

std::optional<Standby::Leader> Coordinator::Known(
    const std::string& run_id) const {
  return impl_->Known(run_id);
}

absl::Status Coordinator::Told(const std::string& run_id, uint64_t epoch,
                               const std::string& endpoint, Backing backing) {
  return impl_->Told(run_id, epoch, endpoint, backing);
}

absl::Status Coordinator::Meet(const std::string& run_id,
                               const Standby::Assembly& other) {
  return impl_->Meet(run_id, other);
}

void Coordinator::SetStandbys(std::vector<std::string> standbys) {
  impl_->SetStandbys(std::move(standbys));
}

std::optional<Coordinator::Announcement> Coordinator::Announcing() const {
  return impl_->Announcing();
}

bool Coordinator::MayLeave() const { return impl_->MayLeave(); }

std::optional<Coordinator::Elsewhere> Coordinator::WhereElse() const {
  return impl_->WhereElse();
}

void Coordinator::ForgetFinishedJobs() { impl_->ForgetFinishedJobs(); }

}  // namespace muster::rendezvous
