#ifndef MUSTER_MODELS_TEXT_BYTE_CHARACTERS_H_
#define MUSTER_MODELS_TEXT_BYTE_CHARACTERS_H_

#include <optional>
#include <string>
#include <string_view>

namespace muster::models {

// GPT-2's vocabulary files spell each byte as a printable character: those that
// are printable in Latin-1 as themselves, the other 68 as U+0100 and on, in
// order. A space is "Ġ", a newline "Ċ".

// The character of a byte, in UTF-8.
std::string CharacterOfByte(unsigned char byte);

// The bytes that `characters` spell; nullopt if a character spells no byte or
// the text is not UTF-8.
std::optional<std::string> BytesOfCharacters(std::string_view characters);

}  // namespace muster::models

#endif  // MUSTER_MODELS_TEXT_BYTE_CHARACTERS_H_
