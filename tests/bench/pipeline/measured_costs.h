#ifndef MUSTER_TESTS_BENCH_PIPELINE_MEASURED_COSTS_H_
#define MUSTER_TESTS_BENCH_PIPELINE_MEASURED_COSTS_H_

#include <vector>

#include "trainer_sdk/pipeline/schedule/simulator.h"

namespace muster {

// What each stage's passes took in steps that were measured: the median over
// all of a kind, of all micro-batches and steps. Of a whole backward pass one
// half is called the input's part. A pass that no stage did takes no time, and
// so do messages. Pure.
PipelineCosts MeasuredCosts(const std::vector<PipelineTimeline>& steps);

}  // namespace muster

#endif  // MUSTER_TESTS_BENCH_PIPELINE_MEASURED_COSTS_H_
