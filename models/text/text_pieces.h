#ifndef MUSTER_MODELS_TEXT_TEXT_PIECES_H_
#define MUSTER_MODELS_TEXT_TEXT_PIECES_H_

#include <cstddef>
#include <string_view>

namespace muster::models {

// Splits a text into pieces as GPT-2 does before it merges bytes within each
// piece. The pieces are the consecutive matches of the regular expression
//
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
// Letters, numbers and white space are those of Unicode 15.0. A byte that
// belongs to no valid character is none of these.

// Removes the first piece from `text`, which must not be empty, and returns it.
// The piece is not empty. Linear in the length of the piece.
std::string_view TakePiece(std::string_view* text);

// Returns the length of the longest prefix of `text`, at most `most` bytes,
// that can be encoded separately: the text after the prefix does not change how
// the prefix is divided into pieces. 0: there is no such prefix.
size_t WholePieces(std::string_view text, size_t most);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TEXT_TEXT_PIECES_H_
