#include "agent/stacks/stack_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rendezvous/protocol/failure.h"

namespace muster {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr char kPythonsOwn[] =
    R"(Thread 0x00007f8300c736c0 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 982 in run
  File "/usr/lib/python3.11/threading.py", line 1002 in _bootstrap

Current thread 0x00007f83019d7b80 (most recent call first):
  File "train.py", line 3 in load
  File "train.py", line 7 in <module>
)";
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

TEST(TellingLines, OfEverySource) {
  EXPECT_THAT(
      TellingLines({kPythonsOwn, kGdb, kKernel}),
      ElementsAre(
          "Python, main thread:", "  File \"train.py\", line 3 in load",
          "  File \"train.py\", line 7 in <module>",
          "native, main thread:", "  #0  __GI___clock_nanosleep from libc.so.6",
          "  #1  pysleep at ./Modules/timemodule.c:2159",
          "thread 23 (python3), sleeping, in clock_nanosleep"));
}

TEST(TellingLines, PySpyNamesTheMainThread) {
  EXPECT_THAT(TellingLines({kPySpy, "", ""}),
              ElementsAre("Python, main thread:", "  load (train.py:3)",
                          "  <module> (train.py:7)"));
}

TEST(TellingLines, TheKernelAloneTellsOfEachThread) {
  EXPECT_THAT(TellingLines({"", "ptrace: Operation not permitted.", kKernel}),
              ElementsAre("thread 23 (python3), sleeping, in clock_nanosleep",
                          "thread 24 (python3), sleeping, in poll"));
}

TEST(TellingLines, OfNothingThereAreNone) {
  EXPECT_THAT(TellingLines({}), IsEmpty());
}

TEST(TellingLines, AreBoundedAndPrintable) {
  StackTexts texts;
  texts.python = "Thread 1 (idle): \"MainThread\"\n";
  for (int i = 0; i < 1000; ++i) {
    texts.python += "    \x1b[31m" + std::string(5000, 'x') + "\n";
    texts.native +=
        "#" + std::to_string(i) + " " + std::string(5000, 'y') + "\xff\n";
    texts.kernel += "thread\t" + std::string(5000, 'z') + "\n";
  }
  const std::vector<std::string> lines = TellingLines(texts);
  EXPECT_LE(lines.size(), static_cast<size_t>(kMostStackLines));
  EXPECT_THAT(lines, Each(SizeIs(::testing::Le(kMostLineBytes))));
  EXPECT_THAT(lines, Each(Not(HasSubstr("\x1b"))));
  texts.python = texts.native = "";
  EXPECT_THAT(TellingLines(texts), SizeIs(kMostStackLines));
}

TEST(WholeText, KeepsAll) {
  const std::string whole = WholeText({kPythonsOwn, kGdb, kKernel});
  for (const char* part : {kPythonsOwn, kGdb, kKernel}) {
    EXPECT_THAT(whole, HasSubstr(part));
  }
  EXPECT_THAT(whole, HasSubstr("=== kernel\n"));
  EXPECT_EQ(WholeText({}), "");
}

}  // namespace
}  // namespace muster
