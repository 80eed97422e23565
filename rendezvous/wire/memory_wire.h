#ifndef MUSTER_RENDEZVOUS_WIRE_MEMORY_WIRE_H_
#define MUSTER_RENDEZVOUS_WIRE_MEMORY_WIRE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rendezvous/protocol/node_fault.h"
#include "rendezvous/quarantine/node_memory.h"

namespace muster::v1 {
class HostStatus;
class Judgement;
}  // namespace muster::v1

namespace muster::rendezvous {

class BoundedReader;

// Serialises what a coordinator remembers about the faults of machines
// (NodeMemory), for a journal (proto/journal.proto).
std::string ToBytes(const NodeMemory::Kept& kept);
// Parses the bytes that ToBytes has made. DataLoss: the bytes cannot be parsed.
// InvalidArgument: a field is out of bounds; the message names it.
absl::StatusOr<NodeMemory::Kept> MemoryFromBytes(const std::string& bytes);

void ToWire(const HostJudgement& judgement, v1::Judgement* wire);
void FromWire(const v1::Judgement& wire, BoundedReader* reader,
              HostJudgement* judgement);
void ToWire(const HostStatus& status, v1::HostStatus* wire);
absl::Status FromWire(const v1::HostStatus& wire, HostStatus* status);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_WIRE_MEMORY_WIRE_H_
