#ifndef MUSTER_TRAINER_SDK_BENCH_BENCH_H_
#define MUSTER_TRAINER_SDK_BENCH_BENCH_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "trainer_sdk/bench/bench_options.h"
#include "trainer_sdk/process_group/process_group.h"

namespace muster {

// Measures what `options` ask for in `group`, collectively, and has rank 0
// print it line by line. Internal: elements were wrong, after all is printed.
// ResourceExhausted: there is not enough memory. Else an operation's error.
absl::Status RunBench(ProcessGroup& group, const BenchOptions& options,
                      const std::function<void(const std::string&)>& print);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_BENCH_BENCH_H_
