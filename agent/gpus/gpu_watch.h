#ifndef MUSTER_AGENT_GPUS_GPU_WATCH_H_
#define MUSTER_AGENT_GPUS_GPU_WATCH_H_

#include <functional>
#include <memory>
#include <string>

#include "agent/gpus/gpu_values.h"
#include "base/time.h"

namespace muster::agent {

// Reads the values of the node's GPUs while somebody looks at them, and listens
// for Xids, each in a thread of its own: a call of NVIDIA's library may hang
// with the driver, and no other thread waits for it. A thread that hangs
// outlives this object; it owns all that it uses. Thread-safe.
class GpuWatch {
 public:
  struct Options {
    std::string library = "libnvidia-ml.so.1";
    // Time from the beginning of one reading to that of the next one.
    Duration interval = std::chrono::seconds(5);
    // Readings stop this long after the newest Look, and begin again with the
    // next one. It is longer than the interval of any scrape.
    Duration idle_after = std::chrono::minutes(5);
  };

  // Begins with one reading, so that the first Look has values.
  explicit GpuWatch(Options options);
  // Waits at most a second for the threads.
  ~GpuWatch();
  GpuWatch(const GpuWatch&) = delete;
  GpuWatch& operator=(const GpuWatch&) = delete;

  // Calls `on_xid` for each Xid, on a thread of this object; at once for the
  // newest Xids that nobody has followed. Null: nobody follows. No call of an
  // earlier function follows the return, and none the destruction. `on_xid`
  // must not wait.
  void Follow(std::function<void(const XidSeen&)> on_xid);

  // The newest values, and the Xids since the beginning. Never waits for the
  // library.
  GpuSnapshot Look();

 private:
  struct State;
  static void ReadValues(const std::shared_ptr<State>& state);
  static void ListenForXids(const std::shared_ptr<State>& state);

  const std::shared_ptr<State> state_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GPUS_GPU_WATCH_H_
