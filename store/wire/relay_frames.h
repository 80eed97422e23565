#ifndef MUSTER_STORE_WIRE_RELAY_FRAMES_H_
#define MUSTER_STORE_WIRE_RELAY_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster {

// Our extension of the protocol: after VALIDATE, a relay sends RELAY with this
// version, the server answers with the same number, and from then on both sides
// send frames. A frame belongs to a channel, and each channel is a client of
// its own: what one waits for does not keep the others.
inline constexpr uint32_t kRelayVersion = 1;

// The most channels of one connection.
inline constexpr size_t kMaxRelayChannels = size_t{64} << 10;

enum class RelayFrameKind : uint8_t {
  // To the server: one whole request in the modern framing. To the relay: the
  // reply, or a piece of what is told later (WATCH_KEY).
  kMessage = 0,
  // To the relay: as kMessage, to a WAIT that one element of a queue ended. If
  // several clients wait behind this channel, one of them may have it.
  kMessageForOne = 1,
  // The channel's client is gone; to the relay: because it broke a rule, and
  // the bytes say which. A number is free again then.
  kGone = 2,
};

struct RelayFrame {
  uint32_t channel = 0;
  RelayFrameKind kind = RelayFrameKind::kMessage;
  std::string_view bytes;
};

// On the wire: u32 channel, u8 kind, u32 length, bytes.
void AppendRelayFrame(const RelayFrame& frame, std::string* out);

// The frame at the front of `buffer`: its length, or 0 while it is incomplete.
//   InvalidArgument    no frame; the connection is of no use
//   ResourceExhausted  more than `max_bytes` in one frame
absl::StatusOr<size_t> ParseRelayFrame(std::string_view buffer,
                                       size_t max_bytes, RelayFrame* frame);

}  // namespace muster

#endif  // MUSTER_STORE_WIRE_RELAY_FRAMES_H_
