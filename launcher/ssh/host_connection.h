#ifndef MUSTER_LAUNCHER_SSH_HOST_CONNECTION_H_
#define MUSTER_LAUNCHER_SSH_HOST_CONNECTION_H_

#include <poll.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "launcher/ssh/frame_reader.h"
#include "launcher/ssh/messages.h"
#include "launcher/ssh/piped_process.h"
#include "launcher/ssh/ssh_command.h"

namespace muster::launcher {

// Whether messages are taken as they come, or wait since nobody takes them.
enum class Intake { kOpen, kPaused };

// This end of one ssh connection: the first of a group of hosts, reached by
// ssh, and those behind it. Turns whatever happens to the connection into what
// that means for each host: every one of them gets HostFailed, HostLost or
// AgentEnded at the end, exactly once, or is left in unreached().
//
// Not thread-safe; never blocks.
class HostConnection {
 public:
  // Starts ssh. `job.hosts` is the group. `environment` is ssh's own.
  HostConnection(BeNode job, const std::string& ssh_program,
                 const std::vector<std::string>& environment, Instant now);

  void AppendPolls(Intake intake, std::vector<pollfd>& polls) const;
  // What came since.
  std::vector<UpMessage> Serve(Instant now, Intake intake);

  // Dropped where the connection is closed.
  void Send(const DownMessage& message);
  // Ends this end's way down once what was sent is written.
  void HangUp();

  bool Has(uint32_t host) const { return open_.count(host) > 0; }
  bool closed() const { return closed_; }
  // Closed without a word about these, which were to be reached through the
  // first one.
  std::vector<RemoteHost> TakeUnreached();
  std::optional<Instant> NextDeadline() const;

 private:
  void Write();
  void ReadWords();
  void ReadMessages(std::vector<UpMessage>& came);
  void Take(UpMessage message, std::vector<UpMessage>& came);
  void NotReached(const SshEnd& end, std::vector<UpMessage>& came);
  void Lost(const std::string& why, std::vector<UpMessage>& came);
  void Close();

  const SshSettings settings_;
  std::vector<RemoteHost> hosts_;
  std::set<uint32_t> open_;  // hosts of which something may still come
  std::unique_ptr<PipedProcess> ssh_;
  FrameReader reader_{Greeting::kExpected};
  std::string down_;         // not yet written
  bool hang_up_ = false;     // once that is empty
  std::string said_;         // the end of ssh's stderr
  std::string not_started_;  // why there is no ssh
  bool answered_ = false;    // the first host said something
  bool failed_ = false;      // and it was that it cannot take part
  bool closed_ = false;
  Instant deadline_;  // for the first answer
  std::vector<RemoteHost> unreached_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_HOST_CONNECTION_H_
