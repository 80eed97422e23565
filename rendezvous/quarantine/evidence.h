#ifndef MUSTER_RENDEZVOUS_QUARANTINE_EVIDENCE_H_
#define MUSTER_RENDEZVOUS_QUARANTINE_EVIDENCE_H_

#include <optional>
#include <string>

#include "rendezvous/protocol/failure.h"

namespace muster::rendezvous {

// Returns the class of a worker's failure (HostFault::signature) if it says
// something about the worker's machine rather than about the program; nullopt:
// it does not. Pure.
//
//   counts          SIGBUS and SIGILL that Muster did not send; a failure whose
//                   texts name a defect of the hardware: "uncorrectable ECC",
//                   "fallen off the bus", "Input/output error" …
//   does not count  exceptions and exit codes; SIGSEGV and SIGABRT, which are
//                   mostly defects of programs; SIGKILL and SIGTERM, which come
//                   from a scheduler or from the lack of memory; a hang, whose
//                   cause may be any rank; failed communication, which follows
//                   from another failure
std::optional<std::string> EvidenceIn(const Failure& failure);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_QUARANTINE_EVIDENCE_H_
