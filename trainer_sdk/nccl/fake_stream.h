#ifndef MUSTER_TRAINER_SDK_NCCL_FAKE_STREAM_H_
#define MUSTER_TRAINER_SDK_NCCL_FAKE_STREAM_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace muster {

// A fake of a CUDA stream: runs one task after another, on its own thread.
class FakeStream {
 public:
  FakeStream() : thread_([this] { Loop(); }) {}
  // Blocks until all tasks are done, and ends the thread.
  ~FakeStream();

  void Add(std::function<void()> work);
  // Blocks until all tasks are done.
  void Drain();

  // Returns the stream for `handle`, the pointer that tests and NCCL pass; null
  // means the calling thread's own stream.
  static FakeStream& Of(void* handle);

 private:
  void Loop();

  std::mutex mutex_;
  std::condition_variable changed_;
  // pending tasks; the first one is running
  std::deque<std::function<void()>> work_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_NCCL_FAKE_STREAM_H_
