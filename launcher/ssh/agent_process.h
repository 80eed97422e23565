#ifndef MUSTER_LAUNCHER_SSH_AGENT_PROCESS_H_
#define MUSTER_LAUNCHER_SSH_AGENT_PROCESS_H_

#include <poll.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/options/run_options.h"
#include "launcher/ssh/host_connection.h"
#include "launcher/ssh/messages.h"
#include "launcher/ssh/piped_process.h"
#include "rendezvous/endpoint/endpoint.h"

namespace muster::launcher {

// Environment variables of an agent that another `launch` started. Each value
// is the number of an open file descriptor. The agent writes its coordinator's
// endpoint to the first descriptor (ReportCoordinator), and the text of the
// job's verdict to the second one.
inline constexpr char kEndpointVariable[] = "MUSTER_ENDPOINT_FD";
inline constexpr char kVerdictVariable[] = "MUSTER_VERDICT_FD";
// Environment variable that says which messages this agent prints: a value of
// JobMessages as a number. The `launch` that starts the agents shows the
// messages of all agents. So only one agent should print the messages about the
// whole job.
inline constexpr char kJobMessagesVariable[] = "MUSTER_JOB_MESSAGES";
// Environment variable of an agent that `launch --slurm` started. The value is
// "1" if `launch --slurm` has made the job's token (MUSTER_TOKEN) itself.
inline constexpr char kTokenMadeVariable[] = "MUSTER_TOKEN_MADE";
// Environment variable with the program name that begins the agent's messages.
// This is the name by which the user called the `launch` that started the
// agent.
inline constexpr char kCalledVariable[] = "MUSTER_CALLED_AS";

// Moves MUSTER_ENDPOINT_FD, MUSTER_VERDICT_FD, MUSTER_JOB_MESSAGES and
// MUSTER_TOKEN_MADE from this process's environment to `options`, and sets the
// descriptors close-on-exec. Must be called before the environment is read, and
// while the process has one thread.
void TakeStarterPipes(RemoteOptions& options);

// Removes MUSTER_CALLED_AS from this process's environment and returns its
// value, the program name for messages. Returns `name` if the variable is not
// set.
std::string TakeCalledName(const std::string& name);

// Writes a line to options.endpoint_fd: the endpoint at which other agents
// reach this process's coordinator or standby. Does nothing if the descriptor
// is -1.
void ReportCoordinator(const RemoteOptions& options,
                       const rendezvous::Endpoint& endpoint);

// A host's agent: another process of this program, started with the command
// line that a user would write on that host. The agent's output (in whole
// lines), its coordinator's endpoint and its verdict are returned as messages
// for the `launch` that started the job.
//
// The agent is killed when this process dies. Not thread-safe; never blocks.
class AgentProcess {
 public:
  // Starts the agent of `host`. Errors: the message is one line.
  static absl::StatusOr<AgentProcess> Start(const BeNode& job,
                                            const RemoteHost& host,
                                            const StartAgent& start);

  void AppendPolls(Intake intake, std::vector<pollfd>& polls) const;
  // Returns the agent's messages that are available now. The last message of an
  // agent is AgentEnded or AgentKilled.
  std::vector<UpMessage> Serve(Intake intake);
  void Signal(int signal) const { process_.Signal(signal); }
  bool ended() const { return ended_; }

 private:
  // An output stream of the agent, with the beginning of a line that is not
  // complete yet.
  struct Stream {
    OutputStream name;
    std::string waiting;
  };

  AgentProcess(uint32_t host, PipedProcess process)
      : host_(host), process_(std::move(process)) {}

  void Read(OwnedFd& fd, Stream& stream, std::vector<UpMessage>& came);
  void ReadCoordinator(std::vector<UpMessage>& came);
  void ReadVerdict();

  uint32_t host_;
  PipedProcess process_;
  Stream output_{OutputStream::kStdout, ""};
  Stream error_{OutputStream::kStderr, ""};
  // The line with the coordinator's endpoint (ReportCoordinator), as far as it
  // has been read.
  std::string coordinator_;
  bool coordinator_told_ = false;
  std::string verdict_;
  bool ended_ = false;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_AGENT_PROCESS_H_
