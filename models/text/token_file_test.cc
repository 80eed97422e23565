#include "models/text/token_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/text/testing/small_bpe.h"
#include "models/text/vocabulary.h"

namespace muster::models {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TokenFileTest : public testing::Test {
 protected:
  void SetUp() override { std::remove(path_.c_str()); }

  std::string Bytes() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Write(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  std::string Refusal() const {
    const auto file = TokenFile::Open(path_);
    EXPECT_FALSE(file.ok());
    return std::string(file.status().message());
  }

  const std::string path_ = testing::TempDir() + "/tokens";
};

std::vector<int32_t> All(const TokenFile& file) {
  std::vector<int32_t> tokens(static_cast<size_t>(file.count()));
  const absl::Status status = file.Read(0, tokens);
  EXPECT_TRUE(status.ok()) << status;
  return tokens;
}

TEST_F(TokenFileTest, ComesBackWithItsVocabulary) {
  const auto vocabulary = SmallBpe();
  const auto count = WriteTokenFile(path_, *vocabulary, "hello hello");
  ASSERT_TRUE(count.ok()) << count.status();
  EXPECT_EQ(*count, 3);
  EXPECT_TRUE(TokenFile::Is(path_));
  const auto file = TokenFile::Open(path_);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->count(), 3);
  EXPECT_EQ((*file)->vocabulary().Describe(), vocabulary->Describe());
  EXPECT_THAT(All(**file), ElementsAre(259, ' ', 259));
  std::vector<int32_t> some(2);
  ASSERT_TRUE((*file)->Read(1, some).ok());
  EXPECT_THAT(some, ElementsAre(' ', 259));
}

TEST_F(TokenFileTest, IsTheSameInPortionsAsInOne) {
  const auto vocabulary = SmallBpe();
  std::string text;
  // The first 1200 KiB of the text have no white space, so the text cannot be
  // split within them.
  while (text.size() < 1200u << 10) text += "hello,world1";
  while (text.size() < 4u << 20) text += " hello world\n  hell,";
  std::vector<int64_t> done;
  const auto count = WriteTokenFile(
      path_, *vocabulary, text, [&](int64_t bytes) { done.push_back(bytes); });
  ASSERT_TRUE(count.ok()) << count.status();
  EXPECT_GT(done.size(), 2u);
  EXPECT_EQ(done.back(), static_cast<int64_t>(text.size()));
  EXPECT_EQ(All(**TokenFile::Open(path_)), *vocabulary->Encode(text));
}

TEST_F(TokenFileTest, LargeVocabulariesHaveWiderTokens) {
  BpeVocabulary::Parts parts = SmallBpeParts();
  for (int i = 0; parts.tokens.size() <= 1 << 16; ++i) {
    parts.tokens.push_back("special" + std::to_string(i));
  }
  const auto vocabulary = BpeVocabulary::Create(parts);
  ASSERT_TRUE(vocabulary.ok());
  {
    const auto writer = TokenFileWriter::Create(path_, **vocabulary);
    ASSERT_TRUE(writer.ok()) << writer.status();
    const std::vector<int32_t> tokens = {5, 65536};
    ASSERT_TRUE((*writer)->Append(tokens).ok());
    ASSERT_TRUE((*writer)->Finish().ok());
  }
  EXPECT_THAT(All(**TokenFile::Open(path_)), ElementsAre(5, 65536));
}

TEST_F(TokenFileTest, UnfinishedFileLeavesTheOldOne) {
  const CharVocabulary vocabulary("ab");
  ASSERT_TRUE(WriteTokenFile(path_, vocabulary, "ab").ok());
  const std::string before = Bytes();
  {
    const auto writer = TokenFileWriter::Create(path_, vocabulary);
    ASSERT_TRUE((*writer)->Append(std::vector<int32_t>{1, 1}).ok());
  }
  EXPECT_EQ(Bytes(), before);
  EXPECT_NE(access((path_ + ".part").c_str(), F_OK), 0);
  EXPECT_THAT(
      std::string(WriteTokenFile(path_, vocabulary, "abc").status().message()),
      HasSubstr("byte 99 at position 2"));
  EXPECT_EQ(Bytes(), before);
}

TEST_F(TokenFileTest, AnEmptyTextIsRefused) {
  EXPECT_FALSE(WriteTokenFile(path_, CharVocabulary("ab"), "").ok());
  EXPECT_FALSE(TokenFile::Is(path_));
}

TEST_F(TokenFileTest, WhereNothingCanBeWrittenSaysWhy) {
  const auto count = WriteTokenFile(testing::TempDir() + "/none/tokens",
                                    CharVocabulary("ab"), "ab");
  EXPECT_EQ(count.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(count.status().message()), HasSubstr("No such file"));
}

TEST_F(TokenFileTest, ReadsNothingOutside) {
  ASSERT_TRUE(WriteTokenFile(path_, CharVocabulary("ab"), "abab").ok());
  const auto file = TokenFile::Open(path_);
  std::vector<int32_t> out(2);
  EXPECT_TRUE((*file)->Read(2, out).ok());
  for (const int64_t begin : {int64_t{3}, int64_t{-1}, INT64_MAX, INT64_MIN}) {
    EXPECT_EQ((*file)->Read(begin, out).code(), absl::StatusCode::kOutOfRange);
  }
  out.resize(5);
  EXPECT_EQ((*file)->Read(0, out).code(), absl::StatusCode::kOutOfRange);
}

TEST_F(TokenFileTest, ATokenOutsideOfTheVocabularyIsFound) {
  ASSERT_TRUE(WriteTokenFile(path_, CharVocabulary("ab"), "abab").ok());
  std::string bytes = Bytes();
  bytes[bytes.size() - 4] = 2;
  Write(bytes);
  const auto file = TokenFile::Open(path_);
  ASSERT_TRUE(file.ok()) << file.status();
  std::vector<int32_t> out(4);
  const absl::Status status = (*file)->Read(0, out);
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("token 2 is 2 in a vocabulary of 2"));
}

TEST_F(TokenFileTest, DamagedFilesAreRefused) {
  EXPECT_THAT(Refusal(), HasSubstr("No such file"));
  Write("To be, or not to be");
  EXPECT_THAT(Refusal(), HasSubstr("no token file"));
  ASSERT_TRUE(WriteTokenFile(path_, CharVocabulary("ab"), "abab").ok());
  const std::string sound = Bytes();
  const auto with = [&](size_t offset, char byte) {
    std::string bytes = sound;
    bytes[offset] = byte;
    Write(bytes);
  };
  with(offsetof(TokenFileHeader, version), 2);
  EXPECT_THAT(Refusal(), HasSubstr("version 2"));
  with(offsetof(TokenFileHeader, token_bytes), 4);
  EXPECT_THAT(Refusal(), HasSubstr("header is damaged"));
  with(offsetof(TokenFileHeader, vocabulary_tokens), 3);
  EXPECT_THAT(Refusal(), HasSubstr("2 tokens, and 3 in the header"));
  with(offsetof(TokenFileHeader, vocabulary_bytes) + 7, 127);
  EXPECT_THAT(Refusal(), HasSubstr("header is damaged"));
  with(offsetof(TokenFileHeader, vocabulary_bytes) + 1, 1);
  EXPECT_THAT(Refusal(), HasSubstr("not what its header says"));
  // If a writer is killed before Finish, the count in the header stays 0. Such
  // a file must be refused.
  with(offsetof(TokenFileHeader, count), 0);
  EXPECT_THAT(Refusal(), HasSubstr("not what its header says"));
  for (size_t length = 0; length < sound.size(); ++length) {
    Write(sound.substr(0, length));
    EXPECT_FALSE(TokenFile::Open(path_).ok()) << length;
  }
  Write(sound + "a");
  EXPECT_THAT(Refusal(), HasSubstr("not what its header says"));
}

TEST_F(TokenFileTest, ANamedPipeIsNotWaitedFor) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(Refusal(), HasSubstr("it is not a file"));
}

TEST(TokensInMemoryTest, ReadsNothingOutside) {
  const TokensInMemory tokens({1, 2, 3});
  std::vector<int32_t> out(2);
  ASSERT_TRUE(tokens.Read(1, out).ok());
  EXPECT_THAT(out, ElementsAre(2, 3));
  EXPECT_EQ(tokens.Read(2, out).code(), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(tokens.Read(-1, out).code(), absl::StatusCode::kOutOfRange);
}

}  // namespace
}  // namespace muster::models
