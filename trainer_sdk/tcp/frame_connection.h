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
#include "base/net/stream_socket.h"
#include "trainer_sdk/network/mesh.h"
#include "trainer_sdk/process_group/signature.h"

namespace muster {

// The type of a frame. A connection carries frames; a frame is a header
// followed by `bytes` bytes of data.
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
  MessageLabel label;  // set for kMessage only
  int64_t bytes = 0;
};

inline constexpr int kFrameHeaderBytes = 64;
using EncodedFrameHeader = std::array<char, kFrameHeaderBytes>;

// The header as sent: little-endian, at fixed offsets, without padding.
EncodedFrameHeader EncodeFrameHeader(const FrameHeader& header);

// InvalidArgument: the bytes are no valid header, so the sender is no rank of
// this transport.
absl::StatusOr<FrameHeader> DecodeFrameHeader(const char* bytes);

// The destination of the data of an arriving frame.
struct FramePlace {
  enum class Kind {
    kThere,   // `data` points to the destination
    kNotYet,  // no receive matches yet: stop reading until one does
  };
  Kind kind = Kind::kNotYet;
  void* data = nullptr;
};

// The receiver of a connection's frames.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  // Returns the destination of a frame. Called again later for a frame that was
  // kNotYet. An error breaks the mesh.
  virtual absl::StatusOr<FramePlace> Place(int peer,
                                           const FrameHeader& header) = 0;
  // Reports that all data of the frame has arrived.
  virtual void Placed(int peer, const FrameHeader& header) = 0;
};

// Sends and receives frames to and from one peer over a connected socket. Never
// blocks. Not thread-safe.
class FrameConnection {
 public:
  // `socket` is connected, in blocking or non-blocking mode.
  FrameConnection(int peer, StreamSocket socket);

  // Queues a frame and sends as much as the socket takes. `data` is not copied
  // and must not change until outgoing() is 0.
  void Send(const FrameHeader& header, const void* data);

  // Sends as much of the queue as the socket takes. Returns whether it sent
  // any.
  bool Write();

  // Reads the available data and passes it to `sink`. Returns whether any data
  // was available.
  absl::StatusOr<bool> Read(FrameSink& sink);

  int fd() const { return socket_.fd.get(); }
  // The number of bytes that are queued and not sent.
  int64_t outgoing() const { return outgoing_bytes_; }
  // Whether reading is paused because the next frame has no receive yet.
  bool held() const { return held_; }
  // Whether the connection has ended. If left() is true, the peer said goodbye;
  // otherwise why() returns the reason.
  bool ended() const { return ended_; }
  bool left() const { return left_; }
  const std::string& why() const { return why_; }
  // Whether frames were not sent because the peer no longer accepts any.
  bool lost_frames() const { return lost_frames_; }
  // The frame that is arriving, and the number of its bytes that are in place.
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
  StreamSocket socket_;

  std::deque<Outgoing> queue_;
  // bytes sent of the first queued frame, including its header
  int64_t sent_of_first_ = 0;
  int64_t outgoing_bytes_ = 0;
  bool lost_frames_ = false;

  // bytes that are read but not passed to the sink: [begin, end)
  std::vector<char> staged_;
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
