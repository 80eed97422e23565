#include "tests/gpu/nccl_steps.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/nccl/unique_id.h"
#include "trainer_sdk/process_group/device_mesh.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/testing/collective_case.h"
#include "trainer_sdk/process_group/testing/prepared_operation.h"
#include "trainer_sdk/store/prefix_store.h"
#include "trainer_sdk/transports/new_transport.h"

namespace muster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

OperationContext Within(Duration timeout, uint64_t sequence) {
  return {.sequence = sequence, .deadline = MonotonicNow() + timeout};
}

RankUnderTest UnderTest(const NcclRank& rank, Transport* transport) {
  return {.transport = transport,
          .memory = rank.memory.get(),
          .rank = rank.session->rank(),
          .size = rank.session->world_size()};
}

absl::Status CheckMessages(RankUnderTest& test) {
  if (test.size == 1) return absl::OkStatus();
  std::vector<MessageCase> ring;
  for (int from = 0; from < test.size; ++from) {
    MessageCase message;
    message.from = from;
    message.to = (from + 1) % test.size;
    message.count = 1000 + from;
    message.seed = static_cast<uint64_t>(from);
    absl::Status sent = RunMessage(message, test);
    if (!sent.ok()) return sent;
    ring.push_back(message);
  }
  return RunBatch(ring, test);
}

absl::Status CheckOwnMemory(const NcclRank& rank, Transport& transport) {
  constexpr int64_t kCount = 1000;
  auto own = transport.Allocate(4 * kCount, Within(seconds(30), 0));
  if (!own.ok()) return own.status();
  std::vector<float> values(kCount, 1.0f);
  rank.memory->Write((*own)->data(), values.data(), 4 * kCount);
  absl::Status done = transport.Execute(
      AllReduce((*own)->data(), (*own)->data(), kCount, DType::kFloat32),
      Within(seconds(30), 0));
  rank.memory->Read(values.data(), (*own)->data(), 4 * kCount);
  const float expected = static_cast<float>(rank.session->world_size());
  if (done.ok() && values != std::vector<float>(kCount, expected)) {
    done = absl::DataLossError("wrong sums in the transport's own memory");
  }
  return done;
}

}  // namespace

GroupPlace NcclRank::PlaceIn(const std::string& group) const {
  return {.rank = session->rank(),
          .size = session->world_size(),
          .store = std::make_shared<PrefixStore>(group, session->store()),
          .name = group};
}

absl::StatusOr<std::unique_ptr<Transport>> NcclRank::World() const {
  NcclOptions mine = options;
  mine.unique_id = TakeWorldNcclId();
  if (session->rank() == 0) {
    std::printf("the world's NCCL id comes from %s\n",
                mine.unique_id.empty() ? "the store" : "the agent");
  }
  const Instant begin = MonotonicNow();
  auto transport =
      NewNcclTransport(PlaceIn("world"), mine, begin + seconds(60));
  if (transport.ok() && session->rank() == 0) {
    std::printf("joined in %.3f s\n", ToSeconds(MonotonicNow() - begin));
  }
  return transport;
}

absl::Status CheckCollectives(const NcclRank& rank) {
  auto world = rank.World();
  if (!world.ok()) return world.status();
  RankUnderTest test = UnderTest(rank, world->get());
  const std::vector<CollectiveCase> cases = EveryCase(test.size);
  for (const CollectiveCase& one : cases) {
    absl::Status run = RunCase(one, test);
    if (!run.ok()) return run;
  }
  absl::Status messages = CheckMessages(test);
  if (!messages.ok()) return messages;
  absl::Status memory = CheckOwnMemory(rank, **world);
  if (!memory.ok()) return memory;
  absl::Status barrier = (*world)->Execute(Barrier(), Within(seconds(30), 1));
  if (barrier.ok() && test.rank == 0) {
    std::printf("%zu collectives of %d ranks are right\n", cases.size(),
                test.size);
  }
  return barrier;
}

absl::Status CheckSplit(const NcclRank& rank) {
  auto world = rank.World();
  if (!world.ok()) return world.status();
  const int own = rank.session->rank();
  const int size = rank.session->world_size();
  const int color = own % 2;
  GroupPlace place = rank.PlaceIn(absl::StrCat("parity", color));
  place.size = (size + 1 - color) / 2;
  place.rank = place.size - 1 - own / 2;
  auto part = SplitNcclTransport(**world, color, -own, place,
                                 MonotonicNow() + seconds(60));
  if (!part.ok()) return part.status();
  const std::shared_ptr<void> data = rank.memory->Allocate(8);
  int64_t value = own;
  rank.memory->Write(data.get(), &value, 8);
  absl::Status done =
      (*part)->Execute(AllReduce(data.get(), data.get(), 1, DType::kInt64),
                       Within(seconds(30), 1));
  rank.memory->Read(&value, data.get(), 8);
  int64_t expected = 0;
  for (int r = color; r < size; r += 2) expected += r;
  if (done.ok() && value != expected) {
    done = absl::DataLossError(absl::StrCat("the ranks of a part sum up to ",
                                            value, ", not ", expected));
  }
  return done;
}

absl::Status CheckMeshGroups(const NcclRank& rank) {
  const int size = rank.session->world_size();
  auto world = NewProcessGroup(rank.PlaceIn("mesh"), TransportChoice::kNccl);
  if (!world.ok()) return world.status();
  const int columns = size % 2 == 0 ? 2 : 1;
  auto mesh = DeviceMesh::Create(**world,
                                 {{"dp", size / columns}, {"tp", columns}}, {});
  if (!mesh.ok()) return mesh.status();
  const std::shared_ptr<void> data = rank.memory->Allocate(8);
  const int row = rank.session->rank() / columns;
  int64_t value = rank.session->rank();
  rank.memory->Write(data.get(), &value, 8);
  absl::Status done = (*mesh)->group("tp").Run(
      AllReduce(data.get(), data.get(), 1, DType::kInt64));
  rank.memory->Read(&value, data.get(), 8);
  const int64_t expected =
      columns * row * columns + columns * (columns - 1) / 2;
  if (done.ok() && value != expected) {
    done = absl::DataLossError(absl::StrCat("the ranks of row ", row,
                                            " of a mesh sum up to ", value,
                                            ", not ", expected));
  }
  if (done.ok()) done = (*mesh)->group("dp").Run(Barrier());
  return done;
}

absl::Status CheckReform(const NcclRank& rank) {
  // Ignore SIGTERM, which the agent sends to the other ranks once the last rank
  // is killed. The other ranks must live on and detect the failure in NCCL by
  // themselves.
  signal(SIGTERM, SIG_IGN);
  auto world = rank.World();
  if (!world.ok()) return world.status();
  absl::Status together = (*world)->Execute(Barrier(), Within(seconds(60), 1));
  if (!together.ok()) return together;
  if (rank.session->restart_count() > 0) {
    if (rank.session->rank() == 0) std::printf("formed again\n");
    return absl::OkStatus();
  }
  if (rank.session->rank() == rank.session->world_size() - 1) {
    std::fflush(stdout);
    raise(SIGKILL);
  }
  const Instant begin = MonotonicNow();
  const absl::Status broken =
      (*world)->Execute(Barrier(), Within(seconds(60), 2));
  world->reset();
  std::printf("rank %d: free %.3f s after the barrier began: %s\n",
              rank.session->rank(), ToSeconds(MonotonicNow() - begin),
              broken.ToString().c_str());
  return broken.ok() ? absl::InternalError("a dead rank came to a barrier")
                     : broken;
}

absl::Status RunWithSlowRank(const NcclRank& rank) {
  constexpr int kSteps = 1600;
  constexpr int64_t kCount = 1 << 18;
  auto world = rank.World();
  if (!world.ok()) return world.status();
  const bool is_slow = rank.session->rank() == rank.session->world_size() - 1;
  const std::shared_ptr<void> data = rank.memory->Allocate(4 * kCount);
  for (uint64_t step = 1; step <= kSteps; ++step) {
    const Instant until = MonotonicNow() + milliseconds(is_slow ? 25 : 5);
    while (MonotonicNow() < until) {
    }
    absl::Status done = (*world)->Execute(
        AllReduce(data.get(), data.get(), kCount, DType::kFloat32),
        Within(seconds(60), step));
    if (!done.ok()) return done;
    if (rank.memory->Synchronize() != 0) {
      return absl::UnavailableError("the GPU failed");
    }
  }
  return absl::OkStatus();
}

absl::Status MeasureAllReduce(const NcclRank& rank, int64_t max_bytes) {
  auto world = rank.World();
  if (!world.ok()) return world.status();
  const int size = rank.session->world_size();
  const std::shared_ptr<void> in = rank.memory->Allocate(max_bytes);
  const std::shared_ptr<void> out = rank.memory->Allocate(max_bytes);
  const bool speaks = rank.session->rank() == 0;
  if (speaks) {
    std::printf("# all_reduce, %d ranks\n%12s %12s %8s %6s %10s %10s %10s\n",
                size, "size(B)", "count", "type", "redop", "time(us)",
                "algbw(GB/s)", "busbw(GB/s)");
  }
  uint64_t sequence = 0;
  for (int64_t bytes = 4 << 10; bytes <= max_bytes; bytes *= 4) {
    const int rounds = bytes < 16 << 20 ? 50 : 10;
    Instant begin;
    for (int i = -5; i < rounds; ++i) {
      if (i == 0) {
        if (rank.memory->Synchronize() != 0) {
          return absl::UnavailableError("the GPU failed");
        }
        begin = MonotonicNow();
      }
      absl::Status done = (*world)->Execute(
          AllReduce(in.get(), out.get(), bytes / 4, DType::kFloat32),
          Within(seconds(60), ++sequence));
      if (!done.ok()) return done;
    }
    if (rank.memory->Synchronize() != 0) {
      return absl::UnavailableError("the GPU failed");
    }
    const double each = ToSeconds(MonotonicNow() - begin) / rounds;
    if (speaks) {
      const double algbw = static_cast<double>(bytes) / each / 1e9;
      std::printf("%12lld %12lld %8s %6s %10.1f %10.2f %10.2f\n",
                  static_cast<long long>(bytes),
                  static_cast<long long>(bytes / 4), "float32", "sum",
                  each * 1e6, algbw, algbw * 2 * (size - 1) / size);
    }
  }
  return absl::OkStatus();
}

}  // namespace muster
