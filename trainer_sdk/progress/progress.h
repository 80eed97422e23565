#ifndef MUSTER_TRAINER_SDK_PROGRESS_PROGRESS_H_
#define MUSTER_TRAINER_SDK_PROGRESS_PROGRESS_H_

#include <sys/socket.h>
#include <sys/un.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "base/owned_fd.h"
#include "base/time.h"
#include "trainer_sdk/rank_time/rank_time.h"

namespace muster {

// A worker's report to its agent. Only fields that are set are sent.
struct ProgressUpdate {
  std::optional<int64_t> step = {};
  std::optional<double> loss = {};
  std::optional<double> tokens_per_second = {};
  // The timeout of the agent's watchdog for this worker. From now on, if the
  // worker sends nothing for longer than this, the agent treats this worker as
  // hung. 0 disables the watchdog.
  std::optional<Duration> watchdog = {};
  // true: from now on, training waits for a checkpoint, until false is sent or
  // the next step is reported. The agent counts this time as spent on
  // checkpoints, and not as training.
  std::optional<bool> checkpoint = {};
  // One line of free text about the worker's state, truncated to 256 bytes.
  std::optional<std::string> status = {};
  // How the process has spent its time. Progress::Send adds these times to each
  // report of a step. The times alone do not count as a sign of life for the
  // agent's watchdog.
  std::optional<RankTimes> times = {};
};

// Formats the datagram for `update`, in the style of sd_notify: lines KEY=VALUE
// with the keys STEP, LOSS, TOKENS_PER_S, WATCHDOG_S, CHECKPOINT and STATUS.
// The update's times have the keys OWN_NS, BLOCKED_NS and DATA_NS
// (nanoseconds), LINKS_NS (pairs PEER:NANOSECONDS, separated by commas) and
// SENT_BYTES. An empty update gives "WATCHDOG=1": the worker is alive. Line
// breaks in the status become spaces, so that the status cannot contain lines
// with other keys. Pure.
std::string ProgressMessage(const ProgressUpdate& update);

// Reports the training's progress to this worker's agent, for `launch status`,
// `launch watch` and the detection of hangs. Thread-safe.
//
// Never blocks and never fails: reports are dropped if there is no agent or its
// socket's queue is full. So a training program can send a report in every
// step.
class Progress {
 public:
  // `socket_path`: the path of the agent's Unix datagram socket, the value of
  // MUSTER_PROGRESS_SOCKET. A leading '@' means an abstract name, as for
  // sd_notify. If the path is empty or there is no such socket, all reports are
  // dropped.
  explicit Progress(const std::string& socket_path);

  // Sends `update` as one datagram. Example: Send({.step = 1200, .loss =
  // 2.31}).
  void Send(const ProgressUpdate& update);

  // Reports that the worker is alive; for long phases between training steps.
  void Alive() { Send(ProgressUpdate{}); }

  // The number of reports so far that could not be sent to the agent.
  int64_t dropped() const { return dropped_; }

 private:
  OwnedFd socket_;
  sockaddr_un agent_ = {};
  // length in bytes of `agent_`, the address of the agent's socket; 0: there is
  // no agent
  socklen_t agent_bytes_ = 0;
  std::atomic<int64_t> dropped_ = 0;
};

// Reports the times of this process (RankTime::Process) to the agent, for the
// detection of slow ranks in programs that report no steps. Never blocks.
void ReportRankTime(Instant now);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROGRESS_PROGRESS_H_
