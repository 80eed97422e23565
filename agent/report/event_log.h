#ifndef MUSTER_AGENT_REPORT_EVENT_LOG_H_
#define MUSTER_AGENT_REPORT_EVENT_LOG_H_

#include <functional>
#include <string>

#include "agent/logs/rotating_file.h"
#include "rendezvous/protocol/job_status.h"

namespace muster {

// The coordinator's decisions in a file, one JSON object a line, for whoever
// asks later why something happened. At most 4 × 16 MiB: the file is rotated.
//
// Thread-safe. Errors are told once, through `on_trouble`, and never stop the
// job.
class EventLog {
 public:
  // `path`: usually EventLogPath. The file is made at once.
  EventLog(std::string path,
           std::function<void(const std::string& sentence)> on_trouble);

  // Appends one line with the time of now.
  void Append(const std::string& run_id, const Decision& decision);

 private:
  RotatingFile file_;
};

// <log_dir>/<run id's folder>/events.jsonl
std::string EventLogPath(const std::string& log_dir, const std::string& run_id);

}  // namespace muster

#endif  // MUSTER_AGENT_REPORT_EVENT_LOG_H_
