#ifndef MUSTER_AGENT_GUARDIAN_FRAME_CHANNEL_H_
#define MUSTER_AGENT_GUARDIAN_FRAME_CHANNEL_H_

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/owned_fd.h"

namespace muster::agent {

// One end of a Unix stream socket that carries frames (u32 length, payload)
// and, beside a frame, descriptors. Never blocks. Not thread-safe.
class FrameChannel {
 public:
  // `socket` is non-blocking. A frame longer than `max_bytes` is refused at
  // both ends.
  FrameChannel(OwnedFd socket, size_t max_bytes);

  int fd() const { return socket_.get(); }

  // Queues a frame; Flush sends it. `descriptors` stay the caller's, who keeps
  // them open until everything is flushed, and queues nothing else before. The
  // payload must fit in `max_bytes`.
  void Queue(const std::string& payload, std::vector<int> descriptors = {});

  // Sends what the socket takes. False: the peer is gone.
  bool Flush();
  size_t unsent() const { return out_.size() - out_sent_; }

  // Reads what has come, at most a little more than one longest frame, and at
  // most as much as brings some tens of descriptors. False:
  // the peer is gone, or descriptors were lost (this process's limit), after
  // which their order cannot be trusted. Frames that came before stay.
  bool Fill();

  // The next whole frame's payload, if one has come. InvalidArgument: a length
  // beyond `max_bytes`; the channel is of no use then.
  absl::StatusOr<std::optional<std::string>> TakeFrame();

  // The next descriptor that came. A frame's descriptors have come once the
  // frame has. Closed one where none has come.
  OwnedFd TakeDescriptor();

 private:
  OwnedFd socket_;
  const size_t max_bytes_;
  std::string out_;
  size_t out_sent_ = 0;
  std::vector<int> out_descriptors_;  // go with the first byte of `out_`
  std::string in_;
  size_t in_taken_ = 0;
  std::deque<OwnedFd> in_descriptors_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_FRAME_CHANNEL_H_
