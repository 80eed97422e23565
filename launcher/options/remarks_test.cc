#include "launcher/options/remarks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace muster::launcher {
namespace {

using ::testing::HasSubstr;

std::string Remark(int workers, int cores,
                   const std::map<std::string, std::string>& environment = {}) {
  WorkerSlots slots;
  slots.count = workers;
  MachineFacts facts;
  facts.host_name = "n3";
  facts.cores = cores;
  facts.environment = environment;
  return CoreRemark(slots, facts);
}

TEST(CoreRemark, TooFewCoresGetAHint) {
  EXPECT_EQ(
      Remark(8, 1, {{"SLURM_JOB_ID", "7"}}),
      "8 workers on n3 have 1 core to run on; ask Slurm for more: #SBATCH "
      "--exclusive, or --cpus-per-gpu=N");
  EXPECT_THAT(Remark(9, 2), HasSubstr("2 cores to run on; look at taskset"));
}

TEST(CoreRemark, ATestOnAFewCoresIsNone) {
  EXPECT_EQ(Remark(8, 2), "");
  EXPECT_EQ(Remark(4, 1), "");
  EXPECT_NE(Remark(5, 1), "");
  for (const char* none : {"", "-1", "NoDevFiles"}) {
    EXPECT_EQ(Remark(4, 2, {{"CUDA_VISIBLE_DEVICES", none}}), "") << none;
  }
}

TEST(CoreRemark, AWorkerWithAGpuNeedsACore) {
  for (const char* some : {"0,1,2,3", "GPU-1a2b", "MIG-1a2b"}) {
    EXPECT_NE(Remark(4, 3, {{"CUDA_VISIBLE_DEVICES", some}}), "") << some;
    EXPECT_EQ(Remark(4, 4, {{"CUDA_VISIBLE_DEVICES", some}}), "") << some;
  }
  WorkerSlots slots;
  slots.count = slots.gpus_needed = 2;
  EXPECT_NE(CoreRemark(slots, MachineFacts()), "");
}

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Written(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

TEST(MpiRemarkTest, AnImportIsFoundWhereverItStands) {
  EXPECT_TRUE(ImportsMpi4py("import sys\nfrom mpi4py import MPI\n"));
  EXPECT_TRUE(ImportsMpi4py("def f():\n\timport mpi4py.MPI as m"));
  EXPECT_TRUE(ImportsMpi4py("import mpi4py"));
}

TEST(MpiRemarkTest, OtherMentionsAreNone) {
  EXPECT_FALSE(ImportsMpi4py("# import mpi4py\nimport mpi4pyx\n"));
  EXPECT_FALSE(ImportsMpi4py("x = 'mpi4py'\nfrom x.mpi4py import y\n"));
  EXPECT_FALSE(ImportsMpi4py(""));
}

TEST(MpiRemarkTest, AnExecutableThatNeedsTheLibrary) {
  const std::string head(
      "\x7f"
      "ELF\x02",
      5);
  EXPECT_TRUE(NamesMpiLibrary(head + std::string("\0libmpi.so.40\0", 14)));
  EXPECT_TRUE(NamesMpiLibrary(head + std::string("\0libmpich.so.12", 15)));
  EXPECT_FALSE(NamesMpiLibrary(head + "see libmpi.so"));
  EXPECT_FALSE(NamesMpiLibrary(std::string("\0libmpi.so", 10)));
}

TEST(MpiRemarkTest, NamesTheProgram) {
  const std::string script = Written("sum.py", "from mpi4py import MPI\n");
  EXPECT_THAT(MpiRemark({"python3", "-u", script, "--x"}),
              HasSubstr("sum.py imports mpi4py: without mpirun each worker is "
                        "an MPI world of its own"));
  const std::string program =
      Written("solver", std::string("\x7f"
                                    "ELF\0libmpi.so.40\0",
                                    18));
  EXPECT_THAT(MpiRemark({program}), HasSubstr("is linked with MPI"));
}

TEST(MpiRemarkTest, UnreadableProgramsGiveNoRemark) {
  EXPECT_THAT(MpiRemark({"/nonexistent/x.py"}), IsEmpty());
  EXPECT_THAT(MpiRemark({"/dev/zero"}), IsEmpty());
  EXPECT_THAT(MpiRemark({}), IsEmpty());
}

}  // namespace
}  // namespace muster::launcher
