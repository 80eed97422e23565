#include "trainer_sdk/examples/gpt/gpt_batches.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/data/random_windows.h"

namespace muster {
namespace {

// Validation draws other windows than training with the same seed.
constexpr uint64_t kValidationSeed = 0x76616c6964617465;

}  // namespace

GptBatches::GptBatches(std::vector<int32_t> tokens, uint64_t seed,
                       int64_t batch, int64_t context)
    : tokens_(std::move(tokens)),
      seed_(seed),
      batch_(batch),
      context_(context),
      held_back_(static_cast<int64_t>(tokens_.size()) * 9 / 10) {}

absl::Status GptBatches::Check() const {
  const auto length = static_cast<int64_t>(tokens_.size());
  // Windows have a target behind their last token. The held back part is the
  // shorter one.
  if (length - held_back_ < context_ + 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a text of ", length, " tokens: its last tenth, for validation, has ",
        "no window of ", context_));
  }
  return absl::OkStatus();
}

GptMicroBatch GptBatches::Training(int64_t step, int64_t micro_batch) const {
  return Draw(seed_, step, micro_batch, 0, held_back_);
}

GptMicroBatch GptBatches::Validation(int64_t micro_batch) const {
  return Draw(seed_ ^ kValidationSeed, 0, micro_batch, held_back_,
              static_cast<int64_t>(tokens_.size()));
}

GptMicroBatch GptBatches::Draw(uint64_t seed, int64_t step, int64_t micro_batch,
                               int64_t begin, int64_t end) const {
  GptMicroBatch drawn;
  for (const int64_t at :
       DrawWindows({seed, step, micro_batch}, batch_, end - begin - context_)) {
    const auto first = tokens_.begin() + begin + at;
    drawn.tokens.insert(drawn.tokens.end(), first, first + context_);
    drawn.targets.insert(drawn.targets.end(), first + 1, first + 1 + context_);
  }
  return drawn;
}

}  // namespace muster
