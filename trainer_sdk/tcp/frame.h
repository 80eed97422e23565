#ifndef MUSTER_TRAINER_SDK_TCP_FRAME_H_
#define MUSTER_TRAINER_SDK_TCP_FRAME_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "trainer_sdk/network/mesh.h"
#include "trainer_sdk/process_group/signature.h"

namespace muster {

// What goes over a connection: a header, then `bytes` of data.
enum class FrameType : uint8_t {
  kPart,      // a part of a collective
  kAnnounce,  // that a collective has begun; no data
  kMessage,   // point to point
  kGoodbye,   // the rank leaves in peace; no data
};

struct FrameHeader {
  FrameType type = FrameType::kPart;
  OperationSignature signature;  // of the collective; kMessage: unused
  MessageLabel label;            // kMessage only
  int64_t bytes = 0;
};

inline constexpr int kFrameHeaderBytes = 64;
using EncodedFrameHeader = std::array<char, kFrameHeaderBytes>;

// Little-endian, fixed places, no padding sent.
EncodedFrameHeader EncodeFrameHeader(const FrameHeader& header);

// InvalidArgument where the bytes are no header: not from a peer of ours.
absl::StatusOr<FrameHeader> DecodeFrameHeader(const char* bytes);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_TCP_FRAME_H_
