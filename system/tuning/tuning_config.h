// What the study says about the choice of algorithms and protocols by size.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "astra/config/config_view.h"
#include "astra/core/types.h"
#include "system/tuning/algorithm_choice.h"
#include "system/tuning/protocol.h"

namespace astra {

// An algorithm for each range of sizes, instead of one for all:
//   {by_size: [{up_to: 64KiB, algorithm: recursiveDoubling}, …, {algorithm: ring}]}
struct SizeTable {
    struct Entry {
        std::optional<Bytes> up_to;  // of the whole buffer; only the last entry has none
        AlgorithmChoice choice;      // a registered algorithm or "auto"
        std::string protocol;        // "": the fastest
        std::string where;
    };
    std::vector<Entry> entries;

    const Entry& entry_for(Bytes buffer) const;
    // `map` has the key by_size. Throws ConfigError.
    static SizeTable from_config(const ConfigView& map, const std::vector<Protocol>& protocols);
};

struct TuningConfig {
    std::vector<Protocol> protocols;
    // Whether the switches reduce and multicast, as `nvls` needs it.
    bool in_switch_reduction = false;
    // What `auto` chooses from for each kind; nothing: all registered algorithms.
    std::array<std::vector<AlgorithmChoice>, kCollectiveKinds> candidates;

    // system.protocols, .in_switch_reduction and .auto. Throws ConfigError.
    static TuningConfig from_config(const ConfigView& system);
};

}  // namespace astra
