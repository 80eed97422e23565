#ifndef MUSTER_MODELS_TEXT_TEXT_PIECES_H_
#define MUSTER_MODELS_TEXT_TEXT_PIECES_H_

#include <cstddef>
#include <string_view>

namespace muster {

// Cuts a text as GPT-2 does before it merges bytes within each piece: what the
// regular expression
//
//   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//
// finds, one match behind the other. Letters, numbers and white space are those
// of Unicode (15.0). A byte that belongs to no well-formed character is neither
// of them.

// Takes the first piece off `text`, which is not empty; the piece is not
// either. Linear in the piece's length.
std::string_view TakePiece(std::string_view* text);

// The length of the longest beginning of `text`, up to `most` bytes, that is
// cut into the same pieces alone as it is in front of the rest: what may be
// encoded by itself. 0 where there is none.
size_t WholePieces(std::string_view text, size_t most);

}  // namespace muster

#endif  // MUSTER_MODELS_TEXT_TEXT_PIECES_H_
