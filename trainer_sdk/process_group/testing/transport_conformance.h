#ifndef MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_TRANSPORT_CONFORMANCE_H_
#define MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_TRANSPORT_CONFORMANCE_H_

#include <gtest/gtest.h>

#include "trainer_sdk/process_group/testing/conformance_subject.h"

namespace muster {

// The checks of conformance_checks.h as a parameterized test suite. Usage:
//
//   ConformanceSubject Shm() {...}
//   INSTANTIATE_TEST_SUITE_P(Shm, TransportConformance,
//                            testing::Values(Shm()));
class TransportConformance : public testing::TestWithParam<ConformanceSubject> {
};

// Makes googletest print the subject's name. Without this function, googletest
// prints the bytes of the struct.
void PrintTo(const ConformanceSubject& subject, std::ostream* out);

}  // namespace muster

#endif  // MUSTER_TRAINER_SDK_PROCESS_GROUP_TESTING_TRANSPORT_CONFORMANCE_H_
