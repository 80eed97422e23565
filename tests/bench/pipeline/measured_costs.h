#ifndef MUSTER_TESTS_BENCH_PIPELINE_MEASURED_COSTS_H_
#define MUSTER_TESTS_BENCH_PIPELINE_MEASURED_COSTS_H_

#include <vector>

#include "trainer_sdk/pipeline/schedule/simulator.h"

namespace muster {

// Returns the durations of each stage's passes: for each kind of pass the
// median over all micro-batches and measured steps. Half of an unsplit backward
// pass counts for the gradient of the input. Passes that no stage did, and
// messages, have the duration 0. Pure.
PipelineCosts MeasuredCosts(const std::vector<PipelineTimeline>& steps);

}  // namespace muster

#endif  // MUSTER_TESTS_BENCH_PIPELINE_MEASURED_COSTS_H_
