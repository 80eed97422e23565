#ifndef MUSTER_TRAINER_SDK_BENCH_BENCH_H_
#define MUSTER_TRAINER_SDK_BENCH_BENCH_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "trainer_sdk/bench/bench_options.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// Runs the measurements of `options` in `group`; rank 0 prints the results line
// by line. Collective: every rank must call it. Blocks. Internal: some results
// were wrong (returned after all results are printed). ResourceExhausted: not
// enough memory. Other errors are those of the group's operations.
absl::Status RunBench(ProcessGroup& group, const BenchOptions& options,
                      const std::function<void(const std::string&)>& print);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_BENCH_BENCH_H_
