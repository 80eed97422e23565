// Measures asynchronous saves of a replicated state, with ranks that share
// memory. The script `run` in this folder starts it. Prints for each save of
// rank 0
//
//   BLOCKED_MS WRITTEN_MS COMPARED_MS
//
// BLOCKED_MS: the time for which Save blocked its caller. WRITTEN_MS: the time
// for which the background thread worked. COMPARED_MS: the part of BLOCKED_MS
// in which checksums of the replicas were computed and compared. See
// CheckpointTimes.
//
// usage: checkpoint_bench RANKS MIB SAVES FOLDER

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/checkpoint/checkpoint_writer.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/shared_memory/shared_memory_transport.h"
#include "trainer_sdk/shared_memory/testing/forked_ranks.h"

namespace muster {
namespace {

struct Arguments {
  int ranks = 0;
  int64_t bytes = 0;
  int saves = 0;
  std::string folder;
};

constexpr int kTensors = 64;
// Number of saves that are not measured. The first save takes longer, because
// it allocates and touches the memory of the snapshot.
constexpr int kWarmUp = 1;

double Milliseconds(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

absl::Status RunRank(const Arguments& arguments, const GroupPlace& place) {
  auto group =
      ProcessGroup::Create(place, [](GroupPlace of_group, Instant deadline) {
        return NewSharedMemoryTransport(std::move(of_group), {}, deadline);
      });
  if (!group.ok()) return group.status();
  auto writer =
      CheckpointWriter::Create(**group, {.directory = arguments.folder});
  if (!writer.ok()) return writer.status();
  // Every rank has the whole state, as with DDP.
  const int64_t count = arguments.bytes / kTensors / 4;
  std::vector<std::vector<float>> values(
      kTensors, std::vector<float>(static_cast<size_t>(count), 0.5f));
  std::vector<CheckpointSlice> slices;
  for (int i = 0; i < kTensors; ++i) {
    slices.push_back(WholeTensor(
        {absl::StrCat("t", i), {count}, values[static_cast<size_t>(i)]}));
  }
  for (int save = 0; save < kWarmUp + arguments.saves; ++save) {
    absl::Status status = (*group)->Run(Barrier());
    if (!status.ok()) return status;
    const CheckpointTimes before = (*writer)->times();
    status = (*writer)->Save(save, slices, "state");
    const Duration blocked = (*writer)->times().blocked - before.blocked;
    if (status.ok()) status = (*writer)->Wait();
    if (!status.ok()) return status;
    const CheckpointTimes after = (*writer)->times();
    if (place.rank > 0 || save < kWarmUp) continue;
    std::printf("%.3f %.3f %.3f\n", Milliseconds(blocked),
                Milliseconds(after.written - before.written),
                Milliseconds(after.compared - before.compared));
  }
  std::fflush(stdout);
  return absl::OkStatus();
}

int Run(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr, "usage: checkpoint_bench RANKS MIB SAVES FOLDER\n");
    return 2;
  }
  const Arguments arguments = {.ranks = std::atoi(argv[1]),
                               .bytes = std::atoll(argv[2]) << 20,
                               .saves = std::atoi(argv[3]),
                               .folder = argv[4]};
  const ForkedRanks ranks(arguments.ranks, [&](const GroupPlace& place) {
    return RunRank(arguments, place);
  });
  int code = 0;
  for (const absl::Status& status :
       ranks.Wait(MonotonicNow() + std::chrono::minutes(5))) {
    if (status.ok()) continue;
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    code = 1;
  }
  return code;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) { return muster::Run(argc, argv); }
