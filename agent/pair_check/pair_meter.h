#ifndef MUSTER_AGENT_PAIR_CHECK_PAIR_METER_H_
#define MUSTER_AGENT_PAIR_CHECK_PAIR_METER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "agent/commands/timed_task.h"
#include "agent/pair_check/gpu_pair.h"
#include "agent/ports/port_reservation.h"
#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/protocol/pair_check.h"

namespace muster::agent {

// Performs this node's measurements with other nodes (--network-check) in
// threads of its own. The constructor reserves a port for the measurements.
// This process listens on the port only during a measurement. Not thread-safe.
class PairMeter {
 public:
  // `spec`: the job's settings. If the job has no network check, or no port is
  // free, port() is 0 and the node takes part in no measurement. `gpu_program`:
  // the program that measures GPUs.
  PairMeter(const rendezvous::JobSpec& spec, GpuPairProgram gpu_program);

  int port() const { return port_.has_value() ? port_->port() : 0; }

  // Cancels a running measurement and starts a new one. Another thread calls
  // `done` with the result, within about 10 seconds, or 55 with GPUs. `done` is
  // not called after Drop or another Measure. `epoch`: the epoch of the
  // directive that orders the measurement; it is copied into the result.
  void Measure(uint64_t epoch, const rendezvous::PairCheck& check,
               std::function<void(rendezvous::PairMeasurement)> done);
  // Cancels a running measurement.
  void Drop();

 private:
  const rendezvous::Encryption encryption_;
  const GpuPairProgram gpu_program_;
  std::optional<PortReservation> port_;
  TimedTask task_;
};

}  // namespace muster::agent

#endif  // MUSTER_AGENT_PAIR_CHECK_PAIR_METER_H_
