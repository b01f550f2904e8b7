// Nothing: the source that the precompiled header is made for.
