#include "trainer_sdk/process_group/plain_memory.h"

#include <cstdlib>
#include <limits>

#include "absl/strings/str_cat.h"

namespace muster {
namespace {

class PlainMemory final : public TransportMemory {
 public:
  PlainMemory(int64_t bytes, void* block)
      : bytes_(bytes), block_(block, std::free) {}
  void* data() const override { return block_.get(); }
  int64_t bytes() const override { return bytes_; }

 private:
  const int64_t bytes_;
  const std::unique_ptr<void, decltype(&std::free)> block_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<TransportMemory>> NewPlainMemory(int64_t bytes) {
  // Rounded up to whole cache lines, so that no other data shares the last
  // line.
  void* const block = bytes > std::numeric_limits<int64_t>::max() - 64
                          ? nullptr
                          : std::aligned_alloc(64, (bytes + 64) / 64 * 64);
  if (block == nullptr) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for ", bytes, " bytes"));
  }
  return std::make_unique<PlainMemory>(bytes, block);
}

}  // namespace muster
