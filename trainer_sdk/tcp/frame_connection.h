#ifndef MUSTER_TRAINER_SDK_TCP_FRAME_CONNECTION_H_
#define MUSTER_TRAINER_SDK_TCP_FRAME_CONNECTION_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "trainer_sdk/tcp/frame.h"

namespace muster {

// Where the data of an arriving frame goes.
struct FramePlace {
  enum class Kind {
    kThere,   // to `data`
    kNotYet,  // nobody wants it yet: nothing more is read before it
  };
  Kind kind = Kind::kNotYet;
  void* data = nullptr;
};

// Who takes the frames of a connection.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  // Asked again, later, for a frame that was kNotYet. An error ends the mesh.
  virtual absl::StatusOr<FramePlace> Place(int peer,
                                           const FrameHeader& header) = 0;
  // All its data is there.
  virtual void Placed(int peer, const FrameHeader& header) = 0;
};

// Frames to and from one peer over a connected socket, never waiting. One
// thread at a time.
class FrameConnection {
 public:
  // `socket` is connected; whether it blocks does not matter.
  FrameConnection(int peer, OwnedFd socket);

  // Queues a frame and sends what the socket takes. `data` is not copied and
  // stays as it is until outgoing() is 0.
  void Send(const FrameHeader& header, const void* data);

  // Sends what the socket takes; whether it took any.
  bool Write();

  // Reads what there is and gives it to `sink`; whether there was any.
  absl::StatusOr<bool> Read(FrameSink& sink);

  int fd() const { return socket_.get(); }
  // Bytes that are queued and not sent.
  int64_t outgoing() const { return outgoing_bytes_; }
  // Nobody wants the next frame yet.
  bool held() const { return held_; }
  // Nothing more comes. With the reason, unless the peer said goodbye.
  bool ended() const { return ended_; }
  bool left() const { return left_; }
  const std::string& why() const { return why_; }
  // Frames were not sent because the peer takes none any more.
  bool lost_frames() const { return lost_frames_; }
  // Of the frame that is arriving.
  const std::optional<FrameHeader>& arriving() const { return arriving_; }
  int64_t arrived() const { return placed_bytes_; }

 private:
  struct Outgoing {
    EncodedFrameHeader header;
    const char* data;
    int64_t bytes;
    FrameType type;
  };

  absl::StatusOr<bool> Consume(FrameSink& sink);
  void WriteFailed(int error);

  const int peer_;
  OwnedFd socket_;

  std::deque<Outgoing> queue_;
  int64_t sent_of_first_ = 0;  // header included
  int64_t outgoing_bytes_ = 0;
  bool lost_frames_ = false;

  std::vector<char> staged_;  // read and not yet given on: [begin, end)
  size_t staged_begin_ = 0;
  size_t staged_end_ = 0;
  std::optional<FrameHeader> arriving_;
  std::optional<char*> destination_;  // of `arriving_`, once it has one
  int64_t placed_bytes_ = 0;
  bool held_ = false;
  bool ended_ = false;
  bool left_ = false;
  std::string why_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TCP_FRAME_CONNECTION_H_
