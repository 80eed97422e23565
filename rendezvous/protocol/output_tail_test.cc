#include "rendezvous/protocol/output_tail.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::rendezvous {
namespace {

using ::testing::EndsWith;
using ::testing::IsEmpty;

InquiryUpdate Lines(const std::vector<std::string>& texts) {
  InquiryUpdate update{.node_id = "a", .host = "host-a"};
  for (const std::string& text : texts) {
    update.part.lines.push_back({.rank = 1, .text = text});
  }
  return update;
}

TEST(OutputTailTest, KeepsLinesInTheirOrder) {
  OutputTail tail;
  EXPECT_TRUE(tail.empty());
  tail.Add(Lines({"one"}));
  tail.Add(Lines({"two", "three"}));
  ASSERT_EQ(tail.lines().size(), 3u);
  EXPECT_EQ(tail.lines()[0].text, "one");
  EXPECT_EQ(tail.lines()[2].text, "three");
  EXPECT_EQ(tail.dropped(), 0u);
  EXPECT_FALSE(tail.empty());
}

TEST(OutputTailTest, DropsTheOldestOfTooManyLines) {
  OutputTail tail;
  for (size_t i = 0; i < OutputTail::kMaxLines + 2; ++i) {
    tail.Add(Lines({std::to_string(i)}));
  }
  EXPECT_EQ(tail.lines().size(), OutputTail::kMaxLines);
  EXPECT_EQ(tail.lines().front().text, "2");
  EXPECT_EQ(tail.dropped(), 2u);
}

TEST(OutputTailTest, DropsTheOldestOfTooManyBytes) {
  const std::string kilobyte(1024, 'x');
  OutputTail tail;
  for (int i = 0; i < 17; ++i) tail.Add(Lines({kilobyte}));
  EXPECT_EQ(tail.lines().size(), 16u);
  EXPECT_EQ(tail.dropped(), 1u);
}

TEST(OutputTailTest, CutsAHugeLine) {
  OutputTail tail;
  tail.Add(Lines({std::string(OutputTail::kMaxLineBytes, 'x'),
                  std::string(OutputTail::kMaxLineBytes + 3, 'x')}));
  EXPECT_EQ(tail.lines()[0].text.size(), OutputTail::kMaxLineBytes);
  EXPECT_THAT(tail.lines()[1].text, EndsWith("xx [... 3 bytes more]"));
}

TEST(OutputTailTest, CutsBetweenCharacters) {
  std::string text(OutputTail::kMaxLineBytes - 1, 'x');
  // The limit kMaxLineBytes is between the two bytes of \u00e9.
  text += "\u00e9yy";
  OutputTail tail;
  tail.Add(Lines({text}));
  EXPECT_THAT(tail.lines()[0].text, EndsWith("xx [... 4 bytes more]"));
}

TEST(OutputTailTest, CutsBytesThatAreNotText) {
  OutputTail tail;
  tail.Add(Lines({std::string(5000, '\x80')}));
  EXPECT_THAT(tail.lines()[0].text, EndsWith(" bytes more]"));
  EXPECT_LE(tail.lines()[0].text.size(), OutputTail::kMaxLineBytes + 40);
}

TEST(OutputTailTest, KeepsTheNewestNote) {
  OutputTail tail;
  EXPECT_THAT(tail.note(), IsEmpty());
  InquiryUpdate update{.node_id = "a", .host = "host-a"};
  update.part.notes = {"old", "12 bytes are missing"};
  tail.Add(update);
  EXPECT_EQ(tail.note(), "host-a: 12 bytes are missing");
  EXPECT_FALSE(tail.empty());
  tail.Add({.node_id = "a", .host = "host-a", .missing = "it was lost"});
  EXPECT_EQ(tail.note(), "host-a: it was lost");
  tail.Add(Lines({"more"}));
  EXPECT_EQ(tail.note(), "host-a: it was lost");
}

}  // namespace
}  // namespace muster::rendezvous
