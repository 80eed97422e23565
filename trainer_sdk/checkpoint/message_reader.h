#ifndef MUSTER_TRAINER_SDK_CHECKPOINT_MESSAGE_READER_H_
#define MUSTER_TRAINER_SDK_CHECKPOINT_MESSAGE_READER_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/little_endian.h"

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

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_CHECKPOINT_MESSAGE_READER_H_
