#ifndef MUSTER_AGENT_LOGS_LOG_ACCOUNT_H_
#define MUSTER_AGENT_LOGS_LOG_ACCOUNT_H_

#include <cstdint>
#include <mutex>

#include "base/rotating_file.h"

namespace muster::agent {

// Counts the bytes that are missing in the workers' log files; summed up when
// files are closed. Thread-safe.
class LogAccount {
 public:
  // Where the output of a stream can be read besides its log file.
  enum class Copies {
    kConsole,   // on the console
    kFileOnly,  // nowhere else
  };
  struct Sums {
    int64_t lost = 0;            // bytes not written, of any stream
    int64_t lost_file_only = 0;  // the part of `lost` that no console shows
    int64_t dropped = 0;         // bytes deleted by rotation
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
