#include "launcher/cli_reference.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace muster::launcher {
namespace {

TEST(CliReference, TheDocumentIsWhatTheTableSays) {
  std::ifstream file("docs/CLI.md");
  ASSERT_TRUE(file.is_open());
  std::istringstream table(CliReference());
  std::string written, generated;
  for (int line = 1;; ++line) {
    const bool has_written = static_cast<bool>(std::getline(file, written));
    const bool has_generated =
        static_cast<bool>(std::getline(table, generated));
    ASSERT_EQ(has_written, has_generated) << "docs/CLI.md ends at " << line;
    if (!has_written) break;
    ASSERT_EQ(written, generated)
        << "docs/CLI.md:" << line
        << "; renew it: bazel run //launcher:cli_reference_tool > docs/CLI.md";
  }
}

}  // namespace
}  // namespace muster::launcher
