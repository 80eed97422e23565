#ifndef MUSTER_TRAINER_SDK_NCCL_FAKE_STREAM_H_
#define MUSTER_TRAINER_SDK_NCCL_FAKE_STREAM_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace muster {

// Stands in for a CUDA stream: runs one task after another, in its own thread.
class FakeStream {
 public:
  FakeStream() : thread_([this] { Loop(); }) {}
  // Waits until everything is done.
  ~FakeStream();

  void Add(std::function<void()> work);
  // Waits until everything is done.
  void Drain();

  // `handle`: as passed by tests and NCCL; null is the calling thread's own
  // stream.
  static FakeStream& Of(void* handle);

 private:
  void Loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;  // the front one is running
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_FAKE_STREAM_H_
