"""What the tests are told by whoever runs them."""
import pathlib

models = pathlib.Path()  # the folder of real models
