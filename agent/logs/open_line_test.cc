#include "agent/logs/open_line.h"

#include <gtest/gtest.h>

namespace muster::agent {
namespace {

LinePart Part(uint64_t stream, const std::string& text, bool ends = false) {
  return {.stream = stream,
          .prefix = "[" + std::to_string(stream) + "] ",
          .text = text,
          .ends = ends};
}

LinePart Redrawn(uint64_t stream, const std::string& text, bool ends = false) {
  LinePart part = Part(stream, text, ends);
  part.place = LinePart::Place::kRedraws;
  return part;
}

TEST(OpenLineTest, PartsOfOneLineJoinOnTheConsole) {
  OpenLine line(OpenLine::Redraw::kNewLine);
  EXPECT_EQ(line.Compose(Part(1, "loading")), "[1] loading");
  EXPECT_EQ(line.Compose(Part(1, " ... ")), " ... ");
  EXPECT_EQ(line.Compose(Part(1, "done", true)), "done\n");
  EXPECT_EQ(line.BeforeLines(), "");
}

TEST(OpenLineTest, AnotherStreamEndsTheLineFirst) {
  OpenLine line(OpenLine::Redraw::kNewLine);
  line.Compose(Part(1, "loading"));
  EXPECT_EQ(line.Compose(Part(2, "hello", true)), "\n[2] hello\n");
  EXPECT_EQ(line.Compose(Part(1, " done", true)), "[1]  done\n");
}

TEST(OpenLineTest, WholeLinesBeginAtTheStartOfALine) {
  OpenLine line(OpenLine::Redraw::kNewLine);
  line.Compose(Part(1, "half"));
  EXPECT_EQ(line.BeforeLines(), "\n");
  EXPECT_EQ(line.BeforeLines(), "");
}

TEST(OpenLineTest, AnEndWithoutTextAddsNoEmptyLine) {
  OpenLine line(OpenLine::Redraw::kNewLine);
  line.Compose(Part(1, "whole"));
  EXPECT_EQ(line.BeforeLines(), "\n");
  EXPECT_EQ(line.Compose(Part(1, "", true)), "");
  line.Compose(Part(1, "whole"));
  EXPECT_EQ(line.Compose(Part(1, "", true)), "\n");
}

TEST(OpenLineTest, ATerminalsBarIsDrawnInItsPlace) {
  OpenLine line(OpenLine::Redraw::kReplace);
  EXPECT_EQ(line.Compose(Redrawn(1, "10%")), "[1] 10%");
  EXPECT_EQ(line.Compose(Redrawn(1, "20%")), "\r\x1b[K[1] 20%");
  EXPECT_EQ(line.Compose(Part(2, "hello", true)), "\n[2] hello\n");
  EXPECT_EQ(line.Compose(Redrawn(1, "100%", true)), "[1] 100%\n");
}

TEST(OpenLineTest, AFilesBarHasALineForEachState) {
  OpenLine line(OpenLine::Redraw::kNewLine);
  EXPECT_EQ(line.Compose(Redrawn(1, "10%")), "[1] 10%");
  EXPECT_EQ(line.Compose(Redrawn(1, "20%", true)), "\n[1] 20%\n");
}

}  // namespace
}  // namespace muster::agent
