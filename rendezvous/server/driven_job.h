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

namespace muster {

// One job with what its pure core lacks: a lock, the time, its streams. Hands
// directives and decisions out without holding the lock.
//
// Thread-safe, except that OnReport and OnStreamClosed of one stream must not
// be called at the same time.
class DrivenJob : public std::enable_shared_from_this<DrivenJob> {
 public:
  struct Observer {
    JobWatchers::Told on_decision;  // may be empty
    // Once, after the step that finished the job.
    std::function<void()> on_finished;
  };

  // `alarms` outlives the job. `spec` is valid.
  DrivenJob(std::string run_id, uint64_t epoch, const JobSpec& spec,
            AlarmThread* alarms, Observer observer);

  const std::string& run_id() const { return run_id_; }

  void OnReport(const std::shared_ptr<AttachedSink>& sink, Report report);
  void OnStreamClosed(StreamId stream);
  // Empty, or why it could not be done.
  std::string Cancel(const std::string& reason);
  std::string Drain(const std::string& node);

  JobStatus Status() const;
  bool OwesVerdict() const;
  JobWatchers& watchers() { return watchers_; }

 private:
  std::string Step(const JobEvent& event,
                   const std::shared_ptr<AttachedSink>& sink);
  void OnAlarm(Instant when);
  // With mutex_ held.
  void SetAlarm();

  const std::string run_id_;
  AlarmThread* const alarms_;
  const Observer observer_;
  JobWatchers watchers_;

  mutable std::mutex mutex_;
  Job job_;
  std::unordered_map<StreamId, std::shared_ptr<AttachedSink>> sinks_;
  // When the alarm that counts goes off; it may be earlier than the job's next
  // deadline, so that a report, which moves a lease, need not move the alarm.
  std::optional<Instant> alarm_;
  bool told_finished_ = false;
};

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_SERVER_DRIVEN_JOB_H_
