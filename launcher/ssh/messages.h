#ifndef MUSTER_LAUNCHER_SSH_MESSAGES_H_
#define MUSTER_LAUNCHER_SSH_MESSAGES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "launcher/options/defaults.h"

namespace muster::launcher {

// The protocol between a `launch` and another `launch` that it starts by ssh on
// another host. The started `launch` may start further ones. A frame is a
// length (u32, little-endian) and one message. A host is identified by its
// index in the job's list of hosts.

// Protocol number; increased with every change of a message. Both ends must
// have the same protocol number.
inline constexpr uint32_t kSshProtocol = 4;

inline constexpr size_t kMaxFrameBytes = 64 << 20;

// The data about one host that its agent and ssh need.
struct RemoteHost {
  uint32_t index = 0;
  std::string name;                // name for messages; also the node's id
  std::string destination;         // argument of ssh: the destination
  std::vector<std::string> flags;  // flags for this host's agent only
  // Variables for this host's agent only; they override the variables for all
  // agents (BeNode::environment).
  std::map<std::string, std::string> environment;
  bool operator==(const RemoteHost&) const = default;
};

// Divides `hosts` into at most `fan_out` (at least 1) groups of consecutive
// hosts whose sizes differ by at most one. The caller connects to the first
// host of each group, and that host divides the rest of its group in the same
// way. Pure.
std::vector<std::vector<RemoteHost>> PartHosts(std::vector<RemoteHost> hosts,
                                               size_t fan_out);

// The settings of the ssh connections.
struct SshSettings {
  std::vector<std::string> arguments;  // the words of --ssh-args
  uint64_t timeout_ms = 0;             // limit in ms for a host's first message
  uint32_t fan_out = 0;  // maximum number of hosts that one machine connects to
  std::string launch;    // path of this program
  bool operator==(const SshSettings&) const = default;
};

// The first message to a host. The message contains everything that the host
// needs, so that no data of the job appear on a command line.
struct BeNode {
  uint32_t protocol = kSshProtocol;
  std::string version;
  std::string run;  // random name of this run of `launch` (HostPlace)
  std::string working_directory;
  std::map<std::string, std::string> environment;
  std::vector<std::string> flags;    // flags for every agent
  std::vector<std::string> program;  // the program and its arguments
  // Time in milliseconds within which an agent must exit after a signal.
  uint64_t stop_timeout_ms = 0;
  SshSettings ssh;
  // The host that receives this message, then the hosts that it starts by ssh.
  std::vector<RemoteHost> hosts;
  bool operator==(const BeNode&) const = default;
};

// Message to a host: start the agent of host number `host` with the additional
// flags `flags`. Sent again if the agent was killed.
struct StartAgent {
  uint32_t host = 0;
  std::vector<std::string> flags;
  agent::JobMessages job_messages = agent::JobMessages::kAll;
  bool operator==(const StartAgent&) const = default;
};

// Message to a host: send `signal` to the agent of host number `host`, or to
// all agents if `host` is nullopt. A host passes the message on to the hosts
// that it started by ssh.
struct SignalAgents {
  std::optional<uint32_t> host;
  int32_t signal = 0;
  bool operator==(const SignalAgents&) const = default;
};

// Message to a host: the sender is alive.
struct StillThere {
  bool operator==(const StillThere&) const = default;
};

using DownMessage = std::variant<BeNode, StartAgent, SignalAgents, StillThere>;

// Message from a host: `launch` runs there and can start the agent.
struct HostUp {
  uint32_t host = 0;
  // reached_address: the host's address on the ssh connection. outward_address:
  // the address of the interface of the host's default route. Empty: unknown.
  std::string reached_address;
  std::string outward_address;
  bool operator==(const HostUp&) const = default;
};

// Message from a host: its agent has not been started and will not be.
struct HostFailed {
  uint32_t host = 0;
  std::string why;  // one line that says why the agent will not be started
  int32_t exit_code = 1;
  bool operator==(const HostFailed&) const = default;
};

// Message from a host: the address and port at which other agents reach the
// coordinator or standby in this host's agent. The host of the first
// coordinator sends the message when that coordinator listens. Any other host
// sends it when a round has begun there, because its agent's standby can become
// the coordinator from then on.
struct CoordinatorUp {
  uint32_t host = 0;
  std::string address;
  uint32_t port = 0;
  bool operator==(const CoordinatorUp&) const = default;
};

enum class OutputStream : uint8_t { kStdout = 1, kStderr = 2 };

// Message from a host: whole lines that its agent printed.
struct OutputCame {
  uint32_t host = 0;
  OutputStream stream = OutputStream::kStdout;
  std::string lines;
  bool operator==(const OutputCame&) const = default;
};

// Message from a host: its agent will start later. The host's earlier agent,
// whose connection was lost, still runs, and stops its workers first.
struct AgentWaits {
  uint32_t host = 0;
  bool operator==(const AgentWaits&) const = default;
};

// Message from a host: its agent was killed by a signal that does not stop a
// job, or has exited because its guardian was killed. The host can start the
// agent again.
struct AgentKilled {
  uint32_t host = 0;
  int32_t exit_code = 0;
  bool operator==(const AgentKilled&) const = default;
};

// The last message from a host: the host's agent has exited.
struct AgentEnded {
  uint32_t host = 0;
  int32_t exit_code = 0;
  // text of the job's verdict for people; empty: the agent had no verdict
  std::string verdict;
  bool operator==(const AgentEnded&) const = default;
};

// The connection to a host was lost before the host's agent exited. This
// message is the last one about the host on this connection; AgentEnded does
// not follow.
struct HostLost {
  uint32_t host = 0;
  std::string why;  // one line that says how the host was lost
  bool operator==(const HostLost&) const = default;
};

using UpMessage = std::variant<HostUp, HostFailed, CoordinatorUp, OutputCame,
                               AgentWaits, AgentKilled, AgentEnded, HostLost>;

// Encodes a message as one frame. Pure.
std::string Encode(const DownMessage& message);
std::string Encode(const UpMessage& message);

// Decodes the payload of a frame; nullopt: invalid. If a BeNode has another
// protocol number, only its field `protocol` is decoded, so that the receiver
// can report the difference.
std::optional<DownMessage> DecodeDown(std::string_view payload);
std::optional<UpMessage> DecodeUp(std::string_view payload);

// The greeting: the first bytes that a `launch` started by ssh prints, followed
// by the protocol number and a newline. Text before the greeting comes from a
// shell's start-up files and is not part of the protocol.
inline constexpr char kGreeting[] = "\x01muster-ssh ";
std::string GreetingLine();

// Whether the byte stream begins with a greeting (kExpected) or with the first
// frame (kNone).
enum class Greeting { kExpected, kNone };

// Splits a byte stream, which arrives in pieces of any size, into frames. Pure.
class FrameReader {
 public:
  explicit FrameReader(Greeting greeting)
      : greeted_(greeting == Greeting::kNone) {}

  void Append(std::string_view bytes);

  // The payload of the next whole frame, valid until the next call. nullopt:
  // more bytes are needed, or error() is set.
  std::optional<std::string_view> Next();

  // The error found in the byte stream, as one clause; empty: none.
  const std::string& error() const { return error_; }
  // The text that preceded the greeting; only its end if it is long.
  std::string_view before_greeting() const;

 private:
  void LookForGreeting();

  bool greeted_;
  std::string buffer_;
  size_t used_ = 0;
  std::string error_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_MESSAGES_H_
