#include "agent/gpus/job_files.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::vector<Gpu> TwoGpus() {
  return {
      {.uuid = "GPU-aa1", .mig_instances = {}, .pci_address = "0000:3b:00.0"},
      {.uuid = "GPU-ab2",
       .mig_instances = {"MIG-c", "MIG-d"},
       .pci_address = "0000:5e:00.0",
       .gpu_instances = {7, -1}}};
}

TEST(JobFileNamesTest, NumbersAreThoseOfTheMachine) {
  const std::vector<std::string> machine = {"0000:1a:00.0", "0000:3b:00.0",
                                            "0000:5e:00.0"};
  EXPECT_THAT(JobFileNames({"0", "1"}, TwoGpus(), machine),
              ElementsAre("1", "2"));
  EXPECT_THAT(JobFileNames({"GPU-ab2", "GPU-aa"}, TwoGpus(), machine),
              ElementsAre("2", "1"));
  // If the machine's GPUs are unknown, a GPU's number is its index among the
  // GPUs that this process sees.
  EXPECT_THAT(JobFileNames({"0", "1"}, TwoGpus(), {}), ElementsAre("0", "1"));
}

TEST(JobFileNamesTest, AMigInstanceHasItsGpusAndItsOwnNumber) {
  EXPECT_THAT(JobFileNames({"MIG-c"}, TwoGpus(), {}), ElementsAre("1.7"));
  // If the number of a MIG instance is unknown, the number of its GPU is used.
  EXPECT_THAT(JobFileNames({"MIG-d"}, TwoGpus(), {}), ElementsAre("1"));
}

TEST(JobFileNamesTest, WordsThatNameNoGpuOrSeveralHaveNoFile) {
  EXPECT_THAT(
      JobFileNames({"2", "-1", "GPU-a", "", "x", "../1"}, TwoGpus(), {}),
      IsEmpty());
  EXPECT_THAT(JobFileNames({"0", "GPU-aa1"}, TwoGpus(), {}), ElementsAre("0"));
}

class JobFilesTest : public ::testing::Test {
 protected:
  JobFilesTest() {
    std::string pattern = ::testing::TempDir() + "/job-files-XXXXXX";
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  ~JobFilesTest() override { std::filesystem::remove_all(folder_); }

  JobFiles Of(const std::string& job) {
    return {.folder = folder_, .names = {"0", "1.7"}, .job = job};
  }
  std::string Read(const std::string& name) {
    std::ifstream file(folder_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }

  std::string folder_;
};

TEST_F(JobFilesTest, EachGpuHasAFileThatEverybodyCanRead) {
  const mode_t before = umask(077);
  EXPECT_TRUE(WriteJobFiles(Of("job-7")).ok());
  umask(before);
  EXPECT_THAT(Names(), UnorderedElementsAre("0", "1.7"));
  EXPECT_EQ(Read("0"), "job-7\n");
  struct stat facts = {};
  ASSERT_EQ(stat((folder_ + "/1.7").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0644u);
  RemoveJobFiles(Of("job-7"));
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(JobFilesTest, ANewRoundReplacesTheFileOfAnEarlierJob) {
  Write("0", "old\nother\n");
  EXPECT_TRUE(WriteJobFiles(Of("new")).ok());
  EXPECT_EQ(Read("0"), "new\n");
}

TEST_F(JobFilesTest, FilesOfAnotherJobStay) {
  EXPECT_TRUE(WriteJobFiles(Of("first")).ok());
  Write("0", "second\n");
  RemoveJobFiles(Of("first"));
  EXPECT_THAT(Names(), ElementsAre("0"));
  EXPECT_EQ(Read("0"), "second\n");
}

TEST_F(JobFilesTest, StaleFilesOfTheseGpusGoWhateverTheirJob) {
  Write("0", "killed\n");
  Write("3", "of another GPU\n");
  RemoveStaleJobFiles(Of("new"));
  EXPECT_THAT(Names(), ElementsAre("3"));
}

TEST_F(JobFilesTest, LinksAreReplacedAndNeverFollowed) {
  const std::string target = folder_ + "/target";
  Write("target", "job-7\n");
  ASSERT_EQ(symlink(target.c_str(), (folder_ + "/0").c_str()), 0);
  // The link's target contains the line of the job whose files are removed.
  // Nevertheless neither the link nor its target must be removed.
  RemoveJobFiles(Of("job-7"));
  EXPECT_THAT(Names(), UnorderedElementsAre("target", "0"));
  EXPECT_TRUE(WriteJobFiles(Of("other")).ok());
  EXPECT_FALSE(std::filesystem::is_symlink(folder_ + "/0"));
  EXPECT_EQ(Read("0"), "other\n");
  EXPECT_EQ(Read("target"), "job-7\n");
}

TEST_F(JobFilesTest, AFolderThatIsMissingIsNamed) {
  JobFiles files = Of("job-7");
  files.folder += "/missing";
  EXPECT_THAT(std::string(WriteJobFiles(files).message()),
              HasSubstr("/missing: No such file or directory"));
  EXPECT_FALSE(std::filesystem::exists(files.folder));
  RemoveJobFiles(files);
  RemoveStaleJobFiles(files);
}

TEST_F(JobFilesTest, AFileThatCannotBeReplacedIsNamedAndTheOthersAreWritten) {
  std::filesystem::create_directories(folder_ + "/0/inside");
  EXPECT_THAT(std::string(WriteJobFiles(Of("job-7")).message()),
              HasSubstr("/0: "));
  EXPECT_THAT(Names(), UnorderedElementsAre("0", "1.7"));
  RemoveJobFiles(Of("job-7"));
  EXPECT_THAT(Names(), ElementsAre("0"));
}

TEST_F(JobFilesTest, TheDriversListOfDevicesIsSorted) {
  const std::string driver = folder_ + "/sys/bus/pci/drivers/nvidia/";
  EXPECT_THAT(MachineGpuAddresses(folder_), IsEmpty());
  for (const char* name :
       {"0000:5e:00.0", "0000:3b:00.0", "bind", "new_id", "module"}) {
    std::filesystem::create_directories(driver + name);
  }
  EXPECT_THAT(MachineGpuAddresses(folder_),
              ElementsAre("0000:3b:00.0", "0000:5e:00.0"));
}

}  // namespace
}  // namespace muster::agent
