// A worker for a job of three ranks, none of which can complete the last
// all_reduce. Rank 0 begins this all_reduce and stops itself with SIGSTOP. Then
// rank 1 begins the all_reduce and kills itself. All ranks need rank 0's
// values.

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/monotonic_clock.h"
#include "trainer_sdk/flight_recorder/flight_recorder.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/session/session.h"
#include "trainer_sdk/transports/session_world.h"

namespace muster {
namespace {

constexpr unsigned kLifetimeSeconds = 60;
constexpr int64_t kLarge = 8 << 20;

void AwaitTheLargeOne() {
  while (true) {
    for (const FlightRecord& record :
         FlightRecorder::Process().Snapshot().records) {
      if (record.signature.count == kLarge && record.in_progress()) return;
    }
    std::this_thread::yield();
  }
}

bool IsStopped(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string text;
  std::getline(file, text);
  return text.find(") T ") != std::string::npos;
}

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}

int Train(Session& session) {
  auto world = NewWorld(session);
  if (!world.ok()) return Fail(world.status());
  std::vector<float> data(kLarge, 1);
  absl::Status status =
      (*world)->Run(AllReduce(data.data(), data.data(), 1, DType::kFloat32));
  if (!status.ok()) return Fail(status);
  if (session.rank() == 0) {
    status = session.store()->Set("rank 0", std::to_string(getpid()));
    if (!status.ok()) return Fail(status);
    std::thread([] {
      AwaitTheLargeOne();
      raise(SIGSTOP);
    }).detach();
  } else if (session.rank() == 1) {
    const auto pid = session.store()->Get(
        "rank 0", MonotonicNow() + std::chrono::seconds(kLifetimeSeconds));
    if (!pid.ok()) return Fail(pid.status());
    while (!IsStopped(*pid)) std::this_thread::yield();
    std::thread([] {
      AwaitTheLargeOne();
      raise(SIGKILL);
    }).detach();
  }
  return Fail((*world)->Run(
      AllReduce(data.data(), data.data(), kLarge, DType::kFloat32)));
}

}  // namespace
}  // namespace muster

int main() {
  alarm(muster::kLifetimeSeconds);
  auto session = muster::Session::FromEnvironment();
  if (!session.ok()) return muster::Fail(session.status());
  return muster::Train(**session);
}
