// Exceptions: whose fault an error is, as in luminal/base/errors.h.
#include "luminal/base/errors.h"
#include "binding/binding.h"

namespace luminal::python {

void add_errors(nb::module_& module) {
  nb::exception<UserError>(module, "UserError", PyExc_ValueError).doc() =
      "The caller can fix it: the message says what was asked, what was found and the way out.";
  nb::exception<DeviceError>(module, "DeviceError", PyExc_RuntimeError).doc() =
      "The machine failed: a file can't be mapped, memory ran out.";
  nb::exception<InternalError>(module, "InternalError", PyExc_RuntimeError).doc() =
      "A bug of the library: please report it with the message.";
}

}  // namespace luminal::python
