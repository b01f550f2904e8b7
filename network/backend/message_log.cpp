#include "network/backend/message_log.h"

#include <algorithm>

namespace astra {

void MessageLog::on_span(const Span& span) {
    if (span.kind == SpanKind::Message && span.number > 0) {
        records_.push_back(
            {span.number, span.rank, span.peer, span.bytes, 0, span.begin, span.end, 0});
    }
}

std::vector<FlowRecord> MessageLog::records() const {
    std::vector<FlowRecord> records = records_;
    std::sort(records.begin(), records.end(), [](const FlowRecord& a, const FlowRecord& b) {
        return a.id < b.id;
    });
    return records;
}

}  // namespace astra
