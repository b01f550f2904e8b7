// Collective programs in files that users bring: what a study's `{file: …}` names.
#pragma once

#include <memory>

#include "system/collective/program_source.h"

namespace astra {

class ProgramFiles final : public ProgramReader {
  public:
    std::unique_ptr<const ProgramSource> open(const ConfigView& entry) const override;
};

}  // namespace astra
