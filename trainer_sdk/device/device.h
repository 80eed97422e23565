#ifndef MUSTER_TRAINER_SDK_DEVICE_DEVICE_H_
#define MUSTER_TRAINER_SDK_DEVICE_DEVICE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "trainer_sdk/optim/update_rule.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/tensor/tensor.h"

namespace muster {

// One update of `count` weights by an UpdateRule. All pointers are addresses on
// the device.
struct WeightUpdate {
  int64_t count = 0;
  WeightDecay decay = WeightDecay::kApplied;
  float* weights = nullptr;
  // The gradient: `count` elements of float32, bfloat16 or float16.
  TensorData gradient = {};
  // The arrays of the optimizer's state (such as momentum), in the order of
  // UpdateRule::states.
  std::vector<float*> states = {};
  // Receives the new weights, rounded to `precision`. The element type is
  // `precision` or float32. If the address is null, nothing is written.
  TensorData values = {};
  DType precision = DType::kFloat32;
};

// A host or a GPU. Its memory holds gradients, weights and optimizer state. Its
// methods do the arithmetic of Reducer and of the optimizers in this memory. To
// train on another kind of device, implement this interface and pass it in
// DdpOptions::device.
//
// A device has two streams. The caller enqueues forward and backward passes on
// kCompute; the reducer and the optimizers enqueue communication on
// kCommunication and arithmetic on either. A stream performs its work in order
// and asynchronously. An operation of a process group is enqueued on a stream
// by Operation::stream. Addresses are those of the device's memory unless a
// comment says "host". Element types are given by TensorData::dtype; a count of
// 0 is always allowed.
//
// Methods without a Stream use kCompute. Not thread-safe, except for the host.
class Device {
 public:
  enum class Stream { kCompute, kCommunication };

  virtual ~Device() = default;

  // Whether the device is the host: its memory is host memory, and all work is
  // done when a call returns.
  virtual bool is_host() const { return false; }

  // Allocates memory for `bytes` bytes, uninitialised and aligned for every
  // type. The caller must not free the memory before the work that uses the
  // memory is done. ResourceExhausted: not enough memory.
  virtual absl::StatusOr<std::shared_ptr<void>> Allocate(int64_t bytes) = 0;

  // The handle of a stream, to be passed as Operation::stream; null on the
  // host.
  virtual void* handle(Stream stream) const = 0;
  // Makes future work on `stream` wait for the work that is now on the device's
  // other stream.
  virtual void WaitForOther(Stream stream) = 0;

  // Copies from host memory to the device. The caller may change the host
  // memory as soon as this call returns.
  virtual void CopyIn(void* to, const void* from, int64_t bytes) = 0;
  // Copies from the device to host memory. Blocks until the data has arrived.
  virtual void CopyOut(void* to, const void* from, int64_t bytes) = 0;
  // Enqueues a copy within the device's memory. The buffers must not overlap.
  virtual void Copy(Stream stream, void* to, const void* from,
                    int64_t bytes) = 0;
  virtual void Zero(Stream stream, void* at, int64_t bytes) = 0;

  // Copies from.count elements of `from` to `to`, each rounded to `precision`
  // and then stored in the type of `to`. If both types and `precision` are
  // equal, the elements are copied unchanged. Otherwise the types must be
  // float32, bfloat16 or float16. Rounding is to nearest, ties to even.
  virtual void Convert(Stream stream, const TensorData& from,
                       const TensorData& to, DType precision) = 0;

  // Adds the squares of the elements of `values` (float32, bfloat16 or float16)
  // to the exact sum in `words`, a fixed-point number whose digits are the
  // elements of a SquareSum::Words. One call increases each element of `words`
  // by less than 2^48.
  virtual void AddSquares(const TensorData& values, int64_t* words) = 0;

  // Multiplies the gradient by step.gradient_factor and updates the weights.
  // InvalidArgument: the device does not support the rule. A call with a count
  // of 0 only checks whether the device supports the rule.
  virtual absl::Status Update(const UpdateRule& rule, const OptimizerStep& step,
                              const WeightUpdate& update) = 0;

  // Blocks until all work on the stream kCompute (see Stream) is done.
  virtual void Wait() = 0;
  // The first error of any call so far. An error of asynchronous work may be
  // missing until Wait has returned.
  virtual absl::Status status() = 0;

 private:
  friend absl::Status RunFromHost(Device& device, ProcessGroup& group,
                                  Operation operation);

  // Buffers that RunFromHost keeps between calls. They have the size of the
  // largest operation that was passed to RunFromHost so far.
  struct Exchange {
    std::shared_ptr<void> memory;  // buffer in the device's memory
    int64_t bytes = 0;             // size of `memory` in bytes
    // Host memory into which an operation's output is copied from `memory`,
    // before it is copied to the caller's memory.
    std::vector<char> results;
  };
  Exchange exchange_;
};

// The device whose memory is host memory. Its arithmetic is the reference
// (trainer_sdk/reduce, trainer_sdk/optim). Thread-safe. Never destroyed.
Device& HostDevice();

// Runs an operation on buffers in host memory, in a group whose operations
// accept only the memory of `device`. `operation` is an all_reduce, a
// broadcast, or an all_gather with equal counts. Blocks until
// `operation.output` is written. Intended for a few elements: the device keeps
// a buffer for the largest operation so far.
absl::Status RunFromHost(Device& device, ProcessGroup& group,
                         Operation operation);

// Blocks until the device has done all its work, and then returns OK if the
// group is intact. The check is needed because a stream continues after its
// group has broken, with undefined contents in the buffers of the failed
// operation. Collective. If the device is the host, does not block, because
// each operation has already returned its result.
absl::Status ConfirmIntact(Device& device, ProcessGroup& group);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DEVICE_DEVICE_H_
