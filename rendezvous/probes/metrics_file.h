#ifndef MUSTER_RENDEZVOUS_PROBES_METRICS_FILE_H_
#define MUSTER_RENDEZVOUS_PROBES_METRICS_FILE_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "base/file_queue.h"
#include "base/time.h"

namespace muster::rendezvous {

// Returns OK if node_exporter reads a file with this name, which must end in
// .prom; else InvalidArgument with a sentence.
absl::Status CheckMetricsFile(const std::string& path);

// Keeps a file with the metrics of this process, for the textfile collector of
// Prometheus' node_exporter. Writes it at once and every `interval`, and
// removes it at the end. Readers always see a whole file: each text is written
// to a second file, which then replaces the first by a rename. No function
// waits for the file system for longer than a second.
class MetricsFile {
 public:
  static constexpr Duration kInterval = std::chrono::seconds(15);

  // `make` returns the text; a thread of this object calls it until the object
  // is destroyed. `say` gets a sentence, from any thread, if the file cannot be
  // written. After such a call, `say` is not called again before a write has
  // succeeded.
  MetricsFile(std::string path, std::function<std::string()> make,
              std::function<void(const std::string&)> say,
              Duration interval = kInterval);
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

 private:
  // How the newest write ended. Shared with the thread of `queue_`, which may
  // live longer than this object.
  struct Outcome;

  void Run(Duration interval);
  void Write();

  const std::string path_;
  const std::function<std::string()> make_;
  const std::function<void(const std::string&)> say_;
  const std::shared_ptr<Outcome> outcome_;
  FileQueue queue_;
  // Whether a failed write was reported (say_) since the last successful one.
  // Used by thread_ only.
  bool has_complained_ = false;
  std::mutex mutex_;
  std::condition_variable stopping_;
  bool stop_ = false;  // whether thread_ must end; guarded by mutex_
  std::thread thread_;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROBES_METRICS_FILE_H_
