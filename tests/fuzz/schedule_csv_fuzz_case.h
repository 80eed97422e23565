#ifndef MUSTER_TESTS_FUZZ_SCHEDULE_CSV_FUZZ_CASE_H_
#define MUSTER_TESTS_FUZZ_SCHEDULE_CSV_FUZZ_CASE_H_

#include <string_view>

namespace muster {

// Edits (edited_bytes.h) the CSV of a valid schedule, either of computations or
// lowered. Aborts if an accepted schedule is invalid or changes when written
// again.
void RunScheduleCsvFuzzCase(std::string_view input);

}  // namespace muster

#endif  // MUSTER_TESTS_FUZZ_SCHEDULE_CSV_FUZZ_CASE_H_
