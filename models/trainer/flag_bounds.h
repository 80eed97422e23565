#ifndef MUSTER_MODELS_TRAINER_FLAG_BOUNDS_H_
#define MUSTER_MODELS_TRAINER_FLAG_BOUNDS_H_

#include <CLI/CLI.hpp>

namespace muster::models {

// For CLI::Option::check: the range of a number, with an error in words.
// CLI11's own bounds accept nan and print their ends with all 309 digits. None
// of these accepts an infinity.
CLI::Validator FromZero();
CLI::Validator AboveZero();
// A number in [0, 1), such as AdamW's betas.
CLI::Validator FromZeroToBelowOne();

// An integer of at most 32 bits. CLI11's error would only be "not in range".
CLI::Validator WholeBetween(int least, int most);

// An integer of 64 bits that is not negative. CLI11 would convert -1 to the
// largest value.
CLI::Validator WholeFromZero();

}  // namespace muster::models

#endif  // MUSTER_MODELS_TRAINER_FLAG_BOUNDS_H_
