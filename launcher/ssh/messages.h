#ifndef MUSTER_LAUNCHER_SSH_MESSAGES_H_
#define MUSTER_LAUNCHER_SSH_MESSAGES_H_

#include <csignal>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "launcher/options/defaults.h"

namespace muster::launcher {

// What `launch` says over an ssh connection to the `launch` that it started on
// another host, which may have started further ones. A frame is its length
// (u32, little-endian) and one message; hosts are named by their place in the
// job's list of hosts.

// Raised when the messages change; both ends must have the same.
inline constexpr uint32_t kSshProtocol = 2;

inline constexpr size_t kMaxFrameBytes = 64 << 20;

// An agent that gets this signal leaves its job: the connection to its host
// broke. No program and no person sends it for another reason.
inline constexpr int kLeaveSignal = SIGPWR;

// One host as its agent and ssh need it.
struct RemoteHost {
  uint32_t index = 0;
  std::string name;                // for messages, and the node's id
  std::string destination;         // what ssh is given
  std::vector<std::string> flags;  // of its agent only
  std::map<std::string, std::string> environment;  // likewise, over the job's
  bool operator==(const RemoteHost&) const = default;
};

// How hosts are reached.
struct SshSettings {
  std::vector<std::string> arguments;  // --ssh-args
  uint64_t timeout_ms = 0;             // to be reached and to answer
  uint32_t fan_out = 0;                // hosts that one machine starts
  std::string launch;                  // path of this program
  bool operator==(const SshSettings&) const = default;
};

// Down: the first message. Everything that travels, so that no command line
// shows it.
struct BeNode {
  uint32_t protocol = kSshProtocol;
  std::string version;
  std::string working_directory;
  std::map<std::string, std::string> environment;
  std::vector<std::string> flags;    // of every agent
  std::vector<std::string> program;  // and its arguments
  uint64_t stop_timeout_ms = 0;      // an agent's, from a signal to its end
  SshSettings ssh;
  std::vector<RemoteHost> hosts;  // the receiver's own, then those behind it
  bool operator==(const BeNode&) const = default;
};

// Down: start the agent of a host, with these flags too.
struct StartAgent {
  uint32_t host = 0;
  std::vector<std::string> flags;
  agent::Telling telling = agent::Telling::kAlone;
  bool operator==(const StartAgent&) const = default;
};

// Down: send a signal to the agent of one host or (nullopt) of each.
struct SignalAgents {
  std::optional<uint32_t> host;
  int32_t signal = 0;
  bool operator==(const SignalAgents&) const = default;
};

// Down: the other end lives.
struct StillThere {
  bool operator==(const StillThere&) const = default;
};

using DownMessage = std::variant<BeNode, StartAgent, SignalAgents, StillThere>;

// Up: `launch` runs on the host and can start its agent.
struct HostUp {
  uint32_t host = 0;
  // The address at which ssh reached it, and the one that a packet to the
  // outside would carry; empty: none known.
  std::string reached_address;
  std::string outward_address;
  bool operator==(const HostUp&) const = default;
};

// Up: a host's agent was not started and will not be.
struct HostFailed {
  uint32_t host = 0;
  std::string why;  // one line
  int32_t exit_code = 1;
  bool operator==(const HostFailed&) const = default;
};

// Up: the host's agent hosts the coordinator at this port.
struct CoordinatorUp {
  uint32_t host = 0;
  uint32_t port = 0;
  bool operator==(const CoordinatorUp&) const = default;
};

enum class OutputStream : uint8_t { kStdout = 1, kStderr = 2 };

// Up: whole lines that a host's agent printed.
struct OutputCame {
  uint32_t host = 0;
  OutputStream stream = OutputStream::kStdout;
  std::string lines;
  bool operator==(const OutputCame&) const = default;
};

// Up: a host's agent is gone. Nothing else comes of this host.
struct AgentEnded {
  uint32_t host = 0;
  int32_t exit_code = 0;
  std::string verdict;  // the text for a person; empty: it had none to show
  bool operator==(const AgentEnded&) const = default;
};

// Up: the connection to a host broke before its agent ended.
struct HostLost {
  uint32_t host = 0;
  std::string why;  // one line
  bool operator==(const HostLost&) const = default;
};

using UpMessage = std::variant<HostUp, HostFailed, CoordinatorUp, OutputCame,
                               AgentEnded, HostLost>;

// A frame of its own. Pure, as all of these.
std::string Encode(const DownMessage& message);
std::string Encode(const UpMessage& message);

// What a frame holds, without its length; nullopt: it is not sound. A message
// of another protocol is sound if it begins like BeNode: look at `protocol`.
std::optional<DownMessage> DecodeDown(std::string_view payload);
std::optional<UpMessage> DecodeUp(std::string_view payload);

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_MESSAGES_H_
