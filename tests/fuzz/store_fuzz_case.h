#ifndef MUSTER_TESTS_FUZZ_STORE_FUZZ_CASE_H_
#define MUSTER_TESTS_FUZZ_STORE_FUZZ_CASE_H_

#include <string_view>

namespace muster {

// Four clients send pieces of `input` to one store core, as it is and through a
// relay's core, in an order and in sizes that the input tells. Ends the process
// where an invariant is broken: memory is bounded and given back, nobody is
// answered who is gone, what a client is told is a reply to what it asked.
void RunStoreFuzzCase(std::string_view input);

}  // namespace muster

#endif  // MUSTER_TESTS_FUZZ_STORE_FUZZ_CASE_H_
