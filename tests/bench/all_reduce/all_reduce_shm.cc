// Measures Muster's shared-memory all_reduce, with one process for each rank.
//
//   all_reduce_shm RANKS heap|private kept|written BYTES...
//
// heap: the data is in memory of the transport; private: in ordinary memory.
// kept: nothing writes the data between two calls. written: each rank writes
// its data before each call (`contents` of MeasureAllReduce, measure.h).

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/monotonic_clock.h"
#include "tests/bench/all_reduce/measure.h"
#include "trainer_sdk/shared_memory/shared_memory_transport.h"
#include "trainer_sdk/shared_memory/testing/forked_ranks.h"

namespace muster {
namespace {

absl::Status RunRank(const GroupPlace& place, const std::string& memory,
                     const std::string& contents,
                     const std::vector<int64_t>& sizes) {
  const Instant deadline = MonotonicNow() + std::chrono::minutes(5);
  absl::StatusOr<std::unique_ptr<Transport>> transport =
      NewSharedMemoryTransport(place, {}, deadline);
  if (!transport.ok()) return transport.status();
  OperationContext context;
  context.deadline = deadline;
  std::unique_ptr<TransportMemory> heap;
  std::vector<float> own;
  float* data;
  if (memory == "heap") {
    absl::StatusOr<std::unique_ptr<TransportMemory>> allocated =
        (*transport)->Allocate(Longest(sizes), context);
    if (!allocated.ok()) return allocated.status();
    heap = *std::move(allocated);
    data = static_cast<float*>(heap->data());
  } else {
    own.resize(Longest(sizes) / sizeof(float));
    data = own.data();
  }
  absl::Status failed;
  Operation operation;
  operation.kind = OperationKind::kAllReduce;
  operation.input = data;
  operation.output = data;
  MeasureAllReduce(place.rank, contents, data, sizes, [&](int64_t bytes) {
    ++context.sequence;
    operation.count = bytes / static_cast<int64_t>(sizeof(float));
    failed.Update((*transport)->Execute(operation, context));
  });
  return failed;
}

int Run(int argc, char** argv) {
  const int size = argc > 1 ? std::atoi(argv[1]) : 0;
  const std::string memory = argc > 2 ? argv[2] : "";
  const std::string contents = argc > 3 ? argv[3] : "";
  if (size < 1 || (memory != "heap" && memory != "private")) {
    std::fprintf(
        stderr,
        "usage: all_reduce_shm RANKS heap|private kept|written BYTES...\n");
    return 2;
  }
  const std::vector<int64_t> sizes = SizesOf(argc, argv, 4);
  ForkedRanks ranks(size, [&](const GroupPlace& place) {
    return RunRank(place, memory, contents, sizes);
  });
  int code = 0;
  for (const absl::Status& status :
       ranks.Wait(MonotonicNow() + std::chrono::minutes(6))) {
    if (status.ok()) continue;
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    code = 1;
  }
  return code;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) { return muster::Run(argc, argv); }
