#ifndef MUSTER_MODELS_TRAINER_HYPERPARAMETERS_H_
#define MUSTER_MODELS_TRAINER_HYPERPARAMETERS_H_

#include <string>

#include "absl/status/status.h"
#include "models/gpt/gpt_config.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster::models {

// Returns the options that determine the losses of a training, one per line:
// "seed 1337". The text is stored in checkpoints, so that a resumed training
// can report differences. Pure.
std::string DescribeHyperparameters(const GptTrainingOptions& options);
// Returns the lines of DescribeHyperparameters that describe the model. They
// must be equal for a training to resume from a checkpoint. Pure.
std::string DescribeModel(const GptConfig& model);
std::string DescribePrecision(const GptTrainingOptions& options);

// Returns the options that must be equal on all ranks, but are not in
// DescribeHyperparameters, because a training that resumes may change them. One
// per line: "steps 2000". Pure.
std::string DescribeJointWork(const GptTrainingOptions& options);

// Returns the differences between the texts `is` and `was`, two results of
// DescribeHyperparameters, such as "batch 12, was 8; seed 1337, was 7"; empty:
// none. Options that are missing in `is` are ignored. Pure.
std::string HyperparameterDifference(const std::string& is,
                                     const std::string& was,
                                     const char* between = ", was ");

// Compares the settings in `text`, one per line, on all ranks. Collective.
// FailedPrecondition on every rank: the lines of a rank differ from rank 0's;
// the message names the rank and the differences.
absl::Status CheckSameHyperparameters(ProcessGroup& world,
                                      const std::string& text);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_HYPERPARAMETERS_H_
