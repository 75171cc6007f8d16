// LUMINAL_API marks what a shared build of the library exports; everything else is hidden.
#pragma once

#define LUMINAL_API __attribute__((visibility("default")))
