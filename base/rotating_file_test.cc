#include "base/rotating_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

constexpr RotatingFile::Limits kNever = {};

class RotatingFileTest : public ::testing::Test {
 protected:
  RotatingFileTest() {
    std::string name = ::testing::TempDir() + "/rotating-XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~RotatingFileTest() override { std::filesystem::remove_all(folder_); }

  RotatingFile Make(RotatingFile::Limits limits) {
    return RotatingFile(
        path(), limits,
        [this](const std::string& sentence) { troubles_.push_back(sentence); },
        [this](const RotatingFile::Totals& totals) { totals_ = totals; });
  }
  std::string path() const { return folder_ + "/a/b/stdout.log"; }
  static std::string Read(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  std::string folder_;
  std::vector<std::string> troubles_;
  RotatingFile::Totals totals_;
};

TEST_F(RotatingFileTest, MakesFoldersAndAppends) {
  {
    RotatingFile file = Make(kNever);
    file.Open();
    EXPECT_TRUE(std::filesystem::exists(path()));
    file.Write("one\n");
    file.Write("");
    file.Write("two");
  }
  Make(kNever).Write("\nagain\n");
  EXPECT_EQ(Read(path()), "one\ntwo\nagain\n");
  EXPECT_THAT(troubles_, IsEmpty());
}

TEST_F(RotatingFileTest, KeepsEveryByteAndWholeLines) {
  std::string all;
  {
    RotatingFile file = Make({.rotate_bytes = 1000, .keep = 100});
    std::string chunk;
    for (int i = 0; i < 2000; ++i) {
      chunk += "line " + std::to_string(i) + "\n";
      // At every seventh line, write the collected text except its last 0 to 4
      // bytes, which follow in the next write. Most writes thus end within a
      // line, like chunks that are read from a pipe.
      if (i % 7 == 0) {
        size_t most = chunk.size() - i % 5;
        file.Write(std::string_view(chunk).substr(0, most));
        all += chunk.substr(0, most);
        chunk.erase(0, most);
      }
    }
    file.Write(chunk);
    all += chunk;
  }
  std::string read;
  for (int i = 100; i >= 1; --i) {
    std::string rotated = path() + "." + std::to_string(i);
    if (!std::filesystem::exists(rotated)) continue;
    std::string text = Read(rotated);
    EXPECT_GE(text.size(), 1000u);
    EXPECT_LE(text.size(), 1000u + 64);
    EXPECT_EQ(text.back(), '\n');
    read += text;
  }
  EXPECT_EQ(read + Read(path()), all);
  EXPECT_GT(read.size(), all.size() / 2);
  EXPECT_THAT(troubles_, IsEmpty());
}

TEST_F(RotatingFileTest, CountsTheBytesThatRotationDeletes) {
  for (const int keep : {0, 1, 2}) {
    std::filesystem::remove_all(folder_ + "/a");
    {
      RotatingFile file = Make({.rotate_bytes = 4, .keep = keep});
      for (const char* line : {"one\n", "two\n", "three\n", "four\n"}) {
        file.Write(line);
      }
    }
    EXPECT_EQ(totals_.dropped, keep == 0 ? 14 : keep == 1 ? 8 : 4) << keep;
    EXPECT_EQ(totals_.lost, 0);
  }
  EXPECT_THAT(troubles_, IsEmpty());
}

TEST_F(RotatingFileTest, AFileThatWasRemovedIsReportedAndCreatedAgain) {
  {
    RotatingFile file = Make(kNever);
    file.Open();
    // The file is still empty, so removing it loses no bytes.
    std::filesystem::remove_all(folder_ + "/a");
    file.Write("one\n");
    std::filesystem::remove_all(folder_ + "/a");
    file.Write("second\n");
    EXPECT_EQ(Read(path()), "second\n");
    std::filesystem::remove_all(folder_ + "/a");
  }
  EXPECT_THAT(troubles_,
              ElementsAre(path() + " was removed while it was written: 4 bytes "
                                   "are lost"));
  EXPECT_EQ(totals_.lost, 11);
}

TEST_F(RotatingFileTest, AFileThatWasMovedIsNotLost) {
  {
    RotatingFile file = Make(kNever);
    file.Write("one\n");
    std::filesystem::rename(path(), folder_ + "/moved");
    file.Write("two\n");
  }
  EXPECT_EQ(Read(folder_ + "/moved"), "one\ntwo\n");
  EXPECT_EQ(totals_.lost, 0);
}

TEST_F(RotatingFileTest, TheOldestIsDropped) {
  RotatingFile file = Make({.rotate_bytes = 4, .keep = 2});
  for (const char* line : {"111\n", "222\n", "333\n", "444\n", "555\n"}) {
    file.Write(line);
  }
  EXPECT_EQ(Read(path()), "555\n");
  EXPECT_EQ(Read(path() + ".1"), "444\n");
  EXPECT_EQ(Read(path() + ".2"), "333\n");
  EXPECT_FALSE(std::filesystem::exists(path() + ".3"));
}

TEST_F(RotatingFileTest, WithNothingToKeepTheFileBeginsAnew) {
  RotatingFile file = Make({.rotate_bytes = 4, .keep = 0});
  file.Write("111\n222\n333\n");
  EXPECT_EQ(Read(path()), "333\n");
  EXPECT_FALSE(std::filesystem::exists(path() + ".1"));
}

TEST_F(RotatingFileTest, ALineWithoutEndIsSplitSomewhereBeyondTheLimit) {
  RotatingFile file = Make({.rotate_bytes = 1000, .keep = 3});
  std::string endless(100 << 10, 'x');
  file.Write(endless);
  EXPECT_EQ(Read(path() + ".1").size(), 1000u + (64 << 10));
  EXPECT_EQ(Read(path() + ".1").size() + Read(path()).size(), endless.size());
}

TEST_F(RotatingFileTest, AFileThatIsTooLongAlreadyIsRotatedFirst) {
  Make(kNever).Write("0123456789\n");
  Make({.rotate_bytes = 5, .keep = 1}).Write("new\n");
  EXPECT_EQ(Read(path()), "new\n");
  EXPECT_EQ(Read(path() + ".1"), "0123456789\n");
}

TEST_F(RotatingFileTest, FollowsARotationByAnotherProcess) {
  RotatingFile mine = Make({.rotate_bytes = 8, .keep = 2});
  RotatingFile other = Make({.rotate_bytes = 8, .keep = 2});
  mine.Write("m1\n");
  other.Write("o1\n");
  // The file is not rotated yet: `mine` has written 8 bytes itself, and does
  // not count the bytes that `other` has written.
  mine.Write("m234\n");
  other.Write("o234\n");
  mine.Write("m5\n");  // this write rotates the file: path.1 gets the old bytes
  other.Write("o5\n");  // `other` writes to the new file and does not rotate
  EXPECT_EQ(Read(path() + ".1"), "m1\no1\nm234\no234\n");
  EXPECT_EQ(Read(path()), "m5\no5\n");
}

TEST_F(RotatingFileTest, FullDiskIsReportedOnceAndCounted) {
  std::filesystem::create_directories(folder_ + "/a/b");
  std::filesystem::create_symlink("/dev/full", path());
  {
    RotatingFile file = Make(kNever);
    file.Write("12345");
    file.Write("67890");
    ASSERT_EQ(troubles_.size(), 1u);
    EXPECT_THAT(troubles_[0], HasSubstr(path()));
    EXPECT_THAT(troubles_[0], HasSubstr("No space left on device"));
  }
  ASSERT_EQ(troubles_.size(), 2u);
  EXPECT_THAT(troubles_[1], HasSubstr("10 bytes are missing at the end"));
}

TEST_F(RotatingFileTest, AFileForProgramsHoldsNoWordsAboutTheGap) {
  std::filesystem::create_directories(folder_ + "/a/b");
  std::filesystem::create_symlink("/dev/full", path());
  RotatingFile file = Make({.gap_note = RotatingFile::GapNote::kLeftOut});
  file.Write("12345");
  std::filesystem::remove(path());
  file.Write("after\n");
  EXPECT_EQ(Read(path()), "\nafter\n");
  EXPECT_THAT(troubles_.back(), HasSubstr("5 bytes are missing in it"));
}

TEST_F(RotatingFileTest, BytesThatWereDroppedBeforeAreNotedAtOnce) {
  RotatingFile file = Make(kNever);
  file.Write("before\n");
  file.NoteMissing(7);
  EXPECT_THAT(Read(path()), HasSubstr("before\n\n[7 bytes are missing here"));
  file.Write("after\n");
  EXPECT_TRUE(Read(path()).ends_with("UTC]\nafter\n"));
  EXPECT_EQ(file.totals().lost, 7);
  ASSERT_EQ(troubles_.size(), 1u);
  EXPECT_THAT(troubles_[0], HasSubstr("7 bytes are missing in it"));
}

TEST_F(RotatingFileTest, OnceThereIsRoomTheGapIsNoted) {
  std::filesystem::create_directories(folder_ + "/a/b");
  std::filesystem::create_symlink("/dev/full", path());
  RotatingFile file = Make(kNever);
  file.Write("12345");
  std::filesystem::remove(path());
  file.Write("after\n");
  file.Write("more\n");
  EXPECT_THAT(Read(path()),
              MatchesRegex("\n\\[5 bytes are missing here: they could not be "
                           "written between 20[0-9: -]+ and 20[0-9: -]+ UTC"
                           "\\]\nafter\nmore\n"));
  ASSERT_EQ(troubles_.size(), 2u);
  EXPECT_THAT(troubles_[1], HasSubstr("can be written again; 5 bytes"));
}

TEST_F(RotatingFileTest, FolderThatCannotBeMadeIsReportedOnce) {
  std::ofstream(folder_ + "/a") << "a file where a folder should be";
  RotatingFile file = Make(kNever);
  file.Open();
  file.Write("x");
  ASSERT_EQ(troubles_.size(), 1u);
  EXPECT_THAT(troubles_[0], HasSubstr("Not a directory"));
}

TEST_F(RotatingFileTest, AFailedRotationKeepsTheBytes) {
  // Rename fails, because stdout.log.1 is a folder that is not empty.
  std::filesystem::create_directories(path() + ".1/full");
  RotatingFile file = Make({.rotate_bytes = 4, .keep = 1});
  file.Write("111\n");
  file.Write("222\n");
  file.Write("333\n");
  EXPECT_EQ(Read(path()), "111\n222\n333\n");
  ASSERT_EQ(troubles_.size(), 1u);
  EXPECT_THAT(troubles_[0], HasSubstr("cannot rotate " + path()));
}

}  // namespace
}  // namespace muster
