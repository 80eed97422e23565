#include "launcher/cli_reference.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace muster {
namespace {

TEST(CliReference, TheDocumentIsWhatTheTableSays) {
  std::ifstream file("docs/CLI.md");
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), CliReference())
      << "renew it: bazel run //launcher:cli_reference_tool > docs/CLI.md";
}

}  // namespace
}  // namespace muster
