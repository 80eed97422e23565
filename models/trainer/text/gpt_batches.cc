#include "models/trainer/text/gpt_batches.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "trainer_sdk/data/random_windows.h"
#include "trainer_sdk/rank_time/rank_time.h"

namespace muster::models {
namespace {

// Number that is XORed with the training's seed for validation, so that
// validation draws other windows of the text than training.
constexpr uint64_t kValidationSeed = 0x76616c6964617465;

}  // namespace

GptBatches::GptBatches(std::shared_ptr<const Tokens> tokens, uint64_t seed,
                       int64_t batch, int64_t context)
    : tokens_(std::move(tokens)),
      seed_(seed),
      batch_(batch),
      context_(context),
      held_back_(tokens_->count() / 10 * 9 + tokens_->count() % 10 * 9 / 10) {}

absl::Status GptBatches::Check() const {
  const int64_t length = tokens_->count();
  // A window needs context + 1 tokens, because the target of its last token is
  // the token after it. So a validation part with fewer tokens is an error. The
  // training part is longer, so it needs no check.
  if (length - held_back_ < context_ + 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a text of ", length, " tokens: its last tenth, for validation, has ",
        "no window of ", context_));
  }
  return absl::OkStatus();
}

absl::StatusOr<GptMicroBatch> GptBatches::Training(int64_t step,
                                                   int64_t micro_batch) const {
  return Draw(seed_, step, micro_batch, 0, held_back_);
}

absl::StatusOr<GptMicroBatch> GptBatches::Validation(
    int64_t micro_batch) const {
  return Draw(seed_ ^ kValidationSeed, 0, micro_batch, held_back_,
              tokens_->count());
}

absl::StatusOr<GptMicroBatch> GptBatches::Draw(uint64_t seed, int64_t step,
                                               int64_t micro_batch,
                                               int64_t begin,
                                               int64_t end) const {
  // Reading the text may wait for a disk or a network file system.
  const DataWait wait;
  GptMicroBatch drawn;
  std::vector<int32_t> window(static_cast<size_t>(context_ + 1));
  for (const int64_t at :
       DrawWindows({seed, step, micro_batch}, batch_, end - begin - context_)) {
    if (absl::Status status = tokens_->Read(begin + at, window); !status.ok()) {
      return status;
    }
    drawn.tokens.insert(drawn.tokens.end(), window.begin(), window.end() - 1);
    drawn.targets.insert(drawn.targets.end(), window.begin() + 1, window.end());
  }
  return drawn;
}

}  // namespace muster::models
