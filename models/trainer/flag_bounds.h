#ifndef MUSTER_MODELS_TRAINER_FLAG_BOUNDS_H_
#define MUSTER_MODELS_TRAINER_FLAG_BOUNDS_H_

#include <CLI/CLI.hpp>

namespace muster {

// For CLI::Option::check: which numbers a flag takes, said in words where it is
// given another. CLI11's own bounds let nan through, and print their ends to
// the last of 309 digits. None takes an infinity.
CLI::Validator FromZero();
CLI::Validator AboveZero();
// A share of what was, as AdamW's betas.
CLI::Validator FromZeroToBelowOne();

// Of at most 32 bits. CLI11 says of a word only that it is "not in range".
CLI::Validator WholeBetween(int least, int most);

// Of 64 bits, where CLI11 makes -1 the largest there is.
CLI::Validator WholeFromZero();

}  // namespace muster

#endif  // MUSTER_MODELS_TRAINER_FLAG_BOUNDS_H_
