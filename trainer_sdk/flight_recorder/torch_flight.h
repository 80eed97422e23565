#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_TORCH_FLIGHT_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_TORCH_FLIGHT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trainer_sdk/flight_recorder/flight_log.h"

namespace muster {

// Whether `bytes` begins like a pickle, the format of PyTorch's flight recorder
// dumps.
bool IsTorchFlight(absl::string_view bytes);

// Parses a dump of PyTorch's flight recorder (versions 2.x of its format), as
// ProcessGroupNCCL writes it on a timeout, or
// torch._C._distributed_c10d._dump_fr_trace() returns it. `rank`: the world
// rank of the process that wrote the dump; the dump itself does not contain the
// rank. The log has no host and no pid. If the dump lacks the time at which an
// operation started, the log has the time of the call instead; if the dump
// lacks the end, the log has the start instead. Dumps of Gloo do not list the
// members of every group. So the log's world size is the highest rank in the
// dump plus one.
//
// InvalidArgument: any other bytes, more than a million ranks, an operation
// that Muster does not know, or a process group without a list of ranks; the
// message is one line. No code in the pickle is executed. Safe for untrusted
// bytes of bounded length. Pure.
absl::StatusOr<FlightLog> ParseTorchFlight(const std::string& bytes, int rank);

// Returns the rank at the end of a PyTorch dump's file name, such as 12 for
// "nccl_trace_rank_12"; -1 if there is no rank.
int RankInName(absl::string_view path);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_TORCH_FLIGHT_H_
