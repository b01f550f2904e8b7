// Into how many pieces a limit of their length cuts the gradients of an iteration.
#pragma once

#include <cstdint>

#include "astra/core/types.h"
#include "system/transfer/forecast.h"

namespace astra {

// How many an iteration has if no piece is longer than `part`, above 0.
inline std::uint64_t pieces_of(const GroupForecast& forecast, Bytes part) {
    std::uint64_t pieces = 0;
    for (const TransferForecast& transfer : forecast.transfers) {
        const std::uint64_t more = transfer.bytes.count / part.count;
        pieces = saturating_add(pieces, more + (transfer.bytes.count % part.count > 0 ? 1 : 0));
    }
    return pieces;
}

}  // namespace astra
