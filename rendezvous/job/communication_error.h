#ifndef MUSTER_RENDEZVOUS_JOB_COMMUNICATION_ERROR_H_
#define MUSTER_RENDEZVOUS_JOB_COMMUNICATION_ERROR_H_

#include <string_view>

namespace muster::rendezvous {

// Whether the message of a failure is that of a worker whose peer went away:
// "Connection closed by peer", "DistBackendError: NCCL error ...". Such a
// failure follows from another one. Known texts of sockets, PyTorch, Gloo, NCCL
// and the SDK; letter case does not count. Pure.
bool IsCommunicationError(std::string_view message);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_COMMUNICATION_ERROR_H_
