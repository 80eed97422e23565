#include <fstream>
#include <iterator>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "models/trainer/report/timeline_files.h"

namespace muster::models {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

PictureFile In(const std::string& path) {
  return {.kind = "timeline", .path = path};
}

void Draw(std::ostream& out) { out << "new"; }

std::string ContentOf(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(PictureFileTest, OldFileStaysUntilTheNewOneIsWritten) {
  const std::string path = testing::TempDir() + "/picture";
  std::ofstream(path) << "what was there before";
  ASSERT_TRUE(CheckPictureFile(In(path)).ok());
  EXPECT_EQ(ContentOf(path), "what was there before");
  ASSERT_TRUE(WritePictureFile(In(path), Draw).ok());
  EXPECT_EQ(ContentOf(path), "new");
}

TEST(PictureFileTest, WhereNoFileCanBeIsSaidAtOnce) {
  const auto said =
      AllOf(HasSubstr("cannot write the timeline '/nowhere/picture'"),
            HasSubstr("No such file"));
  EXPECT_THAT(CheckPictureFile(In("/nowhere/picture")).ToString(), said);
  EXPECT_THAT(WritePictureFile(In("/nowhere/picture"), Draw).ToString(), said);
  EXPECT_TRUE(CheckPictureFile(In("")).ok());
}

TEST(PictureFileTest, AFullDiskIsSaid) {
  EXPECT_TRUE(CheckPictureFile(In("/dev/full")).ok());
  EXPECT_THAT(WritePictureFile(In("/dev/full"), Draw).ToString(),
              HasSubstr("No space left"));
}

}  // namespace
}  // namespace muster::models
