#ifndef MUSTER_TESTS_BENCH_PIPELINE_MEASURED_COSTS_H_
#define MUSTER_TESTS_BENCH_PIPELINE_MEASURED_COSTS_H_

#include <vector>

#include "trainer_sdk/pipeline/schedule/simulator.h"

namespace muster {

// Returns the duration of each kind of pass of each stage, in nanoseconds: the
// median over all micro-batches of `steps`. If a backward pass is not split,
// half of its time counts as the gradient of the input, and the other half as
// the gradient of the weights. A pass that a stage never ran has the duration
// 0, as have messages. Pure.
PipelineCosts MeasuredCosts(const std::vector<PipelineTimeline>& steps);

}  // namespace muster

#endif  // MUSTER_TESTS_BENCH_PIPELINE_MEASURED_COSTS_H_
