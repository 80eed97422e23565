// Measures what Muster's profiler plug-in (`launch --profile-collectives`)
// costs the thread of NCCL that calls it. Calls the plug-in as NCCL does: 100
// operations of 16 channels a step, one step after the other, with the times
// of a GPU's timer that a real training would have (one step in 250 ms). The
// reports of the plug-in go to a socket that is not read.
//
//   profiler_calls PLUGIN [STEPS]    PLUGIN: path of
//                                    libmuster_nccl_profiler.so
//
// Prints the time of one event (its start, its state and its end), and the time
// of all events of a step relative to the step of 250 ms.

#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/monotonic_clock.h"
#include "base/owned_fd.h"
#include "trainer_sdk/nccl_profiler/profiler_abi.h"

namespace muster {
namespace {

constexpr int kOperations = 100;
constexpr int kChannels = 16;
constexpr uint64_t kStepNs = 250'000'000;
constexpr int kTurns = 9;

// Makes the calls with which NCCL reports the operations of one training step
// to the plug-in. `begin`: the step's begin in nanoseconds of the GPU's timer.
void RunStep(const ProfilerCalls<uint64_t>& calls, uint64_t begin) {
  for (int i = 0; i < kOperations; ++i) {
    const uint64_t start = begin + kStepNs / kOperations * i;
    void* handles[kChannels];
    // NCCL's description of an event is longer than the part that is read.
    struct {
      ProfilerEvent<uint64_t> beginning;
      char more[128] = {};
    } event;
    event.beginning.type = kKernelChannelEvent;
    for (int channel = 0; channel < kChannels; ++channel) {
      event.beginning.kernel_channel.timer = start + channel;
      calls.start_event(nullptr, &handles[channel], &event.beginning);
    }
    for (int channel = 0; channel < kChannels; ++channel) {
      ProfilerState state{.timer = start + 1'000'000 + channel};
      calls.record_state(handles[channel], kKernelChannelStopped, &state);
      calls.stop_event(handles[channel]);
    }
  }
}

int Main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: profiler_calls PLUGIN [STEPS]\n");
    return 2;
  }
  const int steps = argc > 2 ? std::atoi(argv[2]) : 1000;
  const std::string path = "/tmp/profiler_calls." + std::to_string(getpid());
  const OwnedFd reports(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  if (bind(reports.get(), reinterpret_cast<const sockaddr*>(&address),
           offsetof(sockaddr_un, sun_path) + path.size()) != 0) {
    std::perror(path.c_str());
    return 1;
  }
  setenv("MUSTER_PROGRESS_SOCKET", path.c_str(), 1);
  void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  auto* const plugin =
      library == nullptr
          ? nullptr
          : static_cast<ProfilerV5*>(dlsym(library, "ncclProfiler_v5"));
  if (plugin == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    unlink(path.c_str());
    return 1;
  }
  void* context = nullptr;
  int types = 0;
  plugin->init(&context, 1, &types, "world", 1, 2, 0, nullptr);
  std::vector<double> turns;
  uint64_t begin = kStepNs;
  for (int turn = 0; turn < kTurns; ++turn) {
    const Instant start = MonotonicNow();
    for (int step = 0; step < steps; ++step, begin += kStepNs) {
      RunStep(plugin->calls, begin);
    }
    turns.push_back(ToSeconds(MonotonicNow() - start) / steps);
  }
  unlink(path.c_str());
  std::sort(turns.begin(), turns.end());
  const double events = kOperations * kChannels;
  std::printf(
      "| the plug-in, %d events a step | min | median | max "
      "|\n|---|---|---|---|"
      "\n| an event, ns | %.0f | %.0f | %.0f |\n| the events of a step of 250 "
      "ms, %% of the step | %.3f | %.3f | %.3f |\n",
      kOperations * kChannels, turns.front() / events * 1e9,
      turns[kTurns / 2] / events * 1e9, turns.back() / events * 1e9,
      turns.front() / kStepNs * 1e11, turns[kTurns / 2] / kStepNs * 1e11,
      turns.back() / kStepNs * 1e11);
  return 0;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) { return muster::Main(argc, argv); }
