#ifndef MUSTER_RENDEZVOUS_WIRE_PROGRESS_WIRE_H_
#define MUSTER_RENDEZVOUS_WIRE_PROGRESS_WIRE_H_

#include <vector>

#include "rendezvous/protocol/progress.h"
#include "rendezvous/wire/bounded_reader.h"

namespace google::protobuf {
template <typename T>
class RepeatedPtrField;
}

namespace muster::v1 {
class WorkerProgress;
}  // namespace muster::v1

namespace muster::rendezvous {

using WireProgress = google::protobuf::RepeatedPtrField<v1::WorkerProgress>;
// Omits workers beyond kMaxProgressPerReport.
void ToWire(const std::vector<WorkerProgress>& progress, WireProgress* wire);
void FromWire(const WireProgress& wire, BoundedReader* reader,
              std::vector<WorkerProgress>* progress);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_WIRE_PROGRESS_WIRE_H_
