#include "agent/pair_check/pair_meter.h"

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/failures/bounded_text.h"
#include "agent/pair_check/compute_kernel.h"
#include "agent/pair_check/measure_connection.h"
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
