#ifndef MUSTER_STORE_SERVER_HUB_THREAD_H_
#define MUSTER_STORE_SERVER_HUB_THREAD_H_

#include <functional>
#include <string>
#include <thread>

#include "absl/status/status.h"

namespace muster::store {

// A thread with all signals blocked, so that the process's signals go to
// threads that expect them.
class HubThread {
 public:
  HubThread() = default;
  ~HubThread();
  HubThread(const HubThread&) = delete;
  HubThread& operator=(const HubThread&) = delete;

  // Starts the thread. `name` is shown by ps and debuggers; at most 15 bytes.
  // ResourceExhausted: no thread can be created.
  absl::Status Start(const std::string& name, std::function<void()> body);

  // True between Start and Join.
  bool started() const { return thread_.joinable(); }
  void Join();

 private:
  std::thread thread_;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_HUB_THREAD_H_
