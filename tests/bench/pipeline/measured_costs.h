#ifndef MUSTER_TESTS_BENCH_PIPELINE_MEASURED_COSTS_H_
#define MUSTER_TESTS_BENCH_PIPELINE_MEASURED_COSTS_H_

#include <vector>

#include "trainer_sdk/pipeline/schedule/simulator.h"

namespace muster {

// Returns the durations of each stage's passes in nanoseconds. A duration is
// the median over all micro-batches and measured steps, for one kind of pass.
// If a backward pass is not split, half of its time counts as the gradient of
// the input, and the other half as the gradient of the weights. Passes that no
// stage ran, and messages, have the duration 0. Pure.
PipelineCosts MeasuredCosts(const std::vector<PipelineTimeline>& steps);

}  // namespace muster

#endif  // MUSTER_TESTS_BENCH_PIPELINE_MEASURED_COSTS_H_
