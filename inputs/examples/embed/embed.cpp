// How long an iteration takes as the network between the nodes gets faster: a study, simulated
// once for every bandwidth. For inputs/quickstart.yml: embed quickstart.yml 25GB/s 50GB/s 100GB/s
#include <cstdio>
#include <exception>

#include "astra/simulation/simulation.h"

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: embed STUDY.yml BANDWIDTH...\n");
        return 2;
    }
    try {
        astra::Study study = astra::Study::from_file(argv[1]);
        for (int i = 2; i < argc; ++i) {
            study.set("network.dimensions.1.bandwidth", argv[i]);
            const astra::RunResult result = astra::simulate(study);
            for (const std::string& warning : result.warnings) {
                std::fprintf(stderr, "warning: %s\n", warning.c_str());
            }
            const auto ps = static_cast<double>(result.simulated.ps);
            const auto exposed = static_cast<double>(result.ranks[0].exposed_communication.ps);
            std::printf("%s: %.9f ms, %.1f %% of it exposed communication\n",
                        argv[i],
                        ps / 1e9,
                        100 * exposed / ps);
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "embed: %s\n", error.what());
        return 1;
    }
}
