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
#include "base/net/tls_stream.h"
#include "trainer_sdk/network/mesh.h"
#include "trainer_sdk/process_group/signature.h"

namespace muster {

// The type of a frame. A connection carries a sequence of frames; a frame is a
// header followed by `bytes` bytes of data.
enum class FrameType : uint8_t {
  kPart,      // part of a collective's data
  kAnnounce,  // announces that the sender has begun a collective; no data
  kMessage,   // point-to-point message
  kGoodbye,   // announces that the sender leaves without an error; no data
};

struct FrameHeader {
  FrameType type = FrameType::kPart;
  // signature of the collective; not used for kMessage
  OperationSignature signature;
  MessageLabel label;  // label of a kMessage; not used for other types
  int64_t bytes = 0;
};

inline constexpr int kFrameHeaderBytes = 64;
using EncodedFrameHeader = std::array<char, kFrameHeaderBytes>;

// Encodes a frame header as it is sent: little-endian, at fixed offsets,
// without padding.
EncodedFrameHeader EncodeFrameHeader(const FrameHeader& header);

// Decodes kFrameHeaderBytes bytes. InvalidArgument: the bytes are not a valid
// header, so the sender is not a rank of this transport.
absl::StatusOr<FrameHeader> DecodeFrameHeader(const char* bytes);

// The place to which the data of an arriving frame must be written.
struct FramePlace {
  enum class Kind {
    kThere,   // write the data to FramePlace::data
    kNotYet,  // no receive matches yet: stop reading until one is posted
  };
  Kind kind = Kind::kNotYet;
  void* data = nullptr;
};

// The object to which a FrameConnection passes arriving frames.
class FrameSink {
 public:
  virtual ~FrameSink() = default;
  // Returns the destination for the data of the frame with the header `header`.
  // kNotYet: there is no destination yet, and the connection asks again later.
  // An error breaks all connections of the group.
  virtual absl::StatusOr<FramePlace> Place(int peer,
                                           const FrameHeader& header) = 0;
  // Called when all data of the frame has been written to its destination.
  virtual void Placed(int peer, const FrameHeader& header) = 0;
};

// Sends and receives frames to and from one peer over a connected socket. Never
// blocks. Not thread-safe.
class FrameConnection {
 public:
  // `socket` must be connected; it may be in blocking or non-blocking mode.
  FrameConnection(int peer, StreamSocket socket);

  // Queues a frame, and sends as much of the queue as the socket accepts.
  // `data` is not copied and must not change until outgoing() is 0.
  void Send(const FrameHeader& header, const void* data);

  // Sends as much of the queue as the socket accepts. Returns whether any bytes
  // were sent.
  bool Write();

  // Reads the data that is available and passes it to `sink`. Returns whether
  // any data was available.
  absl::StatusOr<bool> Read(FrameSink& sink);

  int fd() const { return socket_.fd.get(); }
  // The number of bytes that are queued and not yet sent.
  int64_t outgoing() const { return outgoing_bytes_; }
  // Whether reading is paused because no receive matches the next frame yet.
  bool held() const { return held_; }
  bool ended() const { return ended_; }  // whether the connection has ended
  // Whether the peer has announced (kGoodbye) that it leaves without an error.
  bool left() const { return left_; }
  // Why the connection ended, if the peer did not announce the end by kGoodbye.
  const std::string& why() const { return why_; }
  // Whether queued frames were discarded because the peer no longer accepts
  // data.
  bool lost_frames() const { return lost_frames_; }
  // The header of the frame that is arriving; nullopt: none.
  const std::optional<FrameHeader>& arriving() const { return arriving_; }
  // The number of bytes of the arriving frame's data that have been written to
  // their destination.
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
  // number of bytes of the first queued frame, header included, that have been
  // sent
  int64_t sent_of_first_ = 0;
  int64_t outgoing_bytes_ = 0;
  bool lost_frames_ = false;

  // Bytes that were read but not passed to the sink yet: those in
  // [staged_begin_, staged_end_).
  std::vector<char> staged_;
  size_t staged_begin_ = 0;
  size_t staged_end_ = 0;
  std::optional<FrameHeader> arriving_;
  // the address to which the data of the arriving frame is written; nullopt:
  // the FrameSink has not given an address yet
  std::optional<char*> destination_;
  int64_t placed_bytes_ = 0;
  bool held_ = false;
  bool ended_ = false;
  bool left_ = false;
  std::string why_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TCP_FRAME_CONNECTION_H_
