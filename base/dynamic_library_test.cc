#include "base/dynamic_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

namespace fs = std::filesystem;

// Fixture: a folder with a copy of the program plugin_probe, which loads
// libmuster_test.so.
class PluginTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(bin_);
    fs::copy_file("base/testing/plugin_probe", bin_ / "probe");
  }

  // Copies the plugin to `folder`, in the version that plugin_probe (the
  // program under test) expects, or in a newer one. Returns the path of the
  // copy.
  fs::path Install(const fs::path& folder, const char* version = "same") {
    fs::create_directories(folder);
    const fs::path copy = folder / "libmuster_test.so";
    fs::copy_file(fs::path("base/testing") / version / "libmuster_test.so",
                  copy);
    return copy;
  }

  // Runs the program plugin_probe and returns its output.
  std::string Probe() {
    const std::string command =
        "LD_LIBRARY_PATH=" + (top_ / "linker").string() + " " +
        (bin_ / "probe").string();
    FILE* const output = popen(command.c_str(), "r");
    EXPECT_NE(output, nullptr);
    std::string text;
    for (int c; (c = std::fgetc(output)) != EOF;) {
      text += static_cast<char>(c);
    }
    EXPECT_EQ(pclose(output), 0);
    return text;
  }

  const fs::path top_ =
      fs::canonical(std::getenv("TEST_TMPDIR")) /
      ::testing::UnitTest::GetInstance()->current_test_info()->name();
  const fs::path bin_ = top_ / "bin";
};

TEST_F(PluginTest, PlacesAreTriedInTheirOrder) {
  const fs::path beside = Install(bin_);
  const fs::path lib = Install(top_ / "lib");
  const fs::path runfiles =
      Install(bin_ / "probe.runfiles/muster/base/testing");
  Install(top_ / "linker");
  EXPECT_EQ(Probe(), beside.string() + ": 42");
  fs::remove(beside);
  EXPECT_EQ(Probe(), (bin_ / "../lib/libmuster_test.so").string() + ": 42");
  fs::remove(lib);
  EXPECT_EQ(Probe(), runfiles.string() + ": 42");
  fs::remove(runfiles);
  EXPECT_EQ(Probe(), "libmuster_test.so: 42");
}

TEST_F(PluginTest, OtherVersionIsRefused) {
  const fs::path newer = Install(bin_, "newer");
  EXPECT_EQ(Probe(), "FAILED_PRECONDITION: the test: " + newer.string() +
                         " belongs to another version of Muster; install the "
                         "one of this version");
}

TEST_F(PluginTest, MissingFileSaysWhereItWasSoughtAndHowToInstallIt) {
  const std::string error = Probe();
  EXPECT_THAT(error,
              StartsWith("NOT_FOUND: the test needs libmuster_test.so, which "
                         "is neither in " +
                         bin_.string() + " nor in " + bin_.string() +
                         "/../lib nor where the dynamic linker looks "
                         "(LD_LIBRARY_PATH): "));
  EXPECT_THAT(error, HasSubstr("; install it"));
}

TEST_F(PluginTest, UnusableFileSaysWhyAndHowToRepairIt) {
  const fs::path broken = bin_ / "libmuster_test.so";
  std::ofstream(broken) << "not a library\n";
  const std::string error = Probe();
  EXPECT_THAT(error, StartsWith("NOT_FOUND: the test: " + broken.string() +
                                " cannot be loaded: "));
  EXPECT_THAT(error, HasSubstr("; repair it"));
}

TEST(PluginVersionTest, DependsOnTheNumberAndOnEverySize) {
  const uint64_t version = PluginVersion<int32_t, int64_t>(1);
  EXPECT_NE(version, (PluginVersion<int32_t, int64_t>(2)));
  EXPECT_NE(version, (PluginVersion<int64_t, int64_t>(1)));
  EXPECT_NE(version, (PluginVersion<int32_t, int32_t>(1)));
  EXPECT_NE(version, (PluginVersion<int64_t, int32_t>(1)));
}

}  // namespace
}  // namespace muster
