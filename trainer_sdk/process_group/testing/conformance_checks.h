#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_CONFORMANCE_CHECKS_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_CONFORMANCE_CHECKS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "trainer_sdk/process_group/testing/conformance_subject.h"

namespace muster {

// The checks of the conformance suite, with threads as ranks. Each check makes
// its own groups. The error says what the transport does wrong.

// Runs the cases selected for this size (case_selection.h), one after another
// in one group. `size` is one of the subject's sizes.
absl::Status CheckCollectives(const ConformanceSubject& subject, int size);

// All ranks get bit-identical results, whatever the order of additions, equal
// to the true sum except for rounding.
absl::Status CheckEqualBits(const ConformanceSubject& subject, int size);

// A ring of messages, batches of several messages in both directions, and tags.
absl::Status CheckPointToPoint(const ConformanceSubject& subject, int size);

// Collectives, messages and batches in overlapping groups, in a random order
// drawn from `seed`.
absl::Status CheckInterleavings(const ConformanceSubject& subject, int size,
                                uint64_t seed);

// The same steps through ProcessGroup::Start: several operations are started at
// once. Each rank takes the groups in its own order, and waits for the works in
// another order.
absl::Status CheckStartedOperations(const ConformanceSubject& subject, int size,
                                    uint64_t seed);

// One rank calls another operation: every rank gets an error that names what
// each rank called, and the group stays broken.
absl::Status CheckMismatches(const ConformanceSubject& subject, int size);

// One rank does not arrive: the others fail at the deadline and name it.
absl::Status CheckDeadline(const ConformanceSubject& subject, int size);

// Abort ends pending and later operations, with its reason.
absl::Status CheckAbort(const ConformanceSubject& subject, int size);

// One rank gives up before any other arrives. Later calls of the others must
// fail too, even if the first rank's data has arrived and is all that they need
// from it.
absl::Status CheckBrokenForAll(const ConformanceSubject& subject, int size);

// One rank fails while the group forms, in turn at each of its store calls: the
// others fail at once, with that rank's number and reason.
absl::Status CheckFailedFormation(const ConformanceSubject& subject, int size);

// One rank gives up while another has not arrived: the others fail at once,
// with that rank's number and reason.
absl::Status CheckInterruptedFormation(const ConformanceSubject& subject,
                                       int size);

// Memory from Transport::Allocate, if supported, works as input and output.
absl::Status CheckMemory(const ConformanceSubject& subject, int size);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_CONFORMANCE_CHECKS_H_
