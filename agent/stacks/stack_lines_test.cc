#include "agent/stacks/stack_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/protocol/failure.h"

namespace muster::agent {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kPySpy[] = R"(Process 23: python3 train.py
Python v3.11.2 (/usr/bin/python3.11)

Thread 23 (idle): "MainThread"
    load (train.py:3)
    <module> (train.py:7)
Thread 24 (idle): "loader"
    wait (threading.py:320)
)";
constexpr char kGdb[] = R"([New LWP 23051]
0x00007f83012ed545 in __GI___clock_nanosleep () from libc.so.6

Thread 1 (Thread 0x7f83019d7b80 (LWP 22969) "python3"):
#0  0x00007f83012ed545 in __GI___clock_nanosleep () from libc.so.6
#1  pysleep (timeout=0) at ./Modules/timemodule.c:2159

Thread 2 (Thread 0x7f8300c736c0 (LWP 23051) "python3"):
#0  0x00007f83012ed546 in __GI___poll () from libc.so.6
[Inferior 1 (process 22969) detached]
)";
constexpr char kKernel[] =
    "thread 23 (python3), sleeping, in clock_nanosleep\n"
    "    [<0>] hrtimer_nanosleep+0x74/0xf0\n"
    "thread 24 (python3), sleeping, in poll\n";

TEST(MostInformativeLines, EachSourceGivesItsLines) {
  EXPECT_THAT(MostInformativeLines({kPySpy, kGdb, kKernel, ""}),
              ElementsAre("Python, main thread:", "  load (train.py:3)",
                          "  <module> (train.py:7)", "native, main thread:",
                          "  #0  __GI___clock_nanosleep from libc.so.6",
                          "  #1  pysleep at ./Modules/timemodule.c:2159",
                          "thread 23 (python3), sleeping, in clock_nanosleep"));
}

TEST(MostInformativeLines, PySpyNamesTheMainThread) {
  constexpr char kMainIsLast[] =
      "Process 9: python3 train.py\n\n"
      "Thread 9 (idle): \"loader\"\n    wait (threading.py:320)\n"
      "Thread 23 (idle): \"MainThread\"\n    load (train.py:3)\n"
      "Thread 24 (idle)\n    wait (threading.py:320)\n";
  EXPECT_THAT(MostInformativeLines({kMainIsLast, "", "", ""}),
              ElementsAre("Python, main thread:", "  load (train.py:3)"));
}

TEST(MostInformativeLines, DeepStacksKeepTheirOutermostFrames) {
  std::string dump = "Thread 23 (idle): \"MainThread\"\n";
  for (int i = 1; i <= 20; ++i) {
    dump += "    f" + std::to_string(i) + " (a.py:1)\n";
  }
  const std::vector<std::string> lines =
      MostInformativeLines({dump, "", "", ""});
  ASSERT_EQ(lines.size(), 1u + 12);
  EXPECT_EQ(lines[7], "  f7 (a.py:1)");
  EXPECT_EQ(lines[8], "  (9 frames are not shown)");
  EXPECT_EQ(lines[9], "  f17 (a.py:1)");
  EXPECT_EQ(lines[12], "  f20 (a.py:1)");
}

// A dump without thread names, as py-spy prints it with Debian's Python 3.11:
// the main thread is the thread with the process's number.
TEST(MostInformativeLines, AMainThreadWithoutANameHasTheProcesssNumber) {
  constexpr char kUnnamed[] =
      "Process 23: python3 train.py\n\n"
      "Thread 24 (idle)\n    wait (threading.py:320)\n"
      "Thread 23 (idle)\n    load (train.py:3)\n"
      "Thread 231 (idle)\n    wait (threading.py:320)\n";
  EXPECT_THAT(MostInformativeLines({kUnnamed, "", "", ""}),
              ElementsAre("Python, main thread:", "  load (train.py:3)"));
}

TEST(MostInformativeLines, UnknownMainThreadIsTheFirst) {
  constexpr char kUnknown[] =
      "Thread 0x7F8300 (idle)\n    load (train.py:3)\n"
      "Thread 0x7F8311 (idle)\n    wait (threading.py:320)\n";
  EXPECT_THAT(MostInformativeLines({kUnknown, "", "", ""}),
              ElementsAre("Python, main thread:", "  load (train.py:3)"));
}

TEST(MostInformativeLines, MissingPythonFramesAreExplained) {
  const std::string why = "no Python frames: py-spy is not installed";
  EXPECT_THAT(MostInformativeLines({"", "", kKernel, why}),
              ElementsAre(why,
                          "thread 23 (python3), sleeping, in "
                          "clock_nanosleep",
                          "thread 24 (python3), sleeping, in poll"));
  EXPECT_THAT(WholeText({"", "", kKernel, why}),
              HasSubstr("=== Python\n" + why + "\n=== kernel\n"));
}

TEST(MostInformativeLines, KernelStacksListEachThread) {
  EXPECT_THAT(
      MostInformativeLines({"", "ptrace: Operation not permitted.", kKernel}),
      ElementsAre("thread 23 (python3), sleeping, in clock_nanosleep",
                  "thread 24 (python3), sleeping, in poll"));
}

TEST(MostInformativeLines, EmptyInputHasNoStackLines) {
  EXPECT_THAT(MostInformativeLines({}), IsEmpty());
}

TEST(MostInformativeLines, AreBoundedAndPrintable) {
  StackTexts texts;
  texts.python = "Thread 1 (idle): \"MainThread\"\n";
  for (int i = 0; i < 1000; ++i) {
    texts.python += "    \x1b[31m" + std::string(5000, 'x') + "\n";
    texts.native +=
        "#" + std::to_string(i) + " " + std::string(5000, 'y') + "\xff\n";
    texts.kernel += "thread\t" + std::string(5000, 'z') + "\n";
  }
  const std::vector<std::string> lines = MostInformativeLines(texts);
  EXPECT_LE(lines.size(), static_cast<size_t>(rendezvous::kMaxStackLines));
  EXPECT_THAT(lines, Each(SizeIs(::testing::Le(rendezvous::kMaxLineBytes))));
  EXPECT_THAT(lines, Each(Not(HasSubstr("\x1b"))));
  texts.python = texts.native = "";
  EXPECT_THAT(MostInformativeLines(texts), SizeIs(rendezvous::kMaxStackLines));
}

TEST(MostInformativeLines, ALineOfBlanksIsNoFrame) {
  const StackTexts texts{
      .python = "Thread 7 (idle): \"a\n    \n\"\n    step (train.py:3)\n"};
  EXPECT_THAT(MostInformativeLines(texts),
              ElementsAre("Python, main thread:", "  step (train.py:3)"));
}

TEST(WholeText, KeepsAll) {
  const std::string whole = WholeText({kPySpy, kGdb, kKernel});
  for (const char* part : {kPySpy, kGdb, kKernel}) {
    EXPECT_THAT(whole, HasSubstr(part));
  }
  EXPECT_THAT(whole, HasSubstr("=== kernel\n"));
  EXPECT_EQ(WholeText({}), "");
}

}  // namespace
}  // namespace muster::agent
