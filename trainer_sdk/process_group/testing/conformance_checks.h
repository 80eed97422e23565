#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_CONFORMANCE_CHECKS_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_CONFORMANCE_CHECKS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "trainer_sdk/process_group/testing/conformance_subject.h"

namespace muster {

// What a transport must do, with threads as ranks. Each check makes its own
// groups; the error says what is wrong.

// What of the cases falls to this size (case_selection.h), one after another in
// one group. The size is one of the subject's.
absl::Status CheckCollectives(const ConformanceSubject& subject, int size);

// All ranks get the same bits, whatever the order of additions, and they are
// the sum but for rounding.
absl::Status CheckEqualBits(const ConformanceSubject& subject, int size);

// A ring of messages, batches of several in both directions, tags.
absl::Status CheckPointToPoint(const ConformanceSubject& subject, int size);

// Collectives, messages and batches in overlapping groups in an order drawn
// from `seed`.
absl::Status CheckInterleavings(const ConformanceSubject& subject, int size,
                                uint64_t seed);

// The same steps through process groups: several are started at once, each rank
// taking the groups in an order of its own, and waited for in another.
absl::Status CheckStartedOperations(const ConformanceSubject& subject, int size,
                                    uint64_t seed);

// One rank calls something else: every rank is told what each called, and
// the group is broken for good.
absl::Status CheckMismatches(const ConformanceSubject& subject, int size);

// One rank does not come: the others give up at the deadline and name it.
absl::Status CheckDeadline(const ConformanceSubject& subject, int size);

// Abort ends what is under way and what comes later, with its reason.
absl::Status CheckAbort(const ConformanceSubject& subject, int size);

// One rank gives up while no other has come: whatever the others call later
// fails too, although what the first one sent may be all that they need of it.
absl::Status CheckBrokenForAll(const ConformanceSubject& subject, int size);

// One rank fails while the group forms, at whatever call of its store: the
// others fail too, at once, with its name and reason.
absl::Status CheckFailedFormation(const ConformanceSubject& subject, int size);

// One rank gives up while another has not come: the same.
absl::Status CheckInterruptedFormation(const ConformanceSubject& subject,
                                       int size);

// Memory of the transport's own, if it has any, serves as input and output.
absl::Status CheckMemory(const ConformanceSubject& subject, int size);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_CONFORMANCE_CHECKS_H_
