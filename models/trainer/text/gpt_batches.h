#ifndef MUSTER_MODELS_TRAINER_TEXT_GPT_BATCHES_H_
#define MUSTER_MODELS_TRAINER_TEXT_GPT_BATCHES_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/gpt/gpt_stage.h"
#include "models/text/tokens.h"

namespace muster {

// The micro-batches of a training: windows of a text, drawn anew for each step,
// the text's last tenth held back for validation. Which windows depends on the
// seed, the step and the micro-batch's number in the step alone: not on how
// many ranks there are, nor on whether the training was begun again.
class GptBatches {
 public:
  // `batch` windows of `context` tokens make a micro-batch.
  GptBatches(std::shared_ptr<const Tokens> tokens, uint64_t seed, int64_t batch,
             int64_t context);

  // InvalidArgument: too few tokens for a window in either part.
  absl::Status Check() const;

  // Steps and micro-batches count from 0. Errors are Tokens::Read's.
  absl::StatusOr<GptMicroBatch> Training(int64_t step,
                                         int64_t micro_batch) const;
  // The same ones each time.
  absl::StatusOr<GptMicroBatch> Validation(int64_t micro_batch) const;

 private:
  // Of windows in tokens [begin, end).
  absl::StatusOr<GptMicroBatch> Draw(uint64_t seed, int64_t step,
                                     int64_t micro_batch, int64_t begin,
                                     int64_t end) const;

  const std::shared_ptr<const Tokens> tokens_;
  const uint64_t seed_;
  const int64_t batch_;
  const int64_t context_;
  // The first token that is for validation.
  const int64_t held_back_;
};

}  // namespace muster

#endif  // MUSTER_MODELS_TRAINER_TEXT_GPT_BATCHES_H_
