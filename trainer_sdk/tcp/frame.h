#ifndef MUSTER_TRAINER_SDK_TCP_FRAME_H_
#define MUSTER_TRAINER_SDK_TCP_FRAME_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
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

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TCP_FRAME_H_
