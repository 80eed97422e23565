#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_EXCHANGE_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_EXCHANGE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/little_endian.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// Decodes a message that was encoded with AppendInteger<int64_t> and
// AppendString (base/little_endian.h). Reads beyond the end of the message
// return 0 or an empty string, and whole() becomes false.
class MessageReader {
 public:
  explicit MessageReader(std::string_view bytes) : bytes_(bytes) {}

  int64_t Number() {
    const std::string_view taken = Take(sizeof(int64_t));
    return taken.empty() ? 0 : ReadInteger<int64_t>(taken);
  }
  std::string_view Text() {
    const int64_t length = Number();
    return length == 0 ? std::string_view()
                       : Take(static_cast<uint64_t>(length));
  }
  // The largest number of items that the unread part of the message can contain
  // if each item has at least `least` bytes. Used to reject a message that
  // claims to have more items.
  int64_t Most(int64_t least) const {
    return static_cast<int64_t>(bytes_.size()) / least;
  }

  // Whether all reads so far were within the message.
  bool whole() const { return whole_; }
  bool at_end() const { return bytes_.empty(); }

 private:
  std::string_view Take(uint64_t size) {
    if (size > bytes_.size()) {
      whole_ = false;
      bytes_ = {};
      return {};
    }
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }

  std::string_view bytes_;
  bool whole_ = true;
};

// One rank's message to all others: a status, and bytes for the receivers.
struct RankMessage {
  absl::Status status;
  std::string bytes;
};

// Sends this rank's message to all ranks. Returns the messages of all ranks,
// indexed by rank. Collective and blocking. Errors are those of the group.
absl::StatusOr<std::vector<RankMessage>> Exchange(ProcessGroup& group,
                                                  const RankMessage& mine,
                                                  CallOptions options = {});

// The first error among the messages' statuses, prefixed with the number of the
// rank that sent it; OK if there is none.
absl::Status FirstFailureOf(const std::vector<RankMessage>& messages);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_EXCHANGE_H_
