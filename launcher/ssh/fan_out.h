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

// Interval at which each end of a connection sends StillThere.
inline constexpr Duration kStillThereEvery = std::chrono::seconds(30);

// The ssh connections of one machine to the hosts that it starts, at most
// --ssh-fan-out of them. Each connection leads to a group of hosts: its first
// host starts the others. If the first host of a group cannot be reached, the
// next one takes its place.
//
// Not thread-safe; never blocks.
class FanOut {
 public:
  // Starts the connections to `job.hosts`.
  FanOut(BeNode job, Instant now);

  void AppendPolls(Intake intake, std::vector<pollfd>& polls) const;
  std::vector<UpMessage> Serve(Instant now, Intake intake);
  // Sends the message to the host that it names, or to all hosts.
  void Send(const DownMessage& message);
  void HangUp();

  bool closed() const;
  std::optional<Instant> NextDeadline() const;

 private:
  void Connect(std::vector<RemoteHost> hosts, Instant now);

  BeNode job_;
  const std::string ssh_program_;
  const std::vector<std::string> environment_;
  std::vector<std::unique_ptr<HostConnection>> connections_;
  bool hung_up_ = false;
  Instant next_word_;
};

}  // namespace muster::launcher

#endif  // MUSTER_LAUNCHER_SSH_FAN_OUT_H_
