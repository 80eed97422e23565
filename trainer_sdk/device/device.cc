#include "trainer_sdk/device/device.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <new>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "trainer_sdk/optim/gradient_norm.h"
#include "trainer_sdk/optim/square_sum.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/reduce/reduce.h"

namespace muster {
namespace {

// The number of elements converted at a time. A block of this size fits into
// the L1 cache.
constexpr int64_t kBlock = 2048;

const void* At(const TensorData& view, int64_t element) {
  return static_cast<const char*>(view.data) + element * SizeOf(view.dtype);
}

// Returns elements [begin, begin + count) of `view` as float32: their address
// in `view` if they are float32, else the address of `block` with converted
// copies.
const float* Floats(const TensorData& view, int64_t begin, int64_t count,
                    float* block) {
  if (view.dtype == DType::kFloat32) {
    return static_cast<const float*>(At(view, begin));
  }
  Widen(view.dtype, At(view, begin), block, count);
  return block;
}

class Host final : public Device {
 public:
  bool is_host() const override { return true; }

  absl::StatusOr<std::shared_ptr<void>> Allocate(int64_t bytes) override {
    void* const memory =
        ::operator new(static_cast<size_t>(bytes), std::nothrow);
    if (memory != nullptr) {
      return std::shared_ptr<void>(memory,
                                   [](void* data) { ::operator delete(data); });
    }
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for ", bytes, " bytes"));
  }

  void* handle(Stream) const override { return nullptr; }
  void WaitForOther(Stream) override {}

  void CopyIn(void* to, const void* from, int64_t bytes) override {
    Move(to, from, bytes);
  }
  void CopyOut(void* to, const void* from, int64_t bytes) override {
    Move(to, from, bytes);
  }
  void Copy(Stream, void* to, const void* from, int64_t bytes) override {
    Move(to, from, bytes);
  }
  void Zero(Stream, void* at, int64_t bytes) override {
    if (bytes > 0) std::memset(at, 0, static_cast<size_t>(bytes));
  }

  void Convert(Stream, const TensorData& from, const TensorData& to,
               DType precision) override {
    if (from.count == 0) return;
    if (from.dtype == to.dtype && precision == to.dtype) {
      Move(to.data, from.data, from.count * SizeOf(from.dtype));
    } else if (from.dtype != DType::kFloat32) {
      MUSTER_CHECK(to.dtype == DType::kFloat32)
          << Name(from.dtype) << " to " << Name(to.dtype);
      Widen(from.dtype, from.data, static_cast<float*>(to.data), from.count);
    } else if (to.dtype != DType::kFloat32) {
      Narrow(static_cast<const float*>(from.data), to.dtype, to.data,
             from.count);
    } else {
      Round(static_cast<const float*>(from.data), precision,
            static_cast<float*>(to.data), from.count);
    }
  }

  void AddSquares(const TensorData& values, int64_t* words) override {
    SquareSum sum;
    sum.Add(values);
    const SquareSum::Words added = sum.words();
    for (size_t i = 0; i < added.size(); ++i) words[i] += added[i];
  }

  absl::Status Update(const UpdateRule& rule, const OptimizerStep& step,
                      const WeightUpdate& update) override {
    const bool as_is =
        update.gradient.dtype == DType::kFloat32 && step.gradient_factor == 1;
    const int64_t most = as_is ? update.count : kBlock;
    std::vector<float*> states = update.states;
    std::array<float, kBlock> block;
    for (int64_t at = 0; at < update.count; at += most) {
      const int64_t count = std::min(most, update.count - at);
      const float* values = Floats(update.gradient, at, count, block.data());
      if (step.gradient_factor != 1) {
        if (values != block.data()) std::copy_n(values, count, block.data());
        Scale(block.data(), count, step.gradient_factor);
        values = block.data();
      }
      rule.Update(step, update.decay, count, update.weights + at, values,
                  states.data());
      for (float*& state : states) state += count;
    }
    if (update.values.data != nullptr) {
      Convert(Stream::kCompute, {update.weights, update.count, DType::kFloat32},
              update.values, update.precision);
    }
    return absl::OkStatus();
  }

  void Wait() override {}
  absl::Status status() override { return absl::OkStatus(); }

 private:
  static void Move(void* to, const void* from, int64_t bytes) {
    if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
  }

  static void Round(const float* from, DType precision, float* to,
                    int64_t count) {
    std::array<uint16_t, kBlock> block;
    for (int64_t at = 0; at < count; at += kBlock) {
      const int64_t size = std::min(kBlock, count - at);
      Narrow(from + at, precision, block.data(), size);
      Widen(precision, block.data(), to + at, size);
    }
  }
};

}  // namespace

Device& HostDevice() {
  static Host& host = *new Host;
  return host;
}

absl::Status RunFromHost(Device& device, ProcessGroup& group,
                         Operation operation) {
  if (device.is_host()) return group.Run(operation);
  MUSTER_CHECK(operation.counts.empty() &&
               (operation.kind == OperationKind::kAllReduce ||
                operation.kind == OperationKind::kBroadcast ||
                operation.kind == OperationKind::kAllGather))
      << Name(operation.kind) << " with buffers in host memory";
  const int64_t in = operation.count * SizeOf(operation.dtype);
  const int64_t out =
      operation.kind == OperationKind::kAllGather ? in * group.size() : in;
  Device::Exchange& exchange = device.exchange_;
  if (exchange.memory == nullptr || exchange.bytes < in + out) {
    // Free the buffer, which is too small, before a larger one is allocated. No
    // operation still uses it, because each call of RunFromHost waits for its
    // own work.
    exchange = {};
    auto memory = device.Allocate(in + out);
    if (!memory.ok()) return memory.status();
    exchange.memory = *std::move(memory);
    exchange.bytes = in + out;
  }
  auto* const there = static_cast<char*>(exchange.memory.get());
  device.CopyIn(there, operation.input, in);
  device.WaitForOther(Device::Stream::kCommunication);
  void* const to = operation.output;
  operation.pointee = std::nullopt;
  operation.input = there;
  operation.output = there + in;
  operation.stream = device.handle(Device::Stream::kCommunication);
  absl::Status status = group.Run(operation);
  device.WaitForOther(Device::Stream::kCompute);
  if (!status.ok()) {
    device.Wait();
    return status;
  }
  exchange.results.resize(static_cast<size_t>(out));
  device.CopyOut(exchange.results.data(), there + in, out);
  status = ConfirmIntact(device, group);
  if (status.ok() && out > 0) {
    std::memcpy(to, exchange.results.data(), exchange.results.size());
  }
  return status;
}

absl::Status ConfirmIntact(Device& device, ProcessGroup& group) {
  if (device.is_host()) return absl::OkStatus();
  device.Wait();
  absl::Status status = device.status();
  if (!status.ok()) return status;
  // An all_reduce of no data, which fails if the group is broken.
  Operation nothing =
      AllReduce(nullptr, nullptr, 0, DType::kFloat32, ReduceOp::kSum);
  nothing.stream = device.handle(Device::Stream::kCommunication);
  return group.Run(nothing);
}

}  // namespace muster
