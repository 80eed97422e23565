// Fuzzes the tokenizer. The first byte of `input` selects the case: a text, or
// edits (edited_bytes.h) of a valid vocab.json, merges.txt, stored vocabulary
// or token file.
//
// Aborts if a result is wrong: the tokens of a text are not decoded to this
// text, pieces do not add up to the text, a vocabulary changes when it is
// stored, or a token is not in its vocabulary.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/owned_fd.h"
#include "models/text/bpe_files.h"
#include "models/text/stored_vocabulary.h"
#include "models/text/testing/small_bpe.h"
#include "models/text/text_pieces.h"
#include "models/text/token_file.h"
#include "tests/fuzz/edited_bytes.h"
#include "tests/fuzz/fuzz_case.h"

namespace muster {
namespace {

const std::string& Json() {
  static const std::string json = models::SmallVocabularyJson();
  return json;
}

const std::string& Merges() {
  static const std::string merges = models::SmallMergesText();
  return merges;
}

// A file in memory that other code can open by a path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view bytes)
      : file_(memfd_create("tokens", MFD_CLOEXEC)),
        path_("/proc/self/fd/" + std::to_string(file_.get())) {
    MUSTER_CHECK(file_.open());
    MUSTER_CHECK(write(file_.get(), bytes.data(), bytes.size()) ==
                 static_cast<ssize_t>(bytes.size()));
  }
  const std::string& path() const { return path_; }

 private:
  OwnedFd file_;
  std::string path_;
};

void CheckPieces(std::string_view text) {
  std::vector<std::string_view> pieces;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view piece = models::TakePiece(&rest);
    MUSTER_CHECK(!piece.empty());
    pieces.push_back(piece);
  }
  const char* next = text.data();
  for (const std::string_view piece : pieces) {
    MUSTER_CHECK(piece.data() == next);
    next += piece.size();
  }
  MUSTER_CHECK(next == text.data() + text.size());
  // WholePieces returns the length of a prefix of `text`. This prefix must
  // consist of whole `pieces`, into which TakePiece has divided `text` above.
  const size_t whole = models::WholePieces(text, text.size() / 2);
  MUSTER_CHECK(whole <= text.size());
  size_t end = 0;
  for (size_t i = 0; i < pieces.size() && end < whole; ++i) {
    end += pieces[i].size();
  }
  MUSTER_CHECK(end == whole);
}

void CheckVocabulary(const models::Vocabulary& vocabulary,
                     std::string_view text) {
  const auto stored = models::ParseVocabulary(vocabulary.Serialize());
  MUSTER_CHECK(stored.ok()) << stored.status();
  MUSTER_CHECK((*stored)->Serialize() == vocabulary.Serialize());
  const auto tokens = vocabulary.Encode(text);
  if (!tokens.ok()) return;
  MUSTER_CHECK(*(*stored)->Encode(text) == *tokens);
  MUSTER_CHECK(vocabulary.Decode(*tokens) == text);
}

void CheckTokenFile(std::string_view bytes) {
  const MemoryFile memory(bytes);
  const auto file = models::TokenFile::Open(memory.path());
  if (!file.ok()) return;
  MUSTER_CHECK((*file)->count() <= static_cast<int64_t>(bytes.size()));
  std::vector<int32_t> tokens(static_cast<size_t>((*file)->count()));
  if (!(*file)->Read(0, tokens).ok()) return;
  for (const int32_t token : tokens) {
    MUSTER_CHECK(token >= 0 && token < (*file)->vocabulary().size());
  }
  CheckVocabulary((*file)->vocabulary(), (*file)->vocabulary().Decode(tokens));
}

// Returns a valid token file with ten tokens and the vocabulary of SmallBpe().
std::string SoundTokenFile() {
  const std::string vocabulary = models::SmallBpe()->Serialize();
  models::TokenFileHeader header;
  header.vocabulary_tokens = 263;
  header.vocabulary_bytes = vocabulary.size();
  header.token_bytes = 2;
  header.count = 10;
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof(header));
  bytes += vocabulary;
  bytes.resize(models::TokensOffset(vocabulary.size()));
  return bytes + std::string("hello worldhello wor").substr(0, 20);
}

}  // namespace

void RunFuzzCase(std::string_view input) {
  if (input.empty()) return;
  const int kind = static_cast<unsigned char>(input[0]) % 5;
  input.remove_prefix(1);
  if (kind == 0) {
    static const std::unique_ptr<models::BpeVocabulary> small =
        models::SmallBpe();
    CheckPieces(input);
    CheckVocabulary(*small, input);
  } else if (kind == 1 || kind == 2) {
    const auto vocabulary =
        models::ParseBpe(kind == 1 ? EditedBytes(Json(), input) : Json(),
                         kind == 2 ? EditedBytes(Merges(), input) : Merges());
    if (vocabulary.ok()) CheckVocabulary(**vocabulary, input);
  } else if (kind == 3) {
    static const std::string sound = models::SmallBpe()->Serialize();
    const auto vocabulary = models::ParseVocabulary(EditedBytes(sound, input));
    if (vocabulary.ok()) CheckVocabulary(**vocabulary, input);
  } else {
    static const std::string sound = SoundTokenFile();
    CheckTokenFile(EditedBytes(sound, input));
  }
}

}  // namespace muster
