#include "system/run/pair_sizes.h"

namespace astra {

PairSizes::Contradiction PairSizes::contradiction(std::uint32_t position) const {
    const auto differ = [&](std::uint32_t origin, std::uint32_t destination) {
        const auto& sends = ranks_[origin].sends;
        const auto& receives = ranks_[destination].receives;
        return !sends.empty() && !receives.empty() && sends[destination] != receives[origin];
    };
    for (std::uint32_t other = 0; other < ranks_.size(); ++other) {
        for (const bool sends : {true, false}) {
            const std::uint32_t origin = sends ? position : other;
            const std::uint32_t destination = sends ? other : position;
            if (differ(origin, destination)) {
                return {true,
                        origin,
                        destination,
                        {ranks_[origin].sends[destination]},
                        {ranks_[destination].receives[origin]}};
            }
        }
    }
    return {};
}

}  // namespace astra
