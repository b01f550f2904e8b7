// Every network backend, and the packet backend with every transport, as a study names them. Walks
// the tables, so that new ones are tested too.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "network/backend/backend.h"
#include "network/backend/packet/transport.h"

namespace astra::test {

struct NetworkModel {
    const BackendInfo* backend = nullptr;
    std::string transport;  // "" = the backend has no packets
    std::string more;       // further keys of network.packet

    std::string name() const {
        const std::string name(backend->name);
        return transport.empty() ? name : name + "_" + transport + (more.empty() ? "" : "_more");
    }
    // Entries of a study's section `network`; `packet`: entries of network.packet, if it has one.
    std::string keys(const std::string& packet = "header: 0B") const {
        const std::string keys = "backend: " + std::string(backend->name);
        return transport.empty() ? keys
                                 : keys + ", packet: {transport: " + transport + ", " + packet +
                                       (more.empty() ? "" : ", " + more) + "}";
    }
};

inline std::ostream& operator<<(std::ostream& out, const NetworkModel& model) {
    return out << model.name();
}

inline std::vector<NetworkModel> network_models() {
    std::vector<NetworkModel> models;
    for (const BackendInfo* backend : backends()) {
        if (!backend->has_packets()) {
            models.push_back({backend, "", ""});
            continue;
        }
        for (const packet::TransportInfo* transport : packet::transports()) {
            models.push_back({backend, std::string(transport->name), ""});
        }
    }
    return models;
}

inline std::vector<NetworkModel> packet_models() {
    std::vector<NetworkModel> models = network_models();
    std::erase_if(models, [](const NetworkModel& model) { return model.transport.empty(); });
    return models;
}

}  // namespace astra::test
