#include "trainer_sdk/nccl/fake_world.h"

#include <cstring>

#include "trainer_sdk/reduce/reduce.h"

namespace muster {

void FakeWorld::Join() {
  std::lock_guard<std::mutex> lock(mutex_);
  ++joined_;
}

bool FakeWorld::Complete() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return joined_ >= size_;
}

void FakeWorld::Wake() {
  std::lock_guard<std::mutex> lock(mutex_);
  changed_.notify_all();
}

void FakeWorld::Compute(const std::vector<FakePart>& parts) const {
  const FakePart& any = parts[0];
  const int64_t bytes = any.count * SizeOf(any.dtype);
  std::vector<const void*> inputs;
  for (const FakePart& part : parts) inputs.push_back(part.in);
  // Each case reads all inputs before it writes an output, because with
  // in-place buffers one rank's output may be an input.
  switch (any.call) {
    case FakeCall::kAllReduce:
    case FakeCall::kReduce: {
      std::vector<char> sum(bytes);
      void* const to[] = {sum.data()};
      Reduce(any.dtype, any.op, inputs.data(), size_, to, 1, any.count);
      for (int r = 0; r < size_; ++r) {
        if (any.call == FakeCall::kReduce && r != any.root) continue;
        std::memcpy(parts[r].out, sum.data(), bytes);
      }
      return;
    }
    case FakeCall::kReduceScatter: {
      std::vector<char> sum(bytes * size_);
      void* const to[] = {sum.data()};
      Reduce(any.dtype, any.op, inputs.data(), size_, to, 1, any.count * size_);
      for (int r = 0; r < size_; ++r) {
        std::memcpy(parts[r].out, sum.data() + r * bytes, bytes);
      }
      return;
    }
    case FakeCall::kAllGather: {
      std::vector<char> all(bytes * size_);
      for (int r = 0; r < size_; ++r) {
        std::memcpy(all.data() + r * bytes, parts[r].in, bytes);
      }
      for (const FakePart& part : parts) {
        std::memcpy(part.out, all.data(), all.size());
      }
      return;
    }
    case FakeCall::kBroadcast: {
      const char* const from = static_cast<const char*>(parts[any.root].in);
      const std::vector<char> all(from, from + bytes);
      for (const FakePart& part : parts) {
        std::memcpy(part.out, all.data(), bytes);
      }
      return;
    }
  }
}

void FakeWorld::Collect(uint64_t number, int rank, const FakePart& part,
                        const std::atomic<bool>& aborted) {
  std::unique_lock<std::mutex> lock(mutex_);
  Slot& slot = slots_[number];
  slot.parts.resize(size_);
  slot.parts[rank] = part;
  ++slot.arrived;
  if (slot.arrived == size_) {
    bool alike = true;
    for (const FakePart& other : slot.parts) {
      alike = alike && other.call == part.call && other.count == part.count &&
              other.dtype == part.dtype && other.op == part.op &&
              other.root == part.root;
    }
    if (alike) {
      Compute(slot.parts);
      slot.done = true;
      changed_.notify_all();
    }
  }
  changed_.wait(lock, [&] { return slot.done || aborted; });
  // If the collective is not done, this rank was aborted, and its buffers
  // become invalid. Another rank that completed the collective would use them.
  // So make `arrived` so small that the collective never becomes complete.
  if (!slot.done) slot.arrived -= 2 * size_;
  if (slot.done && ++slot.left == size_) slots_.erase(number);
}

void FakeWorld::Send(int from, int to, const void* data, size_t bytes) {
  const char* const begin = static_cast<const char*>(data);
  std::lock_guard<std::mutex> lock(mutex_);
  mail_[{from, to}].emplace_back(begin, begin + bytes);
  changed_.notify_all();
}

void FakeWorld::Receive(int from, int to, void* data, size_t bytes,
                        const std::atomic<bool>& aborted) {
  std::unique_lock<std::mutex> lock(mutex_);
  auto& box = mail_[{from, to}];
  // As in NCCL, a receive whose size differs from the size of the next message
  // waits until the communicator is aborted.
  changed_.wait(lock, [&] {
    return aborted || (!box.empty() && box.front().size() == bytes);
  });
  if (aborted) return;
  std::memcpy(data, box.front().data(), bytes);
  box.pop_front();
}

}  // namespace muster
