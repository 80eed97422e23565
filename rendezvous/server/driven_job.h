#ifndef MUSTER_RENDEZVOUS_SERVER_DRIVEN_JOB_H_
#define MUSTER_RENDEZVOUS_SERVER_DRIVEN_JOB_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "rendezvous/job/job.h"
#include "rendezvous/server/alarm_thread.h"
#include "rendezvous/server/attached_sink.h"
#include "rendezvous/server/job_watchers.h"

namespace muster::rendezvous {

// One job's pure core together with a lock, the time and its streams. Passes on
// directives and decisions without holding the lock.
//
// Thread-safe, except that OnReport and OnStreamClosed of one stream must not
// run at the same time.
class DrivenJob : public std::enable_shared_from_this<DrivenJob> {
 public:
  struct Observer {
    JobWatchers::Told on_decision;  // may be empty
    // Called once, after the step that finished the job.
    std::function<void()> on_finished;
  };

  // `alarms` must outlive the job. `spec` must be valid. `run_tag`: as Job's.
  DrivenJob(std::string run_id, uint64_t epoch, const JobSpec& spec,
            std::string run_tag, AlarmThread* alarms, Observer observer);

  const std::string& run_id() const { return run_id_; }

  void OnReport(const std::shared_ptr<AttachedSink>& sink, Report report);
  void OnStreamClosed(StreamId stream);
  // Both return "" on success, else the reason of the refusal.
  std::string Cancel(const std::string& reason);
  std::string Drain(const std::string& node);

  JobStatus Status() const;
  bool OwesVerdict() const;
  JobWatchers& watchers() { return watchers_; }

 private:
  std::string Step(const JobEvent& event,
                   const std::shared_ptr<AttachedSink>& sink);
  void OnAlarm(Instant when);
  // Requires mutex_.
  void SetAlarm();

  const std::string run_id_;
  AlarmThread* const alarms_;
  const Observer observer_;
  JobWatchers watchers_;

  mutable std::mutex mutex_;
  Job job_;
  std::unordered_map<StreamId, std::shared_ptr<AttachedSink>> sinks_;
  // The time of the alarm that is in effect. It may be earlier than the job's
  // next deadline, so that a report, which extends a lease, does not have to
  // set a new alarm.
  std::optional<Instant> alarm_;
  bool told_finished_ = false;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_SERVER_DRIVEN_JOB_H_
