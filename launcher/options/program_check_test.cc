#include "launcher/options/program_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace muster::launcher {
namespace {

using ::testing::HasSubstr;

class ProgramCheck : public ::testing::Test {
 protected:
  ProgramCheck() {
    std::string pattern = ::testing::TempDir() + "/program.XXXXXX";
    folder_ = mkdtemp(pattern.data());
    facts_.environment["PATH"] = "/nonexistent:" + folder_;
    facts_.python = "python3";
  }

  std::string File(const std::string& name, mode_t mode) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n";
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return path;
  }

  absl::Status Check(const std::string& program,
                     Interpreter interpreter = Interpreter::kByName) {
    RunOptions options;
    options.program = {program};
    options.interpreter = interpreter;
    return CheckProgram(options, facts_);
  }

  std::string folder_;
  MachineFacts facts_;
};

TEST_F(ProgramCheck, FindsProgramsByPathAndInPath) {
  const std::string path = File("tool", 0755);
  EXPECT_TRUE(Check(path).ok());
  EXPECT_TRUE(Check("tool").ok());
  EXPECT_TRUE(absl::IsNotFound(Check("other")));
  EXPECT_TRUE(absl::IsNotFound(Check(folder_ + "/other")));
  facts_.environment.erase("PATH");
  EXPECT_TRUE(absl::IsNotFound(Check("tool")));
  EXPECT_TRUE(Check("sh").ok()) << "the system's default path";
}

TEST_F(ProgramCheck, FilesThatAreNotExecutableAreRefused) {
  const std::string path = File("text", 0644);
  EXPECT_TRUE(absl::IsPermissionDenied(Check(path)));
  EXPECT_TRUE(absl::IsPermissionDenied(Check("text")));
  EXPECT_TRUE(absl::IsPermissionDenied(Check(folder_)));
}

TEST_F(ProgramCheck, AnExecutableLaterInPathIsTaken) {
  File("tool", 0644);
  std::string pattern = ::testing::TempDir() + "/later.XXXXXX";
  const std::string later = mkdtemp(pattern.data());
  std::ofstream(later + "/tool") << "#!/bin/sh\n";
  EXPECT_EQ(chmod((later + "/tool").c_str(), 0755), 0);
  facts_.environment["PATH"] = folder_ + ":" + later;
  EXPECT_TRUE(Check("tool").ok());
}

TEST_F(ProgramCheck, ScriptsNeedNotBeExecutable) {
  EXPECT_TRUE(Check(File("train.py", 0644)).ok());
  const absl::Status missing = Check(folder_ + "/other.py");
  EXPECT_TRUE(absl::IsInvalidArgument(missing));
  EXPECT_THAT(std::string(missing.message()),
              HasSubstr("No such file or directory; name a script"));
  EXPECT_TRUE(absl::IsPermissionDenied(
      Check(File("plain.py", 0644), Interpreter::kNoPython)));
}

TEST_F(ProgramCheck, PythonIsNeededForScripts) {
  facts_.python = "";
  const std::string script = File("train.py", 0644);
  EXPECT_THAT(std::string(Check(script).message()),
              HasSubstr("neither python3 nor python in PATH"));
  facts_.environment["PYTHON_EXEC"] = File("mypython", 0755);
  EXPECT_TRUE(Check(script).ok());
  facts_.environment["PYTHON_EXEC"] = "nosuch";
  EXPECT_TRUE(absl::IsInvalidArgument(Check(script)));
}

TEST_F(ProgramCheck, ModulesArePythonsBusiness) {
  EXPECT_TRUE(Check("any.module", Interpreter::kModule).ok());
}

TEST_F(ProgramCheck, AnEmptyNameIsNoProgram) {
  EXPECT_TRUE(absl::IsInvalidArgument(Check("")));
}

}  // namespace
}  // namespace muster::launcher
