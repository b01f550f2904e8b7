// No congestion control: flows send as fast as their links take packets, into endless buffers. The
// floor that other transports are compared with. What links lose is sent again after the timeout.
#include "network/backend/packet/fabric.h"

namespace astra::packet {

namespace {

class NoControl final : public Transport {
  public:
    explicit NoControl(Fabric& fabric) : fabric_(fabric) {}

    PortLimits limits(const LinkClass& /*link_class*/) const override { return {}; }
    bool remembers() const override { return false; }
    void begin(std::uint32_t /*flow*/, std::uint64_t /*start_ps*/) override {}

    Sending next(std::uint32_t id, std::uint64_t /*start_ps*/) override {
        Flow& flow = fabric_.flow(id);
        if (flow.all_sent()) {
            return {};
        }
        const std::uint32_t sequence = fabric_.take_sequence(flow);
        return {kNever, sequence, !flow.all_sent()};
    }

    void arrive(std::uint32_t packet) override {
        const std::uint32_t id = fabric_.packet(packet).flow;
        Flow& flow = fabric_.flow(id);
        const bool done = fabric_.take_in(flow);
        if (!done) {
            fabric_.release(packet);
            return;
        }
        fabric_.release(packet);
        fabric_.deliver(id);
    }

    void time_out(std::uint32_t packet) override {
        const std::uint32_t flow = fabric_.packet(packet).flow;
        fabric_.settle(flow);
        fabric_.send_again(flow, fabric_.packet(packet).sequence);
        fabric_.wake(flow);
    }

  private:
    Fabric& fabric_;
};

}  // namespace

extern const TransportInfo kNoneTransport;
const TransportInfo kNoneTransport = {
    .name = "none",
    .summary = "no congestion control: line rate into endless buffers",
    .in_order = false,
    .goes_back = false,
    .build = [](Fabric& fabric, const Settings&, const ConfigView&) -> std::unique_ptr<Transport> {
        return std::make_unique<NoControl>(fabric);
    },
    .check = [](const Settings&, const ConfigView&) {},
    .limits_buffers = [](const ConfigView&) { return false; }};

}  // namespace astra::packet
