#ifndef MUSTER_MODELS_TRAINER_TRAINING_COURSE_H_
#define MUSTER_MODELS_TRAINER_TRAINING_COURSE_H_

#include <string>

#include "absl/status/status.h"
#include "models/gpt/gpt_config.h"
#include "models/trainer/training_options.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// What decides the losses of a training, a line for each option: "seed 1337".
// A checkpoint tells it, so that whoever goes on with another one is told.
// Pure.
std::string DescribeCourse(const GptTrainingOptions& options);
// The lines of it without which a checkpoint cannot be read. Pure.
std::string DescribeModel(const GptConfig& model);
std::string DescribePrecision(const GptTrainingOptions& options);

// What ranks must have alike besides because they do it together, in lines of
// the same kind, though no loss depends on it. Pure.
std::string DescribeJointWork(const GptTrainingOptions& options);

// What is not the same in two of them: "batch 12, was 8; seed 1337, was 7";
// empty: nothing. What `is` has no line for is no matter. Pure.
std::string CourseDifference(const std::string& is, const std::string& was,
                             const char* between = ", was ");

// Collective. FailedPrecondition, on every rank: some rank has other lines than
// rank 0, which, and there in what.
absl::Status CheckSameCourse(ProcessGroup& world, const std::string& course);

}  // namespace muster

#endif  // MUSTER_MODELS_TRAINER_TRAINING_COURSE_H_
