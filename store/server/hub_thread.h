#ifndef MUSTER_STORE_SERVER_HUB_THREAD_H_
#define MUSTER_STORE_SERVER_HUB_THREAD_H_

#include <functional>
#include <string>
#include <thread>

#include "absl/status/status.h"

namespace muster {

// A thread that handles none of the process's signals, which are for threads
// that expect them.
class HubThread {
 public:
  HubThread() = default;
  ~HubThread();
  HubThread(const HubThread&) = delete;
  HubThread& operator=(const HubThread&) = delete;

  // `name`: as ps and debuggers show it, at most 15 bytes.
  // ResourceExhausted: no thread can be had.
  absl::Status Start(const std::string& name, std::function<void()> body);

  // Between Start and Join.
  bool started() const { return thread_.joinable(); }
  void Join();

 private:
  std::thread thread_;
};

}  // namespace muster

#endif  // MUSTER_STORE_SERVER_HUB_THREAD_H_
