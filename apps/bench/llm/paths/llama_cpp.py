from .. import measuring


def measure(request):
    raise measuring.Absent("not written yet")


if __name__ == "__main__":
    measuring.answer(measure)
