// Holds the precompiled header of the tree; see AnsorCompile.cmake.
