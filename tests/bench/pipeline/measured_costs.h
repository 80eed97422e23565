#ifndef MUSTER_TESTS_BENCH_PIPELINE_MEASURED_COSTS_H_
#define MUSTER_TESTS_BENCH_PIPELINE_MEASURED_COSTS_H_

#include <vector>

#include "trainer_sdk/pipeline/schedule/simulator.h"

namespace muster {

// The duration of each stage's passes: the median over all passes of a kind,
// over all micro-batches and measured steps. One half of a whole backward pass
// is attributed to the input. Passes that no stage did and messages have the
// duration 0. Pure.
PipelineCosts MeasuredCosts(const std::vector<PipelineTimeline>& steps);

}  // namespace muster

#endif  // MUSTER_TESTS_BENCH_PIPELINE_MEASURED_COSTS_H_
