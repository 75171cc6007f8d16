// The parts of `luminal chat` that need neither a terminal nor a model.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "apps/cli/chat/commands.h"
#include "apps/cli/chat/conversation.h"
#include "apps/cli/chat/saved_chat.h"
#include "apps/cli/machine/doctor_verdict.h"
#include "apps/cli/options/closest_word.h"
#include "apps/cli/terminal/history_file.h"
#include "apps/cli/terminal/message_reader.h"
#include "apps/cli/terminal/pasted_text.h"
#include "apps/cli/terminal/progress_line.h"
#include "apps/cli/terminal/stream_lines.h"
#include "apps/cli/terminal/wrapping_writer.h"
#include "luminal/base/errors.h"
#include "luminal/base/os/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace luminal::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string wrapped(const std::vector<std::string>& pieces, int columns) {
  std::string out;
  WrappingWriter writer([&](std::string_view text) { out += text; }, columns);
  for (const std::string& piece : pieces) writer.write(piece);
  writer.finish();
  return out;
}

TEST(WrappingWriter, BreaksLinesBetweenWordsWhereverPiecesEnd) {
  EXPECT_EQ(wrapped({"one two three"}, 8), "one two\nthree\n");
  EXPECT_EQ(wrapped({"on", "e tw", "o th", "ree"}, 8), "one two\nthree\n");
  EXPECT_EQ(wrapped({"12345678 9"}, 8), "12345678\n9\n");
  EXPECT_EQ(wrapped({"a\n\n  b c"}, 4), "a\n\n  b\nc\n");
}

TEST(WrappingWriter, BreaksOnlyWordsThatAreLongerThanALine) {
  EXPECT_EQ(wrapped({"ab 123456789"}, 4), "ab\n1234\n5678\n9\n");
}

TEST(WrappingWriter, CountsColumnsAndNotBytes) {
  EXPECT_EQ(wrapped({"äöü äöü"}, 7), "äöü äöü\n");
  EXPECT_EQ(wrapped({"日本語の文"}, 6), "日本語\nの文\n");
}

TEST(WrappingWriter, LeavesCodeAsItIs) {
  const std::string code = "```\nlong line of code\n```";
  EXPECT_EQ(wrapped({code, "\nnow words again"}, 9), code + "\nnow words\nagain\n");
}

TEST(WrappingWriter, ShowsNoControlCharactersOnATerminal) {
  EXPECT_EQ(wrapped({"a\x1b[2Jb\r\n"}, 80), "a\uFFFD[2Jb\n\n");
}

TEST(WrappingWriter, PassesEverythingOnWithoutColumns) {
  EXPECT_EQ(wrapped({"one  two\x1b", " three "}, 0), "one  two\x1b three \n");
}

std::vector<std::string> messages_of(const std::string& input) {
  std::istringstream in(input);
  StreamLines lines(in, false);
  MessageReader reader(lines);
  std::vector<std::string> messages;
  for (ReadLine read = reader.read(); read.state == ReadLine::State::Line; read = reader.read()) {
    messages.push_back(read.text);
  }
  return messages;
}

TEST(MessageReader, TakesSeveralLinesBetweenQuotes) {
  EXPECT_THAT(messages_of("one\r\n\"\"\"two\nthree\"\"\"\n\"\"\"\nfour\n\nfive\n\"\"\"\nsix\n"),
              ElementsAre("one", "two\nthree", "four\n\nfive", "six"));
  EXPECT_THAT(messages_of("\"\"\"one line\"\"\"\n"), ElementsAre("one line"));
  EXPECT_THAT(messages_of("\"\"\"cut\noff"), ElementsAre("cut\noff"));
}

TEST(PastedText, HasPlainLineEndsAndNoControlCharacters) {
  EXPECT_EQ(pasted_text(L"a\rb\r\nc\n\n"), L"a\nb\nc");
  EXPECT_EQ(pasted_text(L"\x1b[31mr\u00e9d\t\x7f!"), L"[31mr\u00e9d\t!");
}

Conversation of_turns(int turns) {
  Conversation made("be brief");
  for (int i = 0; i < turns; ++i) {
    made.ask("q" + std::to_string(i));
    made.answer("a" + std::to_string(i));
  }
  made.ask("last");
  return made;
}

// Each message is a token.
int64_t count(const std::vector<ChatMessage>& messages) {
  return static_cast<int64_t>(messages.size());
}

TEST(Conversation, LeavesTheOldestTurnsOutAndKeepsTheSystemMessage) {
  Conversation talk = of_turns(3);
  EXPECT_FALSE(talk.fit(count, 8, 4));  // it fits
  EXPECT_TRUE(talk.fit(count, 7, 4));
  const std::vector<ChatMessage> shown = talk.shown();
  ASSERT_EQ(shown.size(), 4u);
  EXPECT_EQ(shown[0].content, "be brief");
  EXPECT_EQ(shown[1].content, "q2");
  EXPECT_EQ(shown[3].content, "last");
  EXPECT_EQ(talk.messages().size(), 8u);  // what is saved is whole
}

TEST(Conversation, KeepsTheLastQuestionHoweverLong) {
  Conversation talk = of_turns(1);
  EXPECT_TRUE(talk.fit(count, 1, 1));
  EXPECT_FALSE(talk.leave_out_oldest());
  EXPECT_EQ(talk.shown().back().content, "last");
}

TEST(Conversation, TakesQuestionsAndAnswersBack) {
  Conversation talk = of_turns(1);
  EXPECT_FALSE(talk.withdraw_answer());  // the last question has none
  talk.withdraw();
  EXPECT_EQ(talk.shown().back().content, "a0");
  EXPECT_TRUE(talk.withdraw_answer());
  EXPECT_TRUE(talk.waits_for_answer());
}

TEST(SavedChat, ComesBackAsItWas) {
  const base::TemporaryFolder folder;
  const std::string file = folder.path() / "chat.json";
  Conversation talk = of_turns(2);
  talk.answer("a \"quoted\"\nanswer");
  save_chat(talk, "model", file);
  const std::vector<ChatMessage> loaded = load_chat(file).messages();
  ASSERT_EQ(loaded.size(), 7u);
  EXPECT_EQ(loaded.back().content, "a \"quoted\"\nanswer");
}

TEST(SavedChat, NamesWhatIsWrongWithAFile) {
  const base::TemporaryFolder folder;
  const std::string file = folder.path() / "chat.json";
  const auto fault = [&](const std::string& text) -> std::string {
    std::ofstream(file) << text;
    try {
      load_chat(file);
    } catch (const UserError& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_THAT(fault("hello"), HasSubstr("it isn't JSON"));
  EXPECT_THAT(fault("{}"), HasSubstr("it has no list of messages"));
  EXPECT_THAT(fault(R"({"messages": [{"role": "user"}]})"), HasSubstr("role and content"));
  EXPECT_THAT(fault(R"({"messages": [{"role": "assistant", "content": "x"}]})"),
              HasSubstr("message 1 is of 'assistant' where one of 'user' is due"));
  EXPECT_THAT(fault(std::string(100000, '[')), HasSubstr("nested too deeply"));
}

TEST(HistoryFile, KeepsMessagesForThisUserAlone) {
  const base::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "state/luminal/chat-history";
  HistoryFile(path).add("one");
  HistoryFile(path).add("two\nlines \"quoted\"");
  EXPECT_THAT(HistoryFile(path).read(), ElementsAre("one", "two\nlines \"quoted\""));
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(path).permissions(), perms::owner_read | perms::owner_write);
  EXPECT_EQ(std::filesystem::status(path.parent_path()).permissions(), perms::owner_all);
  std::filesystem::permissions(path, perms::others_write, std::filesystem::perm_options::add);
  EXPECT_TRUE(HistoryFile(path).read().empty());
}

TEST(HistoryFile, DoesNotGrowWithoutBound) {
  const base::TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "history";
  {
    std::ofstream out(path);
    for (int i = 0; i < 2500; ++i) out << "\"" << i << "\"\n";
  }
  EXPECT_EQ(HistoryFile(path).read().size(), HistoryFile::kMostMessages);
  EXPECT_EQ(HistoryFile(path).read().front(), "1500");
  EXPECT_LT(std::filesystem::file_size(path), 10000u);
}

TEST(ChatCommands, HaveNamesAndArguments) {
  const TypedCommand typed = parse_chat_command("/set  top-k 40 ");
  EXPECT_EQ(typed.command, ChatCommand::Set);
  EXPECT_EQ(typed.argument, "top-k 40");
  EXPECT_EQ(parse_chat_command("/bye").command, ChatCommand::Quit);
  for (const std::string& name : chat_command_names()) {
    EXPECT_THAT(chat_commands_text(), HasSubstr("  " + name + " "));
  }
}

TEST(ChatCommands, NameTheNearestOne) {
  try {
    parse_chat_command("/rest");
    FAIL();
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "there is no command '/rest': did you mean '/reset'?");
  }
}

TEST(ClosestWord, IsNearOrBeginsAlike) {
  const std::vector<std::string> words = {"run", "rules", "doctor", "tokenize"};
  EXPECT_EQ(closest_word("rnu", words), "run");
  EXPECT_EQ(closest_word("docter", words), "doctor");
  EXPECT_EQ(closest_word("tok", words), "tokenize");
  EXPECT_EQ(closest_word("xyz", words), "");
  EXPECT_EQ(closest_word("", words), "");
}

TEST(ProgressLine, IsShownAlwaysOrNeverWhereThatIsAskedFor) {
  EXPECT_EQ(progress_mode(false), ProgressMode::OnTerminal);
  EXPECT_EQ(progress_mode(true), ProgressMode::Always);
  EXPECT_EQ(progress_mode(true, true), ProgressMode::Off);
  EXPECT_TRUE(ProgressLine(ProgressMode::Always).shows());
  EXPECT_FALSE(ProgressLine(ProgressMode::Off).shows());
}

TEST(DoctorVerdict, SaysWhatToDo) {
  HealthFacts well;
  well.cache_folder = "/home/x/.cache/luminal";
  EXPECT_EQ(verdict_text(what_to_mend(well), false), "verdict: all is well\n");
  HealthFacts ill = well;
  ill.cache_writable = false;
  ill.has_avx2 = false;
  ill.transparent_huge_pages = "never";
  const std::vector<HealthFinding> found = what_to_mend(ill);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_THAT(found[0].problem, HasSubstr("isn't writable"));
  for (const HealthFinding& finding : found) EXPECT_FALSE(finding.remedy.empty());
  EXPECT_THAT(verdict_text(found, false), HasSubstr("verdict: 3 things to fix\n"));
}

}  // namespace
}  // namespace luminal::cli
