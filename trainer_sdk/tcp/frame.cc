#include "trainer_sdk/tcp/frame.h"

#include <bit>
#include <cstring>

namespace muster {
namespace {

static_assert(std::endian::native == std::endian::little,
              "headers and elements go over the wire as they are in memory");

constexpr uint32_t kMagic = 0x4d555446;  // "MUTF"

// The layout on the wire: every field at a multiple of its size.
struct Wire {
  uint32_t magic;
  uint8_t type;
  uint8_t kind;
  uint8_t dtype;
  uint8_t reduce_op;
  uint64_t sequence;
  int64_t count;
  uint64_t counts_hash;
  int64_t bytes;
  int32_t root;
  int32_t tag;
  uint64_t reserved[2];
};
static_assert(sizeof(Wire) == kFrameHeaderBytes);

}  // namespace

EncodedFrameHeader EncodeFrameHeader(const FrameHeader& header) {
  const bool message = header.type == FrameType::kMessage;
  Wire wire{};
  wire.magic = kMagic;
  wire.type = static_cast<uint8_t>(header.type);
  wire.kind = static_cast<uint8_t>(header.signature.kind);
  wire.dtype = static_cast<uint8_t>(message ? header.label.dtype
                                            : header.signature.dtype);
  wire.reduce_op = static_cast<uint8_t>(header.signature.reduce_op);
  wire.sequence = header.signature.sequence;
  wire.count = message ? header.label.count : header.signature.count;
  wire.counts_hash = header.signature.counts_hash;
  wire.bytes = header.bytes;
  wire.root = header.signature.root;
  wire.tag = header.label.tag;
  EncodedFrameHeader encoded;
  std::memcpy(encoded.data(), &wire, sizeof(wire));
  return encoded;
}

absl::StatusOr<FrameHeader> DecodeFrameHeader(const char* bytes) {
  Wire wire;
  std::memcpy(&wire, bytes, sizeof(wire));
  if (wire.magic != kMagic ||
      wire.type > static_cast<uint8_t>(FrameType::kGoodbye) ||
      wire.kind >= kSignatureKinds || wire.dtype >= kDTypes ||
      wire.reduce_op >= kReduceOps || wire.bytes < 0 || wire.count < 0) {
    return absl::InvalidArgumentError("what arrived is no frame");
  }
  FrameHeader header;
  header.type = static_cast<FrameType>(wire.type);
  header.bytes = wire.bytes;
  const bool has_data =
      header.type == FrameType::kPart || header.type == FrameType::kMessage;
  const int64_t element = SizeOf(static_cast<DType>(wire.dtype));
  if ((!has_data && wire.bytes != 0) ||
      (header.type == FrameType::kMessage &&
       (wire.bytes % element != 0 || wire.bytes / element != wire.count))) {
    return absl::InvalidArgumentError("a frame with a wrong length arrived");
  }
  if (header.type == FrameType::kMessage) {
    header.label =
        MessageLabel{wire.tag, static_cast<DType>(wire.dtype), wire.count};
    return header;
  }
  header.signature.kind = static_cast<OperationKind>(wire.kind);
  header.signature.dtype = static_cast<DType>(wire.dtype);
  header.signature.reduce_op = static_cast<ReduceOp>(wire.reduce_op);
  header.signature.sequence = wire.sequence;
  header.signature.count = wire.count;
  header.signature.counts_hash = wire.counts_hash;
  header.signature.root = wire.root;
  return header;
}

}  // namespace muster
