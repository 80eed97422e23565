#ifndef MUSTER_TRAINER_SDK_EXAMPLES_GPT_TRAINING_COURSE_H_
#define MUSTER_TRAINER_SDK_EXAMPLES_GPT_TRAINING_COURSE_H_

#include <string>

#include "absl/status/status.h"
#include "trainer_sdk/examples/gpt/training_options.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// What decides the course of a training, a line for each option: "seed 1337".
// Also what ranks must have alike because they do it together. Pure.
std::string DescribeCourse(const GptTrainingOptions& options);

// What is not the same in two of them, "seed 1337, was 7; batch 12, was 8";
// empty: nothing. Pure.
std::string CourseDifference(const std::string& is, const std::string& was);

// Collective. FailedPrecondition, on every rank: some rank has another course
// than rank 0, which, and there in what.
absl::Status CheckSameCourse(ProcessGroup& world, const std::string& course);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_EXAMPLES_GPT_TRAINING_COURSE_H_
