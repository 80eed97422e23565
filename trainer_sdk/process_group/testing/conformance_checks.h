#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_CONFORMANCE_CHECKS_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_CONFORMANCE_CHECKS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "trainer_sdk/process_group/testing/conformance_subject.h"

// The checks of the conformance suite, with threads as ranks. Each check makes
// its own groups. The returned error says what the transport does wrong.

namespace muster {

// Runs the cases selected for this size (CaseSelection), one after another in
// one group. `size` is one of the subject's sizes.
absl::Status CheckCollectives(const ConformanceSubject& subject, int size);

// Checks that all ranks get bit-identical sums of floats, and that each sum is
// correct except for rounding.
absl::Status CheckEqualBits(const ConformanceSubject& subject, int size);

// Checks messages that go around a ring of ranks, batches of several messages
// in both directions, and the matching of tags.
absl::Status CheckPointToPoint(const ConformanceSubject& subject, int size);

// Checks collectives, messages and batches in overlapping groups, in a random
// order drawn from `seed`.
absl::Status CheckInterleavings(const ConformanceSubject& subject, int size,
                                uint64_t seed);

// Performs the same random sequence of operations as CheckInterleavings with
// this `seed`, but through ProcessGroup::Start, with several operations pending
// at once. Each rank starts the groups' operations in its own order and waits
// for them in another order. All results must be correct.
absl::Status CheckStartedOperations(const ConformanceSubject& subject, int size,
                                    uint64_t seed);

// One rank calls an operation that differs from the other ranks' operation.
// Checks that every rank gets an error that names the operation of each rank,
// and that the group stays broken.
absl::Status CheckMismatches(const ConformanceSubject& subject, int size);

// One rank does not call an operation that the other ranks call. Checks that
// the other ranks fail at the deadline, with errors that name the absent rank.
absl::Status CheckDeadline(const ConformanceSubject& subject, int size);

// Checks that Abort makes pending and later operations fail with the reason
// that was passed to Abort.
absl::Status CheckAbort(const ConformanceSubject& subject, int size);

// One rank's operation times out before any other rank calls the operation.
// Checks that later calls of the other ranks fail too, even if the rank that
// timed out has sent all data that they need from it.
absl::Status CheckBrokenForAll(const ConformanceSubject& subject, int size);

// Forms several groups; in each group, one store call of one rank fails: first
// its first call, then its second, and so on. Checks that the other ranks fail
// at once, with the failed rank's number and reason.
absl::Status CheckFailedFormation(const ConformanceSubject& subject, int size);

// One rank never joins a new group, and the others wait for it. Then one of the
// waiting ranks gives up. Checks that the other waiting ranks fail at once,
// with the number and the reason of the rank that gave up.
absl::Status CheckInterruptedFormation(const ConformanceSubject& subject,
                                       int size);

// Checks that memory from Transport::Allocate, if supported, works as input and
// output.
absl::Status CheckMemory(const ConformanceSubject& subject, int size);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_CONFORMANCE_CHECKS_H_
