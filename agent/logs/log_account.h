#ifndef MUSTER_AGENT_LOGS_LOG_ACCOUNT_H_
#define MUSTER_AGENT_LOGS_LOG_ACCOUNT_H_

#include <cstdint>
#include <mutex>

#include "base/rotating_file.h"

namespace muster::agent {

// Counts the bytes that are missing in the workers' log files, soon after they
// were lost. Thread-safe.
class LogAccount {
 public:
  // The place besides the log file where a stream's output can be read.
  enum class Copies {
    kConsole,   // the output is on the console, too
    kFileOnly,  // the output is in the log file only
  };
  struct Sums {
    // bytes of all streams that could not be written to the log files
    int64_t lost = 0;
    // the part of `lost` that is not on the console either, so that these bytes
    // cannot be read
    int64_t lost_file_only = 0;
    int64_t dropped = 0;  // bytes deleted by rotation
  };

  void Add(Copies copies, const RotatingFile::Totals& totals) {
    std::lock_guard<std::mutex> lock(mutex_);
    sums_.lost += totals.lost;
    if (copies == Copies::kFileOnly) sums_.lost_file_only += totals.lost;
    sums_.dropped += totals.dropped;
  }

  Sums sums() const {
    std::lock_guard<std::mutex> lock(mutex_);
    return sums_;
  }

 private:
  mutable std::mutex mutex_;
  Sums sums_;  // guarded by mutex_
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_LOGS_LOG_ACCOUNT_H_
