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

// The timers that workers hold at their agent: the server's side of PyTorch's
// torch.distributed.elastic.timer.FileTimerClient. A request is one line:
//   {"version": 1, "pid": 42, "scope_id": "step", "expiration_time": 1.5e9,
//    "signal": 9}
// It sets the timer of that process and scope, or with a negative time takes it
// away. Times are seconds since 1970 by the machine's clock, because that is
// what clients send. Pure.
class FileTimers {
 public:
  // Requests longer than a pipe's atomic write are not sent by any client.
  static constexpr size_t kMaxLineBytes = 4096;
  static constexpr size_t kMaxTimers = 1 << 16;

  struct Expired {
    int64_t pid = 0;
    std::string scope;
    int signal = 0;  // 0: none of the process's timers asks for one
  };

  // Bytes as they come from the pipe; a line may come in pieces. False where
  // one of the lines was no request, or a timer too many: it is left out.
  bool Take(std::string_view bytes);

  // One for each process with a timer that expired by `now`: the first of them
  // that asks for a signal, else the first. All timers of these processes go.
  std::vector<Expired> TakeExpired(double now);

  // When the next timer expires.
  std::optional<double> NextExpiry() const;

 private:
  struct Timer {
    double expires = 0;
    int signal = 0;
  };
  bool TakeLine(std::string_view line);

  std::string begun_;  // of a line
  bool too_long_ = false;
  std::map<std::pair<int64_t, std::string>, Timer> timers_;  // by pid and scope
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_TIMERS_FILE_TIMERS_H_
