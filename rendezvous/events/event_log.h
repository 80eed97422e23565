#ifndef MUSTER_RENDEZVOUS_EVENTS_EVENT_LOG_H_
#define MUSTER_RENDEZVOUS_EVENTS_EVENT_LOG_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "base/rotating_file.h"
#include "rendezvous/protocol/job_status.h"

namespace muster {

// The coordinator's decisions in a file, one JSON object a line, for whoever
// asks later why something happened.
//
// Thread-safe. Errors are told once, through `on_trouble`, and never stop the
// job.
class EventLog {
 public:
  // Who keeps the file from growing for ever.
  enum class Rotation {
    kOwn,      // This does: at most 4 x 16 MiB.
    kOutside,  // Somebody moves it away and has it opened anew (logrotate).
  };

  // Touches nothing yet.
  EventLog(std::string path, Rotation rotation,
           std::function<void(const std::string& sentence)> on_trouble);

  // Makes the file and the folders above it at once, so that it is there even
  // if nothing is decided.
  void Create() { file_.Open(); }

  // Opens the path anew (or for the first time, its folder being there). The
  // status says why that failed; an open file is kept then.
  absl::Status Reopen() { return file_.Reopen(); }

  // Appends one line with the time of now.
  void Append(const std::string& run_id, const Decision& decision);

 private:
  RotatingFile file_;
};

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_EVENTS_EVENT_LOG_H_
