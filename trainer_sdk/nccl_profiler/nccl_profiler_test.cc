// Loads the plug-in as NCCL does, and calls its functions in the order in which
// NCCL calls them. There is only one test case, because the plug-in adds up
// times for the whole process.

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "base/owned_fd.h"
#include "trainer_sdk/nccl_profiler/profiler_abi.h"

namespace muster {
namespace {

using ::testing::Eq;

constexpr char kPlugin[] =
    "trainer_sdk/nccl_profiler/libmuster_nccl_profiler.so";
// The time on the GPU's timer at which the test's first event begins, in
// nanoseconds since an arbitrary time.
constexpr uint64_t kBegin = 1'700'000'000'000'000'000;
constexpr uint64_t kMs = 1'000'000;

// NCCL's whole description of an event, including fields that the plug-in does
// not read.
template <typename Type>
struct WholeEvent {
  ProfilerEvent<Type> beginning;
  char more[128] = {};
};

class NcclProfiler : public ::testing::Test {
 protected:
  NcclProfiler()
      : path_(std::filesystem::temp_directory_path() /
              ("muster_nccl_profiler" + std::to_string(getpid()))),
        socket_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address = {};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.data(), path_.size());
    EXPECT_EQ(bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address),
                   offsetof(sockaddr_un, sun_path) + path_.size()),
              0);
    setenv("MUSTER_PROGRESS_SOCKET", path_.c_str(), 1);
    library_ = dlopen(kPlugin, RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library_, nullptr) << dlerror();
  }
  ~NcclProfiler() override { unlink(path_.c_str()); }

  template <typename Table>
  Table* Find(const char* symbol) {
    auto* const table = static_cast<Table*>(dlsym(library_, symbol));
    EXPECT_NE(table, nullptr) << symbol;
    EXPECT_STREQ(table->name, "Muster");
    return table;
  }

  // Returns the newest report that the plug-in has sent to the agent's socket;
  // empty if there is none.
  std::string Report() {
    std::string newest;
    char bytes[4096];
    for (;;) {
      const ssize_t count =
          recv(socket_.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
      if (count < 0) return newest;
      newest.assign(bytes, count);
    }
  }

 private:
  const std::string path_;
  OwnedFd socket_;
  void* library_ = nullptr;
};

// Tells the plug-in that a kernel ran in one channel from `start` to `stop`,
// both in milliseconds after kBegin.
template <typename Type>
class Channel {
 public:
  Channel(const ProfilerCalls<Type>& calls, uint64_t start) : calls_(calls) {
    WholeEvent<Type> event;
    event.beginning.type = kKernelChannelEvent;
    event.beginning.kernel_channel.timer = kBegin + start * kMs;
    EXPECT_EQ(calls_.start_event(nullptr, &handle_, &event.beginning), 0);
    EXPECT_NE(handle_, nullptr);
  }
  void Stop(uint64_t stop) {
    ProfilerState state{.timer = kBegin + stop * kMs};
    EXPECT_EQ(calls_.record_state(handle_, kKernelChannelStopped, &state), 0);
    EXPECT_EQ(calls_.stop_event(handle_), 0);
  }

 private:
  const ProfilerCalls<Type>& calls_;
  void* handle_ = nullptr;
};

// Simulates ten training steps. In each step, an operation in two channels
// takes 30 ms, and then the rank works for 70 ms.
template <typename Type>
void Train(const ProfilerCalls<Type>& calls) {
  for (uint64_t step = 0; step < 10; ++step) {
    Channel<Type> first(calls, 100 * step);
    Channel<Type> second(calls, 100 * step + 1);
    first.Stop(100 * step + 29);
    second.Stop(100 * step + 30);
  }
}

// The last report during Train. It is sent at 529 ms, when the first channel of
// step 5 ends and the previous report is at least 500 ms old. Steps are counted
// from 0. By then, the rank has worked for 70 ms in each of 5 steps. The rank
// was blocked for 30 ms in each of these steps, and for 29 ms in step 5.
constexpr char kTrained[] = "OWN_NS=350000000\nBLOCKED_NS=179000000\n";

TEST_F(NcclProfiler, EachVersionReportsTheTimeOfItsKernels) {
  auto* const plugin = Find<ProfilerV5>("ncclProfiler_v5");
  void* context = &context;
  int types = 0;
  ASSERT_EQ(plugin->init(&context, 7, &types, "world", 2, 16, 3, nullptr), 0);
  EXPECT_EQ(types, kKernelChannelEvent | kPointToPointEvent);
  // The plug-in must ignore an event of a type that it has not asked for, here
  // that of an enqueued collective.
  WholeEvent<uint64_t> collective;
  collective.beginning.type = 1 << 1;
  void* handle = &handle;
  EXPECT_EQ(plugin->calls.start_event(context, &handle, &collective.beginning),
            0);
  EXPECT_EQ(handle, nullptr);
  Train(plugin->calls);
  EXPECT_THAT(Report(), Eq(kTrained));
  EXPECT_EQ(plugin->calls.finalize(context), 0);

  // Version 4 of NCCL's profiler interface has the same functions as version 5,
  // but an event's type has one byte instead of eight.
  auto* const older = Find<ProfilerV4>("ncclProfiler_v4");
  types = 0;
  ASSERT_EQ(older->init(&context, &types, "world", 7, 2, 16, 3, nullptr), 0);
  EXPECT_EQ(types, kKernelChannelEvent | kPointToPointEvent);
  Channel<uint8_t> channel(older->calls, 2000);
  channel.Stop(2100);
  EXPECT_THAT(Report(), Eq("OWN_NS=1700000000\nBLOCKED_NS=400000000\n"));

  // Version 3 of NCCL's profiler interface has no times of the GPU, so the
  // plug-in uses its own clock.
  auto* const oldest = Find<ProfilerV3>("ncclProfiler_v3");
  types = 0;
  ASSERT_EQ(oldest->init(&context, &types), 0);
  EXPECT_EQ(types, kKernelChannelEvent | kPointToPointEvent);
  WholeEvent<uint8_t> event;
  event.beginning.type = kKernelChannelEvent;
  EXPECT_EQ(oldest->calls.start_event(context, &handle, &event.beginning), 0);
  EXPECT_NE(handle, nullptr);
  EXPECT_EQ(oldest->calls.record_state(handle, kKernelChannelStopped, nullptr),
            0);
  EXPECT_EQ(oldest->calls.stop_event(handle), 0);

  // After a point-to-point operation the plug-in sends no more reports.
  WholeEvent<uint64_t> message;
  message.beginning.type = kPointToPointEvent;
  EXPECT_EQ(plugin->calls.start_event(context, &handle, &message.beginning), 0);
  EXPECT_EQ(handle, nullptr);
  Report();
  Channel<uint64_t> last(plugin->calls, 9'000'000);
  last.Stop(9'000'100);
  EXPECT_EQ(Report(), "");
}

}  // namespace
}  // namespace muster
