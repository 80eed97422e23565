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

// A host's agent: this program once more, started as a person would start it
// there. Its output becomes messages of whole lines, and so does what it says
// at the descriptors of starter_pipes.h.
//
// Killed when this process dies. Not thread-safe; never blocks.
class AgentProcess {
 public:
  // `host` is where it runs. Errors: one line.
  static absl::StatusOr<AgentProcess> Start(const BeNode& job,
                                            const RemoteHost& host,
                                            const StartAgent& start);

  void AppendPolls(Intake intake, std::vector<pollfd>& polls) const;
  // What came since; AgentEnded is the last.
  std::vector<UpMessage> Serve(Intake intake);
  void Signal(int signal) const { process_.Signal(signal); }
  bool ended() const { return ended_; }

 private:
  // Output that waits for the end of its line.
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
