#ifndef MUSTER_AGENT_GUARDIAN_GUARDIAN_LINE_H_
#define MUSTER_AGENT_GUARDIAN_GUARDIAN_LINE_H_

#include <string>
#include <vector>

#include "agent/guardian/frame_channel.h"
#include "agent/guardian/wire.h"
#include "base/owned_fd.h"

namespace muster::agent {

// The agent's end of its connection to the guardian. It sends whole commands
// and receives whole notices. Not thread-safe.
class GuardianLine {
 public:
  explicit GuardianLine(OwnedFd socket)
      : channel_(std::move(socket), kMaxMessageBytes) {}

  int fd() const { return channel_.fd(); }

  // Sends an encoded command with the descriptors that belong to it. Notices
  // that arrive meanwhile are kept for Receive: see has_unread. Returns false
  // if the guardian is gone or has not read the command within ten seconds; the
  // connection is unusable then.
  bool Send(const std::string& command, std::vector<int> descriptors);

  // Whether Send has read notices that Receive has not returned yet. poll()
  // on fd() does not report them.
  bool has_unread() const { return has_unread_; }

  // Appends all notices that have arrived. Returns false if the guardian is
  // gone or a notice is malformed.
  bool Receive(std::vector<Notice>* notices);

  // Closes the sending side, and waits at most five seconds until the guardian
  // closes its side, which it does after it has killed all workers.
  void Close();

 private:
  FrameChannel channel_;
  bool has_unread_ = false;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_GUARDIAN_LINE_H_
