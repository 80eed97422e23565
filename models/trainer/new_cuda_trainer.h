#ifndef MUSTER_MODELS_TRAINER_NEW_CUDA_TRAINER_H_
#define MUSTER_MODELS_TRAINER_NEW_CUDA_TRAINER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "models/text/vocabulary.h"
#include "models/trainer/gpt_trainer.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/session/session.h"

namespace muster::models {

// Makes a trainer on this rank's GPU that averages gradients over NCCL.
// Collective; `session` and `world` must outlive the trainer. Unavailable:
// there is no GPU; the message is CUDA's. Unimplemented: built without a CUDA
// toolkit. Other errors are those of CudaGptTrainer, ChooseDevice and the
// transport.
absl::StatusOr<std::unique_ptr<GptTrainer>> NewCudaTrainer(
    const GptTrainingOptions& options, std::shared_ptr<const Tokens> tokens,
    Session& session, ProcessGroup& world);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_NEW_CUDA_TRAINER_H_
