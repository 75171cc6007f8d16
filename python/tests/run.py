"""Runs the tests of this folder with the package of a build. Usage: run.py FOLDER MODELS [PATTERN]"""
import pathlib
import sys
import unittest

FOLDER, MODELS = sys.argv[1:3]
PATTERN = sys.argv[3] if len(sys.argv) > 3 else "test_*.py"

sys.path.insert(0, FOLDER)
sys.dont_write_bytecode = True
import settings  # noqa: E402  (beside this file)

settings.models = pathlib.Path(MODELS)
tests = unittest.defaultTestLoader.discover(str(pathlib.Path(__file__).parent), PATTERN)
result = unittest.TextTestRunner(verbosity=2).run(tests)
sys.exit(not result.wasSuccessful() or result.testsRun == 0)
