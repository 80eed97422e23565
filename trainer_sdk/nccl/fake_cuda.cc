// A fake of NVIDIA's driver library, for tests: device memory is host memory,
// and a stream is a thread. It is linked into one library together with
// fake_nccl.cc.

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "trainer_sdk/nccl/fake_nccl_control.h"
#include "trainer_sdk/nccl/fake_stream.h"

namespace muster {

FakeStream::~FakeStream() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void FakeStream::Add(std::function<void()> work) {
  std::lock_guard<std::mutex> lock(mutex_);
  work_.push_back(std::move(work));
  changed_.notify_all();
}

void FakeStream::Drain() {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return work_.empty(); });
}

void FakeStream::Loop() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ending_ || !work_.empty(); });
    if (work_.empty()) return;
    lock.unlock();
    work_.front()();
    lock.lock();
    work_.pop_front();
    changed_.notify_all();
  }
}

FakeStream& FakeStream::Of(void* handle) {
  thread_local std::unique_ptr<FakeStream> own;
  if (handle != nullptr) return *static_cast<FakeStream*>(handle);
  if (own == nullptr) own = std::make_unique<FakeStream>();
  return *own;
}

namespace {

constexpr int kInvalidContext = 201;
constexpr int kInvalidPtx = 218;
constexpr int kNotReady = 600;

struct Event {
  std::shared_ptr<std::atomic<bool>> happened;
};

FakeNcclControl* Control() {
  static FakeNcclControl control;
  return &control;
}

thread_local int contexts_pushed = 0;

}  // namespace
}  // namespace muster

using muster::Control;
using muster::Event;
using muster::FakeStream;

extern "C" {

muster::FakeNcclControl* FakeNccl() { return Control(); }
void* FakeNewStream() { return new FakeStream; }
void FakeEndStream(void* stream) { delete static_cast<FakeStream*>(stream); }
void FakeDrain(void* stream) { FakeStream::Of(stream).Drain(); }

int cuInit(unsigned) { return Control()->init_result; }

int cuDeviceGetCount(int* count) {
  *count = Control()->devices;
  return 0;
}

int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}

int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "Fake GPU", static_cast<size_t>(size));
  return 0;
}

int cuGetErrorString(int error, const char** text) {
  *text = error == 803 ? "system has unsupported display driver / cuda driver "
                         "combination"
                       : "fake error";
  return 0;
}

int cuCtxGetDevice(int* device) {
  if (muster::contexts_pushed == 0) return muster::kInvalidContext;
  *device = 0;
  return 0;
}

int cuDevicePrimaryCtxRetain(void** context, int) {
  static int anything;
  *context = &anything;
  return 0;
}

int cuCtxPushCurrent_v2(void*) {
  ++muster::contexts_pushed;
  return 0;
}

int cuCtxPopCurrent_v2(void**) {
  --muster::contexts_pushed;
  return 0;
}

int cuEventCreate(void** event, unsigned) {
  ++Control()->live_events;
  *event = new Event{std::make_shared<std::atomic<bool>>(true)};
  return 0;
}

int cuEventDestroy_v2(void* event) {
  --Control()->live_events;
  delete static_cast<Event*>(event);
  return 0;
}

int cuEventRecord(void* event, void* stream) {
  auto happened = std::make_shared<std::atomic<bool>>(false);
  static_cast<Event*>(event)->happened = happened;
  FakeStream::Of(stream).Add([happened] { *happened = true; });
  return 0;
}

int cuEventQuery(void* event) {
  return *static_cast<Event*>(event)->happened ? 0 : muster::kNotReady;
}

int cuMemAlloc_v2(uint64_t* memory, size_t bytes) {
  ++Control()->live_allocations;
  *memory = reinterpret_cast<uint64_t>(std::malloc(bytes));
  return 0;
}

int cuMemFree_v2(uint64_t memory) {
  --Control()->live_allocations;
  std::free(reinterpret_cast<void*>(memory));
  return 0;
}

int cuMemcpyHtoD_v2(uint64_t to, const void* from, size_t bytes) {
  FakeStream::Of(nullptr).Drain();
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return 0;
}

int cuMemcpyDtoH_v2(void* to, uint64_t from, size_t bytes) {
  FakeStream::Of(nullptr).Drain();
  std::memcpy(to, reinterpret_cast<void*>(from), bytes);
  return 0;
}

int cuModuleLoadData(void** module, const void* ptx) {
  static int anything;
  *module = &anything;
  return *static_cast<const char*>(ptx) == '.' ? 0 : muster::kInvalidPtx;
}

int cuModuleGetFunction(void** function, void* module, const char*) {
  *function = module;
  return 0;
}

int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned,
                   unsigned, unsigned, void* stream, void**, void**) {
  ++Control()->launches;
  FakeStream::Of(stream).Add([] {});
  return 0;
}

int cuStreamSynchronize(void* stream) {
  FakeStream::Of(stream).Drain();
  return 0;
}

}  // extern "C"
