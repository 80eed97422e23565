#ifndef MUSTER_RENDEZVOUS_QUARANTINE_EVIDENCE_H_
#define MUSTER_RENDEZVOUS_QUARANTINE_EVIDENCE_H_

#include <optional>
#include <string>

#include "rendezvous/protocol/failure.h"

namespace muster::rendezvous {

// A sign in a worker's failure that the worker's machine has a defect.
struct Evidence {
  std::string signature;  // class of the failure, such as "SIGBUS"
  // The text in which the failure names a defect of the hardware: the failure's
  // message, or a line of the worker's stderr. Empty: no text, but the signal
  // that killed the worker is the evidence.
  std::string line;
};

// Returns the evidence if the worker's failure points to a defect of the
// worker's machine rather than of the program; else nullopt. Pure.
//
//   counts          SIGBUS and SIGILL that Muster did not send; a failure whose
//                   message or last lines of stderr name a defect of the
//                   hardware: "uncorrectable ECC", "fallen off the bus",
//                   "Input/output error" …
//   does not count  exceptions and exit codes; SIGSEGV and SIGABRT, which are
//                   mostly defects of programs; SIGKILL and SIGTERM, which come
//                   from a scheduler or from the lack of memory; a hang, whose
//                   cause may be any rank; failed communication, which follows
//                   from another failure
std::optional<Evidence> EvidenceIn(const Failure& failure);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_QUARANTINE_EVIDENCE_H_
