#ifndef MUSTER_AGENT_TIMERS_FILE_TIMERS_H_
#define MUSTER_AGENT_TIMERS_FILE_TIMERS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::agent {

// The timers that workers set at their agent: the server's side of PyTorch's
// torch.distributed.elastic.timer.FileTimerClient. A request is one line:
//
//   {"version": 1, "pid": 42, "scope_id": "step",
//    "expiration_time": 1.5e9, "signal": 9}
//
// A request sets the timer of the process and scope that it names; a negative
// time removes the timer. Times are seconds since 1970 by the machine's clock,
// as sent by the clients. Pure.
class FileTimers {
 public:
  // The maximum length of a request line in bytes, which is also the maximum
  // size of an atomic write to a pipe.
  static constexpr size_t kMaxLineBytes = 4096;
  static constexpr size_t kMaxTimers = 1 << 16;

  struct Expired {
    int64_t pid = 0;
    std::string scope;
    // number of the signal to send to the process; 0: no expired timer of the
    // process names a signal
    int signal = 0;
  };

  // Handles bytes that workers have written to the pipe for timer requests. A
  // request line may arrive in pieces. Returns false if a line was ignored,
  // because it was invalid or there were too many timers.
  bool Take(std::string_view bytes);

  // Returns one entry for each process with a timer that expired by `now`. The
  // entry is the earliest of the process's expired timers that name a signal
  // or, if none names a signal, the earliest of its expired timers. All timers
  // of these processes are removed.
  std::vector<Expired> TakeExpired(double now);

  // The time of the next expiry, in seconds since 1970; nullopt: no timer is
  // set.
  std::optional<double> NextExpiry() const;

 private:
  struct Timer {
    double expires = 0;
    int signal = 0;
  };
  bool TakeLine(std::string_view line);

  // beginning of a request line whose rest has not arrived yet
  std::string begun_;
  bool too_long_ = false;
  // Key: the process id and the scope_id of the request that set the timer.
  std::map<std::pair<int64_t, std::string>, Timer> timers_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_TIMERS_FILE_TIMERS_H_
