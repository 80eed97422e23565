#ifndef MUSTER_MODELS_TRAINER_TESTING_SMALL_TRAINING_H_
#define MUSTER_MODELS_TRAINER_TESTING_SMALL_TRAINING_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/testing/rounding.h"
#include "models/text/vocabulary.h"
#include "models/trainer/gpt_trainer.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/checkpoint/checkpoint_slice.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/process_group/transport.h"
#include "trainer_sdk/shared_memory/shared_memory_transport.h"

namespace muster::models {

// Options of a training for tests, which takes milliseconds.
inline GptTrainingOptions SmallTraining() {
  GptTrainingOptions options;
  options.model = {.vocabulary = 11,
                   .context = 8,
                   .layers = 2,
                   .heads = 2,
                   .width = 16,
                   .biases = GptConfig::Biases::kAll};
  options.batch = 2;
  options.micro_batches = 4;
  options.learning_rate = {.peak = 1e-2, .decay_until = 100};
  options.validation_batches = 3;
  return options;
}

// A text that a model can learn, because each token determines the next one.
inline std::shared_ptr<const Tokens> LearnableText() {
  std::vector<int32_t> tokens;
  tokens.reserve(500);
  for (int i = 0; i < 500; ++i) tokens.push_back(i * 3 % 11);
  return std::make_shared<TokensInMemory>(std::move(tokens));
}

// Upper bound of the number of successive roundings in a training step: those
// in the longest dot product, plus those in the sum of a gradient over the
// tokens and micro-batches.
inline double RoundingsOf(const GptTrainingOptions& options) {
  return static_cast<double>(4 * options.model.width +
                             options.batch * options.model.context +
                             options.micro_batches);
}

// Multiplies each float32 value of this rank's state (weights and moments) by 1
// + 2^-20 or 1 - 2^-20 at random (Disturbance). Called after a step.
// Collective.
inline absl::Status DisturbState(ResumableTrainer& trainer,
                                 Disturbance& disturb) {
  const auto state = trainer.State();
  if (!state.ok()) return state.status();
  for (const CheckpointSlice& slice : *state) {
    auto* const values = static_cast<float*>(slice.data);
    for (int64_t i = 0; i < slice.end - slice.begin; ++i) {
      values[i] = static_cast<float>(disturb(values[i]));
    }
  }
  return trainer.Restore(trainer.progress());
}

inline TransportFactory SharedMemory() {
  return [](const GroupPlace& place, Instant deadline) {
    return NewSharedMemoryTransport(place, {}, deadline);
  };
}

// A vocabulary with 11 characters, as many as the small model has tokens.
const CharVocabulary& Vocabulary11();

// Rank 0's results of a training that was resumed from a checkpoint.
struct ResumedTraining {
  std::vector<double> losses;
  // The options in which the resumed training differs from the saved training
  // (GptCheckpoints::other_options).
  std::string other_options;
};

// Performs one rank's part of a training: resumes from the newest checkpoint in
// the options' folder, trains to step `last` and saves a checkpoint there.
// Appends rank 0's results to `result`, which all ranks share. Calls `disturb`
// after each step unless it is null. Collective.
absl::Status GoOnTo(int64_t last, const GptTrainingOptions& options,
                    ResumableTrainer& trainer, ProcessGroup& group,
                    ResumedTraining* result, Disturbance* disturb = nullptr);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_TESTING_SMALL_TRAINING_H_
