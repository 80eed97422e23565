#ifndef MUSTER_TRAINER_SDK_DEVICE_TESTING_STREAM_DEVICE_H_
#define MUSTER_TRAINER_SDK_DEVICE_TESTING_STREAM_DEVICE_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "trainer_sdk/device/device.h"
#include "trainer_sdk/process_group/transport.h"

namespace muster {

// A stream of a StreamDevice. It performs its work in order, on a thread of its
// own.
class WorkStream {
 public:
  WorkStream() : thread_([this] { Loop(); }) {}
  // Blocks until all work on the stream is done.
  ~WorkStream();
  WorkStream(const WorkStream&) = delete;
  WorkStream& operator=(const WorkStream&) = delete;

  void Add(std::function<void()> work);
  // Blocks until all work on the stream is done.
  void Drain();

 private:
  void Loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  // pending work; the first entry is running
  std::deque<std::function<void()>> work_;
  bool ending_ = false;
  std::thread thread_;
};

// A device for tests, with the host's arithmetic and real asynchronous streams.
// Its addresses are invalid on the host, so that code which accesses device
// memory directly crashes. A missing wait between streams gives wrong results
// or a report of ThreadSanitizer.
class StreamDevice final : public Device {
 public:
  // Makes a device with `max_bytes` bytes of memory in total. Further
  // allocations return ResourceExhausted. Freed memory is not reused.
  explicit StreamDevice(int64_t max_bytes = int64_t{1} << 40)
      : left_(max_bytes) {}

  absl::StatusOr<std::shared_ptr<void>> Allocate(int64_t bytes) override;
  void* handle(Stream stream) const override;
  void WaitForOther(Stream stream) override;
  void CopyIn(void* to, const void* from, int64_t bytes) override;
  void CopyOut(void* to, const void* from, int64_t bytes) override;
  void Copy(Stream stream, void* to, const void* from, int64_t bytes) override;
  void Zero(Stream stream, void* at, int64_t bytes) override;
  void Convert(Stream stream, const TensorData& from, const TensorData& to,
               DType precision) override;
  void AddSquares(const TensorData& values, int64_t* words) override;
  // Updates weights by an AdamWRule or a SgdRule. InvalidArgument: `rule` is of
  // another class.
  absl::Status Update(const UpdateRule& rule, const OptimizerStep& step,
                      const WeightUpdate& update) override;
  void Wait() override { compute_->Drain(); }
  absl::Status status() override { return absl::OkStatus(); }

  // `There` converts a host address to the device's address of the same memory.
  // `Here` converts a device's address to the host's address. Null stays null.
  static void* There(void* host);
  static void* Here(const void* device);

 private:
  WorkStream& Of(Stream stream) const {
    return stream == Stream::kCompute ? *compute_ : *communication_;
  }

  int64_t left_;
  const std::unique_ptr<WorkStream> compute_ = std::make_unique<WorkStream>();
  const std::unique_ptr<WorkStream> communication_ =
      std::make_unique<WorkStream>();
};

// Makes transports that accept memory of StreamDevices. A transport of `inner`
// performs the operations. Each operation is enqueued on its stream. Only
// barriers and splits have no stream: they wait for all enqueued operations and
// block. After a failed operation the next enqueued operation fails, too, as
// with NCCL. InvalidArgument: the operation needs a stream and has none.
TransportFactory OnStreams(TransportFactory inner);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_DEVICE_TESTING_STREAM_DEVICE_H_
