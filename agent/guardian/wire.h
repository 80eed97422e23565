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
#include "agent/guardian/left_behind.h"

namespace muster::agent {

// What agent and guardian say to each other: one message is the payload of one
// frame (see frame_channel.h). Both ends are the same binary, so there is no
// version. Integers are little-endian. Pure.

// Beyond what any machine has: the numbers of CPUs and NUMA nodes.
inline constexpr int kMaxCpus = 1 << 16;
inline constexpr int kMaxMemoryNodes = 1 << 10;

// The most bytes of one message. The kernel takes 2 MiB of arguments and
// environment with default limits; the rest is room for limits set higher.
inline constexpr size_t kMaxMessageBytes = 8 << 20;

// Agent to guardian. The descriptors travel beside the frame, in this order,
// one for each flag that is set.
struct StartCommand {
  int local_rank = 0;
  std::vector<std::string> argv;
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::string> unset;
  std::string working_directory;
  std::vector<int> cpus;           // ascending; empty: not bound
  std::optional<int> memory_node;  // preferred
  uint64_t ignored_signals = 0;    // bit n - 1 is signal n
  bool has_stdin = false;
  bool has_stdout = false;
  bool has_stderr = false;
  bool controls_terminal = false;  // with has_stdin
};
struct SignalCommand {
  int signal = 0;
  bool everything = false;        // descendants outside the groups as well
  std::optional<int> local_rank;  // only this worker's group
};
// A folder of sockets to be removed once the agent is gone; takes the place of
// one named before.
struct RemoveCommand {
  std::string folder;
};
// A terminal to be given its modes back once the agent is gone, if it still has
// those that the agent had set; takes the place of an earlier one. With `modes`
// (see terminal_modes.h) a descriptor of it travels beside the frame; without,
// there is none any more.
struct TerminalCommand {
  std::string modes;
};
using Command =
    std::variant<StartCommand, SignalCommand, RemoveCommand, TerminalCommand>;

// Guardian to agent.
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
  bool signalled = false;  // by a SignalCommand, before it ended
};
struct AllGoneNotice {
  // How many StartCommands the guardian had taken when nothing was left. An
  // agent that has sent more knows that this notice is out of date.
  uint64_t starts_taken = 0;
  // Since the AllGone before; at most kMaxLeftBehind.
  std::vector<LeftBehind> left_behind;
};
inline constexpr size_t kMaxLeftBehind = 64;
using Notice =
    std::variant<StartedNotice, NotStartedNotice, EndedNotice, AllGoneNotice>;

std::string Encode(const Command& command);
std::string Encode(const Notice& notice);

// InvalidArgument: unknown kind, cut short, bytes left over, or an impossible
// value.
absl::StatusOr<Command> DecodeCommand(std::string_view payload);
absl::StatusOr<Notice> DecodeNotice(std::string_view payload);

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_WIRE_H_
