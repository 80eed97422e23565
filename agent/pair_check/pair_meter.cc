#include "agent/pair_check/pair_meter.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/logs/terminal_text.h"
#include "agent/pair_check/measure_connection.h"
#include "base/monotonic_clock.h"
#include "rendezvous/network_check/network_check.h"
#include "rendezvous/protocol/failure.h"

namespace muster::agent {
namespace {

using rendezvous::PairCheck;
using rendezvous::PairMeasurement;

// Time limits of a whole measurement, without GPUs and with them. They are
// shorter than the coordinator's limits (NetworkCheck::kRoundTimeout and
// kGpuRoundTimeout). A measurement that takes longer, for instance because the
// look-up of a name hangs, is abandoned.
constexpr Duration kTimeout = std::chrono::seconds(9);
constexpr Duration kGpuTimeout = kTimeout + kGpuPairLimit + kGpuPairEnd;
static_assert(kTimeout < rendezvous::NetworkCheck::kRoundTimeout &&
              kGpuTimeout < rendezvous::NetworkCheck::kGpuRoundTimeout);

std::string FailureText(const absl::Status& status) {
  const std::string text =
      BoundedLine(std::string(status.message()), rendezvous::kMaxLineBytes);
  return text.empty() ? "it failed" : text;
}

// The number of times that the arithmetic is timed on each core. Each
// repetition is so short that, on a busy core, some repetitions fit between the
// time slices of other processes.
constexpr int kRepetitions = 100;
// The number of passes over the data in one repetition. A repetition takes a
// fraction of a millisecond.
constexpr int kPasses = 300;
constexpr size_t kMaxCores = 1024;

// One repetition of the arithmetic: multiplications and additions on data in
// the first-level cache. The returned value depends on each operation, so the
// compiler cannot remove any operation.
double Compute(double seed) {
  std::array<double, 512> values;
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = seed + static_cast<double>(i);
  }
  for (int pass = 0; pass < kPasses; ++pass) {
    for (double& value : values) value = value * 0.999 + 0.001;
  }
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

// Repeats the arithmetic on `core`. Returns the shortest time in seconds.
double TimeOnCore(int core) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  // The error is ignored: if the core has gone offline, the thread runs on
  // another core.
  pthread_setaffinity_np(pthread_self(), sizeof(cores), &cores);
  double shortest = 0;
  volatile double sink = 1;
  for (int i = 0; i < kRepetitions; ++i) {
    const Instant began = MonotonicNow();
    sink = Compute(sink);
    const double took = ToSeconds(MonotonicNow() - began);
    shortest = i == 0 ? took : std::min(shortest, took);
  }
  return shortest;
}

// Performs a fixed amount of arithmetic on each core on which this process may
// run, on all of them at the same time. A core's time is the shortest of many
// repetitions, so that short interruptions do not count. Returns the time of
// the slowest core in seconds. 0: no thread could be started. Blocks for tens
// of milliseconds on an idle machine.
double TimeComputeKernel() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 0;
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE && cores.size() < kMaxCores; ++core) {
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  }
  std::vector<double> times(cores.size(), 0);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < cores.size(); ++i) {
    try {
      threads.emplace_back(
          [&times, core = cores[i], i] { times[i] = TimeOnCore(core); });
    } catch (const std::system_error&) {
      // The system refuses to create more threads: the cores without a thread
      // are not measured.
      break;
    }
  }
  for (std::thread& thread : threads) thread.join();
  return times.empty() ? 0 : std::ranges::max(times);
}

void Measure(const PairCheck& check, rendezvous::Encryption encryption,
             int port, const GpuPairProgram& gpu_program, int cancel_fd,
             PairMeasurement& result) {
  // Times the arithmetic before the connection is measured, because computing
  // must not compete with sending. The partner node computes at the same time.
  result.compute_s = TimeComputeKernel();
  absl::StatusOr<ConnectionValues> values =
      MeasureConnection(check, encryption, port, gpu_program, cancel_fd, {});
  if (!values.ok()) {
    result.failure = FailureText(values.status());
    return;
  }
  result.round_trip_s = values->round_trip_s;
  result.bytes_per_s = values->bytes_per_s;
  result.gpu_kind = std::move(values->gpus.kind);
  result.gpu_failure = std::move(values->gpus.failure);
  result.gpu_bytes_per_s = values->gpus.bytes_per_s;
  result.gpu_compute_s = values->gpus.compute_s;
}

}  // namespace

PairMeter::PairMeter(const rendezvous::JobSpec& spec,
                     GpuPairProgram gpu_program)
    : encryption_(spec.encryption), gpu_program_(std::move(gpu_program)) {
  if (spec.network_check == rendezvous::NetworkCheckTime::kNever) return;
  absl::StatusOr<PortReservation> port =
      PortReservation::Take(PortReservation::Sharing::kWithServers);
  if (port.ok()) port_ = *std::move(port);
}

void PairMeter::Measure(uint64_t epoch, const PairCheck& check,
                        std::function<void(PairMeasurement)> done) {
  const PairMeasurement empty{.epoch = epoch, .number = check.number};
  // No lock is needed: the task's thread writes `*result`, and `done` gets
  // `*result` only after the task has ended.
  auto result = std::make_shared<PairMeasurement>(empty);
  task_.Start(
      [=, encryption = encryption_, gpu_program = gpu_program_,
       port = this->port()](int cancel_fd) {
        agent::Measure(check, encryption, port, gpu_program, cancel_fd,
                       *result);
        return absl::OkStatus();
      },
      check.gpus > 0 ? kGpuTimeout : kTimeout,
      [=, done = std::move(done)](const absl::Status& outcome) {
        if (outcome.ok()) {
          done(*result);
          return;
        }
        PairMeasurement failed = empty;
        failed.failure = FailureText(outcome);
        done(failed);
      });
}

void PairMeter::Drop() { task_.Cancel(); }

}  // namespace muster::agent
