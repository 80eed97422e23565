// A training whose step is some milliseconds of processor time and an
// all_reduce. The program does nothing for Muster's search for slow ranks. The
// first argument names a file with one word, which may change at any time:
//   even     all ranks do the same work
//   compute  rank 2 does three times as much
//   data     rank 2 waits as long for its data
//   end      the training ends
// The second argument is the number of elements that are reduced; the default
// is 1.

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/process_group.h"
#include "trainer_sdk/rank_time/rank_time.h"
#include "trainer_sdk/session/session.h"
#include "trainer_sdk/transports/session_world.h"

namespace muster {
namespace {

constexpr int kSlowRank = 2;
constexpr int64_t kWorkNanoseconds = 10'000'000;

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

std::string Word(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return 1;
}

int Train(Session& session, const std::string& path, size_t elements) {
  auto world = NewWorld(session);
  if (!world.ok()) return Fail(world.status());
  std::printf("trains\n");
  std::fflush(stdout);
  std::vector<float> ends(elements);
  while (ends[0] == 0) {
    const std::string word = Word(path);
    Work(kWorkNanoseconds);
    if (session.rank() == kSlowRank && word == "compute") {
      Work(2 * kWorkNanoseconds);
    } else if (session.rank() == kSlowRank && word == "data") {
      DataWait wait;
      Work(2 * kWorkNanoseconds);
    }
    ends[0] = word == "end" ? 1 : 0;
    const absl::Status status = (*world)->Run(
        AllReduce(ends.data(), ends.data(), std::ssize(ends), DType::kFloat32));
    if (!status.ok()) return Fail(status);
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
  return muster::Train(**session, argv[1], static_cast<size_t>(elements));
}
