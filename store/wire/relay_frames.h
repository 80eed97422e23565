#ifndef MUSTER_STORE_WIRE_RELAY_FRAMES_H_
#define MUSTER_STORE_WIRE_RELAY_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace muster::store {

// Version of Muster's extension of PyTorch's store protocol. A relay connects
// to the server, sends VALIDATE, and then RELAY with this version; the server
// answers with the same number. After that, both sides send frames. Each frame
// belongs to a channel. The server treats each channel as a separate client, so
// a WAIT on one channel does not block the other channels.
inline constexpr uint32_t kRelayVersion = 1;

// The maximum number of channels of one connection.
inline constexpr size_t kMaxRelayChannels = size_t{64} << 10;

enum class RelayFrameKind : uint8_t {
  // To the server: one whole request in the modern framing. To the relay: the
  // reply, or a part of a later notification (WATCH_KEY).
  kMessage = 0,
  // To the relay: the reply to a WAIT that ended because of one element of a
  // queue. If several clients of the relay share this WAIT, the relay passes
  // the reply to only one of them.
  kMessageForOne = 1,
  // To the server: the channel's client has disconnected. To the relay: the
  // client has violated the protocol; the bytes are the reason. The channel
  // ends in both cases.
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
