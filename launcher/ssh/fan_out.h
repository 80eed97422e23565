#ifndef MUSTER_LAUNCHER_SSH_FAN_OUT_H_
#define MUSTER_LAUNCHER_SSH_FAN_OUT_H_

#include <poll.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "launcher/ssh/host_connection.h"
#include "launcher/ssh/messages.h"

namespace muster::launcher {

// How often each end of a connection hears of the other.
inline constexpr Duration kStillThereEvery = std::chrono::seconds(30);

// All connections of one machine to the hosts that it starts: at most the
// job's fan-out, each with the hosts behind it. Where a host is not reached,
// the next of its group takes its place.
//
// Not thread-safe; never blocks.
class FanOut {
 public:
  // Starts the connections. `job.hosts` are those to reach.
  FanOut(BeNode job, Instant now);

  void AppendPolls(Intake intake, std::vector<pollfd>& polls) const;
  std::vector<UpMessage> Serve(Instant now, Intake intake);
  // To the host that it names, or to all.
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
