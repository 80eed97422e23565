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

#include "store/server/hub_thread.h"

namespace muster {

// Threads that send for a hub's: the kernel's send() to a thousand sockets is
// nearly all that it takes to release a thousand who wait. They do nothing but
// send(); whose bytes those are is the hub's affair, which sends its share and
// waits for theirs.
//
// One thread at a time may call it.
class SendCrew {
 public:
  struct Job {
    // A non-blocking socket.
    int fd = -1;
    std::string_view bytes;
    // What send() returned; its errno is not kept: another send() tells.
    ssize_t sent = 0;
  };

  // `helpers`: threads beside the caller's, started when they are first of use.
  // Where none can be had, the caller does it all.
  explicit SendCrew(size_t helpers) : helpers_(helpers) {}
  ~SendCrew();
  SendCrew(const SendCrew&) = delete;
  SendCrew& operator=(const SendCrew&) = delete;

  // As many as the processors that this process may use leave room for.
  static size_t HelpersForThisHost();

  // Does one send() for each. All are done when it returns. No two may be of
  // one socket.
  void SendAll(std::span<Job> jobs);

 private:
  void StartThreads();
  void Help();
  // Does jobs that nobody has taken yet, until there are none.
  void Take(std::span<Job> jobs);

  const size_t helpers_;
  bool started_ = false;
  // The next job that nobody has taken.
  std::atomic<size_t> next_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Under mutex_: the jobs, empty where there are none to be begun; which
  // batch of them it is; how many helpers are at it; whether all is over.
  std::span<Job> jobs_;
  uint64_t batch_ = 0;
  size_t active_ = 0;
  bool over_ = false;

  std::list<HubThread> threads_;
};

}  // namespace muster

#endif  // MUSTER_STORE_SERVER_SEND_CREW_H_
