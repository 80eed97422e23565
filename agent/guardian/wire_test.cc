#include "agent/guardian/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "agent/guardian/wire_fields.h"

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

StartCommand AStart() {
  StartCommand start;
  start.local_rank = 7;
  start.argv = {"python3", "-u", "", "\xff\x01"};
  start.environment = {{"RANK", "7"}, {"EMPTY", ""}};
  start.unset = {"LD_PRELOAD"};
  start.working_directory = "/work";
  start.cpus = {0, 2, 65535};
  start.memory_node = 1;
  start.ignored_signals = 1ull << 63 | 1ull << 9;
  start.has_stdin = true;
  start.has_stdout = true;
  start.has_key = true;
  start.controls_terminal = true;
  return start;
}

TEST(Wire, AStartComesBack) {
  const auto command = DecodeCommand(Encode(Command(AStart())));
  ASSERT_TRUE(command.ok()) << command.status();
  const auto& start = std::get<StartCommand>(*command);
  EXPECT_EQ(start.local_rank, 7);
  EXPECT_THAT(start.argv, ElementsAre("python3", "-u", "", "\xff\x01"));
  EXPECT_THAT(start.environment,
              ElementsAre(Pair("RANK", "7"), Pair("EMPTY", "")));
  EXPECT_THAT(start.unset, ElementsAre("LD_PRELOAD"));
  EXPECT_EQ(start.working_directory, "/work");
  EXPECT_THAT(start.cpus, ElementsAre(0, 2, 65535));
  EXPECT_EQ(start.memory_node, 1);
  EXPECT_EQ(start.ignored_signals, 1ull << 63 | 1ull << 9);
  EXPECT_TRUE(start.has_stdin);
  EXPECT_TRUE(start.has_stdout);
  EXPECT_FALSE(start.has_stderr);
  EXPECT_TRUE(start.has_key);
  EXPECT_TRUE(start.controls_terminal);
}

TEST(Wire, ASignalComesBack) {
  for (const bool everything : {false, true}) {
    const auto command =
        DecodeCommand(Encode(Command(SignalCommand{15, everything})));
    ASSERT_TRUE(command.ok());
    EXPECT_EQ(std::get<SignalCommand>(*command).signal, 15);
    EXPECT_EQ(std::get<SignalCommand>(*command).everything, everything);
  }
}

TEST(Wire, ASignalToOneWorkerComesBack) {
  const auto all = DecodeCommand(Encode(Command(SignalCommand{15, false})));
  EXPECT_FALSE(std::get<SignalCommand>(*all).local_rank.has_value());
  const auto one = DecodeCommand(Encode(Command(SignalCommand{9, false, 3})));
  EXPECT_EQ(std::get<SignalCommand>(*one).local_rank, 3);
}

TEST(Wire, JobFilesComeBack) {
  const JobFiles files = {
      .folder = "/run/jobs", .names = {"0", "1.7"}, .job = "job-7"};
  const auto command = DecodeCommand(Encode(Command(JobFilesCommand{files})));
  ASSERT_TRUE(command.ok()) << command.status();
  EXPECT_EQ(std::get<JobFilesCommand>(*command).files, files);
}

TEST(Wire, AFolderToRemoveComesBack) {
  const auto command =
      DecodeCommand(Encode(Command(RemoveCommand{"/tmp/muster-a"})));
  ASSERT_TRUE(command.ok());
  EXPECT_EQ(std::get<RemoveCommand>(*command).folder, "/tmp/muster-a");
}

TEST(Wire, ATerminalsModesComeBack) {
  const auto command =
      DecodeCommand(Encode(Command(TerminalCommand{std::string("a\0b", 3)})));
  ASSERT_TRUE(command.ok());
  EXPECT_EQ(std::get<TerminalCommand>(*command).modes, std::string("a\0b", 3));
}

TEST(Wire, NoticesComeBack) {
  const auto started = DecodeNotice(Encode(Notice(StartedNotice{3, 4711})));
  EXPECT_EQ(std::get<StartedNotice>(*started).local_rank, 3);
  EXPECT_EQ(std::get<StartedNotice>(*started).pid, 4711);
  const auto not_started =
      DecodeNotice(Encode(Notice(NotStartedNotice{3, "exec", "/x", 13})));
  EXPECT_EQ(std::get<NotStartedNotice>(*not_started).step, "exec");
  EXPECT_EQ(std::get<NotStartedNotice>(*not_started).path, "/x");
  EXPECT_EQ(std::get<NotStartedNotice>(*not_started).error, 13);
  const auto ended =
      DecodeNotice(Encode(Notice(EndedNotice{3, 4711, -1, true})));
  EXPECT_EQ(std::get<EndedNotice>(*ended).local_rank, 3);
  EXPECT_EQ(std::get<EndedNotice>(*ended).wait_status, -1);
  EXPECT_TRUE(std::get<EndedNotice>(*ended).signalled);
  const auto gone = DecodeNotice(
      Encode(Notice(AllGoneNotice{1ull << 40, {{3, "sleep"}, {-1, "sh"}}})));
  EXPECT_EQ(std::get<AllGoneNotice>(*gone).starts_taken, 1ull << 40);
  EXPECT_EQ(std::get<AllGoneNotice>(*gone).left_behind,
            (std::vector<LeftBehind>{{3, "sleep"}, {-1, "sh"}}));
  EXPECT_TRUE(std::holds_alternative<AliveNotice>(
      *DecodeNotice(Encode(Notice(AliveNotice{})))));
}

TEST(Wire, NothingCutShortOrTooLongIsTaken) {
  for (const std::string& whole :
       {Encode(Command(AStart())), Encode(Command(SignalCommand{9, true})),
        Encode(Command(RemoveCommand{"/tmp/muster-a"}))}) {
    for (size_t size = 0; size < whole.size(); ++size) {
      EXPECT_FALSE(DecodeCommand(whole.substr(0, size)).ok()) << size;
    }
    EXPECT_FALSE(DecodeCommand(whole + '\0').ok());
    EXPECT_FALSE(DecodeNotice(whole).ok());
  }
  const std::string notice = Encode(Notice(NotStartedNotice{3, "a", "b", 1}));
  for (size_t size = 0; size < notice.size(); ++size) {
    EXPECT_FALSE(DecodeNotice(notice.substr(0, size)).ok()) << size;
  }
  EXPECT_FALSE(DecodeNotice(notice + '\0').ok());
  EXPECT_FALSE(DecodeCommand(notice).ok());
}

TEST(Wire, ImpossibleValuesAreRefused) {
  EXPECT_FALSE(DecodeCommand(Encode(Command(SignalCommand{0, false}))).ok());
  EXPECT_FALSE(DecodeCommand(Encode(Command(SignalCommand{-9, false}))).ok());
  EXPECT_FALSE(DecodeCommand(Encode(Command(SignalCommand{65, false}))).ok());
  EXPECT_FALSE(DecodeCommand(Encode(Command(StartCommand()))).ok());
}

TEST(Wire, ImpossibleCpusAreRefused) {
  const auto taken = [](std::vector<int> cpus, std::optional<int> memory) {
    StartCommand start = AStart();
    start.cpus = std::move(cpus);
    start.memory_node = memory;
    return DecodeCommand(Encode(Command(std::move(start)))).ok();
  };
  EXPECT_TRUE(taken({}, std::nullopt));
  EXPECT_TRUE(taken({5}, 1023));
  EXPECT_FALSE(taken({-1}, std::nullopt));
  EXPECT_FALSE(taken({65536}, std::nullopt));
  EXPECT_FALSE(taken({2, 2}, std::nullopt));
  EXPECT_FALSE(taken({2, 1}, std::nullopt));
  EXPECT_FALSE(taken({0}, 1024));
  EXPECT_FALSE(taken({0}, -2));
}

TEST(Wire, AForgedLengthAsksForNoMemory) {
  FieldWriter forged(1);
  forged.I32(0);
  forged.U32(0xffffffff);  // forged length of the argument list
  EXPECT_FALSE(DecodeCommand(forged.Take()).ok());
  FieldReader strings(std::string_view("\xff\xff\xff\x7f", 4));
  EXPECT_TRUE(strings.Strings().empty());
  EXPECT_FALSE(strings.complete());
}

TEST(Wire, RandomAndFlippedBytesDoNoHarm) {
  std::mt19937 random(11);
  const std::string whole = Encode(Command(AStart()));
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = whole;
    for (int flips = 0; flips < 4; ++flips) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    (void)DecodeCommand(bytes);
    (void)DecodeNotice(bytes);
  }
}

}  // namespace
}  // namespace muster::agent
