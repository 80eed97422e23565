#include "agent/failures/error_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <ctime>
#include <fstream>
#include <random>

namespace muster::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// An error file as PyTorch 2's @record decorator writes it.
constexpr char kRecorded[] =
    R"({"message": {"message": "ValueError: no layer", "extraInfo":
    {"py_callstack": "Traceback (most recent call last):\n  File \"t.py\"\n",
    "timestamp": "1763683200"}}})";

TEST(ErrorFile, ReadsWhatRecordWrites) {
  const auto file = ParseErrorFile(kRecorded);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->message, "ValueError: no layer");
  EXPECT_THAT(file->traceback, StartsWith("Traceback"));
  EXPECT_EQ(file->unix_time, 1763683200);
}

TEST(ErrorFile, ReadsAMessageThatIsAString) {
  const auto file = ParseErrorFile(R"({"message": "boom", "timestamp": 5})");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->message, "boom");
  EXPECT_EQ(file->unix_time, 5);
}

TEST(ErrorFile, TakesValuesOfOtherTypesForWhatTheyMean) {
  const auto file = ParseErrorFile(
      R"({"message": {"message": ["a", 1], "extraInfo":
          {"py_callstack": null, "timestamp": 12.5}}})");
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->message, R"(["a",1])");
  EXPECT_EQ(file->traceback, "");
  EXPECT_EQ(file->unix_time, 12.5);
  for (const char* time : {R"("soon")", "-3", R"("1e999")", "[]", "true"}) {
    const auto other = ParseErrorFile(
        std::string(R"({"message": {"message": "m", "extraInfo": )") +
        R"({"timestamp": )" + time + "}}}");
    ASSERT_TRUE(other.ok()) << time;
    EXPECT_EQ(other->unix_time, 0) << time;
  }
}

TEST(ErrorFile, SaysWhatIsWrongWithIt) {
  const auto why = [](const std::string& json) {
    return std::string(ParseErrorFile(json).status().message());
  };
  EXPECT_EQ(why(""), "holds no valid JSON");
  EXPECT_EQ(why("Killed"), "holds no valid JSON");
  EXPECT_EQ(why("{\"message\": \"\xff\"}"), "holds no valid JSON");
  EXPECT_EQ(why("[]"), "holds no \"message\"");
  EXPECT_EQ(why("{}"), "holds no \"message\"");
  EXPECT_EQ(why(R"({"message": {}})"), "says nothing in its \"message\"");
  EXPECT_EQ(why(R"({"message": null})"), "says nothing in its \"message\"");
}

TEST(ErrorFile, EveryBeginningOfAFileIsRefusedOrRead) {
  const std::string whole = kRecorded;
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(ParseErrorFile(whole.substr(0, size)).ok()) << size;
  }
}

TEST(ErrorFile, BracketsByTheThousandDoNotExhaustTheStack) {
  const std::string deep(500000, '[');
  EXPECT_FALSE(ParseErrorFile(deep).ok());
  const std::string closed = deep + std::string(500000, ']');
  EXPECT_FALSE(ParseErrorFile(closed).ok());
  const auto file = ParseErrorFile(
      R"({"message": {"message": "m", "extraInfo": {"py_callstack": )" +
      closed + "}}}");
  EXPECT_TRUE(!file.ok() || file->message == "m");
}

TEST(ErrorFile, RandomBytesAndFlippedOnesDoNoHarm) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes(random() % 300, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    ParseErrorFile(bytes).IgnoreError();
    std::string flipped = kRecorded;
    for (int flips = 0; flips < 3; ++flips) {
      flipped[random() % flipped.size()] = static_cast<char>(random());
    }
    ParseErrorFile(flipped).IgnoreError();
  }
}

class ErrorFileOnDisk : public ::testing::Test {
 protected:
  const std::string path_ = ::testing::TempDir() + "/error_file_test_" +
                            std::to_string(getpid()) + ".json";
  ~ErrorFileOnDisk() override { unlink(path_.c_str()); }
};

TEST_F(ErrorFileOnDisk, IsRead) {
  std::ofstream(path_) << kRecorded;
  EXPECT_EQ(ReadErrorFile(path_)->message, "ValueError: no layer");
}

// @record writes whole seconds, and several workers may fail within one second:
// the file's modification time gives the exact time.
TEST_F(ErrorFileOnDisk, ModificationTimeRefinesAWholeSecond) {
  const auto at = [&](const char* told, double written) {
    std::ofstream(path_) << R"({"message": {"message": "m", "extraInfo": )"
                         << R"({"timestamp": ")" << told << "\"}}}";
    const double second = std::floor(written);
    const timespec times[2] = {{static_cast<time_t>(second), 0},
                               {static_cast<time_t>(second),
                                static_cast<long>((written - second) * 1e9)}};
    EXPECT_EQ(utimensat(AT_FDCWD, path_.c_str(), times, 0), 0);
    return ReadErrorFile(path_)->unix_time;
  };
  EXPECT_EQ(at("1000", 1000.25), 1000.25);
  EXPECT_EQ(at("1000", 1001.5), 1001.5);
  EXPECT_EQ(at("1000", 1002), 1000) << "touched later";
  EXPECT_EQ(at("1000", 999.5), 1000) << "another clock";
  EXPECT_EQ(at("1000.75", 1001.5), 1000.75);
  EXPECT_EQ(at("", 1000.5), 0) << "not told";
}

TEST_F(ErrorFileOnDisk, MayBeAbsent) {
  EXPECT_EQ(ReadErrorFile(path_).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ErrorFileOnDisk, IsNamedWhereItIsWrong) {
  std::ofstream(path_) << "Segmentation fault";
  EXPECT_THAT(std::string(ReadErrorFile(path_).status().message()),
              HasSubstr(path_ + " holds no valid JSON"));
}

TEST_F(ErrorFileOnDisk, IsNotReadBeyondItsBound) {
  std::ofstream(path_) << std::string(kMaxErrorFileBytes + 1, ' ');
  EXPECT_EQ(ReadErrorFile(path_).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST_F(ErrorFileOnDisk, MayBeAPipeOrAFolderWithoutHarm) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(std::string(ReadErrorFile(path_).status().message()),
              HasSubstr("is no file"));
  EXPECT_THAT(std::string(ReadErrorFile("/tmp").status().message()),
              HasSubstr("/tmp is no file"));
}

}  // namespace
}  // namespace muster::agent
