#ifndef MUSTER_TRAINER_SDK_TCP_FRAME_CONNECTION_H_
#define MUSTER_TRAINER_SDK_TCP_FRAME_CONNECTION_H_

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/owned_fd.h"
#include "trainer_sdk/network/mesh.h"
#include "trainer_sdk/process_group/signature.h"

namespace muster {

// A frame of a connection is a header followed by `bytes` of data. This is its
// type.
enum class FrameType : uint8_t {
  kPart,      // a part of a collective
  kAnnounce,  // a collective has begun; no data
  kMessage,   // a point-to-point message
  kGoodbye,   // the rank leaves without an error; no data
};

struct FrameHeader {
  FrameType type = FrameType::kPart;
  // signature of the collective; unused for kMessage
  OperationSignature signature;
  MessageLabel label;  // for kMessage only
  int64_t bytes = 0;
};

inline constexpr int kFrameHeaderBytes = 64;
using EncodedFrameHeader = std::array<char, kFrameHeaderBytes>;

// The header as sent: little-endian, at fixed offsets, without padding.
EncodedFrameHeader EncodeFrameHeader(const FrameHeader& header);

// InvalidArgument: the bytes are no valid header, so they do not come from a
// rank of this transport.
absl::StatusOr<FrameHeader> DecodeFrameHeader(const char* bytes);

// The destination of an arriving frame's data.
struct FramePlace {
  enum class Kind {
    kThere,   // `data`
    kNotYet,  // no receive matches yet: stop reading until one does
  };
  Kind kind = Kind::kNotYet;
  void* data = nullptr;
};

// The receiver of a connection's frames.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  // Called again later for a frame that was kNotYet. An error breaks the mesh.
  virtual absl::StatusOr<FramePlace> Place(int peer,
                                           const FrameHeader& header) = 0;
  // All data of the frame has arrived.
  virtual void Placed(int peer, const FrameHeader& header) = 0;
};

// Sends and receives frames to and from one peer over a connected socket. Never
// blocks. Not thread-safe.
class FrameConnection {
 public:
  // `socket` is connected, in blocking or non-blocking mode.
  FrameConnection(int peer, OwnedFd socket);

  // Queues a frame and sends as much as the socket takes. `data` is not copied
  // and must not change until outgoing() is 0.
  void Send(const FrameHeader& header, const void* data);

  // Sends as much of the queue as the socket takes. Returns whether it sent
  // any.
  bool Write();

  // Reads the available data and passes it to `sink`. Returns whether there was
  // any.
  absl::StatusOr<bool> Read(FrameSink& sink);

  int fd() const { return socket_.get(); }
  // The number of bytes that are queued and not sent.
  int64_t outgoing() const { return outgoing_bytes_; }
  // Whether reading is paused because the next frame has no receive yet.
  bool held() const { return held_; }
  // Whether the connection has ended. why() gives the reason, unless left():
  // the peer said goodbye.
  bool ended() const { return ended_; }
  bool left() const { return left_; }
  const std::string& why() const { return why_; }
  // Whether frames were not sent because the peer no longer accepts any.
  bool lost_frames() const { return lost_frames_; }
  // The frame that is arriving, and how many bytes of it are in place.
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
  int64_t sent_of_first_ = 0;  // in bytes, including the header
  int64_t outgoing_bytes_ = 0;
  bool lost_frames_ = false;

  std::vector<char> staged_;  // data read but not passed on yet: [begin, end)
  size_t staged_begin_ = 0;
  size_t staged_end_ = 0;
  std::optional<FrameHeader> arriving_;
  std::optional<char*> destination_;  // destination of `arriving_`, once known
  int64_t placed_bytes_ = 0;
  bool held_ = false;
  bool ended_ = false;
  bool left_ = false;
  std::string why_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TCP_FRAME_CONNECTION_H_
