#ifndef MUSTER_AGENT_GUARDIAN_WIRE_H_
#define MUSTER_AGENT_GUARDIAN_WIRE_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/gpus/job_files.h"
#include "agent/guardian/left_behind.h"
#include "agent/workers/worker_spec.h"

namespace muster::agent {

// The messages between agent and guardian: one message is the payload of one
// frame (see frame_channel.h). Both ends are the same binary, so messages have
// no version number. Integers are little-endian. All functions are pure.

// Upper bounds of valid CPU and NUMA node numbers, higher than on any existing
// machine.
inline constexpr int kMaxCpus = 1 << 16;
inline constexpr int kMaxMemoryNodes = 1 << 10;

// The maximum number of bytes in a message. A start message contains a
// program's arguments and environment, for which the kernel by default accepts
// 2 MiB; its limit may be set higher.
inline constexpr size_t kMaxMessageBytes = 8 << 20;

// The agent's command to start a worker. The worker's descriptors are sent with
// the frame, one for each has_ flag that is set, in the order of these flags.
struct StartCommand {
  int local_rank = 0;
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> unset;
  std::string working_directory;
  // CPUs to which the worker is bound, ascending; empty: it is not bound
  std::vector<int> cpus;
  // NUMA node from which the worker prefers to take memory
  std::optional<int> memory_node;
  // signals that the worker ignores: bit n - 1 is signal n
  uint64_t ignored_signals = 0;
  bool has_stdin = false;
  bool has_stdout = false;
  bool has_stderr = false;
  bool has_key = false;
  // whether stdin becomes the worker's controlling terminal; requires has_stdin
  bool controls_terminal = false;
};
struct SignalCommand {
  int signal = 0;
  // whether the guardian also sends `signal` to descendants of the workers that
  // are outside of the running workers' process groups
  bool everything = false;
  // local rank of the only worker to whose process group the signal is sent;
  // nullopt: the signal is sent to the process groups of all workers
  std::optional<int> local_rank;
};
// The agent's command to remove a folder of sockets after the agent's end.
// Replaces the folder of an earlier command.
struct RemoveCommand {
  std::string folder;
};
// The agent's command to call RemoveJobFiles for `files` after the agent's end.
// Replaces the files of an earlier command.
struct JobFilesCommand {
  JobFiles files;
};
// Command from the agent to the guardian: restore the terminal's modes when the
// agent has ended. `modes`: the modes before the agent changed them (see
// terminal.h). The guardian restores them only if no other program has
// changed the modes since. The terminal's descriptor is sent with the message.
// If `modes` is empty, no descriptor is sent, and the guardian leaves the
// terminal as it is. Replaces an earlier TerminalCommand.
struct TerminalCommand {
  std::string modes;
};
using Command = std::variant<StartCommand, SignalCommand, RemoveCommand,
                             JobFilesCommand, TerminalCommand>;

// The guardian's notice that a worker was started.
struct StartedNotice {
  int local_rank = 0;
  pid_t pid = 0;
};
struct NotStartedNotice {
  int local_rank = 0;
  std::string step;
  std::string path;
  int error = 0;
};
struct EndedNotice {
  int local_rank = 0;
  pid_t pid = 0;
  int wait_status = 0;
  // whether a signal by the guardian reached the worker before its exit
  bool signalled = false;
};
struct AllGoneNotice {
  // The number of StartCommands that the guardian had received when it found no
  // process left. If the agent has sent more StartCommands, this AllGoneNotice
  // is outdated, and the agent ignores it.
  uint64_t starts_taken = 0;
  // descendants that outlived their workers and were stopped since the last
  // AllGoneNotice; at most kMaxLeftBehind
  std::vector<LeftBehind> left_behind;
};
inline constexpr size_t kMaxLeftBehind = 64;
// The guardian's sign of life, sent at intervals of kGuardianSignEvery.
struct AliveNotice {};
using Notice = std::variant<StartedNotice, NotStartedNotice, EndedNotice,
                            AllGoneNotice, AliveNotice>;

std::string Encode(const Command& command);
std::string Encode(const Notice& notice);

// Decodes a command or a notice. InvalidArgument: an unknown kind, missing or
// extra bytes, or an impossible value.
absl::StatusOr<Command> DecodeCommand(std::string_view payload);
absl::StatusOr<Notice> DecodeNotice(std::string_view payload);

// Encodes the StartCommand of `spec`. InvalidArgument: an empty argv, a NUL
// character, a variable with an empty name or '=' in its name, or more bytes
// than fit in one message. Pure.
absl::StatusOr<std::string> EncodeStart(const WorkerSpec& spec);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_WIRE_H_
