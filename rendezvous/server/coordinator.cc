#include "rendezvous/server/coordinator.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
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

namespace muster::rendezvous {
namespace {

// Limit of the list of jobs in the error about an unknown job, in bytes: the
// error travels in a header of bounded size.
constexpr size_t kMaxBytesOfNames = 500;

// Time without any agent after which the jobs count as abandoned. Agents whose
// streams all broke return within their reconnect grace, which is far shorter.
constexpr Duration kAbandonedAfter = std::chrono::seconds(2);

// The bits of an epoch that number the jobs of one run. The rest is the number
// of the run, which has room for milliseconds since 1970 until the year 2109.
constexpr int kJobBits = 22;

// Two runs of a coordinator must have different epochs, which are compared for
// equality only. Without a journal, whose runs are numbered, the first epoch
// comes from the wall clock.
uint64_t FirstEpoch(const Journal* journal) {
  if (journal != nullptr) return journal->epoch() << kJobBits;
  return static_cast<uint64_t>(
      std::chrono::system_clock::now().time_since_epoch().count());
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
        next_epoch_(FirstEpoch(options_.journal.get())) {
    for (const KeptJob& kept : options_.kept) Continue(kept);
    options_.kept.clear();
  }

  ~Impl() {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      MUSTER_CHECK(streams_.empty())
          << streams_.size() << " streams are still attached";
    }
    // Alarms and the journal's callbacks call jobs, which call this object. The
    // alarms end first, because the journal's last callbacks may set alarms,
    // which are then dropped.
    alarms_.Stop();
    options_.journal = nullptr;
  }

  StreamId Attach(DirectiveSink* sink, std::string peer,
                  std::string principal) {
    std::lock_guard<std::mutex> lock(mutex_);
    const StreamId id = ++last_stream_;
    Stream& stream = streams_[id];
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
      if (streams_.empty()) empty_since_ = MonotonicNow();
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
    Objection refusal{.told = Unsound(report).value_or("")};
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
        job = JobFor(&stream, report, &refusal);
      }
    }
    if (job != nullptr) {
      job->OnReport(sink, std::move(report));
    } else {
      Refuse(sink.get(), report, refusal);
    }
    return absl::OkStatus();
  }

  bool HasJob(StreamId id) const {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = streams_.find(id);
    return found != streams_.end() && found->second.job != nullptr;
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

  // Adds the journal's trouble.
  JobStatus WithTrouble(JobStatus status) const {
    if (options_.journal == nullptr) return status;
    if (const auto trouble = options_.journal->trouble(); trouble.has_value()) {
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

  absl::StatusOr<WatchId> Watch(const std::string& run_id,
                                JobWatchers::Told on_change) {
    absl::StatusOr<std::shared_ptr<DrivenJob>> job = Find(run_id);
    if (!job.ok()) return job.status();
    std::lock_guard<std::mutex> lock(mutex_);
    const WatchId id = ++last_watch_;
    if (!(*job)->watchers().Add(id, std::move(on_change))) {
      return absl::ResourceExhaustedError(
          absl::StrCat("too many watch job \"", run_id, "\" already"));
    }
    watches_.emplace(id, *std::move(job));
    return id;
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

  void ForgetFinishedJobs() {
    std::lock_guard<std::mutex> lock(mutex_);
    while (!finished_.empty()) Forget(finished_.front());
  }

 private:
  struct Stream {
    std::shared_ptr<AttachedSink> sink;
    std::string principal;
    // the node of the stream's first valid report; nullopt before
    std::optional<StreamOwner> owner;
    // the job of `owner`; null before, or if the job was refused
    std::shared_ptr<DrivenJob> job;
  };

  // Whether every job is finished and no node still has to get a verdict.
  // Requires mutex_, and that there are no streams.
  bool NoNodeIsExpected() const {
    return finished_.size() == jobs_.size() &&
           std::none_of(finished_.begin(), finished_.end(),
                        [](const auto& job) { return job->OwesVerdict(); });
  }

  // Returns the job that the report of `stream` belongs to, created if it is
  // new; or null and the reason in `refusal`. Requires mutex_.
  std::shared_ptr<DrivenJob> JobFor(Stream* stream, const Report& report,
                                    Objection* refusal) {
    if (stream->job != nullptr) return stream->job;
    if (!options_.only_run_id.empty() &&
        options_.only_run_id != report.run_id) {
      refusal->another_job = true;
      refusal->told =
          absl::StrCat("this coordinator belongs to job \"",
                       options_.only_run_id, "\", not to \"", report.run_id,
                       "\"; check --rdzv-id and --rdzv-endpoint");
      return nullptr;
    }
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
    stream->job = NewJob(report, account);
    jobs_.emplace(report.run_id, stream->job);
    accounts_.emplace(report.run_id, account);
    ++unfinished_[account];
    return stream->job;
  }

  static JobOwner OwnerOfJob(const Stream& stream) {
    if (!stream.principal.empty()) return {.principal = stream.principal};
    return {.peer = stream.sink->peer()};
  }

  // Returns why a job of this spec may not begin on `account`; nullopt: it may.
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

  // Takes an unfinished job off the account on which it was begun.
  // Requires mutex_.
  void Discharge(const std::string& run_id) {
    const auto found = accounts_.find(run_id);
    if (found == accounts_.end()) return;
    const auto account = unfinished_.find(found->second);
    if (--account->second == 0) unfinished_.erase(account);
    accounts_.erase(found);
  }

  // Forgets a job that has never begun a round and whose agents are all gone:
  // nothing is lost with it, and an agent that returns begins it anew. Requires
  // mutex_.
  void ForgetAnAbandonedJob() {
    for (auto it = abandoned_.begin(); it != abandoned_.end();) {
      const std::string run_id = *it;
      const auto found = jobs_.find(run_id);
      if (found == jobs_.end() || !found->second->NeverBegan()) {
        it = abandoned_.erase(it);
        continue;
      }
      // Others hold the job as well: a stream whose first report is on its way
      // to the job, or a watcher.
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

  // Requires mutex_.
  std::shared_ptr<DrivenJob> NewJob(const Report& report,
                                    const JobOwner& account) {
    auto self = std::make_shared<std::weak_ptr<DrivenJob>>();
    auto job = std::make_shared<DrivenJob>(
        report.run_id, next_epoch_++, report.spec,
        options_.run_tag.empty() ? DrawRunTag() : options_.run_tag, account,
        DrivenJob::Surroundings{.alarms = &alarms_,
                                .records = options_.journal.get()},
        ObserverOf(report.run_id, self));
    *self = job;
    return job;
  }

  // Continues the job of an earlier coordinator. Called by the constructor.
  void Continue(const KeptJob& kept) {
    const std::string& run_id = kept.job.run_id;
    auto self = std::make_shared<std::weak_ptr<DrivenJob>>();
    auto job = std::make_shared<DrivenJob>(
        kept, next_epoch_++,
        DrivenJob::Surroundings{.alarms = &alarms_,
                                .records = options_.journal.get()},
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
      // The node's agent was in the earlier coordinator's process (see Attach).
      if (member.peer.empty()) job->OnAgentDied(member.identity.node_id);
    }
  }

  // `self` must be set to the job once that exists. The callback holds it
  // weakly: otherwise the job would own itself and never be freed.
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

  // Requires mutex_. Streams that are still attached keep the job and its
  // verdict alive, but the job can no longer be found.
  void Forget(const std::shared_ptr<DrivenJob>& job) {
    auto found = std::find(finished_.begin(), finished_.end(), job);
    // The job was forgotten earlier, because too many jobs had finished.
    if (found == finished_.end()) return;
    // `job` may refer to the list's element, which erase destroys.
    const std::string run_id = job->run_id();
    finished_.erase(found);
    jobs_.erase(run_id);
    if (options_.journal != nullptr) options_.journal->Remove(run_id);
  }

  void Refuse(AttachedSink* sink, const Report& report, const Objection& why) {
    Directive directive;
    {
      // A new epoch, so that the receiver never drops the directive as
      // outdated.
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

  Options options_;  // `kept` is used by the constructor only
  mutable std::mutex mutex_;
  std::condition_variable deserted_;
  // time of the last Detach; valid while there are no streams
  Instant empty_since_ = MonotonicNow();
  uint64_t next_epoch_;
  StreamId last_stream_ = 0;
  WatchId last_watch_ = 0;
  std::unordered_map<StreamId, Stream> streams_;
  std::map<std::string, std::shared_ptr<DrivenJob>> jobs_;
  // The account of each unfinished job, by run id, and the number of such jobs,
  // by account.
  std::map<std::string, JobOwner> accounts_;
  std::map<JobOwner, int> unfinished_;
  // Run ids of jobs that had no agent and had begun no round when their last
  // stream closed.
  std::set<std::string> abandoned_;
  // Subset of jobs_, oldest first.
  std::list<std::shared_ptr<DrivenJob>> finished_;
  std::unordered_map<WatchId, std::shared_ptr<DrivenJob>> watches_;
  // Declared last: its thread ends before the members that it uses.
  AlarmThread alarms_;
};

absl::StatusOr<OpenedJournal> OpenJournal(const std::string& folder) {
  // Nodes drop directives whose epoch is older than the newest epoch that they
  // know. The number of this run must therefore exceed those of all earlier
  // runs. A new folder, or an older copy of a folder, does not have the number
  // of the last run, so the number is at least the time in milliseconds since
  // 1970.
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

absl::StatusOr<Coordinator::WatchId> Coordinator::Watch(
    const std::string& run_id, std::function<void(const Decision&)> on_change) {
  return impl_->Watch(run_id, std::move(on_change));
}

void Coordinator::Unwatch(WatchId watch) { impl_->Unwatch(watch); }

bool Coordinator::WaitUntilDeserted(Duration timeout) {
  return impl_->WaitUntilDeserted(timeout);
}

void Coordinator::ForgetFinishedJobs() { impl_->ForgetFinishedJobs(); }

}  // namespace muster::rendezvous
