// A simulated training. Each step waits some milliseconds, as for a device,
// then uses some processor time, then runs an all_reduce. The program has no
// special code for Muster's search for slow ranks, except that it marks waits
// for data. The first argument names a file with one word and perhaps a rank
// (default: 2). Tests may change the file at any time. The words are:
//   even     all ranks do the same work
//   compute  the rank uses more processor time: 22 ms instead of 2 ms
//   data     the rank waits 20 ms for its data
//   end      the training ends
// The second argument is the number of elements that are reduced; the default
// is 1. The third argument is optional and names the checkpoint, a file with a
// step number. With it, the training saves each step that is a multiple of
// kCheckpointEvery, continues after the saved step, and reports its steps. If
// the fourth argument is "stop", the training also saves its last step when it
// is asked to stop (SIGTERM), and then ends with exit code 0.

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/rank_time/rank_time.h"
#include "trainer_sdk/session/session.h"
#include "trainer_sdk/session/stop_request.h"
#include "trainer_sdk/transports/session_world.h"

namespace muster {
namespace {

constexpr std::chrono::milliseconds kDeviceTime(8);
constexpr std::chrono::milliseconds kDataTime(20);
constexpr int64_t kWorkNanoseconds = 2'000'000;
constexpr int64_t kMoreWorkNanoseconds = 20'000'000;
constexpr int64_t kCheckpointEvery = 50;

int64_t ProcessorTime() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

void Work(int64_t nanoseconds) {
  const int64_t end = ProcessorTime() + nanoseconds;
  while (ProcessorTime() < end) {
  }
}

struct Order {
  std::string word;
  int rank = 2;
};

Order Read(const std::string& path) {
  std::ifstream file(path);
  Order order;
  file >> order.word >> order.rank;
  if (!file) order.rank = 2;
  return order;
}

// The step of the checkpoint; 0: there is none.
int64_t Resume(const std::string& path) {
  std::ifstream file(path);
  int64_t step = 0;
  file >> step;
  return step;
}

void Save(const std::string& path, int64_t step) {
  std::ofstream(path + ".new") << step << "\n";
  std::rename((path + ".new").c_str(), path.c_str());
}

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}

// The end of the training when it is asked to stop: at once, or after a
// checkpoint.
enum class AtStop { kDies, kSaves };

int Train(Session& session, const std::string& orders, size_t elements,
          const std::string& checkpoint, AtStop at_stop) {
  if (at_stop == AtStop::kSaves) StopRequest::Listen();
  auto world = NewWorld(session);
  if (!world.ok()) return Fail(world.status());
  std::vector<float> ends(elements);
  int64_t step = Resume(checkpoint);
  std::printf("begins after step %lld\ntrains\n", static_cast<long long>(step));
  std::fflush(stdout);
  while (ends[0] == 0) {
    const Order order = Read(orders);
    const bool is_slow = session.rank() == order.rank;
    std::this_thread::sleep_for(kDeviceTime);
    Work(kWorkNanoseconds);
    if (is_slow && order.word == "compute") {
      Work(kMoreWorkNanoseconds);
    } else if (is_slow && order.word == "data") {
      DataWait wait;
      std::this_thread::sleep_for(kDataTime);
    }
    ends[0] = order.word == "end" ? 1 : 0;
    const absl::Status status = (*world)->Run(
        AllReduce(ends.data(), ends.data(), std::ssize(ends), DType::kFloat32));
    if (!status.ok()) return Fail(status);
    if (checkpoint.empty()) continue;
    session.progress().Send({.step = ++step});
    if (session.rank() == 0 && step % kCheckpointEvery == 0) {
      Save(checkpoint, step);
    }
    if (at_stop == AtStop::kDies) continue;
    const absl::StatusOr<bool> stops = StopRequest::AskedAnyone(**world);
    if (!stops.ok()) return Fail(stops.status());
    if (!*stops) continue;
    if (session.rank() == 0) Save(checkpoint, step);
    std::printf("stops after step %lld\n", static_cast<long long>(step));
    std::fflush(stdout);
    return 0;
  }
  return 0;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  auto session = muster::Session::FromEnvironment();
  if (argc < 2 || !session.ok()) return 2;
  const int elements = argc > 2 ? std::atoi(argv[2]) : 1;
  if (elements < 1) return 2;
  return muster::Train(**session, argv[1], static_cast<size_t>(elements),
                       argc > 3 ? argv[3] : "",
                       argc > 4 && std::string(argv[4]) == "stop"
                           ? muster::AtStop::kSaves
                           : muster::AtStop::kDies);
}
