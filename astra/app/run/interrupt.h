// Ctrl-C: the run stops at the next slice of events instead of being killed.
#pragma once

namespace astra {

void catch_interrupts();
bool interrupted();

}  // namespace astra
