// The version of the library, and the one place that states it: CMake reads it from here.
#pragma once

#define LUMINAL_VERSION_MAJOR 0
#define LUMINAL_VERSION_MINOR 1
#define LUMINAL_VERSION_PATCH 0
#define LUMINAL_VERSION "0.1.0"
