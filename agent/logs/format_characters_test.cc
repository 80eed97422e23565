#include "agent/logs/format_characters.h"

#include <gtest/gtest.h>

namespace muster::agent {
namespace {

TEST(FormatCharacters, AreShownByTheirNumber) {
  EXPECT_EQ(WithVisibleFormats("a\u202Eb\u202Cc"), "a<U+202E>b<U+202C>c");
  EXPECT_EQ(WithVisibleFormats("\uFEFF\u200B\u2066\u2069\u2028\u00AD"),
            "<U+FEFF><U+200B><U+2066><U+2069><U+2028><U+00AD>");
  EXPECT_EQ(WithVisibleFormats("\U000E0041"), "<U+E0041>");
}

TEST(FormatCharacters, OtherTextStaysAsItIs) {
  const char* const text = "plain \u00fc \u0645\u0631 \u6f22 \U0001F600";
  EXPECT_EQ(WithVisibleFormats(text), text);
  EXPECT_EQ(WithVisibleFormats(""), "");
}

TEST(ForTerminalTest, ControlsGoAndLineEndsStay) {
  EXPECT_EQ(ForTerminal("a\x1b[2Jb\r\nc\u202Ed\xff\n"),
            "ab\nc<U+202E>d\xef\xbf\xbd\n");
}

}  // namespace
}  // namespace muster::agent
