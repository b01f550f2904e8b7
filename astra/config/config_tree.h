// The only reader of YAML and JSON configuration: a tree whose nodes know where they were written.
//
// Every key that is read is marked; a key that nobody read is an error that names its position and
// the nearest key that somebody asked for. A default that is used is remembered too, so that the
// effective configuration can be written out whole.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "astra/config/config_view.h"
#include "astra/core/formats/file_format.h"

namespace astra {

class ConfigTree {
  public:
    // Reads YAML or JSON (by content; JSON is read as YAML, positions kept). Throws ConfigError on
    // a missing file, a file of another format than `purpose` wants, bad syntax, duplicate keys,
    // nesting beyond 64 levels or more than a million nodes.
    static ConfigTree parse_file(const std::string& file,
                                 FilePurpose purpose = FilePurpose::Settings);
    static ConfigTree parse_text(std::string_view text,
                                 const std::string& name,
                                 const std::string& folder = ".");
    static ConfigTree empty_map(const std::string& name);

    // A copy knows which keys of the original were read.
    ConfigTree(const ConfigTree& other);
    ConfigTree& operator=(const ConfigTree&) = delete;
    ConfigTree(ConfigTree&&) noexcept;
    ConfigTree& operator=(ConfigTree&&) noexcept;
    ~ConfigTree();

    ConfigView root() const;

    // `--set key.path=value`: creates maps on the way; list elements by number
    // ("network.dimensions.0.bandwidth"). The value is YAML ("[ring, direct]" is a list).
    void set(std::string_view assignment);
    // Puts a scalar, or a list of scalars, at a dotted path, with the place of `origin`: for
    // translating one format into another.
    void put(std::string_view path, std::string_view value, const ConfigView& origin);
    void put_list(std::string_view path,
                  const std::vector<std::string>& values,
                  const ConfigView& origin);

    // `--seed`: every seed that is read from now on (ConfigView::seed_or) is `seed`, whatever the
    // file says, unless set() has given it.
    void set_seed(std::uint64_t seed);

    // Throws ConfigError for the first key that nobody read.
    void reject_unread() const;

    // The configuration as it took effect, defaults included: one JSON object, keys in the order
    // of the file and then of reading. Folders of file names are left out.
    std::string effective_json(int indent) const;

  private:
    explicit ConfigTree(std::unique_ptr<ConfigNode> root);
    std::unique_ptr<ConfigNode> root_;
};

}  // namespace astra
