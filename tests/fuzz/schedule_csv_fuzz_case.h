#ifndef MUSTER_TESTS_FUZZ_SCHEDULE_CSV_FUZZ_CASE_H_
#define MUSTER_TESTS_FUZZ_SCHEDULE_CSV_FUZZ_CASE_H_

#include <string_view>

namespace muster {

// Edits (edited_bytes.h) of a sound schedule's CSV, of computations or lowered.
// Ends the process where one is read that is another one after it was written,
// or that is not sound.
void RunScheduleCsvFuzzCase(std::string_view input);

}  // namespace muster

#endif  // MUSTER_TESTS_FUZZ_SCHEDULE_CSV_FUZZ_CASE_H_
