#ifndef MUSTER_STORE_SERVER_SEND_CREW_H_
#define MUSTER_STORE_SERVER_SEND_CREW_H_

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <span>
#include <string_view>

#include "store/server/hub_events.h"

namespace muster::store {

// Threads that share the send() calls of a hub's thread. If a thousand clients
// are released at once, nearly all the time is spent in the kernel's send().
// The threads of the crew (helpers) only call send(). The hub's thread owns the
// buffers, sends its share, and waits until the helpers have finished.
//
// Not thread-safe.
class SendCrew {
 public:
  struct Job {
    // A non-blocking socket.
    int fd = -1;
    std::string_view bytes;
    // Result of send(). The errno of a failure is not kept, because the next
    // send() on the socket reports it again.
    ssize_t sent = 0;
  };

  // `helpers`: number of threads besides the caller's, started when first
  // needed. If none can be created, the caller sends everything.
  explicit SendCrew(size_t helpers) : helpers_(helpers) {}
  ~SendCrew();
  SendCrew(const SendCrew&) = delete;
  SendCrew& operator=(const SendCrew&) = delete;

  // The number of helper threads that suits the number of processors available
  // to this process.
  static size_t HelpersForThisHost();

  // Calls send() once for each job, and returns when all are done. Each job
  // must have a different socket.
  void SendAll(std::span<Job> jobs);

 private:
  void StartThreads();
  void Help();
  // Sends jobs that no other thread has taken yet, until none is left.
  void Take(std::span<Job> jobs);

  const size_t helpers_;
  bool started_ = false;
  // Index of the next job that no thread has taken.
  std::atomic<size_t> next_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  // The send() calls of the current batch, which the threads share. Guarded by
  // mutex_.
  std::span<Job> jobs_;
  uint64_t batch_ = 0;  // number of the current batch; guarded by mutex_
  size_t active_ = 0;   // number of helper threads at work; guarded by mutex_
  bool over_ = false;   // whether the threads must end; guarded by mutex_

  std::list<HubThread> threads_;
};

}  // namespace muster::store

#endif  // MUSTER_STORE_SERVER_SEND_CREW_H_
