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
// and, with a frame, file descriptors. Never blocks. Not thread-safe.
class FrameChannel {
 public:
  // `socket` must be non-blocking. A frame longer than `max_bytes` is refused
  // at both ends.
  FrameChannel(OwnedFd socket, size_t max_bytes);

  int fd() const { return socket_.get(); }

  // Queues a frame of at most `max_bytes`; Flush sends it. A frame with
  // `descriptors` may be queued only after all earlier frames were sent. The
  // caller keeps the descriptors open until the frame is sent.
  void Queue(const std::string& payload, std::vector<int> descriptors = {});

  // Sends as much as the socket accepts. Returns false if the peer has closed
  // the connection.
  bool Flush();
  size_t unsent() const { return out_.size() - out_sent_; }

  // Reads the data that has arrived. One call reads little more than one frame
  // of maximum length, and at most some tens of descriptors. Returns false in
  // two cases:
  // - The peer has closed the connection.
  // - Descriptors were lost, because this process has reached its limit of open
  //   files. The order of the remaining descriptors is then unreliable.
  //
  // Frames that arrived before the failure can still be taken.
  bool Fill();

  // The payload of the next complete frame; nullopt if none has arrived.
  // InvalidArgument: the frame's length exceeds `max_bytes`; the channel is
  // unusable then.
  absl::StatusOr<std::optional<std::string>> TakeFrame();

  // The next descriptor that has arrived; a closed OwnedFd if none has. All
  // descriptors of a frame have arrived when the frame is complete.
  OwnedFd TakeDescriptor();

 private:
  OwnedFd socket_;
  const size_t max_bytes_;
  std::string out_;
  size_t out_sent_ = 0;
  // descriptors of the first queued frame; they are sent together with the
  // first byte of `out_`, which contains the bytes of the queued frames
  std::vector<int> out_descriptors_;
  std::string in_;
  size_t in_taken_ = 0;
  std::deque<OwnedFd> in_descriptors_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_GUARDIAN_FRAME_CHANNEL_H_
