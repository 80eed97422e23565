#ifndef MUSTER_AGENT_GPUS_GPU_WATCH_H_
#define MUSTER_AGENT_GPUS_GPU_WATCH_H_

#include <functional>
#include <memory>
#include <string>

#include "agent/gpus/gpu_values.h"
#include "base/time.h"

namespace muster::agent {

// Reads the values of the node's GPUs at intervals as long as callers use Look
// (Options::idle_after), and listens for Xids (error codes of NVIDIA's driver).
// Reading and listening have one thread each, because a call of NVIDIA's
// library may hang. No other thread waits for such a call. A thread that hangs
// outlives this object, and owns all data that it uses. Thread-safe.
class GpuWatch {
 public:
  struct Options {
    std::string library = "libnvidia-ml.so.1";
    // The time between the starts of two readings of the GPUs' values.
    Duration interval = std::chrono::seconds(5);
    // Readings stop when Look was not called for this time; the next call of
    // Look starts them again. Metrics are usually scraped at shorter intervals,
    // so readings go on as long as a scraper exists.
    Duration idle_after = std::chrono::minutes(5);
  };

  // Starts the threads. The first reading of the GPUs begins at once, so that
  // Look soon returns values.
  explicit GpuWatch(Options options);
  // Waits at most one second for the threads to end.
  ~GpuWatch();
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;

  // Sets the callback for Xids; null: none. A thread of this object calls
  // `on_xid` for each new Xid. Follow itself first calls `on_xid` for the
  // newest Xids that came while no callback was set. After Follow has returned,
  // the earlier callback is not called any more. After the destruction no
  // callback is called. `on_xid` must not block.
  void Follow(std::function<void(const XidSeen&)> on_xid);

  // Returns the newest values, and the Xids since this object was made. Never
  // waits for the library.
  GpuSnapshot Look();

 private:
  struct State;
  static void ReadValues(const std::shared_ptr<State>& state);
  static void ListenForXids(const std::shared_ptr<State>& state);

  const std::shared_ptr<State> state_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GPUS_GPU_WATCH_H_
