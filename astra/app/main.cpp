#include "astra/app/command.h"
#include "astra/app/commit.h"

int main(int argc, char** argv) {
    return astra::run_program({argv + 1, argv + argc}, ASTRA_COMMIT);
}
