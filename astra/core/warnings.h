// Collects what the user should know and the run can live with. Printed by the app on standard
// error and listed in result.json; `--strict` turns them into an error.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace astra {

class Warnings {
  public:
    void add(std::string text) { texts_.push_back(std::move(text)); }
    const std::vector<std::string>& texts() const { return texts_; }

  private:
    std::vector<std::string> texts_;
};

}  // namespace astra
