// usage: bpe_tokens VOCAB.json MERGES.txt
// Reads texts from stdin, each after a line with its length in bytes. Prints
// the tokens of each text as one line. Exits with 1 if the tokens do not decode
// to the text.

#include <iostream>
#include <string>

#include "models/text/bpe_files.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const auto vocabulary = muster::models::ReadBpeFiles(argv[1], argv[2]);
  if (!vocabulary.ok()) {
    std::cerr << vocabulary.status() << "\n";
    return 1;
  }
  size_t bytes = 0;
  while (std::cin >> bytes && std::cin.get() == '\n') {
    std::string text(bytes, '\0');
    std::cin.read(text.data(), static_cast<std::streamsize>(bytes));
    const auto tokens = (*vocabulary)->Encode(text);
    if (!tokens.ok() || (*vocabulary)->Decode(*tokens) != text) {
      std::cerr << "a text of " << bytes << " bytes does not come back\n";
      return 1;
    }
    for (const int32_t token : *tokens) std::cout << token << " ";
    std::cout << "\n";
  }
  return 0;
}
