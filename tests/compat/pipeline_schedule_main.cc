// Reads lines SCHEDULE RANKS STAGES_PER_RANK MICRO_BATCHES, and writes each
// schedule as CSV followed by an empty line.

#include <iostream>
#include <string>

#include "trainer_sdk/pipeline/schedule/generators.h"
#include "trainer_sdk/pipeline/schedule/schedule_csv.h"

int main() {
  std::string name;
  muster::PipelineShape shape;
  while (std::cin >> name >> shape.ranks >> shape.stages_per_rank >>
         shape.micro_batches) {
    const auto kind = muster::ParseScheduleName(name);
    if (!kind.ok()) {
      std::cerr << kind.status() << "\n";
      return 1;
    }
    const auto schedule = muster::MakeSchedule(*kind, shape);
    if (!schedule.ok()) {
      std::cerr << schedule.status() << "\n";
      return 1;
    }
    std::cout << muster::WriteScheduleCsv(*schedule) << "\n";
  }
  return 0;
}
