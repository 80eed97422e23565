#ifndef MUSTER_LAUNCHER_SSH_HOST_CONNECTION_H_
#define MUSTER_LAUNCHER_SSH_HOST_CONNECTION_H_

#include <poll.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "launcher/ssh/messages.h"
#include "launcher/ssh/piped_process.h"
#include "launcher/ssh/ssh_command.h"

namespace muster::launcher {

// Whether messages are read from the connections now. kPaused: no, because the
// console is full.
enum class Intake { kOpen, kPaused };

// The starting side of one ssh connection to a group of hosts. ssh connects to
// the first host, which starts the others. Serve returns exactly one final
// message for each host: HostFailed, HostLost or AgentEnded. There is one
// exception. If the first host cannot be reached, the other hosts get no final
// message, and TakeUnreached() returns them.
//
// Not thread-safe; never blocks.
class HostConnection {
 public:
  // Starts ssh with `environment`. `job.hosts` is the group of hosts.
  HostConnection(BeNode job, const std::string& ssh_program,
                 const std::vector<std::string>& environment, Instant now);

  void AppendPolls(Intake intake, std::vector<pollfd>& polls) const;
  // Returns the messages that are available now.
  std::vector<UpMessage> Serve(Instant now, Intake intake);

  // Queues a message; drops it if the connection is closed.
  void Send(const DownMessage& message);
  // Closes the sending direction of the connection once all queued messages are
  // written. The agents of the connection's hosts then leave the job.
  void HangUp();

  bool Has(uint32_t host) const { return open_.count(host) > 0; }
  bool closed() const { return closed_; }
  // Returns the other hosts of the group if the first host, which should have
  // started them, could not be reached. Serve returns no final message for
  // them.
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
  // numbers of the hosts for which Serve has not returned the final message
  // (HostFailed, HostLost or AgentEnded) yet
  std::set<uint32_t> open_;
  std::unique_ptr<PipedProcess> ssh_;
  FrameReader reader_{Greeting::kExpected};
  std::string down_;  // bytes to write to ssh's stdin
  // whether HangUp was called; if so, the sending direction is closed once all
  // queued bytes are written
  bool hang_up_ = false;
  std::string said_;  // the end of what ssh has printed on its stderr
  // why ssh could not be started; empty: it was started
  std::string not_started_;
  // whether the first of hosts_, to which ssh connects, has sent a message
  bool answered_ = false;
  // whether the first host has reported that its agent will not start
  // (HostFailed)
  bool failed_ = false;
  bool closed_ = false;
  Instant deadline_;  // time limit for the first message from the first host
  std::vector<RemoteHost> unreached_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_HOST_CONNECTION_H_
