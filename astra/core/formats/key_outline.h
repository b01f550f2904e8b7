// The keys at the start of a JSON or YAML text, found without parsing it: what tells formats apart.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace astra {

struct KeyOutline {
    bool is_json = false;
    bool is_list = false;                          // the outermost thing of the JSON
    std::set<std::string, std::less<>> keys;       // of the outermost map
    std::set<std::string, std::less<>> item_keys;  // of the maps in lists of it, or in the list

    bool has(std::string_view key) const { return keys.contains(key); }
    bool has_item(std::string_view key) const { return item_keys.contains(key); }
};

// Of text that may be cut off anywhere. At most 256 keys of each kind.
KeyOutline key_outline(std::string_view text);

}  // namespace astra
