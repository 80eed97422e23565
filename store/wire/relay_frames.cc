#include "store/wire/relay_frames.h"

#include "absl/strings/str_cat.h"
#include "base/little_endian.h"

namespace muster::store {
namespace {

constexpr size_t kHeaderBytes = 9;

}  // namespace

void AppendRelayFrame(const RelayFrame& frame, std::string* out) {
  AppendInteger(frame.channel, out);
  AppendInteger(static_cast<uint8_t>(frame.kind), out);
  AppendInteger(static_cast<uint32_t>(frame.bytes.size()), out);
  out->append(frame.bytes);
}

absl::StatusOr<size_t> ParseRelayFrame(std::string_view buffer,
                                       size_t max_bytes, RelayFrame* frame) {
  if (buffer.size() < kHeaderBytes) return 0;
  const auto kind = static_cast<uint8_t>(buffer[4]);
  if (kind > static_cast<uint8_t>(RelayFrameKind::kGone)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a relay's frame of kind ", static_cast<int>(kind)));
  }
  const size_t size = ReadInteger<uint32_t>(buffer.substr(5));
  if (size > max_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "a relay's frame of ", size, " bytes; at most ", max_bytes));
  }
  if (buffer.size() - kHeaderBytes < size) return 0;
  frame->channel = ReadInteger<uint32_t>(buffer);
  frame->kind = static_cast<RelayFrameKind>(kind);
  frame->bytes = buffer.substr(kHeaderBytes, size);
  return kHeaderBytes + size;
}

}  // namespace muster::store
