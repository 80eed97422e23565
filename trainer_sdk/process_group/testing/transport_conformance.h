#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_TRANSPORT_CONFORMANCE_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_TRANSPORT_CONFORMANCE_H_

#include <gtest/gtest.h>

#include "trainer_sdk/process_group/testing/conformance_subject.h"

namespace muster {

// Everything that conformance_checks.h demands of a transport. In its test:
//
//   ConformanceSubject Shm() {...}
//   INSTANTIATE_TEST_SUITE_P(Shm, TransportConformance,
//                            testing::Values(Shm()));
class TransportConformance : public testing::TestWithParam<ConformanceSubject> {
};

// Makes "Shm" of a subject rather than its bytes.
void PrintTo(const ConformanceSubject& subject, std::ostream* out);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_TRANSPORT_CONFORMANCE_H_
