#include "rendezvous/wire/bounded_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::rendezvous {
namespace {

using ::testing::HasSubstr;

TEST(BoundedReaderTest, AcceptsTheBoundsThemselves) {
  BoundedReader reader("report");
  std::string text;
  int number = 0;
  reader.Text("host", "abc", 3, TextKind::kName, &text);
  reader.Integer("port", 1, 1, 9, &number);
  reader.Integer("port", 9, 1, 9, &number);
  EXPECT_TRUE(reader.Count("keys", 2, 2));
  EXPECT_TRUE(reader.status().ok()) << reader.status();
  EXPECT_EQ(text, "abc");
  EXPECT_EQ(number, 9);
}

TEST(BoundedReaderTest, NamesTheFieldWithItsPath) {
  BoundedReader reader("report");
  {
    BoundedReader::Within outer(&reader, "failures", 2);
    int number = 0;
    reader.Integer("signal", 65, 0, 64, &number);
    EXPECT_EQ(number, 0);
  }
  EXPECT_EQ(reader.status(), absl::InvalidArgumentError(
                                 "the report's failures[2].signal is 65; it "
                                 "must be between 0 and 64"));
}

TEST(BoundedReaderTest, KeepsTheFirstError) {
  BoundedReader reader("report");
  std::string text;
  reader.Text("first", "long", 3, TextKind::kWords, &text);
  reader.Unknown("second", 5);
  EXPECT_THAT(std::string(reader.status().message()), HasSubstr("first"));
}

TEST(BoundedReaderTest, NamesHoldNoControlCharacter) {
  for (const char* bad : {"a\nb", "a\x1b[2J", "a\x7f"}) {
    BoundedReader reader("report");
    std::string text;
    reader.Text("host", bad, 100, TextKind::kName, &text);
    EXPECT_FALSE(reader.status().ok());
    BoundedReader words("report");
    words.Text("message", bad, 100, TextKind::kWords, &text);
    EXPECT_TRUE(words.status().ok());
  }
}

TEST(BoundedReaderTest, BoundsSpansSoThatSumsCannotOverflow) {
  BoundedReader reader("report");
  Duration span = Duration::zero();
  reader.Span("join_timeout", std::numeric_limits<int64_t>::max(), &span);
  EXPECT_FALSE(reader.status().ok());
  EXPECT_EQ(span, Duration::zero());
}

TEST(BoundedReaderTest, SaysWhatIsMissing) {
  BoundedReader reader("directive");
  reader.Present("place", false);
  EXPECT_EQ(reader.status(),
            absl::InvalidArgumentError("the directive's place is missing"));
}

}  // namespace
}  // namespace muster::rendezvous
