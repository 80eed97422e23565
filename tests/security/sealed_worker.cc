// A worker for sealed_workers_test. The ranks exchange a text through the
// store, and numbers through a process group over TCP. The test looks for both
// on the wire. The worker prints whether both are correct, and the number of
// open pipes except stdin, stdout and stderr.

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/session/session.h"
#include "trainer_sdk/transports/session_world.h"

namespace muster {
namespace {

constexpr int64_t kNumbers = 100'000;
// The number that rank 0 contributes to a sum. Its bytes are the text
// "numbers!", for which the test looks. The other ranks contribute zeroes, so
// the sum has the same bytes.
constexpr int64_t kMarker = 0x2173'7265'626d'756e;

int PipesBesideOutput() {
  int pipes = 0;
  for (int fd = 3; fd < 1024; ++fd) {
    struct stat file = {};
    if (fstat(fd, &file) == 0 && S_ISFIFO(file.st_mode)) ++pipes;
  }
  return pipes;
}

absl::Status Exchange() {
  const Instant deadline = MonotonicNow() + std::chrono::seconds(60);
  auto session = Session::FromEnvironment();
  if (!session.ok()) return session.status();
  const int pipes = PipesBesideOutput();
  const int rank = (*session)->rank();
  const int other = (rank + 1) % (*session)->world_size();
  Store& store = *(*session)->store();
  absl::Status s =
      store.Set(absl::StrCat("text/", rank), "a text in the store");
  if (!s.ok()) return s;
  const auto text = store.Get(absl::StrCat("text/", other), deadline);
  if (!text.ok()) return text.status();
  const auto world = NewWorld(**session, TransportChoice::kTcp);
  if (!world.ok()) return world.status();
  std::vector<int64_t> numbers(kNumbers, rank == 0 ? kMarker : 0);
  s = (*world)->Run(
      AllReduce(numbers.data(), numbers.data(), kNumbers, DType::kInt64));
  if (!s.ok()) return s;
  std::printf(
      "rank=%d text=%s sum=%s pipes=%d .\n", rank,
      *text == "a text in the store" ? "right" : "wrong",
      numbers == std::vector<int64_t>(kNumbers, kMarker) ? "right" : "wrong",
      pipes);
  return absl::OkStatus();
}

}  // namespace
}  // namespace muster

int main() {
  const absl::Status s = muster::Exchange();
  if (s.ok()) return 0;
  std::printf("failed: %s\n", s.ToString().c_str());
  return 1;
}
