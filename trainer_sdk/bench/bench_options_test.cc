#include "trainer_sdk/bench/bench_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace muster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

BenchOptions Parsed(const std::vector<std::string>& arguments) {
  const auto options = ParseBenchOptions(arguments);
  EXPECT_TRUE(options.ok()) << options.status();
  return options.ok() ? *options : BenchOptions();
}

std::string Complaint(const std::vector<std::string>& arguments) {
  const auto options = ParseBenchOptions(arguments);
  EXPECT_TRUE(absl::IsInvalidArgument(options.status()));
  return std::string(options.status().message());
}

TEST(BenchOptionsTest, TakesNcclTestsLettersAndNames) {
  const BenchOptions options =
      Parsed({"reduce-scatter", "-b", "8", "--maxbytes=1M", "-f", "2",
              "--iters", "7", "-w", "0", "-d", "half", "-o", "max", "--check=0",
              "--transport=tcp", "--memory", "plain"});
  EXPECT_EQ(options.kind, OperationKind::kReduceScatter);
  EXPECT_EQ(options.least_bytes, 8);
  EXPECT_EQ(options.max_bytes, 1 << 20);
  EXPECT_EQ(options.step_factor, 2);
  EXPECT_EQ(options.iterations, 7);
  EXPECT_EQ(options.warm_up, 0);
  EXPECT_THAT(options.dtypes, ElementsAre(DType::kFloat16));
  EXPECT_THAT(options.ops, ElementsAre(ReduceOp::kMax));
  EXPECT_FALSE(options.check);
  EXPECT_EQ(options.transport, TransportChoice::kTcp);
  EXPECT_EQ(options.memory, BenchMemory::kPlain);
  EXPECT_THAT(Parsed({"all_reduce", "-d", "all", "-o", "all"}).dtypes,
              SizeIs(kDTypes));
  EXPECT_EQ(Parsed({"sendrecv", "--warmup_iters=2"}).warm_up, 2);
  EXPECT_EQ(Parsed({"-r", "1", "broadcast"}).root, 1);
  EXPECT_TRUE(Parsed({"-h"}).help);
}

TEST(BenchOptionsTest, SizesGrowByFactorOrStep) {
  EXPECT_THAT(BenchSizes(Parsed({"all_reduce", "-b", "1K", "-e", "20K"})),
              ElementsAre(1024, 4096, 16384));
  EXPECT_THAT(
      BenchSizes(Parsed({"all_reduce", "-b", "1K", "-e", "3K", "-i", "1K"})),
      ElementsAre(1024, 2048, 3072));
  EXPECT_THAT(BenchSizes(Parsed({"all_reduce", "-b", "0", "-e", "8"})),
              ElementsAre(0));
  EXPECT_THAT(BenchSizes(Parsed({"barrier"})), ElementsAre(0));
}

TEST(BenchOptionsTest, ReadsSizes) {
  EXPECT_EQ(*ParseBenchSize("77"), 77);
  EXPECT_EQ(*ParseBenchSize("4k"), 4096);
  EXPECT_EQ(*ParseBenchSize("2G"), int64_t{2} << 30);
  for (const char* text : {"", "K", "-1", "1T", "99999999999G", "1.5M", "x"}) {
    EXPECT_FALSE(ParseBenchSize(text).ok()) << text;
  }
}

TEST(BenchOptionsTest, NamesWhatIsWrong) {
  EXPECT_THAT(Complaint({}), HasSubstr("name an operation"));
  EXPECT_THAT(Complaint({"send"}), HasSubstr("write one of all_reduce, "));
  EXPECT_THAT(Complaint({"all_reduce", "reduce"}), HasSubstr("one operation"));
  EXPECT_THAT(Complaint({"all_reduce", "-b"}), HasSubstr("-b needs a value"));
  EXPECT_THAT(Complaint({"all_reduce", "-x", "1"}), HasSubstr("-x: unknown"));
  EXPECT_THAT(Complaint({"all_reduce", "-b", "2M", "-e", "1M"}),
              HasSubstr("is more than -e"));
  EXPECT_THAT(Complaint({"all_reduce", "-f", "1"}), HasSubstr("-f: '1'"));
  EXPECT_THAT(Complaint({"all_reduce", "-i", "0"}), HasSubstr("no step"));
  EXPECT_THAT(Complaint({"all_reduce", "-i", "1"}), HasSubstr("10000 sizes"));
  EXPECT_THAT(Complaint({"all_reduce", "-d", "quad"}), HasSubstr("'quad'"));
  EXPECT_THAT(Complaint({"all_reduce", "-o", "xor"}), HasSubstr("'xor'"));
  EXPECT_THAT(Complaint({"all_reduce", "-n", "0"}), HasSubstr("-n: '0'"));
  EXPECT_THAT(Complaint({"all_reduce", "--transport", "x"}),
              HasSubstr("unknown transport 'x'"));
  EXPECT_THAT(Complaint({"all_reduce", "--memory", "x"}), HasSubstr("'x'"));
}

TEST(BenchOptionsTest, HelpFitsIntoEightyColumns) {
  std::istringstream lines(BenchHelp());
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 80u) << line;
  }
}

}  // namespace
}  // namespace muster
