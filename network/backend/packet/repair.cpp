#include "network/backend/packet/repair.h"

#include "network/backend/packet/forwarding.h"
#include "network/backend/packet/hosts.h"
#include "network/backend/packet/links.h"
#include "network/backend/packet/transport.h"

namespace astra::packet {

Repair::Repair(
    EventQueue& queue, Duration timeout, Links& links, Forwarding& forwarding, Hosts& hosts)
    : queue_(queue), timeout_(timeout), links_(links), forwarding_(forwarding), hosts_(hosts) {}

void Repair::lose(std::uint32_t id) {
    const PacketKind kind = links_.packets()[id].kind();
    if (kind == PacketKind::Congestion) {
        hosts_.release(id);
        return;
    }
    if (kind == PacketKind::Data || kind == PacketKind::Trimmed) {
        transport_->lose(id);
    }
    queue_.schedule_after(timeout_, Callback::to<&Repair::on_timeout>(*this, id));
}

void Repair::on_timeout(std::uint64_t argument) {
    const auto id = static_cast<std::uint32_t>(argument);
    const PacketKind kind = links_.packets()[id].kind();
    if (kind == PacketKind::Data || kind == PacketKind::Trimmed) {
        transport_->time_out(id);
        hosts_.release(id);
    } else if (hosts_.flow(links_.packets()[id].flow).complete) {
        hosts_.release(id);  // nobody needs it any more, and there may be no path
    } else {
        forwarding_.send_on(id);
    }
}

void Repair::send_again(std::uint32_t id, std::uint32_t sequence) {
    const std::uint32_t entry = resends_.allocate();
    resends_[entry].sequence = sequence;
    Flow& flow = hosts_.flow(id);
    (flow.first_resend == kNone ? flow.first_resend : resends_[flow.last_resend].next) = entry;
    flow.last_resend = entry;
}

std::uint32_t Repair::take_sequence(Flow& flow) {
    const std::uint32_t entry = flow.first_resend;
    if (entry == kNone) {
        return flow.sent_packets++;
    }
    flow.first_resend = resends_[entry].next;
    resends_.free(entry);
    return resends_[entry].sequence;
}

}  // namespace astra::packet
