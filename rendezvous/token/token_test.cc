#include "rendezvous/token/token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

namespace muster::rendezvous {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TokenTest : public ::testing::Test {
 protected:
  // Clears the token that ReadToken has moved out of the environment in an
  // earlier test.
  void SetUp() override {
    setenv(kTokenVariable, "", 1);
    TakeTokenVariable();
  }

  std::string Write(const std::string& content, mode_t mode) {
    const std::string path = ::testing::TempDir() + "token";
    std::ofstream(path, std::ios::binary) << content;
    chmod(path.c_str(), mode);
    return path;
  }
  absl::StatusOr<std::string> Read(const std::string& file) {
    return ReadToken(file,
                     [this](const std::string& w) { warnings_.push_back(w); });
  }

  std::vector<std::string> warnings_;
};

TEST_F(TokenTest, NoneIsSet) {
  EXPECT_EQ(Read("").value(), "");
  setenv(kTokenVariable, "", 1);
  EXPECT_EQ(Read("").value(), "");
}

TEST_F(TokenTest, ComesFromTheVariable) {
  setenv(kTokenVariable, "s3cret-0123456789", 1);
  EXPECT_EQ(Read("").value(), "s3cret-0123456789");
}

TEST_F(TokenTest, LeavesTheEnvironmentAndIsStillKnown) {
  setenv(kTokenVariable, "s3cret-0123456789", 1);
  TakeTokenVariable();
  EXPECT_EQ(getenv(kTokenVariable), nullptr);
  EXPECT_EQ(Read("").value(), "s3cret-0123456789");
  EXPECT_EQ(TakenToken(), "s3cret-0123456789");
  TakeTokenVariable();
  EXPECT_EQ(TakenToken(), "s3cret-0123456789");
}

TEST(FreshToken, IsLongAndNeverTheSame) {
  const std::string token = FreshToken();
  EXPECT_EQ(token.size(), 64u);
  EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_NE(token, FreshToken());
}

TEST_F(TokenTest, TheFileGoesBeforeTheVariable) {
  setenv(kTokenVariable, "other", 1);
  EXPECT_EQ(Read(Write("s3cret-0123456789\n", 0600)).value(),
            "s3cret-0123456789");
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(TokenTest, FinalLineEndIsRemoved) {
  EXPECT_EQ(Read(Write("s3cret-0123456789\r\n", 0600)).value(),
            "s3cret-0123456789");
  EXPECT_EQ(Read(Write("s3cret-0123456789\n\n", 0600)).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(TokenTest, WarnsWhereOthersMayRead) {
  EXPECT_EQ(Read(Write("s3cret-0123456789", 0644)).value(),
            "s3cret-0123456789");
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("chmod 600")));
}

TEST_F(TokenTest, WarnsOfATokenThatMayBeGuessed) {
  EXPECT_EQ(Read(Write("123456789012345\n", 0600)).value(), "123456789012345");
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("launch token")));
}

TEST_F(TokenTest, SecondLineIsTheTokenThatIsBeingReplaced) {
  const std::string file =
      Write("s3cret-0123456789\r\nolder-0123456789\n", 0600);
  const auto tokens = ReadTokens(file, [](const std::string&) {});
  EXPECT_THAT(tokens.value(),
              ElementsAre("s3cret-0123456789", "older-0123456789"));
  EXPECT_EQ(Read(file).value(), "s3cret-0123456789");
}

TEST_F(TokenTest, SaysWhatIsWrongWithTheFile) {
  EXPECT_EQ(Read("/no/such/file").status().code(), absl::StatusCode::kNotFound);
  EXPECT_FALSE(Read(::testing::TempDir()).ok());
  for (const std::string& bad :
       {std::string(), std::string("\n"), std::string(5000, 'x'),
        std::string("two words"), std::string("a\nb\nc"), std::string("a\n\nb"),
        std::string("\xc3\xa9"), std::string("a\0b", 3)}) {
    EXPECT_EQ(Read(Write(bad, 0600)).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(TokenTest, AFileThatNeverEndsIsNotReadToItsEnd) {
  EXPECT_EQ(Read("/dev/zero").status().code(),
            absl::StatusCode::kInvalidArgument);
}

// The token file may be a pipe with a slow writer. The shell's <(…) makes such
// a pipe.
TEST_F(TokenTest, MayComeFromAPipe) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::thread writer([end = ends[1]] {
    EXPECT_EQ(write(end, "s3cret-0123456789\n", 18), 18);
    close(end);
  });
  EXPECT_EQ(Read("/proc/self/fd/" + std::to_string(ends[0])).value_or("failed"),
            "s3cret-0123456789");
  writer.join();
  close(ends[0]);
}

TEST(IsTokenTest, OnlyEqualTokensMatch) {
  EXPECT_TRUE(IsToken("abc", "abc"));
  EXPECT_TRUE(IsToken("", ""));
  for (const char* other : {"", "a", "ab", "abd", "bbc", "abcd", "abcabc"}) {
    EXPECT_FALSE(IsToken(other, "abc")) << other;
  }
  EXPECT_FALSE(IsToken("abc", ""));
  EXPECT_FALSE(IsToken(std::string_view("\0\0\0", 3), ""));
}

}  // namespace
}  // namespace muster::rendezvous
