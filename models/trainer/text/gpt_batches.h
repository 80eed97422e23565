#ifndef MUSTER_MODELS_TRAINER_TEXT_GPT_BATCHES_H_
#define MUSTER_MODELS_TRAINER_TEXT_GPT_BATCHES_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "models/gpt/gpt_stage.h"
#include "models/text/vocabulary.h"

namespace muster::models {

// Draws the micro-batches of a training: random windows of a text, new ones for
// each step. The text's last tenth is reserved for validation. The windows
// depend only on the seed, the step and the micro-batch's number in the step,
// not on the number of ranks or on restarts.
class GptBatches {
 public:
  // `context`: number of tokens in a window. `batch`: number of windows in a
  // micro-batch.
  GptBatches(std::shared_ptr<const Tokens> tokens, uint64_t seed, int64_t batch,
             int64_t context);

  // Returns InvalidArgument if the training part or the validation part has too
  // few tokens for a window.
  absl::Status Check() const;

  // Draws a training micro-batch. Steps and micro-batches count from 0. Errors
  // are those of Tokens::Read.
  absl::StatusOr<GptMicroBatch> Training(int64_t step,
                                         int64_t micro_batch) const;
  // Draws validation micro-batch number `micro_batch`. The same number always
  // gives the same windows (parts of the text).
  absl::StatusOr<GptMicroBatch> Validation(int64_t micro_batch) const;

 private:
  // Draws one micro-batch: random windows of the tokens with indices in [begin,
  // end). The windows depend only on the arguments.
  absl::StatusOr<GptMicroBatch> Draw(uint64_t seed, int64_t step,
                                     int64_t micro_batch, int64_t begin,
                                     int64_t end) const;

  const std::shared_ptr<const Tokens> tokens_;
  const uint64_t seed_;
  const int64_t batch_;
  const int64_t context_;
  // Index of the first token that is reserved for validation.
  const int64_t held_back_;
};

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_TEXT_GPT_BATCHES_H_
