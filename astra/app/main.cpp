#include "astra/app/command.h"

int main(int argc, char** argv) {
    return astra::run_program({argv + 1, argv + argc});
}
