#ifndef MUSTER_STORE_WIRE_RELAY_FRAMES_H_
#define MUSTER_STORE_WIRE_RELAY_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::store {

// Version of Muster's extension of the protocol. After VALIDATE, a relay sends
// RELAY with this version, and the server answers with the same number. Then
// both sides send frames. Each frame belongs to a channel. Each channel is a
// separate client, so the wait of one does not block the others.
inline constexpr uint32_t kRelayVersion = 1;

// The maximum number of channels of one connection.
inline constexpr size_t kMaxRelayChannels = size_t{64} << 10;

enum class RelayFrameKind : uint8_t {
  // To the server: one whole request in the modern framing. To the relay: the
  // reply, or a part of a later notification (WATCH_KEY).
  kMessage = 0,
  // To the relay: like kMessage, but the reply to a WAIT that ended because of
  // one element of a queue. If several clients wait on this channel, only one
  // may have the element.
  kMessageForOne = 1,
  // The channel's client has disconnected, and the channel's number can be
  // reused. From the server: the client has violated the protocol, and the
  // bytes are the reason.
  kGone = 2,
};

struct RelayFrame {
  uint32_t channel = 0;
  RelayFrameKind kind = RelayFrameKind::kMessage;
  std::string_view bytes;
};

// Appends the frame as on the wire: u32 channel, u8 kind, u32 length, bytes.
void AppendRelayFrame(const RelayFrame& frame, std::string* out);

// Parses the frame at the front of `buffer`. Returns its length, or 0 while it
// is incomplete.
//   InvalidArgument    not a frame; the connection must be closed
//   ResourceExhausted  the frame has more than `max_bytes`
absl::StatusOr<size_t> ParseRelayFrame(std::string_view buffer,
                                       size_t max_bytes, RelayFrame* frame);

}  // namespace muster::store

#endif  // MUSTER_STORE_WIRE_RELAY_FRAMES_H_
