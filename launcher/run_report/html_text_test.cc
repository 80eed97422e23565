#include "launcher/run_report/html_text.h"

#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

TEST(HtmlText, MarkupIsEscaped) {
  EXPECT_EQ(HtmlText("<script>alert(\"1\" & '2')</script>"),
            "&lt;script&gt;alert(&quot;1&quot; &amp; &#39;2&#39;)&lt;/script"
            "&gt;");
}

TEST(HtmlText, ControlsColoursAndInvalidBytesAreHarmless) {
  EXPECT_EQ(HtmlText("\x1b[31mred\x1b[0m\x07"), "red");
  EXPECT_EQ(HtmlText("a\xff"), "a\xef\xbf\xbd");
  EXPECT_EQ(HtmlText("a\xe2\x80\xae b"), "a&lt;U+202E&gt; b");
  EXPECT_EQ(HtmlText(std::string("a\0b", 3)), "ab");
}

TEST(HtmlText, LineIsCutBeforeItIsEscaped) {
  EXPECT_EQ(HtmlLine("a\n<<<<<<<<", 6), "a &lt;...");
}

}  // namespace
}  // namespace muster::launcher
