#ifndef MUSTER_TRAINER_SDK_FLIGHT_RECORDER_TORCH_FLIGHT_H_
#define MUSTER_TRAINER_SDK_FLIGHT_RECORDER_TORCH_FLIGHT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "trainer_sdk/flight_recorder/flight_log.h"

namespace muster {

// Whether `bytes` begins like a dump of PyTorch's flight recorder, a pickle.
bool IsTorchFlight(absl::string_view bytes);

// Parses a dump of PyTorch's flight recorder (versions 2.x of its format), as
// ProcessGroupNCCL writes it on a timeout, or
// torch._C._distributed_c10d._dump_fr_trace() returns it. The dump does not
// contain the rank of its process: `rank` is its rank in the world. The log has
// no host and no pid, and of an operation that PyTorch has not seen to start or
// end the times of its call. Its world size is the smallest that fits the ranks
// in the dump: dumps of Gloo do not list the members of every group.
//
// InvalidArgument: any other bytes, more than a million ranks, an operation
// that Muster does not know, or a process group without a list of ranks; the
// message is one line. No code in the pickle is executed. Safe for untrusted
// bytes of bounded length. Pure.
absl::StatusOr<FlightLog> ParseTorchFlight(const std::string& bytes, int rank);

// The rank at the end of a dump's file name, such as 12 of
// "nccl_trace_rank_12", where PyTorch puts it; -1: there is none.
int RankInName(absl::string_view path);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_FLIGHT_RECORDER_TORCH_FLIGHT_H_
