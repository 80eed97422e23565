#include "launcher/report/framed_text.h"

#include "launcher/report/text_layout.h"

namespace muster::launcher {
namespace {

constexpr int kLabelColumns = 13;
constexpr int kIndentColumns = 2;
constexpr int kHangColumns = 2;

}  // namespace

void FramedText::Add(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  text_ += line + "\n";
}

void FramedText::Rule(char c) {
  Add(Inked(std::string(target_.columns, c), Ink::kFaint, target_.style));
}

void FramedText::Blank() { Add(""); }

void FramedText::Title(const std::string& left, Ink ink,
                       const std::string& right) {
  int gap = target_.columns - Columns(left) - Columns(right);
  Add(Inked(left, ink, target_.style) + PadRight("", gap) + right);
}

void FramedText::Heading(const std::string& text, const std::string& remark,
                         Ink ink) {
  Add(Inked(text, ink, target_.style) + " (" + remark + ")");
}

void FramedText::Paragraph(std::string_view text) {
  for (const std::string& line : PrintableLines(text)) {
    for (const std::string& piece : Wrap(line, target_.columns, 0)) Add(piece);
  }
}

void FramedText::Field(const std::string& label,
                       const std::vector<std::string>& lines) {
  std::string margin(kIndentColumns, ' ');
  std::string shown = PadRight(label, kLabelColumns);
  int room = target_.columns - kIndentColumns - kLabelColumns;
  for (const std::string& line : lines) {
    for (const std::string& piece : Wrap(line, room, kHangColumns)) {
      Add(margin + Inked(shown, Ink::kFaint, target_.style) + piece);
      shown = std::string(kLabelColumns, ' ');
    }
  }
}

void FramedText::Quote(const std::string& label,
                       const std::vector<std::string>& lines) {
  const std::string margin(kIndentColumns, ' ');
  std::string shown = PadRight(label, kLabelColumns);
  for (const std::string& line : lines) {
    Add(margin + Inked(shown, Ink::kFaint, target_.style) + line);
    shown = std::string(kLabelColumns, ' ');
  }
}

void FramedText::Indented(const std::string& line) {
  int room = target_.columns - kIndentColumns;
  for (const std::string& piece : Wrap(line, room, kHangColumns)) {
    Add(std::string(kIndentColumns, ' ') + piece);
  }
}

}  // namespace muster::launcher
