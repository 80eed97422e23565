#ifndef MUSTER_LAUNCHER_SSH_FAN_OUT_H_
#define MUSTER_LAUNCHER_SSH_FAN_OUT_H_

#include <poll.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "launcher/ssh/host_connection.h"
#include "launcher/ssh/messages.h"

namespace muster::launcher {

// Interval at which both ends of an ssh connection send the keep-alive message
// StillThere.
inline constexpr Duration kStillThereEvery = std::chrono::seconds(30);

// The ssh connections from this machine: at most --ssh-fan-out at the
// beginning; Connect adds others. Each connection leads to a group of hosts:
// ssh starts `launch` on the first host of the group, which starts `launch` on
// the others. If the first host cannot be reached, the next host of the group
// takes its place.
//
// Not thread-safe; never blocks.
class FanOut {
 public:
  // Starts the connections to `job.hosts`.
  FanOut(BeNode job, Instant now);

  // Starts a connection to a further group of hosts: this machine connects to
  // the first of `hosts`, which starts `launch` on the others. Must not be
  // called for hosts that are connected already. Does nothing after HangUp.
  void Connect(std::vector<RemoteHost> hosts, Instant now);
  void AppendPolls(Intake intake, std::vector<pollfd>& polls) const;
  std::vector<UpMessage> Serve(Instant now, Intake intake);
  // Sends a message that contains a host's number to the connection that leads
  // to this host, and any other message to all connections.
  void Send(const DownMessage& message);
  void HangUp();

  bool closed() const;
  std::optional<Instant> NextDeadline() const;

 private:
  BeNode job_;
  const std::string ssh_program_;
  const std::vector<std::string> environment_;
  std::vector<std::unique_ptr<HostConnection>> connections_;
  bool hung_up_ = false;
  Instant next_word_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_FAN_OUT_H_
