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

// Decodes a message made with AppendInteger<int64_t> and AppendString
// (base/little_endian.h). Beyond the end, every value is 0 or empty, and
// whole() is false.
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
  // The largest possible number of remaining items of at least `least` bytes
  // each: a bound for a count that the message states.
  int64_t Most(int64_t least) const {
    return static_cast<int64_t>(bytes_.size()) / least;
  }

  // Whether everything that was read so far was in the message.
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

// A message of one rank to the others: whether it succeeded, and some bytes.
struct Word {
  absl::Status status;
  std::string bytes;
};

// Collective and blocking. Returns every rank's message, by rank. Errors are
// the group's.
absl::StatusOr<std::vector<Word>> Exchange(ProcessGroup& group,
                                           const Word& mine,
                                           CallOptions options = {});

// The first failure among the messages, prefixed with its rank; OK if there is
// none.
absl::Status FirstFailureOf(const std::vector<Word>& words);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_EXCHANGE_H_
