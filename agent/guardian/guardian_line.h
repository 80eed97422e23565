#ifndef MUSTER_AGENT_GUARDIAN_GUARDIAN_LINE_H_
#define MUSTER_AGENT_GUARDIAN_GUARDIAN_LINE_H_

#include <string>
#include <vector>

#include "agent/guardian/frame_channel.h"
#include "agent/guardian/wire.h"
#include "base/owned_fd.h"

namespace muster::agent {

// The agent's end of its line to the guardian: whole commands out, whole
// notices in. Not thread-safe.
class GuardianLine {
 public:
  explicit GuardianLine(OwnedFd socket)
      : channel_(std::move(socket), kMostMessageBytes) {}

  int fd() const { return channel_.fd(); }

  // Sends an encoded command with the descriptors that belong to it. Notices
  // that come meanwhile are kept for Receive: see has_unread. False if the
  // guardian is gone or has not taken it within ten seconds; the line is of no
  // use then.
  bool Send(const std::string& command, std::vector<int> descriptors);

  // Notices have come that fd() no longer tells of.
  bool has_unread() const { return has_unread_; }

  // Adds all notices that have come. False: the guardian is gone, or speaks
  // nonsense.
  bool Receive(std::vector<Notice>* notices);

  // Ends the line, and waits at most five seconds until the guardian has ended
  // its own: it has killed everything by then.
  void BidFarewell();

 private:
  FrameChannel channel_;
  bool has_unread_ = false;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_GUARDIAN_LINE_H_
