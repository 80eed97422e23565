#ifndef MUSTER_TRAINER_SDK_NCCL_FAKE_STREAM_H_
#define MUSTER_TRAINER_SDK_NCCL_FAKE_STREAM_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace muster {

// A CUDA stream's stand-in: does one thing after another, in its own thread.
class FakeStream {
 public:
  FakeStream() : thread_([this] { Loop(); }) {}
  // Once everything is done.
  ~FakeStream();

  void Add(std::function<void()> work);
  // Waits until everything is done.
  void Drain();

  // `handle` as tests and NCCL pass it; null is the calling thread's own.
  static FakeStream& Of(void* handle);

 private:
  void Loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> work_;  // the front one is being done
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_FAKE_STREAM_H_
