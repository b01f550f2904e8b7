// Nothing: the source that the precompiled header of the tests is made for.
