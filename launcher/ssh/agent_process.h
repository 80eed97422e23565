#ifndef MUSTER_LAUNCHER_SSH_AGENT_PROCESS_H_
#define MUSTER_LAUNCHER_SSH_AGENT_PROCESS_H_

#include <poll.h>

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "launcher/ssh/host_connection.h"
#include "launcher/ssh/messages.h"
#include "launcher/ssh/piped_process.h"

namespace muster::launcher {

// A host's agent: another process of this program, started with the command
// line that a user would write on that host. The agent's output, and what it
// reports through the descriptors of starter_pipes.h, become messages. Output
// is passed on in whole lines.
//
// The agent is killed when this process dies. Not thread-safe; never blocks.
class AgentProcess {
 public:
  // Starts the agent of `host`. Errors: one line.
  static absl::StatusOr<AgentProcess> Start(const BeNode& job,
                                            const RemoteHost& host,
                                            const StartAgent& start);

  void AppendPolls(Intake intake, std::vector<pollfd>& polls) const;
  // Returns the messages that have become available. AgentEnded is the last
  // one.
  std::vector<UpMessage> Serve(Intake intake);
  void Signal(int signal) const { process_.Signal(signal); }
  bool ended() const { return ended_; }

 private:
  // An output stream of the agent, with the text of its unfinished line.
  struct Stream {
    OutputStream name;
    std::string waiting;
  };

  AgentProcess(uint32_t host, PipedProcess process)
      : host_(host), process_(std::move(process)) {}

  void Read(OwnedFd& fd, Stream& stream, std::vector<UpMessage>& came);
  void ReadPort(std::vector<UpMessage>& came);
  void ReadVerdict();

  uint32_t host_;
  PipedProcess process_;
  Stream output_{OutputStream::kStdout, ""};
  Stream error_{OutputStream::kStderr, ""};
  std::string port_;
  bool port_told_ = false;
  std::string verdict_;
  bool ended_ = false;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_AGENT_PROCESS_H_
