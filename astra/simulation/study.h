// What is to be simulated: a study (docs/study.md) and what overrides it. The door to the library:
//
//   astra::Study study = astra::Study::from_file("quickstart.yml");
//   study.set("network.dimensions.1.bandwidth", "100GB/s");
//   const astra::RunResult result = astra::simulate(study);  // astra/simulation/simulation.h
//
// Errors are the exceptions of astra/core/error.h, warnings are in the result.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "astra/core/warnings.h"

namespace astra {

class ConfigTree;

class Study {
  public:
    // Reads YAML or JSON. File names in it are relative to the folder of the file. Throws
    // ConfigError.
    static Study from_file(const std::string& file);
    // `name` stands for the file in messages; file names in the text are relative to `folder`.
    static Study from_text(std::string_view text,
                           const std::string& name = "study",
                           const std::string& folder = ".");
    // A study that a program has made or translated (astra/config), and what it warned of.
    explicit Study(ConfigTree tree, Warnings warnings = {});

    Study(const Study& other);
    Study& operator=(const Study& other);
    Study(Study&&) noexcept;
    Study& operator=(Study&&) noexcept;
    ~Study();

    // Overrides a key, or adds it: the key is a path, "network.dimensions.0.bandwidth", the value
    // YAML, "[ring, direct]" a list. Keys are judged when the study is simulated. Throws
    // ConfigError for what is no path or no YAML.
    void set(std::string_view key, std::string_view value);
    // The same of "key=value".
    void set(std::string_view assignment);

    const Warnings& warnings() const { return warnings_; }
    ConfigTree& tree() { return *tree_; }
    const ConfigTree& tree() const { return *tree_; }

  private:
    std::unique_ptr<ConfigTree> tree_;  // never null, but of a study that was moved from
    Warnings warnings_;
};

}  // namespace astra
