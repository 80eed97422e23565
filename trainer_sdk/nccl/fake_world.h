#ifndef MUSTER_TRAINER_SDK_NCCL_FAKE_WORLD_H_
#define MUSTER_TRAINER_SDK_NCCL_FAKE_WORLD_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "trainer_sdk/process_group/dtype.h"

namespace muster {

enum class FakeCall {
  kAllReduce,
  kReduceScatter,
  kAllGather,
  kBroadcast,
  kReduce
};

// One rank's arguments of one collective.
struct FakePart {
  FakeCall call = FakeCall::kAllReduce;
  const void* in = nullptr;
  void* out = nullptr;
  int64_t count = 0;
  DType dtype = DType::kInt8;
  ReduceOp op = ReduceOp::kSum;
  int root = 0;
};

// The state that all ranks of one fake communicator share. As on a GPU, waits
// have no deadline. A wait ends when the peers arrive or when the rank's own
// communicator is aborted. Ranks that call different operations wait forever.
// Thread-safe.
class FakeWorld {
 public:
  explicit FakeWorld(int size) : size_(size) {}

  int size() const { return size_; }

  // Join adds a rank to the communicator; Complete returns whether all ranks
  // have joined.
  void Join();
  bool Complete() const;

  // Takes part in collective number `number`, and blocks until the collective
  // is complete or `aborted` is true. Each rank counts its own collectives.
  void Collect(uint64_t number, int rank, const FakePart& part,
               const std::atomic<bool>& aborted);
  void Send(int from, int to, const void* data, size_t bytes);
  void Receive(int from, int to, void* data, size_t bytes,
               const std::atomic<bool>& aborted);

  // Makes all waiting ranks check their `aborted` flags again.
  void Wake();

 private:
  struct Slot {
    std::vector<FakePart> parts;
    int arrived = 0;
    int left = 0;
    bool done = false;
  };
  void Compute(const std::vector<FakePart>& parts) const;

  const int size_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int joined_ = 0;
  std::map<uint64_t, Slot> slots_;
  std::map<std::pair<int, int>, std::deque<std::vector<char>>> mail_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_FAKE_WORLD_H_
