// A fake of NCCL for tests, in which ranks are threads of one process. Data
// moves between the threads' streams (fake_stream.h) instead of GPUs. The fake
// aborts the process if a caller breaks the rules of non-blocking
// communicators. Compiled with FAKE_NCCL_2_14, the library lacks functions that
// are newer than NCCL 2.14.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "nccl/nccl_abi.h"
#include "trainer_sdk/nccl/fake_nccl_control.h"
#include "trainer_sdk/nccl/fake_stream.h"
#include "trainer_sdk/nccl/fake_world.h"

extern "C" muster::FakeNcclControl* FakeNccl();

namespace muster {
namespace {

constexpr nccl::NcclResult kSystemError = 2;

void Demand(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "fake NCCL: %s\n", what);
  std::abort();
}

struct Communicator {
  // The state shared by the communicators of all ranks of one group. For a
  // communicator made by a split, null until all ranks have called the split.
  std::shared_ptr<FakeWorld> world;
  int rank = 0;
  std::atomic<bool> aborted = false;
  // number of threads inside a call of this communicator; more than one is an
  // error
  std::atomic<int> inside = 0;
  std::atomic<int> polls_left = 0;
  std::atomic<int> failed = 0;
  bool finalized = false;
  uint64_t collectives = 0;
  uint64_t splits = 0;
  // The flag `all` of this communicator's last ncclCommSplit: whether all ranks
  // have called that split. Null: there was no split yet.
  std::shared_ptr<const bool> all_split;
};

// Marks that the calling thread is inside a call of a communicator, while this
// object lives. Detects concurrent calls.
class Entry {
 public:
  explicit Entry(nccl::NcclComm comm)
      : communicator_(*reinterpret_cast<std::shared_ptr<Communicator>*>(comm)) {
    Demand(++communicator_->inside == 1, "two threads in one communicator");
  }
  ~Entry() { --communicator_->inside; }
  Communicator* operator->() const { return communicator_.get(); }
  const std::shared_ptr<Communicator>& share() const { return communicator_; }

 private:
  const std::shared_ptr<Communicator> communicator_;
};

nccl::NcclComm NewHandle(std::shared_ptr<Communicator> communicator) {
  ++FakeNccl()->live_communicators;
  return reinterpret_cast<nccl::NcclComm>(
      new std::shared_ptr<Communicator>(std::move(communicator)));
}

void DeleteHandle(nccl::NcclComm comm) {
  --FakeNccl()->live_communicators;
  delete reinterpret_cast<std::shared_ptr<Communicator>*>(comm);
}

// The state that all fake communicators of the process share: the worlds by
// NCCL id, and the splits in progress.
struct Registry {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<FakeWorld>> worlds;
  int ids = 0;
  // One ncclCommSplit of one communicator, with the arguments of the ranks that
  // have called this split so far.
  struct Split {
    // new communicators, indexed by rank in the parent
    std::vector<std::shared_ptr<Communicator>> children;
    std::vector<std::pair<int, int>> color_and_key;
    int arrived = 0;
    std::shared_ptr<bool> all = std::make_shared<bool>(false);
  };
  std::map<std::pair<FakeWorld*, uint64_t>, Split> splits;
};
Registry& TheRegistry() {
  static auto* const registry = new Registry;
  return *registry;
}

// The calls that a thread has made since its ncclGroupStart.
struct Group {
  int depth = 0;
  std::vector<std::pair<nccl::CudaStream, std::function<void()>>> sends;
  std::vector<std::pair<nccl::CudaStream, std::function<void()>>> collectives;
  std::vector<std::pair<nccl::CudaStream, std::function<void()>>> receives;
  std::shared_ptr<Communicator> communicator;
};
thread_local Group group;

nccl::NcclResult Launch() {
  std::vector<std::function<void()>> all;
  nccl::CudaStream stream = nullptr;
  for (auto* calls : {&group.sends, &group.collectives, &group.receives}) {
    for (auto& [on, call] : *calls) {
      stream = on;
      all.push_back(std::move(call));
    }
    calls->clear();
  }
  if (all.empty()) return nccl::kNcclSuccess;
  FakeStream::Of(stream).Add([all = std::move(all)] {
    for (const auto& call : all) call();
  });
  const int polls = FakeNccl()->polls;
  group.communicator->polls_left = polls;
  return polls > 0 ? nccl::kNcclInProgress : nccl::kNcclSuccess;
}

DType TypeOf(int nccl_type) {
  switch (nccl_type) {
    case nccl::kNcclInt8:
      return DType::kInt8;
    case nccl::kNcclInt32:
      return DType::kInt32;
    case nccl::kNcclInt64:
      return DType::kInt64;
    case nccl::kNcclFloat16:
      return DType::kFloat16;
    case nccl::kNcclFloat32:
      return DType::kFloat32;
    case nccl::kNcclFloat64:
      return DType::kFloat64;
    case nccl::kNcclBFloat16:
      return DType::kBFloat16;
  }
  Demand(false, "an unknown type");
  return DType::kInt8;
}

ReduceOp OpOf(int nccl_op) {
  const ReduceOp ops[] = {ReduceOp::kSum, ReduceOp::kProd, ReduceOp::kMax,
                          ReduceOp::kMin, ReduceOp::kAvg};
  Demand(nccl_op >= 0 && nccl_op < 5, "an unknown reduction");
  return ops[nccl_op];
}

void CheckReady(const Entry& comm) {
  Demand(comm->polls_left == 0, "a call before the one before it was done");
  Demand(!comm->finalized, "a call after ncclCommFinalize");
}

nccl::NcclResult Collective(nccl::NcclComm handle, nccl::CudaStream stream,
                            const FakePart& part) {
  const Entry comm(handle);
  CheckReady(comm);
  const auto& share = comm.share();
  const uint64_t number = ++comm->collectives;
  group.communicator = share;
  group.collectives.emplace_back(stream, [share, number, part] {
    share->world->Collect(number, share->rank, part, share->aborted);
  });
  return group.depth > 0 ? nccl::kNcclSuccess : Launch();
}

#ifndef FAKE_NCCL_2_14
// Once all ranks of the parent have called ncclCommSplit, gives each new
// communicator the FakeWorld of its color.
void Complete(Registry::Split& split) {
  const int size = static_cast<int>(split.children.size());
  for (int r = 0; r < size; ++r) {
    if (split.children[r] == nullptr || split.children[r]->world != nullptr) {
      continue;
    }
    // members of one new communicator: (key, rank in the parent)
    std::vector<std::pair<int, int>> members;
    for (int s = 0; s < size; ++s) {
      if (split.color_and_key[s].first == split.color_and_key[r].first) {
        members.emplace_back(split.color_and_key[s].second, s);
      }
    }
    std::sort(members.begin(), members.end());
    auto world = std::make_shared<FakeWorld>(static_cast<int>(members.size()));
    for (size_t i = 0; i < members.size(); ++i) {
      world->Join();
      Communicator& child = *split.children[members[i].second];
      child.rank = static_cast<int>(i);
      child.world = world;
    }
  }
}

#endif

}  // namespace
}  // namespace muster

using namespace muster;

extern "C" {

nccl::NcclResult ncclGetVersion(int* version) {
  *version = FakeNccl()->version;
  return nccl::kNcclSuccess;
}

const char* ncclGetErrorString(nccl::NcclResult result) {
  return result == kSystemError ? "unhandled system error" : "fake error";
}
const char* ncclGetLastError(nccl::NcclComm) { return "the fake's last words"; }

nccl::NcclResult ncclGetUniqueId(nccl::NcclUniqueId* id) {
  std::memset(id->internal, 0, sizeof id->internal);
  Registry& registry = TheRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  std::snprintf(id->internal, sizeof id->internal, "fake id %d of %d",
                ++registry.ids, getpid());
  return FakeNccl()->unique_id_result;
}

nccl::NcclResult ncclCommInitRankConfig(nccl::NcclComm* comm, int size,
                                        nccl::NcclUniqueId id, int rank,
                                        nccl::NcclConfig* config) {
  Demand(config->magic == 0xcafebeef && config->size == 24 &&
             config->version == 21400 && config->blocking == 0,
         "a configuration that is none");
  auto communicator = std::make_shared<Communicator>();
  communicator->rank = rank;
  communicator->polls_left = FakeNccl()->polls.load();
  if (FakeNccl()->rank_that_fails_to_join == rank) {
    communicator->failed = kSystemError;
  }
  Registry& registry = TheRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  auto& world = registry.worlds[std::string(id.internal, sizeof id.internal)];
  if (world == nullptr) world = std::make_shared<FakeWorld>(size);
  Demand(world->size() == size && !world->Complete(), "an id used twice");
  if (communicator->failed == 0) world->Join();
  communicator->world = world;
  *comm = NewHandle(communicator);
  return nccl::kNcclInProgress;
}

nccl::NcclResult ncclCommGetAsyncError(nccl::NcclComm handle,
                                       nccl::NcclResult* state) {
  const Entry comm(handle);
  *state = nccl::kNcclSuccess;
  if (comm->failed != 0) {
    *state = comm->failed;
  } else if (FakeNccl()->async_error != 0) {
    *state = FakeNccl()->async_error;
  } else if (comm->polls_left > 0) {
    --comm->polls_left;
    *state = nccl::kNcclInProgress;
  } else {
    Registry& registry = TheRegistry();
    std::lock_guard<std::mutex> lock(registry.mutex);
    const bool splitting = comm->all_split != nullptr && !*comm->all_split;
    if (comm->world == nullptr || !comm->world->Complete() || splitting) {
      *state = nccl::kNcclInProgress;
    }
  }
  return nccl::kNcclSuccess;
}

nccl::NcclResult ncclCommFinalize(nccl::NcclComm handle) {
  const Entry comm(handle);
  comm->finalized = true;
  return nccl::kNcclSuccess;
}

nccl::NcclResult ncclCommDestroy(nccl::NcclComm handle) {
  {
    const Entry comm(handle);
    Demand(comm->finalized, "ncclCommDestroy before ncclCommFinalize");
  }
  ++FakeNccl()->destroyed;
  DeleteHandle(handle);
  return nccl::kNcclSuccess;
}

nccl::NcclResult ncclCommAbort(nccl::NcclComm handle) {
  {
    const Entry comm(handle);
    comm->aborted = true;
    std::shared_ptr<FakeWorld> world;
    {
      Registry& registry = TheRegistry();
      std::lock_guard<std::mutex> lock(registry.mutex);
      world = comm->world;
    }
    if (world != nullptr) world->Wake();
    while (FakeNccl()->abort_hangs) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  ++FakeNccl()->aborts;
  DeleteHandle(handle);
  return nccl::kNcclSuccess;
}

nccl::NcclResult ncclGroupStart() {
  ++group.depth;
  return nccl::kNcclSuccess;
}

nccl::NcclResult ncclGroupEnd() {
  Demand(group.depth > 0, "ncclGroupEnd without ncclGroupStart");
  return --group.depth > 0 ? nccl::kNcclSuccess : Launch();
}

nccl::NcclResult ncclAllReduce(const void* in, void* out, size_t count,
                               int dtype, int op, nccl::NcclComm comm,
                               nccl::CudaStream stream) {
  return Collective(comm, stream,
                    {FakeCall::kAllReduce, in, out, int64_t(count),
                     TypeOf(dtype), OpOf(op), 0});
}

nccl::NcclResult ncclReduceScatter(const void* in, void* out, size_t count,
                                   int dtype, int op, nccl::NcclComm comm,
                                   nccl::CudaStream stream) {
  return Collective(comm, stream,
                    {FakeCall::kReduceScatter, in, out, int64_t(count),
                     TypeOf(dtype), OpOf(op), 0});
}

nccl::NcclResult ncclAllGather(const void* in, void* out, size_t count,
                               int dtype, nccl::NcclComm comm,
                               nccl::CudaStream stream) {
  return Collective(comm, stream,
                    {FakeCall::kAllGather, in, out, int64_t(count),
                     TypeOf(dtype), ReduceOp::kSum, 0});
}

nccl::NcclResult ncclBroadcast(const void* in, void* out, size_t count,
                               int dtype, int root, nccl::NcclComm comm,
                               nccl::CudaStream stream) {
  return Collective(comm, stream,
                    {FakeCall::kBroadcast, in, out, int64_t(count),
                     TypeOf(dtype), ReduceOp::kSum, root});
}

nccl::NcclResult ncclReduce(const void* in, void* out, size_t count, int dtype,
                            int op, int root, nccl::NcclComm comm,
                            nccl::CudaStream stream) {
  return Collective(comm, stream,
                    {FakeCall::kReduce, in, out, int64_t(count), TypeOf(dtype),
                     OpOf(op), root});
}

nccl::NcclResult ncclSend(const void* data, size_t count, int dtype, int peer,
                          nccl::NcclComm handle, nccl::CudaStream stream) {
  const Entry comm(handle);
  CheckReady(comm);
  const auto& share = comm.share();
  const size_t bytes = count * SizeOf(TypeOf(dtype));
  group.communicator = share;
  group.sends.emplace_back(
      stream, [=] { share->world->Send(share->rank, peer, data, bytes); });
  return group.depth > 0 ? nccl::kNcclSuccess : Launch();
}

nccl::NcclResult ncclRecv(void* data, size_t count, int dtype, int peer,
                          nccl::NcclComm handle, nccl::CudaStream stream) {
  const Entry comm(handle);
  CheckReady(comm);
  const auto& share = comm.share();
  const size_t bytes = count * SizeOf(TypeOf(dtype));
  group.communicator = share;
  group.receives.emplace_back(stream, [=] {
    share->world->Receive(peer, share->rank, data, bytes, share->aborted);
  });
  return group.depth > 0 ? nccl::kNcclSuccess : Launch();
}

#ifndef FAKE_NCCL_2_14

nccl::NcclResult ncclCommSplit(nccl::NcclComm handle, int color, int key,
                               nccl::NcclComm* child,
                               nccl::NcclConfig* config) {
  const Entry comm(handle);
  CheckReady(comm);
  Demand(config->blocking == 0 && config->size == 24, "no configuration");
  ++FakeNccl()->splits;
  *child = nullptr;
  if (FakeNccl()->rank_that_fails_to_split == comm->rank) return kSystemError;
  Registry& registry = TheRegistry();
  std::lock_guard<std::mutex> lock(registry.mutex);
  auto& split = registry.splits[{comm->world.get(), ++comm->splits}];
  split.children.resize(comm->world->size());
  split.color_and_key.resize(comm->world->size());
  split.color_and_key[comm->rank] = {color, key};
  if (color != nccl::kNcclSplitNoColor) {
    auto communicator = std::make_shared<Communicator>();
    split.children[comm->rank] = communicator;
    *child = NewHandle(communicator);
  }
  comm->all_split = split.all;
  if (++split.arrived == comm->world->size()) {
    Complete(split);
    *split.all = true;
  }
  comm->polls_left = FakeNccl()->polls.load();
  return comm->polls_left > 0 || !*split.all ? nccl::kNcclInProgress
                                             : nccl::kNcclSuccess;
}

nccl::NcclResult ncclMemAlloc(void** memory, size_t bytes) {
  ++FakeNccl()->live_allocations;
  *memory = std::malloc(bytes);
  return nccl::kNcclSuccess;
}

nccl::NcclResult ncclMemFree(void* memory) {
  --FakeNccl()->live_allocations;
  std::free(memory);
  return nccl::kNcclSuccess;
}

nccl::NcclResult ncclCommRegister(nccl::NcclComm handle, void* memory, size_t,
                                  void** registration) {
  const Entry comm(handle);
  ++FakeNccl()->live_allocations;
  *registration = memory;
  return nccl::kNcclSuccess;
}

nccl::NcclResult ncclCommDeregister(nccl::NcclComm handle, void*) {
  const Entry comm(handle);
  --FakeNccl()->live_allocations;
  return nccl::kNcclSuccess;
}

#endif

}  // extern "C"
